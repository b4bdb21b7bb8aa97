//! Stations that serve one message after the other.

use crate::cluster::Visit;
use crate::link::Station;
use crate::placement::Shape;
use crate::wavefront::seconds;

use super::Queue;

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
    /// Those of a machine of which so many SPEs have ranks, the first ones.
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
