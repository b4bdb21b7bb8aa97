use crate::{cell_be, execute_by_calls};
use mmgp_kernels::raxml::*;
use mmgp_spu::{
    Branches, Journal, Kernel, LocalAddress, LocalStore, Quadword, execute, execute_on_path, time,
};
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

const MODEL: LocalAddress = LocalAddress(0);
const BRANCHES: LocalAddress = LocalAddress(0x500);
const RESULT: LocalAddress = LocalAddress(0x510);
const DERIVATIVES: LocalAddress = LocalAddress(0x520);
const MATRICES: [LocalAddress; 2] = [LocalAddress(0x1000), LocalAddress(0x2000)];
const PRODUCTS: [LocalAddress; 2] = [LocalAddress(0x3000), LocalAddress(0x3800)];
const DIAGONALS: LocalAddress = LocalAddress(0x4000);
const FACTORS: LocalAddress = LocalAddress(0x4800);
const TABLES: LocalAddress = LocalAddress(0x5800);
const VECTORS: [LocalAddress; 2] = [LocalAddress(0x8000), LocalAddress(0x10000)];
const OUT: LocalAddress = LocalAddress(0x18000);
const COUNTS: [LocalAddress; 2] = [LocalAddress(0x20000), LocalAddress(0x20400)];
const CODES: [LocalAddress; 2] = [LocalAddress(0x20800), LocalAddress(0x20C00)];
const CATEGORIES: LocalAddress = LocalAddress(0x21000);
const WEIGHTS: LocalAddress = LocalAddress(0x21400);
const TERMS: LocalAddress = LocalAddress(0x21C00);
const OUT_COUNTS: LocalAddress = LocalAddress(0x22400);

const Z: [f64; 2] = [0.9, 0.3];

/// The model: nothing needs to be a real one, as every formula is one of arithmetic.
struct Model {
    ei: [[f64; 4]; 4],
    v: [[f64; 4]; 4],
    eigenvalues: [f64; 4],
    rates: Vec<f64>,
}

const fn category_count(rates: Rates) -> u32 {
    match rates {
        Rates::Gamma => 4,
        Rates::Cat => 25,
    }
}

fn model(rates: Rates) -> Model {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut matrix =
        || std::array::from_fn(|_| std::array::from_fn(|_| random.random_range(-1.0..1.0)));
    let (ei, v) = (matrix(), matrix());
    let count = category_count(rates);
    let rates = (1..=count).map(|c| 0.2 * f64::from(c)).collect();
    Model { ei, v, eigenvalues: [0.0, 0.7, 1.1, 1.9], rates }
}

impl Model {
    fn power(&self, c: usize, l: usize, z: f64) -> f64 {
        (self.rates[c] * self.eigenvalues[l] * z.ln()).exp()
    }
}

fn put(store: &mut LocalStore, address: LocalAddress, doubles: &[f64]) {
    for (pair, at) in doubles.chunks_exact(2).zip((address.0..).step_by(16)) {
        store.store(LocalAddress(at), Quadword::from_doubles([pair[0], pair[1]]));
    }
}

fn double(store: &LocalStore, address: LocalAddress, index: usize) -> f64 {
    store.load(LocalAddress(address.0 + 8 * index as u32)).doubles()[index % 2]
}

fn word(store: &LocalStore, address: LocalAddress, index: usize) -> i32 {
    store.load(LocalAddress(address.0 + 4 * index as u32)).words()[index % 4] as i32
}

