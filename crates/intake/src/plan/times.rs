//! Where the time stands, and in which unit.

use mmgp_base::error::{Answer, Error, Result};

use super::numbers::Formula;
use super::{Part, Planner};
use crate::names::{Role, numbered, role_of, statistic_of};
use crate::sheet::Field;
use crate::units::{Comma, Measure, Unit, duration, measure_of, number};

/// Where the times of a row stand.
pub(super) struct Times {
    columns: Vec<Timed>,
    unit: UnitOf,
}

/// One time of a row.
struct Timed {
    value: Value,
    /// The number in the name of its column, of a wide table.
    heading: Option<u32>,
}

enum Value {
    Column(usize),
    Formula(Formula),
}

/// The unit of times whose texts do not say it.
enum UnitOf {
    Known(Unit),
    /// In a column of the same row.
    Column(usize),
    /// They are rates, in that unit; a piece of work then takes the inverse.
    Rate(String),
}

/// A table with a column for each m, p or repetition.
pub(super) struct Wide {
    /// `m`, `p` or `repetition`.
    pub key: &'static str,
    /// The columns and the numbers in their names.
    columns: Vec<(usize, u32)>,
    /// What stands before the number.
    stem: String,
}

/// A time of a row, where it stands and what was in its column's name.
pub(super) struct Found {
    pub seconds: Option<f64>,
    pub place: usize,
    pub heading: Option<u32>,
}

