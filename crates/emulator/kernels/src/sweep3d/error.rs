//! After a sweep: how far the flux is from the one before, and what is absorbed.

use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Shape, Spu};

use super::double::{FIRSTS, SECONDS, SIGNS, has_sign, is_zero};
use super::{EXTERNAL_BYTES, MOMENTS_BYTES};
use crate::reciprocal::Reciprocal;

/// Takes some cells into two running quantities, each in the two lanes of a quadword: the largest of
/// |phi_0 - old| / |phi_0| where phi_0 is not 0, and the sum of phi_0, of which absorption is
/// (sigma_t - sigma_s0) V. The result is the larger, and the sum, of both lanes.
///
/// An error is true to three units in the last place, but for a flux of 2^1022 and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    /// Cells, at least one.
    pub cells: u32,
    /// The flux.
    pub flux: LocalAddress,
    /// The external source and the flux before.
    pub external: LocalAddress,
    /// The quadword of the error and that of the flux, read and written.
    pub sums: LocalAddress,
}

impl Error {
    /// The larger of both lanes, and the sum of both lanes, from the two quadwords.
    pub fn result(sums: &[mmgp_spu::Quadword; 2]) -> (f64, f64) {
        let [[one, other], [lower, upper]] = sums.map(mmgp_spu::Quadword::doubles);
        (one.max(other), lower + upper)
    }
}

kernel! {
    Error -> (), |kernel, spu|
    shape: Shape::new("take the error", kernel.cells);
    blocks: {
        input flux[MOMENTS_BYTES; kernel.cells];
        input external[EXTERNAL_BYTES; kernel.cells];
        output sums[Bytes(16); 2];
    }
    run: kernel.instructions(spu);
}

impl Error {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let constants = Constants {
            reciprocal: Reciprocal::load(spu),
            firsts: spu.lqr(FIRSTS),
            seconds: spu.lqr(SECONDS),
            signs: spu.lqr(SIGNS),
        };
        let second = self.sums.offset(Bytes(16));
        let mut sums = [spu.lqa(self.sums), spu.lqa(second)];
        let mut flux = spu.ila(self.flux.0);
        let mut external = spu.ila(self.external.0);
        let mut left = spu.ila(self.cells / 2);
        if !spu.brz(left) {
            loop {
                spu.label();
                spu.hbrr();
                let cells = [spu.lqd(0, flux), spu.lqd(32, flux)];
                let records = [spu.lqd(0, external), spu.lqd(16, external)];
                sums = constants.take(spu, cells, records, sums);
                flux = spu.ai(flux, 64);
                external = spu.ai(external, 32);
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
        }
        let odd = spu.il((self.cells % 2) as i16);
        if !spu.brz(odd) {
            // A cell of zeros beside the last one.
            let zero = spu.il(0);
            let (cell, record) = (spu.lqd(0, flux), spu.lqd(0, external));
            sums = constants.take(spu, [cell, zero], [record, zero], sums);
        }
        spu.stqa(sums[0], self.sums);
        spu.stqa(sums[1], second);
    }
}

/// Constants in registers.
struct Constants<R> {
    reciprocal: Reciprocal<R>,
    firsts: R,
    seconds: R,
    signs: R,
}

impl<R: Copy> Constants<R> {
    /// Takes two cells into the error and the sum of the flux.
    #[inline(always)]
    fn take<S: Spu<Register = R>>(
        &self,
        spu: &mut S,
        [one, other]: [R; 2],
        [record, other_record]: [R; 2],
        [error, sum]: [R; 2],
    ) -> [R; 2] {
        let flux = spu.shufb(one, other, self.firsts);
        let old = spu.shufb(record, other_record, self.seconds);
        let change = spu.dfs(flux, old);
        let inverse = self.reciprocal.of(spu, flux);
        let quotient = spu.dfm(change, inverse);
        let magnitude = spu.andc(quotient, self.signs);
        let nothing = is_zero(spu, flux);
        let magnitude = spu.andc(magnitude, nothing);
        let difference = spu.dfs(error, magnitude);
        let is_less = has_sign(spu, difference);
        [spu.selb(error, magnitude, is_less), spu.dfa(sum, flux)]
    }
}
