//! Comparing doubles by integer instructions.

use mmgp_spu::{Quadword, Spu};

/// All bits but the signs.
const MAGNITUDE: Quadword = Quadword([0x7FFF_FFFF_FFFF_FFFF; 2]);

/// Infinity: everything of a greater magnitude is not a number.
const INFINITY: Quadword = Quadword([0x7FF0_0000_0000_0000; 2]);

/// Word 0 in words 0 and 1.
const SPREAD_HIGH: Quadword = Quadword([0x0001_0203_0001_0203; 2]);

/// Word 1 in word 0, where what it says of a carry counts; ones in word 1, which has none coming.
const CARRY: Quadword = Quadword([0x0405_0607_C0C0_C0C0; 2]);

/// The magnitude of a double.
#[inline(always)]
pub fn magnitude<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let mask = spu.lqr(MAGNITUDE);
    spu.and_(x, mask)
}

/// All ones in the preferred slot where `x < y`, zeros elsewhere and where one is not a number.
#[inline(always)]
pub fn less<S: Spu>(spu: &mut S, x: S::Register, y: S::Register) -> S::Register {
    let (x, x_is_nan) = as_integer(spu, x);
    let (y, y_is_nan) = as_integer(spu, y);
    let high = spu.cgt(y, x);
    let equal = spu.ceq(y, x);
    let low = spu.clgt(y, x);
    let low = spu.shlqbyi(low, 4);
    let low = spu.and_(equal, low);
    let less = spu.or_(high, low);
    let less = spu.andc(less, x_is_nan);
    spu.andc(less, y_is_nan)
}

/// The double as a doubleword that is ordered as a signed integer, and in the preferred slot whether
/// it is not a number.
#[inline(always)]
fn as_integer<S: Spu>(spu: &mut S, x: S::Register) -> (S::Register, S::Register) {
    let magnitude = magnitude(spu, x);
    let infinity = spu.lqr(INFINITY);
    let above = spu.clgt(magnitude, infinity);
    let equal = spu.ceq(magnitude, infinity);
    let low = spu.shlqbyi(above, 4);
    let low = spu.and_(equal, low);
    let is_nan = spu.or_(above, low);

    // 0 - magnitude over both words.
    let zero = spu.il(0);
    let borrow = spu.bg(magnitude, zero);
    let carry = spu.lqr(CARRY);
    let borrow = spu.shufb(borrow, borrow, carry);
    let negative = spu.sfx(magnitude, zero, borrow);
    let sign = spu.rotmai(x, -31);
    let spread = spu.lqr(SPREAD_HIGH);
    let sign = spu.shufb(sign, sign, spread);
    (spu.selb(magnitude, negative, sign), is_nan)
}
