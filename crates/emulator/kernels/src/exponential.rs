//! The exponential of two doubles at once, and their [`Reciprocal`], from instructions of the SPU.
//!
//! # The exponential
//! With n the integer nearest to x 128 / ln 2, and a table of 2^(i/128):
//!
//! ```text
//! r   = x - n ln 2 / 128                         |r| <= ln 2 / 256 = 0.0027
//! e^x = 2^floor(n/128) 2^((n mod 128)/128) e^r
//! e^r = 1 + r (1 + r (1/2 + r (1/6 + r/24))) + ...
//! ```
//!
//! The constant ln 2 / 128 is the sum of two doubles, so that r is as good where x is large; the
//! first term left out is r^5/120, at most 1.2e-15.
//!
//! Domain: x up to 709, to a relative error of 1e-14. Below -708.0005 (where e^x comes near the
//! least normal double) the result is 0, for minus infinity too. For greater x, and for bits that
//! are no number, it has no meaning.
//!
//! # The reciprocal
//! A single-precision estimate of the mantissa's reciprocal is refined once in single and once, by
//! a step of third order, in double precision:
//!
//! ```text
//! x   = s 2^k m, 1 <= m < 2
//! y   = 1/m to 18 bits
//! e   = 1 - m y
//! y'  = y + y (e + e^2)                 relative error e^3 < 2^-54, and the rounding
//! 1/x = s 2^-k y'
//! ```
//!
//! The exponents are dealt with as integers, so that nothing depends on the range of singles. It takes 3
//! double-precision instructions.

use super::logarithm::{FIRST_DOUBLES, SECOND_DOUBLES};
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, LocalStore, Quadword, Spu};

/// Steps of the table in an octave.
const STEPS: u32 = 128;

/// Size of the table in local store: one quadword {2^(i/128), 2^(i/128)} for each step.
pub const TABLE_BYTES: Bytes = Bytes(16 * STEPS as u64);

/// 128 / ln 2.
const INVERSE_STEP: f64 = 184.664_965_233_787_3;

/// ln 2 / 128, and what the first double leaves of it.
const STEP: [f64; 2] = [STEP_HIGH, STEP_LOW];
const STEP_HIGH: f64 = 0.005_415_212_348_124_572_5;
const STEP_LOW: f64 = 1.811_755_323_317_421_5e-19;

/// 2^52 + 2^51: a double whose low word counts units, also below zero.
const INTEGER_OFFSET: f64 = 6_755_399_441_055_744.0;

/// Coefficients of r times 1, r, r^2, r^3.
const SERIES: [f64; 4] = [1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0];

/// High word of -708: of a number below, it is greater.
const LOWEST_HIGH_WORD: u32 = 0xC086_2000;

/// Puts the table at `address`, a multiple of 16 with [`TABLE_BYTES`] behind it.
pub fn write_table(store: &mut LocalStore, address: LocalAddress) {
    for (step, entry) in (0..STEPS).zip(store.slice_mut(address, TABLE_BYTES)) {
        *entry = both(power_of_two(f64::from(step) / f64::from(STEPS)));
    }
}

/// 2^x for x from 0 to 1, by the series of e^(x ln 2): the host's own power may differ between
/// hosts in the last bit, and the table must not. The terms fall off fast, and the greatest is 1.
fn power_of_two(x: f64) -> f64 {
    let y = x * std::f64::consts::LN_2;
    let rest = (2..=24).rev().fold(0.0, |sum, n| (y / f64::from(n)) * (1.0 + sum));
    1.0 + y * (1.0 + rest)
}

/// The constants of the exponential in registers.
#[derive(Debug, Clone, Copy)]
pub struct Exponential<R> {
    table: R,
    inverse_step: R,
    step: [R; 2],
    integer_offset: R,
    series: [R; 4],
    index_mask: R,
    lowest: R,
    first_and_second: R,
    exponents: R,
    both_words: R,
}

impl<R: Copy> Exponential<R> {
    /// Loads the constants; the table stands at `table`.
    #[inline(always)]
    pub fn new<S: Spu<Register = R>>(spu: &mut S, table: LocalAddress) -> Self {
        Self {
            table: spu.ila(table.0),
            inverse_step: spu.lqr(both(INVERSE_STEP)),
            step: [spu.lqr(both(STEP[0])), spu.lqr(both(STEP[1]))],
            integer_offset: spu.lqr(both(INTEGER_OFFSET)),
            series: [
                spu.lqr(both(SERIES[0])),
                spu.lqr(both(SERIES[1])),
                spu.lqr(both(SERIES[2])),
                spu.lqr(both(SERIES[3])),
            ],
            index_mask: spu.il((STEPS as i16 - 1) * 16),
            lowest: spu.lqr(Quadword::splat(LOWEST_HIGH_WORD)),
            first_and_second: spu.lqr(FIRST_AND_SECOND),
            exponents: spu.lqr(LOW_WORDS_TO_HIGH),
            both_words: spu.lqr(HIGH_WORDS_TWICE),
        }
    }

