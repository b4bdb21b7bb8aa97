//! Likelihoods on a plain engine and through the kernels of the emulated machine.

mod pruned;
mod reference;

use std::rc::Rc;

use super::*;
use crate::phylogeny::substitution::notation::Notation;
use crate::phylogeny::tests::{SIM12, immediately};
use crate::phylogeny::{Alignment, Patterns, Stream, jukes_cantor, newick};
use crate::raxml::plain::PlainEngine;
use crate::raxml::{Port, run_alone};
use approx::assert_relative_eq;
use mmgp_base::table::Source;
use mmgp_runtime::{Edtlp, Runtime};

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
