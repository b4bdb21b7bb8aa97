//! What the kernels do with doubles beyond arithmetic.

use mmgp_spu::{Quadword, Spu};

/// Doubleword 0, or 1, of the one operand before the same of the other.
pub(super) const FIRSTS: Quadword = Quadword([0x0001_0203_0405_0607, 0x1011_1213_1415_1617]);
pub(super) const SECONDS: Quadword = Quadword([0x0809_0A0B_0C0D_0E0F, 0x1819_1A1B_1C1D_1E1F]);

/// Doubleword 0, or 1, twice.
pub(super) const FIRST_TWICE: Quadword = Quadword([FIRSTS.0[0]; 2]);
pub(super) const SECOND_TWICE: Quadword = Quadword([SECONDS.0[0]; 2]);

/// Doubleword 0, or 1, and a zero behind it.
pub(super) const FIRST_ALONE: Quadword = Quadword([FIRSTS.0[0], ZEROS]);
pub(super) const SECOND_ALONE: Quadword = Quadword([SECONDS.0[0], ZEROS]);

const ZEROS: u64 = 0x8080_8080_8080_8080;

/// The signs of two doubles.
pub(super) const SIGNS: Quadword = Quadword([1 << 63; 2]);

/// The two words of each double exchanged.
const EXCHANGED: Quadword = Quadword([0x0405_0607_0001_0203, 0x0C0D_0E0F_0809_0A0B]);

/// The high word of each double twice.
const HIGH_TWICE: Quadword = Quadword([0x0001_0203_0001_0203, 0x0809_0A0B_0809_0A0B]);

/// The high word of each double, and zero for the low one.
pub(super) const HIGH_ALONE: Quadword = Quadword([0x0001_0203_8080_8080, 0x0809_0A0B_8080_8080]);

/// The same double in both lanes.
pub(super) const fn both(x: f64) -> Quadword {
    Quadword::from_doubles([x, x])
}

/// A copy for an instruction that overwrites its operand: a rotation by nothing, as the odd pipe has
/// the time for it.
#[inline(always)]
pub(super) fn copy<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    spu.rotqbyi(x, 0)
}

/// Masks of the doubles that are zero, of either sign.
#[inline(always)]
pub(super) fn is_zero<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let signs = spu.lqr(SIGNS);
    let exchanged = spu.lqr(EXCHANGED);
    let magnitude = spu.andc(x, signs);
    let words = spu.ceqi(magnitude, 0);
    let others = spu.shufb(words, words, exchanged);
    spu.and_(words, others)
}

/// Masks of the doubles whose sign is set.
#[inline(always)]
pub(super) fn has_sign<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let signs = spu.rotmai(x, -31);
    let twice = spu.lqr(HIGH_TWICE);
    spu.shufb(signs, signs, twice)
}
