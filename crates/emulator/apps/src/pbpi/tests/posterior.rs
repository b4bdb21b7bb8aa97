//! The cold chain samples the posterior, held against integrals that are exact but for rounding.
//!
//! Under JC69 the likelihood of a few sites is a polynomial in the decays s = exp(-4/3 (x - floor))
//! of the branches, of at most the number of sites in each. With x - floor exponential of the rate r,
//! s has the density (3r/4) s^(3r/4 - 1) on [0, 1], so the rule of Gauss and Jacobi with enough nodes
//! gives the integral over each branch without error.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::*;
use crate::pbpi::proposal::BRANCH_FLOOR;
use crate::phylogeny::simulate;

/// Values at t of the first `count` orthonormal polynomials for the weight (1 + t)^beta on [-1, 1], a
/// probability, and of one more but for a factor, by the recurrence of Jacobi's.
fn jacobi(count: usize, t: f64) -> (Vec<f64>, f64) {
    let beta = 0.75 * DEFAULT_PRIOR_RATE - 1.0;
    let (mut values, mut before, mut last) = (Vec::new(), 0.0, 1.0);
    let mut coupling = 0.0;
    for k in 0..count {
        values.push(last);
        let sum = 2.0 * k as f64 + beta;
        let mean = if k == 0 { beta / (beta + 2.0) } else { beta * beta / (sum * (sum + 2.0)) };
        let (next, sum) = (k as f64 + 1.0, sum + 2.0);
        let square = (2.0 * next * (next + beta)).powi(2) / (sum * sum * (sum + 1.0) * (sum - 1.0));
        let value = ((t - mean) * last - coupling * before) / square.sqrt();
        (before, last, coupling) = (last, value, square.sqrt());
    }
    (values, last)
}

/// Nodes s and weights: the sum of w f(s) is the mean of f(s) under the prior for every polynomial f
/// of a degree of at most 2 * count - 1. The nodes are the zeros of the polynomial of that degree.
fn decay_rule(count: usize) -> Vec<(f64, f64)> {
    let sign = |t: f64| jacobi(count, t).1 > 0.0;
    let grid = |step: u32| f64::from(step) / 5000.0 - 1.0;
    let changes = (0..10_000).filter(|&step| sign(grid(step)) != sign(grid(step + 1)));
    let zero = |step: u32| {
        let (mut low, mut high) = (grid(step), grid(step + 1));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if sign(middle) == sign(low) { low = middle } else { high = middle }
        }
        low
    };
    let rule = |t: f64| {
        let squares: f64 = jacobi(count, t).0.iter().map(|value| value * value).sum();
        (0.5 * (1.0 + t), 1.0 / squares)
    };
    let rule: Vec<(f64, f64)> = changes.map(zero).map(rule).collect();
    assert_eq!(rule.len(), count);
    rule
}

#[test]
fn the_rule_has_the_moments_of_the_decay_of_an_exponential_branch() {
    let rule = decay_rule(8);
    for power in 0..16 {
        let moment: f64 = rule.iter().map(|(s, w)| w * s.powi(power)).sum();
        // E exp(-4/3 k y) = r / (r + 4 k / 3)
        let expected = DEFAULT_PRIOR_RATE / (DEFAULT_PRIOR_RATE + 4.0 * f64::from(power) / 3.0);
        assert_relative_eq!(moment, expected, max_relative = 1e-12);
    }
}

/// Likelihood of each pattern: the sum over the states of all inner nodes, one by one.
fn pattern_likelihood(tree: &Tree, decays: &[f64], codes: &[u8]) -> f64 {
    let (taxa, inner) = (tree.taxa(), tree.taxa() - 2);
    let floor_decay = (-4.0 / 3.0 * BRANCH_FLOOR).exp();
    let total: f64 = (0..4_usize.pow(inner as u32))
        .map(|states| {
            let state = |node: usize| match node.checked_sub(taxa) {
                None => usize::from(codes[node].trailing_zeros() as u8),
                Some(inner) => states >> (2 * inner) & 3,
            };
            let factor = |node: usize| {
                let decay = floor_decay * decays[node];
                let parent = tree.parent(node).unwrap();
                if state(node) == state(parent) { 0.25 + 0.75 * decay } else { 0.25 - 0.25 * decay }
            };
            tree.branches().map(factor).product::<f64>()
        })
        .sum();
    0.25 * total
}

