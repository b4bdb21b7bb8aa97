//! Likelihoods on a plain engine and through the kernels of the emulated machine.

#[cfg(test)]
mod reference;

use std::rc::Rc;

use super::*;
use crate::phylogeny::substitution::notation::Notation;
use crate::phylogeny::substitution::{Model, SiteRates};
use crate::phylogeny::tests::{GAMMA_0_5, Pruning, SIM12, immediately};
use crate::phylogeny::{Alignment, Patterns, Stream, Tree, jukes_cantor, newick};
use crate::raxml::plain::PlainEngine;
use crate::raxml::{Port, run_alone};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mmgp_base::table::Source;
use mmgp_runtime::{Edtlp, Runtime};
use reference::{AtBranch, GTR};

/// An alignment's patterns, a tree and a model.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) patterns: Rc<Patterns>,
    pub(super) tree: Tree,
    pub(super) model: Model,
}

impl Problem {
    pub(super) fn new(alignment: &Source, tree: &Source, model: &str) -> Self {
        let alignment = Alignment::read(alignment).unwrap();
        let tree = newick::read(tree, &alignment.names).unwrap();
        let patterns = Patterns::compress(&alignment);
        let model = notation(model).model(patterns.len());
        Self { patterns: Rc::new(patterns), tree, model }
    }
}

pub(super) fn notation(text: &str) -> Notation {
    Notation::parse(&Source::new("model", text)).unwrap()
}

/// ln likelihood of `tree` under `model`.
async fn log_likelihood(engine: &mut impl Engine, tree: &Tree, model: &Model) -> f64 {
    let View { ends, z } = update(engine, tree, model).await;
    engine.evaluate(ends, z).await
}

/// ln likelihood of every pattern, weights left out.
async fn pattern_log_likelihoods(engine: &mut impl Engine, tree: &Tree, model: &Model) -> Vec<f64> {
    let View { ends, z } = update(engine, tree, model).await;
    engine.evaluate_patterns(ends, z).await
}

/// Who computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum By {
    /// The host.
    Plain,
    /// The kernels, on so many SPEs.
    Kernels(u32, Port),
}

/// What comes of `life`, which waits for nothing, on a plain engine.
pub(super) fn on_plain_engine<T>(
    problem: &Problem,
    life: impl AsyncFnOnce(&mut PlainEngine) -> T,
) -> T {
    let mut engine = PlainEngine::new(&problem.patterns, &problem.model);
    immediately(life(&mut engine))
}

pub(super) fn runtime() -> Runtime {
    let blade = crate::phylogeny::tests::qs20();
    Runtime::new(blade, Box::new(Edtlp::default()))
}

impl By {
    pub(super) fn log_likelihood(self, problem: &Problem) -> f64 {
        let Problem { patterns, tree, model } = problem.clone();
        match self {
            Self::Plain => on_plain_engine(problem, async move |engine| {
                log_likelihood(engine, &tree, &model).await
            }),
            Self::Kernels(p, port) => {
                run_alone(&runtime(), (p, port), &patterns, async move |engine| {
                    log_likelihood(engine, &tree, &model).await
                })
                .unwrap()
            }
        }
    }

    pub(super) fn pattern_log_likelihoods(self, problem: &Problem) -> Vec<f64> {
        let Problem { patterns, tree, model } = problem.clone();
        match self {
            Self::Plain => on_plain_engine(problem, async move |engine| {
                pattern_log_likelihoods(engine, &tree, &model).await
            }),
            Self::Kernels(p, port) => {
                run_alone(&runtime(), (p, port), &patterns, async move |engine| {
                    pattern_log_likelihoods(engine, &tree, &model).await
                })
                .unwrap()
            }
        }
    }
}

pub(super) const EVERYBODY: [By; 5] = [
    By::Plain,
    By::Kernels(1, Port::Tuned),
    By::Kernels(5, Port::Tuned),
    By::Kernels(2, Port::Naive),
    By::Kernels(3, Port::Unfused),
];

fn sim12(model: &str) -> Problem {
    let [alignment, tree] = SIM12.map(|text| Source::new("sim12", text));
    Problem::new(&alignment, &tree, model)
}

