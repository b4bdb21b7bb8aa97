//! `mmgp predict`

mod break_even;
mod explanation;
mod fastest;
mod flags;
mod next;
mod nodes;
mod phases;
mod rows;
mod what_if;

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::Answer;
use super::files::Guard;
use super::output::{Format, aligned, data, warn};
use super::{input, output};
use crate::Mapping;
use crate::error::Result;
use crate::model::Parameters;
use crate::model::time_model::{self, TimeModel};
use crate::solve::{
    Configuration, Constraints, Ranking, Sampling, most_apus, predict_one, rank_within,
};
use crate::table::csv;
use crate::table::records::Prediction;
use what_if::{WhatIf, WhatIfArguments};

/// Rank every feasible configuration (m, p), predict one, or weigh the choice
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)
    #[arg(long, value_name = "NAME|FILE")]
    params: String,
    /// Model: mmgp is equation 11, refined the same with the [refined] terms of the parameters
    #[arg(long, value_name = "NAME", default_value = "mmgp",
          value_parser = PossibleValuesParser::new(time_model::NAMES), hide_possible_values = true)]
    model: String,
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
    /// Take one configuration, the best or that of --m and --p, apart: the terms of its time, what
    /// it answers to, and which error makes its interval
    #[arg(long, group = "question", help_heading = "Questions about the choice")]
    explain: bool,
    #[command(flatten)]
    next: next::NextArguments,
    #[command(flatten)]
    break_even: break_even::BreakEvenArguments,
    #[command(flatten)]
    phases: phases::PhaseArguments,
    #[command(flatten)]
    nodes: nodes::NodeArguments,
    #[command(flatten)]
    constraints: ConstraintArguments,
    #[command(flatten)]
    what_if: WhatIfArguments,
}

const HELP: &str = "\
Examples:
  mmgp predict --params pbpi-qs20 --top 5
  mmgp predict --params params.toml --machine ps3 --format json
  mmgp predict --params params.toml --p-divides 8 --apus-per-chip 8
  mmgp predict --params refined.toml --model refined
  # where the time of one configuration goes
  mmgp predict --params params.toml --m 4 --p 4 --explain
  # what to measure next
  mmgp predict --params params.toml --next --noise 0.03 --top 5
  # what if
  mmgp predict --params params.toml --apus 32 --scale t_apu_s=4
  mmgp predict --params params.toml --break-even --host-factor 2.5
  mmgp predict --params params.toml --per-phase --change-cost 1e-3
  mmgp predict --params params.toml --nodes 8 --node-overhead 5e-6

Intervals hold 95 % and come, as the probability of being the best and the regret (what a \
choice costs against knowing the fastest), from the standard errors of the parameters, with \
their correlation: they do not know how far the model itself is off. Beyond the last m of a \
table they widen with the distance; with p they widen by the error of the gap, which every APU \
pays. Of the configurations that cannot be told from the best (marked =), one is the best with \
at least 95 %.";

/// [`Constraints`] on the command line.
#[derive(Args)]
#[command(next_help_heading = "Constraints on the configurations")]
struct ConstraintArguments {
    /// The fewest host threads
    #[arg(long, value_name = "M", default_value_t = 1, conflicts_with = "m")]
    min_m: u32,
    /// The most host threads
    #[arg(long, value_name = "M", conflicts_with = "m")]
    max_m: Option<u32>,
    /// The fewest APUs for each thread
    #[arg(long, value_name = "P", default_value_t = 1, conflicts_with = "m")]
    min_p: u32,
    /// The most APUs for each thread
    #[arg(long, value_name = "P", conflicts_with = "m")]
    max_p: Option<u32>,
    /// m must divide this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "m")]
    m_divides: Option<u32>,
    /// p must divide this number
    #[arg(long, value_name = "NUMBER", conflicts_with = "m")]
    p_divides: Option<u32>,
    /// The APUs of a thread lie on one chip of so many; a chip holds whole threads only, and what
    /// is left of the APUs is a smaller chip
    #[arg(long, value_name = "N", conflicts_with = "m")]
    apus_per_chip: Option<u32>,
}

impl ConstraintArguments {
    fn read(&self) -> Constraints {
        Constraints::NONE
            .min_m(self.min_m)
            .max_m(self.max_m)
            .min_p(self.min_p)
            .max_p(self.max_p)
            .m_divides(self.m_divides)
            .p_divides(self.p_divides)
            .apus_per_chip(self.apus_per_chip)
    }
}

