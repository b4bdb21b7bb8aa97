//! What there is to choose for a machine and a problem.

use mmgp_apps::sweep3d::fits_local_store;
use mmgp_base::units::Bytes;
use mmgp_base::{Error, Mapping, Result};
use mmgp_cluster::Shape;
use mmgp_machine::Machine;
use mmgp_model::models::wavefront::{GridChoice, Problem, choices};
use mmgp_sweep::{Fields, Input};

use crate::measure::messages;
use crate::measure::wavefront::BlockPlan;
use crate::space::doublings;

/// Planes of a block, as far as there are so many.
const PLANES: [u32; 6] = [2, 5, 10, 20, 40, 80];

/// Angles of a block: those of an octant, or half of them.
const ANGLE_BLOCKS: [u32; 2] = [1, 2];

/// Nodes that are studied of a machine with a network, beside all.
const NODES: [u32; 2] = [1, 60];

/// Choices that are studied of each number of nodes, with their grids as near to squares as they come.
const GRIDS: usize = 3;

/// Cells of each rank where nothing is said of the grid and there is a network: the more ranks the more cells.
const CELLS_OF_RANK: [u32; 3] = [4, 4, 80];

/// The choices of ranks and blocks for a problem on a machine.
pub struct Candidates {
    pub fields: Fields,
    pub choices: Vec<(Problem, GridChoice)>,
    shape: Shape,
}

impl Candidates {
    /// The choices on 1, 2, 4 and so on ranks of a machine without a network; of another one on a node,
    /// on some and on all.
    ///
    /// # Errors
    /// What is wrong with the input, and [`Error::OutOfRange`] where no choice suits the grid.
    pub fn new(machine: &Machine, fields: Fields, grows: bool) -> Result<Self> {
        let fields = Fields {
            convergence: -1.0,
            fix_ups: 0,
            processes: Fields::BENCHMARK.processes,
            ..fields
        };
        Input::new(fields)?;
        let [it, jt, kt] = fields.cells.map(|cells| cells as u32);
        let given = Problem { it, jt, kt, angles: fields.angles as u32 };
        let grows = grows && machine.network.is_some();
        let shape = messages::shape(machine);
        let mut found = Vec::new();
        for (mapping, parts) in mappings(shape) {
            let problem = if grows { of_ranks(mapping, &given) } else { given };
            let all = of_mapping(&problem, mapping, parts).into_iter();
            found.extend(all.map(|choice| (problem, choice)));
        }
        found.retain(|(problem, choice)| {
            let plan = block(shape, problem, choice);
            let [it, jt] = plan.cells;
            fits_local_store([it, jt, plan.planes], plan.angles)
        });
        if found.is_empty() {
            return Err(Error::out_of_range(
                "cells along i",
                format!("{it} x {jt} x {kt}"),
                "a grid that ranks can share, with faces that fit local stores",
            ));
        }
        Ok(Self { fields, choices: found, shape })
    }

    /// Blocks from which the time of any other is estimated: the smallest, the largest and some between.
    pub fn block_plans(&self) -> Vec<BlockPlan> {
        let mut plans: Vec<BlockPlan> = self
            .choices
            .iter()
            .map(|(problem, choice)| block(self.shape, problem, choice))
            .collect();
        plans.sort_by_key(|plan| {
            let [it, jt] = plan.cells;
            (it * jt * plan.planes * plan.angles[0], *plan)
        });
        plans.dedup();
        let mut chosen = Vec::new();
        for angles in self.angle_blocks() {
            let own: Vec<BlockPlan> =
                plans.iter().filter(|plan| plan.angles[0] == angles).copied().collect();
            let step = own.len().div_ceil(MOST_PLANS).max(1);
            chosen.extend(own.iter().copied().step_by(step));
            chosen.extend(own.last());
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Numbers of angles of the blocks of all choices. A lane beside an odd angle is empty, so that no time for an
    /// angle holds for all of them.
    pub fn angle_blocks(&self) -> Vec<u32> {
        let mut angles: Vec<u32> = self.choices.iter().map(|(_, choice)| choice.angles).collect();
        angles.sort_unstable();
        angles.dedup();
        angles
    }

    /// Sizes of the messages of all choices.
    pub fn sizes(&self) -> Vec<Bytes> {
        let mut sizes: Vec<Bytes> =
            self.choices.iter().flat_map(|(problem, choice)| self.faces(problem, choice)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Sizes of the messages of a choice, along i and along j.
    pub fn faces(&self, problem: &Problem, choice: &GridChoice) -> [Bytes; 2] {
        block(self.shape, problem, choice).faces()
    }
}

/// The block of a choice: that of the largest tile.
fn block(shape: Shape, problem: &Problem, choice: &GridChoice) -> BlockPlan {
    let Problem { it, jt, angles, .. } = *problem;
    BlockPlan {
        cells: [it.div_ceil(choice.px), jt.div_ceil(choice.py)],
        planes: choice.planes,
        angles: [choice.angles, angles],
        ranks: (choice.px * choice.py).min(shape.spes_per_node()),
    }
}

/// A problem with as many cells for each rank, whose ranks form a grid as near to a square as it comes.
fn of_ranks((m, p): (u32, u32), given: &Problem) -> Problem {
    let (ranks, [it, jt, kt]) = (m * p, CELLS_OF_RANK);
    let divisors = (1..=ranks).filter(|px| ranks.is_multiple_of(*px));
    let px = divisors.min_by_key(|px| px.abs_diff(ranks / px)).unwrap_or(1);
    Problem { it: it * px, jt: jt * (ranks / px), kt, ..*given }
}

/// The most blocks of as many angles that are timed, but for one.
const MOST_PLANS: usize = 8;

/// Nodes and ranks of each, and into how many blades and Cells a node's ranks are cut.
fn mappings(shape: Shape) -> Vec<((u32, u32), [u32; 2])> {
    let nodes = shape.nodes_per_unit * shape.units;
    let (node, cell) = (shape.spes_per_node(), shape.spes_per_cell);
    if nodes > 1 {
        let parts = [shape.blades_per_node, shape.cells_per_blade];
        let counts = NODES.into_iter().filter(|&count| count < nodes).chain([nodes]);
        return counts.map(|count| ((count, node), parts)).collect();
    }
    let counts = doublings(node).into_iter();
    counts.map(|count| ((1, count), [1, count.div_ceil(cell)])).collect()
}

/// Choices for so many nodes and ranks of each, with grids that are near to squares.
fn of_mapping(problem: &Problem, (m, p): (u32, u32), parts: [u32; 2]) -> Vec<GridChoice> {
    let Ok(mapping) = Mapping::new(m, p) else { return Vec::new() };
    let wanted = |choice: &GridChoice| {
        let blocks = problem.angles / choice.angles;
        PLANES.contains(&choice.planes) && ANGLE_BLOCKS.contains(&blocks)
    };
    let mut all: Vec<GridChoice> =
        choices(problem, mapping, parts).into_iter().filter(wanted).collect();
    let mut grids: Vec<([u32; 2], [u32; 2])> =
        all.iter().map(|choice| ([choice.px, choice.py], choice.tiling.node)).collect();
    grids.sort_by_key(|&([px, py], tile)| {
        (problem.it.div_ceil(px).abs_diff(problem.jt.div_ceil(py)), tile, px)
    });
    grids.dedup();
    if m > 1 {
        grids.truncate(GRIDS);
    }
    all.retain(|choice| grids.contains(&([choice.px, choice.py], choice.tiling.node)));
    all
}