/// All inputs of all kernels for that many patterns; every third pattern of both children is so
/// small that newview must scale. The tables by category are those of the formulas.
fn random_store(rates: Rates, groups: u32, seed: u64) -> LocalStore {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut store = LocalStore::new();
    let model = model(rates);
    let Model { ei, v, eigenvalues, rates: values } = &model;
    let block = ModelBlock { ei: *ei, v: *v, eigenvalues: *eigenvalues, rates: values };
    store.slice_mut(MODEL, MODEL_BYTES).copy_from_slice(&block.quadwords());
    write_tables(&mut store, TABLES);
    put(&mut store, BRANCHES, &Z);
    let patterns = (4 * groups) as usize;
    let entries = rates.entries() as usize;
    for (vectors, counts) in VECTORS.into_iter().zip(COUNTS) {
        let values = (0..entries * patterns).map(|entry| {
            let size = if entry / entries % 3 == 1 { 2.0f64.powi(-200) } else { 1.0 };
            size * random.random_range(-1.0..1.0)
        });
        put(&mut store, vectors, &values.collect::<Vec<f64>>());
        put_words(&mut store, counts, groups, || random.random_range(0..4));
    }
    for codes in CODES {
        put_words(&mut store, codes, groups, || random.random_range(1..16));
    }
    let sums = (0..entries * patterns).map(|_| random.random_range(0.1..1.0));
    put(&mut store, OUT, &sums.collect::<Vec<f64>>());
    let count = category_count(rates);
    put_words(&mut store, CATEGORIES, groups, || random.random_range(0..count));
    let weights: Vec<f64> = (0..patterns).map(|_| random.random_range(1..9).into()).collect();
    put(&mut store, WEIGHTS, &weights);
    write_exponentials(&mut store, &model);
    store
}

fn put_words(
    store: &mut LocalStore,
    address: LocalAddress,
    groups: u32,
    mut word: impl FnMut() -> u32,
) {
    for group in 0..groups {
        let words = Quadword::from_words(std::array::from_fn(|_| word()));
        store.store(LocalAddress(address.0 + 16 * group), words);
    }
}

/// What the kernels of exponentials write, by the formulas.
fn write_exponentials(store: &mut LocalStore, model: &Model) {
    let count = model.rates.len();
    let places: Vec<(usize, usize)> =
        (0..count).flat_map(|c| (0..4).map(move |l| (c, l))).collect();
    for (matrices, z) in MATRICES.into_iter().zip(Z) {
        let column = |&(c, l): &(usize, usize)| {
            let power = model.power(c, l, z);
            std::array::from_fn::<f64, 4, _>(|j| model.ei[j][l] * power)
        };
        let columns: Vec<[f64; 4]> = places.iter().map(column).collect();
        put(store, matrices, columns.as_flattened());
    }
    let diagonal: Vec<f64> = places.iter().map(|&(c, l)| model.power(c, l, Z[0])).collect();
    put(store, DIAGONALS, &diagonal);
    let factors: Vec<f64> = (0..3)
        .flat_map(|k| {
            places.iter().map(move |&(c, l)| {
                (model.rates[c] * model.eigenvalues[l]).powi(k) * model.power(c, l, Z[0])
            })
        })
        .collect();
    put(store, FACTORS, &factors);
    if count == 4 {
        for (products, matrices) in PRODUCTS.into_iter().zip(MATRICES) {
            let table: Vec<f64> = (0..256)
                .map(|entry| {
                    let (code, c, j) = (entry / 16, entry / 4 % 4, entry % 4);
                    let tip = tip_vector(model, code);
                    (0..4).map(|l| double(store, matrices, 16 * c + 4 * l + j) * tip[l]).sum()
                })
                .collect();
            put(store, products, &table);
        }
    }
}

fn tip_vector(model: &Model, code: usize) -> [f64; 4] {
    let allowed = |j: &usize| code >> j & 1 == 1;
    std::array::from_fn(|l| (0..4).filter(allowed).map(|j| model.v[j][l]).sum())
}

/// Places where `got` and `expected` are farther apart than 1e-13 of `size`, the sum of the magnitudes of
/// what was added up.
#[track_caller]
fn check_close(got: f64, expected: f64, size: f64) {
    assert!((got - expected).abs() <= 1e-13 * size, "got {got:e}, expected {expected:e}");
}

#[track_caller]
fn check_doubles(got: &LocalStore, expected: &LocalStore, at: LocalAddress, count: usize) {
    for index in 0..count {
        let (got, expected) = (double(got, at, index), double(expected, at, index));
        check_close(got, expected, expected.abs());
    }
}

const VERSIONS: [Version; 3] = [Version::Naive, Version::Unfused, Version::Tuned];

