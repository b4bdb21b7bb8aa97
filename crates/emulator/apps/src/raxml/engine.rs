//! The three functions in which RAxML spends its time, whoever computes them.

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use crate::phylogeny::Tree;
use crate::phylogeny::substitution::Model;
use mmgp_base::error::Warning;
use mmgp_cell::ppe::Work;

/// Branches are stored as z = exp(-t); t is the length [expected substitutions per site].
pub(crate) const Z_MIN: f64 = 1e-15;
/// The shortest branch.
pub(crate) const Z_MAX: f64 = 1.0 - 1e-6;

/// A call of `newview`: the vector of an inner node, seen from its third neighbour, from those of
/// two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewView {
    /// The inner node, `taxa..2 * taxa - 2`.
    pub node: usize,
    /// Two of its neighbours; tips are `0..taxa`.
    pub children: [usize; 2],
    /// The branches towards them.
    pub z: [f64; 2],
}

/// Which columns a search on resampled ones computes. Its result is the same but for rounding, as a
/// column that was not drawn has the weight 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Columns {
    /// All of the alignment, as programs do whose loops run over its patterns.
    #[default]
    All,
    /// Columns that were drawn.
    Drawn,
}

impl Columns {
    /// The indices of the patterns that are computed.
    pub(super) fn of(self, weights: &[u32]) -> Vec<usize> {
        (0..weights.len()).filter(|&index| self == Self::All || weights[index] > 0).collect()
    }
}

/// Computes likelihoods. It keeps one vector for each inner node; which of the three directions it
/// looks in, and whether it is up to date, is the caller's business.
#[allow(async_fn_in_trait)] // Everything runs on one thread.
pub trait Engine {
    /// Weights of the patterns from now on, and which of them are computed. All vectors become
    /// invalid.
    async fn set_weights(&mut self, weights: &[u32], columns: Columns);

    /// The model from now on. All vectors become invalid.
    async fn set_model(&mut self, model: &Model);

    /// Computes the vector of an inner node.
    async fn newview(&mut self, call: NewView);

    /// ln likelihood of the tree, seen from the branch between `ends`.
    async fn evaluate(&mut self, ends: [usize; 2], z: f64) -> f64;

    /// ln likelihood of every pattern, weights left out (those of weight 0: unspecified).
    async fn evaluate_patterns(&mut self, ends: [usize; 2], z: f64) -> Vec<f64>;

    /// The z of the branch between `ends` after at most `steps` steps of Newton's method from `z`.
    async fn makenewz(&mut self, ends: [usize; 2], z: f64, steps: u32) -> f64;

    /// Host code that the caller ran since the last call.
    async fn work(&mut self, work: Work);
}

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
