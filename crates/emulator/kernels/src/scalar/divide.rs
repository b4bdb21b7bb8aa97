//! Division, which the SPU does not have.

use super::{RETURN_ADDRESS, constant, copy};
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
