//! What is done for a cell, in four stages.

// Blocks of registers are indexed by the pair of angles, several at once.
#![allow(clippy::needless_range_loop)]

use super::Line;
use crate::sweep3d::{
    COEFFICIENTS, FIRST_ALONE, FIRST_TWICE, FIRSTS, HIGH_ALONE, MOMENTS_BYTES, SECOND_ALONE,
    SECOND_TWICE, SECONDS, SIGNS, TOTAL_BYTES, both, copy, face_bytes, pairs,
};
use mmgp_base::units::Bytes;
use mmgp_spu::{LocalAddress, Quadword, Spu};

/// Turns the exponent of a double's high word, shifted to a single's place, into a single's: the
/// biases differ by 896, of which the exponent's lower nine bits remain.
const TO_SINGLE: u16 = 0x4000;

/// And back: 896 in the exponent field of a high word.
const TO_DOUBLE: u16 = 896 << 4;

/// The factors of a pair of angles.
#[derive(Debug, Clone, Copy)]
pub(super) struct AngleFactors<R> {
    /// ci, cj, ck.
    pub(super) c: [R; 3],
    /// Half of their sum.
    pub(super) half_sum: R,
    /// mu, eta, xi.
    cosines: [R; 3],
    /// pn w / 2.
    weights: [R; 4],
    /// Chooses q0 for both lanes, or for the one that there is.
    first_moment: R,
}

/// Constants in registers, and where the arrays lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageConstants<R, const PAIRS: usize> {
    pub(super) factors: [AngleFactors<R>; PAIRS],
    /// The address of the factors.
    coefficients: R,
    pub(super) one: R,
    pub(super) single_one: R,
    pub(super) to_single: R,
    pub(super) to_double: R,
    high_alone: R,
    signs: R,
    twice: [R; 2],
    alone: [R; 2],
    firsts: R,
    seconds: R,
    /// The cross-section of the cell that is visited last.
    pub(super) total: R,
    source: [R; 2],
    flux: [R; 2],
    pub(super) j_face: [R; PAIRS],
    pub(super) k_face: [R; PAIRS],
}

impl<R: Copy, const PAIRS: usize> StageConstants<R, PAIRS> {
    #[inline(always)]
    pub(super) fn load<S: Spu<Register = R>>(spu: &mut S, kernel: &Line) -> Self {
        let one = spu.lqr(both(1.0));
        let twice = [spu.lqr(FIRST_TWICE), spu.lqr(SECOND_TWICE)];
        let alone = [spu.lqr(FIRST_ALONE), spu.lqr(SECOND_ALONE)];
        let mut place = kernel.coefficients;
        let mut next = |spu: &mut S| {
            let loaded = spu.lqa(place);
            place = place.offset(Bytes(16));
            loaded
        };
        let mut factors = [AngleFactors {
            c: [one; 3],
            half_sum: one,
            cosines: [one; 3],
            weights: [one; 4],
            first_moment: twice[0],
        }; PAIRS];
        const { assert!(COEFFICIENTS == 3 + 1 + 3 + 4) };
        for of_pair in &mut factors {
            of_pair.c = [next(spu), next(spu), next(spu)];
            of_pair.half_sum = next(spu);
            of_pair.cosines = [next(spu), next(spu), next(spu)];
            of_pair.weights = [next(spu), next(spu), next(spu), next(spu)];
        }
        if kernel.angles % 2 == 1 {
            factors[PAIRS - 1].first_moment = alone[0];
        }
        let element = face_bytes(kernel.angles);
        let at = |spu: &mut S, array, each: Bytes, quadword: usize| {
            let LocalAddress(last) = kernel.last(array, each);
            spu.ila(last + 16 * quadword as u32)
        };
        let (mut j_face, mut k_face) = ([one; PAIRS], [one; PAIRS]);
        for pair in 0..PAIRS {
            j_face[pair] = at(spu, kernel.j_face, element, pair);
            k_face[pair] = at(spu, kernel.k_face, element, pair);
        }
        Self {
            factors,
            coefficients: spu.ila(kernel.coefficients.0),
            one,
            single_one: spu.lqr(Quadword::splat(1.0f32.to_bits())),
            to_single: spu.ilhu(TO_SINGLE),
            to_double: spu.ilhu(TO_DOUBLE),
            high_alone: spu.lqr(HIGH_ALONE),
            signs: spu.lqr(SIGNS),
            twice,
            alone,
            firsts: spu.lqr(FIRSTS),
            seconds: spu.lqr(SECONDS),
            total: at(spu, kernel.total, TOTAL_BYTES, 0),
            source: [0, 1].map(|half| at(spu, kernel.source, MOMENTS_BYTES, half)),
            flux: [0, 1].map(|half| at(spu, kernel.flux, MOMENTS_BYTES, half)),
            j_face,
            k_face,
        }
    }

