//! The natural logarithm of two doubles at once, from instructions of the SPU.
//!
//! A positive x is written as 2^k m with m in [0.689, 1.379); the interval is cut into 128 pieces,
//! piece i with a centre c_i, and a table holds 1/c_i, rounded, and ln c_i for that rounded value:
//!
//! ```text
//! r    = m (1/c_i) - 1                           one rounding, |r| <= 2^-8
//! ln x = k ln 2 + ln c_i + ln(1 + r)
//! ln(1 + r) = r + r^2 (-1/2 + r/3 - r^2/4 + r^3/5 - r^4/6) + ...
//! ```
//!
//! One piece is centred on 1 with c = 1 and ln c = 0, so that near 1, where ln x vanishes, nothing
//! is left but the series in r = x - 1, and the relative error stays small: the first term left
//! out is r^7/7, less than 2^-48/7 = 5.1e-16 of r.
//!
//! Domain: positive normal doubles, to a relative error of 1e-14. Any other bits (zero, denormal,
//! negative, infinite) give a finite number without meaning.

use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, LocalStore, Quadword, Spu};

/// Pieces of the interval of m.
const PIECES: u32 = 128;

/// Size of the table in local store: one quadword {1/c, ln c} for each piece.
pub const TABLE_BYTES: Bytes = Bytes(16 * PIECES as u64);

/// High word of the smallest m: 0.6875 and half a piece, so that 1 lies inside a piece.
const LOWEST_HIGH_WORD: u32 = 0x3FE6_1000;

/// A piece is 2^13 in the high word, whose 20 low bits are the mantissa's highest.
const PIECE_BITS: u32 = 13;

/// 2^52 + 2^31: a double whose low word counts units, with an offset for the sign.
const INTEGER_OFFSET: f64 = 4_503_601_774_854_144.0;

/// Coefficients of r^2 times 1, r, r^2, r^3, r^4.
const SERIES: [f64; 5] = [-1.0 / 2.0, 1.0 / 3.0, -1.0 / 4.0, 1.0 / 5.0, -1.0 / 6.0];

/// Puts the table at `address`, a multiple of 16 with [`TABLE_BYTES`] behind it.
pub fn write_table(store: &mut LocalStore, address: LocalAddress) {
    for (piece, entry) in (0..).zip(store.slice_mut(address, TABLE_BYTES)) {
        let low = high_word_as_double(LOWEST_HIGH_WORD + (piece << PIECE_BITS));
        let high = high_word_as_double(LOWEST_HIGH_WORD + ((piece + 1) << PIECE_BITS));
        let inverse = if low <= 1.0 && 1.0 < high { 1.0 } else { 2.0 / (low + high) };
        *entry = Quadword::from_doubles([inverse, -natural_logarithm(inverse)]);
    }
}

fn high_word_as_double(word: u32) -> f64 {
    f64::from_bits(u64::from(word) << 32)
}

/// ln x = 2 artanh((x - 1)/(x + 1)) by its series, for x near 1: the host's own logarithm may
/// differ between hosts in the last bit, and the table must not.
fn natural_logarithm(x: f64) -> f64 {
    let t = (x - 1.0) / (x + 1.0);
    let terms = (0..20).rev().map(|n| 2.0 / f64::from(2 * n + 1));
    t * terms.fold(0.0, |sum, coefficient| sum * (t * t) + coefficient)
}

/// The constants of the logarithm in registers.
#[derive(Debug, Clone, Copy)]
pub struct Logarithm<R> {
    table: R,
    lowest: R,
    exponent_mask: R,
    index_mask: R,
    one: R,
    ln_2: R,
    integer_offset: R,
    sign: R,
    series: [R; 5],
    first_doubles: R,
    second_doubles: R,
    join_integers: R,
}

