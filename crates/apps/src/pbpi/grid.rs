//! Chains on their grid of processes.

use std::cell::RefCell;
use std::rc::Rc;

use super::chain::{Chain, Row, RowOutcome, Rules};
use super::coupling::Grid;
use super::proposal::{DEFAULT_PRIOR_RATE, Prior, raise_to_floor};
use super::rank::Rank;
use super::segment::Segment;
use super::spe_program::{FUNCTIONS, PbpiProgram};
use super::trace::{Collector, Inference, SampleSink, Tally};
use super::{FIRST_BRANCH_LENGTH, Pbpi, Starts, TREE_STREAM};
use crate::phylogeny::{Stream, Tree};
use crate::run::Run;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_cell::mpi::Communicator;
use mmgp_cell::{Blade, KernelTiming, Progress};
use mmgp_machine::Machine;
use mmgp_runtime::{Edtlp, Runtime};

/// The streams of random numbers that are drawn from one seed, beside that of the first trees: the
/// proposals of the first chain, the swaps of the grid, and the proposals of the other chains.
const CHAIN_STREAM: u32 = 1;
const SWAP_STREAM: u32 = 2;
const OTHER_CHAINS_STREAM: u32 = 3;

impl Pbpi {
    /// Runs the chains on `machine` with m host processes and p SPEs for each. `clock_phase` in
    /// [0, 1) is how far the timebase is into a tick at the start.
    ///
    /// # Errors
    /// [`crate::Error::Infeasible`] where the machine has fewer than m * p SPEs; `OutOfRange` where the
    /// rows do not divide m.
    pub fn emulate(
        &self,
        machine: &Machine,
        configuration: (u32, u32),
        timing: KernelTiming,
        clock_phase: f64,
    ) -> Result<(Run, Inference)> {
        let blade = Blade::new(machine, timing, clock_phase);
        self.emulate_on(&Runtime::new(blade, Box::new(Edtlp)), configuration, None)
    }

    /// Runs the chains `on` a machine at rest; each sample also goes to `sink`.
    ///
    /// # Errors
    /// [`crate::Error::Infeasible`] where it has fewer than m * p SPEs; `OutOfRange` where the rows do not
    /// divide m.
    pub fn emulate_on(
        &self,
        on: &Runtime,
        (m, p): (u32, u32),
        sink: Option<SampleSink>,
    ) -> Result<(Run, Inference)> {
        let blade = on.blade();
        let spes = on.assign(Mapping::new(m, p)?)?;
        let grid = Grid::new(m, self.coupling.rows())?;
        PbpiProgram::load(on)?;
        let world = Communicator::new(blade, m);
        let rows: Vec<Communicator> = match grid.rows() {
            1 => vec![world.clone()],
            _ => (0..grid.rows()).map(|row| Communicator::group(blade, grid.row(row))).collect(),
        };
        let collector = self.collector(sink);
        let outcomes = Rc::new(RefCell::new(Vec::new()));
        let first_chains = self.first_chains()?;
        for (rank, spes) in (0..m).zip(spes) {
            let (row, column) = grid.place(rank);
            let chains: Vec<Chain> = first_chains[self.coupling.chains_of(row)].to_vec();
            let homes = blade.homes(self.placement, rank, &spes);
            let (inner, place) = (self.tree.taxa() - 2, (column, grid.columns()));
            let segment = Segment::new(blade, &homes, place, &self.patterns, inner);
            let host = Rank {
                process: on.process(rank, spes),
                grid,
                world: world.clone(),
                row: rows[row as usize].clone(),
                memory: Rc::clone(&blade.memory),
                segment: segment.for_chains(&homes, chains.len()),
                accepted_sides: vec![vec![0; self.tree.nodes()]; chains.len()],
                progress: if rank == 0 { blade.progress.clone() } else { Progress::default() },
            };
            let life = self.row(host, chains, (column == 0).then_some(&collector))?.run(row);
            let outcomes = Rc::clone(&outcomes);
            blade.sim.spawn(format!("rank {rank}"), async move {
                let outcome = life.await;
                if column == 0 {
                    outcomes.borrow_mut().push((row, outcome));
                }
            });
        }
        blade.run()?;
        let mut outcomes = outcomes.take();
        outcomes.sort_by_key(|&(row, _)| row);
        let inference = gather(outcomes.into_iter().map(|(_, outcome)| outcome), &collector);
        Ok((Run::collect(blade, (m, p), &FUNCTIONS), inference))
    }

    pub(super) fn collector(&self, sink: Option<SampleSink>) -> Rc<RefCell<Collector>> {
        let taxa = self.tree.taxa();
        let collector = Collector::new(self.sampling, self.generations, taxa, sink);
        Rc::new(RefCell::new(collector))
    }

    /// All chains at their start, at the foot of the ladder the first one.
    pub(super) fn first_chains(&self) -> Result<Vec<Chain>> {
        let mut trees = Stream::new(self.seed, TREE_STREAM);
        let chain = |index: usize| {
            let tree = match self.starts {
                Starts::Given => self.tree.clone(),
                Starts::Random => self.random_tree(&mut trees)?,
            };
            let stream = match index.checked_sub(1) {
                None => CHAIN_STREAM,
                Some(other) => OTHER_CHAINS_STREAM + other as u32,
            };
            Ok(Chain::new(tree, Stream::new(self.seed, stream), index))
        };
        (0..self.coupling.chains()).map(chain).collect()
    }

    fn random_tree(&self, stream: &mut Stream) -> Result<Tree> {
        let tree = Tree::random(self.tree.taxa(), FIRST_BRANCH_LENGTH, stream)?;
        Ok(if self.generations == 0 { tree } else { raise_to_floor(&tree) })
    }

    /// What a process of a row goes by.
    pub(super) fn row<H>(
        &self,
        host: H,
        chains: Vec<Chain>,
        collector: Option<&Rc<RefCell<Collector>>>,
    ) -> Result<Row<H>> {
        let rules = Rules {
            generations: self.generations,
            prior: Prior::new(DEFAULT_PRIOR_RATE)?,
            acceptance: self.acceptance,
            coupling: self.coupling,
            sampling: self.sampling,
        };
        Ok(Row {
            host,
            rules,
            chains,
            swaps: Stream::new(self.seed, SWAP_STREAM),
            names: Rc::new(self.names.clone()),
            collector: collector.map(Rc::clone),
        })
    }
}

/// What came of all rows, in their order.
pub(super) fn gather(
    rows: impl IntoIterator<Item = RowOutcome>,
    collector: &Rc<RefCell<Collector>>,
) -> Inference {
    let (mut chains, mut swaps) = (Vec::new(), Tally::default());
    for row in rows {
        chains.extend(row.chains);
        swaps += row.swaps;
    }
    let collector = collector.borrow();
    Inference { chains, swaps, samples: collector.samples, splits: collector.splits.clone() }
}
