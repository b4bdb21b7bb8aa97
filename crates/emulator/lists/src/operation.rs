//! Operations, and the prefixes that a sequential program computes.

use std::fmt;
use std::str::FromStr;

use crate::draw::of_name;
use crate::list::{END, List};
use mmgp_base::error::{Error, Result};

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

    /// Its name, as in `sum`.
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
}
