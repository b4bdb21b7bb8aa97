//! The runs as a linear least-squares problem in the unknown terms.

use mmgp_base::Mapping;
use nalgebra::{DMatrix, DVector};

use super::runs::Runs;
use crate::model::Parameters;
use crate::model::parameters::{Estimate, OverM, Terms};
use crate::model::terms::Term;

/// Equation 11 and its task form, seen as functions of the unknown terms alone.
///
/// Both are linear in each term; `alpha_m*T_HPU`, the one product of two unknowns, is
/// `T_HPU + (a*T_HPU)*(m - 1)` with the slope's product as the unknown. So one column of numbers
/// for each term says everything, and the equation itself stays where it is, in `model`.
#[derive(Debug, Clone)]
pub(crate) struct Sensitivity {
    /// The known terms, and neutral values for the unknown.
    pub base: Parameters,
    pub unknown: Vec<Term>,
}

impl Sensitivity {
    /// What one unit of the term adds to the time at (m, p).
    pub fn of(&self, term: Term, m: u32, p: u32) -> f64 {
        if term == Term::Alpha {
            return self.of_alpha(m, p);
        }
        let mut lone = self.nothing_but_factors();
        lone.terms.value_mut(term).set(Estimate::exact(1.0));
        let counts: &[Term] = match term {
            Term::Offloads => &[Term::OffloadOverhead, Term::ContextSwitch],
            Term::Collectives => &[Term::CollectiveCost],
            _ => &[],
        };
        for &counted in counts {
            lone.terms.copy_from(&self.base.terms, counted);
        }
        lone.time(Mapping::of(m, p)).0
    }

    /// `d T/d a = T_HPU*(m - 1)`, times the share of the slowest worker: the difference between
    /// the time with `alpha_m = m` and that with `alpha_m = 1`.
    fn of_alpha(&self, m: u32, p: u32) -> f64 {
        let mut lone = self.nothing_but_factors();
        lone.terms.t_hpu_s = Estimate::exact(self.hpu_factor());
        lone.terms.alpha = OverM::Constant(Estimate::exact(f64::from(m)));
        let slowed = lone.time(Mapping::of(m, p)).0;
        lone.terms.alpha = OverM::Constant(Estimate::exact(1.0));
        slowed - lone.time(Mapping::of(m, p)).0
    }

    /// What the slope of alpha multiplies: T_HPU where it is known; otherwise the unknown is
    /// already the product.
    fn hpu_factor(&self) -> f64 {
        if self.unknown.contains(&Term::HpuTime) { 1.0 } else { self.base.terms.t_hpu_s.value }
    }

    /// A program that takes no time, with the counts and slowdowns of this one.
    fn nothing_but_factors(&self) -> Parameters {
        let Terms { offloads, collectives, alpha, .. } = self.base.terms.clone();
        Parameters {
            terms: Terms { offloads, collectives, alpha, ..Terms::nothing() },
            phases: Vec::new(),
            correlation: None,
            refinements: None,
            evidence: None,
            ..self.base.clone()
        }
    }
}

/// The weighted sensitivities of all configurations that were run.
///
/// A clock and a machine err in proportion to the time, so residuals are relative. With `n` runs
/// of mean `t` in a cell, `sqrt(n)*(T - t)/t` has the same expected size in every cell, and the
/// sum of its squares differs from the sum over the single runs by their scatter alone, which no
/// parameter can change.
pub(crate) struct Design {
    /// One row for each cell, one column for each unknown: `sqrt(n)/t * dT/dx`.
    pub columns: DMatrix<f64>,
    /// `sqrt(n)/t * (t - T_known)`, one for each cell.
    pub target: DVector<f64>,
}

impl Design {
    pub fn new(sensitivity: &Sensitivity, runs: &Runs) -> Self {
        let cells = &runs.cells;
        let weight = |row: usize| (cells[row].count as f64).sqrt() / cells[row].mean_s;
        let columns = DMatrix::from_fn(cells.len(), sensitivity.unknown.len(), |row, column| {
            let term = sensitivity.unknown[column];
            weight(row) * sensitivity.of(term, cells[row].m, cells[row].p)
        });
        let target = DVector::from_fn(cells.len(), |row, _| {
            let known = sensitivity.base.time(Mapping::of(cells[row].m, cells[row].p)).0;
            weight(row) * (cells[row].mean_s - known)
        });
        Self { columns, target }
    }
}

#[cfg(test)]
mod tests {
    use super::super::trials::{TERMS, feasible, truth};
    use super::*;
    use crate::model::parameters::Decomposition;

    /// The term's sensitivity is the central difference of the model's time around `parameters`.
    fn check(parameters: &Parameters, term: Term, change: fn(&mut Parameters, f64)) {
        let sensitivity = Sensitivity { base: parameters.clone(), unknown: vec![term] };
        for (m, p) in feasible() {
            let time = |by: f64| {
                let mut changed = parameters.clone();
                change(&mut changed, by);
                changed.time(Mapping::of(m, p)).0
            };
            let difference = time(0.5) - time(-0.5);
            let found = sensitivity.of(term, m, p);
            approx::assert_relative_eq!(found, difference, max_relative = 1e-9, epsilon = 1e-12);
        }
    }

    fn slope(parameters: &mut Parameters, by: f64) {
        let OverM::Table(alpha) = &mut parameters.terms.alpha else { panic!("a table") };
        for (m, value) in alpha.m.iter().zip(&mut alpha.values) {
            value.value += by * f64::from(m - 1);
        }
    }

    fn o_col(parameters: &mut Parameters, by: f64) {
        let OverM::Constant(cost) = &mut parameters.terms.o_col_s else { panic!("a number") };
        cost.value += by;
    }

    #[test]
    fn sensitivities_are_the_differences_of_the_model() {
        for decomposition in [Decomposition::Data, Decomposition::Task { tasks: 20 }] {
            let at = truth(decomposition, 0.08, TERMS);
            check(&at, Term::HpuTime, |changed, by| changed.terms.t_hpu_s.value += by);
            check(&at, Term::ApuTime, |changed, by| changed.terms.t_apu_s.value += by);
            check(&at, Term::ApuSerialTime, |changed, by| changed.terms.c_apu_s.value += by);
            check(&at, Term::Gap, |changed, by| changed.terms.g_s.value += by);
            check(&at, Term::OffloadOverhead, |changed, by| changed.terms.o_offload_s.value += by);
            check(&at, Term::ContextSwitch, |changed, by| changed.terms.t_csw_s.value += by);
            check(&at, Term::CollectiveCost, o_col);
            check(&at, Term::Collectives, |changed, by| {
                changed.terms.collectives.as_mut().unwrap().value += by;
            });
            check(&at, Term::Alpha, slope);
        }
    }

    #[test]
    fn off_loads_of_no_gap_cost_their_overhead() {
        let terms = [8.0, 120.0, 2.0, 1000.0, 0.25, 0.125, 0.0, 0.0];
        let at = truth(Decomposition::Data, 0.0, terms);
        check(&at, Term::Offloads, |changed, by| changed.terms.offloads.value += by);
    }

    #[test]
    fn collectives_cost_as_often_as_there_are_of_them() {
        let mut at = truth(Decomposition::Data, 0.08, TERMS);
        at.terms.collectives = Some(Estimate::exact(3.0));
        check(&at, Term::CollectiveCost, o_col);
    }
}
