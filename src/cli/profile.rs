//! `mmgp profile`

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::SchedulerArguments;
use super::input::{AppArguments, MachineArguments};
use super::output::{Verbosity, data};
use crate::error::Result;
use crate::measure::{self, PROFILE_REPETITIONS};
use crate::table::csv;

/// Profile a sequential run (m = p = 1) of a program
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Repetitions of the measurement
    #[arg(long, value_name = "N", default_value_t = PROFILE_REPETITIONS, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// No progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    app: AppArguments,
}

const HELP: &str = "\
Examples:
  mmgp profile --out profile.csv
  mmgp profile raxml --input alignment.phy --out profile.csv

One row for each off-loaded function and repetition, times in seconds: what `mmgp fit \
--profile` reads.";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    guard.writes("--out", arguments.out.as_deref()).check()?;
    let target = arguments.scheduler.target(&arguments.machine)?;
    let app = arguments.app.read()?;
    let (repetitions, seed) = (arguments.repetitions, arguments.app.seed());
    let verbosity = Verbosity::from(arguments.quiet);
    let rows = measure::profile(&target, &*app, repetitions, seed, &verbosity)?;
    data(arguments.out.as_deref(), &csv::write(&rows))?;
    Ok(Answer::Done)
}
