//! Splits (bipartitions) of the taxa, counted over many trees: the support of each, and the
//! majority-rule consensus tree.
//!
//! An inner branch of an unrooted tree splits the taxa into two sets of two or more; the splits of
//! a tree are its topology. Two splits that each stand in more than half of the trees are
//! compatible, since at least one of the trees has both; the tree of all such splits is the
//! majority-rule consensus (Margush and McMorris 1981).

#[cfg(test)]
mod tests;

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
