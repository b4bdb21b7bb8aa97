//! Splits (bipartitions) of the taxa, counted over many trees: the support of each, and the
//! majority-rule consensus tree.
//!
//! An inner branch of an unrooted tree splits the taxa into two sets of two or more; the splits of
//! a tree are its topology. Two splits that each stand in more than half of the trees are
//! compatible, since at least one of the trees has both; the tree of all such splits is the
//! majority-rule consensus (Margush and McMorris 1981).

use std::collections::BTreeMap;

use super::newick::{nested, quoted};
use super::tree::Tree;

/// Taxa in a word of a bit set.
const WORD: usize = u64::BITS as usize;

/// A split by the taxa on the side without taxon 0, as a bit set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Split {
    words: Vec<u64>,
}

impl Split {
    fn none(taxa: usize) -> Self {
        Self { words: vec![0; taxa.div_ceil(WORD)] }
    }

    /// The same split by the side that lacks taxon 0.
    fn without_first(mut self, taxa: usize) -> Self {
        if self.contains(0) {
            for (index, word) in self.words.iter_mut().enumerate() {
                let here = (taxa - index * WORD).min(WORD);
                *word = !*word & (u64::MAX >> (WORD - here));
            }
        }
        self
    }

    fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Whether a taxon is on the side without taxon 0.
    pub fn contains(&self, taxon: usize) -> bool {
        self.words[taxon / WORD] >> (taxon % WORD) & 1 == 1
    }

    /// Whether all taxa on this one's side without taxon 0 are on that side of `other`.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).all(|(own, other)| own & !other == 0)
    }

    /// Taxa on the side without taxon 0.
    pub(crate) fn size(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The taxa on the side without taxon 0, in ascending order.
    pub fn taxa(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len() * WORD).filter(|&taxon| self.contains(taxon))
    }
}

/// The inner branches of a tree, each by the node at its lower end, with its split.
pub(crate) fn inner_branches(tree: &Tree) -> Vec<(usize, Split)> {
    let mut below = vec![Split::none(tree.taxa()); tree.nodes()];
    let mut branches = Vec::new();
    for node in tree.post_order() {
        if node < tree.taxa() {
            below[node].words[node / WORD] = 1 << (node % WORD);
            continue;
        }
        let mut own = Split::none(tree.taxa());
        tree.children(node).for_each(|child| own.add(&below[child]));
        below[node] = own;
        if node != tree.root() {
            branches.push((node, below[node].clone().without_first(tree.taxa())));
        }
    }
    branches
}

/// Weighted counts of the splits of trees over the same taxa.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitCounts {
    taxa: usize,
    weight: f64,
    splits: BTreeMap<Split, SplitTally>,
    /// The weighted sum of the lengths of its branch, for each tip.
    tips: Vec<f64>,
}

/// What was counted of a split.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct SplitTally {
    /// Weight of the trees that have it.
    weight: f64,
    /// Weighted sum of the lengths of its branch.
    length: f64,
}

impl SplitCounts {
    /// Counts of no tree yet.
    pub(crate) fn new(taxa: usize) -> Self {
        Self { taxa, weight: 0.0, splits: BTreeMap::new(), tips: vec![0.0; taxa] }
    }

    /// Counts a tree as so many: 1 for a sample of a chain or a bootstrap's tree.
    ///
    /// # Panics
    /// Panics where the tree has other taxa, or the weight is not positive and finite.
    pub(crate) fn add(&mut self, tree: &Tree, weight: f64) {
        assert_eq!(tree.taxa(), self.taxa, "splits are counted over trees of the same taxa");
        assert!(weight > 0.0 && weight.is_finite(), "the weight of a tree is positive");
        self.weight += weight;
        for (node, split) in inner_branches(tree) {
            let tally = self.splits.entry(split).or_default();
            tally.weight += weight;
            tally.length += weight * tree.branch_length(node);
        }
        for (tip, sum) in self.tips.iter_mut().enumerate() {
            *sum += weight * tree.branch_length(tip);
        }
    }

