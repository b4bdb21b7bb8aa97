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
    /// Its value at m, between 1 and 2.
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

/// Of a zero the largest number that an estimate can say, with the zero's sign; of a number whose
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

/// Of a zero the largest number that an estimate can say.
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
