//! A linked list whose nodes lie in one array.

mod read;

use std::fmt;
use std::str::FromStr;

use crate::{Purpose, Stream};
use mmgp_base::error::{Error, Result, of_name};

/// What the last node has for a successor.
pub const END: u32 = u32::MAX;

/// Most nodes of a list.
const MOST_NODES: u32 = 1 << 30;

/// One list through all nodes of an array: every node but the head is the successor of one, and the
/// last node has [`END`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    successors: Vec<u32>,
    values: Vec<u32>,
    head: u32,
}

impl List {
    /// A list of so many nodes; what is random is drawn from the seed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for none, and for more than 2^30.
    pub fn generate(nodes: u32, order: Order, values: Values, seed: u64) -> Result<Self> {
        if !(1..=MOST_NODES).contains(&nodes) {
            return Err(Error::out_of_range("nodes of the list", nodes.to_string(), "1 to 2^30"));
        }
        let values = values.generate(nodes, seed);
        match order {
            Order::Ordered => {
                let successors = (1..nodes).chain([END]).collect();
                Ok(Self { successors, values, head: 0 })
            }
            Order::Random => {
                let places = permutation(nodes, seed);
                let mut successors = vec![END; nodes as usize];
                for pair in places.windows(2) {
                    successors[pair[0] as usize] = pair[1];
                }
                Ok(Self { successors, values, head: places[0] })
            }
        }
    }

    /// How many nodes it has, at least one.
    pub fn nodes(&self) -> u32 {
        self.successors.len() as u32
    }

    /// The node that each node leads to; [`END`] from the last one.
    pub fn successors(&self) -> &[u32] {
        &self.successors
    }

    /// The value of each node.
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// The first node of the list: nobody's successor.
    pub fn head(&self) -> u32 {
        self.head
    }
}

/// All nodes in random order, each order as likely (Fisher and Yates, in Durstenfeld's form).
fn permutation(nodes: u32, seed: u64) -> Vec<u32> {
    let mut stream = Stream::new(seed, Purpose::Permutation);
    let mut places: Vec<u32> = (0..nodes).collect();
    for last in (1..nodes).rev() {
        places.swap(last as usize, stream.index(last + 1) as usize);
    }
    places
}

/// How the nodes of a list lie in its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Node i at place i, its successor beside it.
    Ordered,
    /// Along one random permutation.
    Random,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ordered, Self::Random];

    /// Name, as in `random`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Random => "random",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Order {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        of_name("order of nodes", &Self::ALL, Self::name, text)
    }
}

/// Which values the nodes of a list get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// All 1, whose sums are ranks.
    Ones,
    /// Random numbers of 32 bits.
    Random,
    /// Zero, but for one node in 16 at random, which gets a random number: for [the last that is not
    /// zero](crate::Operation::Last).
    Sparse,
}

impl Values {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Ones, Self::Random, Self::Sparse];

    /// Name, as in `ones`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ones => "ones",
            Self::Random => "random",
            Self::Sparse => "sparse",
        }
    }

    fn generate(self, nodes: u32, seed: u64) -> Vec<u32> {
        let mut stream = Stream::new(seed, Purpose::Values);
        let mut value = || match self {
            Self::Ones => 1,
            Self::Random => stream.word(),
            Self::Sparse => {
                let is_zero = stream.index(16) > 0;
                if is_zero { 0 } else { stream.word() }
            }
        };
        (0..nodes).map(|_| value()).collect()
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Values {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        of_name("kind of values", &Self::ALL, Self::name, text)
    }
}

/// Why successors are not one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// A node leads to one that is not there.
    OutOfRange { node: u32 },
    /// A node leads to one that an earlier node leads to.
    Shared { node: u32, earlier: u32 },
    /// Every node leads to another; this one leads back to node `to`.
    NoEnd { node: u32, to: u32 },
    /// Like an earlier node, this one is nobody's successor.
    SecondHead { node: u32, earlier: u32 },
    /// Node that leads back to `to`, which the head does not lead to.
    Cycle { node: u32, to: u32 },
}

impl Flaw {
    /// The node to blame.
    pub fn node(self) -> u32 {
        match self {
            Self::OutOfRange { node }
            | Self::Shared { node, .. }
            | Self::NoEnd { node, .. }
            | Self::SecondHead { node, .. }
            | Self::Cycle { node, .. } => node,
        }
    }
}

