//! The model of wavefronts beside the recurrence over every rank.

use mmgp::Mapping;
use mmgp::models::TimeModel as _;
use mmgp::models::parameters::Estimate;
use mmgp::models::wavefront::{
    Flat, GridChoice, Inner, LinkTerms, Links, MessageLine, Problem, Tiling, Transfer, TwoLevel,
    WavefrontTerms, choices,
};
use mmgp::units::{Bytes, Seconds};
use mmgp_cluster::{
    Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Network, Placement, Shape, Steps,
    Tiles, Wavefront,
};

/// Nodes of two blades of two Cells.
const SHAPE: Shape = Shape {
    spes_per_cell: 8,
    cells_per_blade: 2,
    blades_per_node: 2,
    nodes_per_unit: 180,
    units: 17,
};

/// Microseconds and nanoseconds a byte of `early`, `late` and `release`, for each kind of link.
type Costs = [[[f64; 2]; 3]; 4];

/// Each cost from the later of sender and receiver.
const BY_BOTH: Costs = [
    [[0.3, 0.05], [0.3, 0.05], [0.0, 0.0]],
    [[0.5, 0.16], [0.5, 0.16], [0.0, 0.0]],
    [[12.0, 2.5], [12.0, 2.5], [0.0, 0.0]],
    [[14.0, 3.3], [14.0, 3.3], [0.0, 0.0]],
];

/// Three hops between blades, of which the receiver sees the last, and a word back.
const BY_WHO_WAITS: Costs = [
    [[0.3, 0.05], [0.4, 0.05], [0.05, 0.0]],
    [[0.6, 0.16], [0.7, 0.16], [0.1, 0.0]],
    [[9.5, 2.0], [3.2, 0.7], [3.5, 0.0]],
    [[11.0, 2.8], [3.2, 0.7], [5.0, 0.0]],
];

/// `W_0` \[us\], a line \[ns\], and a cell for an angle \[ns\].
const BLOCK: [f64; 3] = [2.0, 60.0, 11.0];

fn terms(costs: &Costs) -> WavefrontTerms {
    let line = |[us, ns]: [f64; 2]| MessageLine {
        latency_s: Estimate::exact(us * 1e-6),
        byte_s: Estimate::exact(ns * 1e-9),
    };
    let link = |ways: [[f64; 2]; 3]| {
        let [early, late, release] = ways.map(line);
        LinkTerms { early, late, release }
    };
    WavefrontTerms {
        block_s: Estimate::exact(BLOCK[0] * 1e-6),
        line_s: Estimate::exact(BLOCK[1] * 1e-9),
        cell_s: Estimate::exact(BLOCK[2] * 1e-9),
        links: Links(costs.map(link)),
    }
}

fn network(costs: &Costs) -> Network {
    let curve = |[us, ns]: [f64; 2]| {
        let points = [0, 1 << 20].map(|bytes: u32| {
            (Bytes(bytes.into()), Seconds(us * 1e-6 + ns * 1e-9 * f64::from(bytes)))
        });
        Curve::through(&points).unwrap()
    };
    let link = |ways: [[f64; 2]; 3]| {
        let [early, late, release] = ways.map(curve);
        Exchange { early, late, release }
    };
    let [cell, cells, blades, nodes] = costs.map(link);
    Network::new([cell, cells, blades, nodes.clone(), nodes])
}

/// The cells of each rank, the remainder on the first.
fn shares(cells: u32, ranks: u32) -> Vec<u32> {
    (0..ranks).map(|rank| cells / ranks + u32::from(rank < cells % ranks)).collect()
}

fn by_ranks(costs: &Costs, problem: &Problem, choice: &GridChoice) -> Seconds {
    let &GridChoice { px, py, planes, angles, tiling } = choice;
    let grid = Grid::new(px, py).unwrap();
    let plane_blocks = problem.kt.div_ceil(planes);
    let steps = Steps { angle_blocks: problem.angles / angles, plane_blocks };
    let (its, jts) = (shares(problem.it, px), shares(problem.jt, py));
    let mut class = Vec::new();
    let mut extents: Vec<[u32; 2]> = Vec::new();
    for [x, y] in grid.all() {
        let pair = [its[x as usize], jts[y as usize]];
        let known = extents.iter().position(|&it| it == pair);
        class.push(known.unwrap_or(extents.len()) as u32);
        if known.is_none() {
            extents.push(pair);
        }
    }
    // The last block of an octant has the planes that are left.
    let block = |[it, jt]: [u32; 2], step: u32| {
        let first = step % plane_blocks * planes;
        let lines = f64::from(jt * planes.min(problem.kt - first));
        let [block, line, cell] = BLOCK;
        let cells = f64::from(it) * lines * f64::from(angles);
        Seconds(block * 1e-6 + line * 1e-9 * lines + cell * 1e-9 * cells)
    };
    let times: Vec<Vec<Seconds>> = extents
        .iter()
        .map(|&pair| (0..steps.in_iteration()).map(|step| block(pair, step)).collect())
        .collect();
    let face = |&cells: &u32| Bytes(u64::from(8 * cells * planes * angles));
    let faces = Faces {
        east_west: jts.iter().map(face).collect(),
        north_south: its.iter().map(face).collect(),
    };
    let blocks = Blocks::by_step(class, &times).unwrap();
    let wavefront = Wavefront::new(grid, steps, blocks, faces).unwrap();
    let tiles = Tiles { node: tiling.node, blade: tiling.blade, cell: tiling.cell };
    let placement = Placement::tiled(grid, SHAPE, tiles).unwrap();
    let cluster = Cluster::new(wavefront, &placement, &network(costs)).unwrap();
    cluster.recurrence(1, Between::Nothing).first()
}

