use super::evaluate::evaluate;
use super::makenewz::{NEWTON_STEP, derivatives, sum_table};
use super::new_view::{new_view, store_with_products};
use super::transition::{diagonal, newton_factors, tip_products, transition};
use super::*;
use crate::{cell_be, execute_by_calls};
use mmgp_spu::{Compiler, Profile, time};
use std::fmt::Debug;

/// Runs the kernel plain, without the host's fused multiply-add, and timed; returns the time.
fn check_timed<K: Kernel<Output: PartialEq + Debug>>(
    kernel: &K,
    store: &LocalStore,
    compiler: Compiler,
) -> Profile {
    let (mut plain, mut portable, mut timed) = (store.clone(), store.clone(), store.clone());
    let expected = execute(kernel, &mut plain);
    assert_eq!(execute_by_calls(kernel, &mut portable), expected);
    assert!(plain == portable, "{}: local stores differ", kernel.name());
    let (output, profile) = time(kernel, &mut timed, &cell_be(), compiler);
    assert_eq!(output, expected);
    assert!(plain == timed, "{}: local stores differ", kernel.name());
    profile
}

/// What the documentation says of a kernel, for each group or category.
struct Documented {
    double_precision: u64,
    /// Cycles with list scheduling.
    cycles: u64,
    /// Cycles in program order.
    in_order: u64,
}

/// Holds a kernel to its documentation, to 128 registers, and to two bounds: each double-precision
/// instruction takes 7 cycles of issue, and each other instruction one where it finds no partner,
/// so that well ordered code takes no more than their sum, and 8 where results, or the fetch of code
/// among many loads, are waited for.
fn check_time<K: Kernel<Output: PartialEq + Debug>>(
    store: &LocalStore,
    kernel: impl Fn(u32) -> K,
    [double_precision, cycles, in_order]: [u64; 3],
) {
    let documented = Documented { double_precision, cycles, in_order };
    let [short, long] = [4, 24];
    let measure = |compiler| {
        let profile = |units| check_timed(&kernel(units), store, compiler);
        let (before, after) = (profile(short), profile(long));
        assert!(after.max_live() <= 128, "{} registers", after.max_live());
        let each =
            |count: fn(&Profile) -> u64| (count(&after) - count(&before)) / u64::from(long - short);
        assert_eq!(each(Profile::double_precision), documented.double_precision);
        let others = each(Profile::instructions) - documented.double_precision;
        (each(|profile| profile.cycles.0), others)
    };
    let name = kernel(short).name();
    let bound = 7 * documented.double_precision;
    let (scheduled, others) = measure(Compiler::LIST_SCHEDULING);
    let (ordered, _) = measure(Compiler::PROGRAM_ORDER);
    assert!(bound <= scheduled, "{name}: {scheduled} is less than {bound}");
    assert!(scheduled <= bound + others + 8, "{name}: {scheduled} is more than {bound} + {others}");
    assert_eq!([scheduled, ordered], [documented.cycles, documented.in_order], "{name}");
}

#[test]
fn newview_takes_the_documented_time() {
    let check = |rates, kind, documented| {
        let store = store_with_products(rates, 24);
        check_time(&store, |groups| new_view(Version::Tuned, rates, kind, groups), documented);
    };
    check(Rates::Gamma, Kind::InnerInner, [416, 3308, 3668]);
    check(Rates::Gamma, Kind::TipInner, [288, 2268, 2708]);
    check(Rates::Gamma, Kind::TipTip, [160, 1274, 1546]);
    check(Rates::Cat, Kind::InnerInner, [104, 900, 1232]);
    check(Rates::Cat, Kind::TipInner, [104, 908, 1272]);
    check(Rates::Cat, Kind::TipTip, [104, 900, 1218]);
}

#[test]
fn evaluate_takes_the_documented_time() {
    let check = |rates, kind, documented| {
        let store = random_store(rates, 24);
        check_time(&store, |groups| evaluate(Version::Tuned, rates, kind, groups), documented);
    };
    check(Rates::Gamma, Kind::InnerInner, [88, 725, 1213]);
    check(Rates::Gamma, Kind::TipInner, [64, 536, 888]);
    check(Rates::Cat, Kind::InnerInner, [40, 354, 625]);
    check(Rates::Cat, Kind::TipInner, [40, 359, 636]);
}

#[test]
fn makenewz_takes_the_documented_time() {
    for (rates, documented) in [(Rates::Gamma, [118, 908, 1232]), (Rates::Cat, [46, 407, 659])] {
        let store = random_store(rates, 24);
        check_time(&store, |groups| derivatives(Version::Tuned, rates, groups), documented);
    }
    let check = |rates, kind, documented| {
        let store = random_store(rates, 24);
        check_time(&store, |groups| sum_table(Version::Tuned, rates, kind, groups), documented);
    };
    check(Rates::Gamma, Kind::InnerInner, [32, 334, 681]);
    check(Rates::Gamma, Kind::TipInner, [32, 338, 695]);
    check(Rates::Cat, Kind::InnerInner, [8, 82, 177]);
    check(Rates::Cat, Kind::TipInner, [8, 89, 191]);
}