/// The head of the one list that they make.
pub fn head_of(successors: &[u32]) -> std::result::Result<u32, Flaw> {
    let mut predecessors = vec![END; successors.len()];
    for (node, &successor) in (0..).zip(successors).filter(|(_, successor)| **successor != END) {
        let Some(predecessor) = predecessors.get_mut(successor as usize) else {
            return Err(Flaw::OutOfRange { node });
        };
        if *predecessor != END {
            return Err(Flaw::Shared { node, earlier: *predecessor });
        }
        *predecessor = node;
    }
    let mut heads = (0..).zip(&predecessors).filter(|(_, predecessor)| **predecessor == END);
    let Some((head, _)) = heads.next() else {
        return Err(Flaw::NoEnd { node: predecessors[0], to: 0 });
    };
    if let Some((second, _)) = heads.next() {
        return Err(Flaw::SecondHead { node: second, earlier: head });
    }
    // From one head to one end: nothing that follows from the head comes twice, and what does not
    // follow from it goes round.
    let mut node = head;
    while node != END {
        predecessors[node as usize] = END;
        node = successors[node as usize];
    }
    let left = (0..).zip(&predecessors).find(|(_, predecessor)| **predecessor != END);
    match left {
        None => Ok(head),
        Some((to, &node)) => Err(Flaw::Cycle { node, to }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes in the order of the list.
    fn followed(list: &List) -> Vec<u32> {
        let next = |&node: &u32| {
            Some(list.successors()[node as usize]).filter(|&successor| successor != END)
        };
        let nodes = std::iter::successors(Some(list.head()), next);
        nodes.take(list.nodes() as usize + 1).collect()
    }

    #[test]
    fn every_list_goes_through_each_node_once() {
        for nodes in [1, 2, 3, 10, 1000] {
            for order in Order::ALL {
                let list = List::generate(nodes, order, Values::Ones, 5).unwrap();
                let mut each = followed(&list);
                let is_sorted = each.is_sorted();
                assert!(if order == Order::Ordered {
                    is_sorted
                } else {
                    nodes < 1000 || !is_sorted
                });
                each.sort_unstable();
                assert_eq!(each, (0..nodes).collect::<Vec<_>>());
            }
        }
        let refused = List::generate(0, Order::Random, Values::Ones, 1).unwrap_err().to_string();
        assert_eq!(refused, "nodes of the list: found 0, expected 1 to 2^30");
    }

    #[test]
    fn each_random_list_of_four_nodes_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..24_000 {
            let list = List::generate(4, Order::Random, Values::Ones, seed).unwrap();
            *counts.entry(followed(&list)).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let standard_error = (1000.0_f64 * 23.0 / 24.0).sqrt();
        for count in counts.values() {
            assert!((f64::from(*count) - 1000.0).abs() < 4.0 * standard_error, "{counts:?}");
        }
    }

    #[test]
    fn a_seed_gives_its_list_and_another_seed_another() {
        let list = |seed| List::generate(100, Order::Random, Values::Random, seed).unwrap();
        assert_eq!(list(1), list(1));
        assert_ne!(list(1).successors(), list(2).successors());
        assert_ne!(list(1).values(), list(2).values());
    }

    #[test]
    fn one_sparse_value_in_16_is_not_zero() {
        let list = List::generate(16_000, Order::Ordered, Values::Sparse, 1).unwrap();
        let count = list.values().iter().filter(|value| **value != 0).count() as f64;
        assert!((count - 1000.0).abs() < 4.0 * (1000.0_f64 * 15.0 / 16.0).sqrt(), "{count}");
        for values in Values::ALL {
            assert_eq!(values.to_string().parse::<Values>().unwrap(), values);
        }
        for order in Order::ALL {
            assert_eq!(order.to_string().parse::<Order>().unwrap(), order);
        }
    }

    #[test]
    fn each_way_not_to_be_a_list_is_found_at_its_node() {
        assert_eq!(head_of(&[END]), Ok(0));
        assert_eq!(head_of(&[2, END, 1]), Ok(0));
        assert_eq!(head_of(&[END, 2, 0]), Ok(1));
        assert_eq!(head_of(&[1, 3, END]), Err(Flaw::OutOfRange { node: 1 }));
        assert_eq!(head_of(&[2, 2, END]), Err(Flaw::Shared { node: 1, earlier: 0 }));
        assert_eq!(head_of(&[0]), Err(Flaw::NoEnd { node: 0, to: 0 }));
        assert_eq!(head_of(&[1, 2, 0]), Err(Flaw::NoEnd { node: 2, to: 0 }));
        assert_eq!(head_of(&[1, END, 3, END]), Err(Flaw::SecondHead { node: 2, earlier: 0 }));
        assert_eq!(head_of(&[4, 2, 3, 1, END]), Err(Flaw::Cycle { node: 3, to: 1 }));
    }
}
