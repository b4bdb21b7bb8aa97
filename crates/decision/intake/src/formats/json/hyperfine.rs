//! What `hyperfine --export-json` writes: a row for each time of each result.

use std::collections::BTreeSet;

use mmgp_base::error::Result;

use super::Format;
use super::node::Object;
use super::table::{Row, Table};

pub(super) const FORMAT: Format = Format {
    name: "JSON of hyperfine",
    sign: "\"results\" with \"times\" of hyperfine",
    recognises: |root| match root.first_of("results") {
        Some(first) => {
            first.any("times").is_some()
                || (first.any("command").is_some() && first.any("mean").is_some())
        }
        None => root.get("results").is_some_and(|results| {
            results.is_array() && results.array().is_ok_and(|items| items.is_empty())
        }),
    },
    table,
};

/// A row has the parameters by their names, `command`, `time [s]`, and `exit_code`: empty where there is
/// none, `null` where the run was ended by a signal.
fn table<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let results = root.required("results")?;
    let mut table = Table::default();
    let mut known = BTreeSet::new();
    for result in results.array()? {
        let result = result.object()?;
        let mut row = Row::at(result.node.at());
        if let Some(parameters) = result.get("parameters") {
            for (name, value) in parameters.object()?.entries() {
                row.add(name, value.field()?);
            }
        }
        if let Some(command) = result.get("command") {
            row.add("command", command.field()?);
        }
        if !known.insert(row.texts()) {
            let place = result.get("parameters").unwrap_or(result.node);
            return Err(
                place.error("a second result for the same parameters", "one result for each")
            );
        }
        times(&result, &row, &mut table)?;
    }
    if table.is_empty() {
        return Err(results.error("no results", "at least one"));
    }
    Ok(table)
}

/// Adds a row for each time of a result to what the rows have in common.
fn times<'a>(result: &Object<'a>, common: &Row<'a>, table: &mut Table<'a>) -> Result<()> {
    let codes = result.get("exit_codes").map(|codes| codes.array()).transpose()?;
    let times = result.required("times")?;
    let values = times.array()?;
    if values.is_empty() {
        return Err(times.error("no times", "at least one"));
    }
    for (index, value) in values.iter().enumerate() {
        let mut row = common.clone();
        row.add("time [s]", value.field()?);
        if let Some(code) = codes.as_ref().and_then(|codes| codes.get(index)) {
            let mut field = code.field()?;
            if code.is_null() {
                field.text = code.text.into();
            }
            row.add("exit_code", field);
        }
        table.push(row);
    }
    Ok(())
}