#[test]
fn what_goes_by_category_takes_the_documented_time() {
    let store = random_store(Rates::Cat, 1);
    check_time(&store, |count| transition(Version::Tuned, count), [45, 384, 676]);
    check_time(&store, |count| diagonal(Version::Tuned, count), [22, 205, 364]);
    check_time(&store, |count| newton_factors(Version::Tuned, count), [26, 237, 424]);
}

#[test]
fn what_is_done_once_takes_the_documented_time() {
    let store = random_store(Rates::Gamma, 1);
    let products = tip_products(Version::Tuned, 0);
    let profile = check_timed(&products, &store, Compiler::LIST_SCHEDULING);
    assert_eq!((profile.double_precision(), profile.cycles.0), (216, 1820));
    let profile = check_timed(&NEWTON_STEP, &store, Compiler::LIST_SCHEDULING);
    assert_eq!((profile.double_precision(), profile.cycles.0), (23, 373));
}

#[test]
fn what_multiplies_and_adds_apart_takes_the_documented_time() {
    const VERSION: Version = Version::Unfused;
    for (rates, kind, documented) in [
        // A pattern has 44 in each category: 2 x 16 for the children, 2 for y, 16 and less for V.
        (Rates::Gamma, Kind::InnerInner, [704, 5392, 7476]),
        (Rates::Gamma, Kind::TipInner, [480, 3620, 5204]),
        (Rates::Gamma, Kind::TipTip, [256, 1946, 2794]),
        (Rates::Cat, Kind::InnerInner, [176, 1408, 2168]),
        (Rates::Cat, Kind::TipInner, [176, 1414, 2208]),
        (Rates::Cat, Kind::TipTip, [176, 1400, 2154]),
    ] {
        let store = store_with_products(rates, 24);
        check_time(&store, |groups| new_view(VERSION, rates, kind, groups), documented);
    }
    for (rates, kind, documented) in [
        (Rates::Gamma, Kind::InnerInner, [118, 936, 1603]),
        (Rates::Gamma, Kind::TipInner, [94, 750, 1254]),
        (Rates::Cat, Kind::InnerInner, [46, 397, 703]),
        (Rates::Cat, Kind::TipInner, [46, 402, 714]),
    ] {
        let store = random_store(rates, 24);
        check_time(&store, |groups| evaluate(VERSION, rates, kind, groups), documented);
    }
    for (rates, documented) in [(Rates::Gamma, [208, 1544, 2390]), (Rates::Cat, [64, 531, 881])] {
        let store = random_store(rates, 24);
        check_time(&store, |groups| derivatives(VERSION, rates, groups), documented);
    }
    let store = random_store(Rates::Gamma, 1);
    let profile = check_timed(&tip_products(VERSION, 0), &store, Compiler::LIST_SCHEDULING);
    assert_eq!((profile.double_precision(), profile.cycles.0), (312, 2492));
    let step = NewtonStep { version: VERSION, ..NEWTON_STEP };
    let profile = check_timed(&step, &store, Compiler::LIST_SCHEDULING);
    assert_eq!((profile.double_precision(), profile.cycles.0), (26, 380));
}

#[test]
fn the_time_of_a_tuned_kernel_depends_on_its_shape_alone() {
    fn profile<K: Kernel>(kernel: &K, mut store: LocalStore) -> Profile {
        time(kernel, &mut store, &cell_be(), Compiler::LIST_SCHEDULING).1
    }
    fn check<K: Kernel>(rates: Rates, kernel: &K, elsewhere: &K) {
        let mut empty = LocalStore::new();
        // Codes and categories that are all the same.
        put_words(&mut empty, CODES[0], &[1; 200]);
        let expected = profile(kernel, store_with_products(rates, 20));
        assert_eq!(profile(kernel, empty), expected, "{}", kernel.name());
        assert_eq!(profile(elsewhere, store_with_products(rates, 20)), expected);
    }
    for rates in RATES {
        for kind in KINDS {
            let kernel = new_view(Version::Tuned, rates, kind, 20);
            let out = OUT.offset(Bytes(48));
            check(rates, &kernel, &NewView { out, categories: CODES[1], ..kernel });
            let kernel = evaluate(Version::Tuned, rates, kind, 20);
            check(rates, &kernel, &Evaluate { weights: WEIGHTS.offset(Bytes(16)), ..kernel });
            let kernel = sum_table(Version::Tuned, rates, kind, 20);
            check(rates, &kernel, &SumTable { out, ..kernel });
        }
        let kernel = derivatives(Version::Tuned, rates, 20);
        check(rates, &kernel, &Derivatives { sums: VECTORS[1], ..kernel });
    }
}
