//! The single-precision arithmetic of the SPU, which is not IEEE 754's.
//!
//! The largest exponent is one like the others, so there is neither infinity nor NaN and numbers
//! reach to `(2 - 2^-23) * 2^128`; what is larger is set to that with its sign. Numbers with
//! exponent 0 are zeros, whatever their fraction; a result smaller than `2^-126` is zero, and a
//! zero that is computed is positive. Results are rounded towards zero, those of a multiply and add
//! once. (IBM, Cell Broadband Engine Programming Tutorial, "Floating-point operations"; SPU
//! Instruction Set Architecture 1.2, chapter 9.)
//!
//! Left out: the exception flags of the FPSCR.

const SIGN: u32 = 0x8000_0000;
/// The largest magnitude: exponent and fraction of all ones.
const LARGEST: u64 = 0x7FFF_FFFF;
/// What the exponent of a double has more than that of the same single.
const BIAS: u64 = 1023 - 127;
/// Bits of fraction that a double has more.
const FRACTION: u32 = 52 - 23;

/// The double of the same value. Every single is one: 24 bits and an exponent from -126 to 128.
#[inline(always)]
pub(super) const fn value(x: u32) -> f64 {
    let widened = ((x & !SIGN) as u64) << FRACTION;
    let is_zero = widened >> 52 == 0;
    let magnitude = if is_zero { 0 } else { widened + (BIAS << 52) };
    f64::from_bits(((x & SIGN) as u64) << 32 | magnitude)
}

#[inline(always)]
pub(super) const fn magnitude(x: u32) -> f64 {
    value(x & !SIGN)
}

#[inline(always)]
pub(super) const fn negate(x: u32) -> u32 {
    x ^ SIGN
}

/// The single next to a double on the side of zero.
#[inline(always)]
pub(super) const fn truncated(x: f64) -> u32 {
    // The fraction is cut with its exponent in front: 11 bits, and then 23.
    let cut = (x.to_bits() & !(1 << 63)) >> FRACTION;
    let smallest = (BIAS + 1) << 23;
    let excess = cut.wrapping_sub(BIAS << 23);
    let magnitude = if excess > LARGEST { LARGEST } else { excess };
    let sign = (x.to_bits() >> 32) as u32 & SIGN;
    if cut < smallest { 0 } else { sign | magnitude as u32 }
}

/// `x + y`, truncated to a single, for doubles of at most 53 bits between 2^-252 and 2^257.
///
/// Let s be the sum rounded to a double, and e = x + y - s its error, which is a double and is
/// found exactly (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B; nothing under- or
/// overflows). If e is 0 or has the sign of s, the exact sum lies from s on outwards, before the
/// next double, and truncating s truncates the sum, because singles are doubles. Otherwise the sum
/// lies between s and the next double d towards zero, where there is no double and so no single but
/// at the ends, and truncating d truncates the sum. As numbers, the bits of d are those of s less 1;
/// s is not 0, for then e would be 0 too.
#[inline(always)]
const fn truncated_sum(x: f64, y: f64) -> u32 {
    let s = x + y;
    let y_part = s - x;
    let e = (x - (s - y_part)) + (y - y_part);
    let is_beyond = e != 0.0 && (e.to_bits() ^ s.to_bits()) >> 63 != 0;
    truncated(f64::from_bits(s.to_bits() - is_beyond as u64))
}

#[inline(always)]
pub(super) const fn add(x: u32, y: u32) -> u32 {
    truncated_sum(value(x), value(y))
}

#[inline(always)]
pub(super) const fn subtract(x: u32, y: u32) -> u32 {
    truncated_sum(value(x), value(negate(y)))
}

/// The product of two times 24 bits is exact in the 53 of a double.
#[inline(always)]
pub(super) const fn multiply(x: u32, y: u32) -> u32 {
    truncated(value(x) * value(y))
}

/// `x * y + z`, truncated once.
#[inline(always)]
pub(super) const fn multiply_add(x: u32, y: u32, z: u32) -> u32 {
    truncated_sum(value(x) * value(y), value(z))
}

/// `x * 2^-scale` as a single; exact until it is truncated.
#[inline(always)]
pub(super) fn from_scaled(x: f64, scale: u8) -> u32 {
    truncated(x * power_of_two(-i32::from(scale)))
}

/// `x * 2^scale`, exact: what is left to do is to truncate it to an integer that saturates.
#[inline(always)]
pub(super) fn to_scaled(x: u32, scale: u8) -> f64 {
    value(x) * power_of_two(i32::from(scale))
}

#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    debug_assert!((-127..=127).contains(&exponent), "scales reach from 0 to 127");
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[cfg(test)]
mod tests;
