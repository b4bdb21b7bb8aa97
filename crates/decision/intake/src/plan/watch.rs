//! What varies among the runs of one (m, p) and was not claimed.

use std::collections::{BTreeMap, BTreeSet};

use mmgp_base::error::{Answer, Error, Result};

use super::numbers::Number;
use super::reading::RowReader;
use crate::sheet::Field;
use crate::sorted;

/// Different values that are remembered of a column.
const REMEMBERED: usize = 1000;

/// Times of one configuration farther apart than this are hardly repetitions.
const FAR: f64 = 1.3;

/// A circumstance with more values tells nothing apart.
const MOST_OF_CIRCUMSTANCE: usize = 20;

/// Columns that nobody has claimed, while rows go by.
pub(super) struct Watch {
    columns: Vec<WatchedColumn>,
    /// The values of the first run of each configuration, and its times.
    first: BTreeMap<(u32, u32), First>,
}

/// What is known of the runs of a configuration.
struct First {
    values: Vec<String>,
    least: f64,
    most: f64,
    runs: u64,
}

/// A column that nobody has claimed.
pub(super) struct WatchedColumn {
    pub place: usize,
    /// Whether it is a circumstance by its name, which matters where times are far apart.
    is_circumstance: bool,
    /// The first configuration among whose runs it varies.
    pub varies_at: Option<(u32, u32)>,
    pub values: BTreeSet<String>,
}

impl Watch {
    pub fn new(places: &[usize], circumstances: &[usize]) -> Self {
        let watched = |is_circumstance| {
            move |&place: &usize| WatchedColumn {
                place,
                is_circumstance,
                varies_at: None,
                values: BTreeSet::new(),
            }
        };
        let of_names = circumstances.iter().map(watched(true));
        Self {
            columns: places.iter().map(watched(false)).chain(of_names).collect(),
            first: BTreeMap::new(),
        }
    }

    /// Looks at a run that took so long.
    pub fn add(&mut self, point: (u32, u32), row: &[Field<'_>], time_s: f64) {
        if self.columns.is_empty() {
            return;
        }
        let text = |column: &WatchedColumn| row[column.place].text.to_string();
        let first = self.first.entry(point).or_insert_with(|| First {
            values: self.columns.iter().map(text).collect(),
            least: time_s,
            most: time_s,
            runs: 0,
        });
        first.runs += 1;
        (first.least, first.most) = (first.least.min(time_s), first.most.max(time_s));
        for (column, first) in self.columns.iter_mut().zip(&first.values) {
            let text = row[column.place].text.as_ref();
            if text != first && column.varies_at.is_none() {
                column.varies_at = Some(point);
            }
            if column.values.len() < REMEMBERED && !column.values.contains(text) {
                column.values.insert(text.to_string());
            }
        }
    }

    /// Whether the times of most configurations with several runs are far apart.
    fn is_far_apart(&self) -> bool {
        let several = || self.first.values().filter(|first| first.runs > 1);
        let far = several().filter(|first| first.most > FAR * first.least).count();
        far > 0 && 2 * far >= several().count()
    }

    /// All of them.
    pub fn columns(&self) -> impl Iterator<Item = &WatchedColumn> {
        self.columns.iter()
    }

    /// The columns that vary; circumstances, where the times are so far apart that one of them may be why.
    pub fn varying(&self, rows: u64) -> impl Iterator<Item = &WatchedColumn> {
        let is_far_apart = self.is_far_apart();
        self.columns.iter().filter(move |column| {
            let count = column.values.len();
            let is_meant = !column.is_circumstance
                || (is_far_apart && count <= MOST_OF_CIRCUMSTANCE && 2 * count as u64 <= rows);
            column.varies_at.is_some() && is_meant
        })
    }
}

impl WatchedColumn {
    /// Whether it is something that was measured: numbers with decimals, most of them different.
    pub fn is_measured(&self, rows: u64) -> bool {
        let has_decimals = |text: &&String| {
            text.parse::<f64>().is_ok_and(|number| number.fract() != 0.0 || text.contains('.'))
        };
        let count = self.values.len();
        let decimal = self.values.iter().filter(has_decimals).count();
        2 * decimal > count && (count == REMEMBERED || 2 * count as u64 > rows)
    }
}

/// Numbers that go up in steps of 1 if they number something.
#[derive(Default)]
pub(super) struct Numbers {
    count: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Numbers {
    pub fn add(&mut self, number: u64) {
        self.count += 1;
        self.sum += u128::from(number);
        self.least = if self.count == 1 { number } else { self.least.min(number) };
        self.most = self.most.max(number);
    }

    /// Whether they are some numbers and all between them, each once.
    pub fn is_numbering(&self) -> bool {
        let [least, most, count] = [self.least, self.most, self.count].map(u128::from);
        most - least + 1 == count && 2 * self.sum == (least + most) * count
    }
}

/// Number of values of a column that are named.
const SHOWN: usize = 6;

impl RowReader<'_> {
    /// Refuses what varies among the runs of one (m, p) and was not claimed.
    pub(super) fn check_varying(&self) -> Result<()> {
        if let Some((point, _)) = self.numbered.iter().find(|(_, it)| !it.is_numbering()) {
            let place = self.plan.numbering.expect("invariant: it was read");
            let name = &self.sheet.columns[place].name;
            let found = format!(
                "{name:?} does not number the runs of (m, p) = ({}, {}), and varies among them",
                point.0, point.1
            );
            return Err(self.unclaimed(found, name, &[]));
        }
        let Some(column) = self.varying() else { return Ok(()) };
        let name = &self.sheet.columns[column.place].name;
        let (m, p) = column.varies_at.expect("invariant: it varies");
        let values = sorted(&column.values);
        let shown = if values.len() > SHOWN { "..." } else { "" };
        let some: Vec<&str> = values.iter().take(SHOWN).map(String::as_str).collect();
        let found = format!(
            "the runs of (m, p) = ({m}, {p}) differ in {name:?}, which has {} values ({}{shown})",
            values.len(),
            some.join(", ")
        );
        Err(self.unclaimed(found, name, &some))
    }

