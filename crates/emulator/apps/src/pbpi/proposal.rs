//! The proposals of the chain: random changes of a tree, each with the ratio that makes accepting
//! it by the rule of Metropolis and Hastings exact.
//!
//! The state space is all unrooted topologies with every branch length at least
//! [`BRANCH_FLOOR`]. A proposal that would leave it stays where it is: its tree is the old one,
//! nothing is touched, and `ln_hastings` is minus infinity, so every rule of acceptance refuses
//! it. The root never changes its index or the number of its neighbours; that costs no topology,
//! since whatever hangs from the root can be moved once something else was put above it.

#[cfg(test)]
mod tests;
mod topology;

use crate::phylogeny::{Stream, Tree};
use crate::run::require;
use mmgp_base::error::Result;

/// The least length of a branch [expected substitutions per site].
pub const BRANCH_FLOOR: f64 = 2e-6;

/// The rate of the exponential prior of branch lengths that is used where nothing else is asked
/// for: their mean is 0.1 expected substitutions per site.
pub const DEFAULT_PRIOR_RATE: f64 = 10.0;

/// The kinds of proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One branch is multiplied by exp(u - 1/2), u uniform on [0, 1).
    BranchLength,
    /// A path of three branches is multiplied by exp(u - 1/2), and one of its two inner nodes
    /// slides to a place uniform on it, past the other where that lies in its way: then the
    /// topology changes to a neighbouring one (after Larget and Simon 1999, "LOCAL").
    Backbone,
    /// One side of a branch is taken off and hangs from another place of the other side: with
    /// equal odds the subtree below a node moves elsewhere, or is itself hung by another of its
    /// branches. Together these are all subtree prunings and regraftings but those at the root.
    SubtreeRerooting,
    /// Tree bisection and reconnection: a branch is cut, and both of its ends are put on places
    /// uniform among the branches of their parts.
    TreeBisection,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] =
        [Self::BranchLength, Self::Backbone, Self::SubtreeRerooting, Self::TreeBisection];

    /// What reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BranchLength => "branch_length",
            Self::Backbone => "backbone",
            Self::SubtreeRerooting => "subtree_rerooting",
            Self::TreeBisection => "tree_bisection",
        }
    }
}

/// What the host processor did for a proposal, so that an emulated one can be charged for it. The
/// copy of the tree is not counted: a program that changes its tree in place keeps the touched
/// nodes instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostEffort {
    /// Nodes whose links or lengths were read or written, each visit counted.
    pub nodes_visited: u64,
    /// Random numbers drawn.
    pub random_draws: u64,
    /// Exponentials.
    pub exponentials: u64,
    /// Logarithms.
    pub logarithms: u64,
}

/// What the rule of acceptance and the likelihood need of a proposed tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The kind of the proposal.
    pub kind: Kind,
    /// The nodes whose conditional likelihood vectors differ from those of the old tree, each
    /// once, children before parents: the changed nodes and all their ancestors; the root is last.
    pub touched: Vec<usize>,
    /// ln of the Hastings ratio: the density of the reverse move over that of this one. Minus
    /// infinity where the proposal left the state space.
    pub ln_hastings: f64,
    /// What the host did for it.
    pub effort: HostEffort,
}

/// What a change of a tree in place reports.
#[derive(Debug)]
struct Change {
    /// Nodes whose children or their branch lengths changed; their ancestors may be left out.
    changed: Vec<usize>,
    ln_hastings: f64,
}

/// Proposes a change of a kind drawn with equal odds.
///
/// # Panics
/// The panics of [`propose`].
pub fn draw(tree: &Tree, stream: &mut Stream) -> (Tree, Proposal) {
    let kind = Kind::ALL[stream.index(Kind::ALL.len())];
    let (proposed, mut proposal) = propose(kind, tree, stream);
    proposal.effort.random_draws += 1;
    (proposed, proposal)
}

/// Proposes a change of that kind. On three taxa, which have one topology only, all but
/// [`Kind::BranchLength`] leave the state space.
///
/// # Panics
/// Panics where a branch is shorter than [`BRANCH_FLOOR`]; see [`raise_to_floor`].
pub fn propose(kind: Kind, tree: &Tree, stream: &mut Stream) -> (Tree, Proposal) {
    assert!(is_above_floor(tree), "the chain starts with every branch at the floor or above it");
    let draws_before = stream.draws();
    let mut effort = HostEffort::default();
    let mut proposed = tree.clone();
    let change = match kind {
        Kind::BranchLength => multiply_branch(&mut proposed, stream, &mut effort),
        _ if tree.taxa() == 3 => None,
        Kind::Backbone => topology::slide_backbone(&mut proposed, stream, &mut effort),
        Kind::SubtreeRerooting => topology::reroot_subtree(&mut proposed, stream, &mut effort),
        Kind::TreeBisection => topology::bisect(&mut proposed, stream, &mut effort),
    };
    effort.random_draws = stream.draws() - draws_before;
    match change {
        Some(Change { changed, ln_hastings }) => {
            let touched = touched(&proposed, &changed, &mut effort);
            (proposed, Proposal { kind, touched, ln_hastings, effort })
        }
        None => {
            let ln_hastings = f64::NEG_INFINITY;
            (tree.clone(), Proposal { kind, touched: Vec::new(), ln_hastings, effort })
        }
    }
}

