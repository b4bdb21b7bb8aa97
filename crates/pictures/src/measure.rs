//! What the numbers of a picture are: times, unless a caller says otherwise; and the units of times.

use crate::units::Seconds;

/// What is drawn of each configuration, and which of it is better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measure {
    /// `time`, `rate`, `cost`.
    pub name: String,
    /// `None` of times, which are seconds and get the prefix that suits them; empty where there is none.
    pub unit: Option<String>,
    /// Which is better.
    pub better: Better,
}

/// Which of two numbers is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The smaller, as of times.
    Smaller,
    /// The larger, as of rates.
    Larger,
}

impl Default for Measure {
    /// Times in seconds.
    fn default() -> Self {
        Self { name: "time".into(), unit: None, better: Better::Smaller }
    }
}

impl Measure {
    /// What the numbers are multiplied by on an axis that has to show the largest.
    pub(super) fn factor(&self, largest: f64) -> f64 {
        if self.unit.is_none() { Unit::of(largest).per_second } else { 1.0 }
    }

    /// The title of that axis: `time [ms]`, `rate [ns/day]`.
    pub(super) fn title(&self, largest: f64) -> String {
        match self.unit.as_deref() {
            None => format!("{} [{}]", self.name, Unit::of(largest).symbol),
            Some("") => self.name.clone(),
            Some(unit) => format!("{} [{unit}]", self.name),
        }
    }

    /// A number in words: `12.35 ms`, `111.8 ns/day`.
    pub(super) fn words(&self, number: f64) -> String {
        let Some(unit) = &self.unit else { return time_in_words(number) };
        let digits = if number == 0.0 { 0.0 } else { number.abs().log10().floor() };
        let decimals = (3.0 - digits).clamp(0.0, 9.0) as usize;
        format!("{number:.decimals$} {unit}").trim_end().to_string()
    }

    /// The best of the words for it: `fastest` of times and rates.
    pub(super) fn best(&self) -> &'static str {
        if matches!(self.name.as_str(), "time" | "rate") { "fastest" } else { "best" }
    }

    /// The place of the best among numbers of configurations (m, p): of those that are the same by the four
    /// digits that are printed, the one with the fewest cores, then the fewest m, as every choice is.
    pub(super) fn best_of(
        &self,
        all: impl Iterator<Item = (f64, (u32, u32))> + Clone,
    ) -> Option<usize> {
        let order = |one: &f64, other: &f64| self.order(*one).total_cmp(&self.order(*other));
        let best = all.clone().map(|(number, _)| number).min_by(order)?;
        let printed = |number: f64| format!("{number:.3e}");
        let shown = printed(best);
        let is_tied = |number: f64| (number / best - 1.0).abs() < 2e-3 && printed(number) == shown;
        let tied = all.enumerate().filter(|(_, (number, _))| *number == best || is_tied(*number));
        let cores =
            |(_, (_, (m, p))): &(usize, (f64, (u32, u32)))| (u64::from(*m) * u64::from(*p), *m);
        tied.min_by_key(cores).map(|(place, _)| place)
    }

    /// A number by which the better comes first.
    pub(super) fn order(&self, number: f64) -> f64 {
        match self.better {
            Better::Smaller => number,
            Better::Larger => -number,
        }
    }
}

/// The unit of an axis of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    /// Symbol of the unit.
    pub symbol: &'static str,
    /// How many of them are a second.
    pub per_second: f64,
}

impl Unit {
    /// The largest unit that is not longer than the `longest` time \[s\].
    pub fn of(longest: f64) -> Self {
        let (symbol, per_second) = match longest {
            0.0 => ("s", 1.0),
            time if time < 1e-6 => ("ns", 1e9),
            time if time < 1e-3 => ("µs", 1e6),
            time if time < 1.0 => ("ms", 1e3),
            _ => ("s", 1.0),
        };
        Self { symbol, per_second }
    }
}

/// A time \[s\] in words: `12.35 ms`.
pub(super) fn time_in_words(seconds: f64) -> String {
    let words = Seconds(seconds).to_string();
    // Elsewhere the letter u stands for micro; the pictures' font has the real one.
    match words.strip_suffix("us") {
        Some(number) => format!("{number}µs"),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_prefixes_and_rates_their_unit() {
        let times = Measure::default();
        assert_eq!(
            (times.title(0.5), times.words(0.0125)),
            ("time [ms]".into(), "12.50 ms".into())
        );
        let rates =
            Measure { name: "rate".into(), unit: Some("ns/day".into()), better: Better::Larger };
        assert_eq!(rates.title(111.8), "rate [ns/day]");
        assert_eq!((rates.words(111.84), rates.factor(0.5)), ("111.8 ns/day".into(), 1.0));
        assert!(rates.order(2.0) < rates.order(1.0));
        // All but the last print as 9.999.
        let all = [(9.9991, (4, 2)), (9.9986, (4, 1)), (9.999, (2, 2)), (9.99, (1, 1))];
        assert_eq!(rates.best_of(all.into_iter()), Some(2));
        assert_eq!(times.best_of(all.into_iter()), Some(3));
        let unknown = Measure { name: "time/m".into(), unit: Some(String::new()), ..times };
        assert_eq!((unknown.title(1.0), unknown.words(0.25)), ("time/m".into(), "0.2500".into()));
    }

    #[test]
    fn the_unit_is_the_largest_that_is_not_longer_than_the_time() {
        for (longest, symbol) in [
            (1e6, "s"),
            (1.0, "s"),
            (0.999, "ms"),
            (1e-3, "ms"),
            (0.9e-3, "µs"),
            (1e-6, "µs"),
            (1e-9, "ns"),
            (0.0, "s"),
        ] {
            let unit = Unit::of(longest);
            assert_eq!(unit.symbol, symbol, "{longest} s");
            assert!(longest == 0.0 || longest * unit.per_second >= 1.0, "{longest} s");
        }
    }

    #[test]
    fn words_of_a_time_have_the_same_symbols() {
        assert_eq!(time_in_words(12.5e-3), "12.50 ms");
        assert_eq!(time_in_words(2e-6), "2.000 µs");
        assert_eq!(time_in_words(1.5), "1.500 s");
    }
}
