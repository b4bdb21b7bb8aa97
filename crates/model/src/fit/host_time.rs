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

#[cfg(test)]
mod tests {
    use nalgebra::DVector;

    use super::super::data;
    use super::super::trials::{TERMS, ended_at, exact_runs, trial_of, truth};
    use super::super::unknowns::Prior;
    use super::*;
    use crate::model::parameters::Decomposition;

    fn unknown(kind: Kind, prior: Option<Prior>) -> Unknown {
        Unknown { term: Term::HpuTime, kind, prior, lower: 1e-3 }
    }

    /// T_HPU by the fit where it is a convention: 8 s with this error, beside what grows with m and an
    /// unknown T_APU of which nothing is known.
    fn conventional(std_error: f64, prior: Option<Prior>) -> Option<Estimate> {
        let runs = exact_runs(
            &truth(Decomposition::Data, 0.1, TERMS),
            &[(1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 4)],
        );
        let list = vec![
            unknown(Kind::Entry(Entry::ApuTime), None),
            unknown(Kind::Entry(Entry::HpuTime), prior),
            unknown(Kind::Growth((0..16).map(f64::from).collect()), None),
        ];
        let base = truth(Decomposition::Data, 0.1, TERMS);
        let mut estimated = ended_at(Unknowns::new(&base, list), &[120.0, 8.0, 0.8]);
        estimated.minimum.covariance =
            DMatrix::from_diagonal(&DVector::from_vec(vec![1e6, std_error.powi(2), 0.01]));
        let trial = trial_of(&base, estimated);
        let found = by_convention(&trial, &data::plain(&runs), "runs.csv").unwrap();
        found.map(|trial| trial.base.terms.t_hpu_s)
    }

    #[test]
    fn a_host_time_that_is_uncertain_by_three_times_itself_is_a_convention() {
        assert_eq!(conventional(23.9, None), None);
        let source = Some("runs.csv".into());
        assert_eq!(conventional(24.1, None), Some(Estimate { source, ..Estimate::exact(8.0) }));
        // One that a file knows is no convention, whatever else is unknown.
        let prior = Prior { value: 8.0, std_error: 30.0, degrees_of_freedom: None, size: 8.0 };
        assert_eq!(conventional(24.1, Some(prior)), None);
    }

    #[test]
    fn as_many_configurations_as_unknowns_can_tell_them_apart_and_fewer_cannot() {
        let list = [Entry::HpuTime, Entry::ApuTime].map(|it| unknown(Kind::Entry(it), None));
        let unknowns = Unknowns::new(&truth(Decomposition::Data, 0.1, TERMS), list.into());
        let is_told = |points: &[(u32, u32)]| {
            let point = |&(m, p): &(u32, u32)| Point { m, p, log_time: 0.0, count: 1.0 };
            let points: Vec<Point> = points.iter().map(point).collect();
            are_told_apart(&unknowns, &points, &DVector::from_vec(vec![8.0, 120.0]))
        };
        assert!(is_told(&[(1, 1), (1, 4)]));
        assert!(!is_told(&[(1, 4), (1, 4)]));
        assert!(!is_told(&[(1, 4)]));
    }
}