    /// e^x for both lanes of `x`.
    #[inline(always)]
    pub fn of<S: Spu<Register = R>>(&self, spu: &mut S, x: R) -> R {
        // n, as the low word of 2^52 + 2^51 + n.
        let offset = spu.ori(self.integer_offset, 0);
        let with_n = spu.dfma(x, self.inverse_step, offset);
        let n = spu.dfs(with_n, self.integer_offset);

        let x_again = spu.ori(x, 0);
        let r = spu.dfnms(n, self.step[0], x_again);
        let r = spu.dfnms(n, self.step[1], r);

        let index = spu.shli(with_n, 4);
        let index = spu.and_(index, self.index_mask);
        let first_index = spu.rotqbyi(index, 4);
        let second_index = spu.rotqbyi(index, 12);
        let first_entry = spu.lqx(self.table, first_index);
        let second_entry = spu.lqx(self.table, second_index);
        let power = spu.shufb(first_entry, second_entry, self.first_and_second);

        // power e^r = power + power (r (1 + r (1/2 + ...)))
        let q = self.step(spu, r, self.series[3], self.series[2]);
        let q = self.step(spu, r, q, self.series[1]);
        let q = self.step(spu, r, q, self.series[0]);
        let q = spu.dfm(r, q);
        let power_again = spu.ori(power, 0);
        let mantissa = spu.dfma(power, q, power_again);

        // floor(n / 128) is added to the exponent.
        let octaves = spu.rotmai(with_n, -(STEPS.trailing_zeros() as i16));
        let octaves = spu.shli(octaves, 20);
        let octaves = spu.shufb(octaves, octaves, self.exponents);
        let result = spu.a(mantissa, octaves);

        let vanishes = spu.clgt(x, self.lowest);
        let vanishes = spu.shufb(vanishes, vanishes, self.both_words);
        spu.andc(result, vanishes)
    }

    /// q r + coefficient; `dfma` overwrites a copy, as the next pair needs the coefficient again.
    #[inline(always)]
    fn step<S: Spu<Register = R>>(&self, spu: &mut S, r: R, q: R, coefficient: R) -> R {
        let coefficient = spu.ori(coefficient, 0);
        spu.dfma(q, r, coefficient)
    }
}

#[inline(always)]
const fn both(x: f64) -> Quadword {
    Quadword::from_doubles([x, x])
}

/// Doubleword 0 of the first operand, then doubleword 1 of the second.
const FIRST_AND_SECOND: Quadword = Quadword([FIRST_DOUBLES.0[0], SECOND_DOUBLES.0[1]]);

/// Shuffles into each doubleword the low word of the first operand as the high word, then zeros.
const LOW_WORDS_TO_HIGH: Quadword =
    Quadword::from_words([0x0405_0607, 0x8080_8080, 0x0C0D_0E0F, 0x8080_8080]);

/// Shuffles into each doubleword its high word twice.
pub(super) const HIGH_WORDS_TWICE: Quadword =
    Quadword::from_words([0x0001_0203, 0x0001_0203, 0x0809_0A0B, 0x0809_0A0B]);

/// Sign and exponent of a high word.
const SIGN_AND_EXPONENT: u32 = 0xFFF0_0000;

/// 1023 - 127 in the exponent field of a high word.
const REBIAS_HIGH_HALFWORD: u16 = (1023 - 127) << 4;

const fn high_words(word: u32) -> Quadword {
    Quadword::from_words([word, 0, word, 0])
}

/// Constants in registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reciprocal<R> {
    sign_and_exponent: R,
    sign: R,
    one: R,
    single_one: R,
    to_single: R,
    rebias: R,
    high_words: R,
}

impl<R: Copy> Reciprocal<R> {
    #[inline(always)]
    pub(crate) fn load<S: Spu<Register = R>>(spu: &mut S) -> Self {
        Self {
            sign_and_exponent: spu.lqr(high_words(SIGN_AND_EXPONENT)),
            sign: spu.lqr(high_words(0x8000_0000)),
            one: spu.lqr(Quadword::from_doubles([1.0; 2])),
            single_one: spu.lqr(Quadword::splat(1.0f32.to_bits())),
            to_single: spu.lqr(Quadword::splat(0x007F_FFFF)),
            rebias: spu.ilhu(REBIAS_HIGH_HALFWORD),
            high_words: spu.lqr(Quadword([0xFFFF_FFFF_0000_0000; 2])),
        }
    }

