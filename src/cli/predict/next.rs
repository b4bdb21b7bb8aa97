//! `mmgp predict --next`

use clap::Args;
use serde::Serialize;

use super::Asked;
use crate::Mapping;
use crate::cli::objective::{self as best, Fields};
use crate::cli::output::{Format, aligned, json, warn};
use crate::decide::{Measurement, MeasurementKind, next_measurement, rank};
use crate::error::Result;
use crate::objective::{Amount, Objective};

#[derive(Args)]
#[command(next_help_heading = "Questions about the choice")]
pub struct NextArguments {
    /// Rank what could be measured next by how much it lowers the expected regret of the choice:
    /// one further timed run at each (m, p), or the micro-benchmark of a term until its standard
    /// error has halved
    #[arg(long, group = "question", conflicts_with = "m")]
    pub next: bool,
    /// Relative noise of a single timed run; without it, what repetitions tell, or 0.02
    #[arg(long, value_name = "FRACTION", requires = "next")]
    pub noise: Option<f64>,
}

/// Rows for people who do not say how many.
const ROWS: usize = 10;

/// A measurement, and what it is good for in the unit of the objective.
struct Row<'a> {
    rank: usize,
    measure: String,
    mapping: Option<Mapping>,
    gain: Amount,
    error_of_best: Amount,
    objective: &'a Objective,
}

/// The same column of times and of another objective.
fn key(objective: &Objective, of_times: &'static str, of_others: &'static str) -> &'static str {
    if objective.is_time() { of_times } else { of_others }
}

impl Row<'_> {
    fn fields(&self) -> Fields {
        let Self { rank, measure, mapping, gain, error_of_best, objective } = self;
        Fields::default()
            .with("rank", *rank)
            .with("measure", measure.as_str())
            .with("m", mapping.map(Mapping::m))
            .with("p", mapping.map(Mapping::p))
            .with(key(objective, "gain_s", "gain"), gain.0)
            .with(key(objective, "std_error_of_best_s", "std_error_of_best"), error_of_best.0)
    }
}

pub fn text(asked: &Asked<'_>, noise: Option<f64>) -> Result<String> {
    let mappings = asked.mappings()?;
    let ranking = rank(&asked.posterior, &mappings, asked.sampling)?;
    let next = next_measurement(&asked.posterior, &mappings, noise)?;
    warn(&next.warnings);
    let (chosen, noise) = (ranking.choice.mapping, next.noise);
    let objective = asked.posterior.objective();
    let expected_regret = ranking.chosen().map_or(Amount(0.0), |it| it.expected_regret);
    let certain = next.measurements.iter().all(|measurement| measurement.gain.0 == 0.0);
    let preface = format!(
        "{}\nIts expected regret is {}.\n{}A run is taken \
         to have a noise of {:.1} % (--noise).\n\n",
        ranking.choice,
        objective.shown(expected_regret),
        if certain { "No measurement is expected to change the choice.\n" } else { "" },
        100.0 * noise
    );
    // People are told what is of use, programs everything.
    let is_useful = |it: &&Measurement| {
        asked.format != Format::Table || it.gain.0 > 0.0 || (certain && asked.shown != usize::MAX)
    };
    let shown = match asked.format {
        Format::Table => asked.shown_to_people(ROWS),
        Format::Csv | Format::Json => asked.shown,
    };
    let rows: Vec<Row<'_>> = next
        .measurements
        .iter()
        .filter(is_useful)
        .zip(1..)
        .take(shown)
        .map(|(m, rank)| row(m, rank, objective))
        .collect();
    Ok(match asked.format {
        Format::Table => {
            let cells: Vec<Vec<String>> = rows.iter().map(for_people).collect();
            let header = ["rank", "measure", "lowers regret by", "error of the best then"];
            preface + &aligned(&header, &cells)
        }
        Format::Csv => best::csv(&rows.iter().map(Row::fields).collect::<Vec<_>>()),
        Format::Json => {
            let fields = Fields::default()
                .with("best_m", chosen.m())
                .with("best_p", chosen.p())
                .with(key(objective, "expected_regret_s", "expected_regret"), expected_regret.0)
                .with("noise", noise);
            let fields = match objective.is_time() {
                true => fields,
                false => fields.with("unit", objective.unit()),
            };
            json(&Json { fields, measurements: rows.iter().map(Row::fields).collect() })
        }
    })
}

#[derive(Serialize)]
struct Json {
    #[serde(flatten)]
    fields: Fields,
    measurements: Vec<Fields>,
}

fn row<'a>(measurement: &Measurement, rank: usize, objective: &'a Objective) -> Row<'a> {
    let (measure, mapping) = match &measurement.what {
        MeasurementKind::Run(mapping) => ("run".to_string(), Some(*mapping)),
        MeasurementKind::Term { name } => (name.clone(), None),
    };
    let Measurement { gain, error_of_best, .. } = *measurement;
    Row { rank, measure, mapping, gain, error_of_best, objective }
}

fn for_people(row: &Row<'_>) -> Vec<String> {
    let measure = match row.mapping {
        Some(mapping) => format!("a run at {mapping}"),
        None => row.measure.clone(),
    };
    let [gain, error] = [row.gain, row.error_of_best].map(|it| row.objective.shown(it));
    vec![row.rank.to_string(), measure, gain, error]
}
