//! What a block of Sweep3D takes on the emulated machine, and an iteration: emulated on as many blades as a
//! node has, simulated beyond.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::messages::{SIZES, network, shape};
use mmgp_apps::Application as _;
use mmgp_apps::sweep3d::{Findings, Programming, Sweep3d};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::table::records::BlockRun;
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cell::{Blade, KernelTiming};
use mmgp_cluster::{
    Between, Blocks, Cluster, Faces, Grid, Network, Placement, Shape, Steps, Tiles, Wavefront,
};
use mmgp_kernels::sweep3d::face_bytes;
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Runtime};
use mmgp_sweep::{Fields, Input};

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

impl BlockPlan {
    /// Sizes of its messages along i and along j.
    pub fn faces(&self) -> [Bytes; 2] {
        let ([it, jt], [own, _]) = (self.cells, self.angles);
        [jt, it].map(|cells| Bytes(face_bytes(own).0 * u64::from(self.planes * cells)))
    }

    /// Ranks that sweep such blocks over so many planes, where one takes so long.
    ///
    /// # Errors
    /// Where the ranks of `grid` are too many.
    pub fn wavefront(&self, grid: Grid, planes: u32, time: Seconds) -> Result<Wavefront> {
        let ([own, all], [along_i, along_j]) = (self.angles, self.faces());
        let steps = Steps { angle_blocks: all / own, plane_blocks: planes.div_ceil(self.planes) };
        let faces = Faces::same(grid, along_i, along_j);
        Wavefront::new(grid, steps, Blocks::same(time), faces)
    }
}

/// A problem, and how it is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepPlan {
    /// Cells along i, j and k.
    pub cells: [u32; 3],
    /// Ranks along i and j.
    pub grid: [u32; 2],
    /// Planes of a block.
    pub planes: u32,
    /// Angles of a block.
    pub angles: u32,
}

/// Blocks along k of the column that is swept to time one.
const BLOCKS: u32 = 4;

/// The time of a block, without the messages of its faces: a mean over the ranks and blocks of an
/// iteration on a node, whose ranks ask the same memories as far as they do not wait for messages.
///
/// # Errors
/// What the run runs into: [`LocalStoreFull`](mmgp_spu::LocalStoreFull) where the faces of the
/// block are too large.
pub fn block_time(machine: &Machine, plan: &BlockPlan) -> Result<Seconds> {
    let [px, py] = on_node(plan.ranks);
    let [it, jt] = plan.cells;
    let [angles_of_block, angles] = plan.angles.map(i64::from);
    let input = Input::new(Fields {
        processes: [px, py].map(i64::from),
        planes_of_block: plan.planes.into(),
        angles_of_block,
        cells: [px * it, py * jt, BLOCKS * plan.planes].map(i64::from),
        angles,
        convergence: -1.0,
        fix_ups: 0,
        ..Fields::BENCHMARK
    })?;
    let app = Sweep3d::new(input, Programming::Reverse)?;
    Ok(emulated(machine, &app, plan.ranks)?.block)
}

/// What a run of so many ranks finds.
fn emulated(machine: &Machine, app: &Sweep3d, ranks: u32) -> Result<Findings> {
    let blade = Blade::new(machine, KernelTiming::Cached, 0.0);
    let on = Runtime::new(blade, Box::new(Edtlp::default()));
    let ran = app.run(&on, Mapping::new(1, ranks)?)?;
    let found: &Findings = ran.findings().expect("invariant: a sweep has findings");
    Ok(found.clone())
}

/// The time of a block as a row of a table.
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

/// An iteration of a problem, for one choice of ranks and blocks after another.
pub struct Sweep<'a> {
    machine: &'a Machine,
    fields: Fields,
    shape: Shape,
    /// What messages between nodes take; none where all of the machine is emulated.
    network: Option<Network>,
    /// What has been timed.
    blocks: Mutex<BTreeMap<BlockPlan, Seconds>>,
}

impl<'a> Sweep<'a> {
    /// Iterations of that problem; its ranks and blocks are chosen at each run.
    ///
    /// # Errors
    /// What the measurement of messages runs into.
    pub fn new(machine: &'a Machine, fields: Fields, threads: usize) -> Result<Self> {
        let has_network = machine.network.is_some();
        let network = has_network.then(|| network(machine, &SIZES, threads)).transpose()?;
        Ok(Self { machine, fields, shape: shape(machine), network, blocks: Mutex::default() })
    }

    /// An iteration, by tiles of so many ranks along i and j on a node, from the first rank's beginning to the last
    /// one's end: emulated on the ranks of a node, simulated by events on more.
    ///
    /// # Errors
    /// What a run runs into.
    pub fn time(&self, plan: SweepPlan, tile: [u32; 2]) -> Result<Seconds> {
        let [px, py] = plan.grid;
        let placement = self.placement(Grid::new(px, py)?, tile)?;
        match &self.network {
            Some(network) if px * py > self.shape.spes_per_node() => {
                self.simulate(&placement, plan, network)
            }
            _ => self.emulate(&placement, plan),
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

    /// The time of an iteration on the emulated machine.
    fn emulate(&self, placement: &Placement, plan: SweepPlan) -> Result<Seconds> {
        let ranks = placement.grid().ranks();
        let input = Input::new(Fields {
            processes: plan.grid.map(i64::from),
            planes_of_block: plan.planes.into(),
            angles_of_block: plan.angles.into(),
            cells: plan.cells.map(i64::from),
            ..self.fields
        })?;
        let places: Vec<u32> = (0..ranks).map(|rank| placement.spe(rank)).collect();
        let app = Sweep3d::new(input, Programming::Reverse)?.placed(places.into());
        let found = emulated(self.machine, &app, ranks)?;
        Ok(found.sweeps.first().copied().unwrap_or(Seconds(0.0)))
    }

    /// The time of an iteration by events, with blocks and messages that take what they take on emulated blades.
    fn simulate(
        &self,
        placement: &Placement,
        plan: SweepPlan,
        network: &Network,
    ) -> Result<Seconds> {
        let ([it, jt, kt], [px, py], grid) = (plan.cells, plan.grid, placement.grid());
        let block = BlockPlan {
            cells: [it.div_ceil(px), jt.div_ceil(py)],
            planes: plan.planes.min(kt),
            angles: [plan.angles, self.fields.angles as u32],
            ranks: grid.ranks().min(self.shape.spes_per_node()),
        };
        let wavefront = block.wavefront(grid, kt, self.block(&block)?)?;
        let cluster = Cluster::new(wavefront, placement, network)?;
        Ok(cluster.events(1, Between::Nothing).outcome.first())
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

    /// How far the simulation is off what is emulated on the 32 SPEs of a node, in parts.
    fn error(cells: [u32; 3], [planes, angles]: [u32; 2]) -> f64 {
        let machine = Machine::named("roadrunner").unwrap();
        let fields = Fields { convergence: -1.0, fix_ups: 0, ..Fields::BENCHMARK };
        let sweep = Sweep::new(&machine, fields, 1).unwrap();
        let plan = SweepPlan { cells, grid: [2, 16], planes, angles };
        let placement = sweep.placement(Grid::new(2, 16).unwrap(), [2, 16]).unwrap();
        let emulated = sweep.emulate(&placement, plan).unwrap();
        let network = sweep.network.as_ref().unwrap();
        sweep.simulate(&placement, plan, network).unwrap().0 / emulated.0 - 1.0
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
