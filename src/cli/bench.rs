//! `mmgp bench`

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::input::MachineArguments;
use super::output::Verbosity;
use crate::error::Result;
use crate::measure::{self, REPETITIONS, micro_benchmarks};
use crate::table;

/// Run the micro-benchmarks on a machine and write their CSV files
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Repetitions of each measurement
    #[arg(long, value_name = "N", default_value_t = REPETITIONS, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

const HELP: &str = "\
Examples:
  mmgp bench --machine ps3 --out measured
  mmgp bench --machine my-blade.toml --repetitions 10 --out measured

Writes alpha.csv, offload.csv, context_switch.csv and collective.csv, which `mmgp fit` reads, \
and memory.csv, which only its refined model asks for.";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let target = arguments.machine.target()?;
    table::create_folder(&arguments.out)?;
    let (repetitions, seed) = (arguments.repetitions, arguments.seed);
    let verbosity = Verbosity::from(arguments.quiet);
    let tables = micro_benchmarks(&target, repetitions, seed, &verbosity)?;
    measure::write(&arguments.out, &tables)?;
    Ok(Answer::Done)
}
