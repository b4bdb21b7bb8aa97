//! What double precision has beyond the host's own arithmetic.
//!
//! Doubles are IEEE 754's, rounded to nearest even. Left out: the other rounding modes and the
//! exception flags of the FPSCR; and that the Cell BE takes denormal operands for zero, which the
//! PowerXCell 8i does not: for ordinary kernels it would only cost time. So the two agree where no
//! operand is denormal.

use super::lanes::{DEFAULT_NAN, doublewords2};
use crate::register::Quadword;

/// Single to double, as IEEE 754 reads a single: a NaN becomes the default NaN, a denormal zero.
#[inline(always)]
pub(super) const fn extend(doubleword: u64) -> u64 {
    let single = f32::from_bits((doubleword >> 32) as u32);
    if single.is_nan() {
        return DEFAULT_NAN;
    }
    if single.is_subnormal() {
        return doubleword & 1 << 63;
    }
    (single as f64).to_bits()
}

/// Double to single, rounded to nearest even, in the left half; a NaN becomes the default NaN.
#[inline(always)]
pub(super) const fn round(doubleword: u64) -> u64 {
    let double = f64::from_bits(doubleword);
    let single = if double.is_nan() { 0x7FC0_0000 } else { (double as f32).to_bits() };
    (single as u64) << 32
}

/// All ones in the doublewords for which `holds`.
#[inline(always)]
pub(super) fn compare(ra: Quadword, rb: Quadword, holds: impl Fn(f64, f64) -> bool) -> Quadword {
    doublewords2(ra, rb, |x, y| doubleword_mask(holds(f64::from_bits(x), f64::from_bits(y))))
}

/// All ones where the double is of one of the `kinds`, which are bits.
#[inline(always)]
pub(super) const fn is_special(doubleword: u64, kinds: u8) -> u64 {
    let double = f64::from_bits(doubleword);
    let negative = if double.is_nan() {
        return doubleword_mask(kinds & 64 != 0);
    } else if double.is_infinite() {
        16
    } else if double == 0.0 {
        4
    } else if double.is_subnormal() {
        1
    } else {
        return 0;
    };
    let kind = if double.is_sign_negative() { negative } else { negative << 1 };
    doubleword_mask(kinds & kind != 0)
}

#[inline(always)]
const fn doubleword_mask(condition: bool) -> u64 {
    (condition as u64).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::super::{dfa, dfm, dfma, dfms, dfnma, dfnms, dfs, fesd, frds};
    use super::super::{dfceq, dfcgt, dfcmeq, dfcmgt, dftsv};
    use super::*;
    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn splat(x: f64) -> Quadword {
        Quadword::from_doubles([x; 2])
    }

    /// An integer of 53 bits with its sign.
    fn integer(random: &mut Xoshiro256PlusPlus) -> i128 {
        i128::from(random.random_range(-(1_i64 << 53)..=1 << 53) >> random.random_range(0..53))
    }

    #[test]
    fn results_are_the_exact_integers_rounded_to_nearest_even() {
        // i128 to f64 rounds to nearest even, so it says what a sum of products must be.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(21);
        for _ in 0..100_000 {
            let (x, y) = (integer(&mut random), integer(&mut random));
            let z = integer(&mut random) << random.random_range(0..60);
            let [a, b, c] = [x, y, z].map(|it| splat(it as f64));
            for (got, exact) in [
                (dfa(a, c), x + z),
                (dfs(a, c), x - z),
                (dfm(a, b), x * y),
                (dfma(a, b, c), x * y + z),
                (dfms(a, b, c), x * y - z),
                (dfnms(a, b, c), z - x * y),
                (dfnma(a, b, c), -(x * y + z)),
            ] {
                assert_eq!(got.doubles(), [exact as f64; 2], "{x} {y} {z}");
            }
        }
    }

    #[test]
    fn a_result_that_is_not_a_number_is_the_default_one() {
        let infinity = splat(f64::INFINITY);
        let odd_nan = Quadword([0xFFF4_0000_0000_1234; 2]);
        let nan = Quadword([DEFAULT_NAN; 2]);
        assert_eq!(dfs(infinity, infinity), nan);
        assert_eq!(dfm(infinity, Quadword::ZERO), nan);
        assert_eq!(dfa(odd_nan, splat(1.0)), nan);
        assert_eq!(dfnms(odd_nan, splat(1.0), splat(1.0)), nan);
        assert_eq!(dfnma(splat(1.0), splat(1.0), odd_nan), nan);
        assert_eq!(dfa(infinity, splat(1.0)), infinity);
        // Either lane, and the other stays what it is.
        let (left, right) = ([f64::NAN, 2.0], [2.0, -f64::NAN]);
        let sum = |lanes| dfa(Quadword::from_doubles(lanes), splat(1.0)).0;
        assert_eq!(sum(left), [DEFAULT_NAN, 3.0_f64.to_bits()]);
        assert_eq!(sum(right), [3.0_f64.to_bits(), DEFAULT_NAN]);
    }

    #[test]
    fn singles_are_extended_and_doubles_rounded() {
        let check = |word, expected: u64| {
            assert_eq!(fesd(Quadword::from_words([word, 7, word, 7])).0, [expected; 2]);
        };
        check((-1.5_f32).to_bits(), (-1.5_f64).to_bits());
        check(0x7F80_0000, f64::INFINITY.to_bits());
        check(0xFF80_0001, DEFAULT_NAN);
        check(0x8000_0001, 1 << 63);
        let check = |double: f64, expected| {
            assert_eq!(frds(splat(double)).words(), [expected, 0, expected, 0]);
        };
        // Half of the last place goes to the even neighbour.
        check(1.0 + f64::from(f32::EPSILON) / 2.0, 0x3F80_0000);
        check(1.0 + f64::from(f32::EPSILON) * 1.5, 0x3F80_0002);
        check(1e300, 0x7F80_0000);
        check(-f64::NAN, 0x7FC0_0000);
    }

    fn check_compare(x: f64, y: f64, holds: [bool; 4]) {
        let (a, b) = (splat(x), splat(y));
        let got = [dfceq(a, b), dfcmeq(a, b), dfcgt(a, b), dfcmgt(a, b)];
        let expected = holds.map(|holds| Quadword([if holds { u64::MAX } else { 0 }; 2]));
        assert_eq!(got, expected, "{x} {y}");
    }

    #[test]
    fn doubles_compare_as_numbers_and_by_magnitude() {
        check_compare(2.0, 2.0, [true, true, false, false]);
        check_compare(-2.0, 2.0, [false, true, false, false]);
        check_compare(1.0, -2.0, [false, false, true, false]);
        check_compare(-3.0, 2.0, [false, false, false, true]);
        check_compare(0.0, -0.0, [true, true, false, false]);
        check_compare(f64::NAN, f64::NAN, [false; 4]);
        check_compare(f64::INFINITY, 1.0, [false, false, true, true]);
    }

    #[test]
    fn each_special_value_has_its_bit() {
        let tiny = f64::from_bits(1);
        let kinds = [-tiny, tiny, -0.0, 0.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN];
        for (index, value) in kinds.into_iter().enumerate() {
            for kinds in 0..128 {
                let expected = if kinds >> index & 1 == 1 { u64::MAX } else { 0 };
                assert_eq!(dftsv(splat(value), kinds).0, [expected; 2], "{value} {kinds}");
            }
        }
        assert_eq!(dftsv(splat(1.0), 127), Quadword::ZERO);
    }
}
