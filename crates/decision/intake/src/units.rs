//! Units of time: how people spell them in names of columns, and durations as programs print them.
//!
//! What is not known is said to be unknown, and never taken as seconds here.
//!
//! ```
//! use mmgp_intake::{Comma, Measure, Unit, duration, measure_of};
//!
//! assert_eq!(measure_of("wall_ms_mean"), Measure::Time(Some(Unit::Milliseconds)));
//! assert_eq!(measure_of("mean time"), Measure::Time(None));
//! assert_eq!(measure_of("ns/day"), Measure::Rate("ns/day".into()));
//! assert_eq!(measure_of("time_ticks"), Measure::Other("ticks".into()));
//! assert_eq!(duration("1m12.5s", Comma::Thousands).map(|it| it.seconds), Some(72.5));
//! assert_eq!(duration("5 m", Comma::Thousands), None);
//! ```

mod duration;
mod measure;
#[cfg(test)]
mod tests;
mod words;

pub use duration::{Comma, Duration, duration, number, without_error};
pub use measure::{Measure, measure_of};

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// d
    Days,
    /// h
    Hours,
    /// min
    Minutes,
    /// s
    Seconds,
    /// ms
    Milliseconds,
    /// us
    Microseconds,
    /// ns
    Nanoseconds,
}

/// The spellings of each unit, in small letters. A lone `m` may be minutes or metres and is none.
const SPELLINGS: [(Unit, &str); 7] = [
    (Unit::Days, "d day days tag tage"),
    (Unit::Hours, "h hr hrs hour hours stunde stunden"),
    (Unit::Minutes, "min mins minute minutes minuten"),
    (
        Unit::Seconds,
        "s sec secs second seconds sek sekunde sekunden secondes segundos seg segs secondi \u{79d2}",
    ),
    (
        Unit::Milliseconds,
        "ms msec msecs milli millis millisec millisecs millisecond milliseconds millisekunden \u{6beb}\u{79d2}",
    ),
    (
        Unit::Microseconds,
        "us usec usecs \u{b5}s \u{3bc}s \u{b5}sec \u{3bc}sec micro micros microsec microsecs \
         microsecond microseconds mikrosekunden",
    ),
    (
        Unit::Nanoseconds,
        "ns nsec nsecs nano nanos nanosec nanosecs nanosecond nanoseconds nanosekunden",
    ),
];

impl Unit {
    /// The unit of a spelling, in any capitals; `None` for what is no unit of time, or may be another.
    pub fn named(spelling: &str) -> Option<Self> {
        let lower = spelling.trim().to_lowercase();
        let bare = lower.strip_suffix('.').unwrap_or(&lower);
        SPELLINGS
            .iter()
            .find(|(_, spellings)| spellings.split_whitespace().any(|known| known == bare))
            .map(|(unit, _)| *unit)
    }

    /// The symbol: d, h, min, s, ms, us or ns.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Days => "d",
            Self::Hours => "h",
            Self::Minutes => "min",
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
        }
    }

    /// A number of these units in seconds. The quotients are the numbers nearest to the true ones.
    pub fn seconds(self, value: f64) -> f64 {
        match self {
            Self::Days => value * 86_400.0,
            Self::Hours => value * 3600.0,
            Self::Minutes => value * 60.0,
            Self::Seconds => value,
            Self::Milliseconds => value / 1e3,
            Self::Microseconds => value / 1e6,
            Self::Nanoseconds => value / 1e9,
        }
    }
}
