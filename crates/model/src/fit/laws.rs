//! The laws of scaling that a user might take instead of the model, fitted to timed runs.
//!
//! Each is linear in its parameters in one form or another, so the weighted least squares are a
//! small system of equations: residuals are relative to the measured time, configurations count as
//! often as they were run.
//!
//! | law | time | values |
//! |---|---|--:|
//! | Amdahl (AFIPS 1967) | `s + q/N` | 2 |
//! | Gustafson (CACM 1988) | `1/(a + b*N)` | 2 |
//! | Universal Scalability (Gunther, 1993 and 2007) | `T1*(1 + sigma*(N-1) + kappa*N*(N-1))/N` | 3 |
//! | plain regression | `c0 + c1*m + c2*p + c3/m + c4/p + c5/(m*p)` | 6 |
//!
//! `N = m*p` is the number of APUs: the first three cannot tell two configurations apart that use as
//! many.
//!
//! Gustafson's law is of work that grows with N while the time stays: `speed-up = s + (1-s)*N`. Runs
//! of one problem are not what it is about. It is fitted to them as what it says of the rate of work,
//! `1/T = a + b*N` with `a = s/T1` and `b = (1-s)/T1`, so that it knows no time that stays however
//! many APUs there are; where the program has one, it does not apply and its error shows it.

use nalgebra::{DMatrix, DVector};

use super::runs::{Cell, Runs};
use crate::model::parameters::Estimate;
use crate::model::run::Row;
use crate::model::time_model::{TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;

/// A law of scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// A part that stays and a part that N APUs share.
    Amdahl,
    /// A rate of work that grows linearly with N.
    Gustafson,
    /// Amdahl's, with a cost of every pair of APUs.
    UniversalScalability,
    /// A line in m, p and their inverses.
    Regression,
}

/// A law with the values that meet some runs best: a [`TimeModel`] without standard errors.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedLaw {
    /// The law.
    pub law: Law,
    /// APUs that it is asked for; as many as the runs used at most, unless it is told otherwise.
    pub apus: u32,
    /// One for each of the law's columns, in its own form.
    coefficients: Vec<f64>,
}

