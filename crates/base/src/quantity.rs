//! What was measured of each run: its time, a rate, or an amount of something else.
//!
//! Everything that is believed is about logarithms of times. A rate is a time up to a constant: the time
//! of one unit of work is its inverse, in the inverse of its unit, and is no number of seconds. An amount,
//! of joules as well as of euros, stands for a time as it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::units::Seconds;

/// What was measured of each run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The time of a run \[s\].
    #[default]
    Time,
    /// A rate in this unit, of which more is better; what stands for the time is its inverse.
    Rate(String),
    /// An amount in this unit, of which less is better; it stands for the time.
    Amount(String),
}

/// Which numbers are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Less is better, as of times.
    Least,
    /// More is better, as of rates.
    Most,
}

/// A number with four significant digits.
pub struct Number(pub f64);

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

impl Direction {
    /// What a user says of an objective: `min joules`, `max score`, or nothing; and the objective.
    pub fn said(objective: &str) -> (Option<Self>, &str) {
        let text = objective.trim();
        let behind = |word: &str| text.strip_prefix(word).filter(|rest| rest.starts_with(' '));
        match (behind("min"), behind("max")) {
            (Some(rest), _) => (Some(Self::Least), rest.trim()),
            (_, Some(rest)) => (Some(Self::Most), rest.trim()),
            (None, None) => (None, text),
        }
    }

    /// The number that stands for a time where this was measured, and the other way round.
    pub fn as_time(self, number: f64) -> f64 {
        match self {
            Self::Least => number,
            Self::Most => 1.0 / number,
        }
    }
}

impl Quantity {
    /// The quantity of which less or more is better, in this unit.
    pub fn of(direction: Direction, unit: impl Into<String>) -> Self {
        match direction {
            Direction::Least => Self::Amount(unit.into()),
            Direction::Most => Self::Rate(unit.into()),
        }
    }

    /// The unit of what a user asks for: `J` of `energy [J]`, else the text itself.
    pub fn unit_said(objective: &str) -> &str {
        let (_, text) = Direction::said(objective);
        let is_name = |name: &str| !name.is_empty() && !name.contains(['[', ']']);
        match with_unit(text) {
            Some((name, unit)) if text.ends_with(']') && is_name(name) => unit,
            _ => text,
        }
    }

    /// Whether it is seconds.
    pub fn is_time(&self) -> bool {
        *self == Self::Time
    }

    /// The unit, where that is not seconds.
    pub fn unit(&self) -> Option<&str> {
        match self {
            Self::Time => None,
            Self::Rate(unit) | Self::Amount(unit) => Some(unit),
        }
    }

    /// Which numbers are better.
    pub fn direction(&self) -> Direction {
        match self {
            Self::Time | Self::Amount(_) => Direction::Least,
            Self::Rate(_) => Direction::Most,
        }
    }

    /// `time`, `rate` or `amount`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Rate(_) => "rate",
            Self::Amount(_) => "amount",
        }
    }

    /// The unit of what stands for the time, where that is not seconds: `1/(ns/day)`, `J`.
    pub fn unit_of_terms(&self) -> Option<String> {
        match self {
            Self::Time => None,
            Self::Rate(unit) => Some(format!("1/({unit})")),
            Self::Amount(unit) => Some(unit.clone()),
        }
    }

    /// What terms are, where they are not seconds.
    pub fn said_of_terms(&self) -> Option<String> {
        let unit = self.unit_of_terms()?;
        Some(match self {
            Self::Rate(_) => format!("shares of the time of one unit of work, {unit}, not seconds"),
            _ => format!("in {unit}, not seconds"),
        })
    }

    /// What a run does: `takes` a time, `makes` a rate, `needs` an amount.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Time => "takes",
            Self::Rate(_) => "makes",
            Self::Amount(_) => "needs",
        }
    }

    /// What a run did.
    pub fn past_verb(&self) -> &'static str {
        match self {
            Self::Time => "took",
            Self::Rate(_) => "made",
            Self::Amount(_) => "needed",
        }
    }

    /// What a run is that is better than all others.
    pub fn superlative(&self) -> &'static str {
        if self.is_speed() { "fastest" } else { "best" }
    }

    /// Whether what is better is faster: times and rates.
    pub fn is_speed(&self) -> bool {
        !matches!(self, Self::Amount(_))
    }

    /// The number that stands for a time: seconds, the rate, or the amount.
    pub fn number(&self, time: Seconds) -> f64 {
        self.direction().as_time(time.0)
    }

    /// What was measured, for people: `2.000 s`, `111.8 ns/day`.
    pub fn shown(&self, time: Seconds) -> String {
        match self.unit() {
            None => time.to_string(),
            Some(unit) => format!("{} {unit}", Number(self.number(time))),
        }
    }

    /// The ends of an interval, the smaller number first.
    pub fn ends(&self, low: Seconds, high: Seconds) -> (Seconds, Seconds) {
        match self.direction() {
            Direction::Least => (low, high),
            Direction::Most => (high, low),
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
        Err(Error::out_of_range(
            "runs",
            other.to_string(),
            format!("{self}, as what they are held against"),
        ))
    }
}

/// A name and what stands in brackets behind it: `energy [J]`, `ranks (ms)`.
pub fn with_unit(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_end().strip_suffix([')', ']'])?;
    let (name, unit) = inner.rsplit_once(['(', '['])?;
    Some((name.trim(), unit.trim()))
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("times"),
            Self::Rate(unit) => write!(f, "rates in {unit}"),
            Self::Amount(unit) => write!(f, "amounts in {unit}"),
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
        let amounts = Quantity::Amount("J".into()).interval(Seconds(1.0), Seconds(2000.0));
        assert_eq!(amounts, "1.000 J .. 2000 J");
    }

    #[test]
    fn what_is_asked_for_has_its_unit_in_brackets_or_is_its_own() {
        let check = |objective: &str, unit: &str| assert_eq!(Quantity::unit_said(objective), unit);
        check("joules", "joules");
        check("energy [kJ]", "kJ");
        check("max score", "score");
        check("work/time", "work/time");
        check("[a]*[b]", "[a]*[b]");
        check("maximum", "maximum");
        assert_eq!(Direction::said("max score").0, Some(Direction::Most));
        assert_eq!(Direction::said("min score").0, Some(Direction::Least));
        assert_eq!(Direction::said("minutes").0, None);
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
    fn rates_are_not_held_against_times_nor_amounts_against_rates() {
        let rate = Quantity::Rate("ns/day".into());
        let error = Quantity::Time.check_same(&rate).unwrap_err().to_string();
        assert_eq!(
            error,
            "runs: found rates in ns/day, expected times, as what they are held against"
        );
        assert!(rate.check_same(&rate.clone()).is_ok());
        assert!(rate.check_same(&Quantity::Amount("ns/day".into())).is_err());
    }
}
