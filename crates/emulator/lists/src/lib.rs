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

pub use list::{END, List, Order, Values};

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use mmgp_base::error::{Error, Result, of_name};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// An associative operation on numbers of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The sum, modulo 2^32.
    Sum,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// The exclusive or.
    Xor,
    /// The last one that is not zero. It does not commute: a program that combines sublists in
    /// another order than the list's gets it wrong.
    Last,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sum, Self::Min, Self::Max, Self::Xor, Self::Last];

    /// Name, as in `sum`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Xor => "xor",
            Self::Last => "last",
        }
    }

    /// What comes before, combined with the value that follows it.
    #[inline]
    pub fn apply(self, before: u32, value: u32) -> u32 {
        match self {
            Self::Sum => before.wrapping_add(value),
            Self::Min => before.min(value),
            Self::Max => before.max(value),
            Self::Xor => before ^ value,
            Self::Last => {
                if value == 0 {
                    before
                } else {
                    value
                }
            }
        }
    }

    /// What combined with a value, before it or after it, leaves the value.
    pub fn identity(self) -> u32 {
        match self {
            Self::Sum | Self::Max | Self::Xor | Self::Last => 0,
            Self::Min => u32::MAX,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        of_name("operation", &Self::ALL, Self::name, text)
    }
}

/// The prefix of every node, by following the list from its head.
pub fn rank_sequentially(list: &List, operation: Operation) -> Vec<u32> {
    let (successors, values) = (list.successors(), list.values());
    let mut prefixes = vec![0; successors.len()];
    let (mut node, mut prefix) = (list.head(), operation.identity());
    while node != END {
        let place = node as usize;
        prefix = operation.apply(prefix, values[place]);
        prefixes[place] = prefix;
        node = successors[place];
    }
    prefixes
}

/// The heads of about so many sublists, each once, the head of the list first.
///
/// Of an ordered list the first node of each of `sublists` blocks, so that all are as long. Of a
/// random one the list's head, and a random node of each of `sublists - 1` blocks. No more than the
/// list has nodes; one fewer where a block holds nothing but the list's head. None asked for is one.
pub fn choose_heads(list: &List, sublists: u32, order: Order, seed: u64) -> Vec<u32> {
    let (nodes, head) = (list.nodes(), list.head());
    let sublists = sublists.clamp(1, nodes);
    match order {
        Order::Ordered => {
            let blocks = (0..sublists).map(|block| part(nodes, block, sublists));
            // Of a list that is not ordered the head may stand anywhere in its block.
            let others = blocks.filter(|block| !block.contains(&head));
            std::iter::once(head).chain(others.map(|block| block.start)).collect()
        }
        Order::Random => {
            let mut stream = Stream::new(seed, Purpose::Heads);
            let blocks = (0..sublists - 1).map(|block| part(nodes, block, sublists - 1));
            let drawn = blocks.filter_map(|block| {
                let has_head = block.contains(&head);
                let count = block.end - block.start - u32::from(has_head);
                let node = block.start + (count > 0).then(|| stream.index(count))?;
                Some(node + u32::from(has_head && node >= head))
            });
            std::iter::once(head).chain(drawn).collect()
        }
    }
}

/// The part of `count` that falls to one of so many shares: all as large, to one.
pub fn part(count: u32, share: u32, shares: u32) -> Range<u32> {
    let start = |share: u32| {
        let start = u64::from(share) * u64::from(count) / u64::from(shares);
        u32::try_from(start).expect("invariant: no part begins beyond the last")
    };
    start(share)..start(share + 1)
}

/// Checksum of all prefixes, in the order of the nodes: FNV-1a over their words.
pub fn checksum(prefixes: &[u32]) -> u32 {
    let step = |hash: u32, &word: &u32| (hash ^ word).wrapping_mul(16_777_619);
    prefixes.iter().fold(2_166_136_261, step)
}

/// The most nodes that anybody ranked over the mean; 1 where all ranked as many, or nobody any.
pub fn imbalance(loads: &[u64]) -> f64 {
    let most = loads.iter().max().copied().unwrap_or(0) as f64;
    let mean = loads.iter().sum::<u64>() as f64 / loads.len().max(1) as f64;
    if mean > 0.0 { most / mean } else { 1.0 }
}

