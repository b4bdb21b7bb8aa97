//! Terms that follow timed runs one by one, whatever their order, and despite wild ones.
//!
//! With the counts of off-loads and collectives known, equation 11 is linear in the *totals* T_HPU,
//! alpha_k*T_HPU, T_APU, C_APU, N*O_offload, N*T_CSW, N*g and N_COL*O_COL,k (k being the entries of
//! a table over m): `T(m,p) = h(m,p)'x + c(m)`. The parameters' values, standard errors and
//! correlations are the first mean x0 and covariance P0 of x, to first order where a total is a
//! product. `x` is the minimum of `(x - x0)' P0^-1 (x - x0) + sum of w*[(t - T)/(s*T)]^2` over all
//! runs, s being the relative noise of a run and `w` what the run is worth: 1, unless it is wild.
//! What is kept of the runs (`seen`) does not depend on their order, and neither does the answer,
//! to rounding.
//!
//! Of three or more runs of one configuration, a run is judged by its distance from their median.
//! Fewer are judged by the model: by what it is off at the other configurations, and by what it may be
//! off by its own standard error before any run. Up to three standard deviations it counts whole, from
//! six on not at all. So one wild run among many costs next to nothing; and runs that agree with each
//! other are believed, however far from the parameters they are.
//!
//! With these weights the minimum is found by one step of a Kalman filter for each configuration: with
//! the mean t of w runs
//!
//! `S = h'P h + (s*T)^2/w`, `k = P h/S`, `x <- x + k*(t - h'x)`, `P <- P - k*h'P`,
//!
//! from the first mean and covariance, T being the time at the last minimum; again until it stands
//! still. (R. E. Kalman, J. Basic Eng. 82, 1960; equations 21 to 25 without dynamics.)
//!
//! A value with no uncertainty never moves. A standard error from few repetitions counts as that of
//! a normal distribution with the same 95 % interval. Totals are not held above 0: where runs know
//! only a sum, one part of it may go below and another make up for it; what is predicted never does.
//!
//! ```
//! use mmgp_model::fit::online::{Beforehand, Online};
//!
//! let parameters = mmgp_model::models::published("pbpi-qs20")?;
//! let beforehand = Beforehand { noise: 0.02, unknown_error: 0.1 };
//! let mut online = Online::new(&parameters, beforehand, 16)?;
//! let before = online.time(4, 4).0;
//! for _ in 0..50 {
//!     online.learn(4, 4, 1.1 * before)?;
//! }
//! assert!((online.time(4, 4).0 / before - 1.1).abs() < 0.001);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod totals;

pub use totals::{CoefficientRow, Coefficients};

use crate::models::Parameters;
use crate::models::run::Row;
use crate::statistics::weighted_median;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;
use totals::{OF_MEDIAN, SeenRuns, TimeSummary, Totals};

/// What is believed of runs and of values of which nothing is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beforehand {
    /// Standard deviation of the time of a run, relative to its mean; above 0.
    pub noise: f64,
    /// Standard error of every value that has none of its own, relative to the value: 0 for values
    /// that are to stay as they are.
    pub unknown_error: f64,
}

/// The totals of a parameter set, their covariance, and what each m makes of them.
#[derive(Debug, Clone)]
pub struct Online {
    lines: Vec<CoefficientRow>,
    values: Vec<f64>,
    /// Row by row, symmetric.
    covariance: Vec<f64>,
    /// Estimates and their covariance before the first run.
    first: (Vec<f64>, Vec<f64>),
    /// `P h` of a run.
    gain: Vec<f64>,
    noise: f64,
    samples: u64,
    /// Runs that values and covariance do not hold yet.
    waiting: u64,
    seen: SeenRuns,
}

/// The most totals that are followed: their covariance takes 8 MiB.
const MOST_TOTALS: usize = 1024;

/// The most host threads of which each has its line.
pub const MOST_THREADS: u32 = 1 << 17;

