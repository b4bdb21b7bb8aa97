//! Results of Ramble: a row for each experiment and each context of its figures of merit.

use mmgp_base::error::Result;

use super::Format;
use super::kernel_tuner::with_unit;
use super::node::Object;
use super::table::{Row, Table};

pub(super) const FORMAT: Format = Format {
    name: "results of Ramble",
    sign: "\"experiments\" of Ramble",
    recognises: |root| {
        let keys = ["CONTEXTS", "RAMBLE_STATUS", "EXPERIMENT_STATUS", "RAMBLE_VARIABLES"];
        let first = root.first_of("experiments");
        first.is_some_and(|first| keys.iter().any(|key| first.any(key).is_some()))
    },
    table,
};

/// What Ramble calls the status, in 2024 and in 2026.
const STATUSES: [&str; 2] = ["RAMBLE_STATUS", "EXPERIMENT_STATUS"];

/// A row has `name`, `status`, the variables, `context`, and each figure of merit as `name [units]`.
/// Summaries of repeated experiments are left out: the repeats follow them.
fn table<'a>(root: &Object<'a>) -> Result<Table<'a>> {
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
    if table.is_empty() {
        return Err(experiments.error("no experiments", "at least one"));
    }
    Ok(table)
}

/// What the rows of an experiment have in common.
fn common<'a>(experiment: &Object<'a>) -> Result<Row<'a>> {
    let mut row = Row::at(experiment.node.at());
    if let Some(name) = experiment.get("name") {
        row.add("name", name.field()?);
    }
    if let Some(status) = STATUSES.iter().find_map(|key| experiment.get(key)) {
        row.add("status", status.field()?);
    }
    let known = |name: &str| STATUSES.contains(&name) || ["name", "N_REPEATS"].contains(&name);
    let variables = experiment.get("RAMBLE_VARIABLES").map(|it| it.object()).transpose()?;
    if let Some(variables) = &variables {
        for (name, value) in variables.entries().filter(|(_, value)| value.is_plain()) {
            row.add(name, value.field()?);
        }
    }
    for (name, value) in experiment.entries().filter(|(_, value)| value.is_plain()) {
        if !known(name) && row.get(name).is_none() {
            row.add(name, value.field()?);
        }
    }
    Ok(row)
}

fn figures<'a>(context: &Object<'a>, row: &mut Row<'a>) -> Result<()> {
    if let Some(name) = context.get("name") {
        row.add("context", name.field()?);
    }
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
