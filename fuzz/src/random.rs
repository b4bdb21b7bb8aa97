//! The random numbers of a case.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers that follow from a seed, a target and the number of the case alone.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Random numbers of a case.
    pub fn of_case(seed: u64, target: &str, case: u64) -> Self {
        // FNV-1a over all that the case is told apart by.
        let bytes = target.bytes().chain(seed.to_le_bytes()).chain(case.to_le_bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// A whole number from `from` to `to`, both included.
    pub fn within(&mut self, from: u32, to: u32) -> u32 {
        self.0.random_range(from..=to)
    }

    /// A number from `from` to `to`.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        self.0.random_range(from..to)
    }

    /// A power of ten whose exponent is between these.
    pub fn power(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.between(low, high))
    }

    /// True with this probability.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.between(0.0, 1.0) < probability
    }

    /// One of the values, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A factor whose logarithm is normal with this standard deviation.
    pub fn noise(&mut self, deviation: f64) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.0);
        (deviation * normal).exp()
    }

    /// One of the words of a dictionary, between which there is a [`BAR`].
    pub fn word<'a>(&mut self, dictionary: &'a str) -> &'a str {
        self.pick(&dictionary.split(BAR).collect::<Vec<_>>())
    }
}

/// What stands between the words of a dictionary.
const BAR: char = '¦';
