//! `mmgp profile`

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::scheduler::SchedulerArguments;
use super::input::{AppArguments, MachineArguments};
use super::output::{Verbosity, data, progress};
use crate::apps::Application;
use crate::error::Result;
use crate::measure::ApplicationTarget;
use crate::table::csv;
use crate::table::records::Profile;

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
    #[arg(long, value_name = "N", default_value_t = REPETITIONS, value_parser = clap::value_parser!(u32).range(1..))]
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

pub const REPETITIONS: u32 = 3;

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    guard.writes("--out", arguments.out.as_deref()).check()?;
    let target = arguments.scheduler.target(&arguments.machine)?;
    let app = arguments.app.read()?;
    let (repetitions, seed) = (arguments.repetitions, arguments.app.seed());
    let rows = measure(&target, &*app, repetitions, seed, arguments.quiet.into())?;
    data(arguments.out.as_deref(), &csv::write(&rows))?;
    Ok(Answer::Done)
}

/// The profile, with its progress.
pub fn measure(
    target: &ApplicationTarget,
    app: &(dyn Application + 'static),
    repetitions: u32,
    seed: u64,
    verbosity: Verbosity,
) -> Result<Vec<Profile>> {
    let bar = progress("profile", target.profile_steps(app, repetitions), verbosity);
    target.profile(app, repetitions, seed, &bar.steps())
}
