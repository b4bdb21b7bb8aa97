use super::*;
use mmgp_spu::execute;

#[test]
fn a_face_is_cleared_and_what_lies_around_it_is_not() {
    for quadwords in [1, 3, 4, 9, 500] {
        let mut store = LocalStore::new();
        store.slice_mut(LocalAddress(0), Bytes(0x10000)).fill(Quadword::splat(7));
        let at = LocalAddress(0x4010);
        execute(&Clear { at, bytes: Bytes(16 * quadwords) }, &mut store);
        let is_zero = |place: &u32| store.load(LocalAddress(16 * place)) == Quadword::ZERO;
        let found: Vec<u32> = (0..0x1000).filter(is_zero).collect();
        assert_eq!(found, (0x401..0x401 + quadwords as u32).collect::<Vec<_>>());
    }
}
