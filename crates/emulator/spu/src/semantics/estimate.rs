//! Estimates of reciprocals, and the interpolation that makes 12 bits of them.
//!
//! An estimate is a line. Its sign and exponent stand where those of a single stand; of the 23 bits
//! of fraction 13 are a *base* and 10 a *step*, in units of 2^-13. The line is
//!
//! ```text
//! (1 + base - step * y) * 2^exponent,   y = the low 19 bits of the operand's fraction / 2^19
//! ```
//!
//! so y runs from 0 to 1 over a sixteenth of an octave of the operand. There is a line for each
//! thirty-second of an octave, with y from 0 to 1/2 or from 1/2 to 1; for square roots in octaves of
//! even and of odd exponent.
//!
//! The format is the architecture's (SPU Instruction Set Architecture 1.2, `fi`), the choice of the
//! 32 and 64 lines is the hardware's own. Here it is the line whose step is that of the chord and
//! whose base halves the largest error; so the last bits of an estimate may differ from the
//! hardware's. Both are within 2^-12 of the function.

use super::single;

/// Bits of the step.
const STEP_BITS: u32 = 10;
const UNIT: f64 = 8192.0;

/// Base and step of 2 / m on each thirty-second of the octave of m from 1 to 2.
const RECIPROCAL: [u32; 32] = {
    let mut lines = [0; 32];
    let mut index = 0;
    while index < 32 {
        lines[index as usize] = line(index, Function::Reciprocal);
        index += 1;
    }
    lines
};

/// Base and step of 2 / sqrt(2 m), for odd exponents, and then of 2 / sqrt(m), for even ones. An odd
/// exponent is an even one in the biased form.
const RECIPROCAL_SQUARE_ROOT: [[u32; 32]; 2] = {
    let mut lines = [[0; 32]; 2];
    let mut index = 0;
    while index < 32 {
        lines[0][index as usize] = line(index, Function::OfOddExponent);
        lines[1][index as usize] = line(index, Function::OfEvenExponent);
        index += 1;
    }
    lines
};

#[derive(Clone, Copy)]
enum Function {
    Reciprocal,
    OfOddExponent,
    OfEvenExponent,
}

impl Function {
    /// Value at m, between 1 and 2.
    const fn of(self, m: f64) -> f64 {
        match self {
            Self::Reciprocal => 2.0 / m,
            Self::OfOddExponent => 2.0 * reciprocal_root(2.0 * m),
            Self::OfEvenExponent => 2.0 * reciprocal_root(m),
        }
    }
}

/// 1 / sqrt(x) for x from 1 to 4, by Newton's method, which doubles the correct bits each time.
const fn reciprocal_root(x: f64) -> f64 {
    let mut root = 0.6;
    let mut step = 0;
    while step < 8 {
        root *= 1.5 - 0.5 * x * root * root;
        step += 1;
    }
    root
}

/// The line for the thirty-second `index` of an octave.
const fn line(index: u32, function: Function) -> u32 {
    const SAMPLES: u32 = 64;
    let start = 1.0 + index as f64 / 32.0;
    let drop = function.of(start) - function.of(start + 1.0 / 32.0);
    let step = (2.0 * drop * UNIT + 0.5) as u32;
    // What the base must be for the line to touch the function at each place.
    let (mut lowest, mut highest) = (2.0, 0.0);
    let mut sample = 0;
    while sample <= SAMPLES {
        let part = sample as f64 / SAMPLES as f64;
        let y = ((index % 2) as f64 + part) / 2.0;
        let base = function.of(start + part / 32.0) + step as f64 / UNIT * y;
        lowest = if base < lowest { base } else { lowest };
        highest = if base > highest { base } else { highest };
        sample += 1;
    }
    let base = ((lowest + highest) / 2.0 - 1.0) * UNIT + 0.5;
    (base as u32) << STEP_BITS | step
}

/// Estimates the reciprocal: of a zero the largest number that an estimate can say, with the zero's
/// sign; of a number whose
/// reciprocal is too small for a single, zero.
#[inline(always)]
pub(super) const fn reciprocal(x: u32) -> u32 {
    let (sign, exponent) = (x & 0x8000_0000, x >> 23 & 0xFF);
    match exponent {
        0 => sign | LARGEST,
        253.. => 0,
        _ => sign | (253 - exponent) << 23 | RECIPROCAL[(x >> 18 & 31) as usize],
    }
}

/// Exponent 255 and the largest base.
const LARGEST: u32 = 0x7FFF_FFFF << STEP_BITS & 0x7FFF_FFFF;