/// Whose times are compared.
const TIMED: [Version; 2] = [Version::Naive, Version::Tuned];
const RATES: [Rates; 2] = [Rates::Gamma, Rates::Cat];

fn transition(version: Version, rates: Rates) -> Transition {
    Transition {
        version,
        category_count: category_count(rates),
        model: MODEL,
        branches: BRANCHES,
        left: MATRICES[0],
        right: MATRICES[1],
        tables: TABLES,
    }
}

fn newton_factors(version: Version, rates: Rates) -> NewtonFactors {
    NewtonFactors {
        version,
        category_count: category_count(rates),
        model: MODEL,
        branch: BRANCHES,
        out: FACTORS,
        tables: TABLES,
    }
}

fn diagonal(version: Version, rates: Rates) -> Diagonal {
    let category_count = category_count(rates);
    let (model, branch, out) = (MODEL, BRANCHES, DIAGONALS);
    Diagonal { version, category_count, model, branch, out, tables: TABLES }
}

#[test]
fn tables_of_exponentials_are_those_of_the_formulas() {
    for version in VERSIONS {
        for rates in RATES {
            let expected = random_store(rates, 1, 7);
            let count = category_count(rates) as usize;
            let mut store = expected.clone();
            for (at, doubles) in [
                (MATRICES[0], 16 * count),
                (MATRICES[1], 16 * count),
                (DIAGONALS, 4 * count),
                (FACTORS, 12 * count),
            ] {
                put(&mut store, at, &vec![f64::NAN; doubles]);
            }
            execute(&transition(version, rates), &mut store);
            execute(&diagonal(version, rates), &mut store);
            execute(&newton_factors(version, rates), &mut store);
            check_doubles(&store, &expected, MATRICES[0], 16 * count);
            check_doubles(&store, &expected, MATRICES[1], 16 * count);
            check_doubles(&store, &expected, DIAGONALS, 4 * count);
            check_doubles(&store, &expected, FACTORS, 12 * count);
        }
    }
}

fn tip_products(version: Version, side: usize) -> TipProducts {
    TipProducts { version, matrices: MATRICES[side], model: MODEL, out: PRODUCTS[side] }
}

#[test]
fn products_of_tips_are_those_of_the_formula() {
    for version in VERSIONS {
        let expected = random_store(Rates::Gamma, 1, 7);
        let mut store = expected.clone();
        put(&mut store, PRODUCTS[0], &[f64::NAN; 256]);
        execute(&tip_products(version, 0), &mut store);
        for entry in 0..256 {
            let expected = double(&expected, PRODUCTS[0], entry);
            check_close(double(&store, PRODUCTS[0], entry), expected, 4.0);
        }
    }
}

/// How many children, or ends, are tips.
const KINDS: [usize; 3] = [0, 1, 2];

fn child(side: usize, rates: Rates, is_tip: bool) -> Child {
    if is_tip {
        let products = match rates {
            Rates::Gamma => PRODUCTS[side],
            Rates::Cat => MATRICES[side],
        };
        return Child::Tip { codes: CODES[side], products };
    }
    Child::Inner { vectors: VECTORS[side], counts: COUNTS[side], matrices: MATRICES[side] }
}

fn new_view(version: Version, rates: Rates, tips: usize, groups: u32) -> NewView {
    let kernel = NewView {
        version,
        rates,
        groups,
        category_count: category_count(rates),
        model: MODEL,
        left: child(0, rates, tips > 0),
        right: child(1, rates, tips > 1),
        categories: CATEGORIES,
        out: OUT,
        out_counts: OUT_COUNTS,
    };
    kernel.validate().expect("it is laid out rightly");
    kernel
}

/// The vector of a child or of an end.
fn vector(store: &LocalStore, rates: Rates, side: usize, is_tip: bool, pattern: usize) -> Vec<f64> {
    let entries = rates.entries() as usize;
    if is_tip {
        let tip = tip_vector(&model(rates), word(store, CODES[side], pattern) as usize);
        return (0..entries).map(|entry| tip[entry % 4]).collect();
    }
    (0..entries).map(|entry| double(store, VECTORS[side], entries * pattern + entry)).collect()
}