    /// pn w / 2 of a pair. Three pairs have more of them than there are registers: half of them
    /// are loaded for each cell.
    #[inline(always)]
    fn weight<S: Spu<Register = R>>(&self, spu: &mut S, pair: usize, moment: usize) -> R {
        if PAIRS == 3 && moment >= 2 {
            let quadword = COEFFICIENTS * pair + 7 + moment;
            spu.lqd(16 * quadword as i32, self.coefficients)
        } else {
            self.factors[pair].weights[moment]
        }
    }

    /// 1/x of a pair to 22 bits.
    #[inline(always)]
    pub(super) fn estimate<S: Spu<Register = R>>(&self, spu: &mut S, x: R) -> R {
        // Sign, exponent and 23 bits of the mantissa are the high word moved by three bits, but for
        // the bias. Low words hold what they may until they are cleared.
        let single = spu.shlqbii(x, 3);
        let single = spu.a(single, self.to_single);
        let line = spu.frest(single);
        let estimate = spu.fi(single, line);
        let rest = spu.fnms(single, estimate, self.single_one);
        let estimate = spu.fma(estimate, rest, estimate);
        let high = spu.shufb(estimate, estimate, self.high_alone);
        let moved = spu.rotqmbii(high, -3);
        spu.a(moved, self.to_double)
    }

    /// 1/x of a pair from an estimate y: `e = 1 - x y`, `1/x = y + y (e + e^2)`.
    #[inline(always)]
    pub(super) fn reciprocal<S: Spu<Register = R>>(&self, spu: &mut S, x: R, y: R) -> R {
        let one = copy(spu, self.one);
        let e = spu.dfnms(x, y, one);
        let e_again = copy(spu, e);
        let correction = spu.dfma(e, e, e_again);
        let y_again = copy(spu, y);
        spu.dfma(y, correction, y_again)
    }
}

/// The place of a cell, from the one that is visited last.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellWalk<R> {
    /// The offset of records of moments: 0 at the last cell.
    pub(super) cell: R,
    /// The offset of cross-sections.
    pub(super) total: R,
    /// The offset of elements of faces.
    pub(super) face: R,
    /// The steps of each from one cell to the next.
    steps: [R; 3],
    pairs: usize,
}

impl<R: Copy> CellWalk<R> {
    /// The place of the first cell.
    #[inline(always)]
    pub(super) fn begin<S: Spu<Register = R>>(spu: &mut S, kernel: &Line) -> Self {
        let cells = kernel.cells as i32 - 1;
        let sizes = [MOMENTS_BYTES, TOTAL_BYTES, face_bytes(kernel.angles)];
        let steps = sizes.map(|each| kernel.step(each));
        let constant = |spu: &mut S, value: i32| spu.lqr(Quadword::splat(value as u32));
        let [cell, total, face] = steps.map(|step| constant(spu, -cells * step));
        let steps = steps.map(|step| constant(spu, step));
        Self { cell, total, face, steps, pairs: pairs(kernel.angles) as usize }
    }

