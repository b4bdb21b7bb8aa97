//! The columns of the time, and its unit.

use mmgp_base::error::{Answer, Error, Result};
use mmgp_base::quantity::{Direction, Quantity, with_unit};

use super::measurand::{Measurand, better};
use super::numbers::Formula;
use super::wide::Wide;
use super::{Planner, is_measured};
use crate::names::statistic_of;
use crate::sheet::Field;
use crate::units::{Comma, Measure, Unit, duration, measure_of, number};

/// The times of a row: their columns and unit.
pub(super) struct Times {
    pub columns: Vec<TimeColumn>,
    pub unit: UnitOf,
    /// What is measured instead of them, and the columns that it is over.
    pub derived: Option<(Measurand, Vec<usize>)>,
}

/// One time of a row.
pub(super) struct TimeColumn {
    pub value: TimeValue,
    /// The number in the name of its column, of a wide table.
    pub heading: Option<u32>,
}

pub(super) enum TimeValue {
    Column(usize),
    Formula(Formula),
}

/// The unit of times whose texts do not say it.
pub(super) enum UnitOf {
    Known(Unit),
    /// A unit in a column of the same row.
    Column(usize),
    /// They are rates, in that unit; a piece of work then takes the inverse.
    Rate(String),
}

/// A time of a row, where it stands and what was in its column's name.
pub(super) struct FoundTime {
    pub seconds: Option<f64>,
    pub place: usize,
    pub heading: Option<u32>,
}

impl Times {
    /// One time in each row.
    pub fn one(value: TimeValue, unit: UnitOf) -> Self {
        Self::several(vec![TimeColumn { value, heading: None }], unit)
    }

    /// Several times in each row.
    pub fn several(columns: Vec<TimeColumn>, unit: UnitOf) -> Self {
        Self { columns, unit, derived: None }
    }

