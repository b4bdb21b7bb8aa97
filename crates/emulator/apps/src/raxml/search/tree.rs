//! The tree that a search works on: neighbours, branches, and where each likelihood vector looks.
//!
//! An inner node has one likelihood vector. It *looks at* one of the three neighbours and
//! summarises the two subtrees behind the node, as seen from there. Invariant: where the vector of
//! a node is valid, so is every inner vector of the subtrees that it summarises, and each of them
//! looks towards it. So all vectors that a branch goes into lie on one path that begins at the
//! branch, and a change of the branch makes just these invalid.

use crate::phylogeny::Tree;
use crate::phylogeny::tree::Edge;
use crate::raxml::engine::{NewView, Z_MAX, Z_MIN};
use mmgp_base::error::Result;

/// The z that a branch has before anything is known about it.
pub const Z_START: f64 = 0.9;

/// An unrooted binary tree of at least 3 tips, `0..taxa`; inner nodes, `taxa..2 * taxa - 2`, have
/// three neighbours. Some inner nodes and tips may be apart from it, without neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchTree {
    taxa: usize,
    links: Vec<Vec<Link>>,
    /// The neighbour that the vector of each node looks at; none where there is no valid one.
    looks: Vec<Option<usize>>,
}

/// A branch, from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    to: usize,
    z: f64,
}

impl SearchTree {
    /// No branches yet.
    pub fn scattered(taxa: usize) -> Self {
        let nodes = 2 * taxa - 2;
        Self { taxa, links: vec![Vec::new(); nodes], looks: vec![None; nodes] }
    }

    /// The same tree with z = exp(-length) on each branch, within the bounds of z.
    pub fn from_tree(tree: &Tree) -> Self {
        let mut own = Self::scattered(tree.taxa());
        for node in tree.branches() {
            let parent = tree.parent(node).expect("invariant: a branch has an upper end");
            own.link(node, parent, (-tree.branch_length(node)).exp());
        }
        own
    }

    /// The same tree with lengths -ln z, hanging from the neighbour of the first tip.
    ///
    /// # Errors
    /// `OutOfRange` where a node stands apart.
    pub fn to_tree(&self) -> Result<Tree> {
        let lengths = self.branches().into_iter().map(|(one, other)| {
            let length: Edge = (one, other, -self.z(one, other).ln());
            length
        });
        let root = self.links[0].first().map_or(self.taxa, |link| link.to);
        Tree::from_branches(self.taxa, &lengths.collect::<Vec<_>>(), root)
    }

    /// Number of tips, those apart included.
    pub fn taxa(&self) -> usize {
        self.taxa
    }

    /// Number of nodes, `2 * taxa - 2`.
    pub fn nodes(&self) -> usize {
        self.links.len()
    }

    /// Whether a node is a tip.
    pub fn is_tip(&self, node: usize) -> bool {
        node < self.taxa
    }