/// The category of an entry of a pattern's vector.
fn category(store: &LocalStore, rates: Rates, pattern: usize, entry: usize) -> usize {
    match rates {
        Rates::Gamma => entry / 4,
        Rates::Cat => word(store, CATEGORIES, pattern) as usize,
    }
}

/// The vector of a node, unscaled, and the sum of the magnitudes of what each entry adds up.
fn node(store: &LocalStore, rates: Rates, tips: usize, pattern: usize) -> Vec<(f64, f64)> {
    let model = model(rates);
    let children: Vec<Vec<f64>> =
        (0..2).map(|side| vector(store, rates, side, tips > side, pattern)).collect();
    let entries = rates.entries() as usize;
    let sum = |side: usize, entry: usize, j: usize, of: fn(f64) -> f64| -> f64 {
        let c = category(store, rates, pattern, entry);
        (0..4)
            .map(|l| {
                let m = double(store, MATRICES[side], 16 * c + 4 * l + j);
                of(m * children[side][entry / 4 * 4 + l])
            })
            .sum()
    };
    let total = |entry: usize, of: fn(f64) -> f64| -> f64 {
        (0..4)
            .map(|j| of(model.v[j][entry % 4]) * sum(0, entry, j, of) * sum(1, entry, j, of))
            .sum()
    };
    (0..entries).map(|entry| (total(entry, |x| x), total(entry, f64::abs))).collect()
}

fn check_new_view(version: Version, rates: Rates, tips: usize, groups: u32) {
    let inputs = random_store(rates, groups, 42);
    let mut store = inputs.clone();
    execute(&new_view(version, rates, tips, groups), &mut store);
    let entries = rates.entries() as usize;
    let mut scaled = 0;
    for pattern in 0..(4 * groups) as usize {
        let expected = node(&inputs, rates, tips, pattern);
        let below = expected.iter().all(|(entry, _)| entry.abs() < 2.0f64.powi(-256));
        let scale = tips < 2 && below;
        let factor = if scale { 2.0f64.powi(256) } else { 1.0 };
        scaled += usize::from(scale);
        for (entry, (expected, size)) in expected.into_iter().enumerate() {
            let got = double(&store, OUT, entries * pattern + entry);
            check_close(got, expected * factor, size * factor);
        }
        let of_children: i32 = (tips..2).map(|side| word(&inputs, COUNTS[side], pattern)).sum();
        assert_eq!(word(&store, OUT_COUNTS, pattern), of_children + i32::from(scale));
    }
    let expected = if tips == 0 { (4 * groups as usize + 1) / 3 } else { 0 };
    assert_eq!(scaled, expected, "every third pattern is to be scaled");
    let behind = double(&store, OUT, entries * 4 * groups as usize);
    assert_eq!(behind, 0.0, "nothing is written behind the last group");
}

#[test]
fn newview_agrees_with_plain_arithmetic() {
    for version in VERSIONS {
        for rates in RATES {
            for tips in KINDS {
                for groups in [0, 1, 2, 13] {
                    check_new_view(version, rates, tips, groups);
                }
            }
        }
    }
}

/// A pattern of CAT with the identity for every matrix, whose node is the left child.
fn check_scaling(entries: [f64; 4], expected: [f64; 4], expected_count: i32) {
    let mut store = LocalStore::new();
    let identity: [[f64; 4]; 4] =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    let block = ModelBlock { ei: identity, v: identity, eigenvalues: [0.0; 4], rates: &[1.0] };
    store.slice_mut(MODEL, MODEL_BYTES).copy_from_slice(&block.quadwords());
    for matrices in MATRICES {
        put(&mut store, matrices, identity.as_flattened());
    }
    put(&mut store, VECTORS[0], &entries);
    put(&mut store, VECTORS[1], &[1.0; 4]);
    execute(&new_view(Version::Naive, Rates::Cat, 0, 1), &mut store);
    let got: [f64; 4] = std::array::from_fn(|l| double(&store, OUT, l));
    assert_eq!((got, word(&store, OUT_COUNTS, 0)), (expected, expected_count));
}