/// Estimates the reciprocal of the square root: of a zero the largest number that an estimate can say.
#[inline(always)]
pub(super) const fn reciprocal_square_root(x: u32) -> u32 {
    let exponent = x >> 23 & 0xFF;
    if exponent == 0 {
        return LARGEST;
    }
    let line = RECIPROCAL_SQUARE_ROOT[(exponent & 1) as usize][(x >> 18 & 31) as usize];
    (190 - exponent.div_ceil(2)) << 23 | line
}

/// The value of the line `line` at `x`, truncated to a single.
#[inline(always)]
pub(super) const fn interpolate(x: u32, line: u32) -> u32 {
    let (sign, exponent) = (line & 0x8000_0000, line >> 23 & 0xFF);
    if exponent == 0 {
        return 0;
    }
    // In units of 2^-32: 13 bits of base and 19 of y.
    let base = (line >> STEP_BITS & 0x1FFF) as u64;
    let step = (line & 0x3FF) as u64;
    let significand = (1 << 32) + (base << 19) - step * (x & 0x7_FFFF) as u64;
    let unit = (sign as u64) << 32 | (1023 + exponent as u64 - 127 - 32) << 52;
    single::truncated(significand as f64 * f64::from_bits(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The greatest relative error of an estimate after interpolation, over two octaves of
    /// operands, in units of 2^-12.
    fn worst(estimate: fn(u32) -> u32, exact: fn(f64) -> f64) -> f64 {
        let operands = (0x3F80_0000..0x4080_0000).step_by(13);
        let error = |x: u32| {
            let exact = exact(single::value(x));
            (single::value(interpolate(x, estimate(x))) / exact - 1.0).abs() * 4096.0
        };
        operands.map(error).fold(0.0, f64::max)
    }

    #[test]
    fn interpolated_estimates_are_right_to_12_bits() {
        // A chord's error over h = 1/32 of 2 / m, halved by lying between: h^2 / 16 * 4 = 2^-12 of
        // 2, and the roundings of base (2^-14) and step (2^-14 * y).
        let reciprocal = worst(super::reciprocal, |x| 1.0 / x);
        assert!((0.5..1.0).contains(&reciprocal), "{reciprocal}");
        let root = worst(super::reciprocal_square_root, |x| 1.0 / x.sqrt());
        assert!((0.3..1.0).contains(&root), "{root}");
    }

    #[test]
    fn one_newton_step_makes_the_reciprocal_right_to_the_last_bits() {
        for x in (0x3F80_0000..0x4000_0000).step_by(97) {
            let y = interpolate(x, super::reciprocal(x));
            // y + y (1 - x y), with the error squared: 2^-24, and two truncations.
            let one = 0x3F80_0000;
            let rest = single::multiply_add(single::negate(x), y, one);
            let y = single::multiply_add(y, rest, y);
            let error = single::value(y) * single::value(x) - 1.0;
            assert!(error.abs() < 2.5 / f64::from(1 << 23), "{x:08X}: {error:e}");
        }
    }

    fn check(estimate: fn(u32) -> u32, x: f32, expected: f64) {
        let x = x.to_bits();
        let got = single::value(interpolate(x, estimate(x)));
        assert!((got / expected - 1.0).abs() < 1.0 / 4096.0, "{got} for {expected}");
    }

    #[test]
    fn estimates_know_signs_and_exponents() {
        check(super::reciprocal, -0.125, -8.0);
        check(super::reciprocal, 8.0e37, 1.0 / 8.0e37);
        check(super::reciprocal, 2.0e-38, 1.0 / 2.0e-38);
        check(super::reciprocal_square_root, -16.0, 0.25);
        check(super::reciprocal_square_root, 2.0, std::f64::consts::FRAC_1_SQRT_2);
        check(super::reciprocal_square_root, 2.0e-38, 1.0 / 2.0e-38_f64.sqrt());
    }

    #[test]
    fn estimates_of_zero_are_the_largest_and_those_of_huge_numbers_zero() {
        let of = |x| interpolate(x, super::reciprocal(x));
        assert_eq!(of(0), 0x7FFF_FC00);
        assert_eq!(of(0x8000_0000), 0xFFFF_FC00);
        assert_eq!(of(0x7F00_0000), 0);
        assert_eq!(interpolate(0, super::reciprocal_square_root(0x8000_0001)), 0x7FFF_FC00);
    }

    #[test]
    fn interpolation_reads_base_and_step_where_the_format_has_them() {
        // (1 + base - step y) * 2^1 with base 3 and step 512, y = 1/2 and then 0.
        let line = 0x4000_0000 | 3 << 10 | 512;
        let exact = 2.0 * (1.0 + 3.0 / 8192.0 - 512.0 / 8192.0 / 2.0);
        assert_eq!(single::value(interpolate(0x4_0000, line)), exact);
        assert_eq!(interpolate(0xFFF8_0000, line), line & !0x3FF);
    }
}
