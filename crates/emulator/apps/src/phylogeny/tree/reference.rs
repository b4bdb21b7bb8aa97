//! What tests ask of trees: which topology one has, told plainly, and to hang it elsewhere.

use super::{NOBODY, Tree};

impl Tree {
    /// The unrooted topology as the set of its inner branches, each by the tips on the side
    /// without tip 0, sorted: equal for two trees exactly where their topologies are.
    pub(crate) fn splits(&self) -> Vec<Vec<usize>> {
        let mut tips: Vec<Vec<usize>> = (0..self.nodes()).map(|_| Vec::new()).collect();
        let mut splits = Vec::new();
        for node in self.post_order() {
            if node < self.taxa {
                tips[node] = vec![node];
                continue;
            }
            let mut below: Vec<usize> =
                self.children(node).flat_map(|child| tips[child].clone()).collect();
            below.sort_unstable();
            if node != self.root {
                splits.push(match below.first() {
                    Some(0) => (0..self.taxa).filter(|t| below.binary_search(t).is_err()).collect(),
                    _ => below.clone(),
                });
            }
            tips[node] = below;
        }
        splits.sort_unstable();
        splits
    }

    /// Hangs the tree from another inner node; the unrooted tree stays what it is.
    ///
    /// # Panics
    /// Panics where `root` is not an inner node.
    pub(crate) fn rehang(&mut self, root: usize) {
        assert!((self.taxa..self.nodes()).contains(&root), "a tree hangs from an inner node");
        // Each branch between the new root and the old one changes its direction: the upper node
        // loses a child and gains the lower one as its parent.
        let mut lower = root;
        let mut parent_of_lower = self.parent(root);
        let mut length = self.lengths[root];
        while let Some(upper) = parent_of_lower {
            parent_of_lower = self.parent(upper);
            let next_length = self.lengths[upper];
            self.remove_child(upper, lower);
            self.add_child(lower, upper, length);
            (lower, length) = (upper, next_length);
        }
        self.root = root;
        self.parents[root] = NOBODY;
        self.lengths[root] = 0.0;
    }

    fn add_child(&mut self, parent: usize, child: usize, length: f64) {
        let place = self.children(parent).len();
        self.put_child(parent, place, child, length);
    }

    fn remove_child(&mut self, parent: usize, child: usize) {
        let place = self.place(parent, child);
        self.children[parent][place..].rotate_left(1);
        self.children[parent][2] = NOBODY;
    }
}
