use super::*;

pub(super) fn sum_table(version: Version, rates: Rates, kind: Kind, groups: u32) -> SumTable {
    SumTable { version, rates, groups, model: MODEL, ends: kind.ends(), out: OUT }
}

pub(super) fn derivatives(version: Version, rates: Rates, groups: u32) -> Derivatives {
    Derivatives {
        version,
        rates,
        groups,
        category_count: category_count(rates),
        sums: VECTORS[0],
        factors: FACTORS,
        categories: CATEGORIES,
        weights: WEIGHTS,
        result: RESULT,
    }
}

#[test]
fn a_sum_table_holds_the_products_bit_by_bit() {
    for rates in RATES {
        for (kind, groups) in KINDS.into_iter().flat_map(|it| GROUPS.map(|groups| (it, groups))) {
            let kernel = sum_table(Version::Tuned, rates, kind, groups);
            kernel.validate().expect("the data of the test lie right");
            let mut store = random_store(rates, groups);
            execute(&kernel, &mut store);
            for position in 0..4 * groups * rates.entries() {
                let [pattern, index] = [position / rates.entries(), position % rates.entries()];
                let x = |side| entry(&store, kind, rates, [pattern, index / 4, index % 4], side);
                assert_eq!(double(&store, OUT, position), x(0) * x(1), "{kind:?} {position}");
            }
            let end = OUT.offset(times(groups, rates.vector_bytes_per_group()));
            assert_eq!(store.load(end), Quadword::ZERO, "behind the last group");
        }
    }
}

/// g and h, and the sums of the magnitudes.
fn expected_derivatives(store: &LocalStore, rates: Rates, patterns: u32) -> [[f64; 2]; 2] {
    let count = category_count(rates);
    let [mut sums, mut sizes] = [[0.0; 2]; 2];
    for pattern in 0..patterns {
        let s = |kind: u32| -> f64 {
            let term = |index: u32| {
                let category = category(store, rates, pattern, index / 4);
                let factor = double(store, FACTORS, 4 * count * kind + 4 * category + index % 4);
                double(store, VECTORS[0], rates.entries() * pattern + index) * factor
            };
            (0..rates.entries()).map(term).sum()
        };
        let weight = double(store, WEIGHTS, pattern);
        let slope = s(1) / s(0);
        let of_pattern = [slope, s(2) / s(0) - slope * slope];
        for (which, value) in of_pattern.into_iter().enumerate() {
            sums[which] += weight * value;
            sizes[which] += weight * (value.abs() + slope * slope);
        }
    }
    [sums, sizes]
}

#[test]
fn derivatives_agree_with_plain_arithmetic() {
    for rates in RATES {
        for groups in GROUPS {
            let kernel = derivatives(Version::Tuned, rates, groups);
            kernel.validate().expect("the data of the test lie right");
            let mut store = random_store(rates, groups);
            let [expected, sizes] = expected_derivatives(&store, rates, 4 * groups);
            let got = execute(&kernel, &mut store);
            assert_eq!(store.load(RESULT).doubles(), got);
            for which in 0..2 {
                assert_close(got[which], expected[which], 1e-14, sizes[which]);
            }
            let again = execute(&kernel, &mut store);
            assert_eq!(again, [got[0] + got[0], got[1] + got[1]], "added to what stood there");
        }
    }
}

/// One pattern of weight 1 with s = {s_0, 0, 0, 0}, and factors 1 for S0, `[s_1, s_2]` for the
/// others: g = s_1 and h = s_2 - s_1^2, if the division is right.
#[test]
fn quotients_are_right_to_two_units_in_the_last_place_over_all_magnitudes() {
    let mut random = random(7);
    let mut store = random_store(Rates::Cat, 1);
    put(&mut store, WEIGHTS, &[1.0, 0.0, 0.0, 0.0]);
    put_words(&mut store, CATEGORIES, &[0; 4]);
    let kernel = Derivatives { category_count: 1, ..derivatives(Version::Tuned, Rates::Cat, 1) };
    let mut worst = 0.0f64;
    for exponent in (-1000..=1000).step_by(4) {
        for _ in 0..20 {
            let numerator = random.random_range(1.0..2.0);
            let s = random.random_range(-2.0..2.0) * 2.0f64.powi(exponent);
            put(&mut store, RESULT, &[0.0; 2]);
            // S0 = s, S1 = s_1 with factors 1 and numerator at two entries of which one is s.
            put(&mut store, VECTORS[0], &[s, numerator, 0.0, 0.0]);
            let factors = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0; 4]];
            put(&mut store, FACTORS, factors.as_flattened());
            let [g, _] = execute(&kernel, &mut store);
            let quotient = numerator / s;
            worst = worst.max(((g - quotient) / quotient).abs());
        }
    }
    assert!(worst <= 2.0 * f64::EPSILON, "{worst:e}");
}

