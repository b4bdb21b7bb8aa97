//! Units of times, for axes and for words.

use crate::units::Seconds;

/// The unit of an axis of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    /// Its symbol.
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
pub(super) fn time(seconds: f64) -> String {
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
        assert_eq!(time(12.5e-3), "12.50 ms");
        assert_eq!(time(2e-6), "2.000 µs");
        assert_eq!(time(1.5), "1.500 s");
    }
}