    /// The times of a row.
    pub fn of<'t>(
        &'t self,
        row: &'t [Field<'_>],
        comma: Comma,
    ) -> impl Iterator<Item = FoundTime> + 't {
        let unit = self.unit(row);
        let is_rate = matches!(self.unit, UnitOf::Rate(_));
        self.columns.iter().map(move |timed| {
            let (seconds, place) = match &timed.value {
                TimeValue::Column(place) if is_rate => (of_rate(&row[*place].text, comma), *place),
                TimeValue::Column(place) => (seconds(&row[*place].text, unit, comma), *place),
                TimeValue::Formula(formula) => {
                    let value = formula.value(row, comma);
                    let is_time = value.is_finite() && value >= 0.0;
                    (is_time.then_some(value), formula.places().first().copied().unwrap_or(0))
                }
            };
            FoundTime { seconds, place, heading: timed.heading }
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

    /// What they are, or what is measured instead of them.
    pub fn quantity(&self) -> Quantity {
        match (&self.derived, &self.unit) {
            (Some((measurand, _)), _) => measurand.quantity().clone(),
            (None, UnitOf::Rate(unit)) => Quantity::Rate(unit.clone()),
            (None, UnitOf::Known(_) | UnitOf::Column(_)) => Quantity::Time,
        }
    }

    /// Whether something else is measured instead of them.
    pub fn are_derived(&self) -> bool {
        self.derived.is_some()
    }

    /// What stands for the time of a run of a row that took so long; `None` where the row does not have it.
    pub fn measured(
        &self,
        seconds: Option<f64>,
        (row, point): (&[Field<'_>], (u32, u32)),
        comma: Comma,
    ) -> Option<f64> {
        let Some((measurand, places)) = &self.derived else { return seconds };
        let of = |&place: &usize| amount(&row[place].text, comma).unwrap_or(f64::NAN);
        let captured: Vec<f64> = places.iter().map(of).collect();
        measurand.time(seconds.unwrap_or(f64::NAN), point, &captured)
    }

    /// What a row must have to be a run.
    pub fn expected(&self) -> String {
        match &self.derived {
            Some((measurand, _)) => {
                let unit = measurand.quantity().unit().unwrap_or("it");
                format!("what makes {unit} a number above 0")
            }
            None => "a finite time of 0 s or more".into(),
        }
    }

    /// The column and its unit, where there is one column of numbers in one unit.
    pub fn plain(&self) -> Option<(usize, Unit)> {
        match (&self.columns[..], &self.unit) {
            ([TimeColumn { value: TimeValue::Column(place), .. }], UnitOf::Known(unit))
                if self.derived.is_none() =>
            {
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

/// A number with its unit behind it or not.
fn amount(text: &str, comma: Comma) -> Option<f64> {
    let digits = |it: char| it.is_ascii_digit() || "+-.,eE".contains(it);
    let end = text.find(|it| !digits(it)).unwrap_or(text.len());
    number(text, comma).or_else(|| number(text[..end].trim(), comma))
}

/// The time of a unit of work at a rate.
fn of_rate(text: &str, comma: Comma) -> Option<f64> {
    let rate = amount(text, comma)?;
    let time = 1.0 / rate;
    (rate > 0.0 && time.is_finite()).then_some(time)
}

impl Planner<'_> {
    /// Finds the columns of the time.
    pub(super) fn times(&mut self, wide: Option<Wide>) -> Result<Times> {
        if let Some(wide) = wide {
            return self.wide_times(wide);
        }
        match (&self.claims.rate, &self.claims.objective) {
            (Some(rate), None) => return self.said_rate(rate),
            (None, Some(objective)) => return self.derived(objective),
            (Some(_), Some(objective)) => {
                return Err(Error::out_of_range(
                    "objective",
                    format!("{objective:?} beside a column of rates"),
                    "one of them: an objective names the columns that it is over",
                ));
            }
            (None, None) => {}
        }
        self.usual_times()
    }

    /// Finds the columns of a time that is measured itself.
    pub(super) fn usual_times(&mut self) -> Result<Times> {
        if let Some(said) = self.claims.columns.of("time") {
            return self.said_time(said);
        }
        let place = self.time_column()?;
        self.check_fixed(place)?;
        self.check_sum(place)?;
        let unit = self.unit_of(place)?;
        Ok(Times::one(TimeValue::Column(place), unit))
    }

    /// A column, one with a unit in brackets behind it, or an expression that a user named.
    fn said_time(&mut self, said: &str) -> Result<Times> {
        if let Ok(place) = self.named(said) {
            self.taken[place] = true;
            let unit = self.unit_of(place)?;
            return Ok(Times::one(TimeValue::Column(place), unit));
        }
        if let Some((name, unit)) = with_unit(said).filter(|_| said.ends_with(']'))
            && let Some(unit) = Unit::named(unit)
        {
            let place = self.named(name)?;
            self.take("time", place, &format!("in {}, as said", unit.symbol()));
            return Ok(Times::one(TimeValue::Column(place), UnitOf::Known(unit)));
        }
        let formula = self.formula(said)?;
        self.say("time", formula.text(), "taken as seconds");
        Ok(Times::one(TimeValue::Formula(formula), UnitOf::Known(Unit::Seconds)))
    }

    /// The column of the rates that a user named.
    fn said_rate(&mut self, said: &str) -> Result<Times> {
        let place = self.named(said)?;
        let unit = match measure_of(said) {
            Measure::Rate(unit) => unit,
            Measure::Time(_) => {
                return Err(Error::out_of_range(
                    "rate",
                    format!("{said:?}, which is called as a time is"),
                    "a column of which more is better",
                ));
            }
            Measure::Other(_) => said.to_string(),
        };
        self.take("rate", place, &format!("in {unit}; more is better"));
        Ok(Times::one(TimeValue::Column(place), UnitOf::Rate(unit)))
    }

    /// The column whose name says that it holds the time.
    fn time_column(&self) -> Result<usize> {
        let free: Vec<usize> = self.free().filter(|&it| self.roles[it].is_none()).collect();
        let is_time = |place: &usize| {
            matches!(self.measures[*place], Measure::Time(_))
                && !self.survey.columns[*place].are_instants()
        };
        let found: Vec<usize> = free.iter().copied().filter(is_time).collect();
        let rank = |place: &usize| {
            let name = self.name(*place);
            let is_usual = name == "time" || USUAL_TIMES.contains(&name);
            (!is_usual, statistic_of(name))
        };
        let Some(best) = found.iter().map(rank).min() else { return Err(self.no_time(&free)) };
        let found: Vec<usize> = found.into_iter().filter(|place| rank(place) == best).collect();
        let parts = self.parts(&found, &free);
        match found[..] {
            [place] if parts.is_empty() => Ok(place),
            _ => {
                let found: Vec<usize> = found.into_iter().chain(parts).collect();
                Err(self.any_of("the time", "time", &found, self.wide_answers()))
            }
        }
    }

    /// Other columns with a unit of time, where the only time is called as a part of one is: `compute_s`
    /// beside `setup_s`.
    fn parts(&self, found: &[usize], free: &[usize]) -> Vec<usize> {
        const WHOLE: [&str; 9] =
            ["time", "wall", "elapsed", "total", "duration", "real", "zeit", "dauer", "t"];
        let words = |place: usize| self.name(place).to_lowercase();
        let is_whole = |place: usize| {
            let name = words(place);
            name.split(|it: char| !it.is_alphanumeric()).any(|word| {
                WHOLE.contains(&word)
                    || (word.len() > 4 && WHOLE[..8].iter().any(|it| word.contains(it)))
            })
        };
        let has_unit = |place: &usize| {
            let name = self.name(*place).trim_end_matches([')', ']']);
            let last = name.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or("");
            last.len() < name.len() && Unit::named(last).is_some()
        };
        match found {
            // A mean beside its extremes is of the same time.
            [only] if !is_whole(*only) && has_unit(only) && statistic_of(self.name(*only)) == 0 => {
                let is_other = |place: &usize| {
                    place != only && has_unit(place) && self.survey.columns[*place].are_times()
                };
                free.iter().copied().filter(is_other).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The error where no name says that it is a time.
    fn no_time(&self, free: &[usize]) -> Error {
        let rate = free.iter().find_map(|&place| match &self.measures[place] {
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
            let is_of_processors = self.measures[*place].is_of_processors();
            let is_share = self.name(*place).contains('%');
            look.are_times()
                && (look.whole < look.numbers || look.durations > 0)
                && !is_of_processors
                && !is_share
                && !look.are_instants()
                && !is_measured(self.name(*place))
                && look.range.is_none_or(|(least, _)| least >= 0.0)
        };
        let is_cost = |place: &usize| better(self.name(*place)) == Some(Direction::Least);
        let cost = |&place: &usize| Answer {
            key: "objective",
            value: self.name(place).into(),
            meaning: "if less of it is better".into(),
        };
        let costs =
            free.iter().filter(|place| is_cost(place) && self.survey.columns[**place].are_times());
        let in_unit =
            |name: &str, unit: &str| self.columns_answer(format!("time={name} [{unit}]"), "");
        let answers = |place: usize| {
            let name = self.name(place);
            let mut all = ["s", "ms", "us"].map(|unit| in_unit(name, unit)).to_vec();
            all.push(Answer { meaning: "if more is better".into(), ..rate_answer(name) });
            all
        };
        // A total before its parts.
        let is_total = |place: &usize| {
            let name = self.name(*place).to_lowercase();
            ["total", "overall", "whole", "gesamt", "all"].iter().any(|word| name.contains(word))
        };
        let likely = free.iter().copied().filter(|place| is_number(place) && !is_cost(place));
        let likely: Vec<usize> = likely.collect();
        let first = likely.iter().copied().find(is_total).or(likely.first().copied());
        let others = likely.iter().filter(|&&place| Some(place) != first).take(MOST_OTHERS);
        let others = others.map(|&place| in_unit(self.name(place), "s"));
        let names = self.all_names();
        let found = format!("found the columns {names}, none of which is called as a time is");
        let single = first.into_iter().flat_map(answers).chain(others).chain(costs.map(cost));
        self.ambiguous(found, self.wide_answers().into_iter().chain(single).collect())
    }
}

pub(super) fn rate_answer(name: &str) -> Answer {
    Answer { key: "rate", value: name.into(), meaning: String::new() }
}

/// Number of columns beside the likeliest of which it is said that they may hold the time.
const MOST_OTHERS: usize = 3;

/// The columns that hold the time where mmgp writes them; before all others.
const USUAL_TIMES: [&str; 6] = ["time_s", "time_ms", "time_us", "time_ns", "time_min", "time_h"];
