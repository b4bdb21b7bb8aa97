//! What `hyperfine --export-csv` writes: a row for each command, times in seconds, which it does not say.

use super::separated;
use super::{Format, Table};

pub(super) const FORMAT: Format = Format {
    name: "CSV of hyperfine",
    table: |text| {
        if !text.first().text.starts_with(COLUMNS) {
            return None;
        }
        let table = separated::any(text)?;
        Some(table.map(|Table { mut columns, rows }| {
            for column in &mut columns[1..COLUMNS.split(',').count()] {
                column.name += " [s]";
            }
            Table { columns, rows }
        }))
    },
};

/// Parameters and their values stand behind these.
const COLUMNS: &str = "command,mean,stddev,median,user,system,min,max";