#[test]
fn a_pattern_of_weight_zero_contributes_nothing_to_the_derivatives_whatever_it_holds() {
    for rates in RATES {
        let short = derivatives(Version::Tuned, rates, 1);
        let both = [short, Derivatives { groups: 2, ..short }];
        whatever_weighs_nothing(rates, both, |got| got.map(f64::to_bits));
    }
}

pub(super) const NEWTON_STEP: NewtonStep =
    NewtonStep { version: Version::Tuned, derivatives: RESULT, branch: BRANCHES, tables: TABLES };

fn step(z: f64, g: f64, h: f64) -> (f64, Progress) {
    let mut store = LocalStore::new();
    write_tables(&mut store, TABLES);
    put(&mut store, BRANCHES, &[z, 77.0]);
    put(&mut store, RESULT, &[g, h]);
    NEWTON_STEP.validate().expect("the data of the test lie right");
    let progress = execute(&NEWTON_STEP, &mut store);
    let [z, rest] = store.load(BRANCHES).doubles();
    assert_eq!(rest, 0.0);
    (z, progress)
}

/// The rule, with branches.
fn expected_step(z: f64, g: f64, h: f64) -> (f64, Progress) {
    if h >= 0.0 && z < Z_MAX {
        return ((0.37 * z + 0.63).min(Z_MAX), Progress::Shortened);
    }
    let cap = 0.25 * z + 0.75;
    let next = if h >= 0.0 {
        z
    } else if -g / h < 100.0 {
        (z * (-g / h).exp()).max(Z_MIN).min(cap)
    } else {
        cap
    };
    let next = next.min(Z_MAX);
    let converged = (next - z).abs() <= (1.0 - Z_MAX) * z + Z_MIN;
    (next, if converged { Progress::Converged } else { Progress::Moved })
}

fn check_step(z: f64, g: f64, h: f64) -> Progress {
    let (next, progress) = step(z, g, h);
    let (expected, expected_progress) = expected_step(z, g, h);
    // z e^t is as good as t, and t as the quotient.
    assert_close(next, expected, 1e-13, expected);
    assert_eq!(progress, expected_progress, "{z} {g} {h}");
    progress
}

#[test]
fn a_newton_step_follows_the_rule() {
    let mut random = random(11);
    let mut counts = [0; 3];
    for _ in 0..20_000 {
        let z = match random.random_range(0..4) {
            0 => Z_MAX,
            1 => 1.0 - 10.0f64.powf(random.random_range(-6.0..0.0)),
            _ => 10.0f64.powf(random.random_range(-15.0..-1e-6)),
        };
        let size = 10.0f64.powf(random.random_range(-9.0..9.0));
        let [g, h] = [random.random_range(-size..size), random.random_range(-9.0..3.0)];
        counts[check_step(z.clamp(Z_MIN, Z_MAX), g, h) as usize] += 1;
    }
    assert!(counts.iter().all(|&count| count > 1000), "{counts:?}");
}

#[test]
fn a_newton_step_knows_the_edges_of_its_rule() {
    use Progress::{Converged, Moved, Shortened};
    for (z, g, h, expected, progress) in [
        (0.5, 3.0, 0.0, 0.37 * 0.5 + 0.63, Shortened),
        (0.5, 3.0, -0.0, 0.37 * 0.5 + 0.63, Shortened),
        (0.5, 3.0, 2.0, 0.37 * 0.5 + 0.63, Shortened),
        (Z_MAX, 3.0, 2.0, Z_MAX, Converged),
        (Z_MAX, 3.0, -2.0, Z_MAX, Converged),
        (Z_MAX.next_down(), 3.0, 2.0, Z_MAX, Shortened),
        (0.5, 100.0, -1.0, 0.25 * 0.5 + 0.75, Moved),
        (0.5, 1e300, -1e-300, 0.25 * 0.5 + 0.75, Moved),
        (0.5, -1e300, -1e-300, Z_MIN, Moved),
        (0.5, -1000.0, -1.0, Z_MIN, Moved),
        (Z_MIN, -1.0, -1.0, Z_MIN, Converged),
        (0.5, 0.0, -1.0, 0.5, Converged),
        (0.5, 5.0, -1.0, 0.25 * 0.5 + 0.75, Moved),
    ] {
        assert_eq!(step(z, g, h), (expected, progress), "{z} {g} {h}");
    }
    // Just below 100 the exponential is computed, and the cap is the same.
    check_step(1e-15, 99.999, -1.0);
    check_step(Z_MIN, 30.0, -1.0);
}
