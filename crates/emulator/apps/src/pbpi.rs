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
mod grid;
mod host;
mod proposal;
mod rank;
mod spe_program;
#[cfg(test)]
mod tests;
mod trace;

pub use chain::Acceptance;
pub use coupling::Coupling;
pub use proposal::Kind;
pub(super) use rank::block;
pub use spe_program::FUNCTIONS;
pub use trace::{Generation, Inference, Sample, SampleSink, Samples, Sampling, Tally, Trace};

use std::sync::Arc;

use crate::Port;
use crate::application::{Application, Description, Division, Ran, Traffic};
use crate::phylogeny::alignment::Patterns;
use crate::phylogeny::simulate;
use crate::phylogeny::simulate::Stream;
use crate::phylogeny::tree::Tree;
use crate::run::require;
use crate::streaming::Transfers;
use crate::streaming::transfers;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_cell::Placement;
use mmgp_cell::ppe::HostCompiler;
use mmgp_kernels::pbpi::PATTERNS_PER_GROUP;
use mmgp_runtime::Runtime;
use proposal::raise_to_floor;
use rank::KnownLikelihoods;
use rank::{CODES_BYTES, COUNTS_BYTES, VECTOR_BYTES, WEIGHTS_BYTES};
use spe_program::BLOCK_GROUPS;

/// The name of the program.
pub const NAME: &str = "pbpi";

/// Mean length of the branches of a random first tree [expected substitutions per site].
const FIRST_BRANCH_LENGTH: f64 = 0.1;

/// The stream of random numbers, of those from one seed, of the first trees of all chains.
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
    known: Option<Arc<KnownLikelihoods>>,
}

/// The trees that chains start at.
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
    /// Fails where there are fewer than three taxa, no pattern, or a tree of other taxa.
    pub fn new(
        patterns: Patterns,
        tree: Option<Tree>,
        seed: u64,
        generations: u32,
    ) -> Result<Self> {
        require(
            !patterns.is_empty(),
            "the alignment",
            "no column with a determined character",
            "at least one",
        )?;
        let taxa = patterns.tips.len();
        let starts = if tree.is_some() { Starts::Given } else { Starts::Random };
        let tree = match tree {
            Some(tree) => tree,
            None => Tree::random(taxa, FIRST_BRANCH_LENGTH, &mut Stream::new(seed, TREE_STREAM))?,
        };
        require(
            tree.taxa() == taxa,
            "the tree",
            format!("{} taxa", tree.taxa()),
            format!("{taxa}, as in the alignment"),
        )?;
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
        let expected = format!("one for each of {} taxa", self.tree.taxa());
        require(names.len() == self.tree.taxa(), "names", names.len(), expected)?;
        Ok(Self { names, ..self })
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
    /// The errors of [`Application::run`].
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

    /// Known where its kernels branch on nothing that they compute.
    fn knowing(&self, ran: &Ran) -> Option<Box<dyn Application>> {
        let inference = ran.findings::<Inference>().filter(|_| self.port.is_vectorised())?;
        let known = Some(Arc::new(KnownLikelihoods::of(inference)));
        Some(Box::new(Self { known, ..self.clone() }))
    }

    /// Runs it; the findings are an [`Inference`].
    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        self.run_sampled(on, mapping, None)
    }
}

impl Pbpi {
    /// What is known of a run.
    fn describe(&self) -> Option<Description> {
        if self.coupling.rows() > 1 {
            return None;
        }
        let groups = self.patterns.len().div_ceil(PATTERNS_PER_GROUP as usize) as u32;
        let exposed = match transfers(self.port.version()) {
            Transfers::DoubleBuffered => groups.min(BLOCK_GROUPS),
            Transfers::OneByOne => groups,
        };
        let [all, exposed] = [groups, exposed].map(|groups| self.moved(u64::from(groups)));
        let traffic = FUNCTIONS.into_iter().zip(all.into_iter().zip(exposed));
        let traffic = traffic.map(|(function, (bytes, exposed_bytes))| Traffic {
            function,
            bytes,
            exposed_bytes,
        });
        Some(Description::new(groups, self.placement).moving(traffic.collect()))
    }