    /// The place of the cell after this. Elements of one or two pairs are as long as what is there anyway.
    #[inline(always)]
    pub(super) fn next<S: Spu<Register = R>>(&self, spu: &mut S) -> Self {
        let cell = spu.a(self.cell, self.steps[0]);
        let total = spu.a(self.total, self.steps[1]);
        let face = match self.pairs {
            1 => total,
            2 => cell,
            _ => spu.a(self.face, self.steps[2]),
        };
        Self { cell, total, face, ..*self }
    }
}

/// The first stage: the sources along all directions, half the denominators, and estimates of their
/// reciprocals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate<R, const PAIRS: usize> {
    source: [R; PAIRS],
    half_denominator: [R; PAIRS],
    estimate: [R; PAIRS],
}

impl<R: Copy, const PAIRS: usize> Estimate<R, PAIRS> {
    #[inline(always)]
    pub(super) fn new<S: Spu<Register = R>>(
        spu: &mut S,
        constants: &StageConstants<R, PAIRS>,
        at: &CellWalk<R>,
    ) -> Self {
        let total = spu.lqx(constants.total, at.total);
        let [low, high] = constants.source.map(|half| spu.lqx(half, at.cell));
        let [first, second] = constants.twice;
        let moments = [
            spu.shufb(low, low, second),
            spu.shufb(high, high, first),
            spu.shufb(high, high, second),
        ];
        let mut made =
            Self { source: [low; PAIRS], half_denominator: [low; PAIRS], estimate: [low; PAIRS] };
        for pair in 0..PAIRS {
            let factors = &constants.factors[pair];
            let half = spu.dfa(total, factors.half_sum);
            made.half_denominator[pair] = half;
            made.estimate[pair] = constants.estimate(spu, half);
            let mut source = spu.shufb(low, low, factors.first_moment);
            for (cosine, moment) in factors.cosines.into_iter().zip(moments) {
                source = spu.dfma(cosine, moment, source);
            }
            made.source[pair] = source;
        }
        made
    }
}

/// The second stage: what a cell is but for the inflow along the line.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadyCell<R, const PAIRS: usize> {
    /// q + cj J + ck K.
    rest: [R; PAIRS],
    /// 2 / (sigma_t + ci + cj + ck).
    twice_reciprocal: [R; PAIRS],
    j: [R; PAIRS],
    k: [R; PAIRS],
}

impl<R: Copy, const PAIRS: usize> ReadyCell<R, PAIRS> {
    #[inline(always)]
    pub(super) fn new<S: Spu<Register = R>>(
        spu: &mut S,
        constants: &StageConstants<R, PAIRS>,
        at: &CellWalk<R>,
        estimate: &Estimate<R, PAIRS>,
    ) -> Self {
        let none = estimate.source;
        let mut made = Self { rest: none, twice_reciprocal: none, j: none, k: none };
        for pair in 0..PAIRS {
            let [_, cj, ck] = constants.factors[pair].c;
            made.j[pair] = spu.lqx(constants.j_face[pair], at.face);
            made.k[pair] = spu.lqx(constants.k_face[pair], at.face);
            let rest = spu.dfma(cj, made.j[pair], estimate.source[pair]);
            made.rest[pair] = spu.dfma(ck, made.k[pair], rest);
            let half = estimate.half_denominator[pair];
            made.twice_reciprocal[pair] = constants.reciprocal(spu, half, estimate.estimate[pair]);
        }
        made
    }
}

/// The third stage: the flux along each direction, and what flows out.
#[derive(Debug, Clone, Copy)]
pub(super) struct SweptCell<R, const PAIRS: usize> {
    pub(super) at: CellWalk<R>,
    pub(super) numerator: [R; PAIRS],
    /// 2 psi.
    pub(super) twice_flux: [R; PAIRS],
    /// Along i, j and k.
    pub(super) outflow: [[R; PAIRS]; 3],
}

