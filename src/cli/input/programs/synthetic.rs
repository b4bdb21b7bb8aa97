//! The synthetic workload on the command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;

use super::{Entry, Program, Size};
use crate::apps::Application;
use crate::apps::synthetic::{Burst, Durations, NAME, Synthetic};
use crate::cli::emulate::{self, Once};
use crate::cli::input::{SeedArguments, source};
use crate::cli::output::warn;
use crate::complexity::Sizes;
use crate::error::Result;
use crate::table::csv;
use crate::table::records::Turn;
use crate::units::Seconds;

/// The program on the command line.
pub const ENTRY: Entry = Entry {
    flags: &[
        ("off-loads of all tasks", "--streams times --offloads"),
        ("part of an off-load that can be shared", "--shared"),
        ("time of the host's version", "--on-host"),
        ("host burst", "--ppe-us"),
        ("off-load", "--task-us"),
        ("trace", "--distribution trace:FILE"),
    ],
    ..Entry::of::<SyntheticArguments>(
        NAME,
        "Host bursts and off-loads of given durations",
        Size::new("off-loads", &[100, 200, 400, 800]),
    )
};

/// Flags of the synthetic workload.
#[derive(Args)]
pub struct SyntheticArguments {
    /// Independent streams of off-loads, which processes take one after the other
    #[arg(long, value_name = "N", default_value_t = 16)]
    streams: u32,
    /// Off-loads of a stream, one after the other
    #[arg(long, value_name = "N", default_value_t = 1000)]
    offloads: u32,
    /// Time of an off-load on one SPE [us]
    #[arg(long, value_name = "T", default_value_t = 96.0)]
    task_us: f64,
    /// Time of the host before each [us]
    #[arg(long, value_name = "T", default_value_t = 11.0)]
    ppe_us: f64,
    /// Distribution of the times of off-loads; a trace is a CSV file of turn,ppe_us,task_us
    #[arg(long, value_name = "constant|exponential|trace:FILE", default_value = "constant")]
    distribution: Distribution,
    /// Part of an off-load that the SPEs of a process can share, 0 to 1
    #[arg(long, value_name = "PART", default_value_t = 0.0)]
    shared: f64,
    /// Time of the host's own version of an off-load, in times of an SPE; without it, there is none
    #[arg(long, value_name = "TIMES")]
    on_host: Option<f64>,
    #[command(flatten)]
    seed: SeedArguments,
}

impl Program for SyntheticArguments {
    fn seed(&self) -> u64 {
        self.seed.seed
    }

    fn read(&self) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.of_length(self.offloads)?))
    }

    fn once(&self, _: &emulate::Arguments) -> Result<Box<dyn Once>> {
        Ok(Box::new(self.of_length(self.offloads)?))
    }

    /// The workload with n off-loads in each stream.
    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>> {
        let offloads = sizes.of("n").map_or(u32::MAX, |n| n as u32);
        Ok(Box::new(self.of_length(offloads)?))
    }

    fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        vec![("--distribution", self.trace())]
    }
}

/// Distribution of durations, on the command line.
#[derive(Debug, Clone)]
enum Distribution {
    Constant,
    Exponential,
    Trace(PathBuf),
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match (text, text.strip_prefix("trace:")) {
            ("constant", _) => Ok(Self::Constant),
            ("exponential", _) => Ok(Self::Exponential),
            (_, Some(file)) if !file.is_empty() => Ok(Self::Trace(file.into())),
            _ => Err("expected constant, exponential or trace:FILE".into()),
        }
    }
}

impl SyntheticArguments {
    fn of_length(&self, offloads: u32) -> Result<Synthetic> {
        let synthetic = Synthetic::new(self.streams, offloads, self.durations()?, self.seed.seed)?;
        let synthetic = synthetic.sharing(self.shared)?;
        match self.on_host {
            None => Ok(synthetic),
            Some(times) => synthetic.on_host(times),
        }
    }

    /// The file of the trace, where there is one.
    fn trace(&self) -> Option<&Path> {
        match &self.distribution {
            Distribution::Trace(file) => Some(file),
            Distribution::Constant | Distribution::Exponential => None,
        }
    }

    fn durations(&self) -> Result<Durations> {
        let each = burst(self.ppe_us, self.task_us);
        match &self.distribution {
            Distribution::Constant => Durations::constant(each),
            Distribution::Exponential => Durations::exponential(each),
            Distribution::Trace(file) => {
                let (turns, warnings): (Vec<Turn>, _) = csv::read(&*source(file)?)?;
                warn(&warnings);
                Durations::trace(turns.iter().map(|it| burst(it.ppe_us, it.task_us)).collect())
            }
        }
    }
}

fn burst(host_us: f64, offload_us: f64) -> Burst {
    Burst { host: Seconds(1e-6 * host_us), offload: Seconds(1e-6 * offload_us) }
}
