//! The synthetic workload on the command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;

use super::{AppArguments, Entry, PROCESSORS, Size, single, source};
use crate::apps::Application;
use crate::apps::synthetic::{Burst, Durations, NAME, Synthetic};
use crate::cli::emulate::SyntheticOnce;
use crate::cli::output::warn;
use crate::cli::study;
use crate::complexity::Sizes;
use crate::error::{Error, Result};
use crate::table::csv;
use crate::table::records::Turn;
use crate::units::Seconds;

/// How it is read.
pub const ENTRY: Entry = Entry {
    name: NAME,
    read: |arguments| Ok(Box::new(read(arguments)?)),
    once: |arguments, emulate| {
        emulate.samples().refuse(NAME)?;
        Ok(Box::new(SyntheticOnce(read(arguments)?)))
    },
    size: Size {
        name: "off-loads",
        defaults: &[100, 200, 400, 800],
        processors: &PROCESSORS,
        further: &[],
        at: at_size,
    },
    study: study::by_mapping,
    native: None,
    plain: None,
    mapping: single,
    folder_files: &[],
    flags: &[
        ("off-loads of all tasks", "--streams times --offloads"),
        ("part of an off-load that can be shared", "--shared"),
        ("time of the host's version", "--on-host"),
        ("host burst", "--ppe-us"),
        ("off-load", "--task-us"),
        ("trace", "--distribution trace:FILE"),
    ],
};

/// The workload with so many off-loads in each stream.
fn at_size(arguments: &AppArguments, sizes: &Sizes) -> Result<Box<dyn Application>> {
    let offloads = sizes.of("n").map_or(u32::MAX, |n| n as u32);
    Ok(Box::new(of_length(arguments, offloads)?))
}

/// The workload.
fn read(arguments: &AppArguments) -> Result<Synthetic> {
    if arguments.input.is_some() {
        return Err(Error::OutOfRange {
            name: "--input",
            found: format!("--app {NAME}"),
            expected: "a program that reads an alignment; durations come from --distribution"
                .into(),
        });
    }
    of_length(arguments, arguments.synthetic.offloads)
}

fn of_length(arguments: &AppArguments, offloads: u32) -> Result<Synthetic> {
    let own = &arguments.synthetic;
    let synthetic = Synthetic::new(own.streams, offloads, own.durations()?, arguments.seed)?;
    let synthetic = synthetic.sharing(own.shared)?;
    match own.on_host {
        None => Ok(synthetic),
        Some(times) => synthetic.on_host(times),
    }
}

/// Its durations.
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
    /// How the times of off-loads are spread; a trace is a CSV file of turn,ppe_us,task_us
    #[arg(long, value_name = "constant|exponential|trace:FILE", default_value = "constant")]
    distribution: Distribution,
    /// Part of an off-load that the SPEs of a process can share, 0 to 1
    #[arg(long, value_name = "PART", default_value_t = 0.0)]
    shared: f64,
    /// The host can do an off-load itself, in so many times the time of an SPE
    #[arg(long, value_name = "TIMES")]
    on_host: Option<f64>,
}

/// How durations are spread, on the command line.
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
    /// The file of the trace, where there is one.
    pub fn trace(&self) -> Option<&Path> {
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
