//! The last step: what comes before a sublist is put before each of its prefixes.

use super::{NODE_BYTES, NODES_PER_GROUP, STEP, combine, named};
use mmgp_base::units::Bytes;
use mmgp_lists::Operation;
use mmgp_spu::layout::Block;
use mmgp_spu::{Compiled, Kernel, LocalAddress, Shape, Spu};

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

impl Kernel for Add {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new(named!("add prefixes", self.operation), self.groups)
    }

    fn blocks(&self) -> Vec<Block> {
        let group = Bytes(u64::from(NODES_PER_GROUP) * NODE_BYTES.0);
        vec![
            Block::input("records", self.records, self.groups, group),
            Block::output("ranked", self.ranked, self.groups, group),
            Block::input("before", self.before, self.sublists + 1, NODE_BYTES),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
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

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}
