//! The search for the tree of maximum likelihood, after Stamatakis, Ludwig and Meier (2005) and
//! Stamatakis (2006).
//!
//! 1. The start: a tree of maximum parsimony ([`Start`]), z = 0.9 on each branch, exchangeabilities
//!    1, empirical frequencies, alpha 1 or a single rate. Branch lengths are optimised one after the other
//!    (smoothing) and the model is fitted roughly.
//! 2. Cycles of fast rearrangement: each subtree is tried around its place, up to 5 branches away in
//!    the first cycle, 10 in the second and so on up to 25, until a cycle gains no more than 0.01.
//! 3. The model is fitted roughly again; cycles of thorough rearrangement, whose radius begins at 5
//!    again.
//! 4. For an inference the model is fitted finely.
//!
//! Where an improvement is found it is made at once, and the next subtree starts from there.
//!
//! # Determinism
//! A task depends on the seed, its number and the data alone, whoever runs it, and whatever ran
//! before. Engines may add in other orders, so one log likelihood is better than another only if it
//! exceeds it by 1e-6; of equal ones the first counts.

mod climber;
mod model;
mod parsimony;
mod rearrangement;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use climber::Counts;
pub use model::Fineness;

use super::engine::{Columns, Engine};
use crate::phylogeny::substitution::{Model, SiteRates, Substitution};
use crate::phylogeny::{Patterns, Stream, Tree};
use climber::{Climber, PASSES};
use climber::{HostTally, Step};
use parsimony::Parsimony;
use rearrangement::{Bounds, Care, CutOff};
use tree::{SearchTree, Z_START};

/// The radius of the first cycle, and by how much it grows [branches].
const RADIUS_STEP: usize = 5;
/// Cycles end when the log likelihood gains no more.
const GAIN: f64 = 0.01;

/// Something to be computed, independent of everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// A tree of the alignment, from its own start.
    Inference(u32),
    /// A tree of resampled columns.
    Bootstrap(u32),
}

/// How the rate varies over sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rates {
    /// Each pattern is a mixture of four rates.
    Gamma,
    /// Each pattern has one of at most 25 rates.
    Cat,
}

/// The tree that a search begins at.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// One of maximum parsimony, the taxa added in random order.
    Parsimony,
    /// Any, all topologies equally likely.
    Random,
    /// This, its lengths included.
    Given(Tree),
}

/// How much is searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Branches between a subtree's place and the farthest that it is tried on, at most.
    pub most_radius: usize,
    /// Cycles of fast rearrangement at most.
    pub fast_cycles: u32,
    /// Cycles of thorough rearrangement at most.
    pub thorough_cycles: u32,
    /// Subtrees that a cycle moves at most.
    pub prunings: usize,
    /// Trees that a cycle keeps and smooths.
    pub kept_trees: usize,
    /// Passes of smoothing at most.
    pub passes: u32,
    /// How the model is fitted at the start and between the phases.
    pub fit: Fineness,
    /// How it is fitted at the end of an inference.
    pub last_fit: Fineness,
}

impl Effort {
    /// A search to convergence: until no cycle gains any more.
    pub const WHOLE: Self = Self {
        most_radius: 25,
        fast_cycles: u32::MAX,
        thorough_cycles: u32::MAX,
        prunings: usize::MAX,
        kept_trees: 20,
        passes: PASSES,
        fit: Fineness::ROUGH,
        last_fit: Fineness::FINE,
    };

    /// The beginning of each phase, with the functions in about the same proportions: for a study
    /// of the machine, not of the taxa. One cycle of each kind, each of the first 24 subtrees
    /// within 5 branches, 2 trees kept, 2 passes of smoothing, and the model stays the first one,
    /// but for the rates of patterns, which come from a coarse grid.
    pub const SHORT: Self = Self {
        most_radius: RADIUS_STEP,
        fast_cycles: 1,
        thorough_cycles: 1,
        prunings: 24,
        kept_trees: 2,
        passes: 2,
        fit: Fineness { rates_per_octave: 1, ..Fineness::NONE },
        last_fit: Fineness::NONE,
    };
}

/// The settings of a search.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The seed of all random numbers.
    pub seed: u64,
    /// Rates over sites.
    pub rates: Rates,
    /// The tree that it begins with.
    pub start: Start,
    /// How much it does.
    pub effort: Effort,
    /// What a bootstrap computes.
    pub columns: Columns,
}

