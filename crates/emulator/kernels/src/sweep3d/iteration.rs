//! What goes before and after the sweeps of an iteration: the source of each cell, faces that nothing
//! flows into, what leaves over those of the grid, and the error.

use super::{
    EXTERNAL_BYTES, FIRST_ALONE, FIRSTS, MOMENTS_BYTES, SECONDS, SIGNS, face_bytes, has_sign,
    is_zero, named_by_angles, pairs,
};
use crate::exponential::Reciprocal;
use crate::kernel::store_turns;
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Quadword, Shape, Spu};
use mmgp_sweep::CrossSections;

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

/// Sets a face to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClearFace {
    /// The face, written.
    pub at: LocalAddress,
    /// How long it is: whole quadwords, at least one.
    pub bytes: Bytes,
}

/// Quadwords that a turn stores.
const STORES: u32 = 4;

impl ClearFace {
    fn quadwords(&self) -> u32 {
        self.bytes.0 as u32 / 16
    }
}

kernel! {
    ClearFace -> (), |kernel, spu|
    shape: Shape::new("clear a face", kernel.quadwords());
    blocks: { each = [Block::output("face", kernel.at, kernel.quadwords(), Bytes(16))]; }
    run: kernel.instructions(spu);
}

impl ClearFace {
    #[inline(always)]
    fn instructions<S: Spu>(&self, spu: &mut S) {
        let zero = spu.il(0);
        let (turns, rest) = (self.quadwords() / STORES, self.quadwords() % STORES);
        let mut at = spu.ila(self.at.0);
        for quadword in 0..rest as i32 {
            spu.stqd(zero, 16 * quadword, at);
        }
        if turns == 0 {
            return;
        }
        at = spu.ai(at, 16 * rest as i16);
        let left = spu.ila(turns);
        store_turns::<S, STORES>(spu, zero, at, left);
    }
}

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
        let constants = ErrorConstants {
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
struct ErrorConstants<R> {
    reciprocal: Reciprocal<R>,
    firsts: R,
    seconds: R,
    signs: R,
}

impl<R: Copy> ErrorConstants<R> {
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

/// Adds what flows out over a face to a running sum in the two lanes of a quadword:
/// `sum += cosine w outflow`. The leakage is the sum of both lanes times the area of a cell's face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leakage {
    /// Elements of the face, at least one.
    pub elements: u32,
    /// Angles, one to six.
    pub angles: u32,
    /// The face.
    pub face: LocalAddress,
    /// What [`leakage_weights`](super::leakage_weights) made: one element.
    pub weights: LocalAddress,
    /// The sum, read and written.
    pub sum: LocalAddress,
}

/// Elements of a turn.
const TOGETHER: u32 = 4;

impl Leakage {
    #[inline(always)]
    fn add<S: Spu, const PAIRS: usize>(&self, spu: &mut S) {
        let mut weights = [spu.lqa(self.weights); PAIRS];
        for (pair, weight) in weights.iter_mut().enumerate().skip(1) {
            *weight = spu.lqa(self.weights.offset(Bytes(16 * pair as u64)));
        }
        let before = spu.lqa(self.sum);
        let mut face = spu.ila(self.face.0);
        // Sums of their own for elements and pairs beside one another, so that none waits for another.
        let mut sums = [[before; PAIRS]; TOGETHER as usize];
        sums.as_flattened_mut().iter_mut().for_each(|sum| *sum = spu.il(0));
        for _ in 0..self.elements % TOGETHER {
            Self::element(spu, face, &weights, &mut sums[0]);
            face = spu.ai(face, 16 * PAIRS as i16);
        }
        if self.elements >= TOGETHER {
            let mut left = spu.ila(self.elements / TOGETHER);
            loop {
                spu.label();
                spu.hbrr();
                for sum in &mut sums {
                    Self::element(spu, face, &weights, sum);
                    face = spu.ai(face, 16 * PAIRS as i16);
                }
                left = spu.ai(left, -1);
                if !spu.brnz(left) {
                    break;
                }
            }
        }
        let mut sum = before;
        for own in sums.as_flattened() {
            sum = spu.dfa(sum, *own);
        }
        spu.stqa(sum, self.sum);
    }

    /// Adds an element.
    #[inline(always)]
    fn element<S: Spu, const PAIRS: usize>(
        spu: &mut S,
        face: S::Register,
        weights: &[S::Register; PAIRS],
        sums: &mut [S::Register; PAIRS],
    ) {
        for (pair, (&weight, sum)) in weights.iter().zip(sums).enumerate() {
            let outflow = spu.lqd(16 * pair as i32, face);
            *sum = spu.dfma(weight, outflow, *sum);
        }
    }
}

kernel! {
    Leakage -> (), |kernel, spu|
    shape: Shape::new(named_by_angles!(kernel.angles, "add what leaks"), kernel.elements);
    blocks: {
        input face[face_bytes(kernel.angles); kernel.elements];
        input weights[face_bytes(kernel.angles); 1];
        output sum[Bytes(16); 1];
    }
    run: match pairs(kernel.angles) {
        1 => kernel.add::<S, 1>(spu),
        2 => kernel.add::<S, 2>(spu),
        _ => kernel.add::<S, 3>(spu),
    };
}
