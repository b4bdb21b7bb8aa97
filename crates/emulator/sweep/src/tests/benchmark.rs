//! input.50: what the benchmark prints.

// The digits are the printed ones.
#![allow(clippy::excessive_precision)]

use super::{INPUT_50, check_close, problem, solved};
use crate::{Fields, Outcome};

const ERRORS: [f64; 12] = [
    1.0,
    1.775_129_752_629_006_63,
    0.659_083_802_218_004_111,
    0.305_348_671_948_976_524,
    0.141_234_079_272_600_122,
    0.062_789_646_139_528_268_5,
    0.026_695_594_895_489_734_0,
    0.019_956_304_230_268_728_8,
    0.005_687_930_117_967_335_45,
    0.001_854_127_563_340_398_97,
    0.000_681_074_826_574_155_846,
    0.000_261_752_203_210_804_436,
];
const FIX_UPS: [u64; 12] = [0, 0, 0, 0, 0, 0, 0, 12_000, 11_712, 11_664, 11_664, 11_664];
const ABSORPTION: f64 = 3.343_417_464_828_590_37;
const LEAKAGE: [f64; 3] =
    [0.125_419_419_635_145_5, 0.125_419_419_635_145_5, 0.125_419_421_915_668_1];

/// Ten significant digits.
const DIGITS: f64 = 5e-11;

fn check_printed(outcome: &Outcome) {
    assert_eq!(outcome.iterations(), 12);
    for (iteration, (&found, &printed)) in outcome.errors.iter().zip(&ERRORS).enumerate() {
        check_close(found, printed, DIGITS, &format!("error {}", iteration + 1));
    }
    assert_eq!(outcome.fix_ups, FIX_UPS);
    check_close(outcome.absorption, ABSORPTION, DIGITS, "absorption");
    check_close(outcome.source, 4.096, 1e-14, "source");
    for (axis, printed) in LEAKAGE.into_iter().enumerate() {
        for found in outcome.leakage[axis] {
            check_close(found, printed, DIGITS, &format!("leakage along axis {axis}"));
        }
    }
    assert!((outcome.imbalance() - 6.6e-5).abs() < 0.05e-5, "{:e}", outcome.imbalance());
    assert!(outcome.has_converged);
}

#[test]
fn the_printed_values_come_out() {
    check_printed(&solved(&problem(INPUT_50), [1, 1]));
}

#[test]
fn every_decomposition_and_blocking_gives_the_same() {
    let one = solved(&problem(INPUT_50), [2, 3]);
    check_printed(&one);
    for (processes, planes_of_block, angles_of_block) in
        [([5, 10], 10, 3), ([1, 1], 7, 6), ([2, 3], 50, 2), ([3, 1], 1, 1)]
    {
        let fields = Fields { planes_of_block, angles_of_block, ..INPUT_50 };
        let other = solved(&problem(fields), processes);
        // The same operations in the same order: not a bit differs, but for sums over processes.
        assert_eq!(other.flux, one.flux, "{processes:?}");
        assert_eq!((&other.errors, &other.fix_ups), (&one.errors, &one.fix_ups));
        check_close(other.absorption, one.absorption, 1e-13, "absorption");
        let leaked = other.leakage.as_flattened().iter().zip(one.leakage.as_flattened());
        leaked.for_each(|(&found, &expected)| check_close(found, expected, 1e-13, "leakage"));
    }
}