/// What the chain is asked for and what the integrals give: the probability of each topology, then
/// the mean decays over the tips' branches and over the inner branches.
struct Posterior {
    number_of: BTreeMap<Vec<Vec<usize>>, usize>,
    expected: Vec<f64>,
}

impl Posterior {
    fn new(patterns: &Patterns) -> Self {
        let taxa = patterns.tips.len();
        let sites: u32 = patterns.weights.iter().sum();
        let rule = decay_rule((sites as usize + 3) / 2);
        let mut stream = Stream::new(1, 0);
        let mut topologies = BTreeMap::new();
        for _ in 0..500 {
            let tree = Tree::random(taxa, 0.1, &mut stream).unwrap();
            topologies.entry(tree.splits()).or_insert(tree);
        }
        let integrals: Vec<[f64; 3]> =
            topologies.values().map(|tree| integrals(tree, patterns, &rule)).collect();
        let total = |index: usize| integrals.iter().map(|of| of[index]).sum::<f64>();
        let mut expected: Vec<f64> = integrals.iter().map(|of| of[0] / total(0)).collect();
        expected.extend([total(1) / total(0), total(2) / total(0)]);
        let number_of = topologies.into_keys().zip(0..).collect();
        Self { number_of, expected }
    }

    /// The same of one tree.
    fn values(&self, tree: &Tree) -> Vec<f64> {
        let mut values = vec![0.0; self.expected.len()];
        let topologies = self.number_of.len();
        values[self.number_of[&tree.splits()]] = 1.0;
        let taxa = tree.taxa();
        for node in tree.branches() {
            let decay = (-4.0 / 3.0 * (tree.branch_length(node) - BRANCH_FLOOR)).exp();
            let (at, count) = if node < taxa { (0, taxa) } else { (1, taxa - 3) };
            values[topologies + at] += decay / count as f64;
        }
        values
    }
}

/// Integrals of the likelihood, and of its products with the mean decays, over all branch lengths of
/// a topology.
fn integrals(tree: &Tree, patterns: &Patterns, rule: &[(f64, f64)]) -> [f64; 3] {
    let branches: Vec<usize> = tree.branches().collect();
    let columns: Vec<Vec<u8>> = (0..patterns.len())
        .map(|pattern| patterns.tips.iter().map(|codes| codes[pattern]).collect())
        .collect();
    let mut decays = vec![1.0; tree.nodes()];
    let mut sums = [0.0; 3];
    for index in 0..rule.len().pow(branches.len() as u32) {
        let mut rest = index;
        let mut density = 1.0;
        for &node in &branches {
            let (decay, weight) = rule[rest % rule.len()];
            (decays[node], density, rest) = (decay, density * weight, rest / rule.len());
        }
        for (column, &weight) in columns.iter().zip(&patterns.weights) {
            density *= pattern_likelihood(tree, &decays, column).powi(weight as i32);
        }
        let taxa = tree.taxa();
        let mean = |nodes: std::ops::Range<usize>| {
            let count = branches.iter().filter(|node| nodes.contains(node)).count();
            let sum: f64 = branches.iter().filter(|n| nodes.contains(n)).map(|&n| decays[n]).sum();
            sum / count as f64
        };
        sums[0] += density;
        sums[1] += density * mean(0..taxa);
        sums[2] += density * mean(taxa..tree.nodes());
    }
    sums
}

/// Sums the values of samples in batches.
struct Batches {
    posterior: Posterior,
    burn_in: u32,
    length: u32,
    sums: Vec<Vec<f64>>,
}

