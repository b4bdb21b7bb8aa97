//! What is to be done when the buffers of records are full.

use super::{NODE_BYTES, PAIR_BYTES, STEP, words};
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Quadword, Shape, Spu};

/// Writes the DMA list by which buffers of records go to main memory, and gives the threads that go
/// on the other set of buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnOver {
    /// Buffers that go to main memory; none at the beginning.
    pub buffers: u32,
    /// Threads that go on.
    pub threads: u32,
    /// Records of a buffer, at most 256.
    pub records: u32,
    /// The states of the threads, read and written.
    pub states: LocalAddress,
    /// The elements of the list, written.
    pub list: LocalAddress,
    /// How many more records find room, written.
    pub room: LocalAddress,
    /// The other set of buffers, one for each thread behind one another.
    pub next: LocalAddress,
    /// The lower half of the effective address where the first buffer goes; the others follow.
    pub low: u32,
}

impl TurnOver {
    /// A buffer.
    const fn bytes(&self) -> u32 {
        NODE_BYTES.0 as u32 * self.records
    }
}

// The loops turn as often as there are buffers and threads, of which there are at most 1,024.
kernel! {
    TurnOver -> (), |kernel, spu|
    shape: Shape::new("turn buffers over", kernel.buffers << 16 | kernel.threads);
    blocks: {
        output states[NODE_BYTES; kernel.threads];
        output list[PAIR_BYTES; kernel.buffers.div_ceil(2)];
        output room[Bytes(16); 1];
    }
    run: kernel.instructions(spu);
}

impl TurnOver {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let (bytes, low) = (self.bytes(), self.low);
        let room = spu.ila(self.records);
        spu.stqa(room, self.room);
        if self.buffers > 0 {
            let first = [bytes, low, bytes, low.wrapping_add(bytes)];
            let mut pair = spu.lqr(Quadword::from_words(first));
            let further = spu.lqr(Quadword::from_words([0, 2 * bytes, 0, 2 * bytes]));
            let mut list = spu.ila(self.list.0);
            let mut left = spu.ila(self.buffers.div_ceil(2));
            loop {
                spu.label();
                spu.hbrr();
                spu.stqd(pair, 0, list);
                pair = spu.a(pair, further);
                list = spu.ai(list, 16);
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
        }
        if self.threads > 0 {
            let pattern = spu.lqr(words([0, 1, 2, 7]));
            let further = spu.ila(bytes);
            let mut next = spu.ila(self.next.0);
            let mut states = spu.ila(self.states.0);
            let mut left = spu.ila(self.threads);
            loop {
                spu.label();
                spu.hbrr();
                let state = spu.lqd(0, states);
                let moved = spu.shufb(state, next, pattern);
                spu.stqd(moved, 0, states);
                next = spu.a(next, further);
                states = spu.ai(states, STEP);
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
        }
    }
}