impl Online {
    /// Starts from `parameters`, for m from 1 to `last_m`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the noise is not above 0, an error is negative, either is not
    /// finite, `last_m` is 0 or more than 131,072, or more than 1,000 values of tables are uncertain.
    pub fn new(parameters: &Parameters, beforehand: Beforehand, last_m: u32) -> Result<Self> {
        let error =
            |name, found: String, expected: &str| Err(Error::out_of_range(name, found, expected));
        if !(beforehand.noise.is_finite() && beforehand.noise > 0.0) {
            return error("noise", format!("{:?}", beforehand.noise), "a finite number above 0");
        }
        if !(beforehand.unknown_error.is_finite() && beforehand.unknown_error >= 0.0) {
            let found = format!("{:?}", beforehand.unknown_error);
            return error("unknown error", found, "a finite number of 0 or more");
        }
        if !(1..=MOST_THREADS).contains(&last_m) {
            return error("m", last_m.to_string(), &format!("from 1 to {MOST_THREADS}"));
        }
        let totals = Totals::new(parameters, beforehand.unknown_error);
        let count = totals.count();
        if count > MOST_TOTALS {
            let found = format!("{count} uncertain totals");
            return error("parameters", found, &format!("at most {MOST_TOTALS}"));
        }
        let (values, covariance) = (totals.values(), totals.covariance());
        Ok(Self {
            lines: totals.lines(last_m),
            first: (values.clone(), covariance.clone()),
            values,
            covariance,
            gain: vec![0.0; count],
            noise: beforehand.noise,
            samples: 0,
            waiting: 0,
            seen: SeenRuns::new(beforehand.noise),
        })
    }

    /// The largest m that it knows.
    pub fn last_m(&self) -> u32 {
        self.lines.len() as u32
    }

    /// How many runs it has learnt from.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The totals.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Their covariance, row by row.
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// What each m makes of the totals, from m = 1.
    pub fn lines(&self) -> &[CoefficientRow] {
        &self.lines
    }

    /// Equation 11 at `m`, from 1 to [`Self::last_m`], with the totals as they are now.
    pub fn row(&self, m: u32) -> Row {
        self.lines[m as usize - 1].row(&self.values)
    }

    /// The time at (m, p), both at least 1, m at most [`Self::last_m`].
    pub fn time(&self, m: u32, p: u32) -> Seconds {
        self.row(m).at(p)
    }

    /// The standard error of that time \[s\], without the noise of a run.
    pub fn std_error(&self, m: u32, p: u32) -> f64 {
        let count = self.values.len();
        let coefficients = self.lines[m as usize - 1].coefficients(p);
        coefficients.variance(|row, column| self.covariance[row * count + column]).sqrt()
    }

