use super::*;

pub(super) fn evaluate(version: Version, rates: Rates, kind: Kind, groups: u32) -> Evaluate {
    Evaluate {
        version,
        rates,
        groups,
        category_count: category_count(rates),
        model: MODEL,
        ends: kind.ends(),
        diagonal: DIAGONAL,
        categories: CATEGORIES,
        weights: WEIGHTS,
        terms: None,
        tables: TABLES,
        result: RESULT,
    }
}

/// The term of a pattern.
fn expected_term(store: &LocalStore, kind: Kind, rates: Rates, pattern: u32) -> f64 {
    let categories = rates.entries() / 4;
    let mut sum = 0.0;
    for [index, l] in (0..4 * categories).map(|it| [it / 4, it % 4]) {
        let x = |side| entry(store, kind, rates, [pattern, index, l], side);
        let category = category(store, rates, pattern, index);
        sum += x(0) * x(1) * double(store, DIAGONAL, 4 * category + l);
    }
    let inner = (0..2).filter(|&side| !kind.is_tip(side));
    let counts: u32 = inner.map(|side| word(store, COUNTS[side], pattern)).sum();
    (sum / f64::from(categories)).abs().ln() - f64::from(counts) * 256.0 * std::f64::consts::LN_2
}

fn check_evaluate(rates: Rates, kind: Kind, groups: u32) {
    let kernel = Evaluate { terms: Some(TERMS), ..evaluate(Version::Tuned, rates, kind, groups) };
    kernel.validate().expect("the data of the test lie right");
    let mut store = random_store(rates, groups);
    let [mut expected, mut size] = [0.0; 2];
    let mut negative = 0;
    for pattern in 0..4 * groups {
        let term = double(&store, WEIGHTS, pattern) * expected_term(&store, kind, rates, pattern);
        expected += term;
        size += term.abs();
        negative += u32::from(pattern % 5 == 2 && !kind.is_tip(0));
    }
    assert!(negative > 0 || kind.is_tip(0), "sums of either sign");
    let sum = execute(&kernel, &mut store);
    assert_close(sum, expected, 1e-14, size);
    assert_eq!(store.load(RESULT).doubles(), [sum, 0.0]);
    for pattern in 0..4 * groups {
        let term = expected_term(&store, kind, rates, pattern);
        assert_close(double(&store, TERMS, pattern), term, 1e-14, 1.0 + term.abs());
    }
    let end = TERMS.offset(times(groups, TERM_BYTES_PER_GROUP));
    assert_eq!(store.load(end), Quadword::ZERO, "behind the last group");

    // Without terms the same bits, and nothing else is written.
    let mut store = random_store(rates, groups);
    let mut expected = store.clone();
    let without = execute(&Evaluate { terms: None, ..kernel }, &mut store);
    assert_eq!(without.to_bits(), sum.to_bits());
    expected.store(RESULT, Quadword::from_doubles([sum, 0.0]));
    assert!(store == expected, "something else was written");
}

#[test]
fn an_evaluation_agrees_with_plain_arithmetic() {
    for rates in RATES {
        for kind in KINDS {
            for groups in GROUPS {
                check_evaluate(rates, kind, groups);
            }
        }
    }
}

#[test]
fn a_block_is_added_to_what_stands_at_the_result() {
    for rates in RATES {
        let kernel = evaluate(Version::Tuned, rates, Kind::InnerInner, 2);
        let mut store = random_store(rates, 2);
        let once = execute(&kernel, &mut store);
        assert_eq!(execute(&kernel, &mut store), once + once);
        put(&mut store, RESULT, &[-1000.0, 3.0]);
        assert_eq!(execute(&kernel, &mut store), once - 1000.0);
        assert_eq!(store.load(RESULT).doubles(), [once - 1000.0, 0.0]);
        let nothing = Evaluate { groups: 0, ..kernel };
        assert_eq!(execute(&nothing, &mut store), once - 1000.0);
    }
}

#[test]
fn a_pattern_of_weight_zero_contributes_nothing_whatever_it_holds() {
    for rates in RATES {
        let short = evaluate(Version::Tuned, rates, Kind::InnerInner, 1);
        whatever_weighs_nothing(rates, [short, Evaluate { groups: 2, ..short }], f64::to_bits);
    }
}
