//! The control flow of the chains of a row: what the host does.

use std::cell::RefCell;
use std::rc::Rc;

use super::coupling::{Attempt, ChainState, Coupling};
use super::proposal::{HostEffort, Prior, draw};
use super::trace::{Collector, Generation, Sample, Sampling, Tally, Trace};
use crate::phylogeny::{Stream, Tree};
use mmgp_cell::ppe::Work;

work! {
    /// Deciding on a proposal, apart from the exponential: prior, temperature, comparison.
    DECISION: 8 integers, 8 loads, 4 stores, 8 floats, 4 branches;
    /// Accepting one changed node.
    ACCEPT_NODE: 2 integers, 1 loads, 1 stores, 1 branches;
    /// Visiting a node: its links and its length.
    VISIT: 4 integers, 3 loads, 2 branches;
    /// A random number: some ten integer operations on four words of state, and a conversion.
    DRAW: 12 integers, 4 loads, 4 stores, 2 floats;
    /// Writing a node of a sampled tree: its links, and a length of some twenty digits.
    WRITE_NODE: 80 integers, 12 loads, 24 stores, 20 floats, 24 branches;
}

/// The rule by which proposals are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// Metropolis and Hastings: with the ratio of the proposal and the prior of the branch lengths,
    /// so that the chain samples the posterior.
    MetropolisHastings,
    /// The rule of the original PBPI: by the likelihood alone. What that samples is not the posterior
    /// under any prior of branch lengths, since proposals that scale lengths favour long ones.
    Original,
}

/// The settings that all chains of a run share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub generations: u32,
    pub prior: Prior,
    pub acceptance: Acceptance,
    pub coupling: Coupling,
    pub sampling: Option<Sampling>,
}

/// What the chains of a row run on: what computes their likelihoods, and knows of other rows.
pub(super) trait ChainHost {
    /// Comes before all else.
    async fn begin(&mut self);
    /// Comes after all else.
    fn end(&mut self);
    /// Is charged for host code beside the likelihoods.
    async fn work(&mut self, work: Work);
    /// ln likelihood of `tree`, whose `touched` nodes, children before parents and the root last,
    /// differ from the accepted tree of that chain of the row.
    async fn evaluate(&mut self, chain: usize, tree: &Tree, touched: &[usize]) -> f64;
    /// The tree that was evaluated last for a chain becomes the accepted one.
    fn accept(&mut self, chain: usize, touched: &[usize]);
    /// Tells another row of a chain and learns of that row's.
    async fn exchange(&mut self, row: u32, own: ChainState) -> ChainState;
    /// All chains of the row have done a further generation.
    fn done(&self);
}

/// One chain.
#[derive(Clone)]
pub(super) struct Chain {
    /// The chain's own, so that its states do not depend on the grid.
    pub stream: Stream,
    pub trace: Trace,
}

impl Chain {
    /// A chain at its first tree, which is not evaluated yet.
    pub fn new(tree: Tree, stream: Stream, place: usize) -> Self {
        let (start, generations) = (f64::NAN, Vec::new());
        let proposals = Default::default();
        let trace = Trace { start, generations, tree, place, proposals, computed: Vec::new() };
        Self { stream, trace }
    }

    fn state(&self) -> ChainState {
        ChainState { log_likelihood: self.trace.log_likelihood(), place: self.trace.place }
    }
}

/// The chains of a row as one of its processes runs them, one after the other in each generation.
/// All processes of the row draw the same proposals, each from its own copy of the streams.
pub(super) struct Row<H> {
    pub host: H,
    pub rules: Rules,
    pub chains: Vec<Chain>,
    /// The one stream of the grid.
    pub swaps: Stream,
    pub names: Rc<Vec<String>>,
    /// The collector of samples, which one process of the row gives.
    pub collector: Option<Rc<RefCell<Collector>>>,
}

/// What came of the chains of a row.
pub(super) struct RowOutcome {
    pub chains: Vec<Trace>,
    /// Swaps of pairs whose first chain is on the row.
    pub swaps: Tally,
}

impl<H: ChainHost> Row<H> {
    /// Runs the chains of `row` for all generations.
    pub async fn run(mut self, row: u32) -> RowOutcome {
        self.host.begin().await;
        for chain in 0..self.chains.len() {
            self.start(chain).await;
        }
        let mut swaps = Tally::default();
        for generation in 1..=self.rules.generations {
            for chain in 0..self.chains.len() {
                self.generation(chain).await;
            }
            if self.rules.coupling.swaps_after(generation) {
                swaps += self.swap(row).await;
            }
            if self.rules.sampling.is_some_and(|sampling| sampling.takes(generation)) {
                self.sample(generation).await;
            }
            self.host.done();
        }
        self.host.end();
        RowOutcome { chains: self.chains.into_iter().map(|chain| chain.trace).collect(), swaps }
    }