    /// Learns from a run of `time_s` seconds at (m, p), and answers how far it was from what was
    /// expected, in standard deviations of that difference: beyond 4 or so either side it is rather
    /// a disturbance than noise, and counts for little.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn learn(&mut self, m: u32, p: u32, time_s: f64) -> Result<f64> {
        let surprise = self.add(m, p, time_s)?;
        self.settle();
        Ok(surprise)
    }

    /// Learns like [`Self::learn`], but what is answered follows only with [`Self::settle`]: for programs
    /// that add many runs between questions. It settles by itself after every eighth part more of them, so
    /// that the surprise is of what was known not long before.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for m or p of 0, m above [`Self::last_m`], or a time that is not finite and
    /// above 0. Nothing is learnt then.
    pub fn add(&mut self, m: u32, p: u32, time_s: f64) -> Result<f64> {
        let error =
            |name, found: String, expected: String| Err(Error::out_of_range(name, found, expected));
        if !(1..=self.last_m()).contains(&m) {
            return error("m", m.to_string(), format!("from 1 to {}", self.last_m()));
        }
        if p == 0 {
            return error("p", "0".into(), "at least 1".into());
        }
        if !(time_s.is_finite() && time_s > 0.0) {
            return error("time", format!("{time_s:?}"), "a finite time above 0 s".into());
        }
        if self.waiting * 8 > self.samples {
            self.settle();
        }
        let expected = self.expected(m, p);
        let variance = self.std_error(m, p).powi(2) + (self.noise * expected).powi(2);
        self.seen.add(m, p, time_s);
        self.samples += 1;
        self.waiting += 1;
        // Where nothing is uncertain, a program that takes no time has no noise.
        Ok(if variance > 0.0 { (time_s - expected) / variance.sqrt() } else { 0.0 })
    }

    /// Takes in all runs that were added.
    pub fn settle(&mut self) {
        if self.waiting == 0 {
            return;
        }
        self.waiting = 0;
        let seen = std::mem::replace(&mut self.seen, SeenRuns::new(self.noise));
        self.values.copy_from_slice(&self.first.0);
        self.covariance.copy_from_slice(&self.first.1);
        let judged = self.judged(&seen);
        let mut expected: Vec<f64> =
            seen.configurations.iter().map(|each| self.expected(each.m, each.p)).collect();
        for _ in 0..MOST_ROUNDS {
            let summaries = self.summaries(&seen, &judged, &expected);
            self.values.copy_from_slice(&self.first.0);
            self.covariance.copy_from_slice(&self.first.1);
            for ((each, summary), &expected) in
                seen.configurations.iter().zip(&summaries).zip(&expected)
            {
                self.step(each.m, each.p, summary, expected);
            }
            let mut change: f64 = 0.0;
            for (each, expected) in seen.configurations.iter().zip(&mut expected) {
                let now = self.expected(each.m, each.p);
                change = change.max((now - *expected).abs() / now.abs().max(f64::MIN_POSITIVE));
                *expected = now;
            }
            if change < STANDS_STILL {
                break;
            }
        }
        self.seen = seen;
    }

    /// Equation 11 without the bounds at 0.
    fn expected(&self, m: u32, p: u32) -> f64 {
        let line = &self.lines[m as usize - 1];
        let coefficients = line.coefficients(p);
        let of_totals = coefficients.iter().map(|(index, weight)| self.values[index] * weight);
        line.fixed() + of_totals.sum::<f64>()
    }

    /// What the runs say by themselves, before the model is asked.
    fn judged(&self, seen: &SeenRuns) -> RunMedians {
        let all = &seen.configurations;
        let centres: Vec<f64> = all.iter().map(|each| each.centre()).collect();
        let of_many = all.iter().zip(&centres).filter(|(each, _)| each.count >= ENOUGH);
        let spreads = of_many.map(|(each, &centre)| (each.spread(centre), each.count)).collect();
        let deviation = self.noise.max(OF_MEDIAN * weighted_median(spreads));
        let relative = |each: &totals::TimedConfiguration| {
            self.std_error(each.m, each.p) / self.expected(each.m, each.p).max(f64::MIN_POSITIVE)
        };
        let before = all.iter().map(relative).fold(self.noise, f64::max);
        let many = |(each, &centre): (&totals::TimedConfiguration, &f64)| {
            (each.count >= ENOUGH).then(|| each.summary(centre, deviation))
        };
        RunMedians { summaries: all.iter().zip(&centres).map(many).collect(), centres, before }
    }

    /// What counts of each configuration with these expected times.
    fn summaries(
        &self,
        seen: &SeenRuns,
        judged: &RunMedians,
        expected: &[f64],
    ) -> Vec<TimeSummary> {
        let least = |centre: f64| 1e-6 * centre.exp();
        let off = judged.centres.iter().zip(expected);
        let mut off: Vec<(f64, f64)> = off
            .map(|(&centre, &time)| ((centre - time.max(least(centre)).ln()).abs(), 1.0))
            .collect();
        // What the parameters say of their own error is worth two configurations.
        off.push((judged.before / OF_MEDIAN, 2.0));
        let deviation = self.noise.max(OF_MEDIAN * weighted_median(off));
        let each = |index: usize| {
            let by_model = expected[index].max(least(judged.centres[index])).ln();
            judged.summaries[index]
                .unwrap_or_else(|| seen.configurations[index].summary(by_model, deviation))
        };
        (0..expected.len()).map(each).collect()
    }

    /// Takes one step of the filter, for all runs of one configuration.
    fn step(&mut self, m: u32, p: u32, summary: &TimeSummary, reference_s: f64) {
        if summary.weight <= 0.0 {
            return;
        }
        let count = self.values.len();
        let coefficients = self.lines[m as usize - 1].coefficients(p);
        for (index, gain) in self.gain.iter_mut().enumerate() {
            let row = &self.covariance[index * count..(index + 1) * count];
            *gain = coefficients.iter().map(|(column, weight)| row[column] * weight).sum();
        }
        let of_belief: f64 =
            coefficients.iter().map(|(index, weight)| self.gain[index] * weight).sum();
        // A model that has lost its way to times of nothing is led back by what was measured.
        let reference_s = reference_s.max(1e-6 * summary.mean_s);
        let variance = of_belief.max(0.0) + (self.noise * reference_s).powi(2) / summary.weight;
        let difference = summary.mean_s - self.expected(m, p);
        for (index, value) in self.values.iter_mut().enumerate() {
            *value += self.gain[index] * difference / variance;
        }
        for row in 0..count {
            let factor = self.gain[row] / variance;
            for column in 0..count {
                self.covariance[row * count + column] -= factor * self.gain[column];
            }
            // Rounding must not make a variance negative.
            let diagonal = &mut self.covariance[row * count + row];
            *diagonal = diagonal.max(0.0);
        }
    }
}

/// Runs of a configuration that have a median of their own.
const ENOUGH: f64 = 3.0;

/// A relative change of all expected times below this is rounding.
const STANDS_STILL: f64 = 1e-12;

/// Most rounds; further ones change nothing that could be seen.
const MOST_ROUNDS: u32 = 60;

/// Medians of configurations: what runs say by themselves.
struct RunMedians {
    /// Summaries of configurations with enough runs.
    summaries: Vec<Option<TimeSummary>>,
    /// Logarithms of the medians.
    centres: Vec<f64>,
    /// The largest relative standard error of a time by the parameters alone.
    before: f64,
}

#[cfg(test)]
mod tests;
