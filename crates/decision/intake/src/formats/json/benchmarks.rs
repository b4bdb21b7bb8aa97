//! What tools that run benchmarks write: Google Benchmark, hyperfine, Ramble, ReFrame.

use std::collections::BTreeSet;

use mmgp_base::error::Result;

use super::ObjectFormat;
use super::node::{Node, Object};
use super::tables::{Row, Table};
use super::tuners::with_unit;
use crate::is_in;
use crate::sheet::Field;

/// What `hyperfine --export-json` writes: a row for each time of each result.
pub(super) const HYPERFINE: ObjectFormat = ObjectFormat {
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
    table: hyperfine,
};

/// A row has the parameters by their names, `command`, `time [s]`, and `exit_code`: empty where there is
/// none, `null` where the run was ended by a signal.
fn hyperfine<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let results = root.required("results")?;
    let mut table = Table::default();
    let mut known = BTreeSet::new();
    for result in results.array()? {
        let result = result.object()?;
        let mut row = Row::at(result.node.at());
        if let Some(parameters) = result.get("parameters") {
            row.add_all(parameters.object()?.entries())?;
        }
        row.add_value("command", result.get("command"))?;
        if !known.insert(row.texts()) {
            let place = result.get("parameters").unwrap_or(result.node);
            return Err(
                place.error("a second result for the same parameters", "one result for each")
            );
        }
        times(&result, &row, &mut table)?;
    }
    table.filled(results, "results")
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

/// What Google Benchmark writes: a row for each run.
pub(super) const GOOGLE_BENCHMARK: ObjectFormat = ObjectFormat {
    name: "JSON of Google Benchmark",
    sign: "\"benchmarks\" of Google Benchmark",
    recognises: |root| {
        let first = root.first_of("benchmarks");
        // Those of pytest-benchmark have these.
        first.is_some_and(|first| first.any("stats").is_none())
            || root.get("benchmarks").is_some_and(|it| it.text.starts_with("[]"))
    },
    table: google_benchmark,
};

/// What Google Benchmark computes over repetitions ends the name, in versions that do not say `run_type`.
const AGGREGATES: [&str; 7] = ["_mean", "_median", "_stddev", "_cv", "_min", "_max", "_BigO"];

/// What is said of the work in a second.
const RATES: [&str; 2] = ["items_per_second", "bytes_per_second"];

/// A row has `name`, what stands behind it (`/ranks:4/2` is `ranks` and `arg1`), `threads`, `status` of a
/// run that failed, its rates, `real_time` and `cpu_time` with their unit. Where runs differ in it, it stands in a
/// column `time_unit`.
fn google_benchmark<'a>(root: &Object<'a>) -> Result<Table<'a>> {
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
    row.add("name", Field { text: plain.join("/").into(), at: name.at() });
    for (key, value) in values {
        row.add(&key, Field { text: value.into(), at: name.at() });
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

/// Results of Ramble: a row for each experiment and each context of its figures of merit.
pub(super) const RAMBLE: ObjectFormat = ObjectFormat {
    name: "results of Ramble",
    sign: "\"experiments\" of Ramble",
    recognises: |root| {
        let keys = ["CONTEXTS", "RAMBLE_STATUS", "EXPERIMENT_STATUS", "RAMBLE_VARIABLES"];
        let first = root.first_of("experiments");
        first.is_some_and(|first| keys.iter().any(|key| first.any(key).is_some()))
    },
    table: ramble,
};

/// What Ramble calls the status, in 2024 and in 2026.
const STATUSES: [&str; 2] = ["RAMBLE_STATUS", "EXPERIMENT_STATUS"];

/// A row has `name`, `status`, the variables, `context`, and each figure of merit as `name [units]`.
/// Summaries of repeated experiments are left out: the repeats follow them.
fn ramble<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let experiments = root.required("experiments")?;
    let mut table = Table::default();
    for experiment in experiments.array()? {
        let experiment = experiment.object()?;
        let repeats = experiment.get("N_REPEATS").map(|it| it.plain_text()).transpose()?;
        if repeats.is_some_and(|repeats| repeats.parse().is_ok_and(|count: u64| count > 0)) {
            continue;
        }
        let common = common(&experiment)?;
        let contexts = experiment.get("CONTEXTS").map(|it| it.array()).transpose()?;
        let contexts = contexts.unwrap_or_default();
        if contexts.is_empty() {
            table.push(common.clone());
        }
        for context in contexts {
            let mut row = common.clone();
            figures(&context.object()?, &mut row)?;
            table.push(row);
        }
    }
    table.filled(experiments, "experiments")
}

/// What the rows of an experiment have in common.
fn common<'a>(experiment: &Object<'a>) -> Result<Row<'a>> {
    let mut row = Row::at(experiment.node.at());
    row.add_value("name", experiment.get("name"))?;
    row.add_value("status", STATUSES.iter().find_map(|key| experiment.get(key)))?;
    let known = |name: &str| STATUSES.contains(&name) || ["name", "N_REPEATS"].contains(&name);
    let variables = experiment.get("RAMBLE_VARIABLES").map(|it| it.object()).transpose()?;
    if let Some(variables) = &variables {
        row.add_all(variables.entries().filter(|(_, value)| value.is_plain()))?;
    }
    for (name, value) in experiment.entries().filter(|(_, value)| value.is_plain()) {
        if !known(name) && row.get(name).is_none() {
            row.add(name, value.field()?);
        }
    }
    Ok(row)
}

fn figures<'a>(context: &Object<'a>, row: &mut Row<'a>) -> Result<()> {
    row.add_value("context", context.get("name"))?;
    for figure in context.required("foms")?.array()? {
        let figure = figure.object()?;
        let is_summary = ["origin_type", "origin"].iter().any(|key| {
            let origin = figure.get(key).and_then(|origin| origin.plain_text().ok());
            origin.is_some_and(|origin| origin.starts_with("summary::"))
        });
        if !is_summary {
            row.add(&with_unit(&figure, "units")?, figure.required("value")?.field()?);
        }
    }
    Ok(())
}

/// Reports of ReFrame: a row for each test case.
pub(super) const REFRAME: ObjectFormat = ObjectFormat {
    name: "report of ReFrame",
    sign: "\"runs\" with \"testcases\" of ReFrame",
    recognises: |root| root.first_of("runs").is_some_and(|run| run.any("testcases").is_some()),
    table: reframe,
};

/// What says of a test case where it lies and what it printed, and nothing of its run.
const CIRCUMSTANCES: &str = "build_stderr build_stdout description display_name filename fixture job_stderr \
    job_stdout outputdir prefix stagedir unique_name";

/// A row has what a test case says of itself, its times in seconds (with the time in the queue),
/// `status`, and what it measured as `name [unit]`.
fn reframe<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let runs = root.required("runs")?;
    let mut table = Table::default();
    for run in runs.array()? {
        for case in run.object()?.required("testcases")?.array()? {
            let case = case.object()?;
            let mut row = Row::at(case.node.at());
            for (name, value) in case.entries().filter(|(_, value)| value.is_plain()) {
                match name {
                    "result" => row.add("status", value.field()?),
                    _ if is_in(CIRCUMSTANCES, name) => {}
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
    table.filled(runs, "test cases")
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
