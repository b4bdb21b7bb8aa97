use crate::cell_be;
use mmgp_base::units::Bytes;
use mmgp_kernels::sgemm::*;
use mmgp_spu::{Compiler, LocalAddress, LocalStore, Quadword, execute, time};

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
