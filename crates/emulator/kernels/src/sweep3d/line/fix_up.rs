//! Negative outflows, which are set to zero.

#![allow(clippy::needless_range_loop)]

use mmgp_spu::Spu;

use super::super::double::{both, copy, has_sign, is_zero};
use super::stages::{Constants, Swept};

impl<R: Copy, const PAIRS: usize> Swept<R, PAIRS> {
    /// Where an outflow is negative, those of this cell anew: `fixed` grows in the high word of each
    /// lane by one for each angle.
    ///
    /// In each turn of the loop every lane takes the first of I, J and K that is negative: its
    /// coefficient from the denominator, and half of that times the inflow from the numerator.
    #[inline(always)]
    pub(super) fn fix_up<S: Spu<Register = R>>(
        &mut self,
        spu: &mut S,
        constants: &Constants<R, PAIRS>,
        inflow: [R; PAIRS],
        fixed: &mut R,
    ) {
        let signs = self.signs(spu, constants);
        if !spu.brnz(signs) {
            return;
        }
        let mut angles = *fixed;
        for pair in 0..PAIRS {
            let inflow = [
                inflow[pair],
                spu.lqx(constants.j_face[pair], self.at.face),
                spu.lqx(constants.k_face[pair], self.at.face),
            ];
            let total = spu.lqx(constants.total, self.at.total);
            let mut half = spu.dfa(total, constants.factors[pair].half_sum);
            let mut any = spu.il(0);
            loop {
                spu.label();
                let negative = self.first_negative(spu, pair);
                let [i, j, k] = negative;
                let of_faces = spu.or_(j, k);
                let found = spu.or_(i, of_faces);
                let is_found = spu.orx(found);
                if !spu.brnz(is_found) {
                    break;
                }
                any = spu.or_(any, found);
                half = self.set_to_zero(spu, constants, (pair, inflow, half), (negative, found));
                spu.br();
            }
            // A mask is -1.
            angles = spu.sf(any, angles);
        }
        *fixed = angles;
        spu.br();
    }

    /// For each axis the lanes in which its outflow is negative and none before it is.
    #[inline(always)]
    fn first_negative<S: Spu<Register = R>>(&self, spu: &mut S, pair: usize) -> [R; 3] {
        let [i, j, k] = [0, 1, 2].map(|axis| {
            let outflow = self.outflow[axis][pair];
            let sign = has_sign(spu, outflow);
            let zero = is_zero(spu, outflow);
            spu.andc(sign, zero)
        });
        let k = spu.andc(k, j);
        [i, spu.andc(j, i), spu.andc(k, i)]
    }

    /// Sets one outflow of each lane to zero; returns what half of the denominator becomes.
    #[inline(always)]
    fn set_to_zero<S: Spu<Register = R>>(
        &mut self,
        spu: &mut S,
        constants: &Constants<R, PAIRS>,
        (pair, inflow, half_denominator): (usize, [R; 3], R),
        (negative, found): ([R; 3], R),
    ) -> R {
        let c = constants.factors[pair].c;
        let [mut coefficient, mut from] = [c[2], inflow[2]];
        for axis in 0..2 {
            coefficient = spu.selb(coefficient, c[axis], negative[axis]);
            from = spu.selb(from, inflow[axis], negative[axis]);
        }
        let half = spu.lqr(both(0.5));
        let half = spu.dfm(coefficient, half);
        let half = spu.and_(half, found);
        let denominator = spu.dfs(half_denominator, half);
        let numerator = spu.dfnms(half, from, self.numerator[pair]);
        let estimate = constants.estimate(spu, denominator);
        let reciprocal = constants.reciprocal(spu, denominator, estimate);
        let twice_flux = spu.dfm(numerator, reciprocal);
        for axis in 0..3 {
            let old = self.outflow[axis][pair];
            // What is 0 stays so.
            let zero = is_zero(spu, old);
            let stays = spu.or_(zero, negative[axis]);
            let inflow = copy(spu, inflow[axis]);
            let new = spu.dfms(numerator, reciprocal, inflow);
            let new = spu.andc(new, stays);
            self.outflow[axis][pair] = spu.selb(old, new, found);
        }
        self.twice_flux[pair] = spu.selb(self.twice_flux[pair], twice_flux, found);
        self.numerator[pair] = numerator;
        denominator
    }
}
