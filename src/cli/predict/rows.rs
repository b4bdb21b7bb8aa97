//! Answers that are rows, in every format.

use serde::Serialize;

use crate::cli::output::{Format, aligned, json};
use crate::table::csv;

/// The names of columns, and the fields of a row.
type Columns<'a, R> = (&'a [&'a str], fn(&R) -> Vec<String>);

/// An answer of rows, for people and for programs.
pub struct Rows<'a, R, J> {
    /// The rows to print.
    pub rows: &'a [R],
    /// For people.
    pub people: Columns<'a, R>,
    /// In CSV.
    pub programs: Columns<'a, R>,
    /// What stands above the rows for people.
    pub preface: String,
    /// The whole answer as JSON.
    pub json: J,
}

impl<R, J: Serialize> Rows<'_, R, J> {
    /// The text in that format.
    pub fn text(&self, format: Format) -> String {
        match format {
            Format::Table => {
                let rows: Vec<Vec<String>> = self.rows.iter().map(self.people.1).collect();
                self.preface.clone() + &aligned(self.people.0, &rows)
            }
            Format::Csv => {
                csv::write_fields(self.programs.0, self.rows.iter().map(self.programs.1))
            }
            Format::Json => json(&self.json),
        }
    }
}

/// A number that may not be there, as a field of CSV.
pub fn field(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
