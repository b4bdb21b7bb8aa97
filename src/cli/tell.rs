//! `mmgp tell`

use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::tune::{Asked, Session, asked, duration};
use crate::attempt::{Attempt, Status};
use crate::error::{Error, Result};
use crate::intake::{Measurand, Outcome};
use crate::launch;
use crate::quantity::Quantity;
use crate::table::Source;
use crate::units::Seconds;

/// Tell what came of a run that `mmgp ask` asked for, or of any other
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder of the log
    #[arg(long, value_name = "DIR", default_value = super::tune::FOLDER)]
    out: PathBuf,
    /// Processes
    #[arg(long, required_unless_present = "results")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    m: Option<u32>,
    /// Threads or accelerators of each
    #[arg(long, required_unless_present = "results")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    p: Option<u32>,
    /// A further factor that it ran with; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = factor, conflicts_with = "results")]
    param: Vec<(String, String)>,
    /// The id that it was asked for with; each is told once
    #[arg(long, value_name = "N", conflicts_with = "results")]
    id: Option<u64>,
    #[command(flatten)]
    found: Found,
    /// What is measured where that is no time, as ask has it: joules, 'max score'. Of --results a
    /// column, or an expression over columns
    #[arg(long, value_name = "WHAT")]
    objective: Option<String>,
    #[command(flatten)]
    said: super::input::ClaimArguments,
}

/// What came of it.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Found {
    /// It took this: seconds, or 90ms, 2m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Seconds>,
    /// What it measured instead, of what --objective names: a number above 0
    #[arg(long, value_name = "NUMBER", value_parser = positive, requires = "objective")]
    value: Option<f64>,
    /// It failed, for this reason: it is not to be chosen
    #[arg(long, value_name = "REASON")]
    failed: Option<String>,
    /// It was stopped after this: it takes longer
    #[arg(long, value_name = "TIME", value_parser = duration)]
    above: Option<Seconds>,
    /// What another engine wrote of the runs of --emit: the tasks of HyperQueue as JSON, a job log of
    /// GNU parallel, a table in any form that `mmgp look` understands, with a column id where there
    /// are ids; what was told before is passed over
    #[arg(long, value_name = "FILE", conflicts_with_all = ["m", "p"])]
    results: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  mmgp tell --out tune --m 8 --p 4 --time 12.5
  mmgp tell --out tune --m 8 --p 4 --objective joules --value 532
  mmgp tell --out tune --m 64 --p 1 --failed 'out of memory'
  mmgp tell --out tune --m 1 --p 1 --above 10m
  mmgp tell --out tune --results tune/results.csv";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let mut session = Session::open(&arguments.out, &[])?;
    if let Some(results) = &arguments.found.results {
        return collect(arguments, results, &mut session);
    }
    let (Some(m), Some(p)) = (arguments.m, arguments.p) else {
        return Ok(Answer::Done);
    };
    let id = arguments.id.unwrap_or_else(|| next_id(&session));
    if was_told(&session, id) {
        return Err(Error::out_of_range(
            "--id",
            format!("{id}, of which was told before"),
            "one of which was not",
        ));
    }
    let found = &arguments.found;
    let quantity = match (&arguments.objective, found.value) {
        (Some(objective), Some(_)) => Measurand::quantity_of(objective)?,
        _ => Quantity::Time,
    };
    let time = found.time.map(|it| it.0);
    let time = time.or(found.value.map(|value| quantity.direction().as_time(value)));
    let outcome = match (&found.failed, found.above, time) {
        (Some(why), ..) => Outcome::Failed { why: why.clone(), exit: None },
        (None, Some(above), _) => Outcome::Longer(above.0),
        (None, None, Some(time)) => Outcome::Time(time),
        // The flags ask for one of them.
        (None, None, None) => return Ok(Answer::Done),
    };
    let params = arguments.param.iter().cloned().collect();
    let attempt = Attempt { params, ..Attempt::new(id, m, p, Status::Ok) };
    tell(&mut session, attempt, outcome, quantity)?;
    Ok(Answer::Done)
}

fn next_id(session: &Session) -> u64 {
    session.log.attempts().iter().map(|it| it.id).max().unwrap_or(0) + 1
}

fn was_told(session: &Session, id: u64) -> bool {
    session.log.attempts().iter().any(|it| it.id == id)
}

/// Writes what came of a run whose configuration an attempt has.
fn tell(session: &mut Session, of: Attempt, outcome: Outcome, quantity: Quantity) -> Result<()> {
    let is_same = |it: &&Attempt| (it.m, it.p) == (of.m, of.p) && it.params == of.params;
    let repetition = session.log.attempts().iter().filter(is_same).count() as u32 + 1;
    let attempt = Attempt { repetition, time_source: "told".into(), ..of };
    let attempt = match outcome {
        Outcome::Time(time_s) => {
            let wall_s = quantity.is_time().then_some(time_s);
            let mut attempt = Attempt { status: Status::Ok, wall_s, exit: Some(0), ..attempt };
            attempt.measured(Seconds(time_s), quantity);
            attempt
        }
        Outcome::Longer(bound) => Attempt {
            status: Status::Timeout,
            wall_s: Some(bound),
            reason: Some(format!("stopped after {}", Seconds(bound))),
            ..attempt
        },
        Outcome::Failed { why, exit } => {
            Attempt { status: Status::Failed, reason: Some(why), exit, ..attempt }
        }
    };
    session.log.append(attempt)
}

/// Tells all that another engine wrote and nobody told yet.
fn collect(arguments: &Arguments, results: &Path, session: &mut Session) -> Result<Answer> {
    let folder = &arguments.out;
    let source = Source::read_any(results)?;
    let (mut told, mut known) = (0, 0);
    let mut claims = arguments.said.claims();
    claims.objective = arguments.objective.clone();
    for result in launch::results::read(&source, &claims)? {
        if result.id.is_some_and(|id| was_told(session, id)) {
            known += 1;
            continue;
        }
        let asked = result.id.map(|id| asked(folder, id)).transpose()?.flatten();
        let of_asked = asked.as_ref().map(Asked::mapping).transpose()?;
        let Some(mapping) = result.mapping.or(of_asked) else {
            return Err(Error::out_of_range(
                "--results",
                format!("{}, with ids that were not asked in this folder", source.name),
                "what came of the runs of --emit with the same --out",
            ));
        };
        let (nodes, params) = asked.map_or((1, Default::default()), |it| (it.nodes, it.params));
        let id = result.id.unwrap_or_else(|| next_id(session));
        let attempt = Attempt::new(id, mapping.m(), mapping.p(), Status::Ok);
        tell(session, Attempt { nodes, params, ..attempt }, result.outcome, result.quantity)?;
        told += 1;
    }
    super::output::line(&format!("{told} runs were told, {known} were known"));
    Ok(Answer::Done)
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|it| *it > 0.0 && it.is_finite());
    number.ok_or_else(|| format!("{text:?} is no number above 0"))
}

fn factor(text: &str) -> std::result::Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.into(), value.into()))
        .ok_or_else(|| "expected NAME=VALUE".into())
}