impl<R: Copy, const PAIRS: usize> SweptCell<R, PAIRS> {
    /// Sweeps a cell. Where the inflow along i is needed once more, it has a copy.
    #[inline(always)]
    pub(super) fn new<S: Spu<Register = R>, const FIX_UP: bool>(
        spu: &mut S,
        constants: &StageConstants<R, PAIRS>,
        at: &CellWalk<R>,
        ready: &ReadyCell<R, PAIRS>,
        inflow: [R; PAIRS],
    ) -> Self {
        let ReadyCell { twice_reciprocal, j, k, .. } = *ready;
        let mut made = Self {
            at: *at,
            numerator: ready.rest,
            twice_flux: ready.rest,
            outflow: [inflow, j, k],
        };
        for pair in 0..PAIRS {
            let [ci, ..] = constants.factors[pair].c;
            let numerator = spu.dfma(ci, inflow[pair], ready.rest[pair]);
            let reciprocal = twice_reciprocal[pair];
            made.numerator[pair] = numerator;
            let i = if FIX_UP { copy(spu, inflow[pair]) } else { inflow[pair] };
            made.outflow[0][pair] = spu.dfms(numerator, reciprocal, i);
            made.outflow[1][pair] = spu.dfms(numerator, reciprocal, j[pair]);
            made.outflow[2][pair] = spu.dfms(numerator, reciprocal, k[pair]);
            made.twice_flux[pair] = spu.dfm(numerator, reciprocal);
        }
        made
    }

    /// A cell before the first one: what is stored of it changes nothing.
    #[inline(always)]
    pub(super) fn nothing<S: Spu<Register = R>>(
        spu: &mut S,
        constants: &StageConstants<R, PAIRS>,
        at: &CellWalk<R>,
    ) -> Self {
        let zero = spu.il(0);
        let (mut j, mut k) = ([zero; PAIRS], [zero; PAIRS]);
        for pair in 0..PAIRS {
            j[pair] = spu.lqx(constants.j_face[pair], at.face);
            k[pair] = spu.lqx(constants.k_face[pair], at.face);
        }
        Self {
            at: *at,
            numerator: [zero; PAIRS],
            twice_flux: [zero; PAIRS],
            outflow: [[zero; PAIRS], j, k],
        }
    }

    pub(super) fn outflow_i(&self) -> [R; PAIRS] {
        self.outflow[0]
    }

    /// Not 0 in the preferred slot where a sign of an outflow is set.
    #[inline(always)]
    pub(super) fn signs<S: Spu<Register = R>>(
        &self,
        spu: &mut S,
        constants: &StageConstants<R, PAIRS>,
    ) -> R {
        let [i, j, k] = self.outflow;
        let mut all = None;
        for pair in 0..PAIRS {
            let beside = spu.or_(j[pair], k[pair]);
            let of_pair = spu.or_(i[pair], beside);
            all = Some(match all {
                None => of_pair,
                Some(others) => spu.or_(others, of_pair),
            });
        }
        let signs = spu.and_(all.unwrap_or(constants.signs), constants.signs);
        spu.orx(signs)
    }

    /// The fourth stage: adds to the moments of the flux, and stores the faces of j and k.
    #[inline(always)]
    pub(super) fn store<S: Spu<Register = R>>(
        &self,
        spu: &mut S,
        constants: &StageConstants<R, PAIRS>,
    ) {
        let [first, second] = constants.alone;
        for half in 0..2 {
            let old = spu.lqx(constants.flux[half], self.at.cell);
            let mut sums = [spu.shufb(old, old, first), spu.shufb(old, old, second)];
            for pair in 0..PAIRS {
                for moment in 0..2 {
                    let weight = constants.weight(spu, pair, 2 * half + moment);
                    sums[moment] = spu.dfma(weight, self.twice_flux[pair], sums[moment]);
                }
            }
            let [one, other] = sums;
            let lower = spu.shufb(one, other, constants.firsts);
            let upper = spu.shufb(one, other, constants.seconds);
            let new = spu.dfa(lower, upper);
            spu.stqx(new, constants.flux[half], self.at.cell);
        }
        for pair in 0..PAIRS {
            spu.stqx(self.outflow[1][pair], constants.j_face[pair], self.at.face);
            spu.stqx(self.outflow[2][pair], constants.k_face[pair], self.at.face);
        }
    }
}