    /// The nodes that a node has branches to.
    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.links[node].iter().map(|link| link.to)
    }

    /// Whether there is a branch between two nodes.
    pub fn are_neighbours(&self, one: usize, other: usize) -> bool {
        self.neighbours(one).any(|node| node == other)
    }

    /// The two neighbours of an inner node other than `away`, which is one.
    pub fn beyond(&self, node: usize, away: usize) -> [usize; 2] {
        let mut others = self.neighbours(node).filter(|&other| other != away);
        let mut next = || others.next().expect("invariant: an inner node has three neighbours");
        [next(), next()]
    }

    /// The z of the branch between two neighbours.
    pub fn z(&self, one: usize, other: usize) -> f64 {
        self.links[one][self.place(one, other)].z
    }

    /// Changes the z of a branch.
    pub fn set_z(&mut self, one: usize, other: usize, z: f64) {
        for (from, to) in [(one, other), (other, one)] {
            let place = self.place(from, to);
            self.links[from][place].z = z;
            self.forget_along(from, to);
        }
    }

    /// The branch of the first tip that has one.
    ///
    /// # Panics
    /// Panics where no tip has one.
    pub fn first_branch(&self) -> [usize; 2] {
        let start = (0..self.taxa).find(|&tip| !self.links[tip].is_empty());
        let start = start.expect("invariant: a tree has branches");
        [start, self.links[start][0].to]
    }

    /// All branches that hang together with the first, each from its end that is met first by a
    /// walk from there.
    pub fn branches(&self) -> Vec<(usize, usize)> {
        let [start, next] = self.first_branch();
        self.branches_from(start, next)
    }

    /// The branch between two neighbours and all beyond `to`, each from the end that is met first.
    pub fn branches_from(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut branches = Vec::new();
        let mut open = vec![(from, to)];
        while let Some((from, to)) = open.pop() {
            branches.push((from, to));
            let onward: Vec<usize> = self.neighbours(to).filter(|&next| next != from).collect();
            open.extend(onward.into_iter().rev().map(|next| (to, next)));
        }
        branches
    }

    /// Joins two nodes by a branch.
    pub fn link(&mut self, one: usize, other: usize, z: f64) {
        let z = z.clamp(Z_MIN, Z_MAX);
        self.links[one].push(Link { to: other, z });
        self.links[other].push(Link { to: one, z });
    }

    /// Puts `node`, which has one neighbour at most, on the branch between `ends`; `z` are those
    /// of its branches towards them.
    pub fn graft(&mut self, node: usize, ends: [usize; 2], z: [f64; 2]) {
        let [one, other] = ends;
        self.forget_along(one, other);
        self.forget_along(other, one);
        for (end, from, z) in [(one, other, z[0]), (other, one, z[1])] {
            let place = self.place(end, from);
            self.links[end][place] = Link { to: node, z };
            self.links[node].push(Link { to: end, z });
            if self.looks[end] == Some(from) {
                self.looks[end] = Some(node);
            }
        }
        self.looks[node] = None;
    }

    /// Takes `node` off, together with the subtree beyond its neighbour `root`: the nodes that its
    /// other branches lead to become neighbours. Gives these, the z that the branches had, and
    /// theirs is their product: branch lengths add up.
    pub fn prune(&mut self, node: usize, root: usize) -> Stump {
        let ends = self.beyond(node, root);
        let z = ends.map(|end| self.z(node, end));
        self.forget(node);
        let joined = (z[0] * z[1]).clamp(Z_MIN, Z_MAX);
        for (end, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            let place = self.place(end, node);
            self.links[end][place] = Link { to, z: joined };
            if self.looks[end] == Some(node) {
                self.looks[end] = Some(to);
            }
        }
        self.links[node].retain(|link| link.to == root);
        Stump { node, root, ends, z }
    }

    /// The calls that make the vector of `node` look at `to`, in their order; none where it does or
    /// `node` is a tip. They count as made.
    pub fn orient(&mut self, node: usize, to: usize) -> Vec<NewView> {
        let mut calls = Vec::new();
        let mut open = vec![(node, to)];
        while let Some((node, to)) = open.pop() {
            if self.is_tip(node) || self.looks[node] == Some(to) {
                continue;
            }
            let children = self.beyond(node, to);
            let z = children.map(|child| self.z(node, child));
            calls.push(NewView { node, children, z });
            open.extend(children.map(|child| (child, node)));
        }
        calls.reverse();
        for call in &calls {
            let [one, other] = call.children;
            let to = self.neighbours(call.node).find(|&to| to != one && to != other);
            self.looks[call.node] = to;
        }
        calls
    }

    /// Makes every vector invalid.
    pub fn forget_all(&mut self) {
        self.looks.fill(None);
    }

    /// Makes the vector of a node invalid, and those that it goes into.
    fn forget(&mut self, node: usize) {
        if let Some(to) = self.looks[node].take() {
            self.forget_along(to, node);
        }
    }

    /// Makes invalid what the branch from `from` to `node` goes into, `node` first.
    fn forget_along(&mut self, node: usize, from: usize) {
        if self.looks[node] != Some(from) {
            self.forget(node);
        }
    }

    fn place(&self, node: usize, neighbour: usize) -> usize {
        let place = self.links[node].iter().position(|link| link.to == neighbour);
        place.expect("invariant: asked for a branch between neighbours")
    }
}

