//! Terms that follow timed runs one by one: a recursive least-squares update, which is a Kalman
//! filter whose state stands still.
//!
//! With the counts of off-loads and collectives known, equation 11 is linear in the *totals* T_HPU,
//! alpha_k*T_HPU, T_APU, C_APU, N*O_offload, N*T_CSW, N*g and N_COL*O_COL,k (k being the entries of
//! a table over m): `T(m,p) = h(m,p)'x + c(m)`. The parameters' values, standard errors and
//! correlations are the first mean and covariance P of x, to first order where a total is a product.
//! A run of t seconds at (m, p), whose relative noise is s, then gives
//!
//! `S = h'P h + (s*T)^2`, `k = P h/S`, `x <- x + k*(t - T)`, `P <- P - k*h'P`,
//!
//! T being the time predicted before. After any number of runs x is exactly the minimum of the sum of
//! squares that the first mean and all runs make together, with the same weights: nothing is lost by
//! taking them one by one. (R. E. Kalman, J. Basic Eng. 82, 1960; equations 21 to 25 without
//! dynamics.)
//!
//! A value with no uncertainty never moves. A standard error from few repetitions counts as that of
//! a normal distribution with the same 95 % interval. Totals are not held above 0: where runs know
//! only a sum, one part of it may go below and another make up for it; what is predicted never does.
//!
//! ```
//! use mmgp_model::fit::online::{Belief, Online};
//!
//! let parameters = mmgp_model::model::published("pbpi-qs20")?;
//! let belief = Belief { noise: 0.02, unknown_error: 0.1 };
//! let mut online = Online::new(&parameters, belief, 16)?;
//! let before = online.time(4, 4).0;
//! for _ in 0..50 {
//!     online.learn(4, 4, 1.1 * before)?;
//! }
//! assert!((online.time(4, 4).0 / before - 1.1).abs() < 0.001);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod totals;

pub use totals::{Coefficients, Line};

use crate::model::Parameters;
use crate::model::run::Row;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;
use totals::Totals;

/// What is believed of runs and of values of which nothing is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Belief {
    /// Standard deviation of the time of a run, relative to its mean; above 0.
    pub noise: f64,
    /// Standard error of every value that has none of its own, relative to the value: 0 for values
    /// that are to stay as they are.
    pub unknown_error: f64,
}

/// The totals of a parameter set, their covariance, and what each m makes of them.
#[derive(Debug, Clone)]
pub struct Online {
    lines: Vec<Line>,
    values: Vec<f64>,
    /// Row by row, symmetric.
    covariance: Vec<f64>,
    /// `P h` of a run.
    gain: Vec<f64>,
    noise: f64,
    samples: u64,
}

/// The most totals that are followed: their covariance takes 8 MiB.
const MOST_TOTALS: usize = 1024;

/// The most host threads of which each has its line.
pub const MOST_THREADS: u32 = 1 << 17;

impl Online {
    /// Starts from `parameters`, for m from 1 to `last_m`. Nothing is allocated after this.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the noise is not above 0, an error is negative, either is not
    /// finite, `last_m` is 0 or more than 131,072, or more than 1,000 values of tables are uncertain.
    pub fn new(parameters: &Parameters, belief: Belief, last_m: u32) -> Result<Self> {
        let error = |name, found: String, expected: &str| {
            Err(Error::OutOfRange { name, found, expected: expected.into() })
        };
        if !(belief.noise.is_finite() && belief.noise > 0.0) {
            return error("noise", format!("{:?}", belief.noise), "a finite number above 0");
        }
        if !(belief.unknown_error.is_finite() && belief.unknown_error >= 0.0) {
            let found = format!("{:?}", belief.unknown_error);
            return error("unknown error", found, "a finite number of 0 or more");
        }
        if !(1..=MOST_THREADS).contains(&last_m) {
            return error("m", last_m.to_string(), &format!("from 1 to {MOST_THREADS}"));
        }
        let totals = Totals::new(parameters, belief.unknown_error);
        let count = totals.count();
        if count > MOST_TOTALS {
            let found = format!("{count} uncertain totals");
            return error("parameters", found, &format!("at most {MOST_TOTALS}"));
        }
        Ok(Self {
            lines: totals.lines(last_m),
            values: totals.values(),
            covariance: totals.covariance(),
            gain: vec![0.0; count],
            noise: belief.noise,
            samples: 0,
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
    pub fn lines(&self) -> &[Line] {
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
    /// a disturbance than noise, and the caller may wish it had not been learnt.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for m or p of 0, m above [`Self::last_m`], or a time that is not finite
    /// and above 0. Nothing is learnt then.
    pub fn learn(&mut self, m: u32, p: u32, time_s: f64) -> Result<f64> {
        let error = |name, found: String, expected: String| {
            Err(Error::OutOfRange { name, found, expected })
        };
        if !(1..=self.last_m()).contains(&m) {
            return error("m", m.to_string(), format!("from 1 to {}", self.last_m()));
        }
        if p == 0 {
            return error("p", "0".into(), "at least 1".into());
        }
        if !(time_s.is_finite() && time_s > 0.0) {
            return error("time", format!("{time_s:?}"), "a finite time above 0 s".into());
        }
        let count = self.values.len();
        let line = &self.lines[m as usize - 1];
        let coefficients = line.coefficients(p);
        for (index, gain) in self.gain.iter_mut().enumerate() {
            let row = &self.covariance[index * count..(index + 1) * count];
            *gain = coefficients.iter().map(|(column, weight)| row[column] * weight).sum();
        }
        let expected: f64 = line.fixed()
            + coefficients.iter().map(|(index, weight)| self.values[index] * weight).sum::<f64>();
        let of_belief: f64 =
            coefficients.iter().map(|(index, weight)| self.gain[index] * weight).sum();
        let variance = of_belief.max(0.0) + (self.noise * expected).powi(2);
        self.samples += 1;
        if variance <= 0.0 {
            // Nothing is uncertain, and a program that takes no time has no noise.
            return Ok(0.0);
        }
        let difference = time_s - expected;
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
        Ok(difference / variance.sqrt())
    }
}

#[cfg(test)]
mod tests;
