//! Random numbers by an algorithm that stays fixed, and a count of them.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna 2021), its state filled from the
/// seed by SplitMix64.
///
/// How numbers are made of the 64 random bits of a draw is fixed here and not left to a library,
/// so that data simulated from a seed keep their bytes. A clone goes on with the same numbers as
/// the original: the processes of a chain draw the same proposals from clones of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
    draws: u64,
}

impl Stream {
    /// The stream of that number among the streams of a seed. They do not overlap: each begins
    /// 2^128 draws after the one before it.
    pub fn new(seed: u64, number: u32) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..number {
            generator.jump();
        }
        Self { generator, draws: 0 }
    }

    /// How many numbers were drawn so far.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    fn next(&mut self) -> u64 {
        self.draws += 1;
        self.generator.next_u64()
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next() >> 11) as f64 * UNIT
    }

    /// Uniform on 0..count, which must not be empty; no index is likelier than another by more
    /// than one part in 2^64 / count.
    pub fn index(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }

    /// Exponential of that mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u lies in (0, 1], where the logarithm is finite.
        -mean * (1.0 - self.uniform()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_drawn_equally_often() {
        let mut stream = Stream::new(1, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.index(7)] += 1;
        }
        let standard_error = (70_000.0_f64 * (1.0 / 7.0) * (6.0 / 7.0)).sqrt();
        for count in counts {
            assert!((f64::from(count) - 10_000.0).abs() < 4.0 * standard_error, "{counts:?}");
        }
        assert_eq!(stream.draws(), 70_000);
    }

    #[test]
    fn exponential_draws_have_the_mean_asked_for() {
        let mut stream = Stream::new(2, 0);
        let mean = (0..10_000).map(|_| stream.exponential(0.1)).sum::<f64>() / 1e4;
        // The standard deviation of an exponential is its mean.
        assert!((mean - 0.1).abs() < 4.0 * 0.1 / 100.0, "{mean}");
    }

    #[test]
    fn the_streams_of_a_seed_differ() {
        assert_ne!(Stream::new(3, 0).next(), Stream::new(3, 1).next());
        assert_eq!(Stream::new(3, 1).next(), Stream::new(3, 1).next());
    }
}
