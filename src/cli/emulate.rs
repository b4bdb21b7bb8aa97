//! `mmgp emulate`

mod findings;
mod hazards;
mod inference;
mod list_ranking;
mod native;
mod report;
mod sweep3d;
mod workload;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Answer;
use super::files::Guard;
use super::input::pbpi::SamplingArguments;
use super::input::scheduler::SchedulerArguments;
use super::input::{AppArguments, For, HOST, MachineArguments, Way};
use super::output::{Format, data, progress};
use super::trace::{Detail, TraceFile};
use crate::Mapping;
use crate::apps::{Application, Ran};
use crate::cell::mfc::Hazards;
use crate::cell::{Blade, KernelTiming};
use crate::error::Result;
use crate::runtime::Runtime;
use crate::units::Bytes;
pub use findings::{RAXML_FILES, RaxmlOnce};
pub use inference::PbpiOnce;
#[cfg(unix)]
pub use list_ranking::HostRanking;
pub use list_ranking::ListRankingOnce;
pub use native::NativeReport;
use report::{OwnReport, Report};
pub use sweep3d::{PlainSweep, Sweep3dOnce};
pub use workload::{SgemmOnce, SyntheticOnce};

/// Run a program once on the emulated machine, or on this computer
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Host processes [default: 1]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    m: Option<u32>,
    /// SPEs of each host process; with --machine host threads [default: 1; for sweep3d as many as its
    /// ranks, or the SPEs of a Cell]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..))]
    p: Option<u32>,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// How often it runs on this computer [default: 5]; with --machine host alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,
    /// Whether kernels are timed at every call, once for each shape, or nothing is timed because the
    /// program is computed plainly, without a machine (sweep3d)
    #[arg(long, value_enum, default_value = "cached")]
    timing: Timing,
    /// Look for data that SPEs, DMA commands and the host touch with nothing between
    /// them that puts one after the other, and for local store that is read before
    /// anything was written there; the first such hazard ends the run
    #[arg(long)]
    check_hazards: bool,
    #[arg(long = "inject", hide = true, value_parser = injected)]
    _inject: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File to write; without it, standard output. With RAxML a folder for its trees and the report,
    /// which goes to standard output as well
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// File for a trace of the run, in the JSON format of Chrome and Perfetto. `-` is standard
    /// output, which then has nothing else: the report goes to --out or nowhere
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How much of what happens goes into the trace
    #[arg(long, value_enum, default_value = "offloads", requires = "trace")]
    trace_detail: Detail,
    /// Where the trace ends if it gets too long [MB]
    #[arg(long, value_name = "MB", default_value_t = 100, requires = "trace")]
    trace_limit: u64,
    /// No progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    app: AppArguments,
    #[command(flatten, next_help_heading = "Samples of PBPI")]
    samples: For<SamplingArguments>,
}

const HELP: &str = "\
Examples:
  mmgp emulate pbpi --input sim24 --m 2 --p 8 --format json
  # a tree with supports: each search on one of two workers with two SPEs
  mmgp emulate raxml --input sim24 --m 2 --p 2 --out trees
  # four coupled chains, two on each of two rows of processes
  mmgp emulate pbpi --input sim12 --m 4 --p 4 --chains 4 --rows 2 \\
      --generations 2000 --samples samples.csv --consensus consensus.nwk
  # what every process, hardware thread, SPE and DMA did when
  mmgp emulate pbpi --input sim12 --m 2 --p 3 --generations 2 --trace run.json
  # a linked list on the emulated SPEs, and on two threads of this computer
  mmgp emulate list-ranking --p 8 --buffers 4
  mmgp emulate list-ranking --machine host --p 2 --buffers 4

Prints the time of the run, where it went, and the program's own result. A trace is read by \
https://ui.perfetto.dev and chrome://tracing.";

/// Says that faults of the machine are not injected any more.
pub fn injected(_: &str) -> std::result::Result<String, &'static str> {
    Err("the emulated machine takes no faults any more: leave --inject out")
}

#[derive(Clone, Copy, ValueEnum)]
enum Timing {
    /// Once for each kernel and shape
    Cached,
    /// At every call
    Exact,
    /// Computed plainly, without a machine
    None,
}