#[test]
fn a_pattern_is_scaled_where_all_entries_are_below_the_threshold_in_magnitude() {
    let (tiny, threshold) = (2.0f64.powi(-257), 2.0f64.powi(-256));
    check_scaling([-tiny, tiny, 0.0, -tiny], [-0.5, 0.5, 0.0, -0.5], 1);
    for l in 0..4 {
        for large in [threshold, -threshold, -1.0] {
            let mut entries = [tiny; 4];
            entries[l] = large;
            check_scaling(entries, entries, 0);
        }
    }
}

fn end(side: usize, is_tip: bool) -> End {
    if is_tip {
        return End::Tip { codes: CODES[side] };
    }
    End::Inner { vectors: VECTORS[side], counts: COUNTS[side] }
}

fn evaluate(version: Version, rates: Rates, tips: usize, groups: u32) -> Evaluate {
    let kernel = Evaluate {
        version,
        rates,
        groups,
        category_count: category_count(rates),
        model: MODEL,
        ends: [end(0, tips > 0), end(1, tips > 1)],
        diagonal: DIAGONALS,
        categories: CATEGORIES,
        weights: WEIGHTS,
        terms: Some(TERMS),
        tables: TABLES,
        result: RESULT,
    };
    kernel.validate().expect("it is laid out rightly");
    kernel
}

/// ln likelihood of a pattern, and how far rounding may move it, as a multiple of 1e-13.
fn term(store: &LocalStore, rates: Rates, tips: usize, pattern: usize) -> (f64, f64) {
    let p = vector(store, rates, 0, tips > 0, pattern);
    let q = vector(store, rates, 1, tips > 1, pattern);
    let product = |entry: usize| {
        let c = category(store, rates, pattern, entry);
        p[entry] * q[entry] * double(store, DIAGONALS, 4 * c + entry % 4)
    };
    let entries = 0..rates.entries() as usize;
    let sum: f64 = entries.clone().map(product).sum();
    let size: f64 = entries.map(|entry| product(entry).abs()).sum();
    let share = if rates == Rates::Gamma { 0.25 } else { 1.0 };
    let count: i32 = (tips..2).map(|side| word(store, COUNTS[side], pattern)).sum();
    let term = (share * sum.abs()).ln() - f64::from(256 * count) * std::f64::consts::LN_2;
    (term, size / sum.abs() + term.abs())
}

#[test]
fn evaluate_agrees_with_plain_arithmetic_and_adds_to_what_is_there() {
    for version in VERSIONS {
        for (rates, tips) in RATES.into_iter().flat_map(|it| KINDS.map(|tips| (it, tips))) {
            for groups in [0, 1, 13] {
                let mut store = random_store(rates, groups, 5);
                put(&mut store, RESULT, &[-1000.0, f64::NAN]);
                let sum = execute(&evaluate(version, rates, tips, groups), &mut store);
                let (mut total, mut sizes) = (-1000.0, 1000.0);
                for pattern in 0..(4 * groups) as usize {
                    let (expected, size) = term(&store, rates, tips, pattern);
                    check_close(double(&store, TERMS, pattern), expected, size);
                    let weight = double(&store, WEIGHTS, pattern);
                    total += weight * expected;
                    sizes += weight * size;
                }
                check_close(sum, total, sizes);
                assert_eq!(store.load(RESULT).doubles(), [sum, 0.0]);
            }
        }
    }
}

fn sum_table(version: Version, rates: Rates, tips: usize, groups: u32) -> SumTable {
    let ends = [end(0, tips > 0), end(1, tips > 1)];
    let kernel = SumTable { version, rates, groups, model: MODEL, ends, out: OUT };
    kernel.validate().expect("it is laid out rightly");
    kernel
}

fn derivatives(version: Version, rates: Rates, groups: u32) -> Derivatives {
    let kernel = Derivatives {
        version,
        rates,
        groups,
        category_count: category_count(rates),
        sums: OUT,
        factors: FACTORS,
        categories: CATEGORIES,
        weights: WEIGHTS,
        result: DERIVATIVES,
    };
    kernel.validate().expect("it is laid out rightly");
    kernel
}