    /// Weight of all trees.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The share of the trees that have a split, in [0, 1]; 0 where no tree was counted.
    pub(crate) fn share(&self, split: &Split) -> f64 {
        self.splits.get(split).map_or(0.0, |tally| tally.weight / self.weight)
    }

    /// The share of the counted trees, for each node of `tree`, that have the split of the branch
    /// above it; none for tips and the root, whose branches every tree has or none.
    ///
    /// # Panics
    /// Panics where the tree has other taxa.
    pub(crate) fn supports(&self, tree: &Tree) -> Vec<Option<f64>> {
        assert_eq!(tree.taxa(), self.taxa, "a tree is supported by trees of the same taxa");
        let mut supports = vec![None; tree.nodes()];
        for (node, split) in inner_branches(tree) {
            supports[node] = Some(self.share(&split));
        }
        supports
    }

    /// All splits with their shares of the trees and the mean length of their branches in the
    /// trees that have them [expected substitutions per site], in the order of the bit sets.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Split, Branch)> {
        self.splits.iter().map(|(split, tally)| {
            let (share, length) = (tally.weight / self.weight, tally.length / tally.weight);
            (split, Branch { share, length })
        })
    }

    /// The majority-rule consensus: the tree of all splits that stand in strictly more than half
    /// of the trees.
    pub(crate) fn majority_rule(&self) -> Consensus {
        let kept = self.splits.iter().zip(self.iter());
        // Halves are compared without dividing, so that a tie is one to the last bit.
        let kept = kept.filter(|((_, tally), _)| 2.0 * tally.weight > self.weight);
        let inner = kept.map(|(_, (split, branch))| (split.clone(), branch)).collect();
        let tip = |&sum: &f64| if self.weight > 0.0 { sum / self.weight } else { 0.0 };
        Consensus::new(inner, self.tips.iter().map(tip).collect())
    }
}

/// What is known of a split's branch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branch {
    /// The share of the trees that have it, in [0, 1]: over the samples of a chain, its posterior
    /// probability.
    pub share: f64,
    /// Mean of its lengths in those trees [expected substitutions per site].
    pub length: f64,
}

/// A majority-rule consensus tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Consensus {
    /// The splits, the larger sides before the smaller ones.
    inner: Vec<(Split, Branch)>,
    /// Mean length of each tip's branch.
    tips: Vec<f64>,
    /// The side that each split lies directly within: another split's, or all taxa's.
    above: Vec<Option<usize>>,
}

impl Consensus {
    /// The tree of splits that are compatible with each other.
    fn new(mut inner: Vec<(Split, Branch)>, tips: Vec<f64>) -> Self {
        inner.sort_by_key(|(split, _)| std::cmp::Reverse(split.size()));
        let above = (0..inner.len())
            .map(|index| smallest_around(&inner[..index], |other| inner[index].0.is_within(other)))
            .collect();
        Self { inner, tips, above }
    }

    /// The inner branches of the tree, the larger sides before the smaller ones.
    pub fn branches(&self) -> &[(Split, Branch)] {
        &self.inner
    }

    /// The text of the tree in the Newick format, with a line break at its end: the share of each
    /// split stands as the label behind its parenthesis, the mean length of its branch after it.
    /// The outermost node is the neighbour of the first taxon.
    ///
    /// # Panics
    /// Panics where there are fewer names than taxa.
    pub fn write(&self, names: &[String]) -> String {
        // Nodes are the tips, then the splits, then the outermost.
        let taxa = self.tips.len();
        let outermost = taxa + self.inner.len();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); outermost + 1];
        let node = |above: Option<usize>| above.map_or(outermost, |index| taxa + index);
        for tip in 0..taxa {
            let above = smallest_around(&self.inner, |split| split.contains(tip));
            children[node(above)].push(tip);
        }
        for (index, &above) in self.above.iter().enumerate() {
            children[node(above)].push(taxa + index);
        }
        let own = |node: usize| match node.checked_sub(taxa) {
            None => format!("{}:{}", quoted(&names[node]), self.tips[node]),
            Some(index) => self.inner.get(index).map_or_else(String::new, |(_, branch)| {
                format!("{}:{}", branch.share, branch.length)
            }),
        };
        nested(outermost, |node| children[node].clone(), own)
    }
}

