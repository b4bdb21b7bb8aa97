use crate::cell_be;
use mmgp_base::units::Bytes;
use mmgp_kernels::sgemm::*;
use mmgp_spu::{Compiler, Kernel as _, LocalAddress, LocalStore, Quadword, execute, time};
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

const KERNEL: Sgemm = Sgemm {
    a: LocalAddress(0x10000),
    b: LocalAddress(0x14000),
    c: LocalAddress(0x18000),
    tiles: LocalAddress(0x1C000),
};
const N: usize = SIZE as usize;

/// A matrix, row by row.
type Matrix = Vec<f32>;

fn random(generator: &mut Xoshiro256PlusPlus, largest: i32, step: f32) -> Matrix {
    (0..N * N).map(|_| generator.random_range(-largest..=largest) as f32 * step).collect()
}

fn put(store: &mut LocalStore, at: LocalAddress, matrix: &Matrix) {
    for (index, four) in matrix.chunks(4).enumerate() {
        let words = std::array::from_fn(|lane| four[lane].to_bits());
        store.store(LocalAddress(at.0 + 16 * index as u32), Quadword::from_words(words));
    }
}

fn take(store: &LocalStore, at: LocalAddress) -> Matrix {
    let quadwords = store.slice(at, MATRIX_BYTES).iter();
    quadwords.flat_map(|quadword| quadword.words().map(f32::from_bits)).collect()
}

/// Checks each entry of the product against sums of doubles, within `tolerance` of the sum of
/// the magnitudes of all that it is made of.
fn check(largest: i32, step: f32, tolerance: f64) {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(64);
    let [a, b, c] = std::array::from_fn(|_| random(&mut generator, largest, step));
    let mut store = LocalStore::new();
    KERNEL.validate().unwrap();
    KERNEL.place_tiles(&mut store);
    put(&mut store, KERNEL.a, &a);
    put(&mut store, KERNEL.b, &b);
    put(&mut store, KERNEL.c, &c);
    execute(&KERNEL, &mut store);
    let product = take(&store, KERNEL.c);
    for i in 0..N {
        for j in 0..N {
            let term = |k: usize| f64::from(a[i * N + k]) * f64::from(b[k * N + j]);
            let old = f64::from(c[i * N + j]);
            let expected = old - (0..N).map(term).sum::<f64>();
            let magnitude = old.abs() + (0..N).map(|k| term(k).abs()).sum::<f64>();
            let error = (f64::from(product[i * N + j]) - expected).abs();
            assert!(error <= tolerance * magnitude, "({i}, {j}): {error}");
        }
    }
}

#[test]
fn products_of_whole_numbers_are_exact() {
    // 65 terms of at most 100 * 100 stay below 2^24.
    check(100, 1.0, 0.0);
}

#[test]
fn products_of_fractions_are_as_near_as_truncation_lets_them() {
    // Each of 64 steps truncates a sum no larger than all magnitudes by one part in 2^23.
    check(1_000_003, 1.1e-6, 64.0 / f64::from(1 << 23));
}

#[test]
fn it_reaches_the_published_part_of_the_peak_with_the_registers_there_are() {
    let mut store = LocalStore::new();
    KERNEL.place_tiles(&mut store);
    let (_, profile) = time(&KERNEL, &mut store, &cell_be(), Compiler::PROGRAM_ORDER);
    // One fnms a cycle, 4 floats each: 64^3 / 4 cycles would be the peak.
    let peak = 65_536.0 / profile.cycles.0 as f64;
    assert!((0.998..1.0).contains(&peak), "{peak} of the peak: {profile:?}");
    assert!(profile.max_live() <= 128, "{} registers", profile.max_live());
    // The published code takes 5.9 KB with its tables; this one's loop alone, without them.
    let longest = profile.blocks.iter().map(|block| 4 * block.instructions).max();
    assert!(longest < Some(8192), "{longest:?} bytes");
}

#[test]
fn a_matrix_is_cleared_and_what_lies_around_it_is_not() {
    let mut store = LocalStore::new();
    let whole = store.slice_mut(LocalAddress(0), Bytes(0x10000));
    whole.fill(Quadword::splat(7));
    let kernel = ClearMatrix { out: LocalAddress(0x4000) };
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
