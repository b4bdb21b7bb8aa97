use super::transition::tip_products;
use super::*;
use crate::execute_by_calls;

pub(super) fn new_view(version: Version, rates: Rates, kind: Kind, groups: u32) -> NewView {
    let child = |side: usize| match (kind.is_tip(side), rates) {
        (true, Rates::Gamma) => Child::Tip { codes: CODES[side], products: PRODUCTS[side] },
        (true, Rates::Cat) => Child::Tip { codes: CODES[side], products: MATRICES[side] },
        (false, _) => {
            Child::Inner { vectors: VECTORS[side], counts: COUNTS[side], matrices: MATRICES[side] }
        }
    };
    NewView {
        version,
        rates,
        groups,
        category_count: category_count(rates),
        model: MODEL,
        left: child(0),
        right: child(1),
        categories: CATEGORIES,
        out: OUT,
        out_counts: OUT_COUNTS,
    }
}

/// A local store in which the products of tips are tabulated, too.
pub(super) fn store_with_products(rates: Rates, groups: u32) -> LocalStore {
    let mut store = random_store(rates, groups);
    for side in 0..2 {
        execute(&tip_products(Version::Tuned, side), &mut store);
    }
    store
}

/// Executes a kernel, and by its instructions, too; every bit of the store must be the same.
fn execute_both(kernel: &NewView, store: &mut LocalStore) {
    let mut by_instructions = store.clone();
    execute_by_calls(kernel, &mut by_instructions);
    execute(kernel, store);
    assert!(*store == by_instructions, "{}", kernel.name());
}

/// sum over l of matrix_jl x_l, and the sum of the magnitudes.
fn product(store: &LocalStore, kind: Kind, rates: Rates, at: [u32; 3], side: usize) -> [f64; 2] {
    let [pattern, index, j] = at;
    let category = category(store, rates, pattern, index);
    (0..4).fold([0.0; 2], |[sum, size], l| {
        let matrix = double(store, MATRICES[side], 16 * category + 4 * l + j);
        let term = matrix * entry(store, kind, rates, [pattern, index, l], side);
        [sum + term, size + term.abs()]
    })
}

/// All entries of a pattern before scaling, and the sizes of the sums that they are.
fn expected_entries(store: &LocalStore, kind: Kind, rates: Rates, pattern: u32) -> Vec<[f64; 2]> {
    let entry = |index: u32, l: u32| {
        (0..4).fold([0.0; 2], |[sum, size], j| {
            let at = [pattern, index, j];
            let [a, a_size] = product(store, kind, rates, at, 0);
            let [b, b_size] = product(store, kind, rates, at, 1);
            let v = double(store, MODEL, 16 + 4 * j + l);
            [sum + v * (a * b), size + (v * a_size * b_size).abs()]
        })
    };
    (0..rates.entries()).map(|position| entry(position / 4, position % 4)).collect()
}

fn check_new_view(version: Version, rates: Rates, kind: Kind, groups: u32) {
    let kernel = new_view(version, rates, kind, groups);
    kernel.validate().expect("the data of the test lie right");
    let inputs = store_with_products(rates, groups);
    let mut store = inputs.clone();
    execute_both(&kernel, &mut store);
    let mut scaled = 0;
    for pattern in 0..4 * groups {
        let expected = expected_entries(&inputs, kind, rates, pattern);
        let tiny = expected.iter().all(|[entry, _]| entry.abs() < 2.0f64.powi(-256));
        let scale = tiny && kind != Kind::TipTip;
        scaled += u32::from(scale);
        let factor = if scale { 2.0f64.powi(256) } else { 1.0 };
        for (position, [entry, size]) in (0..).zip(expected) {
            let got = double(&store, OUT, rates.entries() * pattern + position);
            assert_close(got, entry * factor, 2e-15, size * factor);
        }
        let of_children = (0..2).filter(|&side| !kind.is_tip(side));
        let counts: u32 = of_children.map(|side| word(&inputs, COUNTS[side], pattern)).sum();
        assert_eq!(word(&store, OUT_COUNTS, pattern), counts + u32::from(scale));
    }
    let expected = if kind == Kind::TipTip { 0 } else { (4 * groups + 1) / 3 };
    assert_eq!(scaled, expected, "every third pattern is to be scaled");
    let end = times(groups, rates.vector_bytes_per_group());
    assert_eq!(store.load(OUT.offset(end)), Quadword::ZERO, "behind the last group");
    let end = times(groups, COUNT_BYTES_PER_GROUP);
    assert_eq!(store.load(OUT_COUNTS.offset(end)), Quadword::ZERO, "behind the last group");
}

#[test]
fn a_new_view_agrees_with_plain_arithmetic() {
    for rates in RATES {
        for kind in KINDS {
            for groups in GROUPS {
                check_new_view(Version::Tuned, rates, kind, groups);
            }
        }
    }
}

