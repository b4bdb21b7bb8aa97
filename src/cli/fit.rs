//! `mmgp fit`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Answer;
use super::output::{data, warnings};
use super::{input, output};
use crate::error::{Error, Result, Warning};
use crate::fit::{Inputs, Measured, Runs, Settings, fit};
use crate::model::parameters::Decomposition;
use crate::table::Source;
use crate::table::csv::Record;

/// Estimate the parameters of the model from measured tables
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    mmgp fit --alpha alpha.csv --offload offload.csv --context-switch context_switch.csv \\\n      \
    --collective collective.csv --profile profile.csv --apus 16 --out params.toml\n  \
    mmgp fit --runs runs.csv --out params.toml\n\n\
    A term that a file measures is held at its value; --runs estimates the others by least \
    squares,\nor checks the model where none is left.")]
pub struct Arguments {
    /// Concurrent matrix products: matrix_size,processes,repetition,time_s
    #[arg(long, value_name = "FILE")]
    alpha: Option<PathBuf>,
    /// Ping-pong: bytes,repetition,round_trips,time_s
    #[arg(long, value_name = "FILE")]
    offload: Option<PathBuf>,
    /// Repeated yield: processes,repetition,switches,time_s
    #[arg(long, value_name = "FILE")]
    context_switch: Option<PathBuf>,
    /// Collectives: operation,ranks,bytes,repetition,calls,time_s
    #[arg(long, value_name = "FILE")]
    collective: Option<PathBuf>,
    /// Sequential profile: phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,
    /// apu_serial_time_s,gap_time_s
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Timed runs: m,p,repetition,time_s
    #[arg(long, value_name = "FILE")]
    runs: Option<PathBuf>,
    /// Parameter file to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Name of the parameter set
    #[arg(long, value_name = "TEXT", default_value = "fitted")]
    name: String,
    /// How the program divides its work among host threads
    #[arg(long, value_enum, default_value = "data")]
    decomposition: Shape,
    /// Independent tasks of a task decomposition
    #[arg(long, value_name = "B", required_if_eq("decomposition", "task"), value_parser = clap::value_parser!(u32).range(1..))]
    tasks: Option<u32>,
    /// APUs available; without it, as many as the largest measurement used
    #[arg(long, value_name = "N", conflicts_with = "machine", value_parser = clap::value_parser!(u32).range(1..))]
    apus: Option<u32>,
    /// Machine whose APUs are available: a built-in name or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    machine: Option<String>,
    /// Do not print how each term was obtained
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shape {
    /// One job whose data is cut into m pieces
    Data,
    /// Independent tasks dealt to m workers
    Task,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let mut doubts = Vec::new();
    let inputs = Inputs {
        alpha: read(arguments.alpha.as_deref(), &mut doubts)?,
        offload: read(arguments.offload.as_deref(), &mut doubts)?,
        context_switch: read(arguments.context_switch.as_deref(), &mut doubts)?,
        collective: read(arguments.collective.as_deref(), &mut doubts)?,
        profile: read(arguments.profile.as_deref(), &mut doubts)?,
        runs: read_runs(arguments.runs.as_deref(), &mut doubts)?,
    };
    let settings = Settings {
        name: arguments.name.clone(),
        decomposition: match (arguments.decomposition, arguments.tasks) {
            (Shape::Task, Some(tasks)) => Decomposition::Task { tasks },
            _ => Decomposition::Data,
        },
        apus: apus(arguments, &inputs)?,
    };
    let fitted = fit(&inputs, &settings)?;
    doubts.extend(fitted.warnings);
    if output::Verbosity::from(arguments.quiet) == output::Verbosity::Usual {
        eprintln!("{}", fitted.report);
    }
    warnings(&doubts);
    data(arguments.out.as_deref(), &fitted.parameters.to_toml())?;
    Ok(Answer::Done)
}

fn read<R: Record>(path: Option<&Path>, doubts: &mut Vec<Warning>) -> Result<Option<Measured<R>>> {
    let Some(path) = path else { return Ok(None) };
    let (rows, more) = Measured::read(&Source::read(path)?)?;
    doubts.extend(more);
    Ok(Some(rows))
}

fn read_runs(path: Option<&Path>, doubts: &mut Vec<Warning>) -> Result<Option<Runs>> {
    let Some(path) = path else { return Ok(None) };
    let (runs, more) = Runs::read(&Source::read(path)?)?;
    doubts.extend(more);
    Ok(Some(runs))
}

/// As the flags say, else what the largest run or micro-benchmark used.
fn apus(arguments: &Arguments, inputs: &Inputs) -> Result<u32> {
    if let Some(name) = &arguments.machine {
        return Ok(input::machine(name)?.layout.spes());
    }
    if let Some(apus) = arguments.apus {
        return Ok(apus);
    }
    let runs = inputs.runs.as_ref().map(Runs::apus_used);
    let alpha = inputs.alpha.iter().flat_map(|file| &file.rows).map(|row| row.processes);
    let ranks = inputs.collective.iter().flat_map(|file| &file.rows).map(|row| row.ranks);
    alpha.chain(ranks).chain(runs).max().ok_or_else(|| Error::OutOfRange {
        name: "--apus",
        found: "nothing that tells how many APUs there are".into(),
        expected: "--apus N or --machine NAME".into(),
    })
}
