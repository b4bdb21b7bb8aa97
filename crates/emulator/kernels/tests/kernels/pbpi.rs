mod tips;

use crate::{cell_be, execute_by_calls};
use mmgp_base::units::Bytes;
use mmgp_kernels::Version;
use mmgp_kernels::logarithm::write_table;
use mmgp_kernels::pbpi::*;
use mmgp_spu::{
    Compiler, Kernel, LocalAddress, LocalStore, Profile, Quadword, Stopwatch, execute, time,
};
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

const MATRICES: [LocalAddress; 3] = [LocalAddress(0), LocalAddress(128), LocalAddress(256)];
const FREQUENCIES: LocalAddress = LocalAddress(384);
const RESULT: LocalAddress = LocalAddress(416);
const TABLE: LocalAddress = LocalAddress(0x1000);
const VECTORS: [LocalAddress; 3] =
    [LocalAddress(0x2000), LocalAddress(0x4000), LocalAddress(0x6000)];
const COUNTS: [LocalAddress; 3] =
    [LocalAddress(0x8000), LocalAddress(0x9000), LocalAddress(0xA000)];
const WEIGHTS: LocalAddress = LocalAddress(0xB000);
const OUT: LocalAddress = LocalAddress(0xC000);
const OUT_COUNTS: LocalAddress = LocalAddress(0xF000);

fn node_update(groups: u32) -> NodeUpdate {
    NodeUpdate {
        version: Version::Tuned,
        groups,
        left_matrix: MATRICES[0],
        right_matrix: MATRICES[1],
        left: VECTORS[0],
        right: VECTORS[1],
        out: OUT,
        left_counts: COUNTS[0],
        right_counts: COUNTS[1],
        out_counts: OUT_COUNTS,
    }
}

fn root_product(groups: u32) -> RootProduct {
    RootProduct {
        version: Version::Tuned,
        groups,
        matrices: MATRICES,
        vectors: VECTORS,
        out: OUT,
        counts: COUNTS,
        out_counts: OUT_COUNTS,
    }
}

fn likelihood_sum(groups: u32) -> LikelihoodSum {
    LikelihoodSum {
        version: Version::Tuned,
        groups,
        root: VECTORS[0],
        counts: COUNTS[0],
        weights: WEIGHTS,
        frequencies: FREQUENCIES,
        table: TABLE,
        result: RESULT,
    }
}

fn put(store: &mut LocalStore, address: LocalAddress, doubles: &[f64]) {
    for (pair, at) in doubles.chunks_exact(2).zip((address.0..).step_by(16)) {
        store.store(LocalAddress(at), Quadword::from_doubles([pair[0], pair[1]]));
    }
}

fn double(store: &LocalStore, address: LocalAddress, index: u32) -> f64 {
    store.load(LocalAddress(address.0 + 8 * index)).doubles()[index as usize % 2]
}

fn word(store: &LocalStore, address: LocalAddress, index: u32) -> i32 {
    store.load(LocalAddress(address.0 + 4 * index)).words()[index as usize % 4] as i32
}

/// A local store with random matrices, vectors, counts from 0 to 3, weights and frequencies;
/// every third pattern of each child is so small that its product must be scaled.
fn random_store(patterns: u32) -> LocalStore {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(42);
    let mut store = LocalStore::new();
    for matrix in MATRICES {
        let columns: Vec<f64> = (0..16).map(|_| random.random_range(0.01..0.9)).collect();
        put(&mut store, matrix, &columns);
    }
    for (vectors, counts) in VECTORS.into_iter().zip(COUNTS) {
        let entries = (0..4 * patterns).map(|entry| {
            let size = if entry / 4 % 3 == 1 { 2.0f64.powi(-200) } else { 1.0 };
            size * random.random_range(0.01..1.0)
        });
        put(&mut store, vectors, &entries.collect::<Vec<f64>>());
        for group in 0..patterns / 4 {
            let words = std::array::from_fn(|_| random.random_range(0..4));
            store.store(LocalAddress(counts.0 + 16 * group), Quadword::from_words(words));
        }
    }
    let weights: Vec<f64> = (0..patterns).map(|_| random.random_range(1..9).into()).collect();
    put(&mut store, WEIGHTS, &weights);
    put(&mut store, FREQUENCIES, &[0.30, 0.22, 0.18, 0.30]);
    write_table(&mut store, TABLE);
    store
}