#[test]
fn a_sum_table_holds_the_products_bit_by_bit() {
    for version in VERSIONS {
        for (rates, tips) in RATES.into_iter().flat_map(|it| KINDS.map(|tips| (it, tips))) {
            let mut store = random_store(rates, 13, 9);
            execute(&sum_table(version, rates, tips, 13), &mut store);
            let entries = rates.entries() as usize;
            for pattern in 0..52 {
                let p = vector(&store, rates, 0, tips > 0, pattern);
                let q = vector(&store, rates, 1, tips > 1, pattern);
                for entry in 0..entries {
                    let got = double(&store, OUT, entries * pattern + entry);
                    assert_eq!(got, p[entry] * q[entry], "pattern {pattern}");
                }
            }
        }
    }
}

#[test]
fn derivatives_agree_with_plain_arithmetic_and_add_to_what_is_there() {
    for version in VERSIONS {
        for rates in RATES {
            let groups = 13;
            let mut store = random_store(rates, groups, 11);
            execute(&sum_table(version, rates, 0, groups), &mut store);
            put(&mut store, DERIVATIVES, &[3.0, -7.0]);
            let got = execute(&derivatives(version, rates, groups), &mut store);
            let (mut expected, mut size) = ([3.0, -7.0], 0.0);
            let (entries, count) = (rates.entries() as usize, category_count(rates) as usize);
            for pattern in 0..(4 * groups) as usize {
                let product = |k: usize, entry: usize| {
                    let c = category(&store, rates, pattern, entry);
                    double(&store, OUT, entries * pattern + entry)
                        * double(&store, FACTORS, 4 * (k * count + c) + entry % 4)
                };
                let s = |k: usize| -> f64 { (0..entries).map(|entry| product(k, entry)).sum() };
                let of_size =
                    |k: usize| -> f64 { (0..entries).map(|entry| product(k, entry).abs()).sum() };
                let weight = double(&store, WEIGHTS, pattern);
                let (first, second) = (s(1) / s(0), s(2) / s(0));
                expected[0] += weight * first;
                expected[1] += weight * (second - first * first);
                let cancelled = of_size(0) / s(0).abs();
                let ratio = of_size(1) / s(0).abs();
                size += weight * cancelled * (of_size(2) / s(0).abs() + ratio * ratio + ratio);
            }
            check_close(got[0], expected[0], size);
            check_close(got[1], expected[1], size);
            assert_eq!(store.load(DERIVATIVES).doubles(), got);
        }
    }
}

#[test]
fn a_pattern_of_weight_zero_contributes_nothing_whatever_it_holds() {
    for version in VERSIONS {
        for rates in RATES {
            let without = sums_of_two_groups(version, rates, 1, 0.0);
            for junk in [0.0, f64::NAN, f64::INFINITY, -1.0] {
                let with = sums_of_two_groups(version, rates, 2, junk);
                assert_eq!(with, without, "{junk}");
            }
        }
    }
}

#[test]
fn a_pattern_that_the_naive_kernel_leaves_out_has_the_term_zero() {
    for rates in RATES {
        let mut store = random_store(rates, 2, 13);
        put(&mut store, WEIGHTS.offset(WEIGHT_BYTES_PER_GROUP), &[0.0; 4]);
        put(&mut store, TERMS, &[f64::NAN; 8]);
        execute(&evaluate(Version::Naive, rates, 0, 2), &mut store);
        let terms: Vec<f64> = (0..8).map(|pattern| double(&store, TERMS, pattern)).collect();
        assert!(terms[..4].iter().all(|term| *term < 0.0) && terms[4..] == [0.0; 4], "{terms:?}");
    }
}

/// The sums over so many groups, of which the second has weight 0 and holds `junk`.
fn sums_of_two_groups(version: Version, rates: Rates, groups: u32, junk: f64) -> [u64; 3] {
    let mut store = random_store(rates, 2, 13);
    let bytes = rates.vector_bytes_per_group();
    let junk = vec![junk; bytes.0 as usize / 8];
    put(&mut store, WEIGHTS.offset(WEIGHT_BYTES_PER_GROUP), &[0.0; 4]);
    put(&mut store, VECTORS[0].offset(bytes), &junk);
    let sum = execute(&evaluate(version, rates, 0, groups), &mut store);
    execute(&sum_table(version, rates, 0, 1), &mut store);
    put(&mut store, OUT.offset(bytes), &junk);
    let [g, h] = execute(&derivatives(version, rates, groups), &mut store);
    [sum, g, h].map(f64::to_bits)
}

