//! What a block of Sweep3D takes on the emulated machine, and an iteration: emulated on as many blades as a
//! node has, simulated beyond.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::messages::{SIZES, network, shape};
use crate::Mapping;
use crate::apps::Application as _;
use crate::apps::sweep3d::{Findings, Programming, Sweep3d};
use crate::cell::{Blade, KernelTiming};
use crate::cluster::{
    Between, Blocks, Cluster, Faces, Grid, Link, Network, Placement, Shape, Steps, Tiles, Wavefront,
};
use crate::error::Result;
use crate::machine::Machine;
use crate::runtime::{Edtlp, Runtime};
use crate::sweep::{Fields, Input};
use crate::table::records::{BlockRun, MessageRun, MessageTime};
use crate::units::{Bytes, Seconds};

/// A block whose time is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockPlan {
    /// Cells of a rank along i and j.
    pub cells: [u32; 2],
    /// Planes of the block.
    pub planes: u32,
    /// Angles of the block, and of an octant.
    pub angles: [u32; 2],
    /// Ranks that sweep together: of a node at most.
    pub ranks: u32,
}

/// Blocks along k of the column that is swept to time one.
const BLOCKS: u32 = 4;

/// The time of a block, without the messages of its faces: a mean over the ranks and blocks of an
/// iteration on a node, whose ranks ask the same memories as far as they do not wait for messages.
///
/// # Errors
/// What the run runs into: [`Error::LocalStoreFull`](crate::Error::LocalStoreFull) where the faces of the
/// block are too large.
pub fn block_time(machine: &Machine, plan: &BlockPlan) -> Result<Seconds> {
    let [px, py] = on_node(plan.ranks);
    let [it, jt] = plan.cells;
    let [angles_of_block, angles] = plan.angles.map(i64::from);
    let input = Input::new(Fields {
        processes: [px, py].map(i64::from),
        planes_of_block: plan.planes.into(),
        angles_of_block,
        processors: 1,
        cells: [px * it, py * jt, BLOCKS * plan.planes].map(i64::from),
        angles,
        scattering: 1,
        widths: [0.1; 3],
        convergence: -1.0,
        boundaries: [0; 3],
        printing: 0,
        acceleration: 0,
        fix_ups: 0,
    })?;
    let app = Sweep3d::new(input, Programming::Reverse)?;
    let on =
        Runtime::new(Blade::new(machine, KernelTiming::Cached, 0.0), Box::new(Edtlp::default()));
    let ran = app.run(&on, Mapping::new(1, plan.ranks)?)?;
    let found: &Findings = ran.findings().expect("invariant: a sweep has findings");
    Ok(found.block)
}

/// The same as a row of a table.
///
/// # Errors
/// As [`block_time`].
pub fn block_run(machine: &Machine, plan: &BlockPlan) -> Result<BlockRun> {
    let [it, jt] = plan.cells;
    Ok(BlockRun {
        cells: it * jt * plan.planes,
        lines: jt * plan.planes,
        angles: plan.angles[0],
        repetition: 1,
        time_s: block_time(machine, plan)?.0,
    })
}

/// The three costs of each message, a row for each; messages between units cost the model what those between
/// nodes do.
pub fn message_runs(times: &[MessageTime]) -> Vec<MessageRun> {
    let rows = times.iter().filter(|row| row.link != Link::BetweenUnits.name());
    rows.flat_map(|row| {
        let costs =
            [("early", row.early_s), ("late", row.late_s), ("release", row.release_s.max(0.0))];
        costs.map(|(way, time_s)| MessageRun {
            link: row.link.clone(),
            way: way.into(),
            bytes: row.bytes as u32,
            repetition: 1,
            time_s,
        })
    })
    .collect()
}

/// An iteration of a problem, for one choice of ranks and blocks after another.
pub struct Sweep<'a> {
    machine: &'a Machine,
    fields: Fields,
    shape: Shape,
    /// None where all of the machine is emulated.
    network: Option<Network>,
    /// What has been timed.
    blocks: Mutex<BTreeMap<BlockPlan, Seconds>>,
}

impl<'a> Sweep<'a> {
    /// Of that problem; its ranks and blocks are chosen at each run.
    ///
    /// # Errors
    /// What the measurement of messages runs into.
    pub fn new(machine: &'a Machine, fields: Fields, threads: usize) -> Result<Self> {
        let has_network = machine.network.is_some();
        let network = has_network.then(|| network(machine, &SIZES, threads)).transpose()?;
        Ok(Self { machine, fields, shape: shape(machine), network, blocks: Mutex::default() })
    }

    /// An iteration on cells along i, j and k, by ranks along i and j, with planes and angles of a block and ranks
    /// on a node: from the first rank's beginning to the last one's end: emulated on the ranks of a node, simulated by
    /// events on more.
    ///
    /// # Errors
    /// What a run runs into.
    pub fn time(
        &self,
        cells: [u32; 3],
        grid: [u32; 2],
        block: [u32; 2],
        tile: [u32; 2],
    ) -> Result<Seconds> {
        let [px, py] = grid;
        let grid = Grid::new(px, py)?;
        let placement = self.placement(grid, tile)?;
        match &self.network {
            Some(network) if px * py > self.shape.spes_per_node() => {
                self.simulate(&placement, (cells, block), network)
            }
            _ => self.emulate(&placement, (cells, block)),
        }
    }

