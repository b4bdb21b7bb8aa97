//! `mmgp schedulers`

mod folder;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::Args;

use super::files::Guard;
use super::input::{AppArguments, MachineArguments, ThreadArguments, Values, machine_file};
use super::output::{Verbosity, data, progress, waiting};
use super::transaction::{finished, identity, provenance};
use super::{Answer, report};
use crate::answer::Table;
use crate::error::Result;
use crate::lab::transaction::{Earlier, FinishedShard, Shares};
use crate::measure::Shard;
use crate::measure::schedulers::{Excerpts, Plan, SchedulerComparison};
use crate::plot::{self, Format, Kind, Quantity, Window};
use crate::report::Picture;
use crate::report::schedulers::{Place, findings, page, places};
use crate::schedulers::policies;
use crate::table;
use crate::table::records::Scheduled;
use folder::Folder;

/// The folder of a comparison that is given none.
pub const FOLDER: &str = "mmgp-schedulers";

/// The name of the command.
pub const COMMAND: &str = "schedulers";

/// Run a program under several schedulers, and compare
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
    workers: Option<Values>,
    /// Numbers of independent tasks, likewise; without it, one task for each worker
    #[arg(long, value_name = "LIST")]
    tasks: Option<Values>,
    /// SPEs of each worker
    #[arg(long, value_name = "P", default_value_t = 1)]
    spes_per_task: u32,
    #[arg(long = "inject", hide = true, value_parser = super::emulate::injected)]
    _inject: Option<String>,
    /// Folder for the files; of the same question, runs that it has are not run again
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// Run a share of the runs, as 3/8, and leave the rest to others, in a folder of its
    /// own each; merge then makes the whole of the folders
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Discard the runs that the folder has, whatever they are of
    #[arg(long)]
    force: bool,
    /// Leave the rows alone: no pictures and no page, for which some runs are run once more
    #[arg(long)]
    rows_only: bool,
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
  mmgp schedulers raxml --machine ps3 --workers 1..6
  mmgp schedulers raxml --workers 4,8 --tasks 1..128*2
  mmgp schedulers synthetic --task-us 50 --schedulers ynr,sled:kernel
  mmgp schedulers pbpi --machine ps3 --workers 1,2,3,6

A program of one job, as PBPI, has no --tasks: each worker has a part of it.

Leaves in the folder: schedulers.csv (a row for each scheduler, number of workers and number of \
tasks), schedulers.json (what the rows are of), pictures as SVG and PNG (time, slowdown: time over \
that of the fastest, idle: APUs between off-loads, gantt: the same part of each run with the most \
workers and tasks), and report.html (the page).

Rows are written as they come, and pictures and page when all are there. The same command goes on \
where it was interrupted, and one with other --schedulers, --workers or --tasks adds to them.";

pub fn run(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let guard = arguments.app.guarded(arguments.machine.guarded(Guard::default()));
    let own = [folder::ROWS, folder::IDENTITY, report::PAGE];
    guard.writes_into("--out", &arguments.out, &own).check()?;
    let target = arguments.machine.target()?;
    let program = arguments.app.read()?;
    let plan = arguments.plan(target.machine().layout.spes());
    let (threads, seed) = (arguments.threads.count(), arguments.app.seed());
    let title = format!("{} on {}", program.name(), arguments.machine.machine);
    let mut files = arguments.app.files().to_vec();
    files.push(("--machine", machine_file(&arguments.machine.machine)));
    let question = identity(words, &files, &NOT_ASKED)?;
    let of_apps = (&arguments.app, &arguments.machine, words);
    let provenance = provenance(of_apps, &*program, &target, &[])?;
    let comparison = SchedulerComparison::new(&target, (program, seed), &plan, threads)?;
    let earlier = if arguments.force { Earlier::Discarded } else { Earlier::Kept };
    let folder = Folder::open(&arguments.out, &question, &plan.schedulers, earlier)?;
    let verbosity = Verbosity::from(arguments.quiet);
    let missing = comparison.missing(folder.rows());
    let rows = all_rows(&comparison, folder, verbosity)?;
    if !plan.shard.is_whole() {
        let share = FinishedShard::new(plan.shard, question);
        share.write(&arguments.out)?;
        return finished(&share, &arguments.out, verbosity);
    }
    if !arguments.rows_only {
        let excerpts = excerpts(&comparison, &rows, verbosity)?;
        let figures = draw_all(&arguments.out, &title, &rows, &excerpts)?;
        let html = page(&title, &rows, (&provenance, &figures));
        table::write(&arguments.out.join(report::PAGE), html)?;
    }
    if verbosity == Verbosity::Usual {
        let there = rows.len().saturating_sub(missing);
        let shown = if arguments.rows_only { folder::ROWS } else { report::PAGE };
        data(None, &summary(&rows, there, (&arguments.out, shown)))?;
    }
    Ok(Answer::Done)
}

