//! `mmgp bench`

use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::input::MachineArguments;
use super::output::{Verbosity, progress};
use crate::error::Result;
use crate::measure::ApplicationTarget;
use crate::table::{self, MicroBenchmarks, csv};

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

pub const REPETITIONS: u32 = 5;

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let target = arguments.machine.target()?;
    table::create_folder(&arguments.out)?;
    let tables = measure(&target, arguments.repetitions, arguments.seed, arguments.quiet.into())?;
    write(&arguments.out, &tables)?;
    Ok(Answer::Done)
}

/// All micro-benchmarks, with their progress.
pub fn measure(
    target: &ApplicationTarget,
    repetitions: u32,
    seed: u64,
    verbosity: Verbosity,
) -> Result<MicroBenchmarks> {
    let steps = target.micro_benchmark_steps(repetitions);
    let bar = progress("micro-benchmarks", steps, verbosity);
    target.micro_benchmarks(repetitions, seed, &bar.steps())
}

/// Writes the tables into a folder that exists.
pub fn write(folder: &Path, tables: &MicroBenchmarks) -> Result<()> {
    table::write(&folder.join("alpha.csv"), csv::write(&tables.alpha))?;
    table::write(&folder.join("offload.csv"), csv::write(&tables.offload))?;
    table::write(&folder.join("context_switch.csv"), csv::write(&tables.context_switch))?;
    table::write(&folder.join("collective.csv"), csv::write(&tables.collective))?;
    table::write(&folder.join("memory.csv"), csv::write(&tables.memory))
}
