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

mod arguments;
mod chain;
mod coupling;
mod description;
mod grid;
mod host;
mod host_rank;
mod known;
#[cfg(test)]
mod plain;
mod proposal;
mod rank;
mod segment;
mod spe_program;
#[cfg(test)]
mod tests;
mod trace;

pub use chain::Acceptance;
pub use coupling::Coupling;
pub use proposal::Kind;
pub(super) use segment::block;
pub use spe_program::FUNCTIONS;
pub use trace::{Generation, Inference, Sample, SampleSink, Samples, Sampling, Tally, Trace};

use std::sync::Arc;

use self::known::Known;
use self::proposal::raise_to_floor;
use super::Port;
use super::application::{Application, Division, Ran};
use super::description::Description;
use super::phylogeny::patterns::Patterns;
use super::phylogeny::simulate;
use super::phylogeny::stream::Stream;
use super::phylogeny::tree::Tree;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_cell::Placement;
use mmgp_cell::ppe::HostCompiler;
use mmgp_runtime::Runtime;

/// Its name.
pub const NAME: &str = "pbpi";

/// Mean length of the branches of a random first tree [expected substitutions per site].
const FIRST_BRANCH_LENGTH: f64 = 0.1;

/// Of the streams of random numbers from one seed, that of the first trees of all chains.
const TREE_STREAM: u32 = 0;

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
    port: Port,
    compiler: HostCompiler,
    /// The ln likelihoods of its chains, where they are known.
    known: Option<Arc<Known>>,
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
            return Err(Error::out_of_range(
                "the alignment",
                "no column with a determined character",
                "at least one",
            ));
        }
        let taxa = patterns.tips.len();
        let starts = if tree.is_some() { Starts::Given } else { Starts::Random };
        let tree = match tree {
            Some(tree) => tree,
            None => Tree::random(taxa, FIRST_BRANCH_LENGTH, &mut Stream::new(seed, TREE_STREAM))?,
        };
        if tree.taxa() != taxa {
            return Err(Error::out_of_range(
                "the tree",
                format!("{} taxa", tree.taxa()),
                format!("{taxa}, as in the alignment"),
            ));
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
            port: Port::Tuned,
            compiler: HostCompiler::default(),
            known: None,
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
        Err(Error::out_of_range(
            "names",
            names.len().to_string(),
            format!("one for each of {} taxa", self.tree.taxa()),
        ))
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
    ///
    /// # Errors
    /// `OutOfRange` where the chain ends before the first sample after the burn-in.
    pub fn sampled(self, sampling: Sampling) -> Result<Self> {
        sampling.check(self.generations)?;
        Ok(Self { sampling: Some(sampling), ..self })
    }

    /// The same with the segments of the processes placed otherwise than each on its own Cell.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The same with its functions brought to the machine otherwise than [`Port::Tuned`].
    pub fn ported(self, port: Port) -> Self {
        Self { port, ..self }
    }

    /// The same with its functions on the host compiled otherwise than by [`HostCompiler::Gcc`].
    pub fn compiled_by(self, compiler: HostCompiler) -> Self {
        Self { compiler, ..self }
    }

    /// Runs it as [`Application::run`] does, with each sample also given to `samples` as it comes.
    ///
    /// # Errors
    /// As those of [`Application::run`].
    pub fn run_sampled(
        &self,
        on: &Runtime,
        mapping: Mapping,
        samples: Option<SampleSink>,
    ) -> Result<Ran> {
        let (run, inference) = self.emulate_on(on, mapping, samples)?;
        Ok(Ran::new(run, inference.fingerprint(), inference))
    }
}

impl Application for Pbpi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn division(&self) -> Division {
        Division::Data
    }

    /// The generations of its chains.
    fn steps(&self) -> u64 {
        u64::from(self.generations)
    }

    /// None where the processes form several rows, each with chains of its own.
    fn description(&self) -> Option<Description> {
        self.describe()
    }

    fn function_before_collective(&self) -> Option<&'static str> {
        Some(FUNCTIONS[2])
    }

    /// Where its kernels branch on nothing that they compute.
    fn knowing(&self, ran: &Ran) -> Option<Box<dyn Application>> {
        let inference = ran.findings::<Inference>().filter(|_| self.port.is_vectorised())?;
        let known = Some(Arc::new(Known::of(inference)));
        Some(Box::new(Self { known, ..self.clone() }))
    }

    /// It finds an [`Inference`].
    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        self.run_sampled(on, mapping, None)
    }
}
