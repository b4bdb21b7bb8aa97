//! Losses that single wild runs cannot move, by name, as a series of least squares.
//!
//! The residual of a run is `r = ln T(m,p) - ln(time)`, its relative error, and `u = r/s` with s
//! the scale of the noise. Every pass over the runs adds up `psi(u)` for each configuration, and
//! puts the configuration's mean where the least squares of the small problem (`Weighted`) has
//! the same pull: at `ln T - s*mean(psi)/mean(psi')` (Huber's modified residuals; they settle in
//! half the passes of reweighting by `psi(u)/u`). The caller solves that and answers with new
//! `ln T`. The runs themselves never enter the small problem, so a pass over 10^7 of them costs
//! milliseconds and the problem microseconds.
//!
//! * [`Loss::Huber`]: `psi(u) = u` up to 1.345, constant beyond (95 % efficient for normal noise).
//!   Huber, Ann. Math. Statist. 35 (1964) 73. Wild runs keep the pull of a run at 1.345 s, so that
//!   5 % of them all on one side move the times by up to 0.09 s.
//! * [`Loss::Tukey`]: the biweight `psi(u) = u*(1 - (u/4.685)^2)^2`, zero beyond 4.685 (95 %
//!   efficient): wild runs have no pull at all. Beaton and Tukey, Technometrics 16 (1974) 147. It
//!   has several minima, so it starts from Huber's estimate and keeps its scale.
//!
//! The search starts from the median of each configuration. The scale starts from the normalised
//! median absolute deviation and then is Huber's proposal 2, `mean(psi^2) = E(psi^2)` under normal
//! noise, so it is the standard deviation where the noise is normal.
//!
//! Standard errors are the asymptotic ones of M-estimates with Huber's correction for few runs
//! (Huber, Robust Statistics, 1981, section 7.6): every run counts as if it had the variance
//! `s^2*K^2*[sum(psi^2)/(n - k)]/[sum(psi')/n]^2`, k being the number of unknowns.

mod passes;

use std::str::FromStr;

use super::runs::{LogTimes, Runs};
use mmgp_base::error::{Error, Result};
use passes::{Moments, moments};

/// How much a run of a large residual counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Linear beyond 1.345 standard deviations.
    Huber,
    /// The biweight: constant beyond 4.685 standard deviations.
    Tukey,
}

impl Loss {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Loss); 2] = [("huber", Loss::Huber), ("tukey", Loss::Tukey)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Huber => "huber",
            Self::Tukey => "tukey",
        }
    }

    /// The weight `psi(u)/u` of a run.
    pub fn weight(self, u: f64) -> f64 {
        match self {
            Self::Huber => (HUBER / u.abs()).min(1.0),
            Self::Tukey => (1.0 - (u / TUKEY).powi(2)).max(0.0).powi(2),
        }
    }
}

impl FromStr for Loss {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, loss)| loss).ok_or_else(|| Error::UnknownName {
            kind: "loss",
            name: name.to_string(),
            known: Self::ALL.map(|(known, _)| known.to_string()).into(),
        })
    }
}

/// Where Huber's psi turns constant.
const HUBER: f64 = 1.345;

/// Where Tukey's psi ends.
const TUKEY: f64 = 4.685;

/// `E(psi^2)` of Huber's psi under the standard normal distribution.
const HUBER_EXPECTED: f64 = 0.710_164_5;

/// The smallest scale: what no clock sees.
const LEAST_SCALE: f64 = 1e-9;

/// Passes end when no configuration's time moves by more than this fraction of the scale.
const TOLERANCE: f64 = 1e-6;

/// More passes than either loss takes.
const MAX_PASSES: u64 = 200;

/// The most extreme runs that are reported.
const MOST_EXTREME: usize = 10;

/// Below this weight a run counts as down-weighted.
const DOWN_WEIGHTED: f64 = 0.5;

/// The small problem of one pass: over configurations c, minimise
/// `precision*sum_c weights[c]*(ln T_c - log_means[c])^2`, plus whatever else is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Weighted {
    /// Number of runs of each configuration.
    pub weights: Vec<f64>,
    /// Where their `ln(time/s)` pull to.
    pub log_means: Vec<f64>,
    /// What one run is worth beside priors: the inverse of the variance that it counts with.
    pub precision: f64,
}

