//! Reports of ReFrame: a row for each test case.

use mmgp_base::error::Result;

use super::Format;
use super::node::{Node, Object};
use super::table::{Row, Table};
use crate::sheet::Field;

pub(super) const FORMAT: Format = Format {
    name: "report of ReFrame",
    sign: "\"runs\" with \"testcases\" of ReFrame",
    recognises: |root| root.first_of("runs").is_some_and(|run| run.any("testcases").is_some()),
    table,
};

/// What says of a test case where it lies and what it printed, and nothing of its run.
const CIRCUMSTANCES: [&str; 12] = [
    "build_stderr",
    "build_stdout",
    "description",
    "display_name",
    "filename",
    "fixture",
    "job_stderr",
    "job_stdout",
    "outputdir",
    "prefix",
    "stagedir",
    "unique_name",
];

/// A row has what a test case says of itself, its times in seconds (with the time in the queue),
/// `status`, and what it measured as `name [unit]`.
fn table<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let runs = root.required("runs")?;
    let mut table = Table::default();
    for run in runs.array()? {
        for case in run.object()?.required("testcases")?.array()? {
            let case = case.object()?;
            let mut row = Row::at(case.node.at());
            for (name, value) in case.entries().filter(|(_, value)| value.is_plain()) {
                match name {
                    "result" => row.add("status", value.field()?),
                    _ if CIRCUMSTANCES.contains(&name) => {}
                    _ if name.starts_with("time_") => {
                        row.add(&format!("{name} [s]"), value.field()?)
                    }
                    _ => row.add(name, value.field()?),
                }
            }
            if let Some(values) = case.get("perfvalues") {
                for (name, value) in values.object()?.entries() {
                    let (name, field) = performance(name, value)?;
                    row.add(&name, field);
                }
            }
            table.push(row);
        }
    }
    if table.is_empty() {
        return Err(runs.error("no test cases", "at least one"));
    }
    Ok(table)
}

/// `"system:partition:name": [value, reference, lower, upper, unit, result?]`.
fn performance<'a>(name: &str, value: Node<'a>) -> Result<(String, Field<'a>)> {
    let name = name.rsplit(':').next().unwrap_or(name);
    let parts = value.array()?;
    let [found, _, _, _, unit, ..] = parts[..] else {
        return Err(
            value.error(format!("{} items", parts.len()), "value, reference, lower, upper, unit")
        );
    };
    let unit = unit.plain_text()?;
    let name = if unit.is_empty() { name.to_string() } else { format!("{name} [{unit}]") };
    Ok((name, found.field()?))
}
