//! What the tests of the kernels share: a local store with random data, and its kernels.

mod evaluate;
mod makenewz;
mod naive;
mod new_view;
mod time;
mod transition;

use mmgp_base::units::Bytes;
use mmgp_kernels::raxml::*;
use mmgp_spu::{Kernel, LocalAddress, LocalStore, Quadword, execute};
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Debug;

/// The size of something that takes `each` for one of `count`.
const fn times(count: u32, each: Bytes) -> Bytes {
    Bytes(count as u64 * each.0)
}

const MODEL: LocalAddress = LocalAddress(0);
const BRANCHES: LocalAddress = LocalAddress(0x480);
const RESULT: LocalAddress = LocalAddress(0x490);
const TABLES: LocalAddress = LocalAddress(0x1000);
const MATRICES: [LocalAddress; 2] = [LocalAddress(0x2000), LocalAddress(0x2D00)];
const PRODUCTS: [LocalAddress; 2] = [LocalAddress(0x3A00), LocalAddress(0x4200)];
const DIAGONAL: LocalAddress = LocalAddress(0x4A00);
const FACTORS: LocalAddress = LocalAddress(0x4E00);
const VECTORS: [LocalAddress; 2] = [LocalAddress(0x6000), LocalAddress(0xD000)];
const OUT: LocalAddress = LocalAddress(0x14000);
const CODES: [LocalAddress; 2] = [LocalAddress(0x1B000), LocalAddress(0x1B400)];
const COUNTS: [LocalAddress; 2] = [LocalAddress(0x1B800), LocalAddress(0x1BC00)];
const OUT_COUNTS: LocalAddress = LocalAddress(0x1C000);
const CATEGORIES: LocalAddress = LocalAddress(0x1C400);
const WEIGHTS: LocalAddress = LocalAddress(0x1C800);
const TERMS: LocalAddress = LocalAddress(0x1D000);

/// Groups for which the kernels are checked.
const GROUPS: [u32; 4] = [1, 2, 7, 50];

/// Which of two nodes are tips: none, the first, both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    InnerInner,
    TipInner,
    TipTip,
}

const KINDS: [Kind; 3] = [Kind::InnerInner, Kind::TipInner, Kind::TipTip];

impl Kind {
    fn is_tip(self, side: usize) -> bool {
        self == Self::TipTip || (self == Self::TipInner && side == 0)
    }

    fn ends(self) -> [End; 2] {
        std::array::from_fn(|side| {
            if self.is_tip(side) {
                End::Tip { codes: CODES[side] }
            } else {
                End::Inner { vectors: VECTORS[side], counts: COUNTS[side] }
            }
        })
    }
}

/// How many categories the tests take.
fn category_count(rates: Rates) -> u32 {
    match rates {
        Rates::Gamma => GAMMA_CATEGORIES,
        Rates::Cat => MAX_CATEGORIES,
    }
}

fn put(store: &mut LocalStore, address: LocalAddress, doubles: &[f64]) {
    for (pair, at) in doubles.chunks_exact(2).zip((address.0..).step_by(16)) {
        store.store(LocalAddress(at), Quadword::from_doubles([pair[0], pair[1]]));
    }
}

fn put_words(store: &mut LocalStore, address: LocalAddress, words: &[u32]) {
    for (four, at) in words.chunks_exact(4).zip((address.0..).step_by(16)) {
        store.store(LocalAddress(at), Quadword::from_words([four[0], four[1], four[2], four[3]]));
    }
}

fn double(store: &LocalStore, address: LocalAddress, index: u32) -> f64 {
    store.load(LocalAddress(address.0 + 8 * index)).doubles()[index as usize % 2]
}