fn newton_step(version: Version) -> NewtonStep {
    let kernel = NewtonStep { version, derivatives: DERIVATIVES, branch: BRANCHES, tables: TABLES };
    kernel.validate().expect("it is laid out rightly");
    kernel
}

fn check_step([g, h]: [f64; 2], z: f64, expected: f64, progress: Progress) {
    for version in VERSIONS {
        let mut store = LocalStore::new();
        write_tables(&mut store, TABLES);
        put(&mut store, DERIVATIVES, &[g, h]);
        put(&mut store, BRANCHES, &[z, 0.3]);
        assert_eq!(execute(&newton_step(version), &mut store), progress, "{g} {h} {z}");
        let [got, other] = store.load(BRANCHES).doubles();
        check_close(got, expected, expected);
        assert_eq!(other, 0.0);
    }
}

#[test]
fn a_step_goes_where_the_rule_says() {
    use Progress::{Converged, Moved, Shortened};
    check_step([5.0, 2.0], 0.5, 0.37 * 0.5 + 0.63, Shortened);
    check_step([5.0, 0.0], 0.5, 0.37 * 0.5 + 0.63, Shortened);
    check_step([5.0, 2.0], 1.0 - 1.5e-6, Z_MAX, Shortened);
    check_step([5.0, 2.0], Z_MAX, Z_MAX, Converged);
    // t = -g/h
    check_step([-1.0, -2.0], 0.5, 0.5 * (-0.5f64).exp(), Moved);
    check_step([1.0, -10.0], 0.5, 0.5 * 0.1f64.exp(), Moved);
    check_step([3.0, -2.0], 0.5, 0.25 * 0.5 + 0.75, Moved);
    check_step([300.0, -2.0], 0.5, 0.25 * 0.5 + 0.75, Moved);
    check_step([-300.0, -2.0], 0.5, Z_MIN, Moved);
    check_step([-1e4, -1.0], 0.5, Z_MIN, Moved);
    check_step([3.0, -2.0], 1.0 - 1.5e-6, Z_MAX, Converged);
    check_step([1e-7, -1.0], 0.5, 0.5 * 1e-7f64.exp(), Converged);
    check_step([3e-6, -1.0], 0.5, 0.5 * 3e-6f64.exp(), Moved);
    check_step([0.0, -1.0], 0.5, 0.5, Converged);
}

/// Checks that a kernel is the same with and without the host's fused multiply-add, that it is the same
/// timed, and that what it says of its branches is true: with other data it goes the same way.
fn check_execution<K: Kernel<Output: PartialEq + std::fmt::Debug>>(kernel: &K, rates: Rates) {
    let mut plain = random_store(rates, 13, 21);
    let (mut portable, mut timed) = (plain.clone(), plain.clone());
    let expected = execute(kernel, &mut plain);
    assert_eq!(execute_by_calls(kernel, &mut portable), expected);
    assert!(plain == portable, "{}: local stores differ", kernel.name());
    let (output, profile) = time(kernel, &mut timed, &cell_be(), kernel.shape().compiler);
    assert_eq!(output, expected);
    assert!(plain == timed, "{}: local stores differ, timed", kernel.name());
    assert!(profile.max_live() <= 128, "{}: {} registers", kernel.name(), profile.max_live());
    if kernel.shape().branches == Branches::OnShape {
        let path = |seed| {
            execute_on_path(
                kernel,
                &mut random_store(rates, 13, seed),
                &mut Journal::default(),
                None,
            )
            .1
        };
        assert_eq!(path(1), path(2), "{} branches on data", kernel.name());
    }
}

