//! Quantities that are taken from what a program prints, and what stands around them in a line.

use std::collections::BTreeMap;

use mmgp_base::error::{Error, Result};
use mmgp_base::expression::is_name;
use mmgp_intake::{CapturedQuantity, Comma, Measure, OF_ALL_RUNS, Unit, measure_of, number};

use crate::failure::plain;
use crate::supervisor::Match;
use crate::time_source::{MissingTime, Pattern, TimeSource, check_pattern, has_group};

/// A quantity by its name, and the regular expression whose first group is its number; the last match
/// counts. One of several times of a run is such a quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// What expressions call it.
    pub name: String,
    reading: Reading,
}

/// How the group of a capture is read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reading {
    /// As a number, by this regular expression.
    Number(String),
    /// As a time, in any unit.
    Time(Pattern),
}

/// What messages call the output of a program.
pub(crate) const OUTPUT: &str = "the output of the program";

/// Names that mean something else in an objective.
const TAKEN: [&str; 4] = ["nodes", "rate", "cost", "time_s"];

impl Capture {
    /// The capture of a name by a regular expression.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what is no name of a quantity, no regular expression, or has no group.
    pub fn new(name: &str, pattern: &str) -> Result<Self> {
        check_name(name)?;
        check_pattern(pattern)?;
        if !has_group(pattern) {
            return Err(Error::out_of_range(
                "capture",
                format!("{pattern:?} without a group"),
                "a group in parentheses that holds the number: 'Energy: ([0-9.]+) J'",
            ));
        }
        Ok(Self { name: name.into(), reading: Reading::Number(pattern.into()) })
    }

    /// The capture of one of several times by a regular expression or the name of a program, as
    /// [`Pattern::new`] reads it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what is no name of a quantity, and as [`Pattern::new`].
    pub fn of_time(name: &str, pattern: &str) -> Result<Self> {
        check_name(name)?;
        Ok(Self { name: name.into(), reading: Reading::Time(Pattern::of_several(pattern)?) })
    }

    /// The same where it is the time that counts; `None` for what is no time.
    pub fn time_source(&self) -> Option<TimeSource> {
        match &self.reading {
            Reading::Number(_) => None,
            Reading::Time(pattern) => Some(TimeSource::Output(pattern.clone())),
        }
    }

    /// What a log calls it, a time with its unit: `io_s`.
    pub fn key(&self) -> String {
        match self.reading {
            Reading::Number(_) => self.name.clone(),
            Reading::Time(_) => format!("{}_s", self.name),
        }
    }

    /// The quantity in an expression.
    pub fn quantity(&self) -> CapturedQuantity {
        let quantity = CapturedQuantity::named(&self.name);
        match self.reading {
            Reading::Number(_) => quantity,
            Reading::Time(_) => quantity.of_time(),
        }
    }

    /// The regular expression that the output is to be searched for.
    pub(crate) fn pattern(&self) -> &str {
        match &self.reading {
            Reading::Number(pattern) => pattern,
            Reading::Time(pattern) => pattern.text(),
        }
    }

    /// The number that the last match has, and the word behind it, which may be its unit.
    pub(crate) fn read(
        &self,
        found: Option<&Match>,
    ) -> std::result::Result<(f64, String), MissingTime> {
        let nothing = || {
            let (name, pattern) = (&self.name, self.pattern());
            MissingTime::NotThere(format!("its output has no {name} (looked for with {pattern:?})"))
        };
        let found = found.ok_or_else(nothing)?;
        if let Reading::Time(pattern) = &self.reading {
            let time = pattern.read(Some(found)).map_err(|missing| match missing {
                MissingTime::NotThere(why) => {
                    MissingTime::NotThere(format!("{}: {why}", self.name))
                }
                other => other,
            })?;
            return Ok((time.time.0, "s".into()));
        }
        let around = Surroundings::of(found).ok_or_else(nothing)?;
        if around.is_cut() {
            let found = format!(
                "{:?} is a part of the number in {:?}; the group of {} must take all of it",
                around.text,
                around.phrase(),
                self.name
            );
            return Err(MissingTime::NotUnderstood(Error::ambiguous(OUTPUT, found, Vec::new())));
        }
        let value = number(around.text, Comma::Thousands).ok_or_else(|| {
            MissingTime::NotThere(format!("its output has {:?} as {}", around.text, self.name))
        })?;
        Ok((value, plain(around.word_behind())))
    }
}

/// Refuses what is no name of a quantity, and names that mean something else.
fn check_name(name: &str) -> Result<()> {
    if is_name(name) && !TAKEN.contains(&name) && !OF_ALL_RUNS.contains(&name) {
        return Ok(());
    }
    let expected = "a name of letters, digits and _ that means nothing else, as joules";
    Err(Error::out_of_range("capture", format!("{name:?}"), expected))
}

/// The units of what a program prints, which have to stay the same: 1.2 kJ are no 1.2 J.
#[derive(Debug, Default)]
pub(crate) struct Units(BTreeMap<String, String>);

