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
mod tests {
    //! Single precision against exact arithmetic on integers.

    use super::*;
    use crate::register::Quadword;
    use crate::semantics as spu;
    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    const CASES: usize = 100_000;

    /// `significand * 2^exponent`, where after a sum the significand may be one whose fraction was
    /// dropped, which rounding towards zero drops anyway.
    #[derive(Debug, Clone, Copy)]
    struct Exact {
        is_negative: bool,
        significand: u128,
        exponent: i32,
    }

    impl Exact {
        /// Value by the definition of the format: (-1)^S * 1.F * 2^(E - 127), and 0 where E is 0.
        fn of(x: u32) -> Self {
            let (exponent, fraction) = ((x >> 23 & 0xFF) as i32, u128::from(x & 0x7F_FFFF));
            let significand = if exponent == 0 { 0 } else { 0x80_0000 + fraction };
            Self { is_negative: x >> 31 == 1, significand, exponent: exponent - 150 }
        }

        fn integer(x: i64, scale: i32) -> Self {
            let significand = u128::from(x.unsigned_abs());
            Self { is_negative: x < 0, significand, exponent: -scale }
        }

        fn times(self, other: Self) -> Self {
            Self {
                is_negative: self.is_negative != other.is_negative,
                significand: self.significand * other.significand,
                exponent: self.exponent + other.exponent,
            }
        }

        /// Normalises it to bit 100 as the highest.
        fn normalized(self) -> Self {
            let shift = 100 - self.significand.ilog2();
            let exponent = self.exponent - shift as i32;
            Self { significand: self.significand << shift, exponent, ..self }
        }

        fn plus(self, other: Self) -> Self {
            if self.significand == 0 || other.significand == 0 {
                return if self.significand == 0 { other } else { self };
            }
            let (one, two) = (self.normalized(), other.normalized());
            let size = |it: &Self| (it.exponent, it.significand);
            let (large, small) = if size(&one) < size(&two) { (two, one) } else { (one, two) };
            let distance = (large.exponent - small.exponent).min(120);
            let addend = small.significand >> distance;
            let is_cut = addend << distance != small.significand;
            let significand = if large.is_negative == small.is_negative {
                large.significand + addend
            } else {
                // Taking away a fraction too leaves the next lower integer and a fraction.
                large.significand - addend - u128::from(is_cut)
            };
            Self { significand, ..large }
        }

        /// Rounded towards zero.
        fn rounded(self) -> u32 {
            if self.significand == 0 {
                return 0;
            }
            let highest = self.significand.ilog2();
            let exponent = self.exponent + highest as i32 + 127;
            let fraction = if highest >= 23 {
                self.significand >> (highest - 23)
            } else {
                self.significand << (23 - highest)
            };
            let sign = u32::from(self.is_negative) << 31;
            match exponent {
                ..=0 => 0,
                1..=255 => sign | (exponent as u32) << 23 | fraction as u32 & 0x7F_FFFF,
                _ => sign | 0x7FFF_FFFF,
            }
        }
    }

    /// Bit patterns of every kind: random ones; special ones; and numbers near 1 with few bits, among
    /// which sums cancel and products end on or beside a single.
    fn operand(random: &mut Xoshiro256PlusPlus) -> u32 {
        const SPECIAL: [u32; 10] = [
            0,
            0x8000_0000,
            0x007F_FFFF,
            0x8000_0001,
            0x0080_0000,
            0x0080_0001,
            0x7F80_0000,
            0x7FFF_FFFF,
            0x3F80_0000,
            u32::MAX,
        ];
        let sign = random.random_range(0..2) << 31;
        match random.random_range(0..8) {
            0 => SPECIAL[random.random_range(0..SPECIAL.len())],
            1 | 2 => random.random(),
            3 => sign | random.random_range(0x7F00_0000..=0x7FFF_FFFF),
            4 => sign | random.random_range(0x0080_0000..0x0200_0000),
            5 => {
                let fraction = 1 << random.random_range(0..23) | 1 << random.random_range(0..23);
                sign | random.random_range(100..150) << 23 | fraction
            }
            6 => sign | random.random_range(120..134) << 23 | random.random_range(0..2),
            _ => sign | random.random_range(120..134) << 23 | random.random_range(0..0x80_0000),
        }
    }

