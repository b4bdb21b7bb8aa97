//! The control flow of a chain: what the host does.

use super::proposal::{Effort, Prior, draw};
use super::segment::{Segment, Vector, pairs};
use super::spe_program::{Arguments, LIKELIHOOD, NODE, ROOT};
use crate::apps::phylogeny::jukes_cantor;
use crate::apps::phylogeny::stream::Stream;
use crate::apps::phylogeny::tree::Tree;
use crate::cell::memory::Memory;
use crate::cell::mpi::Communicator;
use crate::cell::ppe::Work;
use crate::cell::{HostProcess, Spe};
use std::rc::Rc;

/// A transition matrix of JC69: an exponential, its two different entries, and sixteen stores.
const MATRIX: Work = {
    let exponential = Work::TRANSCENDENTAL;
    let (floats, stores) = (exponential.floats + 3, exponential.stores + 16);
    Work { floats, stores, ..exponential }.in_line()
};
/// Finding a node's children and their branches, and filling in the arguments.
const NODE_CALL: Work =
    Work { integers: 16, loads: 10, stores: 12, floats: 0, divides: 0, branches: 6, code: 0 }
        .in_line();
/// Deciding on a proposal, apart from the exponential: prior, temperature, comparison.
const DECISION: Work =
    Work { integers: 8, loads: 8, stores: 4, floats: 8, divides: 0, branches: 4, code: 0 }
        .in_line();
/// Accepting one changed node.
const ACCEPT_NODE: Work =
    Work { integers: 2, loads: 1, stores: 1, floats: 0, divides: 0, branches: 1, code: 0 }
        .in_line();
/// Visiting a node: its links and its length.
const VISIT: Work =
    Work { integers: 4, loads: 3, stores: 0, floats: 0, divides: 0, branches: 2, code: 0 }
        .in_line();
/// A random number: some ten integer operations on four words of state, and a conversion.
const DRAW: Work =
    Work { integers: 12, loads: 4, stores: 4, floats: 2, divides: 0, branches: 0, code: 0 }
        .in_line();
/// Adding what one SPE found.
const ADD_RESULT: Work =
    Work { integers: 1, loads: 1, stores: 0, floats: 1, divides: 0, branches: 1, code: 0 }
        .in_line();

/// One generation of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Generation {
    /// ln likelihood of the proposed tree.
    pub proposed: f64,
    /// Whether it was accepted.
    pub accepted: bool,
    /// ln likelihood of the tree that the chain is at afterwards.
    pub log_likelihood: f64,
}

/// What a chain went through.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// ln likelihood of the first tree.
    pub start: f64,
    /// Its generations.
    pub generations: Vec<Generation>,
    /// The tree it ended at.
    pub tree: Tree,
}

impl Trace {
    /// ln likelihood of the last tree.
    pub fn log_likelihood(&self) -> f64 {
        self.generations.last().map_or(self.start, |last| last.log_likelihood)
    }

    /// How many proposals were accepted.
    pub fn accepted(&self) -> usize {
        self.generations.iter().filter(|generation| generation.accepted).count()
    }
}

/// One process of a chain: all processes draw the same proposals from clones of one stream, and
/// each computes the likelihood of its own segment of the patterns.
pub struct Chain {
    pub(super) process: HostProcess,
    pub(super) world: Communicator,
    pub(super) memory: Rc<Memory>,
    pub(super) spes: Vec<Spe>,
    pub(super) segment: Segment,
    pub(super) prior: Prior,
    pub(super) stream: Stream,
    /// For each node, which of its two vectors belongs to the accepted tree.
    pub(super) accepted_side: Vec<usize>,
}

impl Chain {
    /// Runs the chain from `tree` for so many generations.
    pub(super) async fn run(mut self, tree: Tree, generations: u32) -> Trace {
        self.process.resume().await;
        let all_inner: Vec<usize> =
            tree.post_order().into_iter().filter(|&node| node >= tree.taxa()).collect();
        self.process.work(VISIT * tree.nodes() as u64).await;
        let start = self.evaluate(&tree, &all_inner).await;
        self.accept(&all_inner);
        let mut trace = Trace { start, generations: Vec::new(), tree };
        for _ in 0..generations {
            let generation = self.generation(&mut trace).await;
            trace.generations.push(generation);
        }
        self.process.finish(LIKELIHOOD);
        trace
    }

