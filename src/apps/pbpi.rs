//! PBPI: Bayesian inference of phylogenies by Markov chain Monte Carlo (Feng, Cameron and Buell
//! 2006).
//!
//! The patterns of an alignment are cut into m segments, one for each process of the host; all
//! processes follow the same chain, and each off-loads the likelihood of its own segment to p
//! SPEs. A generation proposes a tree, recomputes the nodes that it changed, sums the partial log
//! likelihoods over the processes by one collective, and accepts or not. The model is JC69.
//!
//! The chain does not depend on m and p but for the order in which the log likelihoods of patterns
//! are added.

mod chain;
pub mod proposal;
mod segment;
mod spe_program;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;

pub use chain::{Generation, Trace};
pub use spe_program::FUNCTIONS;

use self::chain::Chain;
use self::proposal::{DEFAULT_PRIOR_RATE, Prior, raise_to_floor};
use self::segment::Segment;
use self::spe_program::PbpiProgram;
use super::phylogeny::patterns::Patterns;
use super::phylogeny::stream::Stream;
use super::phylogeny::tree::Tree;
use super::run::Run;
use crate::cell::mpi::Communicator;
use crate::cell::{Blade, KernelTiming, Placement};
use crate::error::{Error, Result};
use crate::machine::Machine;

/// Mean length of the branches of a random first tree [expected substitutions per site].
const FIRST_BRANCH_LENGTH: f64 = 0.1;

/// The streams of random numbers that are drawn from one seed.
const TREE_STREAM: u32 = 0;
const CHAIN_STREAM: u32 = 1;

/// A run of PBPI: what it computes, not where.
#[derive(Debug, Clone)]
pub struct Pbpi {
    patterns: Patterns,
    tree: Tree,
    seed: u64,
    generations: u32,
    placement: Placement,
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
        Ok(Self { patterns, tree, seed, generations, placement: Placement::default() })
    }

    /// The same with the segments of the processes placed otherwise than each on its own Cell.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The tree that the chain starts from.
    pub fn first_tree(&self) -> &Tree {
        &self.tree
    }

    /// Runs the chain on `machine` with m host processes and p SPEs for each. `clock_phase` in
    /// [0, 1) is how far the timebase is into a tick at the start.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where the machine has fewer than m * p SPEs.
    pub fn emulate(
        &self,
        machine: &Machine,
        configuration: (u32, u32),
        timing: KernelTiming,
        clock_phase: f64,
    ) -> Result<(Run, Trace)> {
        self.emulate_on(&Blade::new(machine, timing, clock_phase), configuration)
    }

    /// Runs the chain on `blade`, a machine at rest.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where it has fewer than m * p SPEs.
    pub fn emulate_on(&self, blade: &Blade, (m, p): (u32, u32)) -> Result<(Run, Trace)> {
        let spes = blade.assign_spes(m, p)?;
        PbpiProgram::load(blade)?;
        let world = Communicator::new(blade, m);
        let outcome = Rc::new(RefCell::new(None));
        for (rank, spes) in (0..m).zip(spes) {
            let homes = blade.homes(self.placement, rank, &spes);
            let inner = self.tree.taxa() - 2;
            let chain = Chain {
                process: blade.host_process(rank),
                world: world.clone(),
                memory: Rc::clone(&blade.memory),
                spes: spes.into_iter().map(|spe| blade.spe(spe).clone()).collect(),
                segment: Segment::new(blade, &homes, (rank, m), &self.patterns, inner),
                prior: Prior::new(DEFAULT_PRIOR_RATE)?,
                stream: Stream::new(self.seed, CHAIN_STREAM),
                accepted_side: vec![0; self.tree.nodes()],
            };
            let life = chain.run(self.tree.clone(), self.generations);
            let outcome = Rc::clone(&outcome);
            blade.sim.spawn(format!("rank {rank}"), async move {
                let trace = life.await;
                outcome.borrow_mut().get_or_insert(trace);
            });
        }
        blade.run()?;
        let trace = outcome.borrow_mut().take().expect("invariant: the first rank has ended");
        Ok((Run::collect(blade, (m, p), &FUNCTIONS), trace))
    }
}
