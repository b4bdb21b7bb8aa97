//! Iterations in which messages are in each other's way.

mod ranks;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Cluster;
use crate::link::Station;
use crate::placement::Shape;
use crate::wavefront::seconds;
use crate::{Between, Outcome, Visit};
use mmgp_base::units::Seconds;

/// What comes out of a run by events.
#[derive(Debug, Clone, PartialEq)]
pub struct Events {
    /// When iterations end, and what ranks did meanwhile.
    pub outcome: Outcome,
    /// What messages met at their stations, by kind; those that were visited.
    pub queues: Vec<Queue>,
}

/// What messages met at the stations of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// Kind of the stations.
    pub station: Station,
    /// Visits of messages.
    pub visits: u64,
    /// What all of them waited, together.
    pub waited: Seconds,
    /// What the longest of these visits waited.
    pub longest_wait: Seconds,
    /// How long all of them occupied their stations, together.
    pub occupied: Seconds,
}

impl Cluster {
    /// Times so many iterations, of which there is at least one, message by message, where the stations on
    /// their [routes](super::Route) serve them one after the other.
    ///
    /// Ranks are programs: receive, receive, compute, send, send. A message leaves when its sender is ready, passes
    /// the stations of `forward`, meets its receiver, passes those of `delivery`, and word of it goes
    /// back past those of `acknowledgement`. What an exchange takes beyond its stations is spent after
    /// the last of `forward`, before `delivery`, and after the last of `acknowledgement`, so that with
    /// free stations it takes what the [exchange](super::Exchange) says.
    ///
    /// Only arrivals at stations are events on a calendar. What a rank does between them depends on nobody
    /// but its neighbours and is done at once, however far it lies ahead; it can only bring about
    /// arrivals that come later. So the calendar holds one entry for each message that is under way
    /// past stations. This is no process of `mmgp_sim` for each rank, which takes some 30 times as long (0.75 us a rank and step):
    /// the crate's tests have one to compare with.
    pub fn events(&self, iterations: u32, between: Between) -> Events {
        ranks::Run::new(self, iterations.max(1), between).run()
    }
}

/// A message between a rank and its neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Twice the rank at the lower end, and 1 more along y.
    pub edge: u32,
    /// Whether it goes towards the higher end.
    pub up: bool,
}

/// A part of a message's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leg {
    /// Way from the sender until it meets the receiver.
    Forward,
    /// Way to the receiver, when it is there.
    Delivery,
    /// Back to the sender.
    Acknowledgement,
}

/// A message's arrival at a station; in the order of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// When \[ticks\].
    pub at: u64,
    /// Which message: its edge.
    pub edge: u32,
    /// Whether it goes towards the higher end.
    pub up: bool,
    /// Part of its way.
    pub leg: Leg,
    /// Which station of that part.
    pub visit: u8,
}

impl Arrival {
    /// The message.
    pub fn message(self) -> Message {
        Message { edge: self.edge, up: self.up }
    }
}

/// Arrivals that are to come.
#[derive(Default)]
pub struct Calendar {
    arrivals: BinaryHeap<Reverse<Arrival>>,
}

impl Calendar {
    /// Notes an arrival, which is no earlier than the last that was taken.
    pub fn add(&mut self, arrival: Arrival) {
        self.arrivals.push(Reverse(arrival));
    }

    /// Takes the first one.
    pub fn next(&mut self) -> Option<Arrival> {
        self.arrivals.pop().map(|Reverse(arrival)| arrival)
    }
}

/// All stations of a machine.
pub struct Stations {
    shape: Shape,
    cells: usize,
    /// When each is free: PPEs, host cores, adapters outwards, adapters inwards \[ticks\].
    free: Vec<f64>,
    tallies: [Tally; 6],
}

/// What has happened at stations of a kind \[ticks\].
#[derive(Clone, Copy, Default)]
struct Tally {
    visits: u64,
    waited: f64,
    longest_wait: f64,
    occupied: f64,
}

