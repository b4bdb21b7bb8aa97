//! The last step: what comes before a sublist is put before each of its prefixes.

use super::{GROUP_BYTES, NODE_BYTES, NODES_PER_GROUP, STEP, combine, named};
use mmgp_lists::Operation;
use mmgp_spu::{LocalAddress, Shape, Spu};

/// Puts the prefix before each record's sublist in front of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Add {
    /// Of two prefixes.
    pub operation: Operation,
    /// Groups of [`NODES_PER_GROUP`] records.
    pub groups: u32,
    /// The records.
    pub records: LocalAddress,
    /// The same with their prefixes in the whole list, written.
    pub ranked: LocalAddress,
    /// By the number of a sublist, from 0 for none on, `{., prefix before it, ., .}`.
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
