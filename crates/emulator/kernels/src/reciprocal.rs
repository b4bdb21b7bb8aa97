//! The reciprocal of two doubles at once, which the SPU has no instruction for.
//!
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

use mmgp_spu::{Quadword, Spu};

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