    /// Bytes that each function fetches and stores for so many groups of patterns, in the order of
    /// [`FUNCTIONS`].
    ///
    /// A change of the tree is followed up to its root. So each node of the first tree, which has
    /// tips and inner nodes below it, counts as often as there are branches below it that may
    /// change; how the chain changes the tree nobody knows before.
    fn moved(&self, groups: u64) -> [u64; 3] {
        let vector = groups * (VECTOR_BYTES + COUNTS_BYTES);
        // DMA moves whole quadwords.
        let codes = (groups * CODES_BYTES).next_multiple_of(16);
        let tree = &self.tree;
        let fetched = |node: usize| -> u64 {
            let of_child = |child| if child < tree.taxa() { codes } else { vector };
            tree.children(node).map(of_child).sum()
        };
        let mut below = vec![0; tree.nodes()];
        let (mut changes, mut of_nodes) = (0, 0);
        for node in tree.post_order().into_iter().filter(|&node| node >= tree.taxa()) {
            below[node] = tree.children(node).map(|child| 1 + below[child]).sum();
            if node != tree.root() {
                changes += below[node];
                of_nodes += below[node] * fetched(node);
            }
        }
        [
            of_nodes.checked_div(changes).unwrap_or(0) + vector,
            fetched(tree.root()) + vector,
            vector + groups * WEIGHTS_BYTES,
        ]
    }
}

#[cfg(test)]
mod traffic_tests {
    use super::*;
    use crate::phylogeny::tests::random_patterns;
    use crate::phylogeny::{newick, simulate};
    use mmgp_base::table::Source;

    /// Bytes of the functions for so many patterns of the taxa of `tree`, which are more than a block,
    /// and those exposed.
    fn check(tree: &str, taxa: usize, patterns: usize, expected: [[u64; 3]; 2]) {
        let tree = newick::read(&Source::new("tree", tree), &simulate::names(taxa)).unwrap();
        let pbpi = Pbpi::new(random_patterns(taxa, patterns), Some(tree), 1, 1).unwrap();
        let description = pbpi.describe().unwrap();
        assert_eq!(description.iterations as usize, patterns.div_ceil(4));
        let found = description.traffic.iter().map(|it| [it.bytes, it.exposed_bytes]);
        let expected: Vec<_> = (0..3).map(|function| expected.map(|it| it[function])).collect();
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn bytes_are_those_of_codes_vectors_counts_and_weights() {
        // Of a pattern a tip has a byte, a vector four doubles and a word, a weight is a double; 64
        // patterns are a block. Both nodes join two tips, the root two nodes and a tip:
        // 2 + 36, 1 + 2 * 36 + 36 and 36 + 8 a pattern.
        let tree = "((t01:1,t02:1):1,(t03:1,t04:1):1,t05:1);";
        check(tree, 5, 160, [[160 * 38, 160 * 109, 160 * 44], [64 * 38, 64 * 109, 64 * 44]]);
        // One node joins two tips and has two branches below it, the other joins a node and a tip and
        // has four; the root joins a node and two tips. 162 patterns are padded to 164, and their
        // codes to 176 bytes: (2 * 2 * 176 + 4 * (176 + 164 * 36)) / 6 = 4170 and two thirds, and of
        // a block (2 * 2 * 64 + 4 * 64 * 37) / 6 = 1621 and a third.
        let tree = "(((t01:1,t02:1):1,t03:1):1,t04:1,t05:1);";
        let all = [4170 + 164 * 36, 2 * 176 + 2 * 164 * 36, 164 * 44];
        check(tree, 5, 162, [all, [1621 + 64 * 36, 64 * 74, 64 * 44]]);
    }

    #[test]
    fn three_taxa_have_no_node_but_the_root() {
        let nothing_below = [160 * 36, 160 * (3 + 36), 160 * 44];
        let exposed = [64 * 36, 64 * (3 + 36), 64 * 44];
        check("(t01:1,t02:1,t03:1);", 3, 160, [nothing_below, exposed]);
    }
}