#[test]
fn a_new_view_has_the_bits_of_its_instructions() {
    // What sums and products of these come to is anything from a NaN to a denormal.
    let odd = [f64::INFINITY, f64::NAN, -f64::NAN, 1e300, -1e-300, f64::from_bits(3), -0.0];
    for version in [Version::Naive, Version::Unfused, Version::Tuned] {
        for rates in RATES {
            for kind in KINDS {
                let kernel = new_view(version, rates, kind, 7);
                let store = store_with_products(rates, 7);
                execute_both(&kernel, &mut store.clone());
                for entry in odd {
                    let mut store = store.clone();
                    put(&mut store, VECTORS[1].offset(Bytes(96)), &[1.0, entry]);
                    put(&mut store, PRODUCTS[0].offset(Bytes(128)), &[entry, 1.0]);
                    put(&mut store, MATRICES[1].offset(Bytes(32)), &[1.0, entry]);
                    execute_both(&kernel, &mut store);
                }
            }
        }
    }
}

/// Pattern 2 of one group with identities for matrices and V, so that its entries are those of the
/// left child times those of the right.
fn check_scaling(rates: Rates, left: &[f64], right: f64, expected: &[f64], expected_count: u32) {
    let mut store = random_store(rates, 1);
    let identity: [f64; 16] = std::array::from_fn(|i| f64::from(u8::from(i % 5 == 0)));
    for category in 0..category_count(rates) {
        for matrices in MATRICES {
            put(&mut store, LocalAddress(matrices.0 + 128 * category), &identity);
        }
    }
    put(&mut store, LocalAddress(MODEL.0 + 128), &identity);
    let offset = 2 * 8 * rates.entries();
    put(&mut store, LocalAddress(VECTORS[0].0 + offset), left);
    let right = vec![right; left.len()];
    put(&mut store, LocalAddress(VECTORS[1].0 + offset), &right);
    for counts in COUNTS {
        put_words(&mut store, counts, &[7, 7, 5, 7]);
    }
    execute_both(&new_view(Version::Tuned, rates, Kind::InnerInner, 1), &mut store);
    let first = 2 * rates.entries();
    let got: Vec<f64> = (0..rates.entries()).map(|i| double(&store, OUT, first + i)).collect();
    assert_eq!(got, expected);
    assert_eq!(word(&store, OUT_COUNTS, 2), 10 + expected_count);
}

#[test]
fn a_pattern_is_scaled_where_all_magnitudes_are_below_the_threshold() {
    let tiny = 2.0f64.powi(-257);
    let threshold = 2.0f64.powi(-256);
    let just_below = threshold * (1.0 - f64::EPSILON / 2.0);
    for rates in RATES {
        let length = rates.entries() as usize;
        check_scaling(rates, &vec![tiny; length], 1.0, &vec![0.5; length], 1);
        check_scaling(rates, &vec![tiny; length], -1.0, &vec![-0.5; length], 1);
        let scaled = vec![1.0 - f64::EPSILON / 2.0; length];
        check_scaling(rates, &vec![just_below; length], 1.0, &scaled, 1);
        for position in 0..length {
            for size in [threshold, -threshold, 1.0, -1.0] {
                let mut entries = vec![tiny; length];
                entries[position] = size;
                check_scaling(rates, &entries, 1.0, &entries, 0);
            }
        }
    }
}

#[test]
fn zeros_and_denormals_stay_what_they_are_when_their_pattern_is_scaled() {
    for rates in RATES {
        let length = rates.entries() as usize;
        let least = f64::MIN_POSITIVE;
        for (size, expected) in [
            (0.0, 0.0),
            (least / 2.0, least / 2.0),
            (-least / 2.0, -least / 2.0),
            (least, least * 2.0f64.powi(256)),
            (-least, -least * 2.0f64.powi(256)),
        ] {
            let mut entries = vec![2.0f64.powi(-300); length];
            let mut scaled = vec![2.0f64.powi(-44); length];
            (entries[length - 3], scaled[length - 3]) = (size, expected);
            check_scaling(rates, &entries, 1.0, &scaled, 1);
        }
    }
}

#[test]
fn no_groups_leave_the_store_as_it_was() {
    for rates in RATES {
        for kind in KINDS {
            let inputs = store_with_products(rates, 1);
            let mut store = inputs.clone();
            execute(&new_view(Version::Tuned, rates, kind, 0), &mut store);
            assert!(store == inputs);
        }
    }
}

#[test]
fn an_output_over_an_input_does_not_pass_validation() {
    let kernel = new_view(Version::Tuned, Rates::Gamma, Kind::InnerInner, 50);
    let error = NewView { out: VECTORS[1].offset(Bytes(50 * 512 - 16)), ..kernel }.validate();
    let error = error.expect_err("it overlaps").to_string();
    assert!(error.starts_with("newview, GAMMA, inner/inner, tuned: out at "), "{error}");
    assert!(NewView { out: VECTORS[1].offset(Bytes(50 * 512)), ..kernel }.validate().is_ok());
}