    fn check(got: impl Fn(u32, u32, u32) -> u32, expected: impl Fn(Exact, Exact, Exact) -> Exact) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        for _ in 0..CASES {
            let [x, y, z] = [0; 3].map(|_: u32| operand(&mut random));
            let expected = expected(Exact::of(x), Exact::of(y), Exact::of(z)).rounded();
            let got = got(x, y, z);
            assert_eq!(got, expected, "{x:08X} {y:08X} {z:08X}: {got:08X}, not {expected:08X}");
        }
    }

    fn negated(x: Exact) -> Exact {
        Exact { is_negative: !x.is_negative, ..x }
    }

    /// Applies an instruction to the first words of quadwords.
    fn on_words(f: fn(Quadword, Quadword, Quadword) -> Quadword) -> impl Fn(u32, u32, u32) -> u32 {
        move |x, y, z| f(Quadword::splat(x), Quadword::splat(y), Quadword::splat(z)).words()[2]
    }

    #[test]
    fn sums_differences_and_products_are_the_exact_ones_truncated() {
        check(on_words(|x, y, _| spu::fa(x, y)), |x, y, _| x.plus(y));
        check(on_words(|x, y, _| spu::fs(x, y)), |x, y, _| x.plus(negated(y)));
        check(on_words(|x, y, _| spu::fm(x, y)), |x, y, _| x.times(y));
    }

    #[test]
    fn a_multiply_and_add_is_truncated_once() {
        check(on_words(spu::fma), |x, y, z| x.times(y).plus(z));
        check(on_words(spu::fms), |x, y, z| x.times(y).plus(negated(z)));
        check(on_words(spu::fnms), |x, y, z| z.plus(negated(x.times(y))));
    }

    #[test]
    fn a_sum_just_below_a_single_is_cut_to_the_next() {
        let (one, below_one) = (0x3F80_0000, 0x3F7F_FFFF);
        let tiny = 0x0080_0000;
        // 1 - 2^-126, which a double rounds to 1.
        assert_eq!(add(one, negate(tiny)), below_one);
        assert_eq!(add(negate(one), tiny), negate(below_one));
        assert_eq!(add(one, tiny), one);
        // (1 + 2^-23)^2 - 2^-46 = 1 + 2^-22 exactly, and less with a little more taken away.
        let next = one + 1;
        let two_to_minus_46 = (127 - 46) << 23;
        assert_eq!(multiply_add(next, next, negate(two_to_minus_46)), one + 2);
        assert_eq!(multiply_add(next, next, negate(two_to_minus_46 + 1)), one + 1);
    }

    #[test]
    fn there_is_no_infinity_and_no_denormal() {
        let (largest, smallest) = (0x7FFF_FFFF, 0x0080_0000);
        assert_eq!(add(largest, largest), largest);
        // 2^128 + 2^128 is the least number that is too large.
        assert_eq!(add(0x7F80_0000, 0x7F80_0000), largest);
        assert_eq!(multiply(negate(largest), largest), negate(largest));
        // Exponent 255 is a number: 2^128 - 2^127 = 2^127.
        assert_eq!(subtract(0x7F80_0000, 0x7F00_0000), 0x7F00_0000);
        // Half of the smallest number, and of minus it, is plus zero.
        assert_eq!(multiply(smallest, 0x3F00_0000), 0);
        assert_eq!(multiply(negate(smallest), 0x3F00_0000), 0);
        assert_eq!(add(0x007F_FFFF, 0x8000_0001), 0);
        assert_eq!(add(0x8000_0000, 0x8000_0000), 0);
    }

    #[test]
    fn compares_take_all_zeros_for_equal() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(12);
        // The order of numbers is that of their bits, zeros aside, with the sign turned round.
        let key = |x: u32| {
            let magnitude = if x << 1 >> 24 == 0 { 0 } else { i64::from(x & 0x7FFF_FFFF) };
            if x >> 31 == 1 { -magnitude } else { magnitude }
        };
        for _ in 0..CASES {
            let (x, y) = (operand(&mut random), operand(&mut random));
            let y = if random.random_range(0..4) == 0 { x ^ 0x8000_0000 } else { y };
            let all = |condition: bool| if condition { u32::MAX } else { 0 };
            let (a, b) = (Quadword::splat(x), Quadword::splat(y));
            assert_eq!(spu::fceq(a, b).preferred(), all(key(x) == key(y)));
            assert_eq!(spu::fcgt(a, b).preferred(), all(key(x) > key(y)));
            assert_eq!(spu::fcmeq(a, b).preferred(), all(key(x).abs() == key(y).abs()));
            assert_eq!(spu::fcmgt(a, b).preferred(), all(key(x).abs() > key(y).abs()));
        }
    }

    #[test]
    fn integers_become_singles_scaled_down_and_truncated() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
        for _ in 0..CASES {
            let (x, scale) = (operand(&mut random), random.random_range(0..128));
            let q = Quadword::splat(x);
            let signed = Exact::integer(i64::from(x as i32), i32::from(scale)).rounded();
            assert_eq!(spu::csflt(q, scale).preferred(), signed);
            let unsigned = Exact::integer(i64::from(x), i32::from(scale)).rounded();
            assert_eq!(spu::cuflt(q, scale).preferred(), unsigned);
        }
    }

    #[test]
    fn singles_become_integers_scaled_up_truncated_and_saturated() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(14);
        for _ in 0..CASES {
            let (x, scale) = (operand(&mut random), random.random_range(0..128));
            let exact = Exact::of(x);
            let exponent = exact.exponent + i32::from(scale);
            let magnitude = match exponent {
                ..-24 => 0,
                -24..0 => exact.significand >> -exponent,
                0..40 => exact.significand << exponent,
                _ => exact.significand << 40,
            };
            let magnitude = magnitude as i128;
            let number = if exact.is_negative { -magnitude } else { magnitude };
            let q = Quadword::splat(x);
            let signed = number.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            assert_eq!(spu::cflts(q, scale).preferred() as i32, signed, "{x:08X} {scale}");
            let unsigned = number.clamp(0, u32::MAX.into()) as u32;
            assert_eq!(spu::cfltu(q, scale).preferred(), unsigned, "{x:08X} {scale}");
        }
    }
}