impl Settings {
    /// A whole search from trees of few changes of state.
    pub fn new(seed: u64, rates: Rates) -> Self {
        Self {
            seed,
            rates,
            start: Start::Parsimony,
            effort: Effort::WHOLE,
            columns: Columns::default(),
        }
    }

    /// The same from another start.
    pub fn starting_at(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// The same with another effort.
    pub fn with_effort(self, effort: Effort) -> Self {
        Self { effort, ..self }
    }

    /// The same with other columns in bootstraps.
    pub fn with_columns(self, columns: Columns) -> Self {
        Self { columns, ..self }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inference {
    /// The tree, its lengths in expected substitutions per site.
    pub tree: Tree,
    /// ln likelihood under the model, of the columns that the task had.
    pub log_likelihood: f64,
    /// The model.
    pub model: Model,
    /// ln likelihood of the tree that it began at, smoothed, before the model was fitted.
    pub first_log_likelihood: f64,
    /// Calls of the engine.
    pub counts: Counts,
}

/// Runs a task on an alignment of at least 4 taxa.
///
/// # Panics
/// Fails where the alignment has fewer taxa or no column, or a given start has other taxa.
pub(crate) async fn run(
    engine: &mut impl Engine,
    patterns: &Patterns,
    settings: &Settings,
    task: Task,
) -> Inference {
    match task {
        Task::Inference(number) => infer(engine, patterns, settings, number).await,
        Task::Bootstrap(number) => bootstrap(engine, patterns, settings, number).await,
    }
}

/// The inference of that number.
///
/// # Panics
/// The errors of [`run`].
pub(crate) async fn infer(
    engine: &mut impl Engine,
    patterns: &Patterns,
    settings: &Settings,
    number: u32,
) -> Inference {
    let mut stream = Stream::new(settings.seed, 2 * number);
    let columns = (patterns.weights.clone(), HostTally::default());
    let mut climber = start(engine, patterns, settings, (&mut stream, columns)).await;
    let first_log_likelihood = climber.log_likelihood().await;
    climber.climb(&settings.effort).await;
    let log_likelihood = climber.fit_all(settings.effort.last_fit).await;
    finish(climber, first_log_likelihood, log_likelihood).await
}

/// The bootstrap of that number: a search on resampled columns, whose model is not fitted finely
/// in the end.
///
/// # Panics
/// The errors of [`run`].
pub(crate) async fn bootstrap(
    engine: &mut impl Engine,
    patterns: &Patterns,
    settings: &Settings,
    number: u32,
) -> Inference {
    let mut stream = Stream::new(settings.seed, 2 * number + 1);
    let mut host = HostTally::default();
    let weights = resample(&patterns.weights, &mut stream, &mut host);
    let mut climber = start(engine, patterns, settings, (&mut stream, (weights, host))).await;
    let first_log_likelihood = climber.log_likelihood().await;
    let log_likelihood = climber.climb(&settings.effort).await;
    finish(climber, first_log_likelihood, log_likelihood).await
}

/// A smoothed tree under the first model.
async fn start<'e, E: Engine>(
    engine: &'e mut E,
    patterns: &Patterns,
    settings: &Settings,
    (stream, (weights, mut host)): (&mut Stream, (Vec<u32>, HostTally)),
) -> Climber<'e, E> {
    let taxa = patterns.tips.len();
    assert!(taxa >= 4, "fewer than 4 taxa have one topology");
    assert!(weights.iter().any(|&weight| weight > 0), "a search needs a column");
    let tree = match &settings.start {
        Start::Parsimony => Parsimony::new(patterns, &weights).tree(stream, &mut host),
        Start::Random => random(taxa, stream, &mut host),
        Start::Given(tree) => SearchTree::from_tree(tree),
    };
    assert_eq!(tree.taxa(), taxa, "the tree has the taxa of the alignment");
    let columns = Patterns { weights: weights.clone(), ..patterns.clone() };
    host.count(Step::Pattern, (taxa * weights.len()) as u64);
    let substitution = Substitution::gtr([1.0; 6], columns.frequencies())
        .expect("invariant: empirical frequencies are positive");
    let rates = match settings.rates {
        Rates::Gamma => SiteRates::gamma(1.0).expect("invariant: 1 is a shape"),
        Rates::Cat => SiteRates::single(patterns.len()),
    };
    host.count(Step::EigenSystem, 1);
    let model = Model { substitution, rates };
    let mut climber = Climber::new(engine, tree, model, (weights, settings.columns), host).await;
    climber.smooth(settings.effort.passes).await;
    climber
}

fn random(taxa: usize, stream: &mut Stream, host: &mut HostTally) -> SearchTree {
    host.count(Step::Draw, taxa as u64);
    host.count(Step::Relink, taxa as u64);
    let tree = Tree::random(taxa, 1.0, stream).expect("invariant: enough taxa");
    let mut tree = SearchTree::from_tree(&tree);
    for (one, other) in tree.branches() {
        tree.set_z(one, other, Z_START);
    }
    tree
}

async fn finish<E: Engine>(
    mut climber: Climber<'_, E>,
    first_log_likelihood: f64,
    log_likelihood: f64,
) -> Inference {
    climber.report().await;
    let Climber { tree, model, counts, .. } = climber;
    let tree = tree.to_tree().expect("invariant: a search ends with a whole tree");
    Inference { tree, log_likelihood, model, first_log_likelihood, counts }
}

impl<E: Engine> Climber<'_, E> {
    /// Fits the model and rearranges the tree until nothing is gained. Gives ln likelihood.
    async fn climb(&mut self, effort: &Effort) -> f64 {
        let mut log_likelihood = self.fit_all(effort.fit).await;
        let mut cut_off = CutOff::first(log_likelihood);
        for (care, cycles) in
            [(Care::Fast, effort.fast_cycles), (Care::Thorough, effort.thorough_cycles)]
        {
            let mut radius = RADIUS_STEP;
            for _ in 0..cycles {
                let before = log_likelihood;
                let bounds = Bounds {
                    radius: radius.min(effort.most_radius),
                    prunings: effort.prunings,
                    kept_trees: effort.kept_trees,
                    passes: effort.passes,
                };
                log_likelihood = self.rearrange(before, care, bounds, &mut cut_off).await;
                if log_likelihood - before <= GAIN {
                    break;
                }
                radius += RADIUS_STEP;
            }
            if care == Care::Fast {
                log_likelihood = self.fit_all(effort.fit).await;
            }
        }
        log_likelihood
    }
}

