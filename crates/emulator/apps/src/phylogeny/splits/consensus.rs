//! A tree of splits that are compatible with each other: not always binary.

use super::Split;
use crate::phylogeny::newick::{nested, quoted};

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
    /// For each split, whose side it lies directly within: another split's, or all taxa's.
    above: Vec<Option<usize>>,
}

impl Consensus {
    /// The tree of splits that are compatible with each other.
    pub(super) fn new(mut inner: Vec<(Split, Branch)>, tips: Vec<f64>) -> Self {
        inner.sort_by_key(|(split, _)| std::cmp::Reverse(split.size()));
        let above = (0..inner.len())
            .map(|index| smallest_around(&inner[..index], |other| inner[index].0.is_within(other)))
            .collect();
        Self { inner, tips, above }
    }

    /// Its inner branches, the larger sides before the smaller ones.
    pub fn branches(&self) -> &[(Split, Branch)] {
        &self.inner
    }

    /// The text of the tree in the Newick format, with a line break at its end: the share of each
    /// split stands as the label behind its parenthesis, the mean length of its branch after it.
    /// The outermost node is the neighbour of the first taxon.
    ///
    /// # Panics
    /// Where there are fewer names than taxa.
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
