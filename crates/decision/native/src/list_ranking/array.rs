//! The array that a list lies in.

use std::sync::atomic::{AtomicU64, Ordering};

use mmgp_lists::{END, List};

use super::{Combine, on_threads};

/// A node, 16 bytes that lie in one cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
pub struct Node {
    /// The node that follows; [`END`] of the last.
    pub successor: u32,
    /// Its value.
    pub value: u32,
    /// One more than the number of the sublist that begins here; 0 where none does.
    pub mark: u32,
}

/// A node that is ranked.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    /// Which.
    pub node: u32,
    /// Its prefix, at first within its sublist.
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
