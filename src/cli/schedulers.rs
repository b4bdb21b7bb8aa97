//! `mmgp schedulers`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::{AppArguments, MachineArguments, ThreadArguments};
use super::output::{Verbosity, aligned, data, progress};
use crate::error::Result;
use crate::measure::schedulers::{Plan, compare};
use crate::schedulers::policies;
use crate::table::records::Scheduled;
use crate::table::{self, csv};

/// The folder of a comparison that is given none.
const FOLDER: &str = "mmgp-schedulers";
/// What is written there.
const FILE: &str = "schedulers.csv";

/// Run a program of independent tasks under several schedulers, and compare
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    machine: MachineArguments,
    /// Schedulers to compare, some in a variant, as sled:kernel; without it, all
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    schedulers: Vec<String>,
    /// Numbers of host processes, as 1..8 or 1,2,4; without it, up to one for each SPE
    #[arg(long, value_name = "LIST")]
    workers: Option<Counts>,
    /// Numbers of tasks, likewise; without it, one task for each worker
    #[arg(long, value_name = "LIST")]
    tasks: Option<Counts>,
    /// SPEs of each worker
    #[arg(long, value_name = "P", default_value_t = 1)]
    spes_per_task: u32,
    /// Folder for the table
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    #[command(flatten)]
    threads: ThreadArguments,
    /// No progress, no summary
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    app: AppArguments,
}

const HELP: &str = "\
Examples:
  mmgp schedulers --app raxml --machine ps3 --workers 1..6
  mmgp schedulers --app synthetic --task-us 50 --schedulers ynr,sled:kernel

Leaves schedulers.csv in the folder: a row for each scheduler, number of workers and number of \
tasks.";

/// Numbers of something: a list of numbers and of ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counts(Vec<u32>);

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected = || format!("found {text:?}, expected numbers above 0, as 1..8 or 1,2,4");
        let count = |text: &str| text.parse::<u32>().ok().filter(|&count| count > 0);
        let mut counts = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            match (count(first), count(last)) {
                (Some(first), Some(last)) if first <= last => counts.extend(first..=last),
                _ => return Err(expected()),
            }
        }
        counts.sort_unstable();
        counts.dedup();
        Ok(Self(counts))
    }
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    guard.writes_into("--out", &arguments.out, &[FILE]).check()?;
    let target = arguments.machine.target()?;
    let program = arguments.app.read()?;
    let plan = arguments.plan(target.machine().layout.spes());
    plan.check(&target, &*program)?;
    table::create_folder(&arguments.out)?;
    let verbosity = Verbosity::from(arguments.quiet);
    let bar = progress("schedulers", plan.runs() as u64, verbosity);
    let (threads, seed) = (arguments.threads.count(), arguments.app.seed);
    let rows = compare(&target, (&*program, seed), &plan, threads, &|| bar.inc(1));
    bar.finish_and_clear();
    let rows = rows?;
    table::write(&arguments.out.join(FILE), csv::write(&rows))?;
    if verbosity == Verbosity::Usual {
        let file = arguments.out.join(FILE);
        data(None, &format!("{}\nThe rows are in {}.\n", times(&rows, &plan), file.display()))?;
    }
    Ok(Answer::Done)
}

impl Arguments {
    fn plan(&self, spes: u32) -> Plan {
        let all = || policies().iter().map(|policy| policy.name().into()).collect();
        let most = (spes / self.spes_per_task.max(1)).max(1);
        Plan {
            schedulers: if self.schedulers.is_empty() { all() } else { self.schedulers.clone() },
            workers: self.workers.clone().map_or_else(|| (1..=most).collect(), |it| it.0),
            tasks: self.tasks.clone().map_or_else(Vec::new, |it| it.0),
            spes_per_task: self.spes_per_task,
        }
    }
}

/// Times by scheduler, for people: a row for each number of workers and tasks, which says what is
/// fastest there.
fn times(rows: &[Scheduled], plan: &Plan) -> String {
    let header = ["workers".into(), "tasks".into()];
    let names = plan.schedulers.iter().map(|name| format!("{name} [ms]"));
    let header: Vec<String> = header.into_iter().chain(names).chain(["fastest".into()]).collect();
    let of_each = rows.len() / plan.schedulers.len();
    let line = |place: usize| {
        let here: Vec<&Scheduled> = rows.iter().skip(place).step_by(of_each).collect();
        let least = here.iter().map(|row| row.time_s).fold(f64::INFINITY, f64::min);
        let fastest = here.iter().filter(|row| row.time_s == least);
        let fastest: Vec<&str> = fastest.map(|row| row.scheduler.as_str()).collect();
        let mut cells = vec![here[0].workers.to_string(), here[0].tasks.to_string()];
        cells.extend(here.iter().map(|row| format!("{:.2}", 1e3 * row.time_s)));
        cells.push(fastest.join(", "));
        cells
    };
    let lines: Vec<Vec<String>> = (0..of_each).map(line).collect();
    aligned(&header.iter().map(String::as_str).collect::<Vec<_>>(), &lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_numbers_and_ranges_in_any_order_and_each_once() {
        let counts = |text: &str| text.parse::<Counts>().map(|it| it.0);
        assert_eq!(counts("1..4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(counts("8,1,2..3,2"), Ok(vec![1, 2, 3, 8]));
        for wrong in ["", "0", "4..1", "1..", "-1", "1;2", "1.5"] {
            let error = counts(wrong).unwrap_err();
            assert!(error.contains("expected numbers above 0"), "{wrong}: {error}");
        }
    }
}