/// How far predictions are off, and what is lost by the choice.
struct Comparison {
    mappings: usize,
    /// Mean of |predicted - timed|/timed.
    mean: f64,
    /// The largest of them.
    most: f64,
    /// How much longer the predicted best takes than the fastest that was timed.
    regret: f64,
}

/// Sets predictions beside the recurrence: the 40 choices of a mapping that are predicted to be the fastest,
/// and as many more of all kinds, spread over the ranking.
fn compare(costs: &Costs, nodes: u32, [it, jt, kt]: [u32; 3]) -> Comparison {
    let problem = Problem { it, jt, kt, angles: 6 };
    let all = choices(&problem, Mapping::of(nodes, 32), [2, 2]);
    let ranked = Flat::new(terms(costs), problem, all).ranked();
    let (first, apart) = (40.min(ranked.len()), (ranked.len() / 40).max(1));
    let places = (0..first).chain((first..ranked.len()).step_by(apart));
    let timed = places.map(|place| {
        let (choice, predicted) = &ranked[place];
        let timed = by_ranks(costs, &problem, choice).0;
        [predicted.0 / timed - 1.0, timed]
    });
    let timed: Vec<[f64; 2]> = timed.collect();
    let errors = timed.iter().map(|[error, _]| error.abs());
    let least = timed.iter().map(|[_, time]| *time).fold(f64::INFINITY, f64::min);
    Comparison {
        mappings: timed.len(),
        mean: errors.clone().sum::<f64>() / timed.len() as f64,
        most: errors.fold(0.0, f64::max),
        regret: timed[0][1] / least - 1.0,
    }
}

#[track_caller]
fn check(nodes: u32, cells: [u32; 3]) {
    for costs in [BY_BOTH, BY_WHO_WAITS] {
        let Comparison { mappings, mean, most, regret } = compare(&costs, nodes, cells);
        let found = format!("{nodes} nodes, {mappings}: {mean:.4}, {most:.4}, {regret:.4}");
        println!("{found}");
        assert!(mappings >= 40 && mean < 0.03 && most < 0.1 && regret < 0.01, "{found}");
    }
}

#[test]
fn mappings_of_a_node_are_predicted() {
    check(1, [50, 50, 50]);
    check(1, [40, 80, 100]);
}

#[test]
fn mappings_of_a_few_nodes_are_predicted() {
    check(4, [80, 80, 100]);
    check(16, [100, 120, 200]);
}

#[test]
fn mappings_of_thousands_of_ranks_are_predicted() {
    check(90, [240, 300, 100]);
}

#[test]
fn the_whole_machine_is_predicted() {
    let problem = Problem { it: 1530, jt: 1600, kt: 400, angles: 6 };
    let tiling = Tiling::cut([2, 16], 2, 2).unwrap();
    for costs in [BY_BOTH, BY_WHO_WAITS] {
        for (planes, angles) in [(100, 6), (40, 6), (40, 3)] {
            let choice = GridChoice { px: 306, py: 320, planes, angles, tiling };
            let predicted = Flat::new(terms(&costs), problem, vec![choice]).time_of(&choice).0;
            let error = predicted / by_ranks(&costs, &problem, &choice).0 - 1.0;
            println!("whole {planes} {angles}: {error:.5}");
            assert!(error.abs() < 0.03, "{choice:?}: {error}");
        }
    }
}

/// What a node's messages and blocks cost, put in and estimated again.
#[test]
fn the_two_level_form_is_the_flat_one_over_nodes() {
    let problem = Problem { it: 60, jt: 48, kt: 40, angles: 6 };
    let tiling = Tiling { node: [1, 1], blade: [1, 1], cell: [1, 1] };
    let choice = GridChoice { px: 5, py: 4, planes: 10, angles: 3, tiling };
    let line = |us: f64, ns: f64| MessageLine {
        latency_s: Estimate::exact(us * 1e-6),
        byte_s: Estimate::exact(ns * 1e-9),
    };
    let transfer = Transfer { to: line(4.0, 0.5), back: line(6.0, 0.5) };
    let inner = Inner { accelerators: [4, 8], blocks: 5, block: line(3.0, 11.0), transfer };
    let model = TwoLevel::new(&terms(&BY_BOTH), inner, (problem, choice));
    let block = model.node_block();
    let grid = Grid::new(5, 4).unwrap();
    let steps = Steps { angle_blocks: 2, plane_blocks: 4 };
    let face = Bytes(8 * 12 * 10 * 3);
    let wavefront =
        Wavefront::new(grid, steps, Blocks::same(block), Faces::same(grid, face, face)).unwrap();
    // Each node alone: every rank stands on a node of its own.
    let tiles = Tiles { node: [1, 1], blade: [1, 1], cell: [1, 1] };
    let placement = Placement::tiled(grid, SHAPE, tiles).unwrap();
    let cluster = Cluster::new(wavefront, &placement, &network(&BY_BOTH)).unwrap();
    let timed = cluster.recurrence(1, Between::Nothing).first().0;
    let predicted = model.time(Mapping::of(20, 32)).0;
    assert!((predicted / timed - 1.0).abs() < 1e-6, "{predicted} {timed}");
}
