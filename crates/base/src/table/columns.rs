//! Which columns of a table of timed runs hold what, and in which unit.

use std::str::FromStr;

use crate::error::{Error, Result};

/// The columns of timed runs under other names than `m`, `p`, `repetition` and `time_s`.
///
/// In a file of Extra-P the names are those of its parameters and of its metric, in one of
/// hyperfine those of its parameters and of the array of times.
///
/// ```
/// use mmgp_base::table::{Columns, Source, runs};
///
/// let columns: Columns = "m=ranks,p=threads,time=elapsed_ms".parse()?;
/// let source = Source::new("jobs.csv", "ranks;threads;elapsed_ms\n4;2;1500\n");
/// let (runs, _) = runs::read(&source, &columns)?;
/// assert_eq!((runs[0].m, runs[0].p, runs[0].repetition, runs[0].time_s), (4, 2, 1, 1.5));
/// # Ok::<(), mmgp_base::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    m: Option<String>,
    p: Option<String>,
    time: Option<String>,
    repetition: Option<String>,
}

/// What a column may be chosen for.
const KEYS: [&str; 4] = ["m", "p", "time", "repetition"];

impl FromStr for Columns {
    type Err = Error;

    /// Reads pairs such as `m=ranks,p=threads,time=elapsed_ms,repetition=run`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for another key, which names the known ones; [`Error::OutOfRange`]
    /// for what is no pair, a key or a name that comes twice.
    fn from_str(text: &str) -> Result<Self> {
        let refused = |found: String, expected: &str| Error::OutOfRange {
            name: "columns",
            found,
            expected: expected.into(),
        };
        let mut columns = Self::default();
        for pair in text.split(',') {
            let (key, name) = pair
                .split_once('=')
                .map(|(key, name)| (key.trim(), name.trim()))
                .filter(|(_, name)| !name.is_empty())
                .ok_or_else(|| refused(format!("{pair:?}"), "pairs such as m=ranks,p=threads"))?;
            if columns.chosen().any(|known| known == name) {
                return Err(refused(format!("{name:?} twice"), "a column of its own for each"));
            }
            let chosen = match key {
                "m" => &mut columns.m,
                "p" => &mut columns.p,
                "time" => &mut columns.time,
                "repetition" => &mut columns.repetition,
                _ => {
                    let known = KEYS.map(String::from).to_vec();
                    return Err(Error::UnknownName {
                        kind: "key of columns",
                        name: key.into(),
                        known,
                    });
                }
            };
            if chosen.replace(name.into()).is_some() {
                return Err(refused(format!("{key} twice"), "one column for each"));
            }
        }
        Ok(columns)
    }
}

impl Columns {
    /// The names that were chosen.
    fn chosen(&self) -> impl Iterator<Item = &str> {
        [&self.m, &self.p, &self.time, &self.repetition].into_iter().flatten().map(String::as_str)
    }

    /// Whether none was chosen.
    pub(super) fn are_usual(&self) -> bool {
        self.chosen().next().is_none()
    }

    /// The column of the host threads.
    pub(super) fn m(&self) -> &str {
        self.m.as_deref().unwrap_or("m")
    }

    /// The column of the APUs for each of them.
    pub(super) fn p(&self) -> &str {
        self.p.as_deref().unwrap_or("p")
    }

    /// The column of the repetition, where it was chosen.
    pub(super) fn repetition(&self) -> Option<&str> {
        self.repetition.as_deref()
    }

    /// The column of the time and its unit, where it was chosen.
    pub(super) fn time(&self) -> Option<(&str, Unit)> {
        self.time.as_deref().map(|name| (name, Unit::of(name)))
    }
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
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

/// The columns that hold the time where none is chosen; the first that a file has.
pub(super) const USUAL_TIMES: [&str; 6] =
    ["time_s", "time_ms", "time_us", "time_ns", "time_min", "time_h"];

impl Unit {
    /// By the end of a column's name: `_ms` or `(ms)`; without one, seconds.
    pub fn of(name: &str) -> Self {
        let name = name.trim_end_matches([')', ']']);
        let end = name.rsplit_once(['_', ' ', '(', '[', '.', '-']).map_or("", |(_, unit)| unit);
        Self::named(end).unwrap_or(Self::Seconds)
    }

    /// By its name: h, min, s, ms, us, ns.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "h" => Self::Hours,
            "min" => Self::Minutes,
            "s" => Self::Seconds,
            "ms" => Self::Milliseconds,
            "us" | "\u{b5}s" | "\u{3bc}s" => Self::Microseconds,
            "ns" => Self::Nanoseconds,
            _ => return None,
        })
    }

    /// So much of it in seconds. The quotients are the numbers nearest to the true ones.
    pub fn seconds(self, value: f64) -> f64 {
        match self {
            Self::Hours => value * 3600.0,
            Self::Minutes => value * 60.0,
            Self::Seconds => value,
            Self::Milliseconds => value / 1e3,
            Self::Microseconds => value / 1e6,
            Self::Nanoseconds => value / 1e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, message: &str) {
        assert_eq!(text.parse::<Columns>().expect_err("must be refused").to_string(), message);
    }

    #[test]
    fn each_key_chooses_its_column() {
        let columns: Columns = "p=threads, m = ranks,time=wall (ms),repetition=no".parse().unwrap();
        assert_eq!((columns.m(), columns.p()), ("ranks", "threads"));
        assert_eq!(columns.repetition(), Some("no"));
        assert_eq!(columns.time(), Some(("wall (ms)", Unit::Milliseconds)));
        let usual = Columns::default();
        assert_eq!((usual.m(), usual.p(), usual.time()), ("m", "p", None));
        assert!(usual.are_usual() && !columns.are_usual());
    }

    #[test]
    fn what_chooses_no_column_is_refused_with_what_would() {
        refused("m=a,t=b", "there is no key of columns \"t\"; known: m, p, time, repetition");
        refused(
            "tiem=b",
            "there is no key of columns \"tiem\"; did you mean \"time\"? known: m, p, time, \
             repetition",
        );
        refused("m=a,m=b", "columns: found m twice, expected one column for each");
        refused("m=a,p=a", "columns: found \"a\" twice, expected a column of its own for each");
        for text in ["", "m", "m=", "m=a,"] {
            let message = text.parse::<Columns>().unwrap_err().to_string();
            assert!(message.ends_with("expected pairs such as m=ranks,p=threads"), "{message}");
        }
    }

    #[test]
    fn the_end_of_a_name_is_the_unit() {
        for (name, seconds) in [
            ("time_s", 90.0),
            ("elapsed_ms", 0.09),
            ("real_us", 9e-5),
            ("t_ns", 9e-8),
            ("wall_min", 5400.0),
            ("wall_h", 324_000.0),
            ("wall (ms)", 0.09),
            ("wall[\u{b5}s]", 9e-5),
            // No unit of time, and no unit at all.
            ("runs", 90.0),
            ("ms", 90.0),
            ("elapsed", 90.0),
        ] {
            assert_eq!(Unit::of(name).seconds(90.0), seconds, "{name}");
        }
    }
}