impl Times {
    /// The times of a row.
    pub fn of<'t>(
        &'t self,
        row: &'t [Field<'_>],
        comma: Comma,
    ) -> impl Iterator<Item = Found> + 't {
        let unit = self.unit(row);
        let is_rate = self.rate().is_some();
        self.columns.iter().map(move |timed| {
            let (seconds, place) = match &timed.value {
                Value::Column(place) if is_rate => (of_rate(&row[*place].text, comma), *place),
                Value::Column(place) => (seconds(&row[*place].text, unit, comma), *place),
                Value::Formula(formula) => {
                    let value = formula.value(row, comma);
                    let is_time = value.is_finite() && value >= 0.0;
                    (is_time.then_some(value), formula.places().first().copied().unwrap_or(0))
                }
            };
            Found { seconds, place, heading: timed.heading }
        })
    }

    /// A deviation in the unit of the time, in seconds.
    pub fn deviation(&self, text: &str, row: &[Field<'_>], comma: Comma) -> Option<f64> {
        seconds(text, self.unit(row), comma)
    }

    fn unit(&self, row: &[Field<'_>]) -> Option<Unit> {
        match self.unit {
            UnitOf::Known(unit) => Some(unit),
            UnitOf::Column(place) => Unit::named(&row[place].text),
            UnitOf::Rate(_) => None,
        }
    }

    /// The unit of the rates that they are, where they are such.
    pub fn rate(&self) -> Option<&str> {
        match &self.unit {
            UnitOf::Rate(unit) => Some(unit),
            UnitOf::Known(_) | UnitOf::Column(_) => None,
        }
    }

    /// The column and its unit, where there is one column of numbers in one unit.
    pub fn plain(&self) -> Option<(usize, Unit)> {
        match (&self.columns[..], &self.unit) {
            ([Timed { value: Value::Column(place), .. }], UnitOf::Known(unit)) => {
                Some((*place, *unit))
            }
            _ => None,
        }
    }

    pub fn is_one_column(&self) -> bool {
        self.columns.len() == 1
    }
}

/// The seconds that a text says; in that unit, where it does not say one.
fn seconds(text: &str, unit: Option<Unit>, comma: Comma) -> Option<f64> {
    let found = duration(text, comma)?;
    let seconds = if found.has_unit { found.seconds } else { unit?.seconds(found.seconds) };
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// The time of a unit of work at a rate, which is a number with its unit behind it or not.
fn of_rate(text: &str, comma: Comma) -> Option<f64> {
    let digits = |it: char| it.is_ascii_digit() || "+-.,eE".contains(it);
    let end = text.find(|it| !digits(it)).unwrap_or(text.len());
    let rate = number(text, comma).or_else(|| number(text[..end].trim(), comma))?;
    let time = 1.0 / rate;
    (rate > 0.0 && time.is_finite()).then_some(time)
}

impl Planner<'_> {
    /// Whether the table has a column for each m, p or repetition.
    pub(super) fn wide(&self) -> Option<Wide> {
        if self.claims.columns.of("time").is_some() || self.claims.rate.is_some() {
            return None;
        }
        let mut groups: Vec<Wide> = Vec::new();
        for place in 0..self.taken.len() {
            let is_free = !self.taken[place] && self.survey.columns[place].are_times();
            let Some((stem, number)) = numbered(self.name(place)).filter(|_| is_free) else {
                continue;
            };
            match groups.iter_mut().find(|group| group.stem == stem) {
                Some(group) => group.columns.push((place, number)),
                None => groups.push(Wide { key: "", columns: vec![(place, number)], stem }),
            }
        }
        groups.retain(|group| group.columns.len() > 1);
        let mut group = groups.into_iter().next()?;
        let has = |role: Role, key: &str| {
            self.sheet.column(key).is_some()
                || !self.with_role(role).is_empty()
                || self.claims.columns.of(key).is_some()
        };
        group.key = match role_of(&group.stem) {
            Some(Role::Threads) => "p",
            Some(Role::Processes) => "m",
            Some(Role::Repetition) => "repetition",
            _ if group.stem.is_empty() && has(Role::Processes, "m") && !has(Role::Threads, "p") => {
                "p"
            }
            _ if group.stem.is_empty() && has(Role::Threads, "p") && !has(Role::Processes, "m") => {
                "m"
            }
            _ if matches!(measure_of(&group.stem), Measure::Time(_)) || group.stem == "t" => {
                "repetition"
            }
            _ => return None,
        };
        Some(group)
    }

    /// Where the time stands.
    pub(super) fn times(&mut self, wide: Option<Wide>) -> Result<Times> {
        if let Some(wide) = wide {
            return Ok(self.wide_times(wide));
        }
        if let Some(rate) = &self.claims.rate {
            return self.said_rate(rate);
        }
        if let Some(said) = self.claims.columns.of("time") {
            return self.said_time(said);
        }
        let place = self.time_column()?;
        let unit = self.unit_of(place)?;
        let columns = vec![Timed { value: Value::Column(place), heading: None }];
        Ok(Times { columns, unit })
    }

    fn wide_times(&mut self, wide: Wide) -> Times {
        let names: Vec<&str> = wide.columns.iter().map(|&(place, _)| self.name(place)).collect();
        let unit = match measure_of(&wide.stem) {
            Measure::Time(Some(unit)) => Some(unit),
            _ => None,
        };
        let why = match unit {
            Some(unit) => format!("in {}", unit.symbol()),
            None => "no unit in their names, taken as seconds".to_string(),
        };
        let why = format!("a column for each {}; {why}", wide.key);
        let from = names.join(", ");
        self.say("time", from, &why);
        for &(place, _) in &wide.columns {
            self.taken[place] = true;
        }
        let timed = |&(place, number): &(usize, u32)| Timed {
            value: Value::Column(place),
            heading: Some(number),
        };
        let columns = wide.columns.iter().map(timed).collect();
        Times { columns, unit: UnitOf::Known(unit.unwrap_or(Unit::Seconds)) }
    }

    /// A column, one with a unit in brackets behind it, or an expression that a user named.
    fn said_time(&mut self, said: &str) -> Result<Times> {
        let one = |value: Value, unit: UnitOf| Times {
            columns: vec![Timed { value, heading: None }],
            unit,
        };
        if let Ok(place) = self.named(said) {
            self.taken[place] = true;
            let unit = self.unit_of(place)?;
            return Ok(one(Value::Column(place), unit));
        }
        let in_brackets = said.strip_suffix(']').and_then(|said| said.rsplit_once('['));
        if let Some((name, unit)) = in_brackets
            && let Some(unit) = Unit::named(unit.trim())
        {
            let place = self.named(name.trim())?;
            self.take("time", place, &format!("in {}, as said", unit.symbol()));
            return Ok(one(Value::Column(place), UnitOf::Known(unit)));
        }
        let formula = self.formula(said)?;
        self.say("time", formula.text(), "taken as seconds");
        Ok(one(Value::Formula(formula), UnitOf::Known(Unit::Seconds)))
    }

    /// The column of the rates that a user named.
    fn said_rate(&mut self, said: &str) -> Result<Times> {
        let place = self.named(said)?;
        let unit = match measure_of(said) {
            Measure::Rate(unit) => unit,
            Measure::Time(_) => {
                return Err(Error::OutOfRange {
                    name: "rate",
                    found: format!("{said:?}, which is called as a time is"),
                    expected: "a column of which more is better".into(),
                });
            }
            Measure::Other(_) => said.to_string(),
        };
        self.take("rate", place, &format!("in {unit}; more is better"));
        let columns = vec![Timed { value: Value::Column(place), heading: None }];
        Ok(Times { columns, unit: UnitOf::Rate(unit) })
    }

    /// The column whose name says that it holds the time.
    fn time_column(&self) -> Result<usize> {
        let free = (0..self.taken.len()).filter(|&place| !self.taken[place]);
        let free: Vec<usize> = free.filter(|&place| role_of(self.name(place)).is_none()).collect();
        let is_time = |place: &usize| matches!(measure_of(self.name(*place)), Measure::Time(_));
        let found: Vec<usize> = free.iter().copied().filter(is_time).collect();
        let rank = |place: &usize| {
            let name = self.name(*place);
            let is_usual = name == "time" || USUAL_TIMES.contains(&name);
            (!is_usual, statistic_of(name))
        };
        let Some(best) = found.iter().map(rank).min() else { return Err(self.no_time(&free)) };
        let found: Vec<usize> = found.into_iter().filter(|place| rank(place) == best).collect();
        match found[..] {
            [place] => Ok(place),
            _ => {
                let names: Vec<&str> = found.iter().map(|&place| self.name(place)).collect();
                let answer = |name: &&str| self.columns_answer(format!("time={name}"), "");
                let answers: Vec<Answer> = names.iter().map(answer).collect();
                let found = format!("the time may be any of the columns {}", names.join(", "));
                Err(self.ambiguous(found, answers))
            }
        }
    }

    /// The error where no name says that it is a time.
    fn no_time(&self, free: &[usize]) -> Error {
        let rate = free.iter().find_map(|&place| match measure_of(self.name(place)) {
            Measure::Rate(unit) => Some((self.name(place), unit)),
            _ => None,
        });
        if let Some((name, unit)) = rate {
            let found = format!(
                "{name:?} is a rate ({unit}), of which more is better, and no column holds a time"
            );
            return self.ambiguous(found, vec![rate_answer(name)]);
        }
        let is_number = |place: &usize| {
            let look = &self.survey.columns[*place];
            look.are_times() && (look.whole < look.numbers || look.durations > 0)
        };
        let answers = |place: usize| {
            let name = self.name(place);
            let in_unit = |unit: &str| self.columns_answer(format!("time={name} [{unit}]"), "");
            ["s", "ms", "us"].map(in_unit)
        };
        // A total before its parts.
        let is_total = |place: &usize| {
            let name = self.name(*place).to_lowercase();
            ["total", "overall", "whole", "gesamt", "all"].iter().any(|word| name.contains(word))
        };
        let likely: Vec<usize> = free.iter().copied().filter(is_number).collect();
        let likely = likely.iter().copied().find(is_total).or(likely.first().copied());
        let names: Vec<&str> = self.sheet.columns.iter().map(|it| it.name.as_str()).collect();
        let found =
            format!("found the columns {}, none of which is called as a time is", names.join(", "));
        self.ambiguous(found, likely.map(answers).into_iter().flatten().collect())
    }

    /// The unit of a column of times; its name is asked, then a column of units, then the row below the
    /// header.
    fn unit_of(&mut self, place: usize) -> Result<UnitOf> {
        let name = self.name(place).to_string();
        let look = &self.survey.columns[place];
        if look.errors > 0 {
            let from = format!("what stands behind \u{b1} in {name:?}");
            self.parts.push(Part { role: "passed over", from, why: String::new() });
        }
        let look = &self.survey.columns[place];
        let says_all = look.durations > 0 && look.durations + look.no_times + 2 >= look.filled;
        let measure = measure_of(&name);
        if says_all && !matches!(measure, Measure::Rate(_)) {
            self.take("time", place, "as the texts say");
            return Ok(UnitOf::Known(Unit::Seconds));
        }
        match measure {
            Measure::Time(Some(unit)) => {
                self.take("time", place, &format!("in {}", unit.symbol()));
                Ok(UnitOf::Known(unit))
            }
            Measure::Time(None) => self.unit_beside(place),
            Measure::Rate(unit) => {
                let found =
                    format!("{name:?} is a rate ({unit}), of which more is better, and no time");
                Err(self.ambiguous(found, vec![rate_answer(&name)]))
            }
            Measure::Other(what) => {
                let answer = |unit: &str| self.columns_answer(format!("time={name} [{unit}]"), "");
                let answers = ["s", "ms", "us", "min", "h"].map(answer).to_vec();
                Err(self.ambiguous(format!("{what:?} is no unit of time that is known"), answers))
            }
        }
    }

    fn unit_beside(&mut self, place: usize) -> Result<UnitOf> {
        let is_unit = |&column: &usize| {
            let look = &self.survey.columns[column];
            look.filled > 0 && look.units == look.filled
        };
        let units: Vec<usize> = self.with_role(Role::Unit).into_iter().filter(is_unit).collect();
        if let [column] = units[..] {
            let unit = self.name(column).to_string();
            self.take("time", place, &format!("in the unit that {unit:?} has"));
            self.taken[column] = true;
            return Ok(UnitOf::Column(column));
        }
        if let Some(unit) = self.survey.unit_row.as_ref().and_then(|row| row[place]) {
            self.take(
                "time",
                place,
                &format!("in {}, as the row below the names has it", unit.symbol()),
            );
            return Ok(UnitOf::Known(unit));
        }
        self.take("time", place, "no unit in its name, taken as seconds");
        Ok(UnitOf::Known(Unit::Seconds))
    }
}

fn rate_answer(name: &str) -> Answer {
    Answer { key: "rate", value: name.into(), meaning: String::new() }
}

/// The columns that hold the time where mmgp writes them; before all others.
const USUAL_TIMES: [&str; 6] = ["time_s", "time_ms", "time_us", "time_ns", "time_min", "time_h"];
