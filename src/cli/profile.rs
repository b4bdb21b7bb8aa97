//! `mmgp profile`

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::input::{AppArguments, MachineArguments};
use super::output::{data, waiting};
use crate::error::Result;
use crate::measure::profile::profile;
use crate::table::csv;

/// Profile a sequential run (m = p = 1) of a program
#[derive(Args)]
#[command(after_help = "Example: mmgp profile --input alignment.phy --out profile.csv\n\n\
    One row for each off-loaded function and repetition, times in seconds.")]
pub struct Arguments {
    #[command(flatten)]
    app: AppArguments,
    #[command(flatten)]
    machine: MachineArguments,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Repetitions of the run
    #[arg(long, value_name = "N", default_value_t = REPETITIONS, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
}

pub const REPETITIONS: u32 = 3;

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let (machine, app) = (arguments.machine.read()?, arguments.app.read()?);
    let bar = waiting("profiling");
    let rows = profile(&app, &machine, arguments.repetitions, arguments.app.seed);
    bar.finish_and_clear();
    data(arguments.out.as_deref(), &csv::write(&rows?))?;
    Ok(Answer::Done)
}