/// What every question is asked of.
struct Asked<'a> {
    /// As the file has them.
    given: &'a Parameters,
    /// With another machine, and scaled.
    parameters: Parameters,
    /// By which the question is answered.
    model: Box<dyn TimeModel>,
    constraints: Constraints,
    sampling: Sampling,
    format: Format,
    /// How many answers to print.
    shown: usize,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    Guard::default()
        .reads("--params", input::parameter_file(&arguments.params))
        .reads("--machine", arguments.machine.as_deref().and_then(input::machine_file))
        .writes("--out", arguments.out.as_deref())
        .check()?;
    let given = input::parameters(&arguments.params)?;
    let mut parameters = arguments.what_if.scaled(&given)?;
    if let Some(name) = &arguments.machine {
        parameters.apus = input::machine(name)?.layout.spes();
    }
    parameters.apus = arguments.apus.unwrap_or(parameters.apus);
    let model = time_model::named(&arguments.model, &parameters)?;
    let asked = Asked {
        given: &given,
        parameters,
        model,
        constraints: arguments.constraints.read(),
        sampling: Sampling::new(Sampling::USUAL_DRAWS, arguments.seed),
        format: arguments.format,
        shown: arguments.top.map_or(usize::MAX, |top| top as usize),
    };
    let text = answer(&asked, arguments).map_err(flags::translated)?;
    warn(given.refined_left_out().as_slice());
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

fn answer(asked: &Asked<'_>, arguments: &Arguments) -> Result<String> {
    let configuration = arguments.m.zip(arguments.p);
    let configuration = configuration.map(|(m, p)| Mapping::new(m, p)).transpose()?;
    if arguments.explain {
        return explanation::text(asked, configuration);
    }
    if arguments.next.next {
        return next::text(asked, arguments.next.noise);
    }
    if let Some(host_factor) = arguments.break_even.asked() {
        return break_even::text(asked, host_factor);
    }
    if let Some(changes) = arguments.phases.asked() {
        return phases::text(asked, changes);
    }
    if let Some((nodes, level)) = arguments.nodes.asked() {
        return nodes::text(asked, nodes, level);
    }
    let model = &*asked.model;
    if configuration.is_none() && model.apus() > most_apus(model) {
        return fastest::text(asked, arguments.top);
    }
    let line = output::waiting("predicting", output::Verbosity::Usual);
    let ranking = match configuration {
        Some(mapping) => predict_one(model, mapping, asked.sampling)?,
        None => rank_within(model, &asked.constraints, asked.sampling)?,
    };
    line.finish_and_clear();
    warn(&ranking.warnings);
    let what_if = match configuration {
        Some(_) => None,
        None => WhatIf::of(asked)?,
    };
    let feasible = asked.constraints.space(asked.parameters.apus)?.count();
    Ok(text(&ranking, feasible, asked, what_if))
}

#[derive(Serialize)]
struct Json {
    feasible: usize,
    configurations: Vec<Prediction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_if: Option<WhatIf>,
}

fn text(ranking: &Ranking, feasible: usize, asked: &Asked<'_>, what_if: Option<WhatIf>) -> String {
    let configurations = ranking.configurations.iter().take(asked.shown);
    match asked.format {
        Format::Table => {
            let comparison = what_if.map(|what_if| format!("\n{}\n", what_if.sentence()));
            table(configurations) + &comparison.unwrap_or_default()
        }
        Format::Csv => {
            if let Some(what_if) = what_if {
                eprintln!("{}", what_if.sentence());
            }
            csv::write(&configurations.map(Prediction::from).collect::<Vec<_>>())
        }
        Format::Json => {
            let configurations = configurations.map(Prediction::from).collect();
            output::json(&Json { feasible, configurations, what_if })
        }
    }
}

/// The ranking for people.
pub fn table<'a>(configurations: impl Iterator<Item = &'a Configuration>) -> String {
    let row = |c: &Configuration| {
        // Without any standard error there is nothing to say of either.
        let known = c.low < c.high;
        let or_dash = |text: String| if known { text } else { "-".into() };
        vec![
            c.rank.to_string(),
            c.mapping.m().to_string(),
            c.mapping.p().to_string(),
            c.time.to_string(),
            or_dash(format!("{} .. {}", c.low, c.high)),
            or_dash(format!("{:.1} %", 100.0 * c.probability_best)),
            or_dash(if c.indistinguishable { "=".into() } else { String::new() }),
            c.expected_regret.to_string(),
            or_dash(c.regret_95.to_string()),
            format!("{:.2}", c.speedup),
            format!("{:.0} %", 100.0 * c.efficiency),
        ]
    };
    let rows: Vec<Vec<String>> = configurations.map(row).collect();
    let header = [
        "rank",
        "m",
        "p",
        "time",
        "95 % interval",
        "best",
        "=",
        "regret",
        "95 % regret",
        "speed-up",
        "efficiency",
    ];
    aligned(&header, &rows)
}