/// The last, so the smallest, of the splits whose sides hold something.
fn smallest_around(
    inner: &[(Split, Branch)],
    mut holds: impl FnMut(&Split) -> bool,
) -> Option<usize> {
    inner.iter().rposition(|(split, _)| holds(split))
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;
    use crate::phylogeny::{Stream, newick};
    use mmgp_base::table::Source;

    impl Split {
        /// The split of some of `taxa` taxa from the others, whichever side is given.
        fn new(taxa: usize, side: impl IntoIterator<Item = usize>) -> Self {
            let mut split = Self::none(taxa);
            side.into_iter().for_each(|taxon| split.words[taxon / WORD] |= 1 << (taxon % WORD));
            split.without_first(taxa)
        }
    }

    fn names(taxa: usize) -> Vec<String> {
        (0..taxa).map(|taxon| format!("t{taxon}")).collect()
    }

    fn tree(text: &str, taxa: usize) -> Tree {
        newick::read(&Source::new("x.nwk", text), &names(taxa)).unwrap()
    }

    #[test]
    fn a_split_is_the_same_from_either_side() {
        for taxa in [5, 64, 65, 130] {
            let split = Split::new(taxa, [1, taxa - 1]);
            let others = (0..taxa).filter(|taxon| ![1, taxa - 1].contains(taxon));
            assert_eq!(split, Split::new(taxa, others), "{taxa}");
            assert_eq!(split.taxa().collect::<Vec<_>>(), [1, taxa - 1]);
            assert_eq!(split.size(), 2);
        }
    }

    #[test]
    fn the_splits_of_random_trees_are_those_of_their_topologies_wherever_they_hang() {
        let mut stream = Stream::new(1, 0);
        for taxa in [3, 4, 17, 64, 65, 70] {
            let mut tree = Tree::random(taxa, 0.1, &mut stream).unwrap();
            let expected = tree.splits();
            tree.rehang(taxa + stream.index(taxa - 2));
            let branches = inner_branches(&tree);
            let mut found: Vec<Vec<usize>> =
                branches.iter().map(|(_, split)| split.taxa().collect()).collect();
            found.sort();
            assert_eq!(found, expected);
        }
    }

    /// Four trees of five taxa; {3, 4} stands in three, {1, 2} in two, {2, 3, 4} and {2, 4} in one.
    fn four() -> SplitCounts {
        let mut counts = SplitCounts::new(5);
        for text in [
            "(t0:1,(t1:1,t2:1):2,(t3:1,t4:1):3);",
            "(t0:1,(t1:1,t2:1):4,(t3:1,t4:1):4);",
            "(t0:1,t1:1,(t2:1,(t3:1,t4:1):8):1);",
            "(t0:5,t3:1,(t1:1,(t2:1,t4:1):1):1);",
        ] {
            counts.add(&tree(text, 5), 1.0);
        }
        counts
    }

    #[test]
    fn shares_are_counted_by_weight() {
        let mut counts = four();
        let [one, other] = [Split::new(5, [1, 2]), Split::new(5, [3, 4])];
        assert_eq!((counts.share(&one), counts.share(&other)), (0.5, 0.75));
        assert_eq!(counts.share(&Split::new(5, [1, 3])), 0.0);
        counts.add(&tree("(t0:1,(t1:1,t2:1):2,(t3:1,t4:1):3);", 5), 4.0);
        assert_eq!(counts.weight(), 8.0);
        assert_eq!((counts.share(&one), counts.share(&other)), (0.75, 0.875));
        assert_eq!(counts.iter().count(), 5);
    }

    #[test]
    fn a_tree_is_supported_branch_by_branch() {
        let tree = tree("(t0:1,(t1:1,t2:1):2,(t3:1,t4:1):3);", 5);
        let supports = four().supports(&tree);
        for (node, split) in inner_branches(&tree) {
            let expected = if split.contains(1) { 0.5 } else { 0.75 };
            assert_eq!(supports[node], Some(expected));
        }
        assert_eq!(supports.iter().flatten().count(), 2);
    }

    #[test]
    fn a_split_in_half_of_the_trees_is_not_in_the_consensus() {
        let consensus = four().majority_rule();
        assert_eq!(consensus.branches().len(), 1);
        // {3, 4} in three trees, with the lengths 3, 4 and 8; tip 0 with 1, 1, 1 and 5.
        assert_eq!(consensus.write(&names(5)), "(t0:2,t1:1,t2:1,(t3:1,t4:1)0.75:5);\n");
    }

    #[test]
    fn sides_nest_in_the_consensus() {
        let mut counts = four();
        counts.add(&tree("(t0:1,t1:1,(t2:1,(t3:1,t4:1):8):1);", 5), 3.0);
        let consensus = counts.majority_rule();
        assert_eq!(consensus.branches().len(), 2);
        let text = consensus.write(&names(5));
        let read = tree(&text, 5);
        assert_eq!(read.splits(), [vec![2, 3, 4], vec![3, 4]]);
        assert!(text.ends_with(&format!("){}:1);\n", 4.0 / 7.0)), "{text}");
    }

    #[test]
    fn the_consensus_of_equal_trees_is_their_tree_and_reads_back() {
        let mut stream = Stream::new(2, 0);
        for taxa in [3, 4, 5, 40, 100] {
            let tree = Tree::random(taxa, 0.1, &mut stream).unwrap();
            let mut counts = SplitCounts::new(taxa);
            counts.add(&tree, 2.0);
            counts.add(&tree, 1.0);
            let consensus = counts.majority_rule();
            assert_eq!(consensus.branches().len(), taxa - 3);
            assert!(consensus.branches().iter().all(|(_, branch)| branch.share == 1.0));
            let text = consensus.write(&names(taxa));
            let read = newick::read(&Source::new("x.nwk", &text), &names(taxa)).unwrap();
            assert_eq!(read.splits(), tree.splits());
            let total = |tree: &Tree| tree.branches().map(|n| tree.branch_length(n)).sum::<f64>();
            assert_relative_eq!(total(&read), total(&tree), max_relative = 1e-12);
        }
    }

    #[test]
    fn majority_splits_of_random_trees_are_those_in_more_than_half_and_all_compatible() {
        let mut stream = Stream::new(3, 0);
        let first = Tree::random(12, 0.1, &mut stream).unwrap();
        for _ in 0..20 {
            // Trees near one another: the first with some tips carried elsewhere.
            let mut counts = SplitCounts::new(12);
            let mut trees = Vec::new();
            for _ in 0..7 {
                let mut tree = first.clone();
                let hanging = |tree: &Tree, tip: usize| tree.parent(tip) != Some(tree.root());
                let tip = (0..12).find(|&tip| hanging(&tree, tip)).unwrap();
                let away = |node: &usize| *node != tip && Some(*node) != tree.parent(tip);
                let onto: Vec<usize> = tree.branches().filter(away).collect();
                tree.move_subtree(tip, onto[stream.index(onto.len())], 0.5);
                counts.add(&tree, 1.0);
                trees.push(tree.splits());
            }
            let consensus = counts.majority_rule();
            let mut expected: Vec<Vec<usize>> = trees.concat();
            expected.sort();
            expected.dedup();
            expected.retain(|split| trees.iter().filter(|tree| tree.contains(split)).count() > 3);
            let mut found: Vec<Vec<usize>> =
                consensus.branches().iter().map(|(split, _)| split.taxa().collect()).collect();
            found.sort();
            assert_eq!(found, expected);
            let text = consensus.write(&names(12));
            for (_, branch) in consensus.branches() {
                assert!(text.contains(&format!("){}:{}", branch.share, branch.length)), "{text}");
            }
        }
    }
}
