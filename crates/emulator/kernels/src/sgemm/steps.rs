//! What goes on between two products of blocks.

use super::{MATRIX_BYTES, TILES, TILES_BYTES};
use crate::stores::store_turns;
use mmgp_base::units::Bytes;
use mmgp_spu::layout::Block;
use mmgp_spu::{Compiled, Kernel, LocalAddress, Shape, Spu};

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

impl Kernel for Clear {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new("clear", 0)
    }

    fn blocks(&self) -> Vec<Block> {
        vec![Block::output("out", self.out, 1, MATRIX_BYTES)]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let zero = spu.il(0);
        let at = spu.ila(self.out.0);
        let left = spu.ila(MATRIX_BYTES.0 as u32 / (16 * STORES));
        store_turns::<S, STORES>(spu, zero, at, left);
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
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

impl Kernel for Retarget {
    type Output = ();

    fn shape(&self) -> Shape {
        Shape::new("sgemm tiles", 0)
    }

    fn blocks(&self) -> Vec<Block> {
        vec![
            Block::input("first", self.first, 1, Bytes(16)),
            Block::output("tiles", self.tiles, 1, TILES_BYTES),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
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

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = ()> {
        self
    }
}
