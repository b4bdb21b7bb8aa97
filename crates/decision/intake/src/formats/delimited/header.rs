//! Which line names the columns, and the names.

use std::collections::BTreeSet;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

use super::lines::{Line, Text};
use crate::sheet::{Field, Heading};
use crate::units::{Comma, number};

/// A row with the place at which the next may begin.
pub(super) struct Record<'a> {
    pub fields: Vec<Field<'a>>,
    /// In the file \[bytes\].
    pub end: usize,
}

/// The header of a table and its first rows.
pub(super) struct Layout<'a> {
    pub names: Vec<Field<'a>>,
    /// Where the first row may begin \[bytes\].
    pub rows_at: usize,
    pub rows: Vec<Vec<Field<'a>>>,
    /// Whether what stands above the header was taken for a title.
    pub has_title: bool,
}

impl<'a> Layout<'a> {
    /// The first record is the header, unless a comment above it has a name for each of its fields.
    pub fn of(
        text: &Text<'a>,
        records: Vec<Record<'a>>,
        split: impl Fn(Line<'a>) -> Vec<Field<'a>>,
    ) -> Self {
        let all = records.len();
        let records = without_preamble(records);
        let has_title = records.len() < all;
        let ends: Vec<usize> = records.iter().map(|record| record.end).collect();
        let mut rows: Vec<Vec<Field<'a>>> = records.into_iter().map(|it| it.fields).collect();
        let are_names = |names: &Vec<Field<'a>>| {
            names.len() > 1
                && rows.iter().all(|row| row.len() == names.len())
                && names.iter().all(|name| !name.text.is_empty() && !is_number(&name.text))
        };
        if rows.first().is_some_and(|row| row.iter().any(|field| is_number(&field.text)))
            && continues(&rows)
            && let Some(names) = text.comments.iter().rev().map(|line| split(*line)).find(are_names)
        {
            return Self { names, rows_at: text.start, rows, has_title };
        }
        let names = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
        Self { names, rows_at: ends.first().copied().unwrap_or(text.start), rows, has_title }
    }

    /// Whether there are several columns, and each row has a field for each.
    pub fn is_even(&self) -> bool {
        self.names.len() > 1 && self.rows.iter().all(|row| row.len() == self.names.len())
    }

    /// Refuses a first row that is one of numbers, where names are missing.
    pub fn check_names(&self, source: &Source) -> Result<()> {
        let is_number = |field: &Field<'_>| is_number(&field.text);
        let Some(first) = self.names.first() else { return Ok(()) };
        let is_row = || {
            let mut rows: Vec<&[Field<'_>]> = vec![&self.names];
            rows.extend(self.rows.first().map(Vec::as_slice));
            is_number(first) && rows.len() > 1 && continues(&rows)
        };
        if self.names.iter().all(is_number) || is_row() {
            return Err(Error::Input {
                at: source.position(first.at),
                found: format!("{:?}, a number", first.text),
                expected: "names of the columns in the first line".into(),
            });
        }
        Ok(())
    }
}

/// The records from the header on: what stands alone in its line above a table of several columns is a title.
fn without_preamble(mut records: Vec<Record<'_>>) -> Vec<Record<'_>> {
    let width = |record: &Record<'_>| record.fields.len();
    let Some(start) = records.iter().position(|record| width(record) > 1) else { return records };
    let is_table =
        records[start..].windows(2).take(2).all(|pair| width(&pair[0]) == width(&pair[1]));
    let is_title = |record: &Record<'_>| record.fields.iter().all(|it| !is_number(&it.text));
    if is_table && records.len() > start + 1 && records[..start].iter().all(is_title) {
        records.drain(..start);
    }
    records
}

/// Whether the first row has numbers wherever the second has, as a header would not.
fn continues<'a, Row: AsRef<[Field<'a>]>>(rows: &[Row]) -> bool {
    let [first, second, ..] = rows else { return true };
    let mut pairs = first.as_ref().iter().zip(second.as_ref());
    pairs.all(|(one, other)| is_number(&one.text) || !is_number(&other.text))
}

/// Whether a text is a number in any language.
pub(super) fn is_number(text: &str) -> bool {
    number(text, Comma::Thousands).or_else(|| number(text, Comma::Decimal)).is_some()
}

/// The headings of names; a column without a name is called by its number.
///
/// # Errors
/// [`Error::Input`] for a name that is there twice.
pub(in crate::formats) fn headings(source: &Source, names: &[Field<'_>]) -> Result<Vec<Heading>> {
    let heading = |(index, name): (usize, &Field<'_>)| match name.text.as_ref() {
        "" => Heading { name: unnamed(index), at: name.at },
        text => Heading { name: text.to_string(), at: name.at },
    };
    let headings: Vec<Heading> = names.iter().enumerate().map(heading).collect();
    let mut known = BTreeSet::new();
    match headings.iter().find(|heading| !known.insert(heading.name.as_str())) {
        None => Ok(headings),
        Some(Heading { name, at }) => Err(Error::Input {
            at: source.position(*at),
            found: format!("a second column {name:?}"),
            expected: "only one".into(),
        }),
    }
}

/// What a column without a name is called, by its place from 0.
pub(super) fn unnamed(index: usize) -> String {
    format!("field {}", index + 1)
}
