//! Rows read by a plan.

use std::collections::BTreeMap;

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Place, Position, Result, Warning};
use mmgp_base::table::records::Run;

use super::Plan;
use super::numbers::Number;
use super::plain::{Counters, PlainRows};
use super::times::FoundTime;
use super::watch::{Numbers, Watch};
use crate::is_in;
use crate::outcomes::{Entry, Outcome, RunReport, how_ended, is_failure, is_no_time, is_sign};
use crate::sheet::{CUT_OFF, Field, Sheet};
use crate::units::number;

/// What came of reading.
#[derive(Debug, Default)]
pub struct Reading {
    /// Runs that were read; a mean is one.
    pub runs: u64,
    /// Rows that are none, by why.
    pub left_out: BTreeMap<&'static str, Vec<Place>>,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

/// Words for a row that sums up the others, in small letters.
const SUMS: &str =
    "total sum all mean average avg median summe gesamt \u{3a3} min max overall mittelwert";

impl Plan {
    /// Calls `entry` with each run, in the order of the rows. It answers whether the (m, p, repetition) is
    /// new.
    ///
    /// # Errors
    /// [`Error::Input`] at what cannot be read, a second row of the same (m, p, repetition), and where no
    /// run is left; [`Error::Ambiguous`] for a column that varies among the runs of one (m, p).
    pub fn read(
        &self,
        sheet: &Sheet<'_>,
        entry: &mut impl FnMut(Entry) -> bool,
    ) -> Result<Reading> {
        let mut rows = RowReader::new(self, sheet, None);
        match PlainRows::of(self, sheet) {
            Some(plain) if let Some(lines) = sheet.rows.lines() => {
                plain.read(lines, &mut rows, entry)?;
            }
            Some(plain) if let Some(frame) = sheet.rows.frame() => {
                plain.read_frame(frame, &mut rows, entry)?;
            }
            _ => {
                let mut counters = Counters::default();
                let next = &mut |point| counters.next(point);
                sheet.rows.visit(&mut |row| rows.read(row, entry, next))?;
            }
        }
        rows.finish()
    }

    /// Calls `told` with each run, those that failed as well.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_told(&self, sheet: &Sheet<'_>, told: &mut dyn FnMut(RunReport)) -> Result<Reading> {
        let mut rows = RowReader::new(self, sheet, Some(told));
        let mut next = |_| 0;
        sheet.rows.visit(&mut |row| rows.read(row, &mut |_| true, &mut next))?;
        rows.finish()
    }
}

/// A reader of rows.
pub(super) struct RowReader<'a> {
    pub(super) plan: &'a Plan,
    pub(super) sheet: &'a Sheet<'a>,
    pub(super) reading: Reading,
    failures: Failures,
    pub(super) watch: Watch,
    /// The numbers of what looks as if it numbered the repetitions, of each configuration.
    pub(super) numbered: BTreeMap<(u32, u32), Numbers>,
    /// The first row of a (m, p, repetition) that was there before.
    repeated: Option<Error>,
    told: Option<Listener<'a>>,
    /// Whether lines that are no rows are remarks.
    has_remarks: bool,
}

/// Who is told of all runs, and the column of their ids.
struct Listener<'a> {
    told: &'a mut dyn FnMut(RunReport),
    id: Option<usize>,
}

/// Runs that failed.
#[derive(Default)]
struct Failures {
    count: u64,
    first: Option<(Position, (u32, u32), String)>,
}

impl<'a> RowReader<'a> {
    fn new(
        plan: &'a Plan,
        sheet: &'a Sheet<'a>,
        told: Option<&'a mut dyn FnMut(RunReport)>,
    ) -> Self {
        RowReader {
            plan,
            sheet,
            reading: Reading::default(),
            failures: Failures::default(),
            watch: Watch::new(&plan.watched, &plan.circumstances),
            numbered: BTreeMap::new(),
            repeated: None,
            has_remarks: false,
            told: told.map(|told| Listener { told, id: sheet.column("id") }),
        }
    }