    /// 1/x for both lanes, to 2 units in the last place. Of zeros and denormals it is
    /// finite, about 2^1023; from 2^1022 on, and of what is no number, it has no meaning.
    #[inline(always)]
    pub(crate) fn of<S: Spu<Register = R>>(&self, spu: &mut S, x: R) -> R {
        let sign_and_exponent = spu.and_(x, self.sign_and_exponent);
        let mantissa = spu.andc(x, self.sign_and_exponent);
        let m = spu.or_(mantissa, self.one);

        // The 20 highest bits of the mantissa as a single between 1 and 2.
        let single = spu.shli(m, 3);
        let single = spu.and_(single, self.to_single);
        let single = spu.or_(single, self.single_one);
        let line = spu.frest(single);
        let estimate = spu.fi(single, line);
        let rest = spu.fnms(single, estimate, self.single_one);
        let estimate = spu.fma(estimate, rest, estimate);

        // And back: from the single's exponent, 127 above zero, to the double's, 1023.
        let y = spu.rotmi(estimate, -3);
        let y = spu.a(y, self.rebias);
        let y = spu.and_(y, self.high_words);

        let one = spu.ori(self.one, 0);
        let e = spu.dfnms(m, y, one);
        let e_again = spu.ori(e, 0);
        let correction = spu.dfma(e, e, e_again);
        let y_again = spu.ori(y, 0);
        let refined = spu.dfma(y, correction, y_again);

        // The exponent of x is e + 1023, that of `refined` is to become its own less e.
        let sign = spu.and_(sign_and_exponent, self.sign);
        let exponent = spu.andc(sign_and_exponent, self.sign);
        let k = spu.sf(self.one, exponent);
        let result = spu.sf(k, refined);
        spu.or_(result, sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_spu::{Kernel, Shape, execute};

    const TABLE: LocalAddress = LocalAddress(0x1000);

    struct Pair([f64; 2]);

    impl Kernel for Pair {
        type Output = [f64; 2];
        fn shape(&self) -> Shape {
            Shape::new("exponential of a pair", 0)
        }
        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) -> [f64; 2] {
            let exponential = Exponential::new(spu, TABLE);
            let x = spu.lqr(Quadword::from_doubles(self.0));
            let result = exponential.of(spu, x);
            spu.value(result).doubles()
        }
    }

    fn store() -> LocalStore {
        let mut store = LocalStore::new();
        write_table(&mut store, TABLE);
        store
    }

    /// Both lanes, each with a number of its own.
    fn check(store: &mut LocalStore, x: [f64; 2]) {
        let got = execute(&Pair(x), store);
        for (x, got) in x.into_iter().zip(got) {
            let expected = x.exp();
            let error = (got - expected).abs() / expected;
            assert!(error <= 1e-14, "e^{x:e} = {expected:e}, got {got:e}");
        }
    }

    #[test]
    fn the_exponential_is_right_to_1e_14_over_all_magnitudes() {
        let mut store = store();
        for power in -80..=9 {
            for step in 0..256 {
                let x = (1.0 + f64::from(step) / 256.0) * 2.0f64.powi(power);
                check(&mut store, [-x.min(708.0), x.min(709.0)]);
            }
        }
    }

    #[test]
    fn the_exponential_is_right_to_1e_14_on_a_dense_grid() {
        let mut store = store();
        for step in 0..100_000 {
            let x = f64::from(step) * (708.0 / 100_000.0);
            check(&mut store, [-x, -x / 708.0]);
        }
    }

    #[test]
    fn the_exponential_is_right_on_both_sides_of_every_border_between_two_steps() {
        let mut store = store();
        for step in -130_000..1000 {
            let border = (f64::from(step) + 0.5) * std::f64::consts::LN_2 / 128.0;
            check(&mut store, [border.next_down(), border.next_up()]);
        }
    }

    #[test]
    fn either_zero_gives_exactly_one() {
        assert_eq!(execute(&Pair([0.0, -0.0]), &mut store()), [1.0, 1.0]);
    }

    #[test]
    fn what_would_underflow_gives_zero() {
        let mut store = store();
        for x in [-708.001, -710.0, -745.2, -1e4, -1e100, -f64::MAX, f64::NEG_INFINITY] {
            assert_eq!(execute(&Pair([x, -1.0]), &mut store)[0].to_bits(), 0, "{x}");
            assert_eq!(execute(&Pair([-1.0, x]), &mut store)[1].to_bits(), 0, "{x}");
        }
    }
}
