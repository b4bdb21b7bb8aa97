//! `mmgp complexity`

mod constants;
mod counted;
mod report;

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::scheduler::SchedulerArguments;
use super::input::{AppArguments, Entry, MachineArguments};
use super::output::{Format, data, progress};
use crate::Mapping;
use crate::apps::{Application, Once};
use crate::cell::{Blade, KernelTiming};
use crate::complexity::{Counts, Sizes};
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::runtime::Runtime;
use report::Report;

/// Count what a program executes as it grows, and say what will bind it
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Sizes of the input, n: sites of pbpi and raxml, off-loads of a stream of synthetic [default:
    /// four of the program's own]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    n: Vec<u64>,
    /// SPEs of each host process
    #[arg(long, value_name = "P,...", value_delimiter = ',', default_value = "1,2,4,8", value_parser = clap::value_parser!(u32).range(1..))]
    p: Vec<u32>,
    /// Host processes
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    m: u32,
    #[command(flatten)]
    scheduler: SchedulerArguments,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// No progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    app: AppArguments,
}

const HELP: &str = "\
Examples:
  mmgp complexity
  mmgp complexity --app raxml --port tuned --n 500,1000,2000 --p 1,2,4
  mmgp complexity --app synthetic --n 100 --p 1 --format json

Runs the program on the emulated machine at every size and number of SPEs, and counts what it \
executes: instructions by pipe, DMA requests by size, branches, host code.";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    guard.writes("--out", arguments.out.as_deref()).check()?;
    let machine = arguments.scheduler.read(&arguments.machine)?;
    let counts = count_all(arguments, &machine)?;
    let report = Report::new(&arguments.app.app, &machine, constants::of(&machine)?, counts);
    let text = match arguments.format {
        Format::Json => report.json(),
        Format::Csv => report.csv(),
        Format::Table => report.table(),
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

/// Runs the program at every size and mapping.
fn count_all(arguments: &Arguments, machine: &Machine) -> Result<Vec<Counts>> {
    if arguments.app.input.is_some() {
        return Err(Error::OutOfRange {
            name: "--input",
            found: "mmgp complexity".into(),
            expected: "an input that is made at every size: --n says which".into(),
        });
    }
    let entry = arguments.app.entry()?;
    let ns = if arguments.n.is_empty() { entry.size.defaults } else { &arguments.n };
    let mappings = arguments.p.iter().map(|&p| Mapping::new(arguments.m, p));
    let mappings: Vec<Mapping> = mappings.collect::<Result<_>>()?;
    let programs = ns.iter().map(|&n| program(entry, arguments, n));
    let programs: Vec<(u64, Once)> = programs.collect::<Result<_>>()?;
    let steps: u64 = programs.iter().map(|(_, program)| program.steps()).sum();
    let bar = progress("emulating", steps * mappings.len() as u64, arguments.quiet.into());
    let mut all = Vec::new();
    for (n, program) in &programs {
        for &mapping in &mappings {
            let blade = Blade::new(machine, KernelTiming::Cached, 0.0);
            let on =
                Runtime::new(blade.telling(bar.steps()).counting(), arguments.scheduler.policy()?);
            let run = program.run(&on, mapping)?.run;
            let (m, p) = (f64::from(mapping.m()), f64::from(mapping.p()));
            let sizes = Sizes::new([("n", *n as f64), ("p", p), ("m", m)]);
            all.extend(counted::counts(sizes, &run, machine));
        }
    }
    Ok(all)
}

fn program(entry: &Entry, arguments: &Arguments, n: u64) -> Result<(u64, Once)> {
    let program = (entry.size.at)(&arguments.app, &Sizes::new([("n", n as f64)]))?;
    Ok((n, Once::new(program)))
}
