//! A step of Newton's method, without branches: everything is computed, and masks choose.

use super::{MAGNITUDES, SPLAT, both};
use crate::exponential::{Exponential, HIGH_WORDS_TWICE};
use crate::logarithm;
use crate::raxml::{NewtonStep, Progress, Z_MAX, Z_MIN};
use crate::reciprocal::Reciprocal;
use mmgp_spu::{Quadword, Spu};

/// The greatest high word of a double below 100.
const BELOW_100: u32 = 0x4058_FFFF;

/// Constants in registers.
#[derive(Debug, Clone, Copy)]
struct Constants<R> {
    exponential: Exponential<R>,
    reciprocal: Reciprocal<R>,
    high_words_twice: R,
    splat: [R; 2],
    magnitudes: R,
    z_min: R,
    z_max: R,
}

impl<R: Copy> Constants<R> {
    #[inline(always)]
    fn load<S: Spu<Register = R>>(spu: &mut S, kernel: &NewtonStep) -> Self {
        Self {
            exponential: Exponential::new(spu, kernel.tables.offset(logarithm::TABLE_BYTES)),
            reciprocal: Reciprocal::load(spu),
            high_words_twice: spu.lqr(HIGH_WORDS_TWICE),
            splat: [spu.lqr(SPLAT[0]), spu.lqr(SPLAT[1])],
            magnitudes: spu.lqr(MAGNITUDES),
            z_min: spu.lqr(both(Z_MIN)),
            z_max: spu.lqr(both(Z_MAX)),
        }
    }

    /// All ones in the lanes where a < b, by the sign of a - b.
    #[inline(always)]
    fn less<S: Spu<Register = R>>(&self, spu: &mut S, a: R, b: R) -> R {
        let difference = spu.dfs(a, b);
        let signs = spu.rotmai(difference, -31);
        spu.shufb(signs, signs, self.high_words_twice)
    }

    /// The lesser of two.
    #[inline(always)]
    fn minimum<S: Spu<Register = R>>(&self, spu: &mut S, a: R, b: R) -> R {
        let less = self.less(spu, a, b);
        spu.selb(b, a, less)
    }

    /// coefficient z + constant.
    #[inline(always)]
    fn line<S: Spu<Register = R>>(spu: &mut S, z: R, coefficient: f64, constant: f64) -> R {
        let coefficient = spu.lqr(both(coefficient));
        let constant = spu.lqr(both(constant));
        spu.multiply_add(z, coefficient, constant)
    }

    /// z' where the curvature is negative: `min(max(z e^t, zmin), 0.25 z + 0.75)` with t = -g/h, and
    /// the latter where t >= 100.
    #[inline(always)]
    fn newton<S: Spu<Register = R>>(&self, spu: &mut S, z: R, [g, h]: [R; 2]) -> R {
        let cap = Self::line(spu, z, 0.25, 0.75);
        let negative_h = spu.and_(h, self.magnitudes);
        let inverse = self.reciprocal.of(spu, negative_h);
        let t = spu.dfm(g, inverse);
        let power = self.exponential.of(spu, t);
        let moved = spu.dfm(z, power);
        let too_small = self.less(spu, moved, self.z_min);
        let moved = spu.selb(moved, self.z_min, too_small);
        let moved = self.minimum(spu, moved, cap);
        let limit = spu.lqr(Quadword::splat(BELOW_100));
        let far = spu.cgt(t, limit);
        let far = spu.shufb(far, far, self.high_words_twice);
        spu.selb(moved, cap, far)
    }
}

#[inline(always)]
pub(in crate::raxml) fn newton_step<S: Spu>(spu: &mut S, kernel: &NewtonStep) -> Progress {
    let constants = Constants::load(spu, kernel);
    let derivatives = spu.lqa(kernel.derivatives);
    let g = spu.shufb(derivatives, derivatives, constants.splat[0]);
    let h = spu.shufb(derivatives, derivatives, constants.splat[1]);
    let branch = spu.lqa(kernel.branch);
    let z = spu.shufb(branch, branch, constants.splat[0]);

    // h < 0, and not -0: as integers without sign, greater than the sign alone.
    let sign = spu.ilhu(0x8000);
    let bent = spu.clgt(h, sign);
    let bent = spu.shufb(bent, bent, constants.high_words_twice);
    let newton = constants.newton(spu, z, [g, h]);
    let shorter = Constants::<S::Register>::line(spu, z, 0.37, 0.63);
    let room = constants.less(spu, z, constants.z_max);
    let shortened = spu.andc(room, bent);

    let next = spu.selb(z, newton, bent);
    let next = spu.selb(next, shorter, shortened);
    let next = constants.minimum(spu, next, constants.z_max);

    let change = spu.dfs(next, z);
    let change = spu.and_(change, constants.magnitudes);
    let tolerance = Constants::<S::Register>::line(spu, z, 1.0 - Z_MAX, Z_MIN);
    let moved = constants.less(spu, tolerance, change);
    let lane_0 = spu.fsmbi(0xFF00);
    let result = spu.and_(next, lane_0);
    spu.stqa(result, kernel.branch);
    let is_set = |mask| spu.value(mask).preferred() != 0;
    match (is_set(shortened), is_set(moved)) {
        (true, _) => Progress::Shortened,
        (false, true) => Progress::Moved,
        (false, false) => Progress::Converged,
    }
}