/// A run far from the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// Which repetition.
    pub repetition: u32,
    /// Its time over what the model says.
    pub factor: f64,
    /// What it counts, of 1.
    pub weight: f64,
}

/// What a robust loss left.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Robustified {
    /// The last small problem.
    pub weighted: Weighted,
    /// Sum of the weights `psi(u)/u` of the runs of each configuration: how many of them count.
    pub effective_runs: Vec<f64>,
    /// `ln T` of each configuration as solved last.
    pub log_times: Vec<f64>,
    /// Standard deviation of the noise, if it were normal without wild runs.
    pub scale: f64,
    /// The variance that each run counts with: the covariance of unknowns that the runs alone
    /// give is `variance*(X'*N*X)^-1`, X being the derivatives of ln T by the unknowns and N the
    /// numbers of runs.
    pub variance: f64,
    /// Passes over the runs.
    pub passes: u64,
    /// Runs with a weight below one half.
    pub down_weighted: u64,
    /// The most extreme of these, at most ten, the farthest first.
    pub extremes: Vec<Extreme>,
}

/// Fits by `loss`: `solve` answers with `ln T` of each configuration for a small problem of
/// `unknowns` unknowns.
///
/// # Errors
/// [`Error::TooLittleData`] for a time of 0 s; [`Error::Fit`] where passes do not settle; those of
/// `solve`.
pub(crate) fn reweight(
    (runs, times): (&Runs, &LogTimes),
    loss: Loss,
    unknowns: usize,
    mut solve: impl FnMut(&Weighted) -> Result<Vec<f64>>,
) -> Result<Robustified> {
    check(runs, times)?;
    let weights = runs.cells.iter().map(|cell| cell.count as f64).collect();
    let medians = times.cells.iter().map(|cell| passes::median(cell.logs())).collect();
    // Noise of 1 %, which the first pass knows better.
    let mut weighted = Weighted { weights, log_means: medians, precision: 1e4 };
    let mut log_times = solve(&weighted)?;
    let mut scale = passes::median_deviation(times, &log_times).max(LEAST_SCALE);
    let mut passes = 0;
    let stages: &[Loss] = if loss == Loss::Huber { &[loss] } else { &[Loss::Huber, Loss::Tukey] };
    let mut variance = f64::NAN;
    let mut effective_runs = Vec::new();
    for &stage in stages {
        loop {
            let cells = moments(times, &log_times, stage, scale);
            passes += 1;
            let total = Total::of(&cells, runs.count() as f64, unknowns as f64);
            variance = total.variance(scale);
            let proposal = match stage {
                // The mean square falls as scale^-1.1 under normal noise, so this nearly solves it.
                Loss::Huber => scale * (total.mean_square() / HUBER_EXPECTED).powf(0.9),
                Loss::Tukey => scale,
            };
            weighted = total.weighted(runs, &cells, &log_times, scale);
            effective_runs = cells.iter().map(|cell| cell.weights).collect();
            let next = solve(&weighted)?;
            let moved = largest_difference(&next, &log_times) / scale;
            let grown = (proposal / scale - 1.0).abs();
            log_times = next;
            scale = proposal.max(LEAST_SCALE);
            if (moved <= TOLERANCE && grown <= 1e-4) || scale == LEAST_SCALE {
                break;
            }
            if passes > MAX_PASSES {
                return Err(Error::Fit(format!("the weights did not settle in {passes} passes")));
            }
        }
    }
    let (down_weighted, extremes) = extremes(runs, times, &log_times, loss, scale);
    Ok(Robustified {
        weighted,
        effective_runs,
        log_times,
        scale,
        variance,
        passes,
        down_weighted,
        extremes,
    })
}

