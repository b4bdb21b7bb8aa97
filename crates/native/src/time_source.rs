//! Where the time of a run is found.

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Unit;
use mmgp_base::units::Seconds;
use regex_lite::Regex;

use crate::supervisor::Match;

/// Where the time of a run is found.
#[derive(Debug, Clone, Default)]
pub enum TimeSource {
    /// From the start of the command to its end.
    #[default]
    Wall,
    /// What a regular expression finds last in its output.
    Output(Pattern),
    /// A number in the JSON that it prints, by the keys that lead to it; the unit of one that ends in
    /// `_ms` and the like is that.
    Json(Vec<String>),
}

/// A regular expression whose first group is a time. The time is in seconds, unless the group is
/// called by a unit (`(?<ms>...)`) or a second group finds one.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
}

impl Pattern {
    /// From its text.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what is no regular expression, or has no group.
    pub fn new(text: &str) -> Result<Self> {
        if regex(text)?.captures_len() < 2 {
            return Err(Error::OutOfRange {
                name: "time-from",
                found: format!("{text:?} without a group"),
                expected: "a group in parentheses that holds the time: 'Total: ([0-9.]+) s'".into(),
            });
        }
        Ok(Self { text: text.into() })
    }
}

/// Whether a text is a regular expression.
///
/// # Errors
/// [`Error::OutOfRange`] with what is wrong.
pub fn check_pattern(text: &str) -> Result<()> {
    regex(text).map(|_| ())
}

fn regex(text: &str) -> Result<Regex> {
    Regex::new(text).map_err(|error| Error::OutOfRange {
        name: "regular expression",
        found: format!("{text:?}"),
        expected: format!("a regular expression ({error})"),
    })
}

impl TimeSource {
    /// What it is called in a log.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Output(_) => "output",
            Self::Json(_) => "json",
        }
    }

    /// The regular expression that the output is to be searched for.
    pub(crate) fn pattern(&self) -> Option<&str> {
        match self {
            Self::Output(pattern) => Some(&pattern.text),
            Self::Wall | Self::Json(_) => None,
        }
    }

    /// The time of a run that took so long, whose output had that last match and that end; or why
    /// there is none.
    pub(crate) fn time(
        &self,
        wall: Seconds,
        found: Option<&Match>,
        output: &str,
    ) -> std::result::Result<Seconds, String> {
        let time = match self {
            Self::Wall => wall,
            Self::Output(pattern) => of_match(found).map_err(|why| {
                format!("{why} (the time was looked for with {:?})", pattern.text)
            })?,
            Self::Json(path) => of_json(path, output)?,
        };
        if time.0 > 0.0 && time.0.is_finite() {
            Ok(time)
        } else {
            Err(format!("its output gives {} s as its time", time.0))
        }
    }
}

fn of_match(found: Option<&Match>) -> std::result::Result<Seconds, String> {
    let found = found.ok_or("its output has no time")?;
    let group = |index: usize| found.groups.get(index);
    let (name, value) = group(1).ok_or("its output has no time")?;
    let text = value.as_deref().unwrap_or("");
    let value: f64 =
        text.trim().parse().map_err(|_| format!("its output has {text:?} as its time"))?;
    let named = name.as_deref().and_then(Unit::named);
    let second = group(2).and_then(|(_, text)| text.as_deref());
    let unit = match (named, second) {
        (Some(unit), _) => unit,
        (None, Some(text)) => {
            Unit::named(text).ok_or_else(|| format!("its output has {text:?} as unit of time"))?
        }
        (None, None) => Unit::Seconds,
    };
    Ok(Seconds(unit.seconds(value)))
}

/// Of the whole output, or else of its last line that is an object.
fn of_json(path: &[String], output: &str) -> std::result::Result<Seconds, String> {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let lines = output.lines().rev().filter(|line| line.trim_start().starts_with('{'));
    let whole = parse(output).or_else(|| lines.into_iter().find_map(parse));
    let mut value = &whole.ok_or("its output has no JSON")?;
    for key in path {
        let index = key.parse::<usize>().ok().filter(|_| value.is_array());
        let inner = index.map_or_else(|| value.get(key), |index| value.get(index));
        value = inner.ok_or_else(|| format!("the JSON in its output has no {}", path.join(".")))?;
    }
    let number = value.as_f64().or_else(|| value.as_str().and_then(|it| it.trim().parse().ok()));
    let number =
        number.ok_or_else(|| format!("{} in its output is {value}, no number", path.join(".")))?;
    let unit = path.last().map_or(Unit::Seconds, |key| Unit::of(key));
    Ok(Seconds(unit.seconds(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time that a pattern finds in a line, or why not.
    fn found(pattern: &str, line: &str) -> std::result::Result<f64, String> {
        let source = TimeSource::Output(Pattern::new(pattern).map_err(|it| it.to_string())?);
        let captures = regex(pattern).expect("a pattern");
        let last = captures.captures(line).map(|groups| Match {
            groups: captures
                .capture_names()
                .zip(groups.iter())
                .map(|(name, it)| (name.map(Into::into), it.map(|it| it.as_str().into())))
                .collect(),
        });
        source.time(Seconds(9.0), last.as_ref(), "").map(|time| time.0)
    }

    #[test]
    fn a_time_has_the_unit_that_its_group_or_the_next_one_names() {
        assert_eq!(found("Total time: +([0-9.]+) s", "Total time:   2.5 s"), Ok(2.5));
        assert_eq!(found("took (?<ms>[0-9]+)", "took 1500"), Ok(1.5));
        assert_eq!(found("([0-9.]+) (m?s)", "it was 250 ms"), Ok(0.25));
        assert_eq!(found("t=(.*)", "t= 1e-3 "), Ok(0.001));
    }

    #[test]
    fn what_is_no_time_is_none() {
        let refused = |pattern: &str, line: &str| found(pattern, line).unwrap_err();
        assert!(refused("t=([0-9]+)", "nothing").starts_with("its output has no time (the time"));
        assert!(refused("t=(.*)", "t=soon").starts_with("its output has \"soon\" as its time"));
        assert!(refused("([0-9]+) (.*)", "5 eggs").contains("\"eggs\" as unit of time"));
        for nothing in ["t=-1", "t=nan", "t=inf", "t=0"] {
            let why = refused("t=(.*)", nothing);
            assert!(why.ends_with("s as its time"), "{why}");
        }
        assert!(refused("t=[0-9]+", "t=5").contains("without a group"));
        assert!(refused("t=([0-9]+", "t=5").contains("a regular expression ("));
    }

    #[test]
    fn a_number_in_json_is_found_by_its_keys() {
        let of = |path: &str, output: &str| {
            let source = TimeSource::Json(path.split('.').map(Into::into).collect());
            source.time(Seconds(9.0), None, output).map(|time| time.0)
        };
        assert_eq!(of("a.t", r#"{"a": {"t": 2}}"#), Ok(2.0));
        assert_eq!(of("runs.1.wall_ms", "x\n{\"runs\": [{}, {\"wall_ms\": 5}]}\nbye"), Ok(0.005));
        assert_eq!(of("t", r#"{"t": "0.5"}"#), Ok(0.5));
        assert_eq!(of("t", "garbage").unwrap_err(), "its output has no JSON");
        assert_eq!(of("t", "{}").unwrap_err(), "the JSON in its output has no t");
        assert_eq!(of("t", r#"{"t": [1]}"#).unwrap_err(), "t in its output is [1], no number");
    }
}