impl Law {
    /// Every law.
    pub const ALL: [Law; 4] =
        [Law::Amdahl, Law::Gustafson, Law::UniversalScalability, Law::Regression];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Law::Amdahl => "Amdahl",
            Law::Gustafson => "Gustafson",
            Law::UniversalScalability => "Universal Scalability Law",
            Law::Regression => "plain regression",
        }
    }

    /// How many values it is fitted with.
    pub fn parameters(self) -> usize {
        self.columns(1, 1).len()
    }

    /// What its coefficients multiply: in the time, or for Gustafson in its inverse.
    fn columns(self, m: u32, p: u32) -> Vec<f64> {
        let (m, p) = (f64::from(m), f64::from(p));
        let apus = m * p;
        match self {
            Law::Amdahl => vec![1.0, 1.0 / apus],
            Law::Gustafson => vec![1.0, apus],
            // T1, T1*sigma, T1*kappa.
            Law::UniversalScalability => vec![1.0 / apus, (apus - 1.0) / apus, apus - 1.0],
            Law::Regression => vec![1.0, m, p, 1.0 / m, 1.0 / p, 1.0 / apus],
        }
    }

    /// The row of a configuration, its target being 1, of which residuals are relative errors.
    fn row(self, cell: &Cell) -> DVector<f64> {
        let scale = match self {
            // t*(a + b*N) - 1: the relative error of the rate.
            Law::Gustafson => cell.mean_s,
            _ => 1.0 / cell.mean_s,
        };
        DVector::from_vec(self.columns(cell.m, cell.p)) * scale
    }

    /// Whether its coefficients are times, rates or costs, which are not negative.
    fn is_bounded(self) -> bool {
        self != Law::Regression
    }

    /// Fits the law to all runs.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] where the configurations do not determine its values, or where one
    /// took no time.
    pub fn fit(self, runs: &Runs) -> Result<FittedLaw> {
        check(runs)?;
        let coefficients = Squares::of(self, runs).solve(self.is_bounded());
        match coefficients {
            Some(coefficients) => {
                let used = runs.cells.iter().map(|cell| cell.m.saturating_mul(cell.p));
                Ok(FittedLaw { law: self, apus: used.max().unwrap_or(1), coefficients })
            }
            None => Err(self.undetermined(runs, "these configurations")),
        }
    }

    /// The time of each configuration, in the order of `runs.cells`, as the law fitted to all others
    /// predicts it \[s\].
    ///
    /// # Errors
    /// As those of [`Self::fit`], for every configuration left out.
    pub fn left_out(self, runs: &Runs) -> Result<Vec<f64>> {
        check(runs)?;
        let all = Squares::of(self, runs);
        let predict = |cell: &Cell| {
            let Some(coefficients) = all.without(self, cell).solve(self.is_bounded()) else {
                let others = format!("the configurations but ({}, {})", cell.m, cell.p);
                return Err(self.undetermined(runs, &others));
            };
            Ok(self.time(&coefficients, Mapping::of(cell.m, cell.p)))
        };
        runs.cells.iter().map(predict).collect()
    }

    /// The time with these coefficients \[s\]; not finite where there is no rate of work.
    fn time(self, coefficients: &[f64], mapping: Mapping) -> f64 {
        let columns = self.columns(mapping.m(), mapping.p());
        let sum: f64 = columns.iter().zip(coefficients).map(|(x, c)| x * c).sum();
        if self == Law::Gustafson { 1.0 / sum } else { sum }
    }

    /// What its coefficients are called.
    fn coefficients(self) -> &'static [&'static str] {
        match self {
            Law::Amdahl => &["s", "q"],
            Law::Gustafson => &["a", "b"],
            Law::UniversalScalability => &["T1", "T1*sigma", "T1*kappa"],
            Law::Regression => &["1", "m", "p", "1/m", "1/p", "1/(m*p)"],
        }
    }

    fn undetermined(self, runs: &Runs, by: &str) -> Error {
        Error::TooLittleData {
            file: runs.file.clone(),
            found: format!(
                "{by} do not determine the {} values of {}",
                self.parameters(),
                self.name()
            ),
            advice: "time further configurations, several m and several p".into(),
        }
    }
}

/// Relative residuals need times above zero.
fn check(runs: &Runs) -> Result<()> {
    match runs.cells.iter().find(|cell| cell.mean_s <= 0.0) {
        None => Ok(()),
        Some(cell) => Err(Error::TooLittleData {
            file: runs.file.clone(),
            found: format!("a time of 0 s for (m, p) = ({}, {})", cell.m, cell.p),
            advice: "time longer runs, so that the clock can see them".into(),
        }),
    }
}

impl FittedLaw {
    /// The time of a run \[s\]; not finite where the law
    /// has no rate of work.
    pub fn time(&self, mapping: Mapping) -> f64 {
        self.law.time(&self.coefficients, mapping)
    }

    /// Its values, by the names of the law.
    pub fn values(&self) -> Vec<(&'static str, f64)> {
        let c = &self.coefficients;
        match self.law {
            Law::UniversalScalability => {
                vec![("T1", c[0]), ("sigma", c[1] / c[0]), ("kappa", c[2] / c[0])]
            }
            law => law.coefficients().iter().copied().zip(c.iter().copied()).collect(),
        }
    }
}

impl TimeModel for FittedLaw {
    fn name(&self) -> &str {
        self.law.name()
    }

    fn apus(&self) -> u32 {
        self.apus
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        Seconds(self.time(mapping))
    }

    fn values(&self) -> Vec<Value> {
        let names = self.law.coefficients().iter().zip(&self.coefficients);
        names.map(|(name, value)| Value::new(*name, &Estimate::exact(*value))).collect()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        // d(1/x) = -dx/x^2.
        let scale = match self.law {
            Law::Gustafson => -self.time(mapping).powi(2),
            _ => 1.0,
        };
        let columns = self.law.columns(mapping.m(), mapping.p());
        columns.into_iter().map(|column| column * scale).enumerate().collect()
    }

