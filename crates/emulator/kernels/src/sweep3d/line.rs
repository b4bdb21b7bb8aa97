//! A line of cells along i.

#![allow(clippy::needless_range_loop)]

mod stages;

use super::{
    MOMENTS_BYTES, TOTAL_BYTES, both, coefficients_bytes, copy, face_bytes, has_sign, is_zero,
    named_by_angles, pairs,
};
use mmgp_base::units::Bytes;
use mmgp_spu::{BranchName, Branches, LocalAddress, Shape, Spu};
use mmgp_sweep::{FixUp, Sign};
use stages::{CellWalk, Estimate, ReadyCell, StageConstants, SweptCell};

/// Sweeps a line of cells for a block of angles of one octant; returns in how many cells and angles
/// an outflow was set to zero.
///
/// ```text
/// q   = q0 + mu q1 + eta q2 + xi q3
/// psi = (q + ci I + cj J + ck K) / (sigma_t + ci + cj + ck)
/// outflow = 2 psi - inflow, phi_n += pn w psi
/// ```
///
/// The reciprocal of half the denominator is the SPU's estimate, improved by one step of Newton's
/// method in single precision and one of third order in double precision; so psi is true to two
/// units in the last place. Half of a denominator lies between 2^-126 and 2^127.
///
/// What goes from cell to cell along the line is the inflow I: `num = rest + ci I`, and
/// `outflow = num (2 / den) - I`, two instructions of double precision one after the other. All else
/// is done ahead of it or after it, four cells at once:
///
/// ```text
/// turn c   estimate   of cell c + 2   q, den and its estimate
///          ready      of cell c + 1   2 / den, and what J and K bring
///          swept      of cell c       num, psi, outflows, and whether one is negative
///          stored     of cell c - 1   phi, J, K
/// ```
///
/// So a turn has for each pair of angles 18 instructions of double precision, and 2 more for the
/// sums of phi over the two lanes. As nothing of cell c is stored when its signs are known, what
/// sets outflows to zero finds the inflows where they were. Three pairs make estimates one cell
/// ahead, and load half of their weights in each turn: 128 registers have no room for more.
///
/// Cycles of a cell, where no outflow is negative, and in brackets of a cell and angle; a Cell BE can
/// do with 7 for each instruction of double precision, a PowerXCell 8i with one for each of the even
/// pipe:
///
/// | angles | Cell BE | at least | PowerXCell 8i | at least |
/// |---|---|---|---|---|
/// | 2 | 175 (87.5) | 140 | 58 (29.0) | 27 |
/// | 4; and 3 | 310 (77.5; 103.3) | 266 | 57 (14.3; 19.0) | 50 |
/// | 6 | 454 (75.7) | 392 | 83 (13.8) | 74 |
/// | 2, fix-ups | 176 | 140 | 58 | 30 |
/// | 4, fix-ups | 314 | 266 | 62 | 56 |
/// | 6, fix-ups | 459 | 392 | 86 | 83 |
///
/// Two angles wait on a PowerXCell 8i for the steps of an estimate, 58 cycles from load to result.
/// A cell in which one outflow is negative takes some 330 cycles more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Cells, at least one.
    pub cells: u32,
    /// Angles, one to six.
    pub angles: u32,
    /// Which way the line is swept; the address of each array is that of its cell 0 in both cases.
    pub sign: Sign,
    /// Whether negative outflows are set to zero.
    pub fix_up: FixUp,
    /// Half of the total cross-sections.
    pub total: LocalAddress,
    /// The source.
    pub source: LocalAddress,
    /// The flux, read and written.
    pub flux: LocalAddress,
    /// One element of what flows along i: first in, and then out.
    pub i_face: LocalAddress,
    /// An element for each cell of what flows along j.
    pub j_face: LocalAddress,
    /// An element for each cell of what flows along k.
    pub k_face: LocalAddress,
    /// What [`coefficients`](super::coefficients) made.
    pub coefficients: LocalAddress,
}

/// The branch at the end of the loop over cells.
const AGAIN: BranchName = BranchName(1);

kernel! {
    Line -> u32, |kernel, spu|
    shape: match kernel.fix_up {
        FixUp::Off => Shape::new(named_by_angles!(kernel.angles, "sweep a line"), kernel.cells),
        FixUp::On => Shape {
            branches: Branches::OnData,
            ..Shape::new(named_by_angles!(kernel.angles, "sweep a line", ", fix-ups"), kernel.cells)
        },
    };
    branches: Branches::OnData;
    blocks: {
        input total[TOTAL_BYTES; kernel.cells];
        input source[MOMENTS_BYTES; kernel.cells];
        output flux[MOMENTS_BYTES; kernel.cells];
        output i_face[face_bytes(kernel.angles); 1];
        output j_face[face_bytes(kernel.angles); kernel.cells];
        output k_face[face_bytes(kernel.angles); kernel.cells];
        input coefficients[coefficients_bytes(kernel.angles); 1];
    }
    run: match (pairs(kernel.angles), kernel.fix_up) {
        (1, FixUp::Off) => kernel.sweep::<S, 1, false>(spu),
        (2, FixUp::Off) => kernel.sweep::<S, 2, false>(spu),
        (_, FixUp::Off) => kernel.sweep::<S, 3, false>(spu),
        (1, FixUp::On) => kernel.sweep::<S, 1, true>(spu),
        (2, FixUp::On) => kernel.sweep::<S, 2, true>(spu),
        (_, FixUp::On) => kernel.sweep::<S, 3, true>(spu),
    };
}

impl Line {
    /// The address of the part of an array that belongs to the cell that is visited last.
    fn last(&self, array: LocalAddress, each: Bytes) -> LocalAddress {
        match self.sign {
            Sign::Plus => array.offset(Bytes(each.0 * u64::from(self.cells - 1))),
            Sign::Minus => array,
        }
    }

