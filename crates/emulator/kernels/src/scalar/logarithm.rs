//! The natural logarithm of one double, as a library computes it.

use super::divide::quotient_of_mantissas;
use super::{RETURN_ADDRESS, constant, copy, word_to_double};
use mmgp_base::series::{LN_2, LOGARITHM};
use mmgp_spu::{Quadword, Spu};

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
