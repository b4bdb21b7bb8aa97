//! `mmgp probe`: a run of the user's program, traced.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::output::{data, line, warn};
use crate::answer::{Style, Table};
use crate::error::Result;
use crate::probe::{self, Library, Traced};
use crate::table::records::{Profile, TermRow};
use crate::table::{self, Source, csv};
use crate::units::Seconds;

/// Run your program once and see where its time goes, in the model's terms
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder for terms.csv and profile.csv; a further run is added to those that are there
    #[arg(long, value_name = "DIR", default_value = "probe")]
    out: PathBuf,
    /// The compiler of the MPI that the program runs with, where it is not beside its launcher
    #[arg(long, value_name = "MPICC")]
    mpicc: Option<String>,
    /// Compile the library that is loaded into the program, say where it is, and run nothing
    #[arg(long)]
    build: bool,
    /// Print no answer
    #[arg(long)]
    quiet: bool,
    /// The program as it is run, with its launcher
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "build")]
    command: Vec<String>,
}

const HELP: &str = "\
Examples:
  mmgp probe -- mpirun -n 1 ./app
  mmgp probe -- mpirun -x OMP_NUM_THREADS=4 -n 2 ./app
  mmgp probe --build -- mpirun

The program runs as it is, with its own input and output; what is said of it goes to standard error. Its ranks (m) \
and threads (p) are those that are seen. A library, compiled once by your mpicc or cc and kept in your cache, is \
loaded into it by LD_PRELOAD: it sees regions of OpenMP (GCC's and LLVM's) and calls of MPI (Open MPI and MPICH, in C \
and Fortran). Where the run ends, up to some tenths of a second go to empty regions and to collectives on fewer \
ranks; MMGP_PROBE_CALIBRATE=0 leaves them out.

Two runs say most: one of one rank and one thread, and one inside, as 4 ranks of 4 threads; `mmgp fit --terms \
probe/terms.csv` then tells each part over (m, p). On other nodes than this \
one: mpirun -x LD_PRELOAD -x MMGP_PROBE_DIR (Open MPI), and --out in a folder that all nodes share.

Exit code 0: traced; 2: the program failed, or cannot be seen into. Nothing is then added.";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let library = Library::for_command(&arguments.command, arguments.mpicc.as_deref())?;
    if arguments.build {
        data(None, &format!("{}\n", library.file.display()))?;
        return Ok(Answer::Done);
    }
    let [terms, profile] = ["terms.csv", "profile.csv"].map(|name| arguments.out.join(name));
    Guard::default().writes("--out", Some(&terms)).writes("--out", Some(&profile)).check()?;
    // What is there is read before anything is run: a file that is none would end all at its end.
    let mut rows: Vec<TermRow> = kept(&terms)?;
    let mut profiles: Vec<Profile> = kept(&profile)?;
    let is_new = !arguments.out.exists();
    let traced = probe::run(&library, &arguments.command, &arguments.out.join("ranks"));
    if is_new && traced.is_err() {
        table::remove_folder(&arguments.out)?;
    }
    let traced = traced?;
    let runs: BTreeSet<&str> = rows.iter().map(|row| row.run.as_str()).collect();
    let name = (1..).map(|it: usize| it.to_string()).find(|it| !runs.contains(it.as_str()));
    rows.extend(probe::terms(&traced, &name.unwrap_or_default()));
    table::write(&terms, csv::write(&rows))?;
    let repetition = profiles.iter().map(|row| row.repetition + 1).max().unwrap_or(1);
    if let Some(row) = probe::profile(&traced, repetition) {
        profiles.push(row);
        table::write(&profile, csv::write(&profiles))?;
    }
    warn(&traced.warnings());
    if !arguments.quiet {
        line(&answer(&traced));
    }
    Ok(Answer::Done)
}

/// The rows of a file of earlier runs; none where there is no file.
fn kept<R: csv::Record>(file: &Path) -> Result<Vec<R>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let (rows, warnings) = csv::read(&Source::read(file)?)?;
    warn(&warnings);
    Ok(rows)
}

/// Regions that are shown.
const REGIONS: usize = 10;

fn answer(traced: &Traced) -> String {
    let (m, p) = (traced.ranks(), traced.threads());
    let mean = traced.processes.iter().map(|it| it.time).sum::<f64>() / f64::from(m);
    let mpi = &traced.processes[0].mpi;
    let with = if mpi.is_empty() { String::new() } else { format!(", {mpi}") };
    let cost: f64 = traced.processes.iter().map(probe::Process::own_cost).fold(0.0, f64::max);
    let share = move |part: f64| part / mean.max(f64::MIN_POSITIVE);
    let parts = Table::of(probe::parts(traced))
        .column("of a rank", Style::Plain, |row| row.what)
        .left()
        .headed("mean_s", "mean", Style::Time, |row| row.mean)
        .headed("most_s", "most", Style::Time, |row| row.most)
        .headed("share", "share", Style::Percent(1), move |row| share(row.mean));
    let mut text = format!(
        "{}, {}: {}{with}\n{}",
        counted(m, "rank"),
        counted(p, "thread"),
        Seconds(mean),
        parts.text()
    );
    let regions = probe::regions(traced);
    let count = regions.len();
    if count > 0 {
        let regions = Table::of(regions.into_iter().take(REGIONS))
            .column("region", Style::Plain, |row| row.name.clone())
            .left()
            .headed("calls", "calls", Style::Digits(0), |row| row.calls)
            .headed("time_s", "time", Style::Time, |row| row.time)
            .headed("share", "share", Style::Percent(1), move |row| share(row.time))
            .headed("imbalance", "imbalance", Style::Percent(1), |row| row.imbalance)
            .headed("overhead", "fork, join", Style::Percent(1), |row| row.overhead);
        text += &format!("\n{}", regions.text());
    }
    if count > REGIONS {
        text += &format!("and {} more regions\n", count - REGIONS);
    }
    text + &format!("the probe itself took some {} ({:.2} %)", Seconds(cost), 100.0 * share(cost))
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
