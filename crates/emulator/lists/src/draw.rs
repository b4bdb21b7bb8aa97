//! Random numbers.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What is drawn from a seed: each from a stream of its own, 2^128 draws after the one before it.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Places of nodes.
    Permutation,
    /// Values of nodes.
    Values,
    /// Heads of sublists.
    Heads,
}

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna 2021).
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Stream of a seed for a purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..purpose as u32 {
            generator.jump();
        }
        Self(generator)
    }

    /// Uniform on all numbers of 32 bits.
    pub fn word(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// Uniform on 0..count, which must not be empty; no index is likelier than another by more
    /// than one part in 2^64 / count.
    pub fn index(&mut self, count: u32) -> u32 {
        ((u128::from(self.0.next_u64()) * u128::from(count)) >> 64) as u32
    }
}