#[test]
fn every_naive_kernel_runs_the_same_plain_and_timed_and_says_whether_it_branches_on_data() {
    for rates in RATES {
        let version = Version::Naive;
        check_execution(&transition(version, rates), rates);
        check_execution(&diagonal(version, rates), rates);
        check_execution(&newton_factors(version, rates), rates);
        for tips in KINDS {
            check_execution(&new_view(version, rates, tips, 13), rates);
        }
        for tips in KINDS {
            check_execution(&evaluate(version, rates, tips, 13), rates);
            check_execution(&sum_table(version, rates, tips, 13), rates);
        }
        check_execution(&derivatives(version, rates, 13), rates);
        check_execution(&newton_step(version), rates);
    }
    check_execution(&tip_products(Version::Naive, 0), Rates::Gamma);
}

/// Cycles a pattern of a kernel on random data of so many groups.
fn cycles_per_pattern<K: Kernel>(rates: Rates, kernel: impl Fn(u32) -> K) -> f64 {
    let cycles = |groups| {
        let kernel = kernel(groups);
        let mut store = random_store(rates, groups, 17);
        time(&kernel, &mut store, &cell_be(), kernel.shape().compiler).1.cycles.0 as f64
    };
    (cycles(36) - cycles(12)) / f64::from(4 * 24)
}

/// Cycles of a kernel whose time does not depend on patterns.
fn cycles<K: Kernel>(rates: Rates, kernel: &K) -> f64 {
    let mut store = random_store(rates, 1, 17);
    time(kernel, &mut store, &cell_be(), kernel.shape().compiler).1.cycles.0 as f64
}

/// Prints what both versions take, for the documentation, and wants the naive one to take at least
/// `ratio` times as long.
fn check_ratio<K: Kernel>(kernel: impl Fn(Version) -> K, cycles: impl Fn(K) -> f64, ratio: f64) {
    let [naive, tuned] = TIMED.map(|version| cycles(kernel(version)));
    println!("{:50} {naive:8.1} {tuned:8.1}", kernel(Version::Naive).name());
    assert!(naive >= ratio * tuned, "{}: {naive} {tuned}", kernel(Version::Naive).name());
}

#[test]
fn a_naive_kernel_takes_several_times_as_long_as_the_tuned_one() {
    // One double-precision instruction of the naive version does half of what one of the tuned
    // version does. Newton's step is none of them: its branches leave out what is not wanted.
    for rates in RATES {
        let per_pattern = |naive: f64, tuned: f64, name: &str| {
            println!("{name:50} {naive:8.1} {tuned:8.1}");
            assert!(naive >= 2.0 * tuned, "{name}: {naive} {tuned}");
        };
        for tips in KINDS {
            let kernel = |version, groups| new_view(version, rates, tips, groups);
            let [naive, tuned] = TIMED.map(|it| cycles_per_pattern(rates, |n| kernel(it, n)));
            per_pattern(naive, tuned, kernel(Version::Naive, 1).name());
        }
        for tips in KINDS {
            let kernel = |version, groups| evaluate(version, rates, tips, groups);
            let [naive, tuned] = TIMED.map(|it| cycles_per_pattern(rates, |n| kernel(it, n)));
            per_pattern(naive, tuned, kernel(Version::Naive, 1).name());
            let kernel = |version, groups| sum_table(version, rates, tips, groups);
            let [naive, tuned] = TIMED.map(|it| cycles_per_pattern(rates, |n| kernel(it, n)));
            per_pattern(naive, tuned, kernel(Version::Naive, 1).name());
        }
        let kernel = |version, groups| derivatives(version, rates, groups);
        let [naive, tuned] = TIMED.map(|it| cycles_per_pattern(rates, |n| kernel(it, n)));
        per_pattern(naive, tuned, kernel(Version::Naive, 1).name());
        check_ratio(|version| transition(version, rates), |it| cycles(rates, &it), 3.0);
        check_ratio(|version| diagonal(version, rates), |it| cycles(rates, &it), 3.0);
        check_ratio(|version| newton_factors(version, rates), |it| cycles(rates, &it), 3.0);
    }
    check_ratio(|it| tip_products(it, 0), |it| cycles(Rates::Gamma, &it), 3.0);
}
