//! `mmgp tell`

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::tune::{Session, duration};
use crate::attempt::{Attempt, Status};
use crate::error::{Error, Result};
use crate::units::Seconds;

/// Tell what came of a run that `mmgp ask` asked for, or of any other
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder of the log
    #[arg(long, value_name = "DIR", default_value = super::tune::FOLDER)]
    out: PathBuf,
    /// Processes
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    m: u32,
    /// Threads or accelerators of each
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    p: u32,
    /// A further factor that it ran with; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = factor)]
    param: Vec<(String, String)>,
    /// The id that it was asked for with; each is told once
    #[arg(long, value_name = "N")]
    id: Option<u64>,
    #[command(flatten)]
    found: Found,
}

/// What came of it.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Found {
    /// It took this: seconds, or 90ms, 2m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Seconds>,
    /// It failed, for this reason: it is not to be chosen
    #[arg(long, value_name = "REASON")]
    failed: Option<String>,
    /// It was stopped after this: it takes longer
    #[arg(long, value_name = "TIME", value_parser = duration)]
    above: Option<Seconds>,
}

const HELP: &str = "\
Examples:
  mmgp tell --out tune --m 8 --p 4 --time 12.5
  mmgp tell --out tune --m 64 --p 1 --failed 'out of memory'
  mmgp tell --out tune --m 1 --p 1 --above 10m";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let Arguments { m, p, found, .. } = arguments;
    let mut session = Session::open(&arguments.out, &[])?;
    let attempts = session.log.attempts();
    let last = attempts.iter().map(|it| it.id).max().unwrap_or(0);
    if let Some(id) = arguments.id
        && attempts.iter().any(|it| it.id == id)
    {
        return Err(Error::OutOfRange {
            name: "--id",
            found: format!("{id}, of which was told before"),
            expected: "one of which was not".into(),
        });
    }
    let params: BTreeMap<String, String> = arguments.param.iter().cloned().collect();
    let same = attempts.iter().filter(|it| (it.m, it.p) == (*m, *p) && it.params == params);
    let (status, reason, bound) = match (&found.failed, found.above) {
        (Some(reason), _) => (Status::Failed, Some(reason.clone()), None),
        (None, Some(above)) => {
            (Status::Timeout, Some(format!("stopped after {above}")), Some(above))
        }
        (None, None) => (Status::Ok, None, None),
    };
    let attempt = Attempt {
        repetition: same.count() as u32 + 1,
        reason,
        wall_s: bound.or(found.time).map(|time| time.0),
        time_s: found.time.map(|time| time.0),
        time_source: "told".into(),
        params,
        ..Attempt::new(arguments.id.unwrap_or(last + 1), *m, *p, status)
    };
    session.log.append(attempt)?;
    Ok(Answer::Done)
}

fn factor(text: &str) -> std::result::Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.into(), value.into()))
        .ok_or_else(|| "expected NAME=VALUE".into())
}