#[test]
fn under_jc69_a_tree_is_as_likely_as_the_plain_computation_says() {
    for seed in 0..5 {
        let mut problem = sim12("JC69");
        problem.tree = Tree::random(12, 0.3, &mut Stream::new(seed, 0)).unwrap();
        let expected = jukes_cantor::log_likelihood(&problem.tree, &problem.patterns);
        for by in EVERYBODY {
            assert_relative_eq!(by.log_likelihood(&problem), expected, max_relative = 1e-12);
        }
    }
}

#[test]
fn the_patterns_add_up_to_the_whole() {
    for model in ["GTR{1.2,3.5,0.8,0.9,4.1,1}+F{0.3,0.22,0.18,0.3}", "HKY{2.5}+G4{0.5}"] {
        let problem = sim12(model);
        for by in EVERYBODY {
            let terms = by.pattern_log_likelihoods(&problem);
            let weights = &problem.patterns.weights;
            let sum: f64 = terms.iter().zip(weights).map(|(t, &w)| f64::from(w) * t).sum();
            assert_relative_eq!(by.log_likelihood(&problem), sum, max_relative = 1e-13);
        }
    }
}

/// Lengths beyond what z can hold are taken as the nearest that it can.
#[test]
fn the_shortest_and_the_longest_branches_have_the_right_limits() {
    let tree = |length: &str| Source::new("t.nwk", &format!("(a:{length},b:{length},c:{length});"));
    let check = |alignment: &str, length: &str, expected: f64| {
        for by in EVERYBODY {
            for model in ["JC69", "JC69+G{1}"] {
                let problem = Problem::new(&Source::new("a.phy", alignment), &tree(length), model);
                let found = by.log_likelihood(&problem);
                assert!((found - expected).abs() < 1e-6, "{by:?} {model} {length}: {found}");
            }
        }
    };
    let quarter = 0.25_f64.ln();
    check("3 4\na ACGT\nb ACGT\nc ACGT\n", "0", 4.0 * quarter);
    check("3 4\na ACGT\nb CCGA\nc ATGT\n", "1e30", 12.0 * quarter);
    check("3 4\na ACGT\nb CCGA\nc ATGT\n", "700", 12.0 * quarter);
}

/// The model [`GTR`].
fn gtr(rates: &[f64]) -> Pruning<'_> {
    let exchangeabilities = [1.2, 3.5, 0.8, 0.9, 4.1, 1.0];
    Pruning { exchangeabilities, frequencies: [0.30, 0.22, 0.18, 0.30], rates }
}

/// `sim12` and the tree that it evolved on.
fn whole_sim12() -> (Alignment, Tree) {
    let [alignment, tree] = SIM12.map(|text| Source::new("sim12", text));
    let alignment = Alignment::read(&alignment).unwrap();
    let tree = newick::read(&tree, &alignment.names).unwrap();
    (alignment, tree)
}

/// The same with residues that are unknown, and some that are one of two, as real sequences have them.
fn blurred_sim12() -> (Alignment, Tree) {
    let (mut alignment, tree) = whole_sim12();
    for (taxon, row) in alignment.rows.iter_mut().enumerate() {
        for (site, residue) in row.iter_mut().enumerate() {
            if (5 * taxon + site).is_multiple_of(13) {
                *residue = 15;
            } else if (3 * taxon + site).is_multiple_of(17) {
                *residue |= 1 << (site % 4);
            }
        }
    }
    (alignment, tree)
}

fn sum(terms: impl Iterator<Item = [f64; 3]>) -> [f64; 3] {
    terms.fold([0.0; 3], |sum, term| std::array::from_fn(|i| sum[i] + term[i]))
}

#[test]
fn plain_pruning_itself_agrees_with_phyml() {
    // data/reference_lnl.csv
    let (alignment, tree) = whole_sim12();
    for (rates, expected) in [(&[1.0][..], -5173.1004216122), (&GAMMA_0_5[..], -5328.6665628978)] {
        let sites = gtr(rates).columns(&tree, &alignment.rows);
        let [found, ..] = sum(sites.iter().map(|site| site.logarithm()));
        // PhyML's rates have twelve digits.
        assert_relative_eq!(found, expected, max_relative = 1e-11);
    }
}