/// Flags that choose among rows, and change none.
const NOT_ASKED: [&str; 4] = ["schedulers", "workers", "tasks", "rows_only"];

/// Puts the rows of several folders into one.
///
/// # Errors
/// As [`Folder::open`].
pub fn merge(shares: &Shares, out: &Path) -> Result<()> {
    let question = shares.identity();
    let mut into = Folder::open(out, question, &[], Earlier::Kept)?;
    for folder in shares.folders() {
        into.keep_all(&folder::rows(folder, question)?)?;
    }
    Ok(())
}

/// Traces of one part of some runs, which are run again for it.
fn excerpts(
    comparison: &SchedulerComparison<'_>,
    rows: &[Scheduled],
    verbosity: Verbosity,
) -> Result<Excerpts> {
    let line = waiting("excerpts", verbosity);
    let excerpts = comparison.excerpts(rows);
    line.finish_and_clear();
    excerpts
}

/// The rows that are asked for: those that the folder has, and the others, which it has then.
fn all_rows(
    comparison: &SchedulerComparison<'_>,
    folder: Folder,
    verbosity: Verbosity,
) -> Result<Vec<Scheduled>> {
    let known = folder.rows().to_vec();
    let bar = progress("schedulers", comparison.missing(&known) as u64, verbosity);
    let folder = Mutex::new(folder);
    let locked = || folder.lock().unwrap_or_else(PoisonError::into_inner);
    let rows = comparison.rows(&known, &|row| {
        bar.inc(1);
        locked().keep(row)
    });
    bar.finish_and_clear();
    let rows = rows?;
    // Rows that were cut short, or stood in another order.
    locked().write()?;
    Ok(rows)
}

impl Arguments {
    fn plan(&self, spes: u32) -> Plan {
        let all = || policies().iter().map(|policy| policy.name().into()).collect();
        let most = (spes / self.spes_per_task.max(1)).max(1);
        let mut schedulers: Vec<String> = Vec::new();
        for name in &self.schedulers {
            if !schedulers.contains(name) {
                schedulers.push(name.clone());
            }
        }
        Plan {
            schedulers: if schedulers.is_empty() { all() } else { schedulers },
            workers: self.workers.clone().map_or_else(|| (1..=most).collect(), |it| it.0),
            tasks: self.tasks.clone().map_or_else(Vec::new, |it| it.0),
            spes_per_task: self.spes_per_task,
            shard: self.shard.unwrap_or(Shard::WHOLE),
        }
    }
}

/// Places of which each has a line; of more, the findings say what there is to say.
const MOST_LINES: usize = 40;

/// The number of slower schedulers that are named beside the slowest.
const NAMED: usize = 3;