impl Samples for Batches {
    fn take(&mut self, sample: &Sample<'_>) {
        let Some(since) = sample.generation.checked_sub(self.burn_in + 1) else { return };
        let batch = (since / self.length) as usize;
        self.sums.resize(self.sums.len().max(batch + 1), vec![0.0; self.posterior.expected.len()]);
        let values = self.posterior.values(sample.tree);
        self.sums[batch].iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
}

impl Batches {
    /// The mean over the samples of each value, its standard error by the means of the batches,
    /// and how many standard errors it is away from the posterior's.
    fn deviations(&self) -> Vec<(f64, f64, f64)> {
        let count = self.sums.len() as f64;
        let of = |index: usize| {
            let means = self.sums.iter().map(|sums| sums[index] / f64::from(self.length));
            let mean = means.clone().sum::<f64>() / count;
            let variance = means.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
            let error = (variance / count).sqrt();
            (mean, error, (mean - self.posterior.expected[index]) / error)
        };
        (0..self.posterior.expected.len()).map(of).collect()
    }
}

const BATCHES: u32 = 100;

/// Runs a chain, or several, and gives the deviations of the cold one's samples.
fn deviations(pbpi: Pbpi, patterns: &Patterns, generations: u32) -> Vec<(f64, f64, f64)> {
    let burn_in = 2000;
    let posterior = Posterior::new(patterns);
    let batches = Batches { posterior, burn_in, length: generations / BATCHES, sums: Vec::new() };
    let batches = Rc::new(RefCell::new(batches));
    let pbpi = Pbpi { generations: burn_in + generations, ..pbpi };
    let pbpi = pbpi.sampled(Sampling::new(1, 0.0).unwrap()).unwrap();
    pbpi.infer(Some(batches.clone())).unwrap();
    let batches = batches.borrow();
    assert_eq!(batches.sums.len(), BATCHES as usize);
    batches.deviations()
}

fn check_samples_the_posterior(patterns: &Patterns, coupling: Coupling, generations: u32) {
    let pbpi = Pbpi::new(patterns.clone(), None, 1, 1).unwrap().coupled(coupling);
    let found = deviations(pbpi, patterns, generations);
    assert!(found.iter().all(|(_, error, _)| *error < 0.006), "{found:?}");
    assert!(found.iter().all(|(_, _, deviation)| deviation.abs() < 3.0), "{found:?}");
}

/// Columns of which the topologies have 65, 23 and 12 % of the posterior.
fn four_taxa() -> Patterns {
    let tree = simulate::tree(4, 0.2, 3).unwrap();
    Patterns::compress(&simulate::alignment(&tree, &simulate::names(4), 14, 3).unwrap())
}

/// Two sites that contradict each other, and four that say little of the topology: six of the 15
/// topologies have more than 10 % of the posterior, none has less than 0.4.
fn five_taxa() -> Patterns {
    let text = ">a\nACGATG\n>b\nACGCTG\n>c\nACTATG\n>d\nACTCTG\n>e\nACTAAG\n";
    Patterns::compress(&Alignment::read(&Source::new("five.fasta", text)).unwrap())
}

#[test]
fn a_chain_over_four_taxa_samples_the_posterior() {
    check_samples_the_posterior(&four_taxa(), Coupling::SINGLE, 300_000);
}

#[test]
fn a_chain_over_five_taxa_samples_the_posterior() {
    check_samples_the_posterior(&five_taxa(), Coupling::SINGLE, 300_000);
}

#[test]
fn the_cold_one_of_coupled_chains_samples_the_posterior() {
    for (chains, heating) in [(2, 3.0), (3, 1.0), (4, 0.3)] {
        let coupling = Coupling::new(chains, heating, 5).unwrap();
        check_samples_the_posterior(&four_taxa(), coupling, 150_000);
    }
}

#[test]
fn the_original_rule_of_acceptance_samples_something_else() {
    let patterns = four_taxa();
    let pbpi = Pbpi::new(patterns.clone(), None, 1, 1).unwrap().accepting(Acceptance::Original);
    let found = deviations(pbpi, &patterns, 50_000);
    // Branches become too long, so that they have less of a decay left.
    assert!(found[3].2 < -6.0 && found[4].2 < -6.0, "{found:?}");
}