/// What is drawn from a seed: each from a stream of its own, 2^128 draws after the one before it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Places of nodes.
    Permutation,
    /// Values of nodes.
    Values,
    /// Heads of sublists.
    Heads,
}

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna 2021).
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Stream of a seed for a purpose.
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..purpose as u32 {
            generator.jump();
        }
        Self(generator)
    }

    /// Uniform on all numbers of 32 bits.
    pub(crate) fn word(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// Uniform on 0..count, which must not be empty; no index is likelier than another by more
    /// than one part in 2^64 / count.
    pub(crate) fn index(&mut self, count: u32) -> u32 {
        ((u128::from(self.0.next_u64()) * u128::from(count)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Order, Values};
    use mmgp_base::table::Source;

    #[test]
    fn operations_are_associative_and_have_an_identity() {
        let numbers = [0, 1, 2, 7, 1 << 31, u32::MAX];
        for operation in Operation::ALL {
            let apply = |a, b| operation.apply(a, b);
            for a in numbers {
                assert_eq!(apply(operation.identity(), a), a, "{operation}");
                assert_eq!(apply(a, operation.identity()), a, "{operation}");
                for (b, c) in numbers.into_iter().flat_map(|b| numbers.map(|c| (b, c))) {
                    assert_eq!(apply(apply(a, b), c), apply(a, apply(b, c)), "{operation}");
                }
            }
            assert_eq!(operation.to_string().parse::<Operation>().unwrap(), operation);
        }
        assert_ne!(Operation::Last.apply(1, 2), Operation::Last.apply(2, 1));
        assert_eq!(
            "summ".parse::<Operation>().unwrap_err().to_string(),
            "there is no operation \"summ\"; did you mean \"sum\"? known: sum, min, max, xor, last"
        );
    }

    #[test]
    fn the_prefixes_of_four_nodes_are_those_by_hand() {
        // In the order of the list: 2, 0, 3, 1.
        let text = "node,successor,value\n0,3,5\n1,,9\n2,0,0\n3,1,4\n";
        let (list, _) = List::read(&Source::new("list.csv", text)).unwrap();
        let check = |operation, by_node: [u32; 4]| {
            assert_eq!(rank_sequentially(&list, operation), by_node, "{operation}");
        };
        check(Operation::Sum, [5, 18, 0, 9]);
        check(Operation::Min, [0, 0, 0, 0]);
        check(Operation::Max, [5, 9, 0, 5]);
        check(Operation::Xor, [5, 8, 0, 1]);
        check(Operation::Last, [5, 9, 0, 4]);
    }

    #[test]
    fn ranks_of_an_ordered_list_count_from_1() {
        let list = List::generate(5, Order::Ordered, Values::Ones, 1).unwrap();
        assert_eq!(rank_sequentially(&list, Operation::Sum), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn heads_of_an_ordered_list_stand_at_equal_distances() {
        let list = List::generate(12, Order::Ordered, Values::Ones, 1).unwrap();
        assert_eq!(choose_heads(&list, 4, Order::Ordered, 1), [0, 3, 6, 9]);
        assert_eq!(choose_heads(&list, 1, Order::Ordered, 1), [0]);
        assert_eq!(choose_heads(&list, 5, Order::Ordered, 1), [0, 2, 4, 7, 9]);
        assert_eq!(choose_heads(&list, 100, Order::Ordered, 1).len(), 12);
    }

    #[test]
    fn every_head_is_a_node_and_none_comes_twice() {
        for nodes in [1, 2, 3, 7, 100] {
            for (sublists, seed) in (0..=9).chain([99, 100, 512]).flat_map(|s| [(s, 1), (s, 2)]) {
                for order in Order::ALL {
                    let list = List::generate(nodes, Order::Random, Values::Ones, seed).unwrap();
                    let heads = choose_heads(&list, sublists, order, seed);
                    let case = format!("{nodes} nodes, {sublists} sublists, {order}: {heads:?}");
                    assert_eq!(heads[0], list.head(), "{case}");
                    let wanted = sublists.clamp(1, nodes) as usize;
                    assert!(heads.len() == wanted || heads.len() + 1 == wanted, "{case}");
                    let mut each = heads.clone();
                    each.sort_unstable();
                    each.dedup();
                    assert_eq!(each.len(), heads.len(), "{case}");
                    assert!(each.iter().all(|&head| head < nodes), "{case}");
                }
            }
        }
    }

    #[test]
    fn each_node_of_a_block_is_as_likely_to_be_a_head() {
        // Two blocks of four; the head takes a place in one of them, which leaves that block three.
        let list = List::generate(8, Order::Random, Values::Ones, 3).unwrap();
        let mut counts = [0_u32; 8];
        for seed in 0..12_000 {
            for head in choose_heads(&list, 3, Order::Random, seed) {
                counts[head as usize] += 1;
            }
        }
        assert_eq!(counts[list.head() as usize], 12_000);
        for node in (0..8).filter(|&node| node != list.head()) {
            let shares_block = node / 4 == list.head() / 4;
            let (likely, among) = if shares_block { (4000.0, 3.0) } else { (3000.0, 4.0) };
            let standard_error = (12_000.0_f64 / among * (1.0 - 1.0 / among)).sqrt();
            let off = f64::from(counts[node as usize]) - likely;
            assert!(off.abs() < 4.0 * standard_error, "{counts:?}, head {}", list.head());
        }
    }
}
