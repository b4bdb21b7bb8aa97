//! Job logs and results of GNU parallel. What varies among the jobs stands in their commands.

use mmgp_base::error::Result;

use super::header::headings;
use super::lines::{Line, LineRows, Text, field};
use super::{Format, Table, separated};
use crate::sheet::{Field, Heading};

pub(super) const FORMAT: Format = Format {
    name: "job log of GNU parallel",
    table: |text| {
        let mut names = Vec::new();
        split(text.first(), &mut names);
        let is_log = names.iter().map(|name| name.text.as_ref()).eq(COLUMNS);
        is_log.then(|| log(text, &names))
    },
};

const COLUMNS: [&str; 9] =
    ["Seq", "Host", "Starttime", "JobRuntime", "Send", "Receive", "Exitval", "Signal", "Command"];

fn log<'a>(text: &Text<'a>, names: &[Field<'a>]) -> Result<Table<'a>> {
    let (source, header) = (text.source, text.first());
    let split = |line: Line<'a>, fields: &mut Vec<Field<'a>>| {
        split(line, fields);
        Ok(())
    };
    let rows = LineRows { source, start: header.next, width: COLUMNS.len(), split };
    Ok(Table { columns: timed(headings(source, names)?), rows: Box::new(rows) })
}

/// What `--results` writes into a file of CSV: the columns of a job log, arguments, and what was printed.
pub(super) const RESULTS: Format = Format {
    name: "results of GNU parallel",
    table: |text| {
        if !text.first().text.trim_start_matches('"').starts_with(COLUMNS[0]) {
            return None;
        }
        let Table { columns, rows } = separated::any(text)?.ok()?;
        let names = columns.iter().map(|column| column.name.as_str());
        let are_results = columns.len() > COLUMNS.len() && names.take(COLUMNS.len()).eq(COLUMNS);
        are_results.then(|| Ok(Table { columns: timed(columns), rows }))
    },
};

/// The fields of a line between tabs; the command is the rest.
fn split<'a>(line: Line<'a>, fields: &mut Vec<Field<'a>>) {
    let mut at = line.at;
    for part in line.text.splitn(COLUMNS.len(), '\t') {
        fields.push(field(part, at));
        at += part.len() + 1;
    }
}

/// The table whose name of the time has its unit.
fn timed(mut columns: Vec<Heading>) -> Vec<Heading> {
    for column in columns.iter_mut().filter(|column| column.name == "JobRuntime") {
        column.name += " [s]";
    }
    columns
}