/// sum over k of P_jk l_k in the documented order.
fn entry(store: &LocalStore, version: Version, [child, pattern, j]: [u32; 3]) -> f64 {
    let child = child as usize;
    let p = |k: u32| double(store, MATRICES[child], 4 * k + j);
    let l = |k: u32| double(store, VECTORS[child], 4 * pattern + k);
    let add = |sum: f64, k| match version {
        Version::Unfused => p(k) * l(k) + sum,
        Version::Naive | Version::Tuned => p(k).mul_add(l(k), sum),
    };
    (1..4).fold(p(0) * l(0), add)
}

/// The kernel's vectors and counts beside those of plain arithmetic, bit by bit.
fn check_product(kernel: &impl Kernel, version: Version, children: u32, groups: u32) {
    let patterns = 4 * groups;
    let mut store = random_store(patterns);
    let inputs = store.clone();
    execute(kernel, &mut store);
    let mut scaled = 0;
    for pattern in 0..patterns {
        let entries: [f64; 4] = std::array::from_fn(|j| {
            (0..children).map(|it| entry(&inputs, version, [it, pattern, j as u32])).product()
        });
        let scale = entries.iter().all(|&entry| entry < 2.0f64.powi(-256));
        scaled += u32::from(scale);
        let factor = if scale { 2.0f64.powi(256) } else { 1.0 };
        for (j, entry) in (0..).zip(entries) {
            assert_eq!(double(&store, OUT, 4 * pattern + j), entry * factor, "pattern {pattern}");
        }
        let counts: i32 = (0..children).map(|it| word(&inputs, COUNTS[it as usize], pattern)).sum();
        assert_eq!(word(&store, OUT_COUNTS, pattern), counts + i32::from(scale));
    }
    assert_eq!(scaled, (patterns + 1) / 3, "every third pattern is to be scaled");
    assert_eq!(double(&store, OUT, 4 * patterns), 0.0, "nothing is written behind the last group");
}

/// All compute in the documented order.
const VERSIONS: [Version; 3] = [Version::Naive, Version::Unfused, Version::Tuned];

#[test]
fn a_node_update_agrees_with_plain_arithmetic_bit_by_bit() {
    for (version, groups) in VERSIONS.into_iter().flat_map(|it| [1, 2, 7, 50].map(|n| (it, n))) {
        check_product(&NodeUpdate { version, ..node_update(groups) }, version, 2, groups);
    }
}

#[test]
fn a_root_product_agrees_with_plain_arithmetic_bit_by_bit() {
    for (version, groups) in VERSIONS.into_iter().flat_map(|it| [1, 2, 7, 50].map(|n| (it, n))) {
        check_product(&RootProduct { version, ..root_product(groups) }, version, 3, groups);
    }
}

/// One pattern at a node whose matrices are the identity, so that the entries are l_j r_j.
fn check_scaling(left: [f64; 4], right: [f64; 4], expected: [f64; 4], expected_count: i32) {
    let mut store = LocalStore::new();
    for matrix in &MATRICES[..2] {
        let identity: [f64; 16] = std::array::from_fn(|i| f64::from(u8::from(i % 5 == 0)));
        put(&mut store, *matrix, &identity);
    }
    put(&mut store, VECTORS[0], &left);
    put(&mut store, VECTORS[1], &right);
    execute(&node_update(1), &mut store);
    let got: [f64; 4] = std::array::from_fn(|j| double(&store, OUT, j as u32));
    assert_eq!((got, word(&store, OUT_COUNTS, 0)), (expected, expected_count));
}

