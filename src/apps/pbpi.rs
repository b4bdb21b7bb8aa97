//! PBPI: Bayesian inference of phylogenies by Markov chain Monte Carlo (Feng, Cameron and Buell
//! 2006).
//!
//! The processes of the host form a grid. Along a row, the patterns of an alignment are cut into
//! segments, one for each process, which off-loads the likelihood of its segment to p SPEs; all
//! processes of a row follow the same chains. A generation of a chain proposes a tree, recomputes
//! the nodes that it changed, sums the partial log likelihoods over the row by one collective, and
//! accepts or not. Rows compute different chains, which swap their temperatures now and then
//! ([`Coupling`]); usually there is one chain and one row of m processes. The model is JC69.
//!
//! The chains do not depend on m, p and the number of rows but for the order in which the log
//! likelihoods of patterns are added.
//!
//! # What is left out
//! The writing of samples to a disk: the host is charged for making their text only.

mod chain;
mod coupling;
mod plain;
pub mod proposal;
mod rank;
mod segment;
mod spe_program;
#[cfg(test)]
mod tests;
mod trace;

use std::cell::RefCell;
use std::rc::Rc;

pub use chain::Acceptance;
pub use coupling::Coupling;
pub(super) use segment::block;
pub use spe_program::FUNCTIONS;
pub use trace::{Generation, Inference, Sample, SampleSink, Samples, Sampling, Tally, Trace};

use self::chain::{Chain, Row, RowOutcome, Rules};
use self::coupling::Grid;
use self::plain::{Plain, at_once};
use self::proposal::{DEFAULT_PRIOR_RATE, Prior, raise_to_floor};
use self::rank::Rank;
use self::segment::Segment;
use self::spe_program::PbpiProgram;
use self::trace::Collector;
use super::phylogeny::patterns::Patterns;
use super::phylogeny::simulate;
use super::phylogeny::stream::Stream;
use super::phylogeny::tree::Tree;
use super::run::Run;
use crate::cell::mpi::Communicator;
use crate::cell::{Blade, KernelTiming, Placement};
use crate::error::{Error, Result};
use crate::machine::Machine;

/// Mean length of the branches of a random first tree [expected substitutions per site].
const FIRST_BRANCH_LENGTH: f64 = 0.1;

/// The streams of random numbers that are drawn from one seed: the first trees of all chains, the
/// proposals of the first chain, the swaps of the grid, and the proposals of the other chains.
const TREE_STREAM: u32 = 0;
const CHAIN_STREAM: u32 = 1;
const SWAP_STREAM: u32 = 2;
const OTHER_CHAINS_STREAM: u32 = 3;

/// A run of PBPI: what it computes, not where.
#[derive(Debug, Clone)]
pub struct Pbpi {
    patterns: Patterns,
    tree: Tree,
    starts: Starts,
    names: Vec<String>,
    seed: u64,
    generations: u32,
    placement: Placement,
    coupling: Coupling,
    acceptance: Acceptance,
    sampling: Option<Sampling>,
}

/// Where chains start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Starts {
    /// All at one tree.
    Given,
    /// Each at a random one of its own.
    Random,
}

impl Pbpi {
    /// A chain over the trees of `patterns`, from `tree` or from a random one.
    ///
    /// # Errors
    /// Where there are fewer than three taxa, no pattern, or a tree of other taxa.
    pub fn new(
        patterns: Patterns,
        tree: Option<Tree>,
        seed: u64,
        generations: u32,
    ) -> Result<Self> {
        if patterns.is_empty() {
            return Err(Error::OutOfRange {
                name: "the alignment",
                found: "no column with a determined character".into(),
                expected: "at least one".into(),
            });
        }
        let taxa = patterns.tips.len();
        let starts = if tree.is_some() { Starts::Given } else { Starts::Random };
        let tree = match tree {
            Some(tree) => tree,
            None => Tree::random(taxa, FIRST_BRANCH_LENGTH, &mut Stream::new(seed, TREE_STREAM))?,
        };
        if tree.taxa() != taxa {
            return Err(Error::OutOfRange {
                name: "the tree",
                found: format!("{} taxa", tree.taxa()),
                expected: format!("{taxa}, as in the alignment"),
            });
        }
        // A chain of no generations only evaluates its tree, which may have any branch lengths.
        let tree = if generations == 0 { tree } else { raise_to_floor(&tree) };
        Ok(Self {
            patterns,
            tree,
            starts,
            names: simulate::names(taxa),
            seed,
            generations,
            placement: Placement::default(),
            coupling: Coupling::SINGLE,
            acceptance: Acceptance::MetropolisHastings,
            sampling: None,
        })
    }