/// Draws as many columns as there are, with replacement: for each pattern how often one of its
/// columns was drawn.
fn resample(weights: &[u32], stream: &mut Stream, host: &mut HostTally) -> Vec<u32> {
    let mut before = Vec::with_capacity(weights.len());
    let mut columns = 0;
    for &weight in weights {
        before.push(columns);
        columns += weight as usize;
    }
    let mut drawn = vec![0; weights.len()];
    for _ in 0..columns {
        let column = stream.index(columns);
        // The last pattern that does not begin behind the column.
        drawn[before.partition_point(|&first| first <= column) - 1] += 1;
    }
    // The pattern of each column is looked up by bisection.
    let halves = u64::from(usize::BITS - weights.len().leading_zeros());
    host.count(Step::Draw, columns as u64);
    host.count(Step::Look, columns as u64 * halves);
    host.count(Step::Pattern, 2 * weights.len() as u64);
    drawn
}

#[cfg(test)]
mod resampling_tests {
    use super::*;

    #[test]
    fn every_column_is_drawn_once_in_the_mean() {
        let weights = [1, 4, 0, 15];
        let mut stream = Stream::new(1, 0);
        let (mut sums, mut without_first) = ([0_u32; 4], 0_u32);
        let replicates = 20_000;
        for _ in 0..replicates {
            let drawn = resample(&weights, &mut stream, &mut HostTally::default());
            assert_eq!(drawn.iter().sum::<u32>(), 20);
            sums.iter_mut().zip(&drawn).for_each(|(sum, drawn)| *sum += drawn);
            without_first += u32::from(drawn[0] == 0);
        }
        let replicates = f64::from(replicates);
        for (&weight, &sum) in weights.iter().zip(&sums) {
            // Binomial: 20 draws, each with the odds weight / 20.
            let odds = f64::from(weight) / 20.0;
            let error = (20.0 * odds * (1.0 - odds) / replicates).sqrt();
            let mean = f64::from(sum) / replicates;
            assert!((mean - f64::from(weight)).abs() <= 4.0 * error, "{weight}: {mean}");
        }
        let odds = 0.95_f64.powi(20);
        let error = (odds * (1.0 - odds) / replicates).sqrt();
        assert!((f64::from(without_first) / replicates - odds).abs() < 4.0 * error);
    }
}