    fn row(&self, m: u32) -> Option<Row> {
        let (c, m) = (&self.coefficients, f64::from(m));
        let row = match self.law {
            Law::Amdahl => Row { constant: c[0], shared: c[1] / m, growing: 0.0 },
            Law::Gustafson => return None,
            Law::UniversalScalability => {
                Row { constant: c[1] - c[2], shared: (c[0] - c[1]) / m, growing: c[2] * m }
            }
            Law::Regression => {
                Row { constant: c[0] + c[1] * m + c[3] / m, shared: c[4] + c[5] / m, growing: c[2] }
            }
        };
        (row.constant >= 0.0 && row.shared >= 0.0 && row.growing >= 0.0).then_some(row)
    }
}

/// The normal equations of a law and some runs; taking a configuration out is taking a row out.
#[derive(Clone)]
struct Squares {
    /// `sum of n*x*x'`.
    products: DMatrix<f64>,
    /// `sum of n*x`, the target being 1 everywhere.
    right: DVector<f64>,
}

/// A pivot of the scaled equations below this is rounding: the column is a sum of others.
const RANK_TOLERANCE: f64 = 1e-11;

impl Squares {
    fn of(law: Law, runs: &Runs) -> Self {
        let size = law.parameters();
        let nothing = Self { products: DMatrix::zeros(size, size), right: DVector::zeros(size) };
        runs.cells.iter().fold(nothing, |sums, cell| sums.plus(&law.row(cell), cell.count as f64))
    }

    fn without(&self, law: Law, cell: &Cell) -> Self {
        self.clone().plus(&law.row(cell), -(cell.count as f64))
    }

    fn plus(mut self, row: &DVector<f64>, count: f64) -> Self {
        self.products.ger(count, row, row, 1.0);
        self.right.axpy(count, row, 1.0);
        self
    }

    /// The coefficients of least squares, none of them negative where they are bounded; `None` where
    /// they are not determined.
    fn solve(&self, is_bounded: bool) -> Option<Vec<f64>> {
        let size = self.right.len();
        let all: Vec<usize> = (0..size).collect();
        let unbounded = self.solve_for(&all)?;
        if !is_bounded || unbounded.iter().all(|&value| value >= 0.0) {
            return Some(unbounded);
        }
        // With three columns at most, all ways to hold some at zero are few.
        let choices = (1..1_u32 << size).map(|held| {
            let is_free = |column: &usize| held & (1 << column) == 0;
            all.iter().copied().filter(is_free).collect::<Vec<_>>()
        });
        let feasible = choices
            .filter_map(|free| self.solve_for(&free))
            .filter(|solution| solution.iter().all(|&value| value >= 0.0));
        feasible.min_by(|one, other| self.cost(one).total_cmp(&self.cost(other)))
    }

    /// The sum of squares but for a constant: `c'*A*c - 2*b'*c`.
    fn cost(&self, coefficients: &[f64]) -> f64 {
        let c = DVector::from_column_slice(coefficients);
        c.dot(&(&self.products * &c)) - 2.0 * self.right.dot(&c)
    }

    /// The coefficients with all but the `free` columns held at zero.
    fn solve_for(&self, free: &[usize]) -> Option<Vec<f64>> {
        let norms: Vec<f64> = free.iter().map(|&i| self.products[(i, i)].max(0.0).sqrt()).collect();
        if norms.contains(&0.0) {
            return None;
        }
        let scaled = DMatrix::from_fn(free.len(), free.len(), |row, column| {
            self.products[(free[row], free[column])] / (norms[row] * norms[column])
        });
        let right = DVector::from_fn(free.len(), |row, _| self.right[free[row]] / norms[row]);
        let factors = scaled.cholesky()?;
        let pivots = factors.l_dirty().diagonal();
        if pivots.iter().any(|pivot| pivot * pivot < RANK_TOLERANCE) {
            return None;
        }
        let found = factors.solve(&right);
        let mut coefficients = vec![0.0; self.right.len()];
        for (index, &column) in free.iter().enumerate() {
            coefficients[column] = found[index] / norms[index];
        }
        Some(coefficients)
    }
}

#[cfg(test)]
mod tests;
