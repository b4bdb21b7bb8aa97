//! What goes on between two products of blocks.

use super::{MATRIX_BYTES, TILES, TILES_BYTES};
use crate::stores::store_turns;
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Shape, Spu};

/// Sets a matrix to zero, as C is before the first product that is added to it.
///
/// Sixteen quadwords a turn: the odd pipe stores one a cycle, the even pipe counts beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clear {
    /// The matrix, written.
    pub out: LocalAddress,
}

/// Quadwords that a turn of [`Clear`] stores.
const STORES: u32 = 16;

kernel! {
    Clear -> (), |kernel, spu|
    shape: Shape::new("clear", 0);
    blocks: { output out[MATRIX_BYTES; 1]; }
    run: {
        let zero = spu.il(0);
        let at = spu.ila(kernel.out.0);
        let left = spu.ila(MATRIX_BYTES.0 as u32 / (16 * STORES));
        store_turns::<S, STORES>(spu, zero, at, left);
    };
}

/// Makes the list of tiles of one product that of another, whose matrices lie elsewhere: to each
/// entry is added how far they have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retarget {
    /// What the first entry is to be, [`Sgemm::first_tile`](super::Sgemm::first_tile); read.
    pub first: LocalAddress,
    /// The list of tiles, read and written.
    pub tiles: LocalAddress,
}

kernel! {
    Retarget -> (), |kernel, spu|
    shape: Shape::new("sgemm tiles", 0);
    blocks: {
        input first[Bytes(16); 1];
        output tiles[TILES_BYTES; 1];
    }
    run: kernel.instructions(spu);
}

impl Retarget {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let wanted = spu.lqa(self.first);
        let found = spu.lqa(self.tiles);
        let by = spu.sf(found, wanted);
        for entry in 0..=TILES {
            let at = LocalAddress(self.tiles.0 + 16 * entry);
            let before = spu.lqa(at);
            let after = spu.a(before, by);
            spu.stqa(after, at);
        }
    }
}
