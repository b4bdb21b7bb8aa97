//! The host's time where runs cannot tell it from what further threads add to it.
//!
//! `T = c + S*w(m) + ...`: runs know what is the same everywhere, c, and what grows with m, S. As terms
//! of equation 11 these are `T_HPU + C_APU + ...` and `(alpha_m - 1)*T_HPU`. Where c is nothing, or
//! uncertain by several times its size (no run at m = 1, say), alpha would be a ratio to a number
//! that nobody knows. T_HPU is then a convention: the estimate, at least a thousandth of the shortest
//! time, without an error of its own. The error of c is C_APU's, which is added to it, and alpha has
//! that of S alone.

use nalgebra::{DMatrix, DVector};

use super::bounds::Within;
use super::estimate::Data;
use super::joint_fit::Trial;
use super::likelihood::{Likelihood, Point};
use super::unknowns::{Kind, Unknown, Unknowns};
use crate::model::parameters::Estimate;
use crate::model::sensitivity::Entry;
use crate::model::terms::Term;
use mmgp_base::error::Result;

/// A T_HPU that is uncertain by more than so many times itself is not known.
const UNKNOWN: f64 = 3.0;

/// Columns of sensitivities of unit length whose condition number is above this cannot be told
/// apart: noise of a per mille would move what is estimated by its whole size.
const WORST_CONDITION: f64 = 1e3;

/// The fit with T_HPU as a convention; `None` where the data know it.
pub(crate) fn by_convention(trial: &Trial, data: &Data, file: &str) -> Result<Option<Trial>> {
    let Within { estimated, unknowns, held } = &trial.within;
    let grows = |unknown: &Unknown| matches!(unknown.kind, Kind::Growth(_));
    let is_host_time =
        |unknown: &Unknown| unknown.kind == Kind::Entry(Entry::HpuTime) && unknown.prior.is_none();
    let index = unknowns.list.iter().position(is_host_time);
    let Some(index) = index.filter(|_| unknowns.list.iter().any(grows)) else { return Ok(None) };
    let minimum = &estimated.minimum;
    let value = minimum.solution.x[index];
    let std_error = minimum.covariance[(index, index)].max(0.0).sqrt();
    if !minimum.solution.at_bound[index] && std_error <= UNKNOWN * value {
        return Ok(None);
    }
    let mut base = trial.base.clone();
    base.terms.t_hpu_s = Estimate { source: Some(file.to_string()), ..Estimate::exact(value) };
    let mut unknowns = unknowns.clone();
    let (term, kind) = (Term::ApuSerialTime, Kind::Entry(Entry::ApuSerialTime));
    unknowns.list[index] = Unknown { term, kind, prior: None, lower: 0.0 };
    unknowns.hold(Entry::HpuTime, value);
    let mut conventional = Trial::of(base, &unknowns, data, &minimum.solution.x)?;
    conventional.within.held.extend(held.iter().cloned());
    Ok(Some(conventional))
}

/// Whether the runs tell apart what no file knows, at least to the size of their noise.
pub(crate) fn are_told_apart(unknowns: &Unknowns, points: &[Point], start: &DVector<f64>) -> bool {
    use super::least_squares::Residuals;
    let variances = vec![1.0; points.len()];
    let jacobian = Likelihood { unknowns, points, variances: &variances }.jacobian(start);
    let columns: Vec<DVector<f64>> = (0..unknowns.list.len())
        .filter(|&index| unknowns.list[index].prior.is_none())
        .map(|index| jacobian.column(index).rows(0, points.len()).into_owned())
        .collect();
    if columns.is_empty() {
        return true;
    }
    if columns.len() > points.len() || columns.iter().any(|column| column.norm() == 0.0) {
        return false;
    }
    let unit: Vec<DVector<f64>> = columns.iter().map(|column| column.normalize()).collect();
    let values = DMatrix::from_columns(&unit).singular_values();
    values.max() <= WORST_CONDITION * values.min()
}
