//! Where the time of a run is found.

mod programs;

use mmgp_base::error::{Answer, Error, Result};
use mmgp_base::quantity::Quantity;
use mmgp_base::units::Seconds;
use mmgp_intake::{Comma, Measure, Unit, duration, measure_of, number};
use regex::Regex;

use crate::failure::plain;
use crate::printed::{OUTPUT, Surroundings, first_group};
use crate::supervisor::Match;
use programs::PROGRAMS;

/// The source of the time of a run.
#[derive(Debug, Clone, Default)]
pub enum TimeSource {
    /// The clock, from the start of the command to its end.
    #[default]
    Wall,
    /// What a regular expression finds last in its output.
    Output(Pattern),
    /// A number in the JSON that it prints, by the keys that lead to it; the unit of one that ends in
    /// `_ms` and the like is that.
    Json(Vec<String>),
}

/// What a program prints of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintedKind {
    /// How long it took.
    Time,
    /// How much it did in a time, of which more is better.
    Rate,
}

/// A regular expression whose first group is a time or a rate. A time is a duration (`1m15.9s`, `1:15.9`)
/// or a number; its unit is that by which the group is called (`(?<ms>...)`), or what a second group finds,
/// or what stands behind or before the number, or seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The pattern as the user said it.
    said: String,
    text: String,
    printed: PrintedKind,
    /// The unit of rates that do not say theirs.
    unit: &'static str,
    /// Whether it is one of several times of a run, of which no flag alone takes the place.
    is_one_of_several: bool,
}

/// The time of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTime {
    /// The time, or that of a unit of work.
    pub time: Seconds,
    /// What it is, or stands for.
    pub quantity: Quantity,
}

/// Why there is no time.
#[derive(Debug)]
pub(crate) enum MissingTime {
    /// The run does not say it, in words.
    NotThere(String),
    /// What was found may mean something else: nothing is run before the user has said what.
    NotUnderstood(Error),
}

impl From<String> for MissingTime {
    fn from(why: String) -> Self {
        Self::NotThere(why)
    }
}

impl Pattern {
    /// Reads a pattern from its text, or takes that of a program by its name: gromacs, lammps, cp2k, qe,
    /// vasp, namd, hpcg, hpl, gnu-time. One that prints no time is known by its rate.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what is no regular expression, has no group, or is the name of a program
    /// that prints no rate.
    pub fn new(text: &str, wanted: PrintedKind) -> Result<Self> {
        let refused =
            |found: String, expected: &str| Error::out_of_range(wanted.flag(), found, expected);
        if let Some(known) = PROGRAMS.iter().find(|known| known.name == text) {
            let line = known.line(wanted);
            let (line, printed, unit) = line.ok_or_else(|| {
                refused(format!("{text}, which prints no rate"), "a program that prints one")
            })?;
            let (said, text) = (text.into(), line.into());
            return Ok(Self { said, text, printed, unit, is_one_of_several: false });
        }
        if regex(text)?.captures_len() < 2 {
            let example = "a group in parentheses that holds the time: 'Total: ([0-9.]+) s'";
            return Err(refused(format!("{text:?} without a group"), example));
        }
        let (said, text) = (text.into(), text.into());
        Ok(Self { said, text, printed: wanted, unit: "", is_one_of_several: false })
    }

    /// The pattern of one of several times that a run prints.
    ///
    /// # Errors
    /// As [`Self::new`], and for a program that prints a rate alone.
    pub(crate) fn of_several(text: &str) -> Result<Self> {
        let pattern = Self { is_one_of_several: true, ..Self::new(text, PrintedKind::Time)? };
        if pattern.printed == PrintedKind::Time {
            return Ok(pattern);
        }
        let found = format!("{text}, which prints a rate, among several times");
        Err(Error::out_of_range(PrintedKind::Time.flag(), found, "a program that prints its time"))
    }

    /// The regular expression that the output is to be searched for.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl PrintedKind {
    fn flag(self) -> &'static str {
        match self {
            Self::Time => "time-from",
            Self::Rate => "rate-from",
        }
    }
}

/// Whether a text is a regular expression.
///
/// # Errors
/// [`Error::OutOfRange`] with what is wrong.
pub fn check_pattern(text: &str) -> Result<()> {
    regex(text).map(|_| ())
}

/// Whether a regular expression has a group that captures.
pub(crate) fn has_group(text: &str) -> bool {
    first_group(text).is_some()
}

