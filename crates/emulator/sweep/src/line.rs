//! Cells one after the other: the arithmetic of a sweep.

use crate::direction::{Direction, Sign};

use crate::{I, J, K, Moments};

/// Whether negative outflows are set to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixUp {
    /// They are.
    On,
    /// They stay.
    Off,
}

/// A line of cells along i, and what it works on. Faces hold the inflow before and the outflow
/// after, the angles of a cell one after the other.
#[derive(Debug)]
pub struct Line<'a> {
    /// sigma_t of each cell \[1/length\].
    pub total: &'a [f64],
    /// q_n of each cell.
    pub source: &'a [Moments],
    /// phi_n of each cell, which grow by what these angles add.
    pub flux: &'a mut [Moments],
    /// The face along i: of one cell.
    pub i_face: &'a mut [f64],
    /// The faces along j: of all cells.
    pub j_face: &'a mut [f64],
    /// The faces along k: of all cells.
    pub k_face: &'a mut [f64],
}

impl Line<'_> {
    /// The fewest floating-point operations of a cell and angle without a fix-up, where all that depends on angle and
    /// material alone is known before: q of four moments 6, three inflows with their coefficients 6, psi 1, three
    /// outflows 4 (2 psi once), four moments of the flux 8.
    pub const OPERATIONS: u32 = 6 + 6 + 1 + 4 + 8;

    /// Sweeps the line along `directions`, whose signs along i are all `sign`. Returns in how many
    /// cells and angles an outflow was set to zero.
    ///
    /// # Panics
    /// Where the blocks are not as long as cells and angles ask for, or there are more than six
    /// angles.
    pub fn sweep(&mut self, directions: &[Direction], sign: Sign, fix_up: FixUp) -> u64 {
        match directions.len() {
            1 => self.along(&Fan::<1>::new(directions), sign, fix_up),
            2 => self.along(&Fan::<2>::new(directions), sign, fix_up),
            3 => self.along(&Fan::<3>::new(directions), sign, fix_up),
            4 => self.along(&Fan::<4>::new(directions), sign, fix_up),
            5 => self.along(&Fan::<5>::new(directions), sign, fix_up),
            6 => self.along(&Fan::<6>::new(directions), sign, fix_up),
            count => panic!("a block has one to six angles, not {count}"),
        }
    }

    /// The same for `A` angles.
    #[inline]
    pub(crate) fn along<const A: usize>(&mut self, fan: &Fan<A>, sign: Sign, fix_up: FixUp) -> u64 {
        let cells = self.flux.len();
        let (total, source, flux) = (self.total, self.source, &mut *self.flux);
        let i_face: &mut [f64; A] = self.i_face.try_into().expect("one cell's face");
        let (j_face, _) = self.j_face.as_chunks_mut::<A>();
        let (k_face, _) = self.k_face.as_chunks_mut::<A>();
        assert!([total.len(), source.len(), j_face.len(), k_face.len()] == [cells; 4]);
        let mut fixed = 0;
        let mut inflow_i = *i_face;
        for visited in 0..cells {
            let at = sign.nth(visited, cells);
            let inflow = [inflow_i, j_face[at], k_face[at]];
            let cell = fan.balance(&source[at], total[at], &inflow);
            let Cell { mut flux_along, mut outflow, .. } = cell;
            if fix_up == FixUp::On && outflow.as_flattened().iter().any(|&out| out < 0.0) {
                for angle in 0..A {
                    fixed += fan.fix_up(angle, &cell, &inflow, &mut flux_along, &mut outflow);
                }
            }
            for (angle, along) in flux_along.iter().enumerate() {
                // phi_n += pn w psi
                for (moment, factor) in flux[at].iter_mut().zip(&fan.weighted[angle]) {
                    *moment += factor * along;
                }
            }
            [inflow_i, j_face[at], k_face[at]] = outflow;
        }
        *i_face = inflow_i;
        fixed
    }
}

/// The directions of a block, each quantity of all of them side by side.
#[derive(Debug)]
pub(crate) struct Fan<const A: usize> {
    coefficients: [[f64; A]; 3],
    moments: [[f64; A]; 3],
    /// pn w.
    weighted: [Moments; A],
}

/// What the balance of a cell gives along each direction.
struct Cell<const A: usize> {
    numerator: [f64; A],
    denominator: [f64; A],
    /// psi.
    flux_along: [f64; A],
    outflow: [[f64; A]; 3],
}

impl<const A: usize> Fan<A> {
    pub(crate) fn new(directions: &[Direction]) -> Self {
        let directions: &[Direction; A] = directions.try_into().expect("as many as there are");
        Self {
            coefficients: [I, J, K].map(|axis| directions.map(|it| it.coefficients[axis])),
            moments: [I, J, K].map(|axis| directions.map(|it| it.moments[1 + axis])),
            weighted: directions.map(|it| it.moments.map(|moment| moment * it.weight)),
        }
    }

    #[inline(always)]
    fn balance(&self, source: &Moments, total: f64, inflow: &[[f64; A]; 3]) -> Cell<A> {
        let mut cell = Cell {
            numerator: [0.0; A],
            denominator: [0.0; A],
            flux_along: [0.0; A],
            outflow: [[0.0; A]; 3],
        };
        let ([ci, cj, ck], [mu, eta, xi]) = (&self.coefficients, &self.moments);
        for a in 0..A {
            // q = sum_n pn q_n
            let q = source[0] + mu[a] * source[1] + eta[a] * source[2] + xi[a] * source[3];
            // psi = (q + ci I + cj J + ck K) / (sigma_t + ci + cj + ck)
            let from_faces = cj[a] * inflow[J][a] + ck[a] * inflow[K][a];
            let numerator = q + from_faces + ci[a] * inflow[I][a];
            let denominator = total + ci[a] + cj[a] + ck[a];
            let flux_along = numerator / denominator;
            cell.numerator[a] = numerator;
            cell.denominator[a] = denominator;
            cell.flux_along[a] = flux_along;
            for axis in [I, J, K] {
                cell.outflow[axis][a] = 2.0 * flux_along - inflow[axis][a];
            }
        }
        cell
    }

    /// Sets the negative outflows of one angle to zero: returns 1 if there were any.
    #[cold]
    #[inline(never)]
    fn fix_up(
        &self,
        angle: usize,
        cell: &Cell<A>,
        inflow: &[[f64; A]; 3],
        flux_along: &mut [f64; A],
        outflow: &mut [[f64; A]; 3],
    ) -> u64 {
        let (mut numerator, mut denominator) = (cell.numerator[angle], cell.denominator[angle]);
        let mut out = outflow.map(|face| face[angle]);
        let mut fixed = 0;
        // Each axis once at most: an outflow that was set stays 0.
        while let Some(axis) = [I, J, K].into_iter().find(|&axis| out[axis] < 0.0) {
            let coefficient = self.coefficients[axis][angle];
            denominator -= coefficient;
            numerator -= 0.5 * coefficient * inflow[axis][angle];
            let along = numerator / denominator;
            flux_along[angle] = along;
            out[axis] = 0.0;
            for other in [I, J, K] {
                if out[other] != 0.0 {
                    out[other] = 2.0 * along - inflow[other][angle];
                }
            }
            fixed = 1;
        }
        for axis in [I, J, K] {
            outflow[axis][angle] = out[axis];
        }
        fixed
    }
}