fn word(store: &LocalStore, address: LocalAddress, index: u32) -> u32 {
    store.load(LocalAddress(address.0 + 4 * index)).words()[index as usize % 4]
}

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Draws so many numbers of either sign.
fn signed(random: &mut Xoshiro256PlusPlus, count: u32) -> Vec<f64> {
    (0..count).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// Eigenvalues, and numbers of either sign for V and EI.
fn put_model(store: &mut LocalStore, random: &mut Xoshiro256PlusPlus, rates: Rates) {
    let mut matrix = || {
        let entries = signed(random, 16);
        std::array::from_fn(|j| std::array::from_fn(|l| entries[4 * j + l]))
    };
    let (ei, mut v): ([[f64; 4]; 4], [[f64; 4]; 4]) = (matrix(), matrix());
    // The first column are frequencies.
    for (row, frequency) in v.iter_mut().zip([0.30, 0.22, 0.18, 0.30]) {
        row[0] = frequency;
    }
    let of_categories: Vec<f64> = match rates {
        Rates::Gamma => vec![0.033, 0.25, 0.82, 2.9],
        Rates::Cat => (0..MAX_CATEGORIES).map(|c| 0.01 + 0.2 * f64::from(c)).collect(),
    };
    let block = ModelBlock { ei, v, eigenvalues: [0.0, 0.7, 1.3, 1.6], rates: &of_categories };
    let size = Bytes(MODEL_BYTES.0);
    store.slice_mut(MODEL, size).copy_from_slice(&block.quadwords());
    put(store, BRANCHES, &[0.83, 0.027]);
}

/// Holds a kernel of two groups to that of the first, whatever the vectors of the second hold, all of
/// whose patterns have weight zero.
fn whatever_weighs_nothing<K: Kernel, B: PartialEq + Debug>(
    rates: Rates,
    [first, both]: [K; 2],
    bits: impl Fn(K::Output) -> B,
) {
    let mut store = random_store(rates, 2);
    let expected = bits(execute(&first, &mut store.clone()));
    put(&mut store, LocalAddress(WEIGHTS.0 + 32), &[0.0; 4]);
    let size = rates.entries();
    for junk in [0.0, f64::NAN, f64::INFINITY, -1.0, 1e300, f64::from_bits(1)] {
        let address = LocalAddress(VECTORS[0].0 + 32 * size);
        put(&mut store, address, &vec![junk; 4 * size as usize]);
        assert_eq!(bits(execute(&both, &mut store.clone())), expected, "{junk}");
    }
}

/// A local store with a model, matrices, vectors of which every third pattern is so small that it
/// must be scaled, and everything else that the kernels read.
fn random_store(rates: Rates, groups: u32) -> LocalStore {
    let mut random = random(42);
    let mut store = LocalStore::new();
    write_tables(&mut store, TABLES);
    put_model(&mut store, &mut random, rates);
    let categories = category_count(rates);
    for side in 0..2 {
        put(&mut store, MATRICES[side], &signed(&mut random, 16 * categories));
        let entries = rates.entries();
        let vectors: Vec<f64> = (0..4 * groups * entries)
            .map(|index| {
                let pattern = index / entries;
                let size = if pattern % 3 == 1 { 2.0f64.powi(-260) } else { 1.0 };
                let sign = if pattern % 5 == 2 && side == 0 { -1.0 } else { 1.0 };
                // The first entry outweighs the others, so that sums do not cancel.
                let entry = match index % 4 {
                    0 => random.random_range(0.5..1.0),
                    _ => random.random_range(-0.1..0.1),
                };
                size * sign * entry
            })
            .collect();
        put(&mut store, VECTORS[side], &vectors);
        let codes: Vec<u32> = (0..4 * groups).map(|_| random.random_range(1..16)).collect();
        put_words(&mut store, CODES[side], &codes);
        let counts: Vec<u32> = (0..4 * groups).map(|_| random.random_range(0..4)).collect();
        put_words(&mut store, COUNTS[side], &counts);
    }
    put(&mut store, DIAGONAL, &factors(&mut random, categories));
    put(&mut store, FACTORS, &factors(&mut random, 3 * categories));
    let categories: Vec<u32> =
        (0..4 * groups).map(|_| random.random_range(0..MAX_CATEGORIES)).collect();
    put_words(&mut store, CATEGORIES, &categories);
    let weights: Vec<f64> = (0..4 * groups).map(|_| random.random_range(1..9).into()).collect();
    put(&mut store, WEIGHTS, &weights);
    store
}

/// Draws so many diagonals: their first entry is near 1.
fn factors(random: &mut Xoshiro256PlusPlus, count: u32) -> Vec<f64> {
    let entry = |index| match index % 4 {
        0 => random.random_range(0.9..1.0),
        _ => random.random_range(0.0..1.0),
    };
    (0..4 * count).map(entry).collect()
}

/// The category of a pattern's entries `4 * index..4 * index + 4`.
fn category(store: &LocalStore, rates: Rates, pattern: u32, index: u32) -> u32 {
    match rates {
        Rates::Gamma => index,
        Rates::Cat => word(store, CATEGORIES, pattern),
    }
}

/// x_l of a pattern at one side in one category of GAMMA, or in that of CAT (index 0).
fn entry(store: &LocalStore, kind: Kind, rates: Rates, at: [u32; 3], side: usize) -> f64 {
    let [pattern, index, l] = at;
    if kind.is_tip(side) {
        let code = word(store, CODES[side], pattern);
        let v = |j: u32| double(store, MODEL, 16 + 4 * j + l);
        (0..4u32).filter(|j| code >> j & 1 == 1).map(v).sum()
    } else {
        double(store, VECTORS[side], rates.entries() * pattern + 4 * index + l)
    }
}

/// Checks a number against the one expected, to `tolerance` of `size`.
fn assert_close(got: f64, expected: f64, tolerance: f64, size: f64) {
    let close = (got - expected).abs() <= tolerance * size;
    assert!(close, "{got:e} for {expected:e}, more than {tolerance:e} of {size:e} apart");
}

/// Both versions of the rates.
const RATES: [Rates; 2] = [Rates::Gamma, Rates::Cat];