/// The summary; so many of the rows stood in the folder before, in which a file is worth opening.
pub fn summary(rows: &[Scheduled], there: usize, (folder, file): (&Path, &str)) -> String {
    let places = places(rows);
    let mut text = findings(rows).join("\n") + "\n";
    if places.len() <= MOST_LINES {
        text = format!("{}\n{text}", table(&places));
    }
    let folder = folder.display();
    let before = match there {
        0 => String::new(),
        count if count == rows.len() => " All rows were there before.".into(),
        count => format!(" Of its {} rows, {count} were there before.", rows.len()),
    };
    text + &format!("\nEverything is in {folder}; open {folder}/{file} to look at it.{before}\n")
}

/// A line for each number of workers and tasks.
fn table(places: &[Place<'_>]) -> String {
    Table::of(places)
        .people("workers", |place| place.workers.to_string())
        .people("tasks", |place| place.tasks.to_string())
        .people("time [ms]", |place| format!("{:.2}", 1e3 * place.runs[0].time_s))
        .people("fastest", |place| place.fastest())
        .people("the others", others)
        .left()
        .text()
}

/// The next and the last, and how far they are from the fastest.
fn others(place: &&Place<'_>) -> String {
    let slower = place.slower();
    let told = |(name, ratio): &(&str, f64)| format!("{name} {}", Place::distance(*ratio));
    let named: Vec<String> = slower.iter().take(NAMED).map(told).collect();
    match slower.get(NAMED..) {
        Some([between @ .., last]) => {
            let dots = if between.is_empty() { "" } else { "... " };
            format!("{}, {dots}{}", named.join(", "), told(last))
        }
        _ => named.join(", "),
    }
}

/// The names of all pictures, without endings.
const PICTURES: [&str; 4] = ["time", "slowdown", "idle", "gantt"];

/// Removes the pictures of earlier rows.
///
/// # Errors
/// [`Error::Write`](crate::error::Error::Write).
pub fn remove_pictures(folder: &Path) -> Result<()> {
    let mut files =
        PICTURES.iter().flat_map(|name| Format::ALL.iter().map(move |it| picture_file(name, *it)));
    files.try_for_each(|file| table::remove_file(&folder.join(file)))
}

fn picture_file(name: &str, format: Format) -> String {
    format!("{name}.{}", format.ending())
}

/// Draws all pictures into the folder; those that a page shows, with what stands under them.
///
/// # Errors
/// The errors of drawing and writing.
pub fn draw_all(
    folder: &Path,
    of: &str,
    rows: &[Scheduled],
    excerpts: &Excerpts,
) -> Result<Vec<Picture>> {
    let Excerpts { workers, tasks, window: [from, until], traces } = excerpts;
    let window = Window { from_s: Some(from.0), to_s: Some(until.0) };
    let same_part = format!(
        "The same part of each run with {workers} workers and {tasks} tasks, from the middle of the \
         fastest: host processes, hardware threads and SPEs over time"
    );
    let rows_as = |quantity| Kind::Schedulers { rows, quantity };
    let all = [
        ("time", rows_as(Quantity::Time), "Time from the start to the end of the last task"),
        (
            "time over that of the fastest",
            rows_as(Quantity::OverFastest),
            "Time over that of the fastest scheduler with as many workers and tasks",
        ),
        (
            "idle APUs",
            rows_as(Quantity::ApuIdle),
            "How long the workers' APUs did nothing, for each off-load",
        ),
        ("what happens when", Kind::Excerpts { traces, window }, same_part.as_str()),
    ];
    let mut pictures = Vec::with_capacity(all.len());
    for (name, (what, kind, caption)) in PICTURES.into_iter().zip(all) {
        let title = format!("{of}: {what}");
        for &format in Format::ALL {
            let bytes = plot::draw(&plot::Picture { title: &title, kind }, format)?;
            table::write(&folder.join(picture_file(name, format)), &bytes)?;
            if format == Format::Svg {
                let svg = String::from_utf8(bytes).expect("invariant: an SVG is text");
                pictures.push(Picture { title: caption.into(), svg });
            }
        }
    }
    Ok(pictures)
}
