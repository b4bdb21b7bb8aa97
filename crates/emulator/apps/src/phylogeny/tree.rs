//! Unrooted binary trees, held as arrays and hanging from one of their inner nodes.

use super::simulate::Stream;
use mmgp_base::error::{Error, Result};

/// Stands for a parent or a child that a node does not have.
const NOBODY: u32 = u32::MAX;

/// An unrooted binary tree of `taxa` >= 3 tips.
///
/// Invariants, which [`Tree::check`] verifies:
/// * nodes `0..taxa` are the tips, `taxa..2 * taxa - 2` the inner nodes;
/// * the tree hangs from its `root`, an inner node that has three children and no parent;
///   every other inner node has two children and a parent, a tip has a parent only;
/// * each of the `2 * taxa - 3` branches belongs to the node at its lower end and has a finite
///   length of 0 or more [expected substitutions per site].
///
/// Where it hangs has no meaning for likelihoods under reversible models.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    taxa: usize,
    root: usize,
    parents: Vec<u32>,
    children: Vec<[u32; 3]>,
    lengths: Vec<f64>,
}

/// A branch by its two ends and its length [expected substitutions per site].
pub(crate) type Edge = (usize, usize, f64);

impl Tree {
    /// Builds a tree from its branches, whose direction does not matter, and hangs it from the
    /// inner node `root`. Children come in the order of the branches.
    ///
    /// # Errors
    /// `OutOfRange` where the branches break an invariant of [`Tree`].
    pub(crate) fn from_branches(taxa: usize, branches: &[Edge], root: usize) -> Result<Self> {
        if taxa < 3 {
            return Err(invalid(format!("{taxa} taxa"), "at least 3"));
        }
        let nodes = 2 * taxa - 2;
        if branches.len() != nodes - 1 {
            let found = format!("{} branches", branches.len());
            return Err(invalid(found, format!("{} for {taxa} taxa", nodes - 1)));
        }
        if !(taxa..nodes).contains(&root) {
            return Err(invalid(format!("the root {root}"), "an inner node"));
        }
        let mut neighbours: Vec<Vec<(usize, f64)>> = vec![Vec::new(); nodes];
        for &(one, other, length) in branches {
            if one >= nodes || other >= nodes {
                let found = format!("a branch between {one} and {other}");
                return Err(invalid(found, format!("nodes below {nodes}")));
            }
            neighbours[one].push((other, length));
            neighbours[other].push((one, length));
        }
        for (node, around) in neighbours.iter().enumerate() {
            let right = if node < taxa { 1 } else { 3 };
            if around.len() != right {
                let found = format!("{} branches at node {node}", around.len());
                return Err(invalid(found, right.to_string()));
            }
        }
        let mut tree = Self {
            taxa,
            root,
            parents: vec![NOBODY; nodes],
            children: vec![[NOBODY; 3]; nodes],
            lengths: vec![0.0; nodes],
        };
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let parent = tree.parents[node];
            let below = neighbours[node].iter().filter(|(other, _)| *other as u32 != parent);
            for (place, &(child, length)) in below.enumerate() {
                tree.children[node][place] = child as u32;
                // A node that already hangs somewhere, the root included, closes a cycle.
                if child == root || tree.parents[child] != NOBODY {
                    return Err(invalid(format!("a cycle through node {child}"), "a tree"));
                }
                tree.parents[child] = node as u32;
                tree.lengths[child] = length;
                open.push(child);
            }
        }
        tree.check()?;
        Ok(tree)
    }

    /// A random tree: every unrooted topology is equally likely, since each tip in turn is put on
    /// a branch drawn from all that are there; branch lengths are exponential.
    ///
    /// # Errors
    /// `OutOfRange` for fewer than 3 taxa, or a `mean_branch_length` that is not positive.
    pub(crate) fn random(
        taxa: usize,
        mean_branch_length: f64,
        stream: &mut Stream,
    ) -> Result<Self> {
        if taxa < 3 {
            return Err(invalid(format!("{taxa} taxa"), "at least 3"));
        }
        if !(mean_branch_length.is_finite() && mean_branch_length > 0.0) {
            let found = format!("the mean branch length {mean_branch_length}");
            return Err(invalid(found, "a positive number"));
        }
        let root = taxa;
        let mut branches: Vec<Edge> = (0..3).map(|tip| (root, tip, 0.0)).collect();
        for tip in 3..taxa {
            let inserted = taxa + tip - 2;
            let split = stream.index(branches.len());
            let (upper, lower, _) = branches[split];
            branches[split] = (upper, inserted, 0.0);
            branches.push((inserted, lower, 0.0));
            branches.push((inserted, tip, 0.0));
        }
        for branch in &mut branches {
            branch.2 = stream.exponential(mean_branch_length);
        }
        Self::from_branches(taxa, &branches, root)
    }

    /// Number of tips, at least 3.
    pub fn taxa(&self) -> usize {
        self.taxa
    }

    /// Number of nodes, tips included: `2 * taxa - 2`.
    pub(crate) fn nodes(&self) -> usize {
        self.parents.len()
    }

    /// The inner node that the tree hangs from.
    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// The neighbour towards the root; none for the root.
    pub(crate) fn parent(&self, node: usize) -> Option<usize> {
        Some(self.parents[node] as usize).filter(|_| node != self.root)
    }

    /// The neighbours away from the root: none for a tip, three for the root, else two.
    pub(crate) fn children(
        &self,
        node: usize,
    ) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator {
        let count = self.children[node].partition_point(|&child| child != NOBODY);
        self.children[node][..count].iter().map(|&child| child as usize)
    }

    /// Length of the branch between a node and its parent [expected substitutions per site];
    /// 0 for the root.
    pub fn branch_length(&self, node: usize) -> f64 {
        self.lengths[node]
    }

    /// Changes the length of the branch between `node`, not the root, and its parent.
    ///
    /// # Errors
    /// `OutOfRange` for the root, and for a length that is negative or not finite.
    pub(crate) fn set_branch_length(&mut self, node: usize, length: f64) -> Result<()> {
        if node == self.root || !is_length(length) {
            let found = format!("the length {length} for the branch of node {node}");
            return Err(invalid(found, "a finite length of 0 or more below the root"));
        }
        self.lengths[node] = length;
        Ok(())
    }

    /// Every node that has a branch to a parent, so all but the root, by index.
    pub fn branches(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes()).filter(|&node| node != self.root)
    }

    /// `node` and all below it, parents before children, children in their order.
    pub(crate) fn below(&self, node: usize) -> Vec<usize> {
        let mut order = Vec::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            order.push(node);
            open.extend(self.children(node).rev());
        }
        order
    }

    /// All nodes, children before parents; the root is last.
    pub(crate) fn post_order(&self) -> Vec<usize> {
        let mut order = self.below(self.root);
        order.reverse();
        order
    }

    /// Verifies the invariants of [`Tree`].
    ///
    /// # Errors
    /// `OutOfRange` that names the first one broken.
    pub fn check(&self) -> Result<()> {
        if self.taxa < 3 || self.nodes() != 2 * self.taxa - 2 || self.root < self.taxa {
            let found = format!("{} nodes hanging from node {}", self.nodes(), self.root);
            return Err(invalid(found, format!("{} taxa and an inner root", self.taxa)));
        }
        let mut reached = vec![false; self.nodes()];
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut reached[node], true) {
                return Err(invalid(format!("two ways to node {node}"), "one"));
            }
            let right = match node {
                tip if tip < self.taxa => 0,
                root if root == self.root => 3,
                _ => 2,
            };
            if self.children(node).len() != right {
                let found = format!("{} children of node {node}", self.children(node).len());
                return Err(invalid(found, right.to_string()));
            }
            if !is_length(self.lengths[node]) {
                let found = format!("the length {} at node {node}", self.lengths[node]);
                return Err(invalid(found, "a finite length of 0 or more"));
            }
            for child in self.children(node) {
                if self.parent(child) != Some(node) {
                    let found = format!("node {child} below {node} under another parent");
                    return Err(invalid(found, "the same parent"));
                }
                open.push(child);
            }
        }
        match reached.iter().position(|reached| !reached) {
            Some(lost) => Err(invalid(format!("node {lost} apart"), "one connected tree")),
            None => Ok(()),
        }
    }
}

