//! What Google Benchmark writes: a row for each run.

use std::borrow::Cow;

use mmgp_base::error::Result;

use super::Format;
use super::node::{Node, Object};
use super::table::{Row, Table};
use crate::sheet::Field;

pub(super) const FORMAT: Format = Format {
    name: "JSON of Google Benchmark",
    sign: "\"benchmarks\" of Google Benchmark",
    recognises: |root| {
        let first = root.first_of("benchmarks");
        // Those of pytest-benchmark have these.
        first.is_some_and(|first| first.any("stats").is_none())
            || root.get("benchmarks").is_some_and(|it| it.text.starts_with("[]"))
    },
    table,
};

/// What the library computes over repetitions ends the name, in versions that do not say `run_type`.
const AGGREGATES: [&str; 7] = ["_mean", "_median", "_stddev", "_cv", "_min", "_max", "_BigO"];

/// What is said of the work in a second.
const RATES: [&str; 2] = ["items_per_second", "bytes_per_second"];

/// A row has `name`, what stands behind it (`/ranks:4/2` is `ranks` and `arg1`), `threads`, `status` of a
/// run that failed, its rates, `real_time` and `cpu_time` with their unit. Where runs differ in it, it stands in a
/// column `time_unit`.
fn table<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let benchmarks = root.required("benchmarks")?;
    let mut runs = Vec::new();
    for run in benchmarks.array()? {
        let run = run.object()?;
        if !is_aggregate(&run)? {
            runs.push(run);
        }
    }
    if runs.is_empty() {
        return Err(benchmarks.error("no runs", "at least one that is no aggregate"));
    }
    let units: Result<Vec<_>> =
        runs.iter().filter_map(|run| run.get("time_unit")).map(|it| it.plain_text()).collect();
    let mut units = units?;
    units.sort_unstable();
    units.dedup();
    let mut table = Table::default();
    for run in &runs {
        let mut row = Row::at(run.node.at());
        add_name(run.required("name")?, &mut row)?;
        if let (Some(threads), None) = (run.get("threads"), row.get("threads")) {
            row.add("threads", threads.field()?);
        }
        if let Some(failure) = failure(run)? {
            row.add("status", failure);
        }
        for key in RATES {
            if let Some(rate) = run.get(key) {
                row.add(key, rate.field()?);
            }
        }
        for key in ["real_time", "cpu_time"] {
            let Some(time) = run.get(key) else { continue };
            match &units[..] {
                [unit] => row.add(&format!("{key} [{unit}]"), time.field()?),
                _ => row.add(key, time.field()?),
            }
        }
        if let (2.., Some(unit)) = (units.len(), run.get("time_unit")) {
            row.add("time_unit", unit.field()?);
        }
        table.push(row);
    }
    Ok(table)
}

fn is_aggregate(run: &Object<'_>) -> Result<bool> {
    if let Some(kind) = run.get("run_type") {
        return Ok(kind.plain_text()? == "aggregate");
    }
    let name = run.required("name")?.plain_text()?;
    Ok(AGGREGATES.iter().chain([&"_RMS"]).any(|end| name.ends_with(end)))
}

/// Keys in a name that say how the library measures, not what.
const SETTINGS: [&str; 4] = ["iterations", "min_time", "min_warmup_time", "repeats"];

/// The parts of a name: those with a key, numbers, and what is left of it.
fn add_name<'a>(name: Node<'a>, row: &mut Row<'a>) -> Result<()> {
    let text = name.plain_text()?;
    let (mut plain, mut values, mut count) = (Vec::new(), Vec::new(), 0);
    for (index, part) in text.split('/').enumerate() {
        let is_argument = index > 0 && part.parse::<f64>().is_ok();
        let pair = part.split_once(':').filter(|(key, value)| {
            !key.is_empty() && !value.starts_with(':') && !SETTINGS.contains(key)
        });
        match pair {
            Some((key, value)) if index > 0 => values.push((key.to_string(), value.to_string())),
            _ if is_argument => {
                count += 1;
                values.push((format!("arg{count}"), part.to_string()));
            }
            _ => plain.push(part),
        }
    }
    row.add("name", Field { text: Cow::Owned(plain.join("/")), at: name.at() });
    for (key, value) in values {
        row.add(&key, Field { text: Cow::Owned(value), at: name.at() });
    }
    Ok(())
}

/// What is said of a run that failed or was skipped.
fn failure<'a>(run: &Object<'a>) -> Result<Option<Field<'a>>> {
    for (key, message, word) in
        [("error_occurred", "error_message", "error"), ("skipped", "skip_message", "skipped")]
    {
        let Some(flag) = run.get(key).filter(|flag| flag.text != "false") else { continue };
        let said = run.get(message).map(|message| message.field()).transpose()?;
        let said = said.filter(|field| !field.text.is_empty());
        return Ok(Some(said.unwrap_or(Field { text: word.into(), at: flag.at() })));
    }
    Ok(None)
}
