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

#[cfg(test)]
mod tests {
    use super::super::Sgemm;
    use super::*;
    use crate::cell_be;
    use mmgp_spu::{Compiler, LocalStore, Quadword, execute, time};

    #[test]
    fn a_matrix_is_cleared_and_what_lies_around_it_is_not() {
        let mut store = LocalStore::new();
        let whole = store.slice_mut(LocalAddress(0), Bytes(0x10000));
        whole.fill(Quadword::splat(7));
        let kernel = Clear { out: LocalAddress(0x4000) };
        let (_, profile) = time(&kernel, &mut store, &cell_be(), Compiler::LIST_SCHEDULING);
        let is_zero = |at: u32| store.load(LocalAddress(at)) == Quadword::ZERO;
        assert!((0x4000..0x8000).step_by(16).all(is_zero) && !is_zero(0x3FF0) && !is_zero(0x8000));
        // A quadword a cycle, and a few for the turns of the loop.
        assert!((1024..1400).contains(&profile.cycles.0), "{}", profile.cycles.0);
    }

    #[test]
    fn a_list_of_tiles_that_moves_is_the_one_that_is_made_there() {
        let tiles = LocalAddress(0x1C000);
        let product = |a, b, c| {
            let [a, b, c] = [a, b, c].map(LocalAddress);
            Sgemm { a, b, c, tiles }
        };
        let mut store = LocalStore::new();
        product(0x10000, 0x14000, 0x18000).place_tiles(&mut store);
        for moved in [product(0x4000, 0x18000, 0x8000), product(0x30000, 0x34000, 0x38000)] {
            let first = LocalAddress(0x100);
            store.store(first, moved.first_tile());
            execute(&Retarget { first, tiles }, &mut store);
            let mut made = LocalStore::new();
            moved.place_tiles(&mut made);
            assert_eq!(store.slice(tiles, TILES_BYTES), made.slice(tiles, TILES_BYTES));
        }
        let kernel = Retarget { first: LocalAddress(0x100), tiles };
        let (_, profile) = time(&kernel, &mut store, &cell_be(), Compiler::LIST_SCHEDULING);
        // 67 loads and 65 stores on the odd pipe, one a cycle, which leave its port to the fetching of
        // instructions only when that has run dry.
        assert!((132..220).contains(&profile.cycles.0), "{}", profile.cycles.0);
        assert!(profile.max_live() <= 128, "{} registers", profile.max_live());
    }
}
