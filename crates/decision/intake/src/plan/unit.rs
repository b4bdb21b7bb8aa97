//! The unit of a column of times, wherever a table says it.

use mmgp_base::error::Result;

use super::Planner;
use super::times::{UnitOf, rate_answer};
use crate::formats::TITLES;
use crate::names::Role;
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
        if let Some(unit) = self.survey.unit_row.as_ref().and_then(|row| row[place]) {
            self.take(
                "time",
                place,
                &format!("in {}, as the row below the names has it", unit.symbol()),
            );
            return Ok(UnitOf::Known(unit));
        }
        if let Some(unit) = self.unit_in_comment(place) {
            self.take("time", place, &format!("in {}, as a comment has it", unit.symbol()));
            return Ok(UnitOf::Known(unit));
        }
        if let Some(unit) = self.unit_above()? {
            let why = format!("in {}, as a line beside the table has it", unit.symbol());
            self.take("time", place, &why);
            return Ok(UnitOf::Known(unit));
        }
        self.take("time", place, "no unit in its name, taken as seconds");
        Ok(UnitOf::Known(Unit::Seconds))
    }

    /// The unit of a column in a comment that has a field for each column.
    fn unit_in_comment(&self, place: usize) -> Option<Unit> {
        let first = self.sheet.source.text.lines().take(FIRST_LINES);
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
        let text = self.sheet.source.text.get(..start).unwrap_or_default();
        let is_mark = |it: char| it.is_whitespace() || "#/*:.;|".contains(it);
        let is_sentence = |line: &&str| {
            let has_letter = |word: &&str| word.contains(char::is_alphabetic);
            line.split_whitespace().filter(has_letter).count() > 2
                && !line.contains(['|', '\t', ';'])
        };
        let below = self.sheet.source.text.lines().rev().take(LAST_LINES).filter(is_sentence);
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
