//! How far the runs scatter, and what that leaves unknown of the estimates.

use nalgebra::DMatrix;

use super::least_squares::Solution;
use super::runs::{Cell, Runs};
use crate::error::Warning;

/// A fraction of a run's time that no clock sees.
pub(crate) const NEGLIGIBLE: f64 = 1e-9;

/// Two sources of residuals: runs of one configuration differ, and the model misses their mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatter {
    runs: f64,
    /// Sum of squared relative deviations of runs from the mean of their configuration.
    within: f64,
    /// Runs beyond the first of each configuration.
    within_freedom: f64,
    /// Sum of squared relative residuals of the configurations' means, each counted as often as
    /// it was run.
    between: f64,
    /// Configurations beyond the number of values estimated.
    between_freedom: f64,
}

impl Scatter {
    pub fn new(solution: &Solution, runs: &Runs) -> Self {
        let of_cell = |cell: &Cell| cell.squared_deviations_s2 / cell.mean_s.powi(2);
        let cells = runs.cells.len() as f64;
        let estimated = solution.at_bound.iter().filter(|&&held| !held).count() as f64;
        Self {
            runs: runs.count() as f64,
            within: runs.cells.iter().map(of_cell).sum(),
            within_freedom: runs.count() as f64 - cells,
            between: 2.0 * solution.cost,
            between_freedom: (cells - estimated).max(0.0),
        }
    }

    /// Whether the model misses the means by more than the runs' own scatter explains: the ratio
    /// of the two variances, which is near 1 otherwise, lies three standard deviations above it.
    fn misses(&self) -> bool {
        let mean_square = self.between / self.between_freedom;
        let by_chance = self.within / self.within_freedom;
        let spread = (2.0 / self.between_freedom + 2.0 / self.within_freedom).sqrt();
        self.between_freedom > 0.0
            && self.within_freedom > 0.0
            && mean_square > by_chance * (1.0 + 3.0 * spread)
            && mean_square > NEGLIGIBLE.powi(2)
    }

    /// The variance of one run's relative residual that standard errors follow from; `None` where
    /// nothing is left to tell.
    ///
    /// Where the model misses the means, more repetitions would not mend it, so the misfit alone
    /// counts, as if each configuration had been run once.
    pub fn variance(&self) -> Option<f64> {
        if self.misses() {
            return Some(self.between / self.between_freedom);
        }
        self.deviation().map(|deviation| deviation.powi(2))
    }

    /// What the reader should know about the standard errors.
    pub fn misfit(&self) -> Option<Warning> {
        if self.variance().is_none() {
            return Some(Warning::Note(
                "as many terms as runs: standard errors are unknown; time more configurations or \
                 repetitions"
                    .into(),
            ));
        }
        self.misses().then(|| {
            Warning::Note(format!(
                "the model misses the means of the runs by {:.2} % (root mean square), more than \
                 the runs' own scatter of {:.2} % explains; standard errors follow the misfit",
                100.0 * (self.between / self.runs).sqrt(),
                100.0 * (self.within / self.within_freedom).sqrt()
            ))
        })
    }

    /// Standard deviation of a single run's relative residual.
    pub fn deviation(&self) -> Option<f64> {
        let freedom = self.within_freedom + self.between_freedom;
        (freedom > 0.0).then(|| ((self.within + self.between) / freedom).sqrt())
    }
}

/// `s^2 * (A'*A)^-1` over the columns that no bound holds, from the singular values of A.
pub(crate) fn covariance(a: &DMatrix<f64>, solution: &Solution, variance: f64) -> DMatrix<f64> {
    let free: Vec<usize> = (0..a.ncols()).filter(|&each| !solution.at_bound[each]).collect();
    let mut covariance = DMatrix::zeros(a.ncols(), a.ncols());
    if free.is_empty() {
        return covariance;
    }
    let columns = a.select_columns(&free);
    let norms: Vec<f64> = columns.column_iter().map(|column| column.norm()).collect();
    let unit = DMatrix::from_fn(columns.nrows(), free.len(), |row, column| {
        columns[(row, column)] / norms[column]
    });
    let svd = unit.svd(false, true);
    let v_t = svd.v_t.expect("invariant: the right singular vectors were asked for");
    for (i, &row) in free.iter().enumerate() {
        for (j, &column) in free.iter().enumerate() {
            let inverse: f64 = (0..free.len())
                .map(|k| v_t[(k, i)] * v_t[(k, j)] / svd.singular_values[k].powi(2))
                .sum();
            covariance[(row, column)] = variance * inverse / (norms[i] * norms[j]);
        }
    }
    covariance
}
