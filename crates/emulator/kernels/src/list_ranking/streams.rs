//! The two passes over contiguous memory: the first finds the head of the list, the last puts what
//! comes before a sublist before each of its prefixes.

use super::{GROUP_BYTES, NODE_BYTES, NODES_PER_GROUP, STEP, combine, named};
use mmgp_base::units::Bytes;
use mmgp_lists::Operation;
use mmgp_spu::{LocalAddress, Shape, Spu};

/// Adds the successors of nodes to a sum. Every node but the head is somebody's successor, so the sum
/// of all numbers less that of all successors is the head's number, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuccessorSum {
    /// Groups of [`NODES_PER_GROUP`] nodes.
    pub groups: u32,
    /// The nodes.
    pub nodes: LocalAddress,
    /// The sum in the first word, read and written.
    pub sum: LocalAddress,
}

kernel! {
    SuccessorSum -> (), |kernel, spu|
    shape: Shape::new("sum successors", kernel.groups);
    blocks: {
        input nodes[GROUP_BYTES; kernel.groups];
        output sum[Bytes(16); 1];
    }
    run: kernel.instructions(spu);
}

impl SuccessorSum {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let mut sum = spu.lqa(self.sum);
        let mut at = spu.ila(self.nodes.0);
        let mut left = spu.ila(self.groups);
        loop {
            spu.label();
            spu.hbrr();
            let mut sums = [sum; NODES_PER_GROUP as usize];
            for (node, place) in sums.iter_mut().zip(0..) {
                *node = spu.lqd(place * i32::from(STEP), at);
            }
            // A tree, for an addition waits for its operands.
            for half in [4, 2, 1] {
                for index in 0..half {
                    sums[index] = spu.a(sums[index], sums[index + half]);
                }
            }
            sum = spu.a(sum, sums[0]);
            at = spu.ai(at, STEP * NODES_PER_GROUP as i16);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
        spu.stqa(sum, self.sum);
    }
}

/// Puts the prefix before each record's sublist in front of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Add {
    /// The operation on two prefixes.
    pub operation: Operation,
    /// Groups of [`NODES_PER_GROUP`] records.
    pub groups: u32,
    /// The records.
    pub records: LocalAddress,
    /// The same with their prefixes in the whole list, written.
    pub ranked: LocalAddress,
    /// Records `{., prefix before it, ., .}` by the number of a sublist, from 0 for none on.
    pub before: LocalAddress,
    /// How many sublists there are.
    pub sublists: u32,
}

kernel! {
    Add -> (), |kernel, spu|
    shape: Shape::new(named!("add prefixes", kernel.operation), kernel.groups);
    blocks: {
        input records[GROUP_BYTES; kernel.groups];
        output ranked[GROUP_BYTES; kernel.groups];
        input before[NODE_BYTES; kernel.sublists + 1];
    }
    run: kernel.instructions(spu);
}

impl Add {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let before = spu.ila(self.before.0);
        // The second word alone.
        let prefix_only = spu.fsmbi(0x0F00);
        let mut from = spu.ila(self.records.0);
        let mut to = spu.ila(self.ranked.0);
        let mut left = spu.ila(self.groups);
        loop {
            spu.label();
            spu.hbrr();
            for node in 0..NODES_PER_GROUP as i32 {
                let place = node * i32::from(STEP);
                let record = spu.lqd(place, from);
                let sublist = spu.rotqbyi(record, 8);
                let offset = spu.shli(sublist, 4);
                let head = spu.lqx(offset, before);
                let prefix = combine(spu, self.operation, head, record);
                let ranked = spu.selb(record, prefix, prefix_only);
                spu.stqd(ranked, place, to);
            }
            from = spu.ai(from, STEP * NODES_PER_GROUP as i16);
            to = spu.ai(to, STEP * NODES_PER_GROUP as i16);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
}
