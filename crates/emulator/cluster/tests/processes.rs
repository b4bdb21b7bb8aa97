//! The same ranks once more, each as a process of `mmgp_sim` that is written as the program it is.

use mmgp_base::units::{Bytes, Seconds, SimSpan, SimTime};
use mmgp_cluster::{
    Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Network, Placement, Shape, Steps,
    Wavefront,
};
use mmgp_sim::{Sim, Watch};

/// What two neighbours know of a message.
#[derive(Default)]
struct Meeting {
    ready: Option<SimTime>,
    received: u32,
}

/// A link between two neighbours, for messages in both directions.
#[derive(Clone)]
struct Link {
    meeting: Watch<Meeting>,
    early: SimSpan,
    late: SimSpan,
    release: SimSpan,
}

impl Link {
    async fn send(&self, sim: &Sim) {
        let before = self.meeting.read(|meeting| meeting.received);
        self.meeting.update(|meeting| meeting.ready = Some(sim.now()));
        self.meeting.wait_until(|meeting| meeting.received > before).await;
        sim.sleep(self.release).await;
    }

    async fn receive(&self, sim: &Sim) {
        let posted = sim.now();
        self.meeting.wait_until(|meeting| meeting.ready.is_some()).await;
        let ready = self.meeting.update(|meeting| meeting.ready.take()).expect("it is ready");
        sim.sleep_until((ready + self.early).max(posted + self.late)).await;
        self.meeting.update(|meeting| meeting.received += 1);
    }
}

/// A rank's links: towards lower and higher x, lower and higher y.
type Links = [[Option<Link>; 2]; 2];

async fn rank(sim: Sim, links: Links, (block, steps): (SimSpan, u32)) {
    for [up_x, up_y] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let upstream = [&links[0][1 - up_x], &links[1][1 - up_y]];
        let downstream = [&links[0][up_x], &links[1][up_y]];
        for _ in 0..steps / 4 {
            for link in upstream.into_iter().flatten() {
                link.receive(&sim).await;
            }
            sim.sleep(block).await;
            for link in downstream.into_iter().flatten() {
                link.send(&sim).await;
            }
        }
    }
}

fn by_processes(
    network: &Network,
    placement: &Placement,
    (block, steps): (Seconds, u32),
) -> Seconds {
    let (sim, grid) = (Sim::new(), placement.grid());
    let link = |one: u32, other: u32| {
        let exchange = network.exchange(placement.link(one, other));
        let span = |curve: &Curve| SimSpan::from_seconds(curve.at(FACE));
        Link {
            meeting: Watch::new(&sim, "message", Meeting::default()),
            early: span(&exchange.early),
            late: span(&exchange.late),
            release: span(&exchange.release),
        }
    };
    let higher = |[x, y]: [u32; 2]| {
        let own = grid.rank([x, y]);
        [
            (x + 1 < grid.px()).then(|| link(own, own + 1)),
            (y + 1 < grid.py()).then(|| link(own, own + grid.px())),
        ]
    };
    let higher: Vec<[Option<Link>; 2]> = grid.all().map(higher).collect();
    for [x, y] in grid.all() {
        let of = |place: [u32; 2], axis: usize| higher[grid.rank(place) as usize][axis].clone();
        let links = [
            [(x > 0).then(|| of([x - 1, y], 0)).flatten(), of([x, y], 0)],
            [(y > 0).then(|| of([x, y - 1], 1)).flatten(), of([x, y], 1)],
        ];
        let block = SimSpan::from_seconds(block);
        sim.spawn(format!("rank at {x}, {y}"), rank(sim.clone(), links, (block, steps)));
    }
    sim.run().expect("nobody waits for ever").seconds()
}

const FACE: Bytes = Bytes(100);

fn check([px, py]: [u32; 2], steps: Steps, block: f64) {
    let exchange = |early: f64, late: f64, release: f64| {
        let curve = |time: f64| Curve::constant(Seconds(time * 1e-9)).unwrap();
        Exchange { early: curve(early), late: curve(late), release: curve(release) }
    };
    let network = Network::new([
        exchange(3.0, 1.0, 0.5),
        exchange(5.0, 8.0, 0.0),
        exchange(60.0, 35.0, 20.0),
        exchange(70.0, 40.0, 9.0),
        exchange(90.0, 50.0, 1.0),
    ]);
    let grid = Grid::new(px, py).unwrap();
    let shape = Shape {
        spes_per_cell: 3,
        cells_per_blade: 2,
        blades_per_node: 2,
        nodes_per_unit: 2,
        units: 1 << 16,
    };
    let placement = Placement::row_major(grid, shape).unwrap();
    let block = Seconds(block * 1e-9);
    let faces = Faces::same(grid, FACE, FACE);
    let wavefront = Wavefront::new(grid, steps, Blocks::same(block), faces).unwrap();
    let cluster = Cluster::new(wavefront, &placement, &network).unwrap();
    let found = cluster.events(1, Between::Nothing).outcome.first();
    let expected = by_processes(&network, &placement, (block, steps.in_iteration()));
    assert_eq!(found, expected);
    assert_eq!(cluster.recurrence(1, Between::Nothing).first(), expected);
}

#[test]
fn processes_take_as_long_as_events_and_the_recurrence() {
    let steps = Steps { angle_blocks: 2, plane_blocks: 3 };
    for grid in [[1, 1], [5, 1], [1, 6], [2, 2], [4, 7], [13, 5]] {
        for block in [0.0, 10.0, 75.0, 400.0] {
            check(grid, steps, block);
        }
    }
}
