//! `mmgp bench` and `mmgp profile`: what a machine measures for a fit.

#[cfg(target_os = "linux")]
mod device;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod ranks;
#[cfg(target_os = "linux")]
mod runner;

use std::path::{Path, PathBuf};

use clap::Args;
#[cfg(target_os = "linux")]
use host::on_host;

use super::Answer;
use super::files::Guard;
use super::input::{AppArguments, HOST, MachineArguments, SchedulerArguments};
use super::output::{Verbosity, data};
use super::tune::duration;
use crate::error::{Error, Result};
use crate::measure::{self, PROFILE_REPETITIONS, REPETITIONS, micro_benchmarks};
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
    /// With --machine host: the launcher of your MPI and its options, without -n, or none: "mpirun --oversubscribe" [default: mpirun, where it is]
    #[arg(long, value_name = "LAUNCHER")]
    mpirun: Option<String>,
    /// With --machine host: the compiler of that MPI, where it is not beside its launcher
    #[arg(long, value_name = "MPICC")]
    mpicc: Option<String>,
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
  mmgp bench --machine host --out measured    # this computer, in 30 s
  mmgp bench --machine host --mpirun mpirun.mpich --out measured

Writes alpha.csv, offload.csv, context_switch.csv and collective.csv, which `mmgp fit` reads, \
and memory.csv, which only its refined model asks for.

On this computer (Linux; no root) an APU is a worker thread. collective.csv is of \
your MPI, where its mpirun and mpicc are here, and collective_threads.csv among threads; else the \
first is among threads. Where OpenCL has a device, launch_opencl.csv has empty kernels, and \
offload_opencl.csv those between copies. What was not had, and what else had the processors, is said \
on standard error.";

impl BenchArguments {
    /// Those of this computer, as they are where no flag says otherwise.
    pub fn of_host(out: &Path, mpicc: Option<String>, quiet: bool) -> Self {
        Self {
            machine: MachineArguments { machine: HOST.into() },
            out: out.into(),
            repetitions: REPETITIONS,
            budget: None,
            mpirun: None,
            mpicc,
            seed: 1,
            quiet,
        }
    }
}

pub fn bench(arguments: &BenchArguments) -> Result<Answer> {
    if arguments.machine.machine == HOST {
        return on_host(arguments);
    }
    let of_host = [
        ("--budget", arguments.budget.is_some()),
        ("--mpirun", arguments.mpirun.is_some()),
        ("--mpicc", arguments.mpicc.is_some()),
    ];
    if let Some((flag, _)) = of_host.into_iter().find(|(_, is_there)| *is_there) {
        let found = format!("--machine {}", arguments.machine.machine);
        let expected =
            format!("--machine {HOST}; an emulated machine is measured --repetitions times");
        return Err(Error::out_of_range(flag, found, expected));
    }
    let target = arguments.machine.target()?;
    table::create_folder(&arguments.out)?;
    let (repetitions, seed) = (arguments.repetitions, arguments.seed);
    let verbosity = Verbosity::from(arguments.quiet);
    let tables = micro_benchmarks(&target, repetitions, seed, &verbosity)?;
    measure::write(&arguments.out, &tables, &[])?;
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