    /// Tiles of ranks on nodes, blades and Cells, as far as there are so many ranks.
    fn placement(&self, grid: Grid, tile: [u32; 2]) -> Result<Placement> {
        let shape = self.shape;
        let parts = |ranks: u32| if tile[0] * tile[1] > ranks { u32::MAX } else { 1 };
        let cut = Shape {
            blades_per_node: shape.blades_per_node.min(parts(shape.spes_per_blade())),
            cells_per_blade: shape.cells_per_blade.min(parts(shape.spes_per_cell)),
            ..shape
        };
        Placement::tiled(grid, shape, Tiles::cut(tile, cut)?)
    }

    fn input(&self, grid: Grid, (cells, [mk, mmi]): ([u32; 3], [u32; 2])) -> Result<Input> {
        Input::new(Fields {
            processes: [grid.px(), grid.py()].map(i64::from),
            planes_of_block: mk.into(),
            angles_of_block: mmi.into(),
            cells: cells.map(i64::from),
            ..self.fields
        })
    }

    /// On the emulated machine.
    ///
    /// # Errors
    /// What the run runs into.
    pub fn emulate(&self, placement: &Placement, problem: ([u32; 3], [u32; 2])) -> Result<Seconds> {
        let grid = placement.grid();
        let places: Vec<u32> = (0..grid.ranks()).map(|rank| placement.spe(rank)).collect();
        let app = Sweep3d::new(self.input(grid, problem)?, Programming::Reverse)?;
        let blade = Blade::new(self.machine, KernelTiming::Cached, 0.0);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        let ran = app.placed(places.into()).run(&on, Mapping::new(1, grid.ranks())?)?;
        let found: &Findings = ran.findings().expect("invariant: a sweep has findings");
        Ok(found.sweeps.first().copied().unwrap_or(Seconds(0.0)))
    }

    /// By events, with blocks and messages that take what they take on emulated blades.
    ///
    /// # Errors
    /// What the timing of a block runs into.
    pub fn simulate(
        &self,
        placement: &Placement,
        problem: ([u32; 3], [u32; 2]),
        network: &Network,
    ) -> Result<Seconds> {
        let cluster = self.cluster(placement, problem, network)?;
        Ok(cluster.events(1, Between::Nothing).outcome.first())
    }

    /// The ranks with what their blocks take.
    ///
    /// # Errors
    /// As [`Sweep::simulate`].
    pub fn cluster(
        &self,
        placement: &Placement,
        ([it, jt, kt], [mk, mmi]): ([u32; 3], [u32; 2]),
        network: &Network,
    ) -> Result<Cluster> {
        let grid = placement.grid();
        let angles = self.fields.angles as u32;
        let (mk, cells) = (mk.min(kt), [it.div_ceil(grid.px()), jt.div_ceil(grid.py())]);
        let ranks = grid.ranks().min(self.shape.spes_per_node());
        let time = self.block(&BlockPlan { cells, planes: mk, angles: [mmi, angles], ranks })?;
        let steps = Steps { angle_blocks: angles / mmi, plane_blocks: kt.div_ceil(mk) };
        let face = |cells: u32| Bytes(u64::from(16 * mmi.div_ceil(2) * cells * mk));
        let faces = Faces::same(grid, face(cells[1]), face(cells[0]));
        let wavefront = Wavefront::new(grid, steps, Blocks::same(time), faces)?;
        Cluster::new(wavefront, placement, network)
    }

    /// What a block takes, timed once.
    fn block(&self, plan: &BlockPlan) -> Result<Seconds> {
        let known = self.blocks.lock().unwrap_or_else(PoisonError::into_inner).get(plan).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let time = block_time(self.machine, plan)?;
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).insert(*plan, time);
        Ok(time)
    }
}

/// Ranks along i and j that share a node: two columns, where they can be cut so.
fn on_node(ranks: u32) -> [u32; 2] {
    if ranks > 1 && ranks.is_multiple_of(2) { [2, ranks / 2] } else { [1, ranks] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Fields {
        Fields {
            processes: [2, 16],
            planes_of_block: 10,
            angles_of_block: 6,
            processors: 1,
            cells: [10, 80, 80],
            angles: 6,
            scattering: 1,
            widths: [0.1; 3],
            convergence: -1.0,
            boundaries: [0; 3],
            printing: 0,
            acceleration: 0,
            fix_ups: 0,
        }
    }

    /// How far the simulation is off what is emulated on the 32 SPEs of a node, in parts.
    fn error(cells: [u32; 3], block: [u32; 2]) -> f64 {
        let machine = Machine::named("roadrunner").unwrap();
        let sweep = Sweep::new(&machine, fields(), 1).unwrap();
        let grid = Grid::new(2, 16).unwrap();
        let placement = sweep.placement(grid, [2, 16]).unwrap();
        let emulated = sweep.emulate(&placement, (cells, block)).unwrap();
        let network = sweep.network.as_ref().unwrap();
        let simulated = sweep.simulate(&placement, (cells, block), network).unwrap();
        println!("{cells:?} {block:?}: {emulated} {simulated}");
        simulated.0 / emulated.0 - 1.0
    }

    #[test]
    fn a_node_is_simulated_as_it_is_emulated() {
        for (cells, block) in
            [([10, 80, 80], [20, 6]), ([10, 80, 80], [10, 3]), ([16, 128, 40], [10, 6])]
        {
            let error = error(cells, block);
            assert!(error.abs() < 0.02, "{cells:?} {block:?}: {error}");
        }
    }
}
