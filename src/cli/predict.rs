//! `mmgp predict`

mod choices;
mod question;
mod terms;

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::choice::ChoiceArguments;
use super::files::Guard;
use super::input::RunArguments;
use super::objective::{NodeSize, ObjectiveArguments, basis, unusual};
use super::output::{Format, data, line, warn};
use super::{input, output};
use crate::Mapping;
use crate::answer::Object;
use crate::belief::Posterior;
use crate::decide::{Constraints, Ranking, predict_one, rank};
use crate::error::{Error, Result};
use crate::models::Parameters;
use crate::quantity::Quantity;
use crate::report::ranking_table;
use question::{Question, WhatIf, WhatIfArguments, translated};

/// Rank every feasible configuration (m, p), predict one, or weigh the choice
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)
    #[arg(long, value_name = "NAME|FILE")]
    params: String,
    #[command(flatten)]
    runs: RunArguments,
    /// The one mean to use: mmgp (equation 11), refined (the same with the [refined] terms of the
    /// parameters), amdahl, amdahl-2, usl, mmgp+1/m+1/p, all-terms or flat; without it, all that
    /// apply are weighed by the runs, and without runs refined stands for mmgp where it can
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// How far the model is off, as a fraction, in the place of what it was elsewhere and of what runs
    /// tell; 0: it is exactly right
    #[arg(long, value_name = "FRACTION", alias = "model-error")]
    misfit: Option<f64>,
    /// Machine whose APUs are available instead of those in the parameters
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "apus")]
    machine: Option<String>,
    /// APUs available instead of those in the parameters
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    apus: Option<u32>,
    /// Hardware threads of the machine that ran it: where runs question for more, work is shared by no more
    /// than these
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cores: Option<u32>,
    /// Every integer m and p between those that ran, where runs alone say what may be chosen
    #[arg(long, conflicts_with_all = ["apus", "machine"])]
    every: bool,
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
    next: choices::NextArguments,
    #[command(flatten)]
    break_even: terms::BreakEvenArguments,
    #[command(flatten)]
    phases: terms::PhaseArguments,
    #[command(flatten)]
    nodes: terms::NodeArguments,
    #[command(flatten)]
    constraints: ConstraintArguments,
    #[command(flatten)]
    choice: ChoiceArguments,
    #[command(flatten)]
    best: ObjectiveArguments,
    #[command(flatten)]
    front: choices::FrontArguments,
    #[command(flatten)]
    node_size: NodeSize,
    #[command(flatten)]
    what_if: WhatIfArguments,
}

const HELP: &str = "\
Examples:
  mmgp predict --params pbpi-qs20 --top 5
  mmgp predict --params params.toml --runs runs.csv
  mmgp predict --params params.toml --where 'm*p <= cores && m % 2 == 0'
  mmgp predict --params params.toml --machine ps3 --format json
  mmgp predict --params params.toml --p-divides 8 --apus-per-chip 8
  mmgp predict --params refined.toml --model refined
  # what costs the least; what is cheap and not much slower than the fastest
  mmgp predict --params params.toml --objective cost
  mmgp predict --params params.toml --within 5%
  mmgp predict --params params.toml --pareto time,cost
  # where the time of one configuration goes
  mmgp predict --params params.toml --m 4 --p 4 --explain
  # what to measure next
  mmgp predict --params params.toml --next --noise 0.03 --top 5
  # what if
  mmgp predict --params params.toml --apus 32 --scale t_apu_s=4
  mmgp predict --params params.toml --break-even --host-factor 2.5
  mmgp predict --params params.toml --per-phase --change-cost 1e-3
  mmgp predict --params params.toml --nodes 8 --node-overhead 5e-6

Every (m, p) that the machine has room for is ranked where files, --apus or --machine speak of it; \
where runs alone speak, the m and p that ran, combined within the largest m*p that ran (--every: all \
integers between them). What is beyond what was timed is marked >. The order is that of predicted \
times and a standard deviation, a quarter of one where files give terms: where times have cliffs, what \
is known better is the safer choice. Intervals hold 95 % and, as the probability of being the best \
and the regret (what a choice costs against knowing the fastest), know how far the model is off: \
as the runs say, as such models were elsewhere, or as --misfit does. What cannot be told from the best (marked =) is faster than it with at least 5 %.";

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
    fn bounds(&self) -> Constraints {
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

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let guard = arguments.choice.guarded(arguments.runs.guarded(Guard::default()));
    guard
        .reads("--params", input::parameter_file(&arguments.params))
        .reads("--machine", arguments.machine.as_deref().and_then(input::machine_file))
        .writes("--out", arguments.out.as_deref())
        .check()?;
    let given = input::parameters(&arguments.params)?;
    let question = arguments.question(&given).map_err(translated)?;
    let text = answer(&question, arguments).map_err(translated)?;
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

/// What is asked of some parameters, answered as JSON.
pub fn json(arguments: &Arguments, given: &Parameters) -> Result<String> {
    let question = arguments.question(given).map_err(translated)?;
    answer(&Question { format: Format::Json, ..question }, arguments).map_err(translated)
}

/// What is believed of the times by some parameters, as the flags have it, and the configurations in question.
pub fn posterior(arguments: &Arguments, given: &Parameters) -> Result<(Posterior, Vec<Mapping>)> {
    let question = arguments.question(given).map_err(translated)?;
    let mappings = question.candidates().map_err(translated)?.mappings;
    Ok((question.posterior, mappings))
}

impl Arguments {
    /// The question that is about times, where one is question.
    fn of_times(&self) -> Option<&'static str> {
        let questions = [
            (self.explain, "--explain"),
            (self.break_even.asked().is_some(), "--break-even"),
            (self.phases.asked().is_some(), "--per-phase"),
            (self.nodes.asked().is_some(), "--nodes"),
        ];
        questions.into_iter().find(|(is_asked, _)| *is_asked).map(|(_, flag)| flag)
    }
}

