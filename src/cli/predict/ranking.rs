//! A ranking in every format, in the words of its objective.

use serde::Serialize;

use crate::cli::objective::{self as best, Fields};
use crate::cli::output::aligned;
use crate::decide::Configuration;
use crate::models::observations::Observed;
use crate::models::quantity::Quantity;
use crate::objective::Objective;
use crate::table::csv;
use crate::table::records::Prediction;

/// The ranking for people: with the measured times where any ran.
pub fn table<'a>(
    configurations: impl Iterator<Item = &'a Configuration> + Clone,
    objective: &Objective,
) -> String {
    let quantity = objective.quantity();
    let is_any_measured = configurations.clone().any(|c| c.measured.is_some());
    let row = |c: &Configuration| {
        let mut row =
            vec![c.rank.to_string(), c.mapping.m().to_string(), c.mapping.p().to_string()];
        row.extend(predicted(c, objective));
        if is_any_measured {
            let shown = |it: Observed| quantity.shown(it.time);
            row.push(c.measured.map_or_else(|| "-".into(), shown));
        }
        let best = c.probability_best.map(|probability| format!("{:.0} %", 100.0 * probability));
        let mark = match (c.beyond, c.indistinguishable) {
            (true, true) => "= >",
            (true, false) => ">",
            (false, true) => "=",
            (false, false) => "",
        };
        row.extend([
            best.unwrap_or_else(|| "-".into()),
            mark.into(),
            objective.shown(c.expected_regret),
            objective.shown(c.regret_95),
            format!("{:.2}", c.speedup),
            format!("{:.0} %", 100.0 * c.efficiency),
        ]);
        row
    };
    let rows: Vec<Vec<String>> = configurations.map(row).collect();
    let mut header = vec!["rank", "m", "p", objective.name(), "95 % interval"];
    if !objective.is_measured() {
        header.push(name_of(quantity));
    }
    if is_any_measured {
        header.push("measured");
    }
    header.extend(["best", "", "regret", "95 % regret", "speed-up", "efficiency"]);
    aligned(&header, &rows)
}

/// What is predicted, for people: the objective with its interval, and what was measured where that is
/// another.
fn predicted(c: &Configuration, objective: &Objective) -> Vec<String> {
    let quantity = objective.quantity();
    let (low, high) = objective.ends(c.mapping, c.low, c.high);
    let shown = |amount| objective.shown(amount);
    let amount = shown(objective.amount(c.mapping, c.time));
    let mut cells = vec![amount, format!("{} .. {}", shown(low), shown(high))];
    if !objective.is_measured() {
        cells.push(quantity.shown(c.time));
    }
    cells
}

/// What a column of it is called.
fn name_of(quantity: &Quantity) -> &'static str {
    if quantity.rate().is_some() { "rate" } else { "time" }
}

/// The ranking as CSV.
pub fn csv<'a>(
    configurations: impl Iterator<Item = &'a Configuration>,
    objective: &Objective,
) -> String {
    if objective.is_time() {
        return csv::write(&configurations.map(Prediction::from).collect::<Vec<_>>());
    }
    best::csv(&configurations.map(|it| fields(it, objective)).collect::<Vec<_>>())
}

/// A row of the ranking in JSON.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Row {
    /// Of times.
    Time(Prediction),
    /// Of another objective.
    Other(Fields),
}

impl Row {
    pub fn of(c: &Configuration, objective: &Objective) -> Self {
        match objective.is_time() {
            true => Self::Time(c.into()),
            false => Self::Other(fields(c, objective)),
        }
    }
}

/// The columns of a configuration, of which regrets are in the unit of the objective.
fn fields(c: &Configuration, objective: &Objective) -> Fields {
    let quantity = objective.quantity();
    let measured = match quantity {
        Quantity::Time => "measured_s",
        Quantity::Rate(_) => "measured_rate",
    };
    Fields::default()
        .with("rank", c.rank)
        .with("m", c.mapping.m())
        .with("p", c.mapping.p())
        .with_amounts(objective, c.mapping, [c.time, c.low, c.high])
        .with("probability_best", c.probability_best)
        .with("speedup", c.speedup)
        .with("efficiency", c.efficiency)
        .with("expected_regret", c.expected_regret.0)
        .with("regret_95", c.regret_95.0)
        .with("indistinguishable", u32::from(c.indistinguishable))
        .with(measured, c.measured.map(|it| quantity.number(it.time)))
        .with("beyond", u32::from(c.beyond))
}