fn regex(text: &str) -> Result<Regex> {
    Regex::new(text).map_err(|error| {
        Error::out_of_range(
            "regular expression",
            format!("{text:?}"),
            format!("a regular expression ({error})"),
        )
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

    /// Whether it finds rates, of which more is better.
    pub fn is_of_rate(&self) -> bool {
        matches!(self, Self::Output(Pattern { printed: PrintedKind::Rate, .. }))
    }

    /// The regular expression that the output is to be searched for.
    pub(crate) fn pattern(&self) -> Option<&str> {
        match self {
            Self::Output(pattern) => Some(pattern.text()),
            Self::Wall | Self::Json(_) => None,
        }
    }

    /// The time of a run that took so long, whose output had that last match and that end.
    pub(crate) fn time(
        &self,
        wall: Seconds,
        found: Option<&Match>,
        output: &str,
    ) -> std::result::Result<FoundTime, MissingTime> {
        let found = match self {
            Self::Wall => FoundTime { time: wall, quantity: Quantity::Time },
            Self::Output(pattern) => pattern.read(found).map_err(|missing| match missing {
                MissingTime::NotThere(why) => MissingTime::NotThere(format!(
                    "{why} (the time was looked for with {:?})",
                    pattern.text
                )),
                other => other,
            })?,
            Self::Json(path) => {
                FoundTime { time: of_json(path, output)?, quantity: Quantity::Time }
            }
        };
        let time = found.time.0;
        match (time > 0.0 && time.is_finite(), found.quantity.is_time()) {
            (true, _) => Ok(found),
            (false, true) => Err(format!("its output gives {time} s as its time").into()),
            (false, false) => Err(format!("its output gives {} as its rate", 1.0 / time).into()),
        }
    }
}

impl Pattern {
    pub(crate) fn read(
        &self,
        found: Option<&Match>,
    ) -> std::result::Result<FoundTime, MissingTime> {
        let nothing = || MissingTime::NotThere("its output has no time".into());
        let found = found.ok_or_else(nothing)?;
        let group = |index: usize| found.groups.get(index);
        let around = Surroundings::of(found).ok_or_else(nothing)?;
        let name = group(1).and_then(|(name, _)| name.as_deref());
        let unit = group(2).and_then(|(_, text)| text.as_deref()).or(name);
        match self.printed {
            PrintedKind::Rate => self.rate(&around, unit),
            PrintedKind::Time => self.time(&around, unit),
        }
    }

    fn rate(
        &self,
        around: &Surroundings<'_>,
        unit: Option<&str>,
    ) -> std::result::Result<FoundTime, MissingTime> {
        let text = around.text;
        if around.is_cut() {
            let found = format!("{text:?} is a part of the number in {:?}", around.phrase());
            return Err(self.unclear(found, Vec::new()));
        }
        let rate = number(text, Comma::Thousands)
            .ok_or_else(|| format!("its output has {text:?} as its rate"))?;
        let said =
            unit.map(String::from).or_else(|| (!self.unit.is_empty()).then(|| self.unit.into()));
        let rate_unit = match (said, around.measure()) {
            (Some(unit), _) => unit,
            (None, Some(Measure::Rate(unit))) => unit,
            (None, Some(Measure::Time(Some(unit)))) => {
                let found = format!("it prints {:?}, a time in {}", around.phrase(), unit.symbol());
                return Err(self.unclear(found, vec![self.answer(PrintedKind::Time, &self.said)]));
            }
            _ => "units".into(),
        };
        let quantity = Quantity::Rate(plain(&rate_unit));
        Ok(FoundTime { time: Seconds(1.0 / rate), quantity })
    }

    fn time(
        &self,
        around: &Surroundings<'_>,
        unit: Option<&str>,
    ) -> std::result::Result<FoundTime, MissingTime> {
        let text = around.text;
        let of = |time_s: f64| Ok(FoundTime { time: Seconds(time_s), quantity: Quantity::Time });
        if let Some(named) = unit {
            let unit = Unit::named(named)
                .ok_or_else(|| format!("its output has {named:?} as unit of time"))?;
            let value: f64 =
                text.parse().map_err(|_| format!("its output has {text:?} as its time"))?;
            return of(unit.seconds(value));
        }
        if around.is_cut() {
            let found = format!("{text:?} is a part of the time in {:?}", around.phrase());
            return Err(self.unclear(found, self.wider(around).into_iter().collect()));
        }
        let found = match duration(text, Comma::Thousands) {
            Some(found) => found,
            // The unit of the last part may stand behind the group.
            None => {
                let blanks = around.after.len() - around.after.trim_start().len();
                let behind = &around.after[blanks..];
                let end = behind.find(|it: char| !it.is_alphabetic()).unwrap_or(behind.len());
                let unit = &around.after[..blanks + end];
                duration(&format!("{text}{unit}"), Comma::Thousands)
                    .filter(|it| it.has_unit)
                    .ok_or_else(|| format!("its output has {text:?} as its time"))?
            }
        };
        if found.has_unit {
            return of(found.seconds);
        }
        match around.measure() {
            Some(Measure::Time(unit)) => of(unit.unwrap_or(Unit::Seconds).seconds(found.seconds)),
            Some(Measure::Rate(unit)) => {
                let found = format!(
                    "it prints {:?}, a rate ({unit}), of which more is better",
                    around.phrase()
                );
                Err(self.unclear(found, vec![self.answer(PrintedKind::Rate, &self.said)]))
            }
            Some(Measure::Other(what)) => {
                let found =
                    format!("it prints {:?}, and {what} is no unit of time", around.phrase());
                Err(self.unclear(found, Vec::new()))
            }
            None => of(found.seconds),
        }
    }

    fn answer(&self, printed: PrintedKind, value: &str) -> Answer {
        Answer { key: printed.flag(), value: value.into(), meaning: String::new() }
    }

    fn unclear(&self, found: String, answers: Vec<Answer>) -> MissingTime {
        let answers = if self.is_one_of_several { Vec::new() } else { answers };
        MissingTime::NotUnderstood(Error::ambiguous(OUTPUT, found, answers))
    }

    /// What takes the whole of a duration of which this takes a part.
    fn wider(&self, around: &Surroundings<'_>) -> Option<Answer> {
        let line = format!("{}{}{}", around.before, around.text, around.after);
        let reads = |text: &str| {
            let found = regex(text).ok()?;
            let group = found.captures_iter(&line).last()?.get(1)?;
            let whole = Surroundings {
                text: group.as_str().trim(),
                before: &line[..group.start()],
                after: &line[group.end()..],
            };
            let pattern = Self { text: text.into(), ..self.clone() };
            if whole.is_cut() { None } else { pattern.time(&whole, None).ok() }
        };
        let of_program = PROGRAMS.iter().find(|known| {
            known.line(PrintedKind::Time).is_some_and(|(line, printed, _)| {
                printed == PrintedKind::Time && reads(line).is_some()
            })
        });
        if let Some(known) = of_program {
            return Some(self.answer(PrintedKind::Time, known.name));
        }
        let (start, end) = first_group(&self.text)?;
        let (before, after) = (&self.text[..start], &self.text[end..]);
        let wider = WIDER.iter().map(|group| format!("{before}{group}{after}"));
        let found = wider.into_iter().find(|wider| reads(wider).is_some());
        found.map(|wider| self.answer(PrintedKind::Time, &wider))
    }
}

/// Groups that take more of a duration or a number than its last digits.
const WIDER: [&str; 4] = [
    "((?:[0-9]+[dhm:] *)+[0-9.]+s?)",
    "((?:[0-9.]+ *[a-z]+ +)+[0-9.]+ *[a-z]+)",
    "((?:[0-9.]+ *[a-z]+ +)+[0-9.]+)",
    "([0-9.]+(?:[eEdD][+-]?[0-9]+)?)",
];

/// The time in the JSON of the whole output, or else of its last line that is an object.
fn of_json(path: &[String], output: &str) -> std::result::Result<Seconds, MissingTime> {
    let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let lines = output.lines().rev().filter(|line| line.trim_start().starts_with('{'));
    let whole = parse(output).or_else(|| lines.into_iter().find_map(parse));
    let mut value = &whole.ok_or_else(|| "its output has no JSON".to_string())?;
    for key in path {
        let index = key.parse::<usize>().ok().filter(|_| value.is_array());
        let inner = index.map_or_else(|| value.get(key), |index| value.get(index));
        value = inner.ok_or_else(|| format!("the JSON in its output has no {}", path.join(".")))?;
    }
    let key = path.last().map_or("", String::as_str);
    let unit = match measure_of(key) {
        Measure::Time(unit) => unit,
        Measure::Rate(unit) => {
            let found = format!("{key:?} is a rate ({unit}), of which more is better, and no time");
            return Err(MissingTime::NotUnderstood(Error::ambiguous(OUTPUT, found, Vec::new())));
        }
        Measure::Other(_) => None,
    };
    let of_text = || duration(value.as_str()?, Comma::Thousands);
    let (seconds, has_unit) = match value.as_f64() {
        Some(number) => (number, false),
        None => {
            let found = of_text();
            let found = found
                .ok_or_else(|| format!("{} in its output is {value}, no number", path.join(".")))?;
            (found.seconds, found.has_unit)
        }
    };
    let unit = if has_unit { Unit::Seconds } else { unit.unwrap_or(Unit::Seconds) };
    Ok(Seconds(unit.seconds(seconds)))
}

#[cfg(test)]
mod tests;
