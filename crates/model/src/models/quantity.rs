//! What was measured of each run: its time, or a rate.
//!
//! Everything that is believed is about logarithms of times. A rate is a time up to a constant: the time
//! of one unit of work is its inverse, in the inverse of its unit, and is no number of seconds.

use std::fmt;

use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;

/// What was measured of each run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Quantity {
    /// Its time \[s\].
    #[default]
    Time,
    /// A rate in this unit, of which more is better; what stands for the time is its inverse.
    Rate(String),
}

/// A number with four significant digits.
pub(crate) struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.abs().log10().floor();
        if self.0 == 0.0 || !self.0.is_finite() {
            return write!(f, "{}", self.0);
        }
        if !(-4.0..7.0).contains(&digits) {
            return write!(f, "{:.3e}", self.0);
        }
        let decimals = (3 - digits as i32).max(0) as usize;
        write!(f, "{:.decimals$}", self.0)
    }
}

impl Quantity {
    /// The unit of a rate; `None` of times, which are seconds.
    pub fn rate(&self) -> Option<&str> {
        match self {
            Self::Time => None,
            Self::Rate(unit) => Some(unit),
        }
    }

    /// `time` or `rate`.
    pub fn name(&self) -> &'static str {
        if self.rate().is_some() { "rate" } else { "time" }
    }

    /// The number that stands for a time: seconds, or the rate.
    pub fn number(&self, time: Seconds) -> f64 {
        match self {
            Self::Time => time.0,
            Self::Rate(_) => 1.0 / time.0,
        }
    }

    /// What was measured, for people: `2.000 s`, `111.8 ns/day`.
    pub fn shown(&self, time: Seconds) -> String {
        match self {
            Self::Time => time.to_string(),
            Self::Rate(unit) => format!("{} {unit}", Number(self.number(time))),
        }
    }

    /// The ends of an interval, the smaller number first.
    pub fn ends(&self, low: Seconds, high: Seconds) -> (Seconds, Seconds) {
        match self {
            Self::Time => (low, high),
            Self::Rate(_) => (high, low),
        }
    }

    /// An interval for people: `1.900 s .. 2.100 s`.
    pub fn interval(&self, low: Seconds, high: Seconds) -> String {
        let (first, last) = self.ends(low, high);
        format!("{} .. {}", self.shown(first), self.shown(last))
    }

    /// Refuses what was measured otherwise, which cannot be held against it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]
    pub fn check_same(&self, other: &Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        Err(Error::OutOfRange {
            name: "runs",
            found: other.to_string(),
            expected: format!("{self}, as what they are held against"),
        })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("times"),
            Self::Rate(unit) => write!(f, "rates in {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_inverse_of_its_time_and_its_interval_begins_with_the_smaller() {
        let rate = Quantity::Rate("ns/day".into());
        assert_eq!(rate.shown(Seconds(1.0 / 111.8)), "111.8 ns/day");
        let interval = rate.interval(Seconds(0.01), Seconds(0.02));
        assert_eq!(interval, "50.00 ns/day .. 100.0 ns/day");
        let times = Quantity::Time.interval(Seconds(1.0), Seconds(2.0));
        assert_eq!(times, "1.000 s .. 2.000 s");
    }

    #[test]
    fn numbers_have_four_digits_whatever_their_size() {
        let check = |number: f64, text: &str| assert_eq!(Number(number).to_string(), text);
        check(0.0, "0");
        check(1.23456e-9, "1.235e-9");
        check(0.012_345, "0.01235");
        check(111.84, "111.8");
        check(123_456.7, "123457");
        check(1.5e9, "1.500e9");
    }

    #[test]
    fn rates_are_not_held_against_times() {
        let rate = Quantity::Rate("ns/day".into());
        let error = Quantity::Time.check_same(&rate).unwrap_err().to_string();
        assert_eq!(
            error,
            "runs: found rates in ns/day, expected times, as what they are held against"
        );
        assert!(rate.check_same(&rate.clone()).is_ok());
    }
}
