//! The functions on the emulated machine.

use std::rc::Rc;

use approx::assert_relative_eq;

use super::engine::{Engine, NewView};
use super::*;
use crate::apps::phylogeny::substitution::{EigenSystem, Model, SiteRates, Substitution};
use crate::apps::phylogeny::{Alignment, Patterns, Stream, Tree, jukes_cantor};
use crate::cell::{Blade, KernelTiming};
use crate::machine::Machine;
use crate::table::Source;

fn sim12() -> Rc<Patterns> {
    let source = Source::new("sim12.phy", include_str!("../../../data/sim12.phy"));
    Rc::new(Patterns::compress(&Alignment::read(&source).unwrap()))
}

fn random_tree(patterns: &Patterns) -> Tree {
    Tree::random(patterns.tips.len(), 0.1, &mut Stream::new(7, 0)).unwrap()
}

/// JC69 without variation of rates, its eigenvectors those of Hadamard's matrix.
fn jc69(rates: SiteRates) -> Model {
    let signs = [[1.0; 4], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [1.0, -1.0, -1.0, 1.0]];
    let eigen = EigenSystem {
        values: [0.0, 4.0 / 3.0, 4.0 / 3.0, 4.0 / 3.0],
        v: signs.map(|row| row.map(|sign| sign / 4.0)),
        ei: signs,
    };
    let frequencies = [0.25; 4];
    Model { substitution: Substitution { exchangeabilities: [1.0; 6], frequencies, eigen }, rates }
}

fn one_category(patterns: &Patterns) -> SiteRates {
    SiteRates::Categories { rates: vec![1.0], of_pattern: vec![0; patterns.len()] }
}

fn z(tree: &Tree, node: usize) -> f64 {
    (-tree.branch_length(node)).exp()
}

/// All vectors, towards the root; the ln likelihood seen from the branch to its first child.
async fn traverse(engine: &mut impl Engine, tree: &Tree) -> ([usize; 2], f64) {
    for node in tree.post_order() {
        let children: Vec<usize> = tree.children(node).collect();
        if let [.., one, other] = children[..] {
            let (children, z) = ([one, other], [z(tree, one), z(tree, other)]);
            engine.newview(NewView { node, children, z }).await;
        }
    }
    let first = tree.children(tree.root()).next().unwrap();
    let (ends, z) = ([first, tree.root()], z(tree, first));
    (ends, engine.evaluate(ends, z).await)
}

fn emulate<T: 'static>(
    patterns: &Rc<Patterns>,
    (p, port): (u32, Port),
    life: impl AsyncFnOnce(&mut OffloadedEngine) -> T + 'static,
) -> T {
    let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
    run_alone(&blade, (p, port), patterns, life).unwrap()
}

#[test]
fn the_likelihood_of_a_tree_under_jc69_is_that_of_the_plain_computation() {
    let patterns = sim12();
    let tree = random_tree(&patterns);
    let expected = jukes_cantor::log_likelihood(&tree, &patterns);
    let gamma = SiteRates::Gamma { alpha: 1e4, rates: [1.0; 4] };
    for rates in [one_category(&patterns), gamma] {
        for p in [1, 2, 5, 16] {
            let (tree, model) = (tree.clone(), jc69(rates.clone()));
            let found = emulate(&patterns, (p, Port::Tuned), async move |engine| {
                engine.set_model(&model).await;
                traverse(engine, &tree).await.1
            });
            assert_relative_eq!(found, expected, max_relative = 1e-12);
        }
    }
}
