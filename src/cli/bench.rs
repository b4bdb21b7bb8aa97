//! `mmgp bench`

use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::input::MachineArguments;
use super::output::waiting;
use crate::error::Result;
use crate::measure::{MicroBenchmarks, micro_benchmarks};
use crate::table::{self, csv};

/// Run the micro-benchmarks on a machine and write their CSV files
#[derive(Args)]
#[command(after_help = "Example: mmgp bench --machine ps3 --out measured\n\n\
    Writes alpha.csv, offload.csv, context_switch.csv and collective.csv, and for the\n\
    refined model memory.csv.")]
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
}

pub const REPETITIONS: u32 = 5;

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let machine = arguments.machine.read()?;
    let bar = waiting("measuring");
    let tables = micro_benchmarks(&machine, arguments.repetitions, arguments.seed);
    bar.finish_and_clear();
    let tables = tables?;
    table::create_folder(&arguments.out)?;
    write(&arguments.out, &tables)?;
    Ok(Answer::Done)
}

/// Writes the tables into a folder that exists.
pub fn write(folder: &Path, tables: &MicroBenchmarks) -> Result<()> {
    table::write(&folder.join("alpha.csv"), csv::write(&tables.alpha))?;
    table::write(&folder.join("offload.csv"), csv::write(&tables.offload))?;
    table::write(&folder.join("context_switch.csv"), csv::write(&tables.context_switch))?;
    table::write(&folder.join("collective.csv"), csv::write(&tables.collective))?;
    table::write(&folder.join("memory.csv"), csv::write(&tables.memory))
}
