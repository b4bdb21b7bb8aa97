//! `mmgp emulate`

mod phylogeny;
mod report;
mod tools;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Answer;
use super::files::Guard;
use super::input::SchedulerArguments;
use super::input::programs::phylogeny::{Samples, SamplingArguments};
use super::input::{AppArguments, HOST, MachineArguments, Tools, Way};
use super::output::{self, Format, data, progress};
use super::trace::{Detail, TraceFile};
use crate::Mapping;
use crate::apps::{Application, Ran};
use crate::cell::mfc::Hazards;
use crate::cell::{Blade, Hazard, KernelTiming};
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::units::Bytes;
pub use phylogeny::{PbpiOnce, RAXML_FILES, RaxmlOnce};
use report::RunReport;
#[cfg(unix)]
pub use report::host_ranking;
pub use report::{ListRankingOnce, ProgramReport, plain_sweep};
pub use tools::{LIKELIHOOD, SIMULATE_ALIGNMENT};

/// Run a program once on the emulated machine, or on this computer
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Host processes [default: 1]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    m: Option<u32>,
    /// SPEs of each host process; with --machine host threads [default: 1]
    ///
    /// For sweep3d there are as many as ranks, or those of a Cell, where none are named.
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..))]
    p: Option<u32>,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// Runs on this computer [default: 5]; with --machine host alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,
    /// Calls of kernels that are timed; of none where the program is computed without a machine
    #[arg(long, value_enum, default_value = "cached")]
    timing: Timing,
    /// Look for data races of SPEs, DMA commands and the host, the first of which ends the run
    ///
    /// A hazard is data that two of them touch with nothing between them that puts one after the other, or
    /// local store that is read before anything was written there.
    #[arg(long)]
    check_hazards: bool,
    #[arg(long = "inject", hide = true, value_parser = injected)]
    _inject: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File to write; without it, standard output. For RAxML a folder
    ///
    /// RAxML leaves its trees and the report there, which goes to standard output as well.
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// File for a trace of the run, in the JSON format of Chrome and Perfetto
    ///
    /// `-` is standard output, which then has nothing else: the report goes to --out or nowhere.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Detail of the trace
    #[arg(long, value_enum, default_value = "offloads", requires = "trace")]
    trace_detail: Detail,
    /// Size at which the trace ends [MB]
    #[arg(long, value_name = "MB", default_value_t = 100, requires = "trace")]
    trace_limit: u64,
    /// No progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    tools: Tools,
    #[command(flatten)]
    app: AppArguments,
    #[command(flatten, next_help_heading = "Samples of PBPI")]
    samples: Samples,
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
    if let Some(answer) = arguments.tools.run() {
        return answer;
    }
    guard(arguments).check()?;
    if arguments.machine.machine == HOST {
        return without_machine(arguments, Way::Host);
    }
    arguments.refuse_repetitions()?;
    let timing = match arguments.timing {
        Timing::None => return without_machine(arguments, Way::Plainly),
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
        true => find_hazards(blade, |blade| arguments.emulate_on(blade, mapping)),
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
    let report = RunReport::new((arguments, &machine), (&*program, &ran), on.account());
    report.write_files()?;
    if arguments.out.is_none() && trace.is_some_and(|trace| trace.is_standard_output()) {
        return Ok(Answer::Done);
    }
    let text = report.print(arguments.format);
    match &arguments.out {
        Some(folder) if report.write_folder(folder)? => data(None, &text)?,
        out => data(out.as_deref(), &text)?,
    }
    Ok(Answer::Done)
}

/// Runs a program on a machine, and on another one once more, slowly, where it has a hazard: off-loads
/// that are computed before their time goes by know only when they begin.
fn find_hazards<T>(blade: impl Fn() -> Blade, run: impl Fn(Blade) -> Result<T>) -> Result<T> {
    match run(blade()) {
        Err(error) if error.downcast::<Hazard>().is_some() => {
            let again = run(blade().step_by_step());
            Err(again.err().unwrap_or(error))
        }
        ran => ran,
    }
}

/// How often a program runs on this computer where nobody says it.
const REPETITIONS: u32 = 5;