impl Stations {
    /// Stations of a machine of which so many SPEs have ranks, the first ones.
    pub fn new(shape: Shape, spes: u32) -> Self {
        let cells = spes.div_ceil(shape.spes_per_cell) as usize;
        let nodes = spes.div_ceil(shape.spes_per_node()) as usize;
        Self { shape, cells, free: vec![0.0; 2 * (cells + nodes)], tallies: Default::default() }
    }

    /// Serves a message that arrives at `at`, after all that have arrived before; when it leaves.
    pub fn serve(&mut self, visit: Visit, at: f64, [sender, receiver]: [u32; 2]) -> f64 {
        let Visit { station, occupancy } = visit;
        let place = self.place(station, sender, receiver);
        let start = self.free[place].max(at);
        self.free[place] = start + occupancy;
        let tally = &mut self.tallies[station as usize];
        tally.visits += 1;
        tally.waited += start - at;
        tally.longest_wait = tally.longest_wait.max(start - at);
        tally.occupied += occupancy;
        start + occupancy
    }

    fn place(&self, station: Station, sender: u32, receiver: u32) -> usize {
        let cell = |spe: u32| (spe / self.shape.spes_per_cell) as usize;
        let node = |spe: u32| (spe / self.shape.spes_per_node()) as usize;
        let nodes = self.free.len() / 2 - self.cells;
        match station {
            Station::SenderPpe => cell(sender),
            Station::ReceiverPpe => cell(receiver),
            Station::SenderHost => self.cells + cell(sender),
            Station::ReceiverHost => self.cells + cell(receiver),
            Station::SenderAdapter => 2 * self.cells + node(sender),
            Station::ReceiverAdapter => 2 * self.cells + nodes + node(receiver),
        }
    }

    /// What messages met at stations that were visited.
    pub fn queues(&self) -> Vec<Queue> {
        let tallies = Station::ALL.into_iter().zip(self.tallies);
        let queue = |(station, tally): (Station, Tally)| Queue {
            station,
            visits: tally.visits,
            waited: seconds(tally.waited),
            longest_wait: seconds(tally.longest_wait),
            occupied: seconds(tally.occupied),
        };
        tallies.filter(|(_, tally)| tally.visits > 0).map(queue).collect()
    }
}

#[cfg(test)]
mod tests {
    //! Runs by events beside the recurrence, and both by hand.

    use proptest::prelude::*;

    use std::cmp::Reverse;

    use super::{Arrival, Queue};
    use crate::{
        Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Link, Network, Outcome, Placement,
        Route, Shape, Split, Stage, Station, Steps, Wavefront,
    };
    use mmgp_base::units::{Bytes, Seconds};

    /// Nanoseconds.
    fn ns(time: u32) -> Seconds {
        Seconds(f64::from(time) * 1e-9)
    }

    fn curve(time: u32) -> Curve {
        Curve::constant(ns(time)).unwrap()
    }

    fn exchange([early, late, release]: [u32; 3]) -> Exchange {
        Exchange { early: curve(early), late: curve(late), release: curve(release) }
    }

    /// One plane block and one angle block: 8 steps.
    const LEAST: Steps = Steps { angle_blocks: 1, plane_blocks: 1 };

    /// SPEs of two Cells a blade.
    const fn shape(spes_per_cell: u32) -> Shape {
        Shape {
            spes_per_cell,
            cells_per_blade: 2,
            blades_per_node: 2,
            nodes_per_unit: 2,
            units: 200,
        }
    }

    fn cluster([px, py]: [u32; 2], steps: Steps, (block, network): (u32, &Network)) -> Cluster {
        let grid = Grid::new(px, py).unwrap();
        let faces = Faces::same(grid, Bytes(100), Bytes(100));
        let wavefront = Wavefront::new(grid, steps, Blocks::same(ns(block)), faces).unwrap();
        let placement = Placement::row_major(grid, shape(px)).unwrap();
        Cluster::new(wavefront, &placement, network).unwrap()
    }

    /// The outcome in both ways, which have to agree.
    fn both(cluster: &Cluster, iterations: u32, between: Between) -> Outcome {
        let outcome = cluster.recurrence(iterations, between);
        assert_eq!(cluster.events(iterations, between).outcome, outcome);
        outcome
    }