/// The report goes to a file, or into a folder beside the files that the program leaves there.
fn guard(arguments: &Arguments) -> Guard {
    let files = arguments.app.folder_files();
    let trace = arguments.trace.as_deref().filter(|path| *path != Path::new("-"));
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    let samples = arguments.samples();
    let guard = guard
        .writes("--samples", samples.and_then(|it| it.samples.as_deref()))
        .writes("--trace", trace)
        .writes("--consensus", samples.and_then(|it| it.consensus.as_deref()));
    match &arguments.out {
        Some(folder) if !files.is_empty() => guard.writes_into("--out", folder, files),
        out => guard.writes("--out", out.as_deref()),
    }
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    guard(arguments).check()?;
    if arguments.machine.machine == HOST {
        return native::run(arguments, Way::Host);
    }
    arguments.refuse_repetitions()?;
    let timing = match arguments.timing {
        Timing::None => return native::run(arguments, Way::Plainly),
        Timing::Cached => KernelTiming::Cached,
        Timing::Exact => KernelTiming::Exact,
    };
    let machine = arguments.scheduler.read(&arguments.machine)?;
    let mapping = arguments.mapping()?;
    let trace = arguments.trace.as_deref().map(|path| {
        let limit = Bytes(arguments.trace_limit * 1_000_000);
        TraceFile::create(path, &machine, arguments.trace_detail, limit)
    });
    let trace = trace.transpose()?;
    let blade = || match &trace {
        Some(trace) => Blade::traced(&machine, timing, 0.0, trace.sink()),
        None => Blade::new(&machine, timing, 0.0),
    };
    // What streams as it runs does so once.
    let streams = trace.is_some() || arguments.samples().is_some_and(|it| it.samples.is_some());
    let ran = match arguments.check_hazards {
        false => arguments.emulate_on(blade(), mapping),
        true if streams => arguments.emulate_on(blade().step_by_step(), mapping),
        true => hazards::find(blade, |blade| arguments.emulate_on(blade, mapping)),
    };
    let ran = match (ran, &trace) {
        (Ok(ran), Some(trace)) => trace.commit().map(|()| ran),
        (Err(error), Some(trace)) => {
            trace.discard();
            Err(error)
        }
        (ran, None) => ran,
    };
    let (program, on, ran) = ran?;
    let report = Report::new(arguments, &machine, &ran, &*program).with_account(on.account());
    report.own.write_files()?;
    if arguments.out.is_none() && trace.is_some_and(|trace| trace.is_standard_output()) {
        return Ok(Answer::Done);
    }
    let text = match arguments.format {
        Format::Json => report.json(),
        Format::Csv => report.csv(),
        Format::Table => report.table(),
    };
    let out = arguments.out.as_deref();
    match out.and_then(|folder| report.own.write_folder(folder, &report.table())) {
        Some(written) => written.and_then(|()| data(None, &text))?,
        None => data(out, &text)?,
    }
    Ok(Answer::Done)
}

/// A program, what it ran on, and what it did.
type Emulated = (Box<dyn Once>, Runtime, Ran);

/// A program that runs once: with what it streams to files, and with what it says of its findings.
pub trait Once {
    /// The program.
    fn application(&self) -> &dyn Application;

    /// Runs it.
    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        self.application().run(on, mapping)
    }

    /// Puts the files that it has streamed in their places, or leaves none where the run has failed.
    fn end(&self, ran: Result<Ran>) -> Result<Ran> {
        ran
    }

    /// What it says of what it found.
    fn report(&self, ran: &Ran) -> Box<dyn OwnReport>;
}

impl Arguments {
    /// Runs the program once on a machine at rest.
    fn emulate_on(&self, blade: Blade, mapping: Mapping) -> Result<Emulated> {
        let program = self.app.once(self)?;
        let bar = progress("emulating", program.application().steps(), self.quiet.into());
        let blade = blade.telling(bar.steps());
        if self.check_hazards {
            blade.set_hazards(Hazards::Checked);
        }
        let on = Runtime::new(blade, self.scheduler.policy()?);
        let ran = program.run(&on, mapping);
        bar.finish_and_clear();
        let ran = program.end(ran)?;
        Ok((program, on, ran))
    }

    /// Which states of a chain are kept, and where; of PBPI alone.
    pub fn samples(&self) -> Option<&SamplingArguments> {
        self.samples.0.as_ref()
    }
}
