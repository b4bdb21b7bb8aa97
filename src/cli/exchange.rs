//! `mmgp import-profile` and `mmgp export`: what comes from other tools, and what goes to them.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::choice::{name_of, one_of};
use super::files::Guard;
use super::input::{parameter_file, parameters};
use super::output::{Format, Reply, Verbosity, data, line, waiting, warn};
use crate::answer::{Object, Style, Table};
use crate::error::{Error, Result, Warning};
use crate::export::Target;
use crate::export::runs::RunsTarget;
use crate::import::{AtP, Division, Phases, profile, terms};
use crate::intake::{self, Claims};
use crate::models::Parameters;
use crate::table::records::{Profile, TermRow};
use crate::table::{DeviceTrace, ProfilerFile, Source};

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

/// Write profile.csv or terms.csv from what a profiler has recorded
#[derive(Args)]
#[command(after_help = IMPORT_HELP)]
pub struct ImportArguments {
    /// A trace of devices, for profile.csv, of a run at m = p = 1: JSON of PyTorch's profiler or of
    /// `mmgp emulate --trace`, or an SQLite export of Nsight Systems; several are repetitions of the
    /// same run. Or a profile of ranks and threads, for terms.csv: JSON of TALP (DLB) or of Caliper
    /// (json-split), or profile.cubex of Score-P; several are runs, each called as its file. Which
    /// it is, its content says; it may be compressed (.gz, .xz). `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// A trace of the same work with P APUs, which tells the time that APUs can share from the time
    /// that they cannot
    #[arg(long, num_args = 2, value_names = ["P", "FILE"])]
    at_p: Option<Vec<PathBuf>>,
    /// What gets a row of its own in profile.csv; without it, functions
    #[arg(long, value_parser = one_of(&PHASES))]
    phases: Option<Phases>,
    /// Ranks of the run, for a profile that does not say
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    m: Option<u32>,
    /// Threads of each rank, for a profile that does not say, or tells its processors alone
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    p: Option<u32>,
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
  # two runs under TALP: their terms
  mmgp import-profile talp_1x1.json talp_4x8.json --out terms.csv
  # a profile of Caliper that does not say how many threads its ranks had
  mmgp import-profile caliper.json --p 8 --out terms.csv

`mmgp fit --profile profile.csv --apus 4 --out params.toml` makes parameters of it.

How to record a trace:
  PyTorch          torch.profiler's export_chrome_trace(\"trace.json\")
  Nsight Systems   nsys profile --trace=cuda,mpi -o report ./app
                   nsys export --type sqlite report.nsys-rep
  emulated         mmgp emulate --trace trace.json
How to record a profile of ranks and threads:
  TALP             DLB_ARGS=\"--talp --ompt --talp-openmp --talp-summary=process
                   --talp-output-file=talp.json\"
  Caliper          cali-query -q \"select *,sum(sum#time.duration) as time unit sec
                   group by prop:nested,mpi.rank format json-split\"
  Score-P          scorep-*/profile.cubex itself: what cube_dump prints of it tells no ranks

Off-loads are launches. Every moment from the first thing recorded to the last counts once: a device \
works (apu_parallel_time_s); none does, but one is being launched or waited for (gap_time_s); or \
neither (hpu_time_s), which belongs to the function whose launch comes next. The gap holds the way \
of the signals, so such a profile needs no offload.csv. Kernels of NCCL and operations of MPI are \
counted as collectives, and what they take while no device works is in no column: --collective of \
`mmgp fit` measures it. Where a run at m = 1 has none, put their number into that column.

One trace cannot split what APUs share (T_APU) from what they cannot (C_APU): without --at-p all is \
taken to be shared. Databases are read by builds with the feature nsys: `cargo install mmgp \
--features nsys`.

terms.csv says of each rank and phase what was seen, in seconds, bytes and counts: time, t_hpu (host), \
t_apu (work of all threads in regions), c_apu (what the slowest works beyond the mean), gap, offloads \
(regions), collectives, t_col and wait (the least over the ranks, and the rest), p2p. m and p are the \
file's ranks and threads of each; what it does not say is asked for. What a tool does not tell apart is \
in no row, and a warning says so.";

const PHASES: [(Phases, &str, &str); 2] = [
    (Phases::Functions, "functions", "Each off-loaded function, whatever its templates"),
    (Phases::One, "one", "The whole run"),
];

pub fn import_profile(arguments: &ImportArguments) -> Result<Answer> {
    let other = arguments.other()?;
    let read = arguments
        .files
        .iter()
        .fold(Guard::default(), |guard, file| guard.reads("FILE", Some(file)));
    let read = read.reads("--at-p", other.map(|(_, file)| file));
    read.writes("--out", arguments.out.as_deref()).check()?;
    let (traces, rows, warnings) = arguments.sorted()?;
    let text = match (traces.is_empty(), rows.is_empty()) {
        (true, _) => arguments.terms(&rows, &warnings)?,
        (_, true) => arguments.profile(&traces, other)?,
        _ => {
            let found = "traces of devices beside profiles of ranks";
            return Err(Error::out_of_range("FILE", found, "files of one kind"));
        }
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

impl ImportArguments {
    /// What the files are: traces of devices, or rows of terms with what is to be said of them.
    fn sorted(&self) -> Result<(Vec<DeviceTrace>, Vec<TermRow>, Vec<Warning>)> {
        let (mut traces, mut rows, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        let division = Division { m: self.m, p: self.p };
        for path in &self.files {
            let file = ProfilerFile::read(path)?;
            match (terms(&file, division)?, file) {
                (Some((found, said)), _) => {
                    let run = found.first().map(|row| &row.run);
                    if rows.iter().any(|row: &TermRow| Some(&row.run) == run) {
                        let found = path.display().to_string();
                        return Err(Error::out_of_range("FILE", found, "each file once"));
                    }
                    rows.extend(found);
                    warnings.extend(said);
                }
                (None, file) => traces.push(DeviceTrace::of_file(file)?),
            }
        }
        Ok((traces, rows, warnings))
    }

    /// The text of terms.csv.
    fn terms(&self, rows: &[TermRow], warnings: &[Warning]) -> Result<String> {
        let expected = "nothing, as FILE is a profile of ranks and no trace";
        if self.at_p.is_some() {
            return Err(Error::out_of_range("--at-p", "a trace", expected));
        }
        if let Some(phases) = &self.phases {
            return Err(Error::out_of_range("--phases", name_of(&PHASES, phases), expected));
        }
        warn(warnings);
        let table = terms_table(rows);
        let json = Object::new().with("terms", &table);
        Ok(Reply { above: String::new(), table, json }.text(self.format))
    }

    /// The text of profile.csv.
    fn profile(&self, traces: &[DeviceTrace], other: Option<(u32, &Path)>) -> Result<String> {
        for (name, given) in [("--m", self.m), ("--p", self.p)] {
            if let Some(given) = given {
                let expected = "nothing, as a trace of devices is of m = p = 1";
                return Err(Error::out_of_range(name, given.to_string(), expected));
            }
        }
        let other =
            other.map(|(p, file)| Ok::<_, Error>((p, DeviceTrace::read(file)?))).transpose()?;
        let at_p = other.as_ref().map(|(p, trace)| AtP { p: *p, trace });
        let (rows, mut warnings) = profile(traces, self.phases.unwrap_or(Phases::Functions), at_p)?;
        if at_p.is_none() {
            warnings.push(unsplit(&rows));
        }
        warn(&warnings);
        let table = table(&rows);
        let json = Object::new().with("profile", &table);
        Ok(Reply { above: String::new(), table, json }.text(self.format))
    }

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

/// The rows of terms, each value in the unit beside it.
fn terms_table(rows: &[TermRow]) -> Table<&TermRow> {
    Table::of(rows)
        .column("run", Style::Plain, |row| &row.run)
        .column("m", Style::Plain, |row| row.m)
        .column("p", Style::Plain, |row| row.p)
        .column("rank", Style::Plain, |row| row.rank.0)
        .column("phase", Style::Plain, |row| &row.phase)
        .column("term", Style::Plain, |row| &row.term)
        .column("value", Style::Plain, |row| row.value)
        .column("std_error", Style::Plain, |row| row.std_error)
        .column("unit", Style::Plain, |row| &row.unit)
}