impl Units {
    /// Refuses another unit than the first had.
    pub fn check(&mut self, name: &str, unit: &str) -> Result<()> {
        let first = self.0.entry(name.into()).or_insert_with(|| unit.into());
        if first == unit {
            return Ok(());
        }
        let found =
            format!("{unit:?} stands behind {name}, and before {first:?}: print it in one unit");
        Err(Error::ambiguous(OUTPUT, found, Vec::new()))
    }
}

/// What stands in a line around a printed quantity.
pub(crate) struct Surroundings<'a> {
    pub text: &'a str,
    pub before: &'a str,
    pub after: &'a str,
}

impl<'a> Surroundings<'a> {
    /// What stands around the first group of a match.
    pub fn of(found: &'a Match) -> Option<Self> {
        let (_, value) = found.groups.get(1)?;
        let (start, end) = found.span;
        let text = value.as_deref().unwrap_or("").trim();
        Some(Self { text, before: &found.line[..start], after: &found.line[end..] })
    }

    /// Whether the text is a part of a longer number or duration: `31.5` of `1m31.5s`.
    pub fn is_cut(&self) -> bool {
        let ends_in_digit = |text: &str| text.ends_with(|it: char| it.is_ascii_digit());
        let starts_with_digit = |text: &str| text.starts_with(|it: char| it.is_ascii_digit());
        if ends_in_digit(self.before) || starts_with_digit(self.after) {
            return true;
        }
        let bare = self.before.trim_end_matches([':', '.', ',']);
        let is_joined = bare.len() < self.before.len() && ends_in_digit(bare);
        let part = self.before.trim_end();
        let of_unit = part.strip_suffix(['d', 'h', 'm']).map(str::trim_end);
        let mut words = part.rsplit(char::is_whitespace).filter(|word| !word.is_empty());
        let is_of_words = words.next().is_some_and(|word| Unit::named(word).is_some())
            && words.next().is_some_and(|word| word.parse::<f64>().is_ok());
        let is_behind_part = of_unit.is_some_and(ends_in_digit) || is_of_words;
        let is_before_part = |rest: &str| {
            rest.strip_prefix([':', '.', ',', '\'', 'd', 'h', 'm'])
                .is_some_and(|rest| starts_with_digit(rest.trim_start()))
        };
        let has_exponent = self
            .after
            .strip_prefix(['e', 'E', 'd', 'D'])
            .is_some_and(|rest| starts_with_digit(rest.strip_prefix(['+', '-']).unwrap_or(rest)));
        is_joined
            || is_behind_part
            || is_before_part(self.after)
            || has_exponent
            || self.is_first_of_several()
    }

    /// Whether a unit of time stands behind it, and then a further number with its unit: `1 min 16.3 sec`.
    fn is_first_of_several(&self) -> bool {
        let mut words = self.after.split_whitespace();
        let is_unit = |word: Option<&str>| {
            let word = word.unwrap_or("").trim_end_matches([',', '.', ';']);
            Unit::named(word).is_some() || word == "m"
        };
        let starts_behind_blank = self.after.starts_with(char::is_whitespace);
        starts_behind_blank
            && is_unit(words.next())
            && words.next().is_some_and(|word| word.parse::<f64>().is_ok())
            && is_unit(words.next())
    }

    /// What stands behind or before a number says of it; nothing where it says nothing.
    pub fn measure(&self) -> Option<Measure> {
        if self.after.trim_start().starts_with('%') {
            return Some(Measure::Other("per cent".into()));
        }
        let mut behind = self.after.trim_start_matches([' ', '\t', '[', '(']).split_whitespace();
        let word = behind.next().unwrap_or("");
        let more = behind.next().unwrap_or("");
        let of_unit = |unit: &str| {
            let unit = unit.trim_matches(|it: char| ".,;:()[]".contains(it));
            let is_word =
                unit.chars().next().is_some_and(|it| it.is_alphabetic() || it == '\u{b5}');
            is_word.then(|| measure_of(&format!("value [{unit}]")))
        };
        let last = behind.next().unwrap_or("");
        let unit = match (word, more) {
            ("per", _) => format!("per {more}"),
            (_, "per") => format!("{word} per {last}"),
            _ => word.into(),
        };
        let label = self.label();
        if is_of_processors(label) || is_user(&unit) {
            return Some(Measure::Other("time of processors".into()));
        }
        match of_unit(&unit) {
            Some(Measure::Other(_)) if is_no_time(&unit) => return Some(Measure::Other(unit)),
            Some(Measure::Other(_)) | None => {}
            found => return found,
        }
        if let Some(last) = label.split_whitespace().next_back().filter(|word| is_no_time(word)) {
            return Some(Measure::Other(last.into()));
        }
        match measure_of(label) {
            Measure::Time(None) | Measure::Other(_) => None,
            found => Some(found),
        }
    }

    /// The words before it.
    fn label(&self) -> &str {
        let before = self.before.trim_end_matches([' ', '\t', ':', '=']);
        let start = before.rfind([',', ';', '|', '\t']).map_or(0, |at| at + 1);
        let start = before.rfind("  ").map_or(start, |at| start.max(at + 2));
        before[start..].trim()
    }

