//! Chains on their grid of processes.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::chain::{Chain, ChainHost, Row, RowOutcome, Rules};
use super::coupling::Grid;
use super::host::HostLikelihoods;
use super::proposal::{DEFAULT_PRIOR_RATE, Prior, raise_to_floor};
use super::rank::{HostRank, KnownLikelihoods, Rank, RowLikelihoods};
use super::rank::{Segment, block};
use super::spe_program::{FUNCTIONS, PbpiProgram};
use super::trace::{Collector, Inference, SampleSink, Tally};
use super::{FIRST_BRANCH_LENGTH, Pbpi, Starts, TREE_STREAM};
use crate::Port;
use crate::phylogeny::{Stream, Tree};
use crate::run::{HostTotals, Run};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_cell::element::Values;
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
    /// [`mmgp_base::Error::Infeasible`] where the machine has fewer than m * p SPEs; `OutOfRange` where the
    /// rows do not divide m.
    pub fn emulate(
        &self,
        machine: &Machine,
        mapping: Mapping,
        timing: KernelTiming,
        clock_phase: f64,
    ) -> Result<(Run, Inference)> {
        let blade = Blade::new(machine, timing, clock_phase);
        #[cfg(test)]
        blade.set_hazards(mmgp_cell::mfc::Hazards::Checked);
        self.emulate_on(&Runtime::new(blade, Box::new(Edtlp::default())), mapping, None)
    }

    /// Runs the chains `on` a machine at rest; each sample also goes to `sink`.
    ///
    /// # Errors
    /// [`mmgp_base::Error::Infeasible`] where it has fewer than m * p SPEs; `OutOfRange` where the rows do not
    /// divide m.
    pub fn emulate_on(
        &self,
        on: &Runtime,
        mapping: Mapping,
        sink: Option<SampleSink>,
    ) -> Result<(Run, Inference)> {
        let (blade, m) = (on.blade(), mapping.m());
        let spes = on.assign(mapping)?;
        let grid = Grid::new(m, self.coupling.rows())?;
        let known = self.known.as_ref().filter(|_| blade.takes_known_results());
        if self.port != Port::Ppe {
            PbpiProgram::load(
                on,
                self.port.version(),
                known.map_or(Values::Computed, |_| Values::Known),
            )?;
        }
        let world = Communicator::new(blade, m);
        let rows: Vec<Communicator> = match grid.rows() {
            1 => vec![world.clone()],
            _ => (0..grid.rows()).map(|row| Communicator::group(blade, grid.row(row))).collect(),
        };
        let collector = self.collector(sink);
        let outcomes = Rc::new(RefCell::new(Vec::new()));
        let on_host = Rc::new(RefCell::new(HostTotals::default()));
        let first_chains = self.first_chains()?;
        for (rank, spes) in (0..m).zip(spes) {
            let (row, column) = grid.place(rank);
            let chains: Vec<Chain> = first_chains[self.coupling.chains_of(row)].to_vec();
            let communicators = (world.clone(), rows[row as usize].clone());
            let collector = (column == 0).then_some(&collector);
            if self.port == Port::Ppe {
                let host = self.host_rank(blade, (rank, grid), communicators, chains.len());
                let host = HostRank { totals: Rc::clone(&on_host), ..host };
                start(blade, self.row(host, chains, collector)?, (rank, row), &outcomes);
            } else {
                let count = chains.len();
                let host =
                    self.offloading_rank(on, (rank, grid), communicators, (spes, count), known);
                start(blade, self.row(host, chains, collector)?, (rank, row), &outcomes);
            }
        }
        blade.run()?;
        let mut outcomes = outcomes.take();
        outcomes.sort_by_key(|&(row, _)| row);
        let inference = gather(outcomes.into_iter().map(|(_, outcome)| outcome), &collector);
        let mut run = Run::collect(on, mapping, &FUNCTIONS);
        if self.port == Port::Ppe {
            run.functions.clear();
            run.host_functions = on_host.borrow().functions(&FUNCTIONS);
        }
        Ok((run, inference))
    }

    /// A process that off-loads to its SPEs, for so many chains.
    fn offloading_rank(
        &self,
        on: &Runtime,
        (rank, grid): (u32, Grid),
        (world, row): (Communicator, Communicator),
        (spes, chains): (Vec<u32>, usize),
        known: Option<&Arc<KnownLikelihoods>>,
    ) -> Rank {
        let blade = on.blade();
        let homes = blade.homes(self.placement, rank, &spes);
        let (inner, (row_number, column)) = (self.tree.taxa() - 2, grid.place(rank));
        let first = self.coupling.chains_of(row_number).start;
        let likelihoods = RowLikelihoods::new(known, first, chains);
        let segment = Segment::new(blade, &homes, (column, grid.columns()), &self.patterns, inner);
        if likelihoods.values() == Values::Computed {
            segment.fill(blade, &self.patterns);
        }
        Rank {
            process: on.process(rank, spes),
            grid,
            world,
            row,
            memory: Rc::clone(&blade.memory),
            segment: segment.for_chains(&homes, chains),
            accepted_sides: vec![vec![0; self.tree.nodes()]; chains],
            likelihoods,
            progress: progress(blade, rank),
        }
    }

    /// A process that computes so many chains itself.
    fn host_rank(
        &self,
        blade: &Blade,
        (rank, grid): (u32, Grid),
        (world, row): (Communicator, Communicator),
        chains: usize,
    ) -> HostRank {
        let (_, column) = grid.place(rank);
        let own = block(self.patterns.len(), column as usize, grid.columns() as usize);
        HostRank {
            process: blade.host_process(rank),
            grid,
            world,
            row,
            likelihoods: HostLikelihoods::new(&self.patterns, own, chains, self.compiler.order()),
            totals: Rc::default(),
            progress: progress(blade, rank),
        }
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

/// Told of generations by the first process alone, for all go on together.
fn progress(blade: &Blade, rank: u32) -> Progress {
    if rank == 0 { blade.progress.clone() } else { Progress::default() }
}

/// Starts a process of a row; the one that collects samples leaves what came of the row.
fn start<H: ChainHost + 'static>(
    blade: &Blade,
    life: Row<H>,
    (rank, row): (u32, u32),
    outcomes: &Rc<RefCell<Vec<(u32, RowOutcome)>>>,
) {
    let outcomes = life.collector.is_some().then(|| Rc::clone(outcomes));
    let life = life.run(row);
    blade.sim.spawn(format!("rank {rank}"), async move {
        let outcome = life.await;
        if let Some(outcomes) = outcomes {
            outcomes.borrow_mut().push((row, outcome));
        }
    });
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
