//! A ranking in every format, in the words of its objective.

use serde::Serialize;

use crate::cli::objective::{self as best, Fields};
use crate::cli::output::aligned;
use crate::decide::Configuration;
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::report::ranking::columns;
use crate::table::csv;
use crate::table::records::Prediction;

/// The ranking for people: with the measured times where any ran.
pub fn table<'a>(
    configurations: impl Iterator<Item = &'a Configuration> + Clone,
    objective: &Objective,
) -> String {
    let (header, rows) = columns(configurations, objective);
    aligned(&header, &rows)
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
        Quantity::Amount(_) => "measured_amount",
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
