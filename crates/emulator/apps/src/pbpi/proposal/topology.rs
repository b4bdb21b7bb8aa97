//! Proposals that may change the topology: one of the nodes between three consecutive branches slides,
//! or subtrees are pruned and regrafted.
//!
//! Both proposals by pruning and regrafting put a node on a branch at a place uniform along it, and join
//! the two branches where it was. With the length m of the joined branch and the length l of the divided one, the
//! place has the density 1/l on the way there and 1/m on the way back, so the Hastings ratio is
//! l/m. The choices of nodes and branches are from as many on the way back.

use super::{BRANCH_FLOOR, Change, HostEffort, set_length};
use crate::phylogeny::{Stream, Tree};

/// A path a - u - v - c around an inner branch u - v, with what else hangs from u and v:
///
/// ```text
///        b     d
///        |     |
///   a -- u --- v -- c
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Backbone {
    /// v: an inner node; its parent is u.
    pub lower: usize,
    /// a: a neighbour of u other than v, perhaps its parent.
    pub upper_end: usize,
    /// b: the third neighbour of u.
    pub upper_side: usize,
    /// c: a child of v.
    pub lower_end: usize,
    /// d: the other child of v.
    pub lower_side: usize,
}

/// Which of the two inner nodes of a backbone slides; the other keeps its share of the length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Slider {
    Upper,
    Lower,
}

impl Backbone {
    /// Around the branch above the inner node `lower`, with that one of the two ends on each side.
    pub fn new(tree: &Tree, lower: usize, upper_choice: usize, lower_choice: usize) -> Self {
        let upper = tree.parent(lower).expect("invariant: the lower node is not the root");
        let others: Vec<usize> = tree
            .children(upper)
            .filter(|&child| child != lower)
            .chain(tree.parent(upper))
            .collect();
        let children: Vec<usize> = tree.children(lower).collect();
        Self {
            lower,
            upper_end: others[upper_choice],
            upper_side: others[1 - upper_choice],
            lower_end: children[lower_choice],
            lower_side: children[1 - lower_choice],
        }
    }

    /// The nodes that the lengths of a - u, u - v and v - c belong to.
    pub fn branches(&self, tree: &Tree) -> [usize; 3] {
        let upper = tree.parent(self.lower).expect("invariant: the lower node is not the root");
        let first = if tree.parent(upper) == Some(self.upper_end) { upper } else { self.upper_end };
        [first, self.lower, self.lower_end]
    }

    /// Multiplies the path by exp(`ln_scale`) and puts the slider at the share `place` of it, seen
    /// from a. Gives ln of the Hastings ratio, or nothing where a branch would be too short.
    pub fn slide_and_scale(
        &self,
        tree: &mut Tree,
        ln_scale: f64,
        slider: Slider,
        place: f64,
    ) -> Option<f64> {
        let [first, middle, last] = self.branches(tree).map(|node| tree.branch_length(node));
        let scale = ln_scale.exp();
        let length = (first + middle + last) * scale;
        let (upper_place, lower_place) = match slider {
            Slider::Upper => (place * length, (first + middle) * scale),
            Slider::Lower => (first * scale, place * length),
        };
        let nearer = upper_place.min(lower_place);
        let farther = upper_place.max(lower_place);
        let lengths = [nearer, farther - nearer, length - farther];
        if lengths.iter().any(|&length| length < BRANCH_FLOOR) {
            return None;
        }
        let branches = self.branches(tree);
        if upper_place > lower_place {
            self.exchange(tree);
        }
        for (branch, length) in branches.into_iter().zip(lengths) {
            set_length(tree, branch, length);
        }
        // With s the scale, the length m, the place y of the node that keeps its share and the
        // place x of the slider: m' = s m and y' = s y, ds'/s' = -ds/s; x' is uniform on m', and
        // x was uniform on m. The ratio is s * s * (m'/m) = s^3 (Holder et al. 2005).
        Some(3.0 * ln_scale)
    }

    /// Lets u and v change places on the path. Seen from the other side this swaps what hangs
    /// from them (b and d), or else the two ends (a and c); of the two, the one is done that
    /// leaves the parent of u alone.
    fn exchange(&self, tree: &mut Tree) {
        let upper = tree.parent(self.lower);
        if upper.and_then(|upper| tree.parent(upper)) == Some(self.upper_side) {
            tree.exchange_subtrees(self.upper_end, self.lower_end);
        } else {
            tree.exchange_subtrees(self.upper_side, self.lower_side);
        }
    }
}

pub(super) fn slide_backbone(
    tree: &mut Tree,
    stream: &mut Stream,
    effort: &mut HostEffort,
) -> Option<Change> {
    let lower = inner_below_root(tree, stream);
    let backbone = Backbone::new(tree, lower, stream.index(2), stream.index(2));
    let ln_scale = stream.uniform() - 0.5;
    let slider = [Slider::Upper, Slider::Lower][stream.index(2)];
    let place = stream.uniform();
    // u, v and their four neighbours.
    effort.nodes_visited += 6;
    effort.exponentials += 1;
    let ln_hastings = backbone.slide_and_scale(tree, ln_scale, slider, place)?;
    // Where a is the parent of u its branch to u changed too, but it is an ancestor of v.
    Some(Change { changed: vec![lower], ln_hastings })
}

/// An inner node other than the root, each equally likely; at least 4 taxa.
pub(super) fn inner_below_root(tree: &Tree, stream: &mut Stream) -> usize {
    let node = tree.taxa() + stream.index(tree.taxa() - 3);
    if node < tree.root() { node } else { node + 1 }
}

/// Random subtree re-rooting: see [`super::Kind::SubtreeRerooting`].
pub(super) fn reroot_subtree(
    tree: &mut Tree,
    stream: &mut Stream,
    effort: &mut HostEffort,
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
pub(super) fn bisect(
    tree: &mut Tree,
    stream: &mut Stream,
    effort: &mut HostEffort,
) -> Option<Change> {
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
fn movable(tree: &Tree, stream: &mut Stream, effort: &mut HostEffort) -> usize {
    let mut excluded: Vec<usize> = tree.children(tree.root()).chain([tree.root()]).collect();
    excluded.sort_unstable();
    effort.nodes_visited += excluded.len() as u64;
    let index = stream.index(tree.nodes() - excluded.len());
    excluded.into_iter().fold(index, |node, excluded| node + usize::from(node >= excluded))
}

/// The branches of what remains without the subtree below `pruned`, once the two branches at its
/// parent are joined; the joined one is represented by the sibling. Their number depends on the
/// size of the subtree only.
fn outside(tree: &Tree, pruned: usize, effort: &mut HostEffort) -> Vec<usize> {
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
fn inside(tree: &Tree, stem: usize, effort: &mut HostEffort) -> Vec<usize> {
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

/// The new place of a subtree.
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
    pub fn carry(self, tree: &mut Tree, effort: &mut HostEffort) -> Option<(Vec<usize>, f64)> {
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
    pub fn reroot(self, tree: &mut Tree, effort: &mut HostEffort) -> Option<(Vec<usize>, f64)> {
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
