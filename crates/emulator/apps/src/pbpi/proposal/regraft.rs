//! Pruning and regrafting of subtrees.
//!
//! Both proposals put a node on a branch at a place uniform along it, and join the two branches
//! where it was. With the length m of the joined branch and the length l of the divided one, the
//! place has the density 1/l on the way there and 1/m on the way back, so the Hastings ratio is
//! l/m. The choices of nodes and branches are from as many on the way back.

use super::backbone::inner_below_root;
use super::{BRANCH_FLOOR, Change, Effort};
use crate::phylogeny::{Stream, Tree};

/// Random subtree re-rooting: see [`super::Kind::SubtreeRerooting`].
pub(super) fn reroot_subtree(
    tree: &mut Tree,
    stream: &mut Stream,
    effort: &mut Effort,
) -> Option<Change> {
    let (changed, ratio) = if stream.index(2) == 0 {
        let pruned = movable(tree, stream, effort);
        let sibling = tree.sibling(pruned);
        let targets = outside(tree, pruned, effort).into_iter().filter(|&t| t != sibling);
        elsewhere(pruned, targets.collect(), stream)?.carry(tree, effort)?
    } else {
        let stem = inner_below_root(tree, stream);
        let targets = inside(tree, stem, effort).into_iter();
        let targets = targets.filter(|&target| tree.parent(target) != Some(stem));
        elsewhere(stem, targets.collect(), stream)?.reroot(tree, effort)?
    };
    effort.logarithms += 1;
    Some(Change { changed, ln_hastings: ratio.ln() })
}

/// Tree bisection and reconnection: see [`super::Kind::TreeBisection`].
pub(super) fn bisect(tree: &mut Tree, stream: &mut Stream, effort: &mut Effort) -> Option<Change> {
    let moved = movable(tree, stream, effort);
    let mut changed = Vec::new();
    let mut ratio = 1.0;
    if moved >= tree.taxa() {
        let targets = inside(tree, moved, effort);
        let graft = elsewhere(moved, targets, stream)?;
        let (rerooted, factor) = graft.reroot(tree, effort)?;
        changed.extend(rerooted);
        ratio *= factor;
    }
    let targets = outside(tree, moved, effort);
    let graft = elsewhere(moved, targets, stream)?;
    let (carried, factor) = graft.carry(tree, effort)?;
    changed.extend(carried);
    ratio *= factor;
    effort.logarithms += 1;
    Some(Change { changed, ln_hastings: ratio.ln() })
}

/// A node that does not hang from the root, each equally likely: 2 * taxa - 6 of them, at least 4
/// taxa.
fn movable(tree: &Tree, stream: &mut Stream, effort: &mut Effort) -> usize {
    let mut excluded: Vec<usize> = tree.children(tree.root()).chain([tree.root()]).collect();
    excluded.sort_unstable();
    effort.nodes_visited += excluded.len() as u64;
    let index = stream.index(tree.nodes() - excluded.len());
    excluded.into_iter().fold(index, |node, excluded| node + usize::from(node >= excluded))
}

/// The branches of what remains without the subtree below `pruned`, once the two branches at its
/// parent are joined; the joined one is represented by the sibling. Their number depends on the
/// size of the subtree only.
fn outside(tree: &Tree, pruned: usize, effort: &mut Effort) -> Vec<usize> {
    let subtree = tree.below(pruned);
    let mut excluded = vec![false; tree.nodes()];
    subtree.iter().for_each(|&node| excluded[node] = true);
    effort.nodes_visited += (subtree.len() + tree.nodes()) as u64;
    let parent = tree.parent(pruned);
    tree.branches().filter(|&node| !excluded[node] && Some(node) != parent).collect()
}

/// The branches of the subtree below `stem`, once the two branches at `stem` are joined; the
/// joined one is represented by the first child. Their number depends on the size of the subtree
/// only.
fn inside(tree: &Tree, stem: usize, effort: &mut Effort) -> Vec<usize> {
    let below = tree.below(stem);
    effort.nodes_visited += below.len() as u64;
    let second = tree.children(stem).nth(1);
    below.into_iter().skip(1).filter(|&node| Some(node) != second).collect()
}

/// One of the targets, and a place on it; nothing where there is no target.
fn elsewhere(moved: usize, targets: Vec<usize>, stream: &mut Stream) -> Option<Graft> {
    if targets.is_empty() {
        return None;
    }
    let onto = targets[stream.index(targets.len())];
    Some(Graft { moved, onto, fraction: stream.uniform() })
}

/// Where a subtree goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Graft {
    /// The node above which the branch to the rest begins.
    pub moved: usize,
    /// The lower node of the branch that is divided.
    pub onto: usize,
    /// The share of that branch that lies below the division.
    pub fraction: f64,
}

impl Graft {
    /// Carries the subtree below the moved node to a branch outside it. Gives the changed nodes
    /// and the ratio of the divided to the joined length, or nothing where a branch would be too
    /// short.
    pub fn carry(self, tree: &mut Tree, effort: &mut Effort) -> Option<(Vec<usize>, f64)> {
        let invariant = "invariant: a movable node has a parent and a grandparent";
        let parent = tree.parent(self.moved).expect(invariant);
        let grandparent = tree.parent(parent).expect(invariant);
        let sibling = tree.sibling(self.moved);
        let joined = tree.branch_length(sibling) + tree.branch_length(parent);
        let slides = self.onto == sibling;
        let divided = if slides { joined } else { tree.branch_length(self.onto) };
        self.check_floor(divided)?;
        tree.move_subtree(self.moved, self.onto, self.fraction);
        // The node, its parent, its sibling, and those at both places.
        effort.nodes_visited += 6;
        Some((vec![grandparent, parent], divided / joined))
    }

    /// Hangs the subtree below the moved node by another of its branches; gives the same as
    /// [`Self::carry`].
    pub fn reroot(self, tree: &mut Tree, effort: &mut Effort) -> Option<(Vec<usize>, f64)> {
        let joined: f64 = tree.children(self.moved).map(|child| tree.branch_length(child)).sum();
        let mut uppermost = self.onto;
        while let Some(parent) = tree.parent(uppermost).filter(|&parent| parent != self.moved) {
            uppermost = parent;
            effort.nodes_visited += 1;
        }
        let slides = uppermost == self.onto;
        let divided = if slides { joined } else { tree.branch_length(self.onto) };
        self.check_floor(divided)?;
        tree.reroot_subtree(self.moved, self.onto, self.fraction);
        effort.nodes_visited += 4;
        // The path between the two places turned around, so its uppermost node is now the lowest.
        Some((vec![if slides { self.moved } else { uppermost }], divided / joined))
    }

    fn check_floor(&self, divided: f64) -> Option<()> {
        let shorter = self.fraction.min(1.0 - self.fraction) * divided;
        (shorter >= BRANCH_FLOOR).then_some(())
    }
}