/// The changed nodes and their ancestors, children before parents.
fn touched(tree: &Tree, changed: &[usize], effort: &mut HostEffort) -> Vec<usize> {
    let mut marked = vec![false; tree.nodes()];
    for &node in changed {
        let mut next = Some(node);
        while let Some(node) = next.filter(|&node| !marked[node]) {
            marked[node] = true;
            next = tree.parent(node);
        }
    }
    // The ancestors of a marked node are marked, so the marked ones hang together at the root.
    let mut order = Vec::new();
    let mut open = vec![tree.root()];
    while let Some(node) = open.pop() {
        order.push(node);
        open.extend(tree.children(node).filter(|&child| marked[child]));
    }
    order.reverse();
    effort.nodes_visited += 2 * order.len() as u64;
    order
}

/// Lengthens the branches of `tree` that are shorter than [`BRANCH_FLOOR`] to that length.
pub fn raise_to_floor(tree: &Tree) -> Tree {
    let mut raised = tree.clone();
    for node in tree.branches() {
        set_length(&mut raised, node, tree.branch_length(node).max(BRANCH_FLOOR));
    }
    raised
}

fn is_above_floor(tree: &Tree) -> bool {
    tree.branches().all(|node| tree.branch_length(node) >= BRANCH_FLOOR)
}

fn set_length(tree: &mut Tree, node: usize, length: f64) {
    tree.set_branch_length(node, length)
        .expect("invariant: proposals make positive finite lengths of nodes below the root");
}

/// The prior: all topologies are equally likely; each branch is longer than [`BRANCH_FLOOR`] by an
/// exponential amount, independent of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    rate: f64,
}

impl Prior {
    /// The prior of that rate [sites per expected substitution].
    ///
    /// # Errors
    /// `OutOfRange` for a rate that is not positive and finite, with which there is no posterior.
    pub fn new(rate: f64) -> Result<Self> {
        require(rate.is_finite() && rate > 0.0, "prior rate", rate, "a positive number")?;
        Ok(Self { rate })
    }

    /// ln of the prior density of `tree`, without the constant share of its topology; minus
    /// infinity outside the state space.
    pub fn ln_density(&self, tree: &Tree) -> f64 {
        if !is_above_floor(tree) {
            return f64::NEG_INFINITY;
        }
        // sum over branches of ln(rate exp(-rate (x - floor)))
        let ln_rate = self.rate.ln();
        let term = |node| ln_rate - self.rate * (tree.branch_length(node) - BRANCH_FLOOR);
        tree.branches().map(term).sum()
    }
}

fn multiply_branch(
    tree: &mut Tree,
    stream: &mut Stream,
    effort: &mut HostEffort,
) -> Option<Change> {
    // Any node but the root has a branch.
    let index = stream.index(tree.nodes() - 1);
    let node = if index < tree.root() { index } else { index + 1 };
    let ln_factor = stream.uniform() - 0.5;
    effort.nodes_visited += 1;
    effort.exponentials += 1;
    let (length, ln_hastings) = multiplied(tree.branch_length(node), ln_factor, effort);
    set_length(tree, node, length);
    let changed = tree.parent(node).into_iter().collect();
    Some(Change { changed, ln_hastings })
}

/// The length x' = x exp(`ln_factor`) and ln of the Hastings ratio, which is x' / x: the walk is
/// symmetric in ln x. Below the floor ln x' is reflected at it, which keeps the walk symmetric.
fn multiplied(length: f64, ln_factor: f64, effort: &mut HostEffort) -> (f64, f64) {
    let product = length * ln_factor.exp();
    if product >= BRANCH_FLOOR {
        return (product, ln_factor);
    }
    effort.logarithms += 1;
    // Rounding must not leave the reflected length below the floor.
    let reflected = (BRANCH_FLOOR * (BRANCH_FLOOR / product)).max(BRANCH_FLOOR);
    (reflected, (reflected / length).ln())
}
