//! The arguments of an off-load as they lie in main memory.

use super::memory::Vector;
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_kernels::raxml::Rates;
use mmgp_spu::Quadword;

/// Their size.
pub const ARGUMENTS_BYTES: Bytes = Bytes(160);
/// Where the two branches lie in them.
pub const BRANCHES: u32 = 64;
/// The most SPEs that share a task.
pub const MOST_SHARES: usize = 16;

/// What a branch ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A tip, whose codes lie there.
    Tip(EffectiveAddress),
    /// An inner node with its vector.
    Inner(Vector),
}

/// Whether log likelihoods of single patterns are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// The sum alone.
    Summed,
    /// Those of all patterns, too.
    Kept,
}

/// The arguments of an off-load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arguments {
    /// Groups of patterns.
    pub groups: u32,
    /// How rates vary over them.
    pub rates: Rates,
    /// Categories of rates.
    pub categories: u32,
    /// `makenewz`: the most steps.
    pub steps: u32,
    /// No two off-loads of a run have the same.
    pub sequence: u64,
    /// Changes with the contents of the model.
    pub model_version: u64,
    /// The model.
    pub model: EffectiveAddress,
    /// CAT: the category of each pattern.
    pub pattern_categories: EffectiveAddress,
    /// Weights of the patterns.
    pub weights: EffectiveAddress,
    /// Where each SPE puts what it found, a quadword each.
    pub results: EffectiveAddress,
    /// `newview`: the branches to both children; else the first is the branch between the ends.
    pub z: [f64; 2],
    /// The SPEs that share the task, in their order.
    pub peers: [u8; MOST_SHARES],
    /// The children of `newview`, the ends of the branch; a tip comes first.
    pub ends: [End; 2],
    /// Where the vector of `newview` goes.
    pub out: Vector,
    /// `evaluate`: whether the log likelihoods of patterns are wanted.
    pub kept: Terms,
    /// Where these go.
    pub terms: EffectiveAddress,
    /// `makenewz`: where sums go that do not fit the local store.
    pub sums: EffectiveAddress,
}

/// Which quadword the peers are.
const PEERS: usize = 5;

const CAT: u32 = 1;
const TERMS: u32 = 2;
const TIPS: [u32; 2] = [4, 8];

impl Arguments {
    /// As the host stores them.
    pub fn to_quadwords(self) -> [Quadword; 10] {
        let pair = |one: EffectiveAddress, other: EffectiveAddress| Quadword([one.0, other.0]);
        let end = |end: End| match end {
            End::Tip(codes) => pair(codes, EffectiveAddress(0)),
            End::Inner(vector) => pair(vector.entries, vector.counts),
        };
        let mut flags = if self.rates == Rates::Cat { CAT } else { 0 };
        flags |= if self.kept == Terms::Kept { TERMS } else { 0 };
        for (end, tip) in self.ends.iter().zip(TIPS) {
            flags |= if matches!(end, End::Tip(_)) { tip } else { 0 };
        }
        [
            Quadword::from_words([self.groups, self.categories, flags, self.steps]),
            Quadword([self.sequence, self.model_version]),
            pair(self.model, self.pattern_categories),
            pair(self.weights, self.results),
            Quadword::from_doubles(self.z),
            Quadword::from_bytes(self.peers),
            end(self.ends[0]),
            end(self.ends[1]),
            pair(self.out.entries, self.out.counts),
            pair(self.terms, self.sums),
        ]
    }

    /// All of them that bears on what a call does, apart from what it computes; `place` is what does
    /// of an address.
    pub fn shape(self, place: impl Fn(u64) -> u64) -> Vec<u64> {
        let same = Self { sequence: 0, model_version: 0, z: [0.0; 2], ..self };
        let words = |(index, Quadword(halves))| match index {
            0 | PEERS => halves,
            _ => halves.map(&place),
        };
        same.to_quadwords().into_iter().enumerate().flat_map(words).collect()
    }

    /// As an SPE finds them.
    pub fn from_quadwords(quadwords: &[Quadword]) -> Self {
        let pair = |index: usize| quadwords[index].0.map(EffectiveAddress);
        let [groups, categories, flags, steps] = quadwords[0].words();
        let [sequence, model_version] = quadwords[1].0;
        let ([model, pattern_categories], [weights, results]) = (pair(2), pair(3));
        let end = |index: usize| {
            let [first, counts] = pair(6 + index);
            if flags & TIPS[index] != 0 {
                End::Tip(first)
            } else {
                End::Inner(Vector { entries: first, counts })
            }
        };
        let [entries, counts] = pair(8);
        let [terms, sums] = pair(9);
        Self {
            groups,
            rates: if flags & CAT != 0 { Rates::Cat } else { Rates::Gamma },
            categories,
            steps,
            sequence,
            model_version,
            model,
            pattern_categories,
            weights,
            results,
            z: quadwords[4].doubles(),
            peers: quadwords[5].bytes(),
            ends: [end(0), end(1)],
            out: Vector { entries, counts },
            kept: if flags & TERMS != 0 { Terms::Kept } else { Terms::Summed },
            terms,
            sums,
        }
    }
}
