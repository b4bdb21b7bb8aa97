//! `mmgp bench` and `mmgp profile`: what the emulated machine measures for a fit.

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::{AppArguments, MachineArguments, SchedulerArguments};
use super::output::{Verbosity, data};
use crate::error::Result;
use crate::measure::{self, PROFILE_REPETITIONS, REPETITIONS, micro_benchmarks};
use crate::table::{self, csv};

/// Run the micro-benchmarks on a machine and write their CSV files
#[derive(Args)]
#[command(after_help = BENCH_HELP)]
pub struct BenchArguments {
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

const BENCH_HELP: &str = "\
Examples:
  mmgp bench --machine ps3 --out measured
  mmgp bench --machine my-blade.toml --repetitions 10 --out measured

Writes alpha.csv, offload.csv, context_switch.csv and collective.csv, which `mmgp fit` reads, \
and memory.csv, which only its refined model asks for.";

pub fn bench(arguments: &BenchArguments) -> Result<Answer> {
    let target = arguments.machine.target()?;
    table::create_folder(&arguments.out)?;
    let (repetitions, seed) = (arguments.repetitions, arguments.seed);
    let verbosity = Verbosity::from(arguments.quiet);
    let tables = micro_benchmarks(&target, repetitions, seed, &verbosity)?;
    measure::write(&arguments.out, &tables)?;
    Ok(Answer::Done)
}

/// Profile a sequential run (m = p = 1) of a program
#[derive(Args)]
#[command(after_help = PROFILE_HELP)]
pub struct ProfileArguments {
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

const PROFILE_HELP: &str = "\
Examples:
  mmgp profile --out profile.csv
  mmgp profile raxml --input alignment.phy --out profile.csv

One row for each off-loaded function and repetition, times in seconds: what `mmgp fit \
--profile` reads.";

pub fn profile(arguments: &ProfileArguments) -> Result<Answer> {
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
