//! What double precision has beyond the host's own arithmetic.
//!
//! Doubles are IEEE 754's, rounded to nearest even. Left out: the other rounding modes and the
//! exception flags of the FPSCR; and that the Cell BE takes denormal operands for zero, which the
//! PowerXCell 8i does not: for ordinary kernels it would only cost time. So the two agree where no
//! operand is denormal.

use super::lanes::doublewords2;
use crate::spu::register::Quadword;

/// The NaN that the SPU makes, whatever the operands.
const DEFAULT_NAN: u64 = 0x7FF8_0000_0000_0000;

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