    async fn generation(&mut self, trace: &mut Trace) -> Generation {
        let before = trace.log_likelihood();
        let (tree, proposal) = draw(&trace.tree, &mut self.stream);
        self.process.work(effort(&proposal.effort)).await;
        let threshold = self.stream.uniform();
        if proposal.touched.is_empty() {
            // The proposal left the state space: nothing to compute.
            return Generation { proposed: before, accepted: false, log_likelihood: before };
        }
        let proposed = self.evaluate(&tree, &proposal.touched).await;
        let prior = self.prior.ln_density(&tree) - self.prior.ln_density(&trace.tree);
        let ln_ratio = proposed - before + prior + proposal.ln_hastings;
        let accepted = threshold <= ln_ratio.exp();
        let touched = if accepted { proposal.touched.len() as u64 } else { 0 };
        let decision = DRAW + Work::TRANSCENDENTAL + DECISION + ACCEPT_NODE * touched;
        self.process.work(decision).await;
        if accepted {
            self.accept(&proposal.touched);
            trace.tree = tree;
        }
        let log_likelihood = if accepted { proposed } else { before };
        Generation { proposed, accepted, log_likelihood }
    }

    /// ln likelihood of `tree`, whose `touched` nodes, children before parents and the root last,
    /// differ from the accepted tree.
    async fn evaluate(&mut self, tree: &Tree, touched: &[usize]) -> f64 {
        let mut side = self.accepted_side.clone();
        for &node in touched {
            side[node] = 1 - side[node];
        }
        let vector = |node: usize| match node.checked_sub(tree.taxa()) {
            None => self.segment.tips[node],
            Some(inner) => self.segment.inner[inner][side[node]],
        };
        for &node in touched {
            let children: Vec<usize> = tree.children(node).collect();
            self.process.work(NODE_CALL + MATRIX * children.len() as u64).await;
            let matrices = children
                .iter()
                .flat_map(|&child| jukes_cantor::transition_matrix(tree.branch_length(child)));
            self.memory.write(self.segment.matrices, pairs(matrices));
            let mut arguments = Arguments { out: vector(node), ..self.segment.common_arguments() };
            for (place, &child) in arguments.children.iter_mut().zip(&children) {
                *place = vector(child);
            }
            let function = if node == tree.root() { ROOT } else { NODE };
            self.off_load(function, arguments).await;
        }
        self.process.work(NODE_CALL).await;
        let own = self.sum_of_root(vector(tree.root())).await;
        self.world.allreduce_sum(&self.process, own).await
    }

    /// ln likelihood of the process's own patterns.
    async fn sum_of_root(&self, root: Vector) -> f64 {
        let mut arguments = self.segment.common_arguments();
        arguments.children[0] = root;
        self.off_load(LIKELIHOOD, arguments).await;
        self.process.work(ADD_RESULT * self.spes.len() as u64).await;
        let result = |share: usize| {
            let at = self.segment.results.offset(16 * share as u64);
            self.memory.read(at).doubles()[0]
        };
        (0..self.spes.len()).map(result).sum()
    }

    async fn off_load(&self, function: u32, arguments: Arguments) {
        self.memory.write(self.segment.arguments, arguments.to_quadwords());
        self.process.offload(&self.spes, function, self.segment.arguments).await;
    }

    fn accept(&mut self, touched: &[usize]) {
        for &node in touched {
            self.accepted_side[node] = 1 - self.accepted_side[node];
        }
    }
}

/// The host's work for what a proposal counted.
fn effort(effort: &Effort) -> Work {
    VISIT * effort.nodes_visited
        + DRAW * effort.random_draws
        + Work::TRANSCENDENTAL * (effort.exponentials + effort.logarithms)
}
