//! Before a sweep: the source of the scattered flux.

use mmgp_spu::{LocalAddress, Quadword, Shape, Spu};
use mmgp_sweep::CrossSections;

use super::double::{FIRST_ALONE, FIRSTS};
use super::{EXTERNAL_BYTES, MOMENTS_BYTES};

/// Makes the source of some cells, keeps phi_0 and sets the flux to zero:
/// `q_0 = s + sigma_s0 phi_0`, `q_n = sigma_s1 phi_n`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Source {
    /// Cells, at least one.
    pub cells: u32,
    /// How they scatter.
    pub cross_sections: CrossSections,
    /// The flux, read and then zero.
    pub flux: LocalAddress,
    /// The external source, read, and phi_0, written.
    pub external: LocalAddress,
    /// The source, written.
    pub source: LocalAddress,
}

kernel! {
    Source -> (), |kernel, spu|
    shape: Shape::new("make the source", kernel.cells);
    blocks: {
        output flux[MOMENTS_BYTES; kernel.cells];
        output external[EXTERNAL_BYTES; kernel.cells];
        output source[MOMENTS_BYTES; kernel.cells];
    }
    run: kernel.instructions(spu);
}

impl Source {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let CrossSections { isotropic, linear, .. } = self.cross_sections;
        let low_factors = spu.lqr(Quadword::from_doubles([isotropic, linear]));
        let high_factors = spu.lqr(Quadword::from_doubles([linear; 2]));
        let (alone, firsts) = (spu.lqr(FIRST_ALONE), spu.lqr(FIRSTS));
        let zero = spu.il(0);
        let mut flux = spu.ila(self.flux.0);
        let mut external = spu.ila(self.external.0);
        let mut source = spu.ila(self.source.0);
        let mut left = spu.ila(self.cells);
        loop {
            spu.label();
            spu.hbrr();
            let low = spu.lqd(0, flux);
            let high = spu.lqd(16, flux);
            let record = spu.lqd(0, external);
            let given = spu.shufb(record, record, alone);
            let low_source = spu.dfma(low_factors, low, given);
            let high_source = spu.dfm(high_factors, high);
            let kept = spu.shufb(record, low, firsts);
            spu.stqd(kept, 0, external);
            spu.stqd(zero, 0, flux);
            spu.stqd(zero, 16, flux);
            spu.stqd(low_source, 0, source);
            spu.stqd(high_source, 16, source);
            flux = spu.ai(flux, 32);
            external = spu.ai(external, 16);
            source = spu.ai(source, 32);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }
}