    async fn start(&mut self, index: usize) {
        let trace = &mut self.chains[index].trace;
        let tree = &trace.tree;
        let all_inner: Vec<usize> =
            tree.post_order().into_iter().filter(|&node| node >= tree.taxa()).collect();
        self.host.work(VISIT * tree.nodes() as u64).await;
        trace.start = self.host.evaluate(index, tree, &all_inner).await;
        trace.computed.push(trace.start);
        self.host.accept(index, &all_inner);
    }

    async fn generation(&mut self, index: usize) {
        let Self { host, rules, chains, .. } = self;
        let Chain { stream, trace } = &mut chains[index];
        let before = trace.log_likelihood();
        let (tree, proposal) = draw(&trace.tree, stream);
        host.work(effort(&proposal.effort)).await;
        let threshold = stream.uniform();
        let tally = &mut trace.proposals[proposal.kind as usize];
        if proposal.touched.is_empty() {
            // The proposal left the state space: nothing to compute.
            *tally += Tally::REFUSED;
            let stays = Generation { proposed: before, accepted: false, log_likelihood: before };
            trace.generations.push(stays);
            return;
        }
        let proposed = host.evaluate(index, &tree, &proposal.touched).await;
        trace.computed.push(proposed);
        let heated = rules.coupling.temperature(trace.place) * (proposed - before);
        let ln_ratio = match rules.acceptance {
            Acceptance::MetropolisHastings => {
                let prior = rules.prior.ln_density(&tree) - rules.prior.ln_density(&trace.tree);
                heated + prior + proposal.ln_hastings
            }
            Acceptance::Original => heated,
        };
        let accepted = threshold <= ln_ratio.exp();
        *tally += if accepted { Tally::ACCEPTED } else { Tally::REFUSED };
        let touched = if accepted { proposal.touched.len() as u64 } else { 0 };
        let decision = DRAW + Work::TRANSCENDENTAL + DECISION + ACCEPT_NODE * touched;
        host.work(decision).await;
        if accepted {
            host.accept(index, &proposal.touched);
            trace.tree = tree;
        }
        let log_likelihood = if accepted { proposed } else { before };
        trace.generations.push(Generation { proposed, accepted, log_likelihood });
    }

    /// Tries to swap the temperatures of two chains of the grid; counts where the first is here.
    async fn swap(&mut self, row: u32) -> Tally {
        let coupling = self.rules.coupling;
        let attempt = Attempt::draw(coupling.chains(), &mut self.swaps);
        self.host.work(DRAW * Attempt::DRAWS).await;
        let own = coupling.chains_of(row);
        let [first, second] = attempt.pair.map(|chain| {
            let here = own.contains(&chain);
            here.then(|| chain - own.start)
        });
        let state = |chain: usize| self.chains[chain].state();
        let states = match (first, second) {
            (None, None) => return Tally::default(),
            (Some(one), Some(other)) => [state(one), state(other)],
            (Some(one), None) => {
                let (there, told) = (coupling.row_of(attempt.pair[1]), state(one));
                [told, self.host.exchange(there, told).await]
            }
            (None, Some(other)) => {
                let (there, told) = (coupling.row_of(attempt.pair[0]), state(other));
                [self.host.exchange(there, told).await, told]
            }
        };
        self.host.work(Work::TRANSCENDENTAL + DECISION).await;
        let succeeds = attempt.succeeds(&coupling, states);
        if succeeds {
            for (chain, other) in [(first, states[1]), (second, states[0])] {
                if let Some(chain) = chain {
                    self.chains[chain].trace.place = other.place;
                }
            }
        }
        match (first, succeeds) {
            (None, _) => Tally::default(),
            (_, true) => Tally::ACCEPTED,
            (_, false) => Tally::REFUSED,
        }
    }

    /// Samples the cold chain where it is on this row. Rows do not wait for each other, and yet the
    /// samples come in their order: the cold chain changes rows by a message only, which its old row
    /// sends after its last sample.
    async fn sample(&mut self, generation: u32) {
        let Some(collector) = &self.collector else { return };
        let Some(chain) = self.chains.iter().find(|chain| chain.trace.place == 0) else { return };
        let tree = &chain.trace.tree;
        self.host.work(WRITE_NODE * tree.nodes() as u64).await;
        let log_likelihood = chain.trace.log_likelihood();
        let names = &self.names;
        collector.borrow_mut().take(&Sample { generation, log_likelihood, tree, names });
    }
}

/// The host's work for what a proposal counted.
fn effort(effort: &HostEffort) -> Work {
    VISIT * effort.nodes_visited
        + DRAW * effort.random_draws
        + Work::TRANSCENDENTAL * (effort.exponentials + effort.logarithms)
}
