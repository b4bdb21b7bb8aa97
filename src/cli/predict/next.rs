//! `mmgp predict --next`

use clap::Args;
use serde::Serialize;

use super::Asked;
use super::rows::Rows;
use crate::cli::output::{Format, warn};
use crate::decide::{Measured, Measurement, next_measurement, rank};
use crate::error::Result;
use crate::units::Seconds;

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

#[derive(Serialize)]
struct Json<'a> {
    best_m: u32,
    best_p: u32,
    expected_regret_s: f64,
    noise: f64,
    measurements: &'a [Row],
}

#[derive(Serialize)]
struct Row {
    rank: usize,
    measure: String,
    m: Option<u32>,
    p: Option<u32>,
    gain_s: f64,
    std_error_of_best_s: f64,
}

pub fn text(asked: &Asked<'_>, noise: Option<f64>) -> Result<String> {
    let mappings = asked.mappings()?;
    let ranking = rank(&asked.posterior, &mappings, asked.sampling)?;
    let next = next_measurement(&asked.posterior, &mappings, noise)?;
    warn(&next.warnings);
    let (best, noise) = (ranking.choice.mapping, next.noise);
    let expected_regret = ranking.configurations[0].expected_regret;
    let certain = next.measurements.iter().all(|measurement| measurement.gain.0 == 0.0);
    let preface = format!(
        "{}\nIts expected regret is {expected_regret}.\n{}A run is taken \
         to have a noise of {:.1} % (--noise).\n\n",
        ranking.choice,
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
    let rows: Vec<Row> = next
        .measurements
        .iter()
        .filter(is_useful)
        .zip(1..)
        .take(shown)
        .map(|(m, rank)| row(m, rank))
        .collect();
    let columns = ["rank", "measure", "m", "p", "gain_s", "std_error_of_best_s"];
    let answer = Rows {
        rows: &rows,
        people: (&["rank", "measure", "lowers regret by", "error of the best then"], for_people),
        programs: (&columns, for_programs),
        preface,
        json: Json {
            best_m: best.m(),
            best_p: best.p(),
            expected_regret_s: expected_regret.0,
            noise,
            measurements: &rows,
        },
    };
    Ok(answer.text(asked.format))
}

fn row(measurement: &Measurement, rank: usize) -> Row {
    let (measure, m, p) = match &measurement.what {
        Measured::Run(mapping) => ("run".to_string(), Some(mapping.m()), Some(mapping.p())),
        Measured::Term { name } => (name.clone(), None, None),
    };
    Row {
        rank,
        measure,
        m,
        p,
        gain_s: measurement.gain.0,
        std_error_of_best_s: measurement.error_of_best.0,
    }
}

fn for_people(row: &Row) -> Vec<String> {
    let measure = match (row.m, row.p) {
        (Some(m), Some(p)) => format!("a run at ({m}, {p})"),
        _ => row.measure.clone(),
    };
    let [gain, error] = [row.gain_s, row.std_error_of_best_s].map(Seconds);
    vec![row.rank.to_string(), measure, gain.to_string(), error.to_string()]
}

fn for_programs(row: &Row) -> Vec<String> {
    let count = |count: Option<u32>| count.map_or_else(String::new, |count| count.to_string());
    vec![
        row.rank.to_string(),
        row.measure.clone(),
        count(row.m),
        count(row.p),
        row.gain_s.to_string(),
        row.std_error_of_best_s.to_string(),
    ]
}