    /// Reads a row; `next` gives the number of a further run where no column does.
    pub fn read(
        &mut self,
        row: &[Field<'_>],
        entry: &mut dyn FnMut(Entry) -> bool,
        next: &mut dyn FnMut((u32, u32)) -> u32,
    ) -> Result<()> {
        let plan = self.plan;
        if row.last().is_some_and(|field| field.text == CUT_OFF) {
            self.leave_out("cut", row);
            return Ok(());
        }
        let is_chosen = plan.only.as_ref().is_none_or(|(place, text)| row[*place].text == *text)
            && plan.filter.as_ref().is_none_or(|filter| filter.holds(row));
        if !is_chosen {
            return Ok(());
        }
        for found in plan.times.of(row, plan.comma) {
            let Some(point) = self.point(row, found.heading)? else { return Ok(()) };
            if let Some((place, why)) = self.failed(row, &found) {
                let number = match self.told {
                    Some(_) => self.repetition(point, row)?,
                    None => None,
                };
                // How long it took says nothing of what else is measured.
                let outcome = || match plan.times.are_derived() {
                    true => Outcome::Failed { why: why.clone(), exit: None },
                    false => how_ended(&row[place].text, found.seconds, &why, plan.comma),
                };
                self.tell(row, point, number, outcome);
                self.failures.add(point, || (self.sheet.origin.position(row[place].at), why));
                continue;
            }
            self.check_end(row, &found)?;
            let Some(time_s) = plan.times.measured(found.seconds, (row, point), plan.comma) else {
                let expected = plan.times.expected();
                return Err(self.wrong(&row[found.place], found.place, &expected));
            };
            self.watch.add(point, row, time_s);
            let number = self.repetition(point, row)?;
            self.tell(row, point, number, || Outcome::Time(time_s));
            let repetition = number.unwrap_or_else(|| next(point));
            let mean_of = self.mean_of(row)?;
            let run = Run { m: point.0, p: point.1, repetition, time_s };
            self.count();
            if !entry(Entry { run, mean_of }) {
                self.repeated(row[plan.m.place()].at, point, repetition);
            }
        }
        Ok(())
    }

    /// Tells of a run whoever wants to know.
    fn tell(
        &mut self,
        row: &[Field<'_>],
        (m, p): (u32, u32),
        repetition: Option<u32>,
        outcome: impl FnOnce() -> Outcome,
    ) {
        if let Some(Listener { told, id }) = &mut self.told {
            let id = id.and_then(|place| row[place].text.parse().ok());
            let quantity = self.plan.quantity();
            let mapping = Some(Mapping::of(m, p));
            told(RunReport { id, mapping, repetition, outcome: outcome(), quantity });
        }
    }

    /// Notes that a row is no run, and why.
    fn leave_out(&mut self, why: &'static str, row: &[Field<'_>]) {
        let place = self.sheet.origin.position(row[0].at).place;
        self.reading.left_out.entry(why).or_default().push(place);
    }

    /// Counts a run.
    pub fn count(&mut self) {
        self.reading.runs += 1;
    }

    /// A (m, p, repetition) is there for the second time.
    pub fn repeated(&mut self, at: usize, (m, p): (u32, u32), repetition: u32) {
        if self.repeated.is_none() {
            let found = format!("a second row for m = {m}, p = {p}, repetition = {repetition}");
            self.repeated = Some(self.sheet.error(at, found, "one row for each"));
        }
    }

    /// Whether a line is a row, which has as many fields as the header; or else a remark, as the format has
    /// it.
    pub fn is_row(&mut self, row: &[Field<'_>]) -> Result<bool> {
        if row.len() == self.sheet.columns.len() {
            return Ok(true);
        }
        if !self.has_remarks {
            self.sheet.rows.visit(&mut |_| Ok(()))?;
            self.has_remarks = true;
        }
        Ok(false)
    }

    /// The configuration of a row; `None` where the row is none of a run.
    fn point(&mut self, row: &[Field<'_>], heading: Option<u32>) -> Result<Option<(u32, u32)>> {
        let plan = self.plan;
        if plan.statistics.iter().any(|&place| is_sum(&row[place].text)) {
            self.leave_out("sums", row);
            return Ok(None);
        }
        for number in [&plan.m, &plan.p] {
            if number.of(row, heading, plan.comma).is_some() {
                continue;
            }
            let mut names = self.sheet.columns.iter().zip(row);
            let why = if names.all(|(heading, field)| heading.name == field.text) {
                "headers"
            } else if row.iter().any(|field| is_sum(&field.text)) {
                "sums"
            } else if self.reading.runs == 0 && row.iter().all(|field| is_of_units(&field.text)) {
                "units"
            } else if row.iter().all(|field| field.text.is_empty()) {
                "empty"
            } else {
                let expected = format!("a whole number from 1 to {}", u32::MAX);
                return Err(self.wrong(&row[number.place()], number.place(), &expected));
            };
            self.leave_out(why, row);
            return Ok(None);
        }
        let count = |number: &Number| number.of(row, heading, plan.comma).unwrap_or(1);
        Ok(Some((count(&plan.m), count(&plan.p))))
    }

    /// The column that says that the run of a row failed, and what it says.
    fn failed(&self, row: &[Field<'_>], found: &FoundTime) -> Option<(usize, String)> {
        let is_of = |(place, role): &&(usize, _)| is_failure(*role, &row[*place].text);
        let by_column = self.plan.failures.iter().find(is_of).map(|(place, _)| *place);
        let is_none = found.seconds.is_none() && is_no_time(&row[found.place].text);
        let place = by_column.or(is_none.then_some(found.place));
        let by_remark =
            || self.plan.remarks.iter().copied().find(|&place| is_sign(&row[place].text));
        let place = place.or_else(by_remark)?;
        let name = &self.sheet.columns[place].name;
        Some((place, format!("{:?} in column {name:?}", row[place].text)))
    }

    /// The number in the column of the repetition, where there is one.
    fn repetition(&mut self, point: (u32, u32), row: &[Field<'_>]) -> Result<Option<u32>> {
        if let Some(place) = self.plan.repetition {
            let text = &row[place].text;
            let number = text.parse::<u32>().ok().filter(|number| *number >= 1);
            let expected = || format!("a whole number from 1 to {}", u32::MAX);
            return match number {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(&row[place], place, &expected())),
            };
        }
        if let Some(number) = self.plan.numbering.and_then(|place| row[place].text.parse().ok()) {
            self.numbered.entry(point).or_default().add(number);
        }
        Ok(None)
    }

    fn mean_of(&self, row: &[Field<'_>]) -> Result<Option<(u32, f64)>> {
        let Some((deviation, count)) = self.plan.spread else { return Ok(None) };
        let comma = self.plan.comma;
        let runs = number(&row[count].text, comma).filter(|it| *it >= 1.0 && it.fract() == 0.0);
        let Some(runs) = runs else {
            return Err(self.wrong(&row[count], count, "how many runs the mean is of"));
        };
        if runs == 1.0 {
            return Ok(None);
        }
        let spread = self.plan.times.deviation(&row[deviation].text, row, comma);
        let spread =
            spread.ok_or_else(|| self.wrong(&row[deviation], deviation, "a standard deviation"))?;
        Ok(Some((runs as u32, spread)))
    }

    fn wrong(&self, field: &Field<'_>, place: usize, expected: &str) -> Error {
        let name = &self.sheet.columns[place].name;
        self.sheet.error(field.at, format!("{:?} in column {name:?}", field.text), expected)
    }

    fn finish(mut self) -> Result<Reading> {
        self.check_varying()?;
        if let Some(error) = self.repeated {
            return Err(error);
        }
        let file = self.sheet.origin.name();
        let Failures { count, first } = self.failures;
        if self.reading.runs == 0 && (self.told.is_none() || count == 0) {
            return Err(match first {
                Some((at, _, why)) => Error::Input {
                    at,
                    found: format!("{why}, and no run that did not fail"),
                    expected: "at least one time".into(),
                },
                None => self.sheet.no_rows(),
            });
        }
        if let Some((at, (m, p), why)) = first {
            let (file, place) = (file.into(), at.place);
            self.reading.warnings.push(Warning::FailedRuns { file, count, place, m, p, why });
        }
        for (why, places) in &self.reading.left_out {
            let what = match *why {
                "sums" => "sums or means of others",
                "units" => "units",
                "cut" => "cut off by the end of the file",
                "headers" => "names of the columns again",
                _ => "empty",
            };
            let note = format!("{file}: left out as {what}: {}", listed(places));
            self.reading.warnings.push(Warning::Note(note));
        }
        Ok(self.reading)
    }
}

impl Failures {
    fn add(&mut self, point: (u32, u32), what: impl FnOnce() -> (Position, String)) {
        self.count += 1;
        self.first.get_or_insert_with(|| {
            let (at, why) = what();
            (at, point, why)
        });
    }
}

/// Lines or rows: `line 3, 5`, `row 2, 4 (from 0)`.
fn listed(places: &[Place]) -> String {
    let number = |place: &Place| match place {
        Place::Text { line: number, .. } | Place::Row(number) => Some(number.to_string()),
        Place::Names => None,
    };
    let numbers = places.iter().filter_map(number).collect::<Vec<_>>().join(", ");
    match places.first() {
        Some(Place::Row(_)) => format!("row {numbers} (from 0)"),
        _ => format!("line {numbers}"),
    }
}

fn is_sum(text: &str) -> bool {
    is_in(SUMS, &text.trim_end_matches(':').to_lowercase())
}

/// Whether a text may stand in a row of units.
fn is_of_units(text: &str) -> bool {
    let inner = text.trim_matches(['[', ']', '(', ')']);
    text.chars().all(|it| !it.is_ascii_digit()) && (inner.len() <= 12)
}
