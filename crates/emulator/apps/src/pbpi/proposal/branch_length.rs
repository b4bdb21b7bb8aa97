//! One branch becomes longer or shorter.

use super::{BRANCH_FLOOR, Change, Effort, set_length};
use crate::phylogeny::{Stream, Tree};

pub(super) fn propose(tree: &mut Tree, stream: &mut Stream, effort: &mut Effort) -> Option<Change> {
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
pub(super) fn multiplied(length: f64, ln_factor: f64, effort: &mut Effort) -> (f64, f64) {
    let product = length * ln_factor.exp();
    if product >= BRANCH_FLOOR {
        return (product, ln_factor);
    }
    effort.logarithms += 1;
    // Rounding must not leave the reflected length below the floor.
    let reflected = (BRANCH_FLOOR * (BRANCH_FLOOR / product)).max(BRANCH_FLOOR);
    (reflected, (reflected / length).ln())
}