    /// The same with the taxa called otherwise than t01, t02...
    ///
    /// # Errors
    /// `OutOfRange` where there is not one name for each taxon.
    pub fn named(self, names: Vec<String>) -> Result<Self> {
        if names.len() == self.tree.taxa() {
            return Ok(Self { names, ..self });
        }
        Err(Error::OutOfRange {
            name: "names",
            found: names.len().to_string(),
            expected: format!("one for each of {} taxa", self.tree.taxa()),
        })
    }

    /// The same with several chains at different temperatures.
    pub fn coupled(self, coupling: Coupling) -> Self {
        Self { coupling, ..self }
    }

    /// The same with another rule by which proposals are accepted.
    pub fn accepting(self, acceptance: Acceptance) -> Self {
        Self { acceptance, ..self }
    }

    /// The same with states of the cold chain sampled.
    pub fn sampled(self, sampling: Sampling) -> Self {
        Self { sampling: Some(sampling), ..self }
    }

    /// The same with the segments of the processes placed otherwise than each on its own Cell.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The tree that the first chain starts from.
    pub fn first_tree(&self) -> &Tree {
        &self.tree
    }

    /// What the taxa are called.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Runs the chains on `machine` with m host processes and p SPEs for each. `clock_phase` in
    /// [0, 1) is how far the timebase is into a tick at the start.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where the machine has fewer than m * p SPEs; `OutOfRange` where the
    /// rows do not divide m.
    pub fn emulate(
        &self,
        machine: &Machine,
        configuration: (u32, u32),
        timing: KernelTiming,
        clock_phase: f64,
    ) -> Result<(Run, Inference)> {
        self.emulate_on(&Blade::new(machine, timing, clock_phase), configuration, None)
    }

    /// Runs the chains on `blade`, a machine at rest; each sample also goes to `sink`.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where it has fewer than m * p SPEs; `OutOfRange` where the rows do not
    /// divide m.
    pub fn emulate_on(
        &self,
        blade: &Blade,
        (m, p): (u32, u32),
        sink: Option<SampleSink>,
    ) -> Result<(Run, Inference)> {
        let spes = blade.assign_spes(m, p)?;
        let grid = Grid::new(m, self.coupling.rows())?;
        PbpiProgram::load(blade)?;
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
                process: blade.host_process(rank),
                grid,
                world: world.clone(),
                row: rows[row as usize].clone(),
                memory: Rc::clone(&blade.memory),
                spes: spes.into_iter().map(|spe| blade.spe(spe).clone()).collect(),
                segment: segment.for_chains(&homes, chains.len()),
                accepted_sides: vec![vec![0; self.tree.nodes()]; chains.len()],
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

    /// Runs the same chains on this computer, without a machine: every likelihood is computed from
    /// scratch in double precision, and differs from an emulated one by rounding.
    ///
    /// # Errors
    /// None but those of a bug.
    pub fn infer(&self, sink: Option<SampleSink>) -> Result<Inference> {
        let coupling = self.coupling.on_rows(1)?;
        let alone = Self { coupling, ..self.clone() };
        let collector = self.collector(sink);
        let host = Plain { patterns: &self.patterns };
        let row = alone.row(host, self.first_chains()?, Some(&collector))?;
        let outcome = at_once(row.run(0));
        Ok(gather([outcome], &collector))
    }

    fn collector(&self, sink: Option<SampleSink>) -> Rc<RefCell<Collector>> {
        let taxa = self.tree.taxa();
        let collector = Collector::new(self.sampling, self.generations, taxa, sink);
        Rc::new(RefCell::new(collector))
    }

    /// All chains at their start, at the foot of the ladder the first one.
    fn first_chains(&self) -> Result<Vec<Chain>> {
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
    fn row<H>(
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
fn gather(
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