/// The place where a subtree was taken off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stump {
    /// The inner node that went with it.
    pub node: usize,
    /// The neighbour of the node in the subtree.
    pub root: usize,
    /// The neighbours that it had in the other tree.
    pub ends: [usize; 2],
    /// The z of the branches towards them.
    pub z: [f64; 2],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phylogeny::Stream;

    fn random(taxa: usize, seed: u64) -> SearchTree {
        SearchTree::from_tree(&Tree::random(taxa, 0.1, &mut Stream::new(seed, 0)).unwrap())
    }

    /// A vector by what went into it: branches (as z) and tips. Every call is made on it, so a
    /// vector that is held to be valid can be compared with what it should be.
    fn content(tree: &SearchTree, node: usize, to: usize) -> String {
        if tree.is_tip(node) {
            return node.to_string();
        }
        let mut parts = tree.beyond(node, to).map(|child| {
            format!("({} {})", content(tree, child, node), tree.z(node, child).to_bits())
        });
        parts.sort();
        parts.concat()
    }

    struct Vectors(Vec<String>);

    impl Vectors {
        fn make(&mut self, calls: &[NewView], taxa: usize) {
            for call in calls {
                let mut parts = [0, 1].map(|child| {
                    let node = call.children[child];
                    let inside = if node < taxa { node.to_string() } else { self.0[node].clone() };
                    format!("({inside} {})", call.z[child].to_bits())
                });
                parts.sort();
                self.0[call.node] = parts.concat();
            }
        }

        fn check(&self, tree: &SearchTree) {
            for node in tree.taxa()..tree.nodes() {
                if let Some(to) = tree.looks[node] {
                    assert_eq!(self.0[node], content(tree, node, to), "{node} looking at {to}");
                }
            }
        }
    }

    #[test]
    fn vectors_held_to_be_valid_are_so_after_any_changes() {
        let taxa = 14;
        let mut tree = random(taxa, 3);
        let mut vectors = Vectors(vec![String::new(); tree.nodes()]);
        let mut stream = Stream::new(4, 0);
        let mut made = 0;
        for step in 0..3000 {
            let branches = tree.branches();
            let (mut one, mut other) = branches[stream.index(branches.len())];
            if stream.index(2) == 0 {
                (one, other) = (other, one);
            }
            match stream.index(4) {
                0 => tree.set_z(one, other, 0.5 + 0.5 * stream.uniform()),
                1 if !tree.is_tip(one) => {
                    let stump = tree.prune(one, other);
                    vectors.check(&tree);
                    let rest = walk(&tree, stump.ends);
                    let onto = rest[stream.index(rest.len())];
                    tree.graft(one, [onto.0, onto.1], [0.8, 0.7]);
                }
                _ => {
                    let calls = tree.orient(one, other);
                    made += calls.len();
                    vectors.make(&calls, taxa);
                    let calls = tree.orient(other, one);
                    vectors.make(&calls, taxa);
                    for (node, to) in [(one, other), (other, one)] {
                        assert!(tree.is_tip(node) || tree.looks[node] == Some(to));
                    }
                }
            }
            vectors.check(&tree);
            tree.to_tree().unwrap_or_else(|error| panic!("step {step}: {error}"));
        }
        assert!(made > 3000, "{made}");
    }

    /// The branches on the side of `ends`.
    fn walk(tree: &SearchTree, [one, other]: [usize; 2]) -> Vec<(usize, usize)> {
        let mut branches = vec![(one, other)];
        let mut open = vec![(one, other), (other, one)];
        while let Some((from, to)) = open.pop() {
            for next in tree.neighbours(to).filter(|&next| next != from) {
                branches.push((to, next));
                open.push((to, next));
            }
        }
        branches
    }

    #[test]
    fn a_second_look_costs_nothing_and_the_next_branch_one_vector() {
        let mut tree = random(10, 1);
        let (one, other) = tree.branches()[3];
        tree.orient(one, other);
        tree.orient(other, one);
        assert_eq!(tree.orient(one, other), []);
        if !tree.is_tip(other) {
            let [next, _] = tree.beyond(other, one);
            assert_eq!(tree.orient(other, next).len(), 1);
            assert_eq!(tree.orient(next, other), []);
        }
    }

    #[test]
    fn trees_go_there_and_back() {
        let tree = Tree::random(9, 0.1, &mut Stream::new(8, 0)).unwrap();
        let back = SearchTree::from_tree(&tree).to_tree().unwrap();
        assert_eq!(back.splits(), tree.splits());
        let total = |tree: &Tree| tree.branches().map(|b| tree.branch_length(b)).sum::<f64>();
        assert!((total(&back) - total(&tree)).abs() < 1e-9);
    }
}
