//! `mmgp bench` and `mmgp profile`: what a machine measures for a fit.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::{AppArguments, HOST, MachineArguments, SchedulerArguments};
use super::output::{Verbosity, data};
#[cfg(target_os = "linux")]
use super::output::{line, waiting, warn};
use super::tune::duration;
use crate::error::{Error, Result};
use crate::measure::{self, PROFILE_REPETITIONS, REPETITIONS, micro_benchmarks};
#[cfg(target_os = "linux")]
use crate::native::{self, bench::Settings};
use crate::table::{self, csv};
use crate::units::Seconds;

/// Run the micro-benchmarks on a machine and write their CSV files
#[derive(Args)]
#[command(after_help = BENCH_HELP)]
pub struct BenchArguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Repetitions of each measurement; with --machine host at least so many
    #[arg(long, value_name = "N", default_value_t = REPETITIONS, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// With --machine host: repeat until means are known to 2 %, but no longer than this: 10s, 2m [default: 25s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Seconds>,
    /// Seed of all random numbers; with --machine host of the order of measurements
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
  mmgp bench --machine host --out measured    # this computer, in 25 s

Writes alpha.csv, offload.csv, context_switch.csv and collective.csv, which `mmgp fit` reads, \
and memory.csv, which only its refined model asks for. On this computer (Linux; no root) an APU is a \
worker thread; what was not had, and what else had the processors, is said on standard error.";

impl BenchArguments {
    /// Those of this computer, as they are where no flag says otherwise.
    pub fn of_host(out: &Path, quiet: bool) -> Self {
        let machine = MachineArguments { machine: HOST.into() };
        Self { machine, out: out.into(), repetitions: REPETITIONS, budget: None, seed: 1, quiet }
    }
}

pub fn bench(arguments: &BenchArguments) -> Result<Answer> {
    if arguments.machine.machine == HOST {
        return on_host(arguments);
    }
    if arguments.budget.is_some() {
        let found = format!("--machine {}", arguments.machine.machine);
        let expected =
            format!("--machine {HOST}; an emulated machine is measured --repetitions times");
        return Err(Error::out_of_range("--budget", found, expected));
    }
    let target = arguments.machine.target()?;
    table::create_folder(&arguments.out)?;
    let (repetitions, seed) = (arguments.repetitions, arguments.seed);
    let verbosity = Verbosity::from(arguments.quiet);
    let tables = micro_benchmarks(&target, repetitions, seed, &verbosity)?;
    measure::write(&arguments.out, &tables, &[])?;
    Ok(Answer::Done)
}

/// The time that measuring this computer takes where nobody says it.
#[cfg(target_os = "linux")]
const BUDGET: Seconds = Seconds(25.0);

#[cfg(target_os = "linux")]
fn on_host(arguments: &BenchArguments) -> Result<Answer> {
    table::create_folder(&arguments.out)?;
    let (repetitions, seed) = (arguments.repetitions, arguments.seed);
    let budget = arguments.budget.unwrap_or(BUDGET);
    let progress = waiting("micro-benchmarks", Verbosity::from(arguments.quiet));
    let measured = native::bench::measure(Settings { repetitions, budget, seed })?;
    drop(progress);
    warn(&measured.warnings);
    if !arguments.quiet {
        line(&measured.conditions.join("; "));
    }
    measure::write(&arguments.out, &measured.tables, &measured.conditions)?;
    Ok(Answer::Done)
}

#[cfg(not(target_os = "linux"))]
fn on_host(_: &BenchArguments) -> Result<Answer> {
    let expected = "an emulated machine: this computer is measured under Linux alone";
    Err(Error::out_of_range("--machine", HOST, expected))
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
