//! Linked lists in one array, and what list ranking asks of them: the input of the emulated and of
//! the native program, so that both work on the same lists.
//!
//! Read on at [`List`], the nodes in their array.
//!
//! A [`List`] is made ([`List::generate`]) or read from a file ([`List::read`]). Its *prefixes* are
//! those of an associative [`Operation`]: the head has its own value, every other node the prefix of
//! its predecessor combined with its own value. With all values 1 and sums they are the *ranks*, 1 at
//! the head. [`rank_sequentially`] is the program that parallel ones are checked against, and
//! [`choose_heads`] the first step of the sublist algorithm (Helman and JaJa; Bader, Agarwal and
//! Madduri, IPDPS 2007): it says where sublists begin.
//!
//! ```
//! use mmgp_lists::{List, Operation, Order, Values, choose_heads, rank_sequentially};
//!
//! let list = List::generate(1000, Order::Random, Values::Ones, 7)?;
//! let ranks = rank_sequentially(&list, Operation::Sum);
//! assert_eq!(ranks[list.head() as usize], 1);
//! let heads = choose_heads(&list, 16, Order::Random, 7);
//! assert_eq!((heads.len(), heads[0]), (16, list.head()));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod list;
mod ranking;

pub use list::{END, List, Order, Values};
pub use ranking::{Operation, checksum, choose_heads, imbalance, part, rank_sequentially};

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