#[test]
fn a_pattern_is_scaled_where_all_four_entries_are_below_the_threshold() {
    let tiny = 2.0f64.powi(-257);
    let just_below = 2.0f64.powi(-256) * (1.0 - f64::EPSILON / 2.0);
    let threshold = 2.0f64.powi(-256);
    check_scaling([tiny; 4], [1.0; 4], [0.5; 4], 1);
    check_scaling([just_below; 4], [1.0; 4], [1.0 - f64::EPSILON / 2.0; 4], 1);
    for j in 0..4 {
        let mut entries = [tiny; 4];
        entries[j] = threshold;
        check_scaling(entries, [1.0; 4], entries, 0);
    }
}

#[test]
fn a_zero_stays_zero_when_its_pattern_is_scaled() {
    let tiny = 2.0f64.powi(-300);
    check_scaling(
        [0.0, tiny, 0.0, tiny],
        [1.0; 4],
        [0.0, 2.0f64.powi(-44), 0.0, 2.0f64.powi(-44)],
        1,
    );
}

fn expected_sum(store: &LocalStore, patterns: u32) -> f64 {
    (0..patterns)
        .map(|pattern| {
            let f = |j| double(store, FREQUENCIES, j);
            let likelihood: f64 =
                (0..4).map(|j| f(j) * double(store, VECTORS[0], 4 * pattern + j)).sum();
            let count = f64::from(word(store, COUNTS[0], pattern));
            let logarithm = likelihood.ln() - count * 256.0 * std::f64::consts::LN_2;
            double(store, WEIGHTS, pattern) * logarithm
        })
        .sum()
}

#[test]
fn a_likelihood_sum_agrees_with_plain_arithmetic() {
    for (version, groups) in VERSIONS.into_iter().flat_map(|it| [1, 2, 7, 50].map(|n| (it, n))) {
        let mut store = random_store(4 * groups);
        let expected = expected_sum(&store, 4 * groups);
        let kernel = LikelihoodSum { version, ..likelihood_sum(groups) };
        let sum = execute(&kernel, &mut store);
        assert!((sum - expected).abs() <= 1e-14 * expected.abs(), "{sum} {expected}");
        assert_eq!(store.load(RESULT).doubles(), [sum, 0.0]);
    }
}

#[test]
fn a_pattern_of_weight_zero_contributes_nothing_whatever_it_holds() {
    let patterns = 8;
    let mut store = random_store(patterns);
    let without = {
        let mut shorter = store.clone();
        execute(&likelihood_sum(1), &mut shorter)
    };
    put(&mut store, LocalAddress(WEIGHTS.0 + 32), &[0.0; 4]);
    for junk in [0.0, f64::NAN, f64::INFINITY, -1.0, 1.0] {
        put(&mut store, LocalAddress(VECTORS[0].0 + 128), &[junk; 16]);
        let with = execute(&likelihood_sum(patterns / 4), &mut store);
        assert_eq!(with.to_bits(), without.to_bits(), "{junk}");
        let naive = |groups| LikelihoodSum { version: Version::Naive, ..likelihood_sum(groups) };
        let [with, without] = [patterns / 4, 1].map(|groups| execute(&naive(groups), &mut store));
        assert_eq!(with.to_bits(), without.to_bits(), "{junk}, naive");
    }
}

#[test]
fn no_groups_leave_the_store_as_it_was_and_sum_to_zero() {
    let inputs = random_store(4);
    let mut store = inputs.clone();
    execute(&node_update(0), &mut store);
    assert_eq!(store, inputs);
    assert_eq!(execute(&likelihood_sum(0), &mut store).to_bits(), 0);
}

#[test]
fn the_version_without_the_hosts_fused_multiply_add_computes_the_same_bits() {
    fn check<K: Kernel<Output: PartialEq + std::fmt::Debug>>(kernel: &K) {
        let mut dispatched = random_store(80);
        let mut portable = dispatched.clone();
        let expected = execute(kernel, &mut dispatched);
        assert_eq!(execute_by_calls(kernel, &mut portable), expected);
        assert!(dispatched == portable, "{}: local stores differ", kernel.name());
    }
    for version in VERSIONS {
        check(&NodeUpdate { version, ..node_update(20) });
        check(&RootProduct { version, ..root_product(20) });
        check(&LikelihoodSum { version, ..likelihood_sum(20) });
    }
}

