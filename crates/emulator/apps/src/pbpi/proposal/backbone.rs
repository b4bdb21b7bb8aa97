//! Three consecutive branches are scaled, and one of the nodes between them slides.

use super::{BRANCH_FLOOR, Change, Effort, set_length};
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

pub(super) fn propose(tree: &mut Tree, stream: &mut Stream, effort: &mut Effort) -> Option<Change> {
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