    fn close(found: Seconds, expected: f64) {
        assert!((found.0 / expected - 1.0).abs() < 1e-14, "{} instead of {expected}", found.0);
    }

    #[track_caller]
    fn check_formula(grid @ [px, py]: [u32; 2], steps: Steps, less: u32) {
        let (block, cost) = (1_234_567, 7_891);
        let network = Network::uniform(&Exchange::symmetric(curve(cost)));
        let outcome = both(&cluster(grid, steps, (block, &network)), 1, Between::Nothing);
        let s = 8 * steps.angle_blocks * steps.plane_blocks;
        let f = 2 * (px - 1) + 4 * (py - 1);
        let by_formula = u64::from(block) * u64::from(s + f)
            + u64::from(cost) * u64::from(4 * s + 2 * f - 10 - less);
        close(outcome.first(), by_formula as f64 * 1e-9);
    }

    #[test]
    fn equal_costs_give_the_closed_form_to_the_last_digit() {
        for grid in [[3, 2], [3, 5], [4, 3], [7, 2], [9, 11], [20, 30]] {
            for (angle_blocks, plane_blocks) in [(1, 2), (2, 5), (6, 7)] {
                check_formula(grid, Steps { angle_blocks, plane_blocks }, 0);
            }
        }
        check_formula([2, 2], LEAST, 2);
        check_formula([2, 9], Steps { angle_blocks: 2, plane_blocks: 5 }, 2);
    }

