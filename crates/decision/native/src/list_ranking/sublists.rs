//! The array that a list lies in, and step 2: sublists as software-managed threads in lock step.

use std::sync::atomic::{AtomicU64, Ordering};

use mmgp_lists::{END, List};

use super::{Combine, MOST_IN_FLIGHT, on_threads};

/// A node, 16 bytes that lie in one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
pub struct Node {
    /// The node that follows; [`END`] of the last.
    pub successor: u32,
    /// The value.
    pub value: u32,
    /// One more than the number of the sublist that begins here; 0 where none does.
    pub mark: u32,
}

/// A node that is ranked.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    /// Index of the node in the list's array.
    pub node: u32,
    /// The prefix, at first within its sublist.
    pub prefix: u32,
}

/// All nodes of a list.
pub struct Array {
    nodes: Vec<Node>,
}

impl Array {
    /// The nodes of a list, without marks.
    pub fn new(list: &List) -> Self {
        let node = |(&successor, &value)| Node { successor, value, mark: 0 };
        let nodes = list.successors().iter().zip(list.values()).map(node).collect();
        Self { nodes }
    }

    /// The node with that number.
    #[inline]
    pub fn node(&self, number: u32) -> Node {
        self.nodes[number as usize]
    }

    /// The node that is nobody's successor: the sum of all nodes less the sum of all successors.
    pub fn head(&self, threads: usize) -> u32 {
        let count = self.nodes.len() as u64;
        let successors = AtomicU64::new(0);
        on_threads(self.nodes.chunks(self.nodes.len().div_ceil(threads)), |nodes| {
            let of_end = |successor| if successor == END { 0 } else { u64::from(successor) };
            let sum = nodes.iter().map(|node| of_end(node.successor)).sum();
            successors.fetch_add(sum, Ordering::Relaxed);
        });
        (count * (count - 1) / 2 - successors.into_inner()) as u32
    }

    /// Marks the heads of sublists, by their places among them: the same nodes in every run.
    pub fn mark(&mut self, heads: &[u32]) {
        for (&head, mark) in heads.iter().zip(1..) {
            self.nodes[head as usize].mark = mark;
        }
    }

    /// Follows the whole list from its head with one load after the other.
    pub fn follow(&self, head: u32, start: u32, combine: impl Combine, records: &mut Vec<Record>) {
        records.clear();
        let (mut number, mut prefix) = (head, start);
        while number != END {
            let node = self.node(number);
            prefix = combine(prefix, node.value);
            records.push(Record { node: number, prefix });
            number = node.successor;
        }
    }
}

/// What becomes of a sublist.
#[derive(Debug, Default)]
pub struct Part {
    /// The nodes in their order, in a row.
    pub records: Vec<Record>,
    /// The last prefix.
    pub total: u32,
    /// The sublist that follows; none after the last.
    pub next: Option<u32>,
    /// The prefix of the node before its head.
    pub before: u32,
}

/// A sublist that is followed.
struct Follower {
    /// The place in the part.
    place: usize,
    /// The mark of its own head.
    mark: u32,
    /// The node that is read next.
    node: u32,
    prefix: u32,
    records: Vec<Record>,
}

/// Ranks the sublists with these heads, of which the first has that number, so many at once; one that
/// ends gives its turn to the next that has not begun.
/// `start` is what combined with a value leaves it.
pub fn rank_part(
    array: &Array,
    (heads, first): (&[u32], u32),
    parts: &mut [Part],
    in_flight: usize,
    (start, combine): (u32, impl Combine),
) {
    let begin = |place: usize, parts: &mut [Part]| {
        let mut records = std::mem::take(&mut parts[place].records);
        records.clear();
        Follower {
            place,
            mark: first + place as u32 + 1,
            node: heads[place],
            prefix: start,
            records,
        }
    };
    let mut begun = in_flight.min(heads.len());
    let mut followers: Vec<Follower> = (0..begun).map(|place| begin(place, parts)).collect();
    let mut read = [Node::default(); MOST_IN_FLIGHT as usize];
    while !followers.is_empty() {
        // These loads depend on nothing but the turn before: all of them are under way at once.
        for (read, follower) in read.iter_mut().zip(&followers) {
            *read = array.node(follower.node);
        }
        let mut number = 0;
        let mut turn = 0;
        while number < followers.len() {
            let (node, follower) = (read[turn], &mut followers[number]);
            turn += 1;
            let is_next_head = node.mark != 0 && node.mark != follower.mark;
            if !is_next_head {
                follower.prefix = combine(follower.prefix, node.value);
                follower.records.push(Record { node: follower.node, prefix: follower.prefix });
                follower.node = node.successor;
                if node.successor != END {
                    number += 1;
                    continue;
                }
            }
            let part = &mut parts[follower.place];
            part.records = std::mem::take(&mut follower.records);
            part.total = follower.prefix;
            part.next = is_next_head.then(|| node.mark - 1);
            if begun < heads.len() {
                *follower = begin(begun, parts);
                begun += 1;
                number += 1;
            } else {
                // The order of those that are left stays, and so which node was read for which.
                followers.remove(number);
            }
        }
    }
}