    /// Bytes from the part of a cell to that of the next.
    fn step(&self, each: Bytes) -> i32 {
        match self.sign {
            Sign::Plus => each.0 as i32,
            Sign::Minus => -(each.0 as i32),
        }
    }

    #[inline(always)]
    fn sweep<S: Spu, const PAIRS: usize, const FIX_UP: bool>(&self, spu: &mut S) -> u32 {
        let constants = StageConstants::<S::Register, PAIRS>::load(spu, self);
        let mut inflow = [constants.one; PAIRS];
        for (pair, element) in inflow.iter_mut().enumerate() {
            *element = spu.lqa(self.i_face.offset(Bytes(16 * pair as u64)));
        }
        let first = CellWalk::begin(spu, self);
        let estimate = Estimate::new(spu, &constants, &first);
        let ready = ReadyCell::new(spu, &constants, &first, &estimate);
        // No cell is before the first: what is stored as such is what was there.
        let before = SweptCell::nothing(spu, &constants, &first);
        let fixed = spu.il(0);
        let mut turn = LineTurn { constants, here: first, ready, before, inflow, fixed };
        let more = spu.il(self.cells as i16 - 1);
        if !spu.brz(more) {
            if PAIRS < 3 {
                turn.two_ahead::<S, FIX_UP>(spu, more);
            } else {
                turn.one_ahead::<S, FIX_UP>(spu);
            }
        }
        turn.sweep::<S, FIX_UP>(spu);
        turn.before.store(spu, &turn.constants);
        for (pair, element) in turn.inflow.into_iter().enumerate() {
            spu.stqa(element, self.i_face.offset(Bytes(16 * pair as u64)));
        }
        let other = spu.rotqbyi(turn.fixed, 8);
        let fixed = spu.a(turn.fixed, other);
        spu.value(fixed).preferred()
    }
}

/// What is in registers between two cells.
struct LineTurn<R, const PAIRS: usize> {
    constants: StageConstants<R, PAIRS>,
    /// The cell that is swept next, ready.
    here: CellWalk<R>,
    ready: ReadyCell<R, PAIRS>,
    /// The one before it, not yet stored.
    before: SweptCell<R, PAIRS>,
    /// The inflow along i.
    inflow: [R; PAIRS],
    /// The number of cells in which each lane was fixed.
    fixed: R,
}

impl<R: Copy, const PAIRS: usize> LineTurn<R, PAIRS> {
    /// Sweeps a cell, and stores the one before it.
    #[inline(always)]
    fn sweep<S: Spu<Register = R>, const FIX_UP: bool>(&mut self, spu: &mut S) {
        let Self { constants, here, ready, inflow, .. } = self;
        let mut swept = SweptCell::new::<S, FIX_UP>(spu, constants, here, ready, *inflow);
        self.before.store(spu, constants);
        if FIX_UP {
            swept.fix_up(spu, constants, *inflow, &mut self.fixed);
        }
        self.inflow = swept.outflow_i();
        self.before = swept;
    }

    /// All cells but the last, `more` than none. The estimate of a cell is made two turns ahead: it
    /// would be waited for otherwise, as the turns are short.
    #[inline(always)]
    fn two_ahead<S: Spu<Register = R>, const FIX_UP: bool>(&mut self, spu: &mut S, more: R) {
        let mut next = self.here.next(spu);
        let mut estimate = Estimate::new(spu, &self.constants, &next);
        let more = spu.ai(more, -1);
        if !spu.brz(more) {
            loop {
                spu.label();
                spu.hbrr_for(AGAIN);
                let coming = next.next(spu);
                let coming_estimate = Estimate::new(spu, &self.constants, &coming);
                let ready = ReadyCell::new(spu, &self.constants, &next, &estimate);
                self.sweep::<S, FIX_UP>(spu);
                (self.ready, self.here) = (ready, next);
                (estimate, next) = (coming_estimate, coming);
                spu.name_branch(AGAIN);
                if !spu.brnz(next.cell) {
                    break;
                }
            }
        }
        let ready = ReadyCell::new(spu, &self.constants, &next, &estimate);
        self.sweep::<S, FIX_UP>(spu);
        (self.ready, self.here) = (ready, next);
    }

    /// The same with everything made one turn ahead: three pairs leave no registers for more, and
    /// make turns long enough.
    #[inline(always)]
    fn one_ahead<S: Spu<Register = R>, const FIX_UP: bool>(&mut self, spu: &mut S) {
        loop {
            spu.label();
            spu.hbrr_for(AGAIN);
            let next = self.here.next(spu);
            let estimate = Estimate::new(spu, &self.constants, &next);
            let ready = ReadyCell::new(spu, &self.constants, &next, &estimate);
            self.sweep::<S, FIX_UP>(spu);
            (self.ready, self.here) = (ready, next);
            spu.name_branch(AGAIN);
            if !spu.brnz(next.cell) {
                break;
            }
        }
    }
}

impl<R: Copy, const PAIRS: usize> SweptCell<R, PAIRS> {
    /// Computes outflows of this cell anew where one is negative: `fixed` grows in the high word of each
    /// lane by one for each angle.
    ///
    /// In each turn of the loop every lane takes the first of I, J and K that is negative: its
    /// coefficient from the denominator, and half of that times the inflow from the numerator.
    #[inline(always)]
    fn fix_up<S: Spu<Register = R>>(
        &mut self,
        spu: &mut S,
        constants: &StageConstants<R, PAIRS>,
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

    /// The lanes, for each axis, in which its outflow is negative and none before it is.
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
        constants: &StageConstants<R, PAIRS>,
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
