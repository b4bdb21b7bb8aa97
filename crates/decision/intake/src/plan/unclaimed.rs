//! What varies among the runs of one (m, p), and was not claimed.

use mmgp_base::error::{Answer, Error, Result};

use super::numbers::Number;
use super::reading::Rows;
use crate::values::sorted;
use crate::watch::Watched;

/// So many values of a column are named.
const SHOWN: usize = 6;

impl Rows<'_> {
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
    fn varying(&self) -> Option<&Watched> {
        let rows = self.reading.runs;
        let varying = || self.watch.varying(rows).filter(|column| !column.is_measured(rows));
        let is_command = |column: &&Watched| {
            self.sheet.columns[column.place].name.to_lowercase().starts_with("command")
        };
        let of_counts = || varying().find(|column| self.missing(column).is_some());
        let other = || varying().find(|column| !is_command(column));
        of_counts().or_else(other).or_else(|| varying().next())
    }

    /// Which of m and p a column of counts may be, where the table has no other for it.
    fn missing(&self, column: &Watched) -> Option<(&'static str, &'static str)> {
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
        Error::Ambiguous { file: self.sheet.source.name.clone(), found, answers }
    }
}