    /// The word behind it where it is next to it or behind a blank, and is a word.
    pub fn word_behind(&self) -> &str {
        let word = self.after.trim_start().split([' ', '\t', ',', ';', ')', ']']).next();
        word.filter(|it| it.starts_with(char::is_alphabetic)).unwrap_or("").trim_end_matches('.')
    }

    /// The text with what is next to it, as it stands in the line.
    pub fn phrase(&self) -> String {
        let word = self.after.split_whitespace().next().unwrap_or("");
        let gap = if self.after.starts_with(char::is_whitespace) { " " } else { "" };
        let before = self.before.trim_end();
        let start = before.len() - before.len().min(LONGEST_PHRASE);
        let before = &before[before.ceil_char_boundary(start)..];
        let joint = if before.len() < self.before.len() { " " } else { "" };
        format!("{}{joint}{}{gap}{word}", before.trim_start(), self.text)
    }
}

/// Units of no wall time, in small letters.
const NO_TIMES: &str = "cycles kcycles mcycles ticks jiffies ps db b kb mb gb tb kib mib gib byte bytes \
    gf tf pf j kj mj wh kwh joule joules w kw mw watt watts volt volts celsius \u{b0}c rpm";

fn is_no_time(word: &str) -> bool {
    let plain = word.trim_matches(|it: char| ".,;:()[]".contains(it)).to_lowercase();
    NO_TIMES.split_whitespace().any(|known| known == plain)
}

/// Whether the words behind the last number of a label say that the time is that of processors.
fn is_of_processors(label: &str) -> bool {
    let words = label.rsplit(|it: char| it.is_ascii_digit()).next().unwrap_or("");
    measure_of(words).is_of_processors()
        || words.split_whitespace().next_back().is_some_and(is_user)
}

/// Whether a word is what the time is called that a program itself computed, or the system for it.
fn is_user(word: &str) -> bool {
    ["user", "sys", "system", "utime", "stime"].contains(&word.to_lowercase().as_str())
}

/// Letters of what stands before a quantity that are shown.
const LONGEST_PHRASE: usize = 40;

/// The place of the first group of a regular expression that captures.
pub(crate) fn first_group(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let (mut open, mut is_class, mut at) = (Vec::new(), false, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => is_class = true,
            b']' => is_class = false,
            b'(' if !is_class => {
                let rest = &text[at + 1..];
                let is_named = rest.starts_with("?<") || rest.starts_with("?P<");
                open.push((at, !rest.starts_with('?') || is_named));
            }
            b')' if !is_class => {
                if let (start, true) = open.pop()?
                    && open.iter().all(|(_, captures)| !captures)
                {
                    return Some((start, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_means_something_else_is_refused() {
        for name in ["time", "m", "nodes", "rate", "a b", "1x", ""] {
            assert!(Capture::new(name, "([0-9]+)").is_err(), "{name}");
        }
        assert!(Capture::new("joules", "[0-9]+").is_err());
        assert!(Capture::new("joules", "([0-9]+").is_err());
        assert!(Capture::new("joules", "([0-9]+)").is_ok());
        assert!(Capture::of_time("time", "([0-9]+)").is_err());
    }

    #[test]
    fn a_named_time_is_read_in_its_unit_and_logged_in_seconds() {
        let group = |text: &str| (None, Some(text.to_string()));
        let found = |line: &str, text: &str| {
            let start = line.find(text).expect("it is there");
            let groups = vec![group(line), group(text)];
            Match { groups, line: line.into(), span: (start, start + text.len()) }
        };
        let io = Capture::of_time("io", "I/O: (.*)").expect("a pattern");
        let read = |line: &str, text: &str| io.read(Some(&found(line, text)));
        assert_eq!(io.key(), "io_s");
        assert_eq!(read("I/O: 250 ms", "250").ok(), Some((0.25, "s".into())));
        assert_eq!(read("I/O: 1m15.5s", "1m15.5s").ok(), Some((75.5, "s".into())));
        let missing = |found: Option<&Match>| match io.read(found) {
            Err(MissingTime::NotThere(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(missing(None), "its output has no io (looked for with \"I/O: (.*)\")");
        assert!(missing(Some(&found("I/O: none", "none"))).starts_with("io: its output has"));
        // A line to type would lose the other times.
        let Err(MissingTime::NotUnderstood(Error::Ambiguous { answers, .. })) =
            read("I/O: 12 ns/day", "12")
        else {
            panic!("a rate is no time")
        };
        assert!(answers.is_empty(), "{answers:?}");
        assert!(Capture::of_time("score", "hpcg").is_err());
    }

    #[test]
    fn the_unit_behind_stays_the_same() {
        let mut units = Units::default();
        assert!(units.check("joules", "J").is_ok() && units.check("joules", "J").is_ok());
        assert!(units.check("joules", "kJ").is_err());
    }
}
