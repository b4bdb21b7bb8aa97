//! `mmgp predict`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Answer;
use super::output::{Format, aligned, data, warnings};
use super::{input, output};
use crate::error::Result;
use crate::solve::{Configuration, Ranking, Sampling, predict_one, rank};
use crate::table::csv;
use crate::table::records::Prediction;

/// Rank every feasible configuration (m, p), or predict one
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    mmgp predict --params pbpi-qs20 --top 5\n  \
    mmgp predict --params params.toml --machine ps3 --format json\n  \
    mmgp predict --params params.toml --m 4 --p 4\n\n\
    Intervals hold 95 % and come, as the probability of being the best, from the standard errors \
    of\nthe parameters alone: they do not know how far the model itself is off.")]
pub struct Arguments {
    /// Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)
    #[arg(long, value_name = "NAME|FILE")]
    params: String,
    /// Machine whose APUs are available instead of those in the parameters
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "apus")]
    machine: Option<String>,
    /// APUs available instead of those in the parameters
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    apus: Option<u32>,
    /// Host threads of the one configuration to predict
    #[arg(long, value_name = "M", requires = "p")]
    m: Option<u32>,
    /// APUs of each host thread in that configuration
    #[arg(long, value_name = "P", requires = "m")]
    p: Option<u32>,
    /// Print only so many, best first
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Seed of the draws behind the probabilities
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let mut parameters = input::parameters(&arguments.params)?;
    if let Some(name) = &arguments.machine {
        parameters.apus = input::machine(name)?.layout.spes();
    }
    parameters.apus = arguments.apus.unwrap_or(parameters.apus);
    let sampling = Sampling { draws: Sampling::USUAL_DRAWS, seed: arguments.seed };
    let ranking = match (arguments.m, arguments.p) {
        (Some(m), Some(p)) => predict_one(&parameters, m, p, sampling)?,
        _ => rank(&parameters, sampling)?,
    };
    warnings(&ranking.warnings);
    let feasible = crate::solve::feasible(parameters.apus).count();
    data(arguments.out.as_deref(), &text(&ranking, feasible, arguments)?)?;
    Ok(Answer::Done)
}

#[derive(Serialize)]
struct Json {
    feasible: usize,
    configurations: Vec<Prediction>,
}

fn text(ranking: &Ranking, feasible: usize, arguments: &Arguments) -> Result<String> {
    let shown = arguments.top.map_or(usize::MAX, |top| top as usize);
    let configurations = ranking.configurations.iter().take(shown);
    Ok(match arguments.format {
        Format::Table => table(configurations),
        Format::Csv => csv::write(&configurations.map(Prediction::from).collect::<Vec<_>>()),
        Format::Json => {
            let configurations = configurations.map(Prediction::from).collect();
            output::json(&Json { feasible, configurations })
        }
    })
}

/// The ranking for people.
pub fn table<'a>(configurations: impl Iterator<Item = &'a Configuration>) -> String {
    let row = |c: &Configuration| {
        // Without any standard error there is nothing to say of either.
        let known = c.low < c.high;
        let or_dash = |text: String| if known { text } else { "-".into() };
        vec![
            c.rank.to_string(),
            c.m.to_string(),
            c.p.to_string(),
            c.time.to_string(),
            or_dash(format!("{} .. {}", c.low, c.high)),
            or_dash(format!("{:.1} %", 100.0 * c.probability_best)),
            format!("{:.2}", c.speedup),
        ]
    };
    let rows: Vec<Vec<String>> = configurations.map(row).collect();
    aligned(&["rank", "m", "p", "time", "95 % interval", "best", "speed-up"], &rows)
}
