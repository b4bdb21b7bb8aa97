//! Where the data of a process lie, and what each function walks through.

use super::super::engine::NewView;
use super::super::plain::WeightedPatterns;
use mmgp_base::units::Bytes;
use mmgp_cell::ppe::{AccessKind, Stretch};

/// Bytes of a vector's entries in one category.
const FOUR: u64 = 32;
/// Bytes of a code, a count or a category.
const WORD: u64 = 4;
/// Bytes of a weight.
const DOUBLE: u64 = 8;
/// Categories that a pattern has room for.
const MOST_CATEGORIES: u64 = 4;

/// The places of a process's data, with room for all patterns in four categories: vectors, their
/// counts, the sum table, the codes of the tips, the categories and the weights, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    taxa: u64,
    patterns: u64,
}

impl Places {
    pub(super) fn new(taxa: usize, patterns: usize) -> Self {
        Self { taxa: taxa as u64, patterns: patterns as u64 }
    }

    /// What `newview` walks through.
    pub(super) fn newview(self, call: NewView, patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = self.ends(call.children, patterns);
        walked.extend(self.node(call.node, patterns, AccessKind::Store));
        walked
    }

    /// What `evaluate` walks through.
    pub(super) fn evaluate(self, ends: [usize; 2], patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = self.ends(ends, patterns);
        walked.push(self.weights(patterns));
        walked
    }

    /// What filling the sum table walks through.
    pub(super) fn sum_table(self, ends: [usize; 2], patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = self.ends(ends, patterns);
        // Its categories and the scaling counts of its ends do not matter.
        walked.retain(|stretch| stretch.offset < self.counts() || stretch.offset >= self.codes());
        walked.push(stretch(self.sums(), entries(patterns), AccessKind::Store));
        walked
    }

    /// What a sum of derivatives walks through.
    pub(super) fn derivatives(self, patterns: &WeightedPatterns) -> Vec<Stretch> {
        let mut walked = vec![stretch(self.sums(), entries(patterns), AccessKind::Load)];
        walked.push(self.weights(patterns));
        walked.extend(self.category(patterns));
        walked
    }

    fn ends(self, ends: [usize; 2], patterns: &WeightedPatterns) -> Vec<Stretch> {
        let ends = ends.into_iter();
        let mut walked: Vec<Stretch> =
            ends.flat_map(|node| self.node(node, patterns, AccessKind::Load)).collect();
        walked.extend(self.category(patterns));
        walked
    }

    /// The codes of a tip, or an inner node's vector and counts.
    fn node(self, node: usize, patterns: &WeightedPatterns, kind: AccessKind) -> Vec<Stretch> {
        let (node, words) = (node as u64, WORD * patterns.len() as u64);
        match node.checked_sub(self.taxa) {
            None => vec![stretch(self.codes() + node * self.patterns * WORD, words, kind)],
            Some(inner) => {
                let vector = inner * self.patterns * MOST_CATEGORIES * FOUR;
                let counts = self.counts() + inner * self.patterns * WORD;
                vec![stretch(vector, entries(patterns), kind), stretch(counts, words, kind)]
            }
        }
    }

    fn weights(self, patterns: &WeightedPatterns) -> Stretch {
        let place = self.categories() + self.patterns * WORD;
        stretch(place, DOUBLE * patterns.len() as u64, AccessKind::Load)
    }

    fn category(self, patterns: &WeightedPatterns) -> Option<Stretch> {
        let words = WORD * patterns.len() as u64;
        let categories = patterns.categories.as_ref();
        categories.map(|_| stretch(self.categories(), words, AccessKind::Load))
    }

    fn counts(self) -> u64 {
        (self.taxa - 2) * self.patterns * MOST_CATEGORIES * FOUR
    }

    fn sums(self) -> u64 {
        self.counts() + (self.taxa - 2) * self.patterns * WORD
    }

    fn codes(self) -> u64 {
        self.sums() + self.patterns * MOST_CATEGORIES * FOUR
    }

    fn categories(self) -> u64 {
        self.codes() + self.taxa * self.patterns * WORD
    }
}

/// Bytes of the entries of a vector.
fn entries(patterns: &WeightedPatterns) -> u64 {
    FOUR * (patterns.len() * patterns.categories_each()) as u64
}

fn stretch(offset: u64, bytes: u64, kind: AccessKind) -> Stretch {
    Stretch { offset, bytes: Bytes(bytes), kind }
}
