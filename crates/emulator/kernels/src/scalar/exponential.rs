//! The exponential of one double, as a library computes it.

use super::{RETURN_ADDRESS, constant};
use mmgp_base::series::EXPONENTIAL;
use mmgp_spu::{Quadword, Spu};

/// 1.5 * 2^52: added to a double of small magnitude, its low word is the nearest integer.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// ln 2 rounded to a double, and the rest of it.
const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17];

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
    let ln_2 = constant(spu, LN_2[0]);
    let x = super::copy(spu, x);
    let r = spu.dfnms(k, ln_2, x);
    let rest = constant(spu, LN_2[1]);
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