#[test]
fn every_site_of_a_shipped_alignment_is_as_likely_as_plain_pruning_says() {
    let (alignment, tree) = blurred_sim12();
    let expected = gtr(&GAMMA_0_5).columns(&tree, &alignment.rows);
    let patterns = Rc::new(Patterns::compress(&alignment));
    let model = notation(&format!("{GTR}+G4{{0.5}}")).model(patterns.len());
    let problem = Problem { patterns: patterns.clone(), tree, model };
    for by in EVERYBODY {
        let terms = by.pattern_log_likelihoods(&problem);
        for (site, (expected, pattern)) in expected.iter().zip(&patterns.of_site).enumerate() {
            let found = terms[pattern.expect("some taxon has a residue")];
            let [expected, ..] = expected.logarithm();
            assert!((found - expected).abs() < 1e-10, "{by:?} site {site}: {found}, {expected}");
        }
    }
}

/// A quarter of the columns at each of four rates, every column a pattern of its own.
#[test]
fn categories_of_rates_are_as_likely_as_plain_pruning_says() {
    let (alignment, tree) = blurred_sim12();
    let rates = [0.2, 0.6, 1.2, 2.0];
    let expected = rates.map(|rate| gtr(&[rate]).columns(&tree, &alignment.rows));
    let sites = alignment.sites();
    let weights = vec![1; sites];
    let of_site = (0..sites).map(Some).collect();
    let patterns = Patterns { tips: alignment.rows, weights, of_site };
    let of_pattern = (0..sites).map(|site| site as u32 % 4).collect();
    let rates = SiteRates::Categories { rates: rates.to_vec(), of_pattern };
    let model = Model { substitution: notation(GTR).substitution, rates };
    let problem = Problem { patterns: Rc::new(patterns), tree, model };
    for by in EVERYBODY {
        for (site, found) in by.pattern_log_likelihoods(&problem).into_iter().enumerate() {
            let [expected, ..] = expected[site % 4][site].logarithm();
            assert!((found - expected).abs() < 1e-10, "{by:?} site {site}: {found}, {expected}");
        }
    }
}

#[test]
fn branches_have_the_derivatives_and_optima_of_plain_pruning() {
    let (alignment, tree) = blurred_sim12();
    let patterns = Rc::new(Patterns::compress(&alignment));
    let branch = tree.children(tree.root()).next().unwrap();
    for (suffix, rates) in [("", &[1.0][..]), ("+G4{0.5}", &GAMMA_0_5[..])] {
        let expected = |length: f64| {
            let mut tree = tree.clone();
            tree.set_branch_length(branch, length).unwrap();
            let sites = gtr(rates).columns(&tree, &alignment.rows);
            sum(sites.iter().map(|site| site.logarithm()))
        };
        // Where the slope changes its sign
        let (mut low, mut high) = (1e-4, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if expected(middle)[1] > 0.0 { low = middle } else { high = middle }
        }
        let length = tree.branch_length(branch);
        let lengths = [length, 2.0 * length, low];
        let model = notation(&format!("{GTR}{suffix}")).model(patterns.len());
        let problem = Problem { patterns: patterns.clone(), tree: tree.clone(), model };
        for by in EVERYBODY {
            let found = AtBranch::by(by, &problem, lengths.to_vec());
            assert_abs_diff_eq!(found.optimum, low, epsilon = 1e-8);
            for (number, &length) in lengths.iter().enumerate() {
                let [value, first, second] = expected(length);
                assert_relative_eq!(found.log_likelihoods[number], value, max_relative = 1e-12);
                // z = exp(-length), and a step takes it to no more than 0.25 z + 0.75.
                let z = (-length).exp();
                let stepped = (z * (first / second).exp()).min(0.25 * z + 0.75);
                assert_abs_diff_eq!(found.steps[number], -stepped.ln(), epsilon = 1e-9);
            }
        }
    }
}
