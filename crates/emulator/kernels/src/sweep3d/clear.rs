//! Nothing flows in.

use crate::stores::store_turns;
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Shape, Spu};

/// Sets a face to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clear {
    /// The face, written.
    pub at: LocalAddress,
    /// How long it is: whole quadwords, at least one.
    pub bytes: Bytes,
}

/// Quadwords that a turn stores.
const STORES: u32 = 4;

impl Clear {
    fn quadwords(&self) -> u32 {
        self.bytes.0 as u32 / 16
    }
}

kernel! {
    Clear -> (), |kernel, spu|
    shape: Shape::new("clear a face", kernel.quadwords());
    blocks: { each = [Block::output("face", kernel.at, kernel.quadwords(), Bytes(16))]; }
    run: kernel.instructions(spu);
}

impl Clear {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let zero = spu.il(0);
        let (turns, rest) = (self.quadwords() / STORES, self.quadwords() % STORES);
        let mut at = spu.ila(self.at.0);
        for quadword in 0..rest as i32 {
            spu.stqd(zero, 16 * quadword, at);
        }
        if turns == 0 {
            return;
        }
        at = spu.ai(at, 16 * rest as i16);
        let left = spu.ila(turns);
        store_turns::<S, STORES>(spu, zero, at, left);
    }
}
