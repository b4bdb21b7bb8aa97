//! `mmgp import-profile` and `mmgp export`: what comes from other tools, and what goes to them.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::choice::one_of;
use super::files::Guard;
use super::input::{parameter_file, parameters};
use super::output::{Format, Reply, Verbosity, data, line, waiting, warn};
use crate::answer::{Object, Style, Table};
use crate::error::{Error, Result, Warning};
use crate::export::Target;
use crate::export::runs::RunsTarget;
use crate::import::{AtP, Phases, profile};
use crate::intake::{self, Claims};
use crate::models::Parameters;
use crate::table::records::Profile;
use crate::table::{DeviceTrace, Source};

/// Hand parameters or timed runs over to other tools
#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(after_help = EXPORT_HELP)]
pub struct ExportArguments {
    /// Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)
    #[arg(long, value_name = "NAME|FILE", group = "what")]
    params: Option<String>,
    /// Timed runs, as fit --runs reads them
    #[arg(long, value_name = "FILE", group = "what")]
    runs: Option<PathBuf>,
    /// Format. Parameters: json, csv, c-header, rust, python, markdown, latex, starpu, simgrid,
    /// loggopsim; runs: extra-p, extra-p-json, extra-p-jsonl
    #[arg(long, value_name = "FORMAT")]
    to: String,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXPORT_HELP: &str = "\
Examples:
  mmgp export --params pbpi-qs20 --to c-header --out pbpi.h
  mmgp export --params params.toml --to json
  mmgp export --runs runs.csv --to extra-p --out runs.txt";

pub fn export(arguments: &ExportArguments) -> Result<Answer> {
    Guard::default()
        .reads("--params", arguments.params.as_deref().and_then(parameter_file))
        .reads("--runs", arguments.runs.as_deref())
        .writes("--out", arguments.out.as_deref())
        .check()?;
    if let Some(name) = &arguments.params {
        let target: Target = arguments.to.parse()?;
        let parameters = parameters(name)?;
        if target != Target::Json {
            warn(parameters.refined_left_out().as_slice());
        }
        warn(of_others(&parameters, target).as_slice());
        data(arguments.out.as_deref(), &target.write(&parameters))?;
    }
    if let Some(path) = &arguments.runs {
        let target: RunsTarget = arguments.to.parse()?;
        let progress = waiting("reading", Verbosity::Usual);
        let (runs, warnings) = intake::runs(&Source::read_any(path)?, &Claims::default())?;
        let text = target.write(&runs)?;
        progress.finish_and_clear();
        warn(&warnings);
        data(arguments.out.as_deref(), &text)?;
        let file = arguments.out.as_ref().map_or("FILE".into(), |out| out.display().to_string());
        line(&format!("to fit a model with Extra-P:\n{}", target.command(&file)));
    }
    Ok(Answer::Done)
}

/// What a format does not say of what is no time.
fn of_others(parameters: &Parameters, target: Target) -> Option<Warning> {
    let quantity = &parameters.quantity;
    let said = quantity.said_of_terms().filter(|_| target != Target::Json)?;
    Some(Warning::Note(format!("runs are {quantity}: every time in {} is {said}", target.name())))
}

/// Write profile.csv from a trace that a profiler has recorded
#[derive(Args)]
#[command(after_help = IMPORT_HELP)]
pub struct ImportArguments {
    /// Trace of a run at m = p = 1: JSON of PyTorch's profiler or of `mmgp emulate --trace`, or an
    /// SQLite export of Nsight Systems. `-` is JSON from standard input. Several are repetitions
    /// of the same run
    #[arg(value_name = "FILE", required = true)]
    traces: Vec<PathBuf>,
    /// A trace of the same work with P APUs, which tells the time that APUs can share from the time
    /// that they cannot
    #[arg(long, num_args = 2, value_names = ["P", "FILE"])]
    at_p: Option<Vec<PathBuf>>,
    /// What gets a row of its own
    #[arg(long, value_parser = one_of(&PHASES), default_value = "functions")]
    phases: Phases,
    /// How to print
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const IMPORT_HELP: &str = "\
Examples:
  mmgp import-profile trace.json --out profile.csv
  # three runs, and one with 4 GPUs
  mmgp import-profile r1.json r2.json r3.json --at-p 4 p4.json --out profile.csv
  # a database of Nsight Systems, all functions as one
  mmgp import-profile report.sqlite --phases one --format table

`mmgp fit --profile profile.csv --apus 4 --out params.toml` makes parameters of it.

How to record a trace:
  PyTorch          torch.profiler's export_chrome_trace(\"trace.json\")
  Nsight Systems   nsys profile --trace=cuda,mpi -o report ./app
                   nsys export --type sqlite report.nsys-rep
  emulated         mmgp emulate --trace trace.json

Off-loads are launches. Every moment from the first thing recorded to the last counts once: a device \
works (apu_parallel_time_s); none does, but one is being launched or waited for (gap_time_s); or \
neither (hpu_time_s), which belongs to the function whose launch comes next. The gap holds the way \
of the signals, so such a profile needs no offload.csv. Kernels of NCCL and operations of MPI are \
counted as collectives, and what they take while no device works is in no column: --collective of \
`mmgp fit` measures it. Where a run at m = 1 has none, put their number into that column.

One trace cannot split what APUs share (T_APU) from what they cannot (C_APU): without --at-p all is \
taken to be shared. Databases are read by builds with the feature nsys: `cargo install mmgp \
--features nsys`.";

const PHASES: [(Phases, &str, &str); 2] = [
    (Phases::Functions, "functions", "Each off-loaded function, whatever its templates"),
    (Phases::One, "one", "The whole run"),
];

pub fn import_profile(arguments: &ImportArguments) -> Result<Answer> {
    let other = arguments.other()?;
    let read = arguments
        .traces
        .iter()
        .fold(Guard::default(), |guard, trace| guard.reads("FILE", Some(trace)));
    let read = read.reads("--at-p", other.map(|(_, file)| file));
    read.writes("--out", arguments.out.as_deref()).check()?;
    let traces = arguments.traces.iter().map(|trace| DeviceTrace::read(trace));
    let traces: Vec<DeviceTrace> = traces.collect::<Result<_>>()?;
    let other = other.map(|(p, file)| Ok::<_, Error>((p, DeviceTrace::read(file)?))).transpose()?;
    let at_p = other.as_ref().map(|(p, trace)| AtP { p: *p, trace });
    let (rows, mut warnings) = profile(&traces, arguments.phases, at_p)?;
    if at_p.is_none() {
        warnings.push(unsplit(&rows));
    }
    warn(&warnings);
    let table = table(&rows);
    let json = Object::new().with("profile", &table);
    let reply = Reply { above: String::new(), table, json };
    data(arguments.out.as_deref(), &reply.text(arguments.format))?;
    Ok(Answer::Done)
}

impl ImportArguments {
    /// The other p with its file.
    fn other(&self) -> Result<Option<(u32, &Path)>> {
        let Some([p, file]) = self.at_p.as_deref() else { return Ok(None) };
        let number = p.to_str().and_then(|p| p.parse::<u32>().ok()).filter(|&p| p >= 2);
        let number = number.ok_or_else(|| {
            Error::out_of_range(
                "--at-p",
                p.display().to_string(),
                format!("a whole number from 2 to {}, then a file", u32::MAX),
            )
        })?;
        Ok(Some((number, file)))
    }
}

/// The warning that nothing is known of what APUs cannot share.
fn unsplit(rows: &[Profile]) -> Warning {
    let apu_s: f64 = rows.iter().map(|row| row.apu_parallel_time_s).sum();
    Warning::Note(format!(
        "one trace cannot tell T_APU from C_APU: all {apu_s:.6} s of APU time are taken for what APUs \
         can share, which flatters a large p; trace the same work at another p and give it as \
         --at-p P FILE"
    ))
}

/// The rows, with times in milliseconds for people.
fn table(rows: &[Profile]) -> Table<&Profile> {
    let ms = Style::Times(1e3, 3);
    Table::of(rows)
        .column("phase", Style::Plain, |row| &row.phase)
        .column("repetition", Style::Plain, |row| row.repetition)
        .headed("offloads", "off-loads", Style::Plain, |row| row.offloads)
        .column("collectives", Style::Plain, |row| row.collectives)
        .headed("hpu_time_s", "host [ms]", ms, |row| row.hpu_time_s)
        .headed("apu_parallel_time_s", "APU, shared [ms]", ms, |row| row.apu_parallel_time_s)
        .headed("apu_serial_time_s", "APU, serial [ms]", ms, |row| row.apu_serial_time_s)
        .headed("gap_time_s", "gap [ms]", ms, |row| row.gap_time_s)
}