/// Runs the program without an emulated machine, on this computer as fast as it goes to be measured or plainly
/// for what it computes, and prints what came of it.
fn without_machine(arguments: &Arguments, way: Way) -> Result<Answer> {
    let only_emulated = [
        ("--trace", arguments.trace.is_some()),
        ("--check-hazards", arguments.check_hazards),
        ("--port", arguments.app.port().is_some_and(|it| it.port.is_some())),
    ];
    if let Some((name, _)) = only_emulated.into_iter().find(|(_, is_given)| *is_given) {
        return Err(match way {
            Way::Host => {
                let expected = "an emulated machine, which has such a thing";
                Error::out_of_range(name, format!("--machine {HOST}"), expected)
            }
            Way::Plainly => {
                let expected = "--timing cached or exact: without a machine there is no such thing";
                Error::out_of_range(name, "--timing none", expected)
            }
        });
    }
    let report = arguments.app.otherwise(way, arguments)?;
    data(arguments.out.as_deref(), &report.print(arguments.format))?;
    Ok(Answer::Done)
}

/// A program, what it ran on, and what it did.
type EmulatedRun = (Box<dyn Once>, Runtime, Ran);

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
    fn report(&self, ran: &Ran) -> ProgramReport;
}

/// A program without files and findings of its own.
impl Once for Box<dyn Application> {
    fn application(&self) -> &dyn Application {
        &**self
    }

    fn report(&self, _: &Ran) -> ProgramReport {
        ProgramReport::default()
    }
}

impl Arguments {
    /// Runs the program once on a machine at rest.
    fn emulate_on(&self, blade: Blade, mapping: Mapping) -> Result<EmulatedRun> {
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

    /// Host processes, or processes of this computer.
    pub fn m(&self) -> u32 {
        self.m.unwrap_or(1)
    }

    /// SPEs, or threads of this computer, of each.
    pub fn p(&self) -> u32 {
        self.p.unwrap_or(1)
    }

    /// Whether a progress bar is wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Host processes and SPEs: those that are named, or the program's own choice.
    fn mapping(&self) -> Result<Mapping> {
        self.app.mapping(self.m, self.p)
    }

    /// How often a program runs on this computer.
    pub fn repetitions(&self) -> u32 {
        self.repetitions.unwrap_or(REPETITIONS)
    }

    /// Refuses to repeat what takes the same time whenever it runs.
    fn refuse_repetitions(&self) -> Result<()> {
        match self.repetitions {
            None => Ok(()),
            Some(_) => Err(Error::out_of_range(
                "--repetitions",
                format!("--machine {}", self.machine.machine),
                format!("--machine {HOST}; on an emulated machine every run takes the same time"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    fn hazard(later: &str) -> Error {
        let (place, later) = ("local store 0x0 to 0xf of SPE 0".into(), later.into());
        let earlier = "nobody has written it".into();
        Error::other(Hazard { place, later, problem: "but", earlier })
    }

    /// What is said of a program that runs like this, first and step by step.
    fn found(first: fn() -> Result<u32>, by_step: fn() -> Result<u32>) -> String {
        let blade = || Blade::new(&Machine::named("ps3").unwrap(), KernelTiming::Cached, 0.0);
        let run = |blade: Blade| if blade.is_functional_first() { first() } else { by_step() };
        find_hazards(blade, run).map_or_else(|error| error.to_string(), |ran| ran.to_string())
    }

    #[test]
    fn a_hazard_is_named_with_its_own_instants() {
        let begin = || Err(hazard("at 1 us"));
        assert!(found(begin, || Err(hazard("at 2 us"))).contains(": at 2 us;"));
        // Whatever the second run says, there was one.
        assert!(found(begin, || Ok(2)).contains(": at 1 us;"));
    }

    #[test]
    fn nothing_else_runs_twice() {
        assert_eq!(found(|| Ok(1), || Ok(2)), "1");
        let other = || Err(Error::Plot("once".into()));
        let again = || Err(Error::Plot("twice".into()));
        assert_eq!(found(other, again), "cannot draw the plot: once");
    }
}