#[test]
fn a_stopwatch_gives_a_kernel_the_same_time_whatever_it_timed_before() {
    let first = |kernel: &NodeUpdate| {
        time(kernel, &mut random_store(200), &cell_be(), Compiler::LIST_SCHEDULING).1
    };
    let mut stopwatch = Stopwatch::new(cell_be(), Compiler::LIST_SCHEDULING);
    for groups in [20, 50, 1, 2, 50, 20, 3] {
        stopwatch.time(&likelihood_sum(groups), &mut random_store(200));
        let (_, profile) = stopwatch.time(&node_update(groups), &mut random_store(200));
        assert_eq!(profile.cycles, first(&node_update(groups)).cycles, "{groups} groups");
        assert_eq!(profile.instructions(), first(&node_update(groups)).instructions());
    }
}

/// Runs the kernel plain and timed, and returns the time.
fn check_timed<K: Kernel<Output: PartialEq + std::fmt::Debug>>(
    kernel: &K,
    groups: u32,
    compiler: Compiler,
) -> Profile {
    let mut plain = random_store(4 * groups);
    let mut timed = plain.clone();
    let expected = execute(kernel, &mut plain);
    let (output, profile) = time(kernel, &mut timed, &cell_be(), compiler);
    assert_eq!(output, expected);
    assert!(plain == timed, "local stores differ");
    for block in &profile.blocks {
        let slots = block.executions * (block.instructions + block.padding);
        assert_eq!(block.cycles.0, slots - block.dual_issues + block.stalls.total());
    }
    profile
}

/// Holds a kernel to its documented double-precision instructions, to 128 registers, and to two
/// bounds: each double-precision instruction takes 7 cycles of issue, and each other instruction
/// one where it finds no partner, so that well ordered code takes no more than their sum.
fn check_time<K: Kernel<Output: PartialEq + std::fmt::Debug>>(
    kernel: impl Fn(u32) -> K,
    double_precision_per_group: u64,
) {
    let cycles_per_group = |compiler| {
        let profile = |groups| check_timed(&kernel(groups), groups, compiler);
        let (short, long) = (profile(10), profile(60));
        assert!(long.max_live() <= 128, "{} registers", long.max_live());
        let double = long.double_precision() - short.double_precision();
        assert_eq!(double, 50 * double_precision_per_group);
        let others = long.instructions() - short.instructions() - double;
        ((long.cycles.0 - short.cycles.0) / 50, others / 50)
    };
    let bound = 7 * double_precision_per_group;
    let (scheduled, others) = cycles_per_group(Compiler::LIST_SCHEDULING);
    let (in_order, _) = cycles_per_group(Compiler::PROGRAM_ORDER);
    assert!(bound <= scheduled, "{scheduled} is less than {bound}");
    assert!(scheduled <= bound + others, "{scheduled} is more than {bound} + {others}");
    assert!(scheduled < in_order, "{scheduled} is not less than {in_order}");
}

#[test]
fn a_node_update_takes_72_double_precision_instructions_a_group() {
    check_time(node_update, 72);
}

#[test]
fn a_root_product_takes_112_double_precision_instructions_a_group() {
    check_time(root_product, 112);
}

#[test]
fn a_likelihood_sum_takes_32_double_precision_instructions_a_group() {
    check_time(likelihood_sum, 32);
}

#[test]
fn what_multiplies_and_adds_apart_takes_an_instruction_more_for_each_sum() {
    // Of the 18 of a pattern 12 are multiply-and-adds, of the 28 18, of the 8 the 2 of a pattern's
    // frequencies and half of its weight.
    let version = Version::Unfused;
    check_time(|n| NodeUpdate { version, ..node_update(n) }, 72 + 4 * 12);
    check_time(|n| RootProduct { version, ..root_product(n) }, 112 + 4 * 18);
    check_time(|n| LikelihoodSum { version, ..likelihood_sum(n) }, 32 + 4 + 2);
}

