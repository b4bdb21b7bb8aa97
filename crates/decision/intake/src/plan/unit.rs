//! The unit of a column of times, wherever a table says it, and times that may be others than they look like.

use mmgp_base::error::{Answer, Error, Result, shortened};

use super::Planner;
use super::reading::RowReader;
use super::times::{FoundTime, TimeValue, Times, UnitOf, rate_answer};
use crate::formats::TITLES;
use crate::names::Role;
use crate::sheet::{Field, unended_line};
use crate::units::{Measure, Unit, measure_of};

/// A comment with units stands among these.
const FIRST_LINES: usize = 20;

/// A caption stands among these.
const LAST_LINES: usize = 3;

/// A title of more words is a sentence, which may be about anything.
const LONGEST_TITLE: usize = 8;

impl Planner<'_> {
    /// The unit of a column of times; its name is asked, then a column of units, then the row below the
    /// header.
    pub(super) fn unit_of(&mut self, place: usize) -> Result<UnitOf> {
        let name = self.name(place).to_string();
        let look = &self.survey.columns[place];
        if look.errors > 0 {
            self.say("passed over", format!("what stands behind \u{b1} in {name:?}"), "");
        }
        let says_all = look.durations > 0 && look.durations + look.no_times + 2 >= look.filled;
        let measure = self.measures[place].clone();
        let lower = name.to_lowercase();
        if says_all && lower.contains("h:mm") && !lower.contains("ss") {
            let found = format!(
                "{name:?} has hours and minutes, which are read as minutes and seconds; \
                write h:mm:00"
            );
            return Err(self.ambiguous(found, Vec::new()));
        }
        if says_all && !matches!(measure, Measure::Rate(_)) {
            return Ok(self.in_unit(place, Unit::Seconds, "as the texts say"));
        }
        match measure {
            Measure::Time(Some(unit)) => {
                Ok(self.in_unit(place, unit, &format!("in {}", unit.symbol())))
            }
            Measure::Time(None) => self.unit_beside(place),
            Measure::Rate(unit) => {
                let found =
                    format!("{name:?} is a rate ({unit}), of which more is better, and no time");
                Err(self.ambiguous(found, vec![rate_answer(&name)]))
            }
            _ if measure.is_of_processors() => {
                let found = format!("{name:?} is time of processors, which is no wall time");
                Err(self.ambiguous(found, Vec::new()))
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
        let of_row = self.survey.unit_row.as_ref().and_then(|row| row[place]);
        let found = match (of_row, self.unit_in_comment(place)) {
            (Some(unit), _) => Some((unit, "the row below the names")),
            (None, Some(unit)) => Some((unit, "a comment")),
            (None, None) => self.unit_above()?.map(|unit| (unit, "a line beside the table")),
        };
        let (unit, why) = match found {
            Some((unit, by)) => (unit, format!("in {}, as {by} has it", unit.symbol())),
            None => (Unit::Seconds, "no unit in its name, taken as seconds".into()),
        };
        Ok(self.in_unit(place, unit, &why))
    }

    /// Takes a column as that of the time, in a unit that is known.
    fn in_unit(&mut self, place: usize, unit: Unit, why: &str) -> UnitOf {
        self.take("time", place, why);
        UnitOf::Known(unit)
    }

    /// The unit of a column in a comment that has a field for each column.
    fn unit_in_comment(&self, place: usize) -> Option<Unit> {
        let first = self.sheet.origin.text()?.lines().take(FIRST_LINES);
        let comments = first.filter_map(|line| line.strip_prefix('#').map(|_| line));
        comments.into_iter().find_map(|comment| {
            let fields: Vec<&str> = comment.split(['\t', ',', ';', '|']).collect();
            let field = fields.get(place).filter(|_| fields.len() == self.sheet.columns.len())?;
            Unit::named(field.trim().trim_matches(['[', ']', '(', ')', '#', ' ']))
        })
    }

    /// Refuses titles of blocks that say another unit than the first.
    fn check_titles(&self, unit: Unit) -> Result<()> {
        let titles = self.sheet.column(TITLES).map(|place| &self.survey.columns[place].values);
        let is_other = |title: &&String| matches!(measure_of(title), Measure::Time(Some(other)) if other != unit);
        let Some(other) = titles.into_iter().flatten().find(is_other) else { return Ok(()) };
        let found = format!("a block is in {}, and {other:?} in another unit", unit.symbol());
        Err(self.ambiguous(found, Vec::new()))
    }

    /// The unit that a comment, a title above the table or a caption below it says all times to be in.
    pub(super) fn unit_above(&self) -> Result<Option<Unit>> {
        let start = self.sheet.columns.iter().map(|it| it.at).min().unwrap_or(0);
        let Some(all) = self.sheet.origin.text() else { return Ok(None) };
        let text = all.get(..start).unwrap_or_default();
        let is_mark = |it: char| it.is_whitespace() || "#/*:.;|".contains(it);
        let is_sentence = |line: &&str| {
            let has_letter = |word: &&str| word.contains(char::is_alphabetic);
            line.split_whitespace().filter(has_letter).count() > 2
                && !line.contains(['|', '\t', ';'])
        };
        let below = all.lines().rev().take(LAST_LINES).filter(is_sentence);
        let titles = text.lines().chain(below).map(|line| line.trim_matches(is_mark));
        for title in titles.filter(|title| title.split_whitespace().count() <= LONGEST_TITLE) {
            match measure_of(title) {
                Measure::Time(Some(unit)) => {
                    self.check_titles(unit)?;
                    return Ok(Some(unit));
                }
                Measure::Rate(unit) => {
                    let found =
                        format!("{title:?} beside the table is a rate ({unit}), and no time");
                    return Err(self.ambiguous(found, Vec::new()));
                }
                Measure::Time(None) | Measure::Other(_) => {}
            }
        }
        Ok(None)
    }
}

/// Number of times with equally many decimals that are written in a fixed format,
const SEVERAL: u64 = 4;

/// where they have so many decimals.
const FIXED_DECIMALS: usize = 2;

/// Times that differ by less than this factor
const FIXED_TIME: f64 = 1.02;

/// beside rates that differ by more than this are times of different work.
const VARYING_RATE: f64 = 1.1;

impl Planner<'_> {
    /// The names of all columns, for a message.
    pub(super) fn all_names(&self) -> String {
        let names = self.sheet.columns.iter().map(|heading| shortened(&heading.name));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Refuses times such as `1.234`, where these may be thousands.
    pub(super) fn check_marks(&self, times: &Times, is_filtered: bool) -> Result<()> {
        let Some(TimeValue::Column(place)) = times.columns.first().map(|timed| &timed.value) else {
            return Ok(());
        };
        let look = &self.survey.columns[*place];
        let unit = times.plain().map(|(_, unit)| unit);
        let comma = self.survey.unclear_comma.as_ref().filter(|_| !is_filtered);
        let is_of_semicolons = self.sheet.format.ends_with("with ;");
        let is_small_unit = unit.is_some_and(|unit| unit.seconds(1.0) < 1.0);
        let (text, in_numbers) = match (comma, &look.unclear_point) {
            (Some(text), _) => (text, 1e-3),
            (None, Some(text)) if look.has_small => {
                let found = format!(
                    "{text:?} in {:?} may be thousands or decimals, as others have no point; write \
                     numbers without a sign between thousands",
                    self.name(*place)
                );
                return Err(self.ambiguous(found, Vec::new()));
            }
            // Where fields stand between semicolons, commas stand before decimals elsewhere.
            (None, Some(text)) if is_of_semicolons && is_small_unit => (text, 1.0),
            _ => return Ok(()),
        };
        // An expression takes points as decimals, and commas as thousands.
        let answer = |factor: f64, meaning: &str| {
            let (name, factor) = (self.name(*place), unit?.seconds(1.0) * factor * in_numbers);
            let text = match factor < 1.0 {
                true => format!("time={name}/{}", (1.0 / factor).round()),
                false => format!("time={name}*{factor}"),
            };
            Some(self.columns_answer(text, meaning))
        };
        let answers = [answer(1.0, "it stands before decimals"), answer(1e3, "between thousands")];
        let found = format!("{text:?} may be thousands or decimals; write numbers with a point");
        Err(self.ambiguous(found, answers.into_iter().flatten().collect()))
    }

    /// Refuses times that are all the same beside a rate that is not: a program that runs for as long as it
    /// is told does more in that time.
    pub(super) fn check_fixed(&self, time: usize) -> Result<()> {
        let spread = |place: usize| {
            let look = &self.survey.columns[place];
            let (least, most) = look.range.filter(|(least, _)| *least > 0.0)?;
            (look.numbers >= SEVERAL).then_some(most / least)
        };
        let is_varying_rate = |place: &usize| {
            matches!(self.measures[*place], Measure::Rate(_))
                && spread(*place).is_some_and(|spread| spread > VARYING_RATE)
        };
        let rate = (0..self.taken.len()).find(is_varying_rate);
        let Some(rate) = rate.filter(|_| spread(time).is_some_and(|it| it < FIXED_TIME)) else {
            return Ok(());
        };
        let (time, rate) = (self.name(time), self.name(rate));
        let found =
            format!("{time:?} is the same in all rows, and {rate:?} varies: the work may differ");
        let answers = vec![
            Answer { meaning: "of which more is better".into(), ..rate_answer(rate) },
            self.columns_answer(format!("time={time}"), "if the work is the same"),
        ];
        Err(self.ambiguous(found, answers))
    }

    /// Refuses seconds beside minutes or hours in a column of their own: the time is their sum.
    pub(super) fn check_sum(&self, time: usize) -> Result<()> {
        let unit = |place: usize| Unit::named(self.name(place));
        let Some(own) = unit(time).map(|unit| unit.seconds(1.0)) else { return Ok(()) };
        let has =
            |name: &str| self.sheet.columns.iter().any(|it| it.name.eq_ignore_ascii_case(name));
        // A least time stands beside a largest.
        let mut longer: Vec<(f64, usize)> = (0..self.taken.len())
            .filter(|&place| self.survey.columns[place].are_times())
            .filter_map(|place| Some((unit(place)?.seconds(1.0), place)))
            .filter(|(seconds, _)| *seconds > own && !has("max"))
            .collect();
        if longer.is_empty() {
            return Ok(());
        }
        longer.push((own, time));
        longer.sort_by(|one, other| other.0.total_cmp(&one.0));
        let part = |(seconds, place): &(f64, usize)| match *seconds {
            1.0 => self.name(*place).to_string(),
            _ => format!("{}*{seconds}", self.name(*place)),
        };
        let sum = longer.iter().map(part).collect::<Vec<_>>().join("+");
        let found = format!("{:?} may be a part of a time of several columns", self.name(time));
        let answers = vec![
            self.columns_answer(format!("time={sum}"), "their sum"),
            self.columns_answer(format!("time={}", self.name(time)), "that alone"),
        ];
        Err(self.ambiguous(found, answers))
    }

    /// The column of the times, where all have as many decimals, and how many.
    pub(super) fn decimals(&self, times: &Times) -> Option<(usize, usize)> {
        let (place, _) = times.plain()?;
        let look = &self.survey.columns[place];
        let (least, most) = look.decimals?;
        (least == most && least >= FIXED_DECIMALS && look.numbers > SEVERAL)
            .then_some((place, least))
    }
}

impl RowReader<'_> {
    /// Refuses a time with fewer decimals than all others at the end of a file that does not end its last
    /// line.
    pub(super) fn check_end(&self, row: &[Field<'_>], found: &FoundTime) -> Result<()> {
        let Some(text) = self.sheet.origin.text() else { return Ok(()) };
        let Some((place, decimals)) = self.plan.decimals.filter(|(it, _)| *it == found.place)
        else {
            return Ok(());
        };
        let field = &row[place];
        let is_last = unended_line(text).is_some_and(|start| start <= field.at)
            && text[field.at..].trim_end() == field.text;
        let has = field.text.rsplit_once(['.', ',']).map_or(0, |(_, behind)| behind.len());
        if !is_last || has >= decimals {
            return Ok(());
        }
        let name = &self.sheet.columns[place].name;
        let found = format!(
            "{:?} at the end of the file may be cut off: other times have {decimals} decimals, and its line \
             is not ended",
            field.text
        );
        let value = format!("{name} != {}", field.text.trim_end_matches(['.', ',']));
        let answers = vec![Answer { key: "filter", value, meaning: "without it".into() }];
        Err(Error::ambiguous(self.sheet.origin.name(), found, answers))
    }
}