    /// A column that varies: first one that may be what the table lacks, then one that is no command, of
    /// which the others are parts.
    fn varying(&self) -> Option<&WatchedColumn> {
        let rows = self.reading.runs;
        let varying = || self.watch.varying(rows).filter(|column| !column.is_measured(rows));
        let is_command = |column: &&WatchedColumn| {
            self.sheet.columns[column.place].name.to_lowercase().starts_with("command")
        };
        let of_counts = || varying().find(|column| self.missing(column).is_some());
        let other = || varying().find(|column| !is_command(column));
        of_counts().or_else(other).or_else(|| varying().next())
    }

    /// Which of m and p a column of counts may be, where the table has no other for it.
    fn missing(&self, column: &WatchedColumn) -> Option<(&'static str, &'static str)> {
        let is_count = |text: &String| text.parse::<u32>().is_ok_and(|count| count > 0);
        if column.values.is_empty() || !column.values.iter().all(is_count) {
            return None;
        }
        match (&self.plan.m, &self.plan.p) {
            (_, Number::One) => Some(("p", "it is the threads or APUs of each process")),
            (Number::One, _) => Some(("m", "it is the processes")),
            _ => None,
        }
    }

    fn unclaimed(&self, found: String, name: &str, values: &[&str]) -> Error {
        let answer =
            |key, value: String, meaning: &str| Answer { key, value, meaning: meaning.into() };
        let equals = |value: &&str| match value.parse::<f64>() {
            Ok(_) => format!("{name} == {value}"),
            Err(_) => format!("{name} == \"{value}\""),
        };
        let column = self.watch.columns().find(|it| self.sheet.columns[it.place].name == name);
        let missing = column.and_then(|column| self.missing(column));
        let mut answers: Vec<Answer> = missing
            .map(|(key, meaning)| {
                answer("columns", self.plan.said.with(&format!("{key}={name}")), meaning)
            })
            .into_iter()
            .collect();
        answers.push(answer("by", name.into(), "an answer for each"));
        answers.extend(values.iter().take(2).map(|value| answer("filter", equals(value), "")));
        answers.push(answer("ignore", name.into(), "they are repetitions"));
        Error::ambiguous(self.sheet.origin.name(), found, answers)
    }
}