/// Cycles a pattern of a kernel, each version as its own compiler orders it.
fn cycles_per_pattern<K: Kernel<Output: PartialEq + std::fmt::Debug>>(
    kernel: impl Fn(u32) -> K,
) -> f64 {
    let cycles = |groups| {
        let kernel = kernel(groups);
        check_timed(&kernel, groups, kernel.shape().compiler).cycles.0 as f64
    };
    (cycles(60) - cycles(12)) / f64::from(4 * 48)
}

#[test]
fn a_naive_kernel_takes_several_times_as_long_as_the_tuned_one() {
    fn check<K: Kernel<Output: PartialEq + std::fmt::Debug>>(
        kernel: impl Fn(Version, u32) -> K,
        bound: f64,
    ) {
        let took = [Version::Naive, Version::Tuned]
            .map(|version| cycles_per_pattern(|groups| kernel(version, groups)));
        let [naive, tuned] = took;
        let name = kernel(Version::Tuned, 1).name();
        println!("{name}: naive {naive}, tuned {tuned} cycles a pattern");
        assert!(naive > bound && naive > 3.0 * tuned, "{name}: {naive} {tuned}");
    }
    // A child takes 16 double-precision instructions of 7 cycles, and a product of two children 4.
    // The chain of a logarithm has at least 21 of 13 cycles.
    check(|version, n| NodeUpdate { version, ..node_update(n) }, f64::from(7 * (2 * 16 + 4)));
    check(|version, n| RootProduct { version, ..root_product(n) }, f64::from(7 * (3 * 16 + 8)));
    check(|version, n| LikelihoodSum { version, ..likelihood_sum(n) }, f64::from(21 * 13));
    // Four doubles loaded and stored again, each at least a load and a rotation, and a load, the
    // making of a mask, a shuffle and a store.
    let tip = |version, groups| TipVectors {
        version,
        groups,
        codes: WEIGHTS,
        tip_table: TABLE,
        out: OUT,
    };
    check(tip, f64::from(4 * 6));
}

#[test]
fn the_time_of_a_kernel_depends_on_its_shape_alone() {
    let kernel = node_update(20);
    let elsewhere = NodeUpdate {
        left: LocalAddress(VECTORS[0].0 + 16),
        out: LocalAddress(OUT.0 + 48),
        ..kernel
    };
    let cycles = |kernel: &NodeUpdate, mut store: LocalStore| {
        time(kernel, &mut store, &cell_be(), Compiler::LIST_SCHEDULING).1
    };
    let expected = cycles(&kernel, random_store(80));
    assert_eq!(cycles(&kernel, LocalStore::new()), expected);
    assert_eq!(cycles(&elsewhere, random_store(80)), expected);

    // The logarithm reads its table where the data say.
    let sum = |mut store: LocalStore| {
        time(&likelihood_sum(20), &mut store, &cell_be(), Compiler::LIST_SCHEDULING).1
    };
    assert_eq!(sum(random_store(80)), sum(LocalStore::new()));
}

#[test]
fn the_published_block_sizes_pass_validation_and_an_overlap_does_not() {
    // 1360 patterns of a node update in about 130 KB.
    let (vectors, counts) = (1360 / 4 * 128, 1360 / 4 * 16);
    let at = |vector: u32, count: u32| LocalAddress(256 + vector * vectors + count * counts);
    let kernel = NodeUpdate {
        version: Version::Tuned,
        groups: 1360 / 4,
        left_matrix: LocalAddress(0),
        right_matrix: LocalAddress(128),
        left: at(0, 0),
        right: at(1, 0),
        out: at(2, 0),
        left_counts: at(3, 0),
        right_counts: at(3, 1),
        out_counts: at(3, 2),
    };
    assert!(kernel.validate().is_ok());
    let error = NodeUpdate { out: at(1, 1), ..kernel }.validate().expect_err("it overlaps");
    assert!(error.to_string().starts_with("node update: out at "), "{error}");
    assert!(root_product(20).validate().is_ok());
    assert!(likelihood_sum(20).validate().is_ok());
}
