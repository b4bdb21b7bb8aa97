//! One likelihood for everything that was measured: timed runs, and what files say of single
//! terms.
//!
//! Runs err in proportion to their time, so the residual of a configuration is the logarithm of
//! the predicted over the mean measured time, in units of the mean's standard deviation; that of
//! a term is its distance from the measured value in units of that value's standard error. The
//! sum of all squares is, up to a constant, minus twice the logarithm of the likelihood, and the
//! estimate is its minimum.

use nalgebra::{DMatrix, DVector};

use super::least_squares::{Residuals, Solution, inverse_normal, minimise};
use super::unknowns::{Prior, Unknowns};
use crate::model::Parameters;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

/// A fraction of a run's time that no clock sees.
pub(crate) const NEGLIGIBLE: f64 = 1e-9;

/// What the runs of one configuration say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub m: u32,
    pub p: u32,
    /// Logarithm of the measured time in seconds.
    pub log_time: f64,
    /// Runs that this is the mean of.
    pub count: f64,
}

/// The runs and the terms, each with its variance.
pub(crate) struct Likelihood<'a> {
    pub unknowns: &'a Unknowns,
    pub points: &'a [Point],
    /// The variance of each point's logarithm.
    pub variances: &'a [f64],
}

/// The minimum, and what it leaves unknown.
#[derive(Debug, Clone)]
pub(crate) struct Minimum {
    pub solution: Solution,
    /// `ln(T/t)` of each point.
    pub residuals: Vec<f64>,
    /// The part of each point's prediction that is the point's own doing, from 0 to 1.
    pub leverages: Vec<f64>,
    /// Of the unknowns, as if no bound held any of them.
    pub covariance: DMatrix<f64>,
    /// `covariance * J' * W * J * covariance` of the runs alone: what their noise contributes.
    pub of_runs: DMatrix<f64>,
}

impl Residuals for Likelihood<'_> {
    fn residuals(&self, x: &DVector<f64>) -> DVector<f64> {
        let parameters = self.unknowns.parameters(x.as_slice());
        let of_points = self.points.iter().zip(self.variances);
        let of_points = of_points.map(|(point, &variance)| {
            (log_time(&parameters, point) - point.log_time) / variance.sqrt()
        });
        let of_priors = self.priors().map(|(index, prior)| {
            let distance = x[index] - prior.value;
            distance / prior.std_error
        });
        let all: Vec<f64> = of_points.chain(of_priors).collect();
        DVector::from_vec(all)
    }

    fn jacobian(&self, x: &DVector<f64>) -> DMatrix<f64> {
        let rows = self.points.len() + self.priors().count();
        let mut jacobian = DMatrix::zeros(rows, self.unknowns.list.len());
        let x = x.as_slice();
        let parameters = self.unknowns.parameters(x);
        for (row, (point, variance)) in self.points.iter().zip(self.variances).enumerate() {
            let weight = 1.0 / (parameters.time(Mapping::of(point.m, point.p)).0 * variance.sqrt());
            let gradient = parameters.gradient(Mapping::of(point.m, point.p));
            self.unknowns.pull_back(&parameters, x, &gradient, |column, slope| {
                jacobian[(row, column)] += weight * slope;
            });
        }
        for (row, (index, prior)) in self.priors().enumerate() {
            jacobian[(self.points.len() + row, index)] = 1.0 / prior.std_error;
        }
        jacobian
    }

    fn lower(&self) -> DVector<f64> {
        let lower = self.unknowns.list.iter().map(|unknown| unknown.lower);
        DVector::from_vec(lower.collect())
    }

    fn upper(&self) -> DVector<f64> {
        DVector::from_element(self.unknowns.list.len(), f64::INFINITY)
    }
}

fn log_time(parameters: &Parameters, point: &Point) -> f64 {
    // Where all unknowns are at zero there may be no time at all, which is infinitely wrong.
    parameters.time(Mapping::of(point.m, point.p)).0.max(f64::MIN_POSITIVE).ln()
}

impl Likelihood<'_> {
    /// The unknowns that a file says something of.
    fn priors(&self) -> impl Iterator<Item = (usize, Prior)> {
        let of = |(index, unknown): (usize, &super::unknowns::Unknown)| {
            unknown.prior.map(|prior| (index, prior))
        };
        self.unknowns.list.iter().enumerate().filter_map(of)
    }

    /// The estimate, from several starts.
    pub fn minimum(&self, starts: &[DVector<f64>]) -> Result<Minimum> {
        let solution = minimise(self, starts)?;
        let jacobian = self.jacobian(&solution.x);
        let covariance = inverse_normal(&jacobian, &vec![false; jacobian.ncols()]);
        if covariance.iter().any(|each| !each.is_finite()) {
            return Err(Error::Fit("the data do not determine the unknowns".into()));
        }
        let of_points = jacobian.rows(0, self.points.len());
        let spread = of_points * &covariance;
        let leverage = |row: usize| spread.row(row).dot(&of_points.row(row)).clamp(0.0, 1.0);
        let leverages = (0..self.points.len()).map(leverage).collect();
        let of_runs = spread.transpose() * &spread;
        let residuals = self.residuals(&solution.x);
        let residuals =
            residuals.iter().zip(self.variances).map(|(each, variance)| each * variance.sqrt());
        let residuals = residuals.collect();
        Ok(Minimum { solution, residuals, leverages, covariance, of_runs })
    }
}

#[cfg(test)]
mod tests {
    use super::super::trials::{TERMS, feasible, truth};
    use super::super::unknowns::{Kind, Unknown};
    use super::*;
    use crate::model::parameters::Decomposition;
    use crate::model::sensitivity::Entry;
    use crate::model::terms::Term;

    fn unknown(kind: Kind, prior: Option<(f64, f64)>) -> Unknown {
        let prior = prior.map(|(value, std_error)| Prior {
            value,
            std_error,
            degrees_of_freedom: None,
            size: value,
        });
        Unknown { term: Term::Gap, kind, prior, lower: 0.0 }
    }

    #[test]
    fn the_jacobian_is_the_difference_of_the_residuals() {
        let truth = truth(Decomposition::Data, 0.08, TERMS);
        let list = vec![
            unknown(Kind::Entry(Entry::HpuTime), Some((8.0, 0.5))),
            unknown(Kind::Entry(Entry::ApuTime), None),
            unknown(Kind::Entry(Entry::Gap), Some((2e-4, 1e-5))),
            unknown(Kind::Growth((0..16).map(f64::from).collect()), None),
        ];
        let unknowns = Unknowns::new(&truth, list);
        let points: Vec<Point> = feasible()
            .into_iter()
            .map(|(m, p)| Point { m, p, log_time: 3.0, count: 2.0 })
            .collect();
        let variances = vec![1e-4; points.len()];
        let likelihood = Likelihood { unknowns: &unknowns, points: &points, variances: &variances };
        let x = DVector::from_vec(vec![7.0, 110.0, 1e-4, 0.5]);
        let jacobian = likelihood.jacobian(&x);
        for column in 0..4 {
            let at = |factor: f64| {
                let mut moved = x.clone();
                moved[column] *= factor;
                likelihood.residuals(&moved)
            };
            let difference = (at(1.0 + 1e-5) - at(1.0 - 1e-5)) / (2e-5 * x[column]);
            for row in 0..jacobian.nrows() {
                approx::assert_relative_eq!(
                    jacobian[(row, column)],
                    difference[row],
                    max_relative = 1e-6,
                    epsilon = 1e-6
                );
            }
        }
    }
}