    fn check_splits(outcome: &Outcome, expected: &[[u32; 4]]) {
        let nanoseconds = |time: Seconds| (time.0 * 1e9).round() as u32;
        let parts =
            |split: &Split| [split.compute, split.receive, split.send, split.idle].map(nanoseconds);
        let found: Vec<[u32; 4]> = outcome.ranks.iter().map(parts).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn two_by_two_ranks_by_hand() {
        // W = 10 and c = 1. When ranks are free, in the order of the sweep (first, its neighbour along x, its
        // neighbour along y, last), after the second step of each corner: 26 38 37 48 from (1, 1),
        // 64 76 75 86 from (1, 0), 112 124 123 134 from (0, 1), 150 162 161 172 from (0, 0).
        let network = Network::uniform(&Exchange::symmetric(curve(1)));
        let outcome = both(&cluster([2, 2], LEAST, (10, &network)), 1, Between::Nothing);
        close(outcome.first(), 172e-9);
        let idle: Vec<f64> =
            outcome.ranks.iter().map(|split| (split.idle.0 * 1e9).round()).collect();
        assert_eq!(idle, [22.0, 10.0, 11.0, 0.0]);
    }

    #[test]
    fn a_message_costs_by_who_waits_for_whom() {
        // Two ranks in a row: (1, 0) sends in the first four steps, (0, 0) in the others. W = 10.
        // Sender ready at 10: received at 13, sent at 15, and 15 for each further step; the receiver is
        // free at 68. Then it sends at 78, and receives end at 81, 96, 111, 126; the last block at 136.
        let network = Network::uniform(&exchange([3, 1, 2]));
        let one_row = cluster([2, 1], LEAST, (10, &network));
        let outcome = both(&one_row, 1, Between::Nothing);
        close(outcome.first(), 136e-9);
        check_splits(&outcome, &[[80, 28, 20, 8], [80, 36, 20, 0]]);
        // A receiver that comes last waits for `late`: with 30, 30 after it is free at 0, 40, 80, 120.
        let network = Network::uniform(&exchange([3, 30, 2]));
        let outcome = both(&cluster([2, 1], LEAST, (10, &network)), 1, Between::Nothing);
        // The sender is free at 32, 72, 112, 152, the receiver at 160; then it sends: received at 182 (152
        // + 30), 222, 262, 302, and the last block ends at 312.
        close(outcome.first(), 312e-9);
    }

    #[test]
    fn a_single_rank_computes_alone() {
        let network = Network::uniform(&exchange([3, 1, 2]));
        let outcome = both(&cluster([1, 1], LEAST, (10, &network)), 2, Between::Nothing);
        assert_eq!(outcome.ends, [80e-9, 160e-9].map(Seconds));
        assert_eq!(outcome.busy(), 1.0);
    }

    #[test]
    fn reductions_make_all_ranks_wait() {
        let network = Network::uniform(&exchange([3, 1, 2]));
        let two = cluster([2, 1], LEAST, (10, &network));
        let outcome = both(&two, 3, Between::Reductions(ns(7)));
        assert_eq!(outcome.ends, [143e-9, 286e-9, 429e-9].map(Seconds));
        check_splits(&outcome, &[[240, 84, 60, 45], [240, 108, 60, 21]]);
        // One Cell: one round up and one down.
        close(two.reduction(Bytes(8)), 6e-9);
    }

    #[test]
    fn two_spes_that_share_a_ppe_wait_for_each_other() {
        // Messages along x take no time; those along y 16, of which 15 at the PPE of the sender's Cell, which
        // has both ranks of a row. W = 10. In the first step the first rank's message takes the PPE from 10
        // to 25, that of its neighbour arrives at 20 and is received at 41. So it waits in every
        // step; the corners end at 82, 154, 236 and 308.
        let along_y = exchange([16, 0, 0]);
        let network = Network::new([
            Exchange::ideal(),
            along_y.clone(),
            along_y.clone(),
            along_y.clone(),
            along_y,
        ]);
        let free = both(&cluster([2, 2], LEAST, (10, &network)), 1, Between::Nothing);
        let stage = Stage { station: Station::SenderPpe, occupancy: curve(15) };
        let route = Route { forward: vec![stage], ..Route::default() };
        let network = network.with_route(Link::BetweenCells, route);
        let events = cluster([2, 2], LEAST, (10, &network)).events(1, Between::Nothing);
        close(events.outcome.first(), 308e-9);
        assert!(events.outcome.first() > free.first());
        let [Queue { station, visits, waited, longest_wait, occupied }] = events.queues[..] else {
            panic!("only PPEs are visited")
        };
        assert_eq!((station, visits), (Station::SenderPpe, 16));
        close(waited, 40e-9);
        close(longest_wait, 5e-9);
        close(occupied, 240e-9);
    }

    #[test]
    fn free_stations_add_nothing_to_an_exchange() {
        let stages = |stations: &[(Station, u32)]| {
            let stage =
                |&(station, time): &(Station, u32)| Stage { station, occupancy: curve(time) };
            stations.iter().map(stage).collect()
        };
        let route = Route {
            forward: stages(&[(Station::SenderPpe, 3), (Station::SenderAdapter, 2)]),
            delivery: stages(&[(Station::ReceiverHost, 2), (Station::ReceiverPpe, 1)]),
            acknowledgement: stages(&[(Station::ReceiverPpe, 1), (Station::SenderPpe, 1)]),
        };
        let network = Network::uniform(&exchange([11, 7, 5]));
        let network = network.with_route(Link::WithinCell, route);
        let two = cluster([2, 1], LEAST, (10, &network));
        let events = two.events(2, Between::Nothing);
        assert_eq!(events.outcome, two.recurrence(2, Between::Nothing));
        let visits: Vec<u64> = events.queues.iter().map(|queue| queue.visits).collect();
        assert_eq!(visits, [32, 16, 16, 32]);
    }

    #[test]
    fn stations_may_not_take_longer_than_the_exchange() {
        let stage = Stage { station: Station::SenderHost, occupancy: curve(4) };
        let route = Route { forward: vec![stage], ..Route::default() };
        let network = Network::uniform(&exchange([3, 1, 2])).with_route(Link::WithinCell, route);
        let grid = Grid::new(2, 1).unwrap();
        let faces = Faces::same(grid, Bytes(8), Bytes(8));
        let wavefront = Wavefront::new(grid, LEAST, Blocks::same(ns(1)), faces).unwrap();
        let placement = Placement::row_major(grid, shape(2)).unwrap();
        let error = Cluster::new(wavefront, &placement, &network).unwrap_err().to_string();
        assert_eq!(
            error,
            "stations up to delivery: found 4.000 ns for 8 bytes on the link within-cell, expected no more \
             than 3.000 ns, all of the exchange"
        );
    }

    #[test]
    fn the_network_costs_what_is_not_its_ideal() {
        let network = Network::uniform(&Exchange::symmetric(curve(1)));
        let all = cluster([4, 3], Steps { angle_blocks: 2, plane_blocks: 5 }, (10, &network));
        let outcome = all.recurrence(1, Between::Nothing);
        // 94 blocks of 10, and 338 messages.
        assert!((all.efficiency(&outcome) - 940.0 / 1278.0).abs() < 1e-12);
    }

    /// A cluster of random size, with costs from `scale` times those numbers.
    fn random(grid: [u32; 2], costs: &[u32], blocks: &[u32], scale: u32) -> Cluster {
        let of = |place: usize| scale * costs[place % costs.len()];
        let exchanges = std::array::from_fn(|link| {
            exchange([of(3 * link), of(3 * link + 1), of(3 * link + 2)])
        });
        let grid = Grid::new(grid[0], grid[1]).unwrap();
        let steps = Steps { angle_blocks: 1, plane_blocks: 2 };
        let class = |rank: u32| rank * 7 % 5;
        let times: Vec<Vec<Seconds>> = (0..5)
            .map(|class: usize| {
                (0..16).map(|step| ns(blocks[(3 * class + step) % blocks.len()])).collect()
            })
            .collect();
        let blocks = Blocks::by_step((0..grid.ranks()).map(class).collect(), &times).unwrap();
        let faces = Faces::same(grid, Bytes(100), Bytes(100));
        let wavefront = Wavefront::new(grid, steps, blocks, faces).unwrap();
        let placement = Placement::row_major(grid, shape(2)).unwrap();
        Cluster::new(wavefront, &placement, &Network::new(exchanges)).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn events_without_stations_are_the_recurrence(
            px in 1u32..7, py in 1u32..7,
            costs in prop::collection::vec(0u32..100, 15),
            blocks in prop::collection::vec(0u32..300, 17),
        ) {
            let cluster = random([px, py], &costs, &blocks, 1);
            both(&cluster, 2, Between::Nothing);
            both(&cluster, 2, Between::Reductions(ns(50)));
        }

        #[test]
        fn no_cost_makes_a_run_faster(
            px in 1u32..7, py in 1u32..7,
            costs in prop::collection::vec(0u32..100, 15),
            blocks in prop::collection::vec(0u32..300, 17),
            dearer in 0usize..15, slower in 0usize..17,
        ) {
            let time = |costs: &[u32], blocks: &[u32]| {
                random([px, py], costs, blocks, 1).recurrence(2, Between::Nothing).total()
            };
            let usual = time(&costs, &blocks);
            let (mut more_cost, mut more_block) = (costs.clone(), blocks.clone());
            more_cost[dearer] += 10;
            more_block[slower] += 10;
            prop_assert!(time(&more_cost, &blocks) >= usual);
            prop_assert!(time(&costs, &more_block) >= usual);
            let ideal = random([px, py], &costs, &blocks, 0).recurrence(2, Between::Nothing).total();
            prop_assert!(ideal <= usual);
        }

        #[test]
        fn the_parts_of_every_rank_add_up(
            px in 1u32..7, py in 1u32..7,
            costs in prop::collection::vec(0u32..100, 15),
            blocks in prop::collection::vec(0u32..300, 17),
        ) {
            let outcome = random([px, py], &costs, &blocks, 1).recurrence(2, Between::Nothing);
            for split in &outcome.ranks {
                let sum = split.compute + split.wait();
                prop_assert!((sum.0 - outcome.total().0).abs() < 1e-15);
                prop_assert!([split.receive, split.send, split.idle].iter().all(|part| part.0 >= 0.0));
            }
        }
    }

    #[test]
    fn an_arrival_is_16_bytes() {
        assert_eq!(size_of::<Reverse<Arrival>>(), 16);
    }
}