fn is_length(length: f64) -> bool {
    length.is_finite() && length >= 0.0
}

fn invalid(found: String, expected: impl Into<String>) -> Error {
    Error::out_of_range("tree", found, expected)
}

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

    fn place(&self, parent: usize, child: usize) -> usize {
        let mut places = self.children[parent].iter();
        places
            .position(|&candidate| candidate as usize == child)
            .expect("invariant: a parent lists its children")
    }

    fn put_child(&mut self, parent: usize, place: usize, child: usize, length: f64) {
        self.children[parent][place] = child as u32;
        self.parents[child] = parent as u32;
        self.lengths[child] = length;
    }

    fn replace_child(&mut self, parent: usize, old: usize, new: usize, length: f64) {
        let place = self.place(parent, old);
        self.put_child(parent, place, new, length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// What tests ask of trees: which topology one has, told plainly, and to hang it elsewhere.
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
                        Some(0) => {
                            (0..self.taxa).filter(|t| below.binary_search(t).is_err()).collect()
                        }
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

    /// ((0,1)5,2,3)4 with lengths by node.
    fn quartet() -> Vec<Edge> {
        vec![(4, 5, 0.5), (5, 0, 0.1), (5, 1, 0.2), (4, 2, 0.3), (4, 3, 0.4)]
    }

    #[test]
    fn a_tree_hangs_from_the_node_asked_for() {
        let tree = Tree::from_branches(4, &quartet(), 5).unwrap();
        assert_eq!(tree.children(5).collect::<Vec<_>>(), [4, 0, 1]);
        assert_eq!(tree.children(4).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(tree.parent(4), Some(5));
        assert_eq!(tree.branch_length(4), 0.5);
        assert_eq!(tree.post_order(), [1, 0, 3, 2, 4, 5]);
    }

    fn check_refused(taxa: usize, branches: &[Edge], root: usize, message: &str) {
        let error = Tree::from_branches(taxa, branches, root).expect_err("must be refused");
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn branches_that_are_no_binary_tree_are_refused() {
        let changed = |index: usize, branch: Edge| {
            let mut branches = quartet();
            branches[index] = branch;
            branches
        };
        check_refused(2, &[], 2, "tree: found 2 taxa, expected at least 3");
        check_refused(4, &quartet()[1..], 4, "tree: found 4 branches, expected 5 for 4 taxa");
        check_refused(4, &quartet(), 3, "tree: found the root 3, expected an inner node");
        check_refused(
            4,
            &changed(4, (5, 3, 0.4)),
            4,
            "tree: found 2 branches at node 4, expected 3",
        );
        check_refused(
            4,
            &changed(0, (4, 5, -0.5)),
            4,
            "tree: found the length -0.5 at node 5, expected a finite length of 0 or more",
        );
        // Six taxa: a ring of the inner nodes 6, 7 and 8, and a star around 9 apart from it.
        let ring = [
            (6, 7, 0.1),
            (7, 8, 0.1),
            (8, 6, 0.1),
            (6, 0, 0.1),
            (7, 1, 0.1),
            (8, 2, 0.1),
            (9, 3, 0.1),
            (9, 4, 0.1),
            (9, 5, 0.1),
        ];
        check_refused(6, &ring, 6, "tree: found a cycle through node 7, expected a tree");
        check_refused(6, &ring, 9, "tree: found node 0 apart, expected one connected tree");
    }

    #[test]
    fn random_trees_of_five_taxa_have_each_of_the_15_topologies_equally_often() {
        let mut stream = Stream::new(5, 0);
        let mut counts = BTreeMap::new();
        let trees = 15_000;
        for _ in 0..trees {
            let tree = Tree::random(5, 0.1, &mut stream).unwrap();
            *counts.entry(tree.splits()).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 15);
        let standard_error = (f64::from(trees) * (1.0 / 15.0) * (14.0 / 15.0)).sqrt();
        for count in counts.values() {
            let difference = f64::from(*count) - f64::from(trees) / 15.0;
            assert!(difference.abs() < 4.0 * standard_error, "{counts:?}");
        }
    }
}