/// Why a question about seconds has no answer.
fn of_others(question: &'static str, quantity: &Quantity) -> Error {
    Error::out_of_range(
        question,
        format!("parameters of {quantity}, whose terms are no seconds"),
        "parameters that were fitted to times",
    )
}

fn answer(question: &Question<'_>, arguments: &Arguments) -> Result<String> {
    let configuration = arguments.m.zip(arguments.p);
    let configuration = configuration.map(|(m, p)| Mapping::new(m, p)).transpose()?;
    if let Some(mapping) = configuration {
        question.parameters.check(mapping)?;
    }
    if let Some(flag) = arguments.of_times() {
        arguments.best.refuse_with(flag)?;
    }
    if arguments.explain {
        return terms::explanation(question, configuration);
    }
    if arguments.next.next {
        return choices::next(question, arguments.next.noise);
    }
    if let Some(objectives) = arguments.front.asked() {
        return choices::pareto(question, objectives, arguments.node_size.per_node);
    }
    if let (Some(flag), false) = (arguments.of_times(), question.quantity().is_time()) {
        return Err(of_others(flag, question.quantity()));
    }
    if let Some(host_factor) = arguments.break_even.asked() {
        return terms::break_even(question, host_factor);
    }
    if let Some(changes) = arguments.phases.asked() {
        return terms::phases(question, changes);
    }
    if let Some((nodes, level)) = arguments.nodes.asked() {
        return terms::nodes(question, nodes, level);
    }
    let line = output::waiting("predicting", output::Verbosity::Usual);
    let candidates = question.candidates()?;
    let (posterior, mappings) = (&question.posterior, &candidates.mappings);
    let ranking = match configuration {
        Some(mapping) => predict_one(posterior, mapping, mappings, question.sampling)?,
        None => rank(posterior, mappings, question.sampling)?,
    };
    line.finish_and_clear();
    warn(candidates.warning().as_slice());
    warn(&ranking.warnings);
    let what_if = match configuration {
        Some(_) => None,
        None => WhatIf::of(question, &ranking)?,
    };
    Ok(text(&ranking, candidates.feasible, question, configuration, what_if))
}

/// Rows of a ranking for people who do not say how many.
const ROWS: usize = 50;

fn text(
    ranking: &Ranking,
    feasible: usize,
    question: &Question<'_>,
    one: Option<Mapping>,
    what_if: Option<WhatIf>,
) -> String {
    let shown = ranking.configurations.len().min(question.shown);
    let configurations = &ranking.configurations[..shown];
    let objective = question.posterior.objective();
    match question.format {
        Format::Table => {
            let shown = question.shown_to_people(ROWS);
            let configurations = ranking.configurations.iter().take(shown);
            let left = ranking.configurations.len().saturating_sub(shown);
            let more = match (left, question.shown) {
                (1.., usize::MAX) => format!("... and {left} more (--top)\n"),
                _ => String::new(),
            };
            let head = match one {
                Some(_) => choices::basis(&question.posterior),
                None => choices::headline(ranking, &question.posterior),
            };
            let comparison = what_if.map(|what_if| format!("\n{}\n", what_if.sentence()));
            format!(
                "{head}\n{}{more}{}",
                ranking_table(configurations, objective).text(),
                comparison.unwrap_or_default()
            )
        }
        Format::Csv => {
            if let Some(what_if) = what_if {
                line(&what_if.sentence());
            }
            choices::csv(configurations, objective)
        }
        Format::Json => {
            let rows = configurations.iter().map(|it| choices::row(it, objective));
            let object = Object::new()
                .with("feasible", if one.is_some() { 1 } else { feasible })
                .with_some("choice", one.is_none().then(|| choices::choice(&ranking.choice)))
                .with_some("objective", unusual(objective))
                .with("basis", basis(&question.posterior.basis()))
                .with("configurations", rows.collect::<Vec<_>>())
                .with_some("what_if", what_if.map(|it| it.object()));
            output::json(&object)
        }
    }
}
