//! The scaling of patterns that are about to vanish.

use crate::raxml::SCALING_EXPONENT;
use mmgp_spu::{Quadword, Spu};

/// High word of 2^-256: a double is smaller in magnitude exactly where its high word is, without
/// the sign.
const THRESHOLD_HIGH_HALFWORD: u16 = 0x2FF0;

/// The greatest high word of a magnitude that is no normal number.
const GREATEST_DENORMAL: Quadword = Quadword::splat(0x000F_FFFF);

/// The magnitude of a high word.
const MAGNITUDE: Quadword = Quadword::splat(0x7FFF_FFFF);

/// 256 in the exponent field of both high words.
const FACTOR: Quadword = {
    let high = (SCALING_EXPONENT as u32) << 20;
    Quadword::from_words([high, 0, high, 0])
};

/// Words 1 to 3 of the first operand, then word 0 of the second.
const APPEND: Quadword = Quadword::from_words([0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F, 0x1011_1213]);

/// Constants in registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaling<R> {
    magnitude: R,
    threshold: R,
    greatest_denormal: R,
    factor: R,
    append: R,
}

/// Entries of a pattern, in two registers, and what scaling must know of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Examined<R> {
    entries: [R; 2],
    /// All ones in the high words of normal numbers.
    normal: [R; 2],
    /// All ones in a high word where both entries of the lane are below the threshold.
    pub(super) below: R,
}

impl<R: Copy> Scaling<R> {
    #[inline(always)]
    pub(super) fn load<S: Spu<Register = R>>(spu: &mut S) -> Self {
        Self {
            magnitude: spu.lqr(MAGNITUDE),
            threshold: spu.ilhu(THRESHOLD_HIGH_HALFWORD),
            greatest_denormal: spu.lqr(GREATEST_DENORMAL),
            factor: spu.lqr(FACTOR),
            append: spu.lqr(APPEND),
        }
    }

    #[inline(always)]
    pub(super) fn examine<S: Spu<Register = R>>(
        &self,
        spu: &mut S,
        entries: [R; 2],
    ) -> Examined<R> {
        let lower = spu.and_(entries[0], self.magnitude);
        let upper = spu.and_(entries[1], self.magnitude);
        let normal =
            [spu.cgt(lower, self.greatest_denormal), spu.cgt(upper, self.greatest_denormal)];
        let lower = spu.cgt(self.threshold, lower);
        let upper = spu.cgt(self.threshold, upper);
        Examined { entries, normal, below: spu.and_(lower, upper) }
    }

    /// From `below` of all entries together: all ones in words 0 and 2 if the pattern is to be
    /// scaled, else zeros.
    #[inline(always)]
    pub(super) fn decide<S: Spu<Register = R>>(&self, spu: &mut S, below: R) -> R {
        let exchanged = spu.rotqbyi(below, 8);
        spu.and_(below, exchanged)
    }

    /// The entries times 2^256 if the pattern is to be scaled. Adding to the exponents takes two
    /// instructions of 2 cycles where a `dfm` would keep both pipes for 7; zeros and denormals are
    /// spared, as they have no exponent to add to.
    #[inline(always)]
    pub(super) fn apply<S: Spu<Register = R>>(
        &self,
        spu: &mut S,
        examined: Examined<R>,
        decision: R,
    ) -> [R; 2] {
        let factor = spu.and_(decision, self.factor);
        let lower = spu.and_(factor, examined.normal[0]);
        let upper = spu.and_(factor, examined.normal[1]);
        [spu.a(examined.entries[0], lower), spu.a(examined.entries[1], upper)]
    }

    /// The decisions of the last four patterns, after that of one more.
    #[inline(always)]
    pub(super) fn append<S: Spu<Register = R>>(&self, spu: &mut S, decisions: R, decision: R) -> R {
        spu.shufb(decisions, decision, self.append)
    }
}
