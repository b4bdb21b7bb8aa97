//! A line of cells along i.

mod fix_up;
mod stages;

use mmgp_base::units::Bytes;
use mmgp_spu::layout::Block;
use mmgp_spu::{BranchName, Branches, Compiled, Kernel, LocalAddress, Shape, Spu};
use mmgp_sweep::{FixUp, Sign};

use super::{MOMENTS_BYTES, TOTAL_BYTES, coefficients_bytes, face_bytes, pairs};
use stages::{Constants, Estimate, Ready, Swept, Walk};

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
/// sets outflows to zero finds the inflows where they were.
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
    /// One element: what flows in, and then what flows out.
    pub i_face: LocalAddress,
    /// An element for each cell, as well.
    pub j_face: LocalAddress,
    /// Likewise.
    pub k_face: LocalAddress,
    /// What [`coefficients`](super::coefficients) made.
    pub coefficients: LocalAddress,
}

/// The branch at the end of the loop over cells.
const AGAIN: BranchName = BranchName(1);

impl Kernel for Line {
    type Output = u32;

    fn shape(&self) -> Shape {
        let name = match (pairs(self.angles), self.fix_up) {
            (1, FixUp::Off) => "sweep a line, one pair of angles",
            (2, FixUp::Off) => "sweep a line, two pairs of angles",
            (_, FixUp::Off) => "sweep a line, three pairs of angles",
            (1, FixUp::On) => "sweep a line, one pair of angles, fix-ups",
            (2, FixUp::On) => "sweep a line, two pairs of angles, fix-ups",
            (_, FixUp::On) => "sweep a line, three pairs of angles, fix-ups",
        };
        let branches = match self.fix_up {
            FixUp::On => Branches::OnData,
            FixUp::Off => Branches::OnShape,
        };
        Shape { branches, ..Shape::new(name, self.cells) }
    }

    fn blocks(&self) -> Vec<Block> {
        let element = face_bytes(self.angles);
        vec![
            Block::input("total", self.total, self.cells, TOTAL_BYTES),
            Block::input("source", self.source, self.cells, MOMENTS_BYTES),
            Block::output("flux", self.flux, self.cells, MOMENTS_BYTES),
            Block::output("i_face", self.i_face, 1, element),
            Block::output("j_face", self.j_face, self.cells, element),
            Block::output("k_face", self.k_face, self.cells, element),
            Block::input("coefficients", self.coefficients, 1, coefficients_bytes(self.angles)),
        ]
    }

    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> u32 {
        match (pairs(self.angles), self.fix_up) {
            (1, FixUp::Off) => self.sweep::<S, 1, false>(spu),
            (2, FixUp::Off) => self.sweep::<S, 2, false>(spu),
            (_, FixUp::Off) => self.sweep::<S, 3, false>(spu),
            (1, FixUp::On) => self.sweep::<S, 1, true>(spu),
            (2, FixUp::On) => self.sweep::<S, 2, true>(spu),
            (_, FixUp::On) => self.sweep::<S, 3, true>(spu),
        }
    }

    #[inline(never)]
    fn compiled(&self) -> &dyn Compiled<Output = u32> {
        self
    }
}

impl Line {
    /// Where the part of an array lies that belongs to the cell that is visited last.
    fn last(&self, array: LocalAddress, each: Bytes) -> LocalAddress {
        match self.sign {
            Sign::Plus => array.offset(Bytes(each.0 * u64::from(self.cells - 1))),
            Sign::Minus => array,
        }
    }

    /// From the part of a cell to that of the next.
    fn step(&self, each: Bytes) -> i32 {
        match self.sign {
            Sign::Plus => each.0 as i32,
            Sign::Minus => -(each.0 as i32),
        }
    }

    #[inline(always)]
    fn sweep<S: Spu, const PAIRS: usize, const FIX_UP: bool>(&self, spu: &mut S) -> u32 {
        let constants = Constants::<S::Register, PAIRS>::load(spu, self);
        let mut inflow = [constants.one; PAIRS];
        for (pair, element) in inflow.iter_mut().enumerate() {
            *element = spu.lqa(self.i_face.offset(Bytes(16 * pair as u64)));
        }
        let mut walk = Walk::begin(spu, self);
        let mut fixed = spu.il(0);
        let mut estimate = Estimate::new(spu, &constants, &walk);
        let mut here = walk;
        let mut ready = Ready::new(spu, &constants, &here, &estimate);
        // No cell is before the first: what is stored as such is what was there.
        let mut before = Swept::nothing(spu, &constants, &here, &ready);
        let more = spu.il(self.cells as i16 - 1);
        if !spu.brz(more) {
            walk = walk.next(spu);
            estimate = Estimate::new(spu, &constants, &walk);
            let more = spu.ai(more, -1);
            if !spu.brz(more) {
                loop {
                    spu.label();
                    spu.hbrr_for(AGAIN);
                    let coming = walk.next(spu);
                    let next_estimate = Estimate::new(spu, &constants, &coming);
                    let next_ready = Ready::new(spu, &constants, &walk, &estimate);
                    let mut swept = Swept::new::<S, FIX_UP>(spu, &constants, &here, &ready, inflow);
                    before.store(spu, &constants);
                    if FIX_UP {
                        swept.fix_up(spu, &constants, inflow, &mut fixed);
                    }
                    inflow = swept.outflow_i();
                    (before, ready, estimate, here, walk) =
                        (swept, next_ready, next_estimate, walk, coming);
                    spu.name_branch(AGAIN);
                    if !spu.brnz(walk.cell) {
                        break;
                    }
                }
            }
            let next_ready = Ready::new(spu, &constants, &walk, &estimate);
            let mut swept = Swept::new::<S, FIX_UP>(spu, &constants, &here, &ready, inflow);
            before.store(spu, &constants);
            if FIX_UP {
                swept.fix_up(spu, &constants, inflow, &mut fixed);
            }
            inflow = swept.outflow_i();
            (before, ready, here) = (swept, next_ready, walk);
        }
        let mut swept = Swept::new::<S, FIX_UP>(spu, &constants, &here, &ready, inflow);
        before.store(spu, &constants);
        if FIX_UP {
            swept.fix_up(spu, &constants, inflow, &mut fixed);
        }
        swept.store(spu, &constants);
        for (pair, element) in swept.outflow_i().into_iter().enumerate() {
            spu.stqa(element, self.i_face.offset(Bytes(16 * pair as u64)));
        }
        let other = spu.rotqbyi(fixed, 8);
        let fixed = spu.a(fixed, other);
        spu.value(fixed).preferred()
    }
}
