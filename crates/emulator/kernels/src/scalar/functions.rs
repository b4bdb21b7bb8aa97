//! The functions that a library computes: a quotient, the exponential and the natural logarithm.

use super::{RETURN_ADDRESS, constant, copy, word_to_double};
use mmgp_base::series::{EXPONENTIAL, LN_2, LOGARITHM};
use mmgp_spu::{Quadword, Spu};

/// Sign and exponent.
const SIGN_AND_EXPONENT: Quadword = Quadword([0xFFF0_0000_0000_0000; 2]);

const SIGN: Quadword = Quadword([1 << 63; 2]);

/// The exponent's place in the high word.
const EXPONENT_BITS: i16 = 20;

/// A call of the routine for `x / y`, to 2 units in the last place.
///
/// With x = ± a 2^p, y = ± b 2^q and a, b in [1, 2), a/b by Newton's method from the SPU's estimate
/// of 1/b, and then p - q added to the exponent.
///
/// Operands are zero or normal, and denormals count as zero; infinities and what is no number give
/// a number without meaning. A result that is too small is zero, one that is too large infinite, as
/// is that of a division by zero, 0/0 included.
#[inline(always)]
pub fn divide<S: Spu>(spu: &mut S, x: S::Register, y: S::Register) -> S::Register {
    let link = spu.brsl(RETURN_ADDRESS);
    let quotient = quotient(spu, x, y);
    spu.bi(link);
    quotient
}

#[inline(always)]
fn quotient<S: Spu>(spu: &mut S, x: S::Register, y: S::Register) -> S::Register {
    let signs = spu.xor(x, y);
    let sign = spu.lqr(SIGN);
    let sign = spu.and_(signs, sign);
    // The exponents with their bias.
    let p = exponent(spu, x);
    let q = exponent(spu, y);
    if spu.brz(q) {
        return infinity(spu, sign);
    }
    if spu.brz(p) {
        return sign;
    }
    let mask = spu.lqr(SIGN_AND_EXPONENT);
    let one = constant(spu, 1.0);
    let a = spu.selb(x, one, mask);
    let b = spu.selb(y, one, mask);
    let quotient = quotient_of_mantissas(spu, a, b);
    let change = spu.sf(q, p);
    let result = exponent(spu, quotient);
    let result = spu.a(result, change);
    let positive = spu.cgti(result, 0);
    if spu.brz(positive) {
        return sign;
    }
    let largest = spu.il(2046);
    let too_large = spu.cgt(result, largest);
    if spu.brnz(too_large) {
        return infinity(spu, sign);
    }
    let change = spu.shli(change, EXPONENT_BITS);
    let high_word = spu.fsmbi(0xF000);
    let change = spu.and_(change, high_word);
    let quotient = spu.a(quotient, change);
    spu.or_(quotient, sign)
}

/// a/b for b whose reciprocal and itself are single-precision numbers.
#[inline(always)]
pub(super) fn quotient_of_mantissas<S: Spu>(
    spu: &mut S,
    a: S::Register,
    b: S::Register,
) -> S::Register {
    // 12 bits from the estimate, 23 after a step in single precision.
    let single = spu.frds(b);
    let estimate = spu.frest(single);
    let estimate = spu.fi(single, estimate);
    let one = spu.ilhu(0x3F80);
    let error = spu.fnms(single, estimate, one);
    let estimate = spu.fma(error, estimate, estimate);
    let r = spu.fesd(estimate);
    // 46 bits, then 53.
    let r = improve(spu, b, r);
    let r = improve(spu, b, r);
    let quotient = spu.dfm(a, r);
    let a = copy(spu, a);
    let remainder = spu.dfnms(b, quotient, a);
    spu.dfma(remainder, r, quotient)
}

/// r + (1 - b r) r.
#[inline(always)]
fn improve<S: Spu>(spu: &mut S, b: S::Register, r: S::Register) -> S::Register {
    let one = constant(spu, 1.0);
    let error = spu.dfnms(b, r, one);
    let sum = copy(spu, r);
    spu.dfma(error, r, sum)
}

/// The exponent of a double with its bias, in the preferred slot.
#[inline(always)]
fn exponent<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let shifted = spu.shli(x, 1);
    spu.rotmi(shifted, -(EXPONENT_BITS + 1))
}

#[inline(always)]
fn infinity<S: Spu>(spu: &mut S, sign: S::Register) -> S::Register {
    let infinity = constant(spu, f64::INFINITY);
    spu.or_(infinity, sign)
}

/// 1.5 * 2^52: added to a double of small magnitude, its low word is the nearest integer.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// ln 2 rounded to a double, and the rest of it.
const LN_2_EXACT: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17];

/// High word of 708: beyond, the result is taken to be no normal double.
const LARGEST_HIGH_WORD: u32 = 0x4086_2000;

