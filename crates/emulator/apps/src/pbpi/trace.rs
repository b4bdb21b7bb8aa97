//! What came of chains: generations, samples, and what they say of the trees.

use std::cell::RefCell;
use std::rc::Rc;

use super::proposal::Kind;
use crate::application::{Fingerprint, ORDER_OF_ADDITIONS};
use crate::phylogeny::Tree;
use crate::phylogeny::splits::{Consensus, SplitCounts};
use crate::run::require;
use mmgp_base::error::Result;

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

/// Attempts, and how many of them were accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Attempts.
    pub tried: u64,
    /// Attempts that were accepted.
    pub accepted: u64,
}

impl Tally {
    /// One accepted attempt.
    pub(super) const ACCEPTED: Self = Self { tried: 1, accepted: 1 };
    /// One refused attempt.
    pub(super) const REFUSED: Self = Self { tried: 1, accepted: 0 };
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { tried: self.tried + other.tried, accepted: self.accepted + other.accepted }
    }
}

/// What a chain went through.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// ln likelihood of the first tree.
    pub start: f64,
    /// The generations of the chain.
    pub generations: Vec<Generation>,
    /// The tree it ended at.
    pub tree: Tree,
    /// The place on the ladder of temperatures at the end; 0 is the cold chain.
    pub place: usize,
    /// The proposals by kind, in the order of [`Kind::ALL`].
    pub proposals: [Tally; Kind::ALL.len()],
    /// The ln likelihoods that were computed for it, in their order.
    pub(super) computed: Vec<f64>,
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

/// What came of all chains of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// The chains by their number.
    pub chains: Vec<Trace>,
    /// Exchanges of temperatures between two chains.
    pub swaps: Tally,
    /// States of the cold chain that were sampled, those of the burn-in included.
    pub samples: u64,
    /// The splits of the trees that were sampled after the burn-in.
    pub splits: SplitCounts,
}

impl Inference {
    /// The chain that was the cold one at the end.
    pub fn cold(&self) -> &Trace {
        let cold = self.chains.iter().find(|chain| chain.place == 0);
        cold.expect("invariant: one chain is at the foot of the ladder")
    }

    /// ln likelihood of the last tree of the cold chain.
    pub fn log_likelihood(&self) -> f64 {
        self.cold().log_likelihood()
    }

    /// The ln likelihood that the cold chain ended with, which depends on the order of additions, and
    /// the proposals that were accepted, which do not.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::default()
            .within(ORDER_OF_ADDITIONS, "ln likelihood", self.log_likelihood())
            .counting("number of proposals accepted", self.accepted() as u64)
    }

    /// How many proposals were accepted, over all chains.
    pub fn accepted(&self) -> usize {
        self.chains.iter().map(Trace::accepted).sum()
    }

    /// Proposals of each kind over all chains.
    pub fn proposals(&self) -> [(Kind, Tally); Kind::ALL.len()] {
        Kind::ALL.map(|kind| {
            let of_kind = self.chains.iter().map(|chain| chain.proposals[kind as usize]);
            (kind, of_kind.fold(Tally::default(), |sum, tally| sum + tally))
        })
    }

    /// The majority-rule consensus of the samples after the burn-in, where there are any. The share
    /// of a split is its posterior probability.
    pub fn consensus(&self) -> Option<Consensus> {
        (self.splits.weight() > 0.0).then(|| self.splits.majority_rule())
    }
}

/// Which states of the cold chain are sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    every: u32,
    burn_in: f64,
}

impl Sampling {
    /// Sampling after each generation whose number `every` divides; the first share `burn_in` of the
    /// generations does not count for the consensus.
    ///
    /// # Errors
    /// `OutOfRange` for an interval of 0, and a share outside [0, 1).
    pub fn new(every: u32, burn_in: f64) -> Result<Self> {
        require(every > 0, "generations between two samples", "0", "at least 1 generation")?;
        require(
            (0.0..1.0).contains(&burn_in),
            "the share of the burn-in",
            burn_in,
            "a fraction of at least 0 and below 1",
        )?;
        Ok(Self { every, burn_in })
    }

    /// Generations that do not count for the consensus.
    fn burnt(&self, generations: u32) -> u32 {
        (self.burn_in * f64::from(generations)) as u32
    }

    /// Whether so many generations leave a sample for the consensus.
    pub(super) fn check(&self, generations: u32) -> Result<()> {
        let last = generations - generations % self.every;
        let found = format!("{} for {generations} generations", self.every);
        let (name, expected) = ("generations between two samples", "a sample after the burn-in");
        require(last > self.burnt(generations), name, found, expected)
    }

    /// Whether the state after that generation, counted from 1, is sampled.
    pub(super) fn takes(&self, generation: u32) -> bool {
        generation.is_multiple_of(self.every)
    }
}

/// A state of the cold chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    /// Generations before it.
    pub generation: u32,
    /// ln likelihood of the tree.
    pub log_likelihood: f64,
    /// The tree.
    pub tree: &'a Tree,
    /// What its tips are called.
    pub names: &'a [String],
}

/// A taker of samples while a chain runs, in the order of generations.
pub trait Samples {
    /// Takes the next one.
    fn take(&mut self, sample: &Sample<'_>);
}

/// A destination of samples, shared with the caller.
pub type SampleSink = Rc<RefCell<dyn Samples>>;

/// Gathers the samples of all rows.
pub(super) struct Collector {
    /// Generations of the burn-in.
    pub burn_in: u32,
    pub sink: Option<SampleSink>,
    pub samples: u64,
    pub splits: SplitCounts,
}

impl Collector {
    pub fn new(
        sampling: Option<Sampling>,
        generations: u32,
        taxa: usize,
        sink: Option<SampleSink>,
    ) -> Self {
        let burn_in = sampling.map_or(0, |sampling| sampling.burnt(generations));
        Self { burn_in, sink, samples: 0, splits: SplitCounts::new(taxa) }
    }

    pub fn take(&mut self, sample: &Sample<'_>) {
        self.samples += 1;
        if sample.generation > self.burn_in {
            self.splits.add(sample.tree, 1.0);
        }
        if let Some(sink) = &self.sink {
            sink.borrow_mut().take(sample);
        }
    }
}
