//! Changes of a tree's shape that keep its invariants.

use super::Tree;

impl Tree {
    /// Subtree pruning and regrafting: takes the subtree below `pruned` off, together with its
    /// parent, whose two other branches become one, and puts it on the branch above `onto`, which
    /// the parent divides: `fraction` of it lies below.
    ///
    /// `pruned` must not be the root nor hang from it; `onto` must lie outside the subtree and be
    /// neither the root nor the parent of `pruned`. Where it is the sibling, the subtree slides
    /// along the joined branch.
    pub(crate) fn move_subtree(&mut self, pruned: usize, onto: usize, fraction: f64) {
        let stump = self.parents[pruned] as usize;
        debug_assert!(stump != self.root && onto != stump && onto != self.root);
        let above_stump = self.parents[stump] as usize;
        let sibling = self.sibling(pruned);
        let joined = self.lengths[sibling] + self.lengths[stump];
        self.replace_child(above_stump, stump, sibling, joined);

        let above_onto = self.parents[onto] as usize;
        let length = self.lengths[onto];
        self.replace_child(above_onto, onto, stump, (1.0 - fraction) * length);
        self.replace_child(stump, sibling, onto, fraction * length);
    }

    /// Reroots the subtree below `stem` on another of its branches: the two branches
    /// below `stem` become one, and `stem` divides the branch above `onto`, of which `fraction`
    /// lies below. `stem` must be an inner node other than the root, `onto` a node below it; where
    /// it is a child of `stem`, only the place on the joined branch changes.
    pub(crate) fn reroot_subtree(&mut self, stem: usize, onto: usize, fraction: f64) {
        debug_assert!(stem != self.root && onto != stem);
        if self.parents[onto] as usize == stem {
            let other = self.sibling(onto);
            let joined = self.lengths[onto] + self.lengths[other];
            self.lengths[onto] = fraction * joined;
            self.lengths[other] = (1.0 - fraction) * joined;
            return;
        }
        // The branches from above `onto` up to the child of `stem` change their direction; the
        // uppermost node takes the other child of `stem` in place of its parent.
        let first = self.parents[onto] as usize;
        let divided = self.lengths[onto];
        let (mut lost, mut node, mut above) = (onto, first, self.parents[first] as usize);
        let mut length = self.lengths[first];
        while above != stem {
            let (next, next_length) = (self.parents[above] as usize, self.lengths[above]);
            self.replace_child(node, lost, above, length);
            (lost, node, above, length) = (node, above, next, next_length);
        }
        let other = self
            .children(stem)
            .find(|&child| child != node)
            .expect("invariant: an inner node has two children or more");
        let joined = length + self.lengths[other];
        self.replace_child(node, lost, other, joined);
        self.replace_child(stem, other, onto, fraction * divided);
        self.replace_child(stem, node, first, (1.0 - fraction) * divided);
    }

    /// Swaps two subtrees with the branches above them. Neither may lie in the other.
    pub(crate) fn exchange_subtrees(&mut self, one: usize, other: usize) {
        let (above_one, above_other) = (self.parents[one] as usize, self.parents[other] as usize);
        let (length_one, length_other) = (self.lengths[one], self.lengths[other]);
        let (place_one, place_other) = (self.place(above_one, one), self.place(above_other, other));
        self.put_child(above_one, place_one, other, length_other);
        self.put_child(above_other, place_other, one, length_one);
    }

    /// The other child of the parent of `node`, which must not be the root.
    pub(crate) fn sibling(&self, node: usize) -> usize {
        let parent = self.parents[node] as usize;
        self.children(parent)
            .find(|&child| child != node)
            .expect("invariant: an inner node has two children or more")
    }

    pub(super) fn place(&self, parent: usize, child: usize) -> usize {
        let mut places = self.children[parent].iter();
        places
            .position(|&candidate| candidate as usize == child)
            .expect("invariant: a parent lists its children")
    }

    pub(super) fn put_child(&mut self, parent: usize, place: usize, child: usize, length: f64) {
        self.children[parent][place] = child as u32;
        self.parents[child] = parent as u32;
        self.lengths[child] = length;
    }

    fn replace_child(&mut self, parent: usize, old: usize, new: usize, length: f64) {
        let place = self.place(parent, old);
        self.put_child(parent, place, new, length);
    }
}