/// A call of the routine for e^x, to a relative error of 1e-15.
///
/// x = k ln 2 + r with |r| <= ln 2 / 2, and e^x = 2^k (1 + r + r^2/2 + ... + r^13/13!). For |x| of
/// 708 and more it is zero or infinite. x is a number.
#[inline(always)]
pub fn exponential<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let link = spu.brsl(RETURN_ADDRESS);
    let result = power(spu, x);
    spu.bi(link);
    result
}

#[inline(always)]
fn power<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let magnitude = super::magnitude(spu, x);
    let largest = spu.lqr(Quadword::splat(LARGEST_HIGH_WORD - 1));
    let beyond = spu.cgt(magnitude, largest);
    if spu.brnz(beyond) {
        let positive = spu.cgti(x, -1);
        return if spu.brnz(positive) { constant(spu, f64::INFINITY) } else { spu.il(0) };
    }
    let log_2_e = constant(spu, std::f64::consts::LOG2_E);
    let rounding = constant(spu, ROUNDING);
    let sum = spu.dfma(x, log_2_e, rounding);
    let rounding = constant(spu, ROUNDING);
    let k = spu.dfs(sum, rounding);
    let ln_2 = constant(spu, LN_2_EXACT[0]);
    let x = super::copy(spu, x);
    let r = spu.dfnms(k, ln_2, x);
    let rest = constant(spu, LN_2_EXACT[1]);
    let r = spu.dfnms(k, rest, r);

    let mut result = constant(spu, EXPONENTIAL[0]);
    for coefficient in &EXPONENTIAL[1..] {
        let coefficient = constant(spu, *coefficient);
        result = spu.dfma(result, r, coefficient);
    }
    // k stands in the low word of the sum.
    let k = spu.shlqbyi(sum, 4);
    let k = spu.shli(k, 20);
    let high_word = spu.fsmbi(0xF000);
    let k = spu.and_(k, high_word);
    spu.a(result, k)
}

/// High word of the square root of 1/2, where the interval of m begins.
const LOWEST_HIGH_WORD: u32 = 0x3FE6_A09E;

/// A call of the routine for ln x, to a relative error of 1e-15.
///
/// x = 2^k m with m in [0.707, 1.414), f = (m - 1)/(m + 1), and ln x = k ln 2 + 2 artanh f. Of zero
/// and denormals the logarithm is minus infinity; that of a negative number, of infinity and of what
/// is no number is not a number.
#[inline(always)]
pub fn logarithm<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let link = spu.brsl(RETURN_ADDRESS);
    let result = natural_logarithm(spu, x);
    spu.bi(link);
    result
}

#[inline(always)]
fn natural_logarithm<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    // One comparison finds everything but positive normal numbers: of the high word without its
    // sign bit less that of the smallest one, with what that of infinity is greater.
    let smallest = spu.ilhu(0x0010);
    let above = spu.sf(smallest, x);
    let range = spu.lqr(Quadword::splat(0x7FE0_0000 - 1));
    let special = spu.clgt(above, range);
    if spu.brnz(special) {
        return of_special(spu, x);
    }
    let lowest = spu.lqr(Quadword::from_words([LOWEST_HIGH_WORD, 0, LOWEST_HIGH_WORD, 0]));
    let above = spu.sf(lowest, x);
    let k = spu.rotmai(above, -20);
    let exponent = spu.shli(k, 20);
    let high_word = spu.fsmbi(0xF000);
    let exponent = spu.and_(exponent, high_word);
    let m = spu.sf(exponent, x);

    let one = constant(spu, 1.0);
    let numerator = spu.dfs(m, one);
    let denominator = spu.dfa(m, one);
    let f = quotient_of_mantissas(spu, numerator, denominator);
    let square = spu.dfm(f, f);
    let mut sum = constant(spu, LOGARITHM[0]);
    for coefficient in &LOGARITHM[1..] {
        let coefficient = constant(spu, *coefficient);
        sum = spu.dfma(sum, square, coefficient);
    }
    // k ln2_high + (2f + (f^3 sum + k ln2_low))
    let k = word_to_double(spu, k);
    let low = constant(spu, LN_2[1]);
    let low = spu.dfm(k, low);
    let cube = spu.dfm(f, square);
    let small = spu.dfma(cube, sum, low);
    let twice = spu.dfa(f, f);
    let small = spu.dfa(twice, small);
    let high = constant(spu, LN_2[0]);
    let small = copy(spu, small);
    spu.dfma(k, high, small)
}

#[inline(always)]
fn of_special<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let magnitude = super::magnitude(spu, x);
    let smallest = spu.ilhu(0x0010);
    let tiny = spu.cgt(smallest, magnitude);
    if spu.brnz(tiny) { constant(spu, f64::NEG_INFINITY) } else { constant(spu, f64::NAN) }
}
