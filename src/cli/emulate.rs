//! `mmgp emulate`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::Answer;
use super::input::{AppArguments, MachineArguments};
use super::output::{Format, aligned, data, json, waiting};
use super::trace::TraceFile;
use crate::apps::{App, Outcome};
use crate::cell::linux::Discipline;
use crate::cell::mfc::Hazards;
use crate::cell::{Blade, KernelTiming};
use crate::error::Result;
use crate::machine::Machine;

/// Run a program once on the emulated machine
#[derive(Args)]
#[command(after_help = "Example: mmgp emulate --input sim24 --m 2 --p 8 --format json\n\n\
    Prints the time of the run, where it went, and the program's own result.\n\n\
    Example: mmgp emulate --input sim12 --m 2 --p 3 --generations 2 --trace run.json\n\n\
    writes what every process, hardware thread, SPE and DMA did when, for https://ui.perfetto.dev \
    or chrome://tracing.")]
pub struct Arguments {
    #[command(flatten)]
    app: AppArguments,
    #[command(flatten)]
    machine: MachineArguments,
    /// Host processes
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    m: u32,
    /// SPEs of each host process
    #[arg(long, value_name = "P", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    p: u32,
    /// Scheduler of the host processes
    #[arg(long, value_enum, default_value = "edtlp")]
    scheduler: Scheduler,
    /// Whether kernels are timed at every call, or once for each shape
    #[arg(long, value_enum, default_value = "cached")]
    timing: Timing,
    /// Look for data that an SPE touches while a DMA command may still move them; the first such
    /// hazard ends the run
    #[arg(long)]
    check_hazards: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// File for a trace of the run, in the JSON format of Chrome and Perfetto. `-` is standard
    /// output, which then has nothing else: the report goes to --out or nowhere
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Scheduler {
    /// Event-driven task-level parallelism: a process that waits gives its hardware thread away
    Edtlp,
    /// The machine's Linux: a process that waits spins until its time slice ends
    Linux,
}

impl Scheduler {
    const fn discipline(self) -> Discipline {
        match self {
            Self::Edtlp => Discipline::Edtlp,
            Self::Linux => Discipline::LinuxSpin,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Timing {
    /// Once for each kernel and shape
    Cached,
    /// At every call
    Exact,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let (machine, app) = (arguments.machine.read()?, arguments.app.read()?);
    let timing = match arguments.timing {
        Timing::Cached => KernelTiming::Cached,
        Timing::Exact => KernelTiming::Exact,
    };
    let configuration = (arguments.m, arguments.p);
    let trace = arguments.trace.as_deref().map(|path| TraceFile::create(path, &machine));
    let trace = trace.transpose()?;
    let blade = match &trace {
        Some(trace) => Blade::traced(&machine, timing, 0.0, trace.sink()),
        None => Blade::new(&machine, timing, 0.0),
    };
    let blade = blade.under(arguments.scheduler.discipline());
    if arguments.check_hazards {
        blade.set_hazards(Hazards::Checked);
    }
    let bar = waiting("emulating");
    let outcome = app.emulate_on(&blade, configuration);
    bar.finish_and_clear();
    let outcome = match (outcome, &trace) {
        (Ok(outcome), Some(trace)) => trace.commit().map(|()| outcome),
        (Err(error), Some(trace)) => {
            trace.discard();
            Err(error)
        }
        (outcome, None) => outcome,
    }?;
    if arguments.out.is_none() && trace.is_some_and(|trace| trace.is_standard_output()) {
        return Ok(Answer::Done);
    }
    let report = Report::new(&app, &machine, arguments, &outcome);
    let text = match arguments.format {
        Format::Json => json(&report),
        Format::Csv => report.csv(),
        Format::Table => report.table(),
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

/// What is printed of a run.
#[derive(Serialize)]
struct Report {
    app: &'static str,
    machine: String,
    m: u32,
    p: u32,
    scheduler: &'static str,
    seed: u64,
    time_s: f64,
    hpu_busy_s: f64,
    apu_busy_s: f64,
    offloads: u64,
    offload_mean_us: f64,
    hpu_gap_mean_us: f64,
    context_switches: u64,
    functions: Vec<FunctionReport>,
    log_likelihood: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<usize>,
}

#[derive(Serialize)]
struct FunctionReport {
    name: &'static str,
    calls: u64,
    apu_time_s: f64,
}

impl Report {
    fn new(app: &App, machine: &Machine, arguments: &Arguments, outcome: &Outcome) -> Self {
        let run = &outcome.run;
        let function = |function: &crate::apps::run::Function| FunctionReport {
            name: function.name,
            calls: function.calls,
            apu_time_s: function.apu().0,
        };
        Self {
            app: app.name(),
            machine: machine.name.clone(),
            m: run.m,
            p: run.p,
            scheduler: match arguments.scheduler {
                Scheduler::Edtlp => "edtlp",
                Scheduler::Linux => "linux",
            },
            seed: arguments.app.seed,
            time_s: run.time.0,
            hpu_busy_s: run.hpu_busy.0,
            apu_busy_s: run.apu_busy().0,
            offloads: run.offloads(),
            offload_mean_us: 1e6 * run.mean_offload().0,
            hpu_gap_mean_us: 1e6 * run.mean_host_gap().0,
            context_switches: run.context_switches,
            functions: run.functions.iter().map(function).collect(),
            log_likelihood: outcome.log_likelihood,
            accepted: outcome.accepted,
        }
    }

    /// Name and value of each figure.
    fn figures(&self) -> Vec<(&'static str, String)> {
        let mut figures = vec![
            ("app", self.app.to_string()),
            ("machine", self.machine.clone()),
            ("m", self.m.to_string()),
            ("p", self.p.to_string()),
            ("scheduler", self.scheduler.to_string()),
            ("seed", self.seed.to_string()),
            ("time_s", self.time_s.to_string()),
            ("hpu_busy_s", self.hpu_busy_s.to_string()),
            ("apu_busy_s", self.apu_busy_s.to_string()),
            ("offloads", self.offloads.to_string()),
            ("offload_mean_us", self.offload_mean_us.to_string()),
            ("hpu_gap_mean_us", self.hpu_gap_mean_us.to_string()),
            ("context_switches", self.context_switches.to_string()),
            ("log_likelihood", self.log_likelihood.to_string()),
        ];
        figures.extend(self.accepted.map(|count| ("accepted", count.to_string())));
        figures
    }

    fn csv(&self) -> String {
        let (names, values): (Vec<_>, Vec<_>) = self.figures().into_iter().unzip();
        format!("{}\n{}\n", names.join(","), values.join(","))
    }

    fn table(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.figures() {
            text += &format!("{name:<17} {value}\n");
        }
        let row = |function: &FunctionReport| {
            let share = 100.0 * function.apu_time_s / self.apu_busy_s;
            let calls = function.calls.to_string();
            vec![
                function.name.to_string(),
                calls,
                format!("{:.6}", function.apu_time_s),
                format!("{share:.1} %"),
            ]
        };
        let rows: Vec<Vec<String>> = self.functions.iter().map(row).collect();
        text + "\n" + &aligned(&["function", "calls", "apu_time_s", "share"], &rows)
    }
}