/// Logarithms need times above zero.
fn check(runs: &Runs, times: &LogTimes) -> Result<()> {
    let zero = |logs: &[f64]| logs.contains(&f64::NEG_INFINITY);
    let found = runs.cells.iter().zip(&times.cells).find(|(_, times)| zero(times.logs()));
    let Some((cell, _)) = found else { return Ok(()) };
    Err(Error::TooLittleData {
        file: runs.file.clone(),
        found: format!("a time of 0 s for (m, p) = ({}, {})", cell.m, cell.p),
        advice: "time longer runs, so that the clock can see them".into(),
    })
}

fn largest_difference(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

/// Sums over all runs.
struct Total {
    runs: f64,
    degrees_of_freedom: f64,
    unknowns: f64,
    /// Of `psi^2`.
    squares: f64,
    /// Of `psi'`.
    slopes: f64,
    /// Of `psi'^2`.
    slope_squares: f64,
}

impl Total {
    fn of(cells: &[Moments], runs: f64, unknowns: f64) -> Self {
        Self {
            runs,
            degrees_of_freedom: (runs - unknowns).max(1.0),
            unknowns,
            squares: cells.iter().map(|cell| cell.squares).sum(),
            slopes: cells.iter().map(|cell| cell.slopes).sum(),
            slope_squares: cells.iter().map(|cell| cell.slope_squares).sum(),
        }
    }

    fn mean_square(&self) -> f64 {
        self.squares / self.degrees_of_freedom
    }

    /// Mean of psi', away from the zero that wild data could make it.
    fn mean_slope(&self) -> f64 {
        (self.slopes / self.runs).max(0.05)
    }

    /// `s^2*K^2*[sum(psi^2)/(n - k)]/[mean(psi')]^2`, `K = 1 + k/n*var(psi')/[mean(psi')]^2`.
    fn variance(&self, scale: f64) -> f64 {
        let slope = self.mean_slope();
        let spread = (self.slope_squares / self.runs - slope.powi(2)).max(0.0);
        let correction = 1.0 + self.unknowns / self.runs * spread / slope.powi(2);
        (scale * correction / slope).powi(2) * self.mean_square()
    }

    fn weighted(&self, runs: &Runs, cells: &[Moments], log_times: &[f64], scale: f64) -> Weighted {
        // No slope of psi exceeds 1, so steps of at most 1/0.6 never leap over the minimum twice
        // as far as they were from it.
        let slope = self.mean_slope().max(0.6);
        let counts: Vec<f64> = runs.cells.iter().map(|cell| cell.count as f64).collect();
        let log_means = cells.iter().zip(log_times).zip(&counts);
        let log_means = log_means.map(|((cell, log), count)| log + cell.pulls / (count * slope));
        let variance = self.variance(scale).max(LEAST_SCALE.powi(2));
        Weighted {
            log_means: log_means.collect(),
            precision: slope / (variance * self.mean_slope()),
            weights: counts,
        }
    }
}

/// How many runs count less than half, and the farthest of them.
fn extremes(
    runs: &Runs,
    times: &LogTimes,
    log_times: &[f64],
    loss: Loss,
    scale: f64,
) -> (u64, Vec<Extreme>) {
    let mut count = 0;
    let mut extremes: Vec<(f64, Extreme)> = Vec::new();
    for ((cell, times), log_time) in runs.cells.iter().zip(&times.cells).zip(log_times) {
        for (index, log) in times.logs().iter().enumerate() {
            let u = (log - log_time) / scale;
            let weight = loss.weight(u);
            if weight >= DOWN_WEIGHTED {
                continue;
            }
            count += 1;
            let full = extremes.len() == MOST_EXTREME;
            if full && extremes[MOST_EXTREME - 1].0 >= u.abs() {
                continue;
            }
            let repetition = times.repetition(index);
            let factor = (log - log_time).exp();
            let place = extremes.partition_point(|(farther, _)| *farther >= u.abs());
            let (m, p) = (cell.m, cell.p);
            extremes.insert(place, (u.abs(), Extreme { m, p, repetition, factor, weight }));
            extremes.truncate(MOST_EXTREME);
        }
    }
    (count, extremes.into_iter().map(|(_, extreme)| extreme).collect())
}

#[cfg(test)]
mod tests;
