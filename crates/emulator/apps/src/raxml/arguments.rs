//! The arguments of an off-load as they lie in main memory.

use crate::layout::{InMemory, Words};
use crate::likelihood::{End, Vector};
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_kernels::raxml::Rates;
use mmgp_spu::Quadword;

/// Their size.
pub const ARGUMENTS_BYTES: Bytes = Bytes(160);
/// The most SPEs that share a task.
pub const MOST_SHARES: usize = 16;

/// Whether log likelihoods of single patterns are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terms {
    /// The sum alone.
    Summed,
    /// Those of all patterns, too.
    Kept,
}

arguments! {
    /// The arguments of an off-load.
    pub struct Arguments {
        /// `newview`: the branches to both children; else the first is the branch between the ends.
        /// Kernels read them there.
        pub z: [f64; 2],
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
        /// The SPEs that share the task, in their order.
        pub peers: [u8; MOST_SHARES],
        /// The children of `newview`, the ends of the branch; a tip comes first.
        pub ends: [End; 2],
        /// Where the vector of `newview` goes.
        pub out: Vector,
        /// `evaluate`: where the log likelihoods of patterns go, if they are wanted.
        pub terms: Option<EffectiveAddress>,
        /// `makenewz`: where sums go that do not fit the local store.
        pub sums: EffectiveAddress,
    }
}

impl InMemory for Rates {
    const BLANK: Self = Self::Gamma;

    fn pass(&mut self, words: &mut Words<'_>) {
        *self = words.either(*self, [Self::Gamma, Self::Cat]);
    }
}

impl Arguments {
    /// All of them that bears on what a call does, apart from what it computes; `place` is what does
    /// of an address.
    pub fn shape(self, place: &dyn Fn(EffectiveAddress) -> EffectiveAddress) -> Vec<Quadword> {
        let same = Self { sequence: 0, model_version: 0, z: [0.0; 2], ..self };
        same.placed(ARGUMENTS_BYTES, place)
    }
}