impl<R: Copy> Logarithm<R> {
    /// Loads the constants; the table stands at `table`.
    #[inline(always)]
    pub fn new<S: Spu<Register = R>>(spu: &mut S, table: LocalAddress) -> Self {
        Self {
            table: spu.ila(table.0),
            lowest: spu.lqr(high_words(LOWEST_HIGH_WORD)),
            exponent_mask: spu.lqr(high_words(0xFFF0_0000)),
            index_mask: spu.lqr(Quadword::splat((PIECES - 1) * 16)),
            one: spu.lqr(both(1.0)),
            ln_2: spu.lqr(both(std::f64::consts::LN_2)),
            integer_offset: spu.lqr(both(INTEGER_OFFSET)),
            sign: spu.ilhu(0x8000),
            series: [
                spu.lqr(both(SERIES[0])),
                spu.lqr(both(SERIES[1])),
                spu.lqr(both(SERIES[2])),
                spu.lqr(both(SERIES[3])),
                spu.lqr(both(SERIES[4])),
            ],
            first_doubles: spu.lqr(FIRST_DOUBLES),
            second_doubles: spu.lqr(SECOND_DOUBLES),
            join_integers: spu.lqr(JOIN_INTEGERS),
        }
    }

    /// ln x + n ln 2 for both lanes of `x`; the integer n of a lane, signed, stands in the lane's
    /// high word of `n`, and its low word is ignored. Adding n here costs nothing in double
    /// precision, and with n = 0 nothing in accuracy.
    #[inline(always)]
    pub fn of<S: Spu<Register = R>>(&self, spu: &mut S, x: R, n: R) -> R {
        // x = 2^k m; the position of m in its interval stands in the mantissa bits of `above`.
        let above = spu.sf(self.lowest, x);
        let k = spu.rotmai(above, -20);
        let exponent = spu.and_(above, self.exponent_mask);
        let m = spu.sf(exponent, x);

        let index = spu.rotmi(above, 4 - PIECE_BITS as i16);
        let index = spu.and_(index, self.index_mask);
        let second_index = spu.rotqbyi(index, 8);
        let first_entry = spu.lqx(self.table, index);
        let second_entry = spu.lqx(self.table, second_index);
        let inverse = spu.shufb(first_entry, second_entry, self.first_doubles);
        let ln_c = spu.shufb(first_entry, second_entry, self.second_doubles);

        // r = m (1/c) - 1
        let one = spu.ori(self.one, 0);
        let r = spu.dfms(m, inverse, one);
        let q = self.polynomial(spu, r);
        let r_squared = spu.dfm(r, r);

        // k + n as a double: as the low word of 2^52 + 2^31 + (k + n), less 2^52 + 2^31.
        let sum = spu.a(k, n);
        let sum = spu.xor(sum, self.sign);
        let sum = spu.shufb(self.integer_offset, sum, self.join_integers);
        let sum = spu.dfs(sum, self.integer_offset);

        // ln x + n ln 2 = r^2 q + (r + ((k + n) ln 2 + ln c))
        let coarse = spu.dfma(sum, self.ln_2, ln_c);
        let with_r = spu.dfa(r, coarse);
        spu.dfma(r_squared, q, with_r)
    }

