//! The sum by which the head of a list is found.

use super::{GROUP_BYTES, NODES_PER_GROUP, STEP};
use mmgp_base::units::Bytes;
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
