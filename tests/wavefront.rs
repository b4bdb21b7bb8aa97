//! The model of wavefronts beside the recurrence over every rank.

use mmgp_base::Mapping;
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cluster::{
    Between, Blocks, Cluster, Curve, Exchange, Faces, Grid, Network, Placement, Shape, Steps,
    Tiles, Wavefront,
};
use mmgp_model::model::parameters::Estimate;
use mmgp_model::wavefront::{
    Choice, Flat, Line, LinkTerms, Links, Problem, WavefrontTerms, choices,
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
    let line = |[us, ns]: [f64; 2]| Line {
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

/// So many cells on each rank, the remainder on the first.
fn shares(cells: u32, ranks: u32) -> Vec<u32> {
    (0..ranks).map(|rank| cells / ranks + u32::from(rank < cells % ranks)).collect()
}

fn by_ranks(costs: &Costs, problem: &Problem, choice: &Choice) -> Seconds {
    let &Choice { px, py, planes, angles, tiling } = choice;
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

#[test]
fn explore() {
    for (name, costs) in [("both", BY_BOTH), ("who", BY_WHO_WAITS)] {
        let mut worst: Vec<(f64, String)> = Vec::new();
        for (nodes, it, jt, kt) in [
            (1, 50, 50, 50),
            (1, 40, 80, 100),
            (4, 80, 80, 100),
            (16, 100, 120, 200),
            (90, 240, 300, 200),
            (510, 600, 700, 400),
        ] {
            let problem = Problem { it, jt, kt, angles: 6 };
            let all = choices(&problem, Mapping::of(nodes, 32), [2, 2]);
            let model = Flat::new(terms(&costs), problem, all.clone());
            let stride = (all.len() * (nodes as usize) / 2000).max(1);
            let mut best = (f64::MAX, f64::MAX);
            let mut sum = 0.0;
            let mut n = 0.0;
            for (i, (choice, time)) in model.ranked().iter().enumerate() {
                if i > 20 && i % stride != 0 {
                    continue;
                }
                let t = by_ranks(&costs, &problem, choice).0;
                if i == 0 {
                    best.0 = t;
                }
                best.1 = best.1.min(t);
                let e = 100.0 * (time.0 / t - 1.0);
                sum += e.abs();
                n += 1.0;
                worst.push((e, format!("{name} {nodes} {choice:?}")));
            }
            println!(
                "{name} nodes {nodes}: {} choices, {n} run, mean {:.3}, regret {:.3} %",
                all.len(),
                sum / n,
                100.0 * (best.0 / best.1 - 1.0)
            );
        }
        worst.sort_by(|a, b| a.0.total_cmp(&b.0));
        for w in worst.iter().take(8).chain(worst.iter().rev().take(8)) {
            println!("{:.2} {}", w.0, w.1);
        }
    }
}