    /// q = -1/2 + r/3 - r^2/4 + r^3/5 - r^4/6 by Horner's rule.
    #[inline(always)]
    fn polynomial<S: Spu<Register = R>>(&self, spu: &mut S, r: R) -> R {
        let q = self.step(spu, r, self.series[4], self.series[3]);
        let q = self.step(spu, r, q, self.series[2]);
        let q = self.step(spu, r, q, self.series[1]);
        self.step(spu, r, q, self.series[0])
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

#[inline(always)]
const fn high_words(word: u32) -> Quadword {
    Quadword::from_words([word, 0, word, 0])
}

/// Doubleword 0 of the first operand, then doubleword 0 of the second.
pub(super) const FIRST_DOUBLES: Quadword = Quadword([0x0001_0203_0405_0607, 0x1011_1213_1415_1617]);

/// Doubleword 1 of the first operand, then doubleword 1 of the second.
pub(super) const SECOND_DOUBLES: Quadword =
    Quadword([0x0809_0A0B_0C0D_0E0F, 0x1819_1A1B_1C1D_1E1F]);

/// Shuffles into each doubleword the high word of the first operand, then the high word of the second.
const JOIN_INTEGERS: Quadword = Quadword([0x0001_0203_1011_1213, 0x0809_0A0B_1819_1A1B]);

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_spu::{Kernel, Shape, execute};

    const TABLE: LocalAddress = LocalAddress(0x1000);

    struct Pair {
        x: [f64; 2],
        n: [i32; 2],
    }

    impl Kernel for Pair {
        type Output = [f64; 2];
        fn shape(&self) -> Shape {
            Shape::new("logarithm of a pair", 0)
        }
        #[inline(always)]
        fn run<S: Spu>(&self, spu: &mut S) -> [f64; 2] {
            let logarithm = Logarithm::new(spu, TABLE);
            let x = spu.lqr(Quadword::from_doubles(self.x));
            let [first, second] = self.n.map(|n| n as u32);
            let n = spu.lqr(Quadword::from_words([first, 0xDEAD_BEEF, second, 0xDEAD_BEEF]));
            let result = logarithm.of(spu, x, n);
            spu.value(result).doubles()
        }
    }

    fn check(x: f64, tolerance: f64) {
        let mut store = LocalStore::new();
        write_table(&mut store, TABLE);
        let [first, second] = execute(&Pair { x: [x, 1.0], n: [0, 0] }, &mut store);
        let expected = x.ln();
        assert!(
            (first - expected).abs() <= tolerance * expected.abs(),
            "ln {x:e} = {expected:e}, got {first:e}"
        );
        assert_eq!(second, 0.0, "ln 1 beside ln {x:e}");
    }

    #[test]
    fn the_logarithm_is_right_to_1e_14_over_all_magnitudes() {
        // Every exponent, with a mantissa that goes through all pieces (golden-ratio steps).
        let mut mantissa = 0.0f64;
        for exponent in -1022..=1023 {
            mantissa = (mantissa + 0.618_033_988_749_894_9).fract();
            check((1.0 + mantissa) * 2.0f64.powi(exponent), 1e-14);
        }
    }

    #[test]
    fn the_logarithm_is_right_on_both_sides_of_every_border_of_a_piece() {
        for piece in 0..=PIECES {
            let border = u64::from(LOWEST_HIGH_WORD + (piece << PIECE_BITS)) << 32;
            check(f64::from_bits(border), 1e-14);
            check(f64::from_bits(border - 1), 1e-14);
        }
    }

    #[test]
    fn near_one_the_relative_error_stays_small() {
        check(1.0, 0.0);
        for power in 2..=52 {
            check(1.0 + 2.0f64.powi(-power), 1e-14);
            check(1.0 - 2.0f64.powi(-power), 1e-14);
        }
    }

    #[test]
    fn an_integer_adds_its_multiple_of_ln_2() {
        let mut store = LocalStore::new();
        write_table(&mut store, TABLE);
        let [first, second] = execute(&Pair { x: [3.0, 0.5], n: [-256, 1] }, &mut store);
        let expected = 3.0f64.ln() - 256.0 * std::f64::consts::LN_2;
        assert!((first - expected).abs() <= 1e-14 * expected.abs(), "{first} {expected}");
        assert_eq!(second, 0.0);
    }

    #[test]
    fn bits_that_are_no_positive_number_give_a_finite_one() {
        let mut store = LocalStore::new();
        write_table(&mut store, TABLE);
        for x in [0.0, -0.0, -1.0, f64::INFINITY, f64::NAN, f64::from_bits(1), f64::MAX] {
            let got = execute(&Pair { x: [x, x], n: [0, 0] }, &mut store);
            assert!(got.iter().all(|y| y.is_finite()), "{x}: {got:?}");
        }
    }
}
