//! The likelihood of a tree as it is given, without a search.

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use super::engine::{Engine, NewView};
use crate::phylogeny::Tree;
use crate::phylogeny::substitution::Model;
use mmgp_base::error::Warning;

/// The lengths of a branch that z = exp(-t) tells apart [expected substitutions per site]. Below,
/// 1 - z has lost half of its digits; above, z leaves the range of doubles.
pub const LENGTHS: RangeInclusive<f64> = 1e-10..=690.0;

/// The branch that an evaluation looks at the tree from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The ends of the branch; all vectors look towards them.
    pub ends: [usize; 2],
    /// The length of the branch.
    pub z: f64,
}

/// z = exp(-t) of a branch; a length t outside [`LENGTHS`] counts as the nearest one within.
pub(crate) fn z_of(length: f64) -> f64 {
    (-length.clamp(*LENGTHS.start(), *LENGTHS.end())).exp()
}

/// What to say of a tree whose branches leave [`LENGTHS`].
pub fn warnings(tree: &Tree) -> Vec<Warning> {
    let count = |is_beyond: &dyn Fn(f64) -> bool| {
        tree.branches().filter(|&node| is_beyond(tree.branch_length(node))).count()
    };
    let (least, most) = (*LENGTHS.start(), *LENGTHS.end());
    let warning = |count: usize, beyond: &str, limit: f64| {
        let branches = if count == 1 { "1 branch".into() } else { format!("{count} branches") };
        let text = format!("{branches} {beyond} than {limit:e} taken as {limit:e}");
        (count > 0).then_some(Warning::Note(text))
    };
    let short = warning(count(&|length| length < least), "shorter", least);
    let long = warning(count(&|length| length > most), "longer", most);
    short.into_iter().chain(long).collect()
}

/// Gives the engine a model and all vectors of a tree, each read once; the branch to evaluate at is
/// the one between the root and its third child.
pub async fn update(engine: &mut impl Engine, tree: &Tree, model: &Model) -> View {
    engine.set_model(model).await;
    let z = |node: usize| z_of(tree.branch_length(node));
    for node in tree.post_order().into_iter().filter(|&node| node >= tree.taxa()) {
        let mut below = tree.children(node);
        let mut next = || below.next().expect("invariant: an inner node has two children or more");
        let children = [next(), next()];
        engine.newview(NewView { node, children, z: children.map(z) }).await;
    }
    let root = tree.root();
    let third = tree.children(root).last().expect("invariant: the root has three children");
    View { ends: [third, root], z: z(third) }
}
