//! `bench --machine host`: this computer, its MPI, and its device of OpenCL.

use super::device;
use super::ranks::{self, Launcher};
use super::runner::Runner;
use super::{Answer, BenchArguments};
use crate::cli::output::{Verbosity, line, waiting, warn};
use crate::error::{Result, Warning};
use crate::measure;
use crate::native::bench::{self, Benchmarks, Settings};
use crate::table::{self, csv};
use crate::units::Seconds;

/// The time that measuring this computer takes where nobody says it.
const BUDGET: Seconds = Seconds(25.0);

/// The file of collectives, and that of those among threads where the first has an MPI's.
const COLLECTIVE: &str = "collective.csv";
const AMONG_THREADS: &str = "collective_threads.csv";

/// Runs all micro-benchmarks that can be had here.
///
/// # Errors
/// Where threads cannot be started or files not written, and for a launcher that is named and not here. One that fails,
/// and a device that does, are warnings.
pub fn on_host(arguments: &BenchArguments) -> Result<Answer> {
    let (repetitions, seed) = (arguments.repetitions, arguments.seed);
    let budget = arguments.budget.unwrap_or(BUDGET);
    let launcher = launcher(arguments)?;
    table::create_folder(&arguments.out)?;
    let progress = waiting("micro-benchmarks", Verbosity::from(arguments.quiet));
    let mut runner = Runner::start(&arguments.out, budget)?;
    let of_ranks = launcher.and_then(|launcher| {
        let measured = launcher.measure(&mut runner, &bench::ranks(), repetitions);
        measured.map_err(|error| Missing::Failed(error.to_string()))
    });
    let of_device = match device::measure(&mut runner, repetitions) {
        Ok(measured) => measured.map_err(Missing::NotHere),
        Err(error) => Err(Missing::Failed(error.to_string())),
    };
    runner.end()?;
    let collective_file = if of_ranks.is_ok() { AMONG_THREADS } else { COLLECTIVE };
    let mut measured = bench::measure(Settings { repetitions, budget, seed, collective_file })?;
    drop(progress);
    let mut said = collectives(arguments, &mut measured, of_ranks)?;
    said.extend(off_loads(arguments, &measured, of_device)?);
    warn(&measured.warnings);
    said.push(measured.conditions.join("; "));
    if !arguments.quiet {
        said.iter().for_each(|it| line(it));
    }
    measure::write(&arguments.out, &measured.tables, &measured.conditions)?;
    Ok(Answer::Done)
}

/// Why there is no measurement by another program.
enum Missing {
    /// What it takes is not here, or not wanted.
    NotHere(String),
    /// It is here and fails.
    Failed(String),
}

impl Missing {
    /// What is to be said of what is done without it: a failure is a warning, which is given at once.
    fn said(self, so: &str) -> Vec<String> {
        match self {
            Self::NotHere(why) => vec![format!("{so}: {why}")],
            Self::Failed(why) => {
                warn(&[Warning::Note(format!("{so}: {why}"))]);
                Vec::new()
            }
        }
    }
}

/// The launcher of the user's MPI; one that is named and cannot be had is an error.
fn launcher(arguments: &BenchArguments) -> Result<std::result::Result<Launcher, Missing>> {
    let (mpirun, mpicc) = (arguments.mpirun.as_deref(), arguments.mpicc.as_deref());
    match Launcher::find(mpirun, mpicc) {
        Ok(found) => Ok(found.map_err(Missing::NotHere)),
        Err(error) if mpirun.is_some() || mpicc.is_some() => Err(error),
        Err(error) => Ok(Err(Missing::Failed(error.to_string()))),
    }
}

/// Writes the collectives of an MPI, and those among threads beside them; without the first the others stay in their
/// place. What each file has.
fn collectives(
    arguments: &BenchArguments,
    measured: &mut Benchmarks,
    of_ranks: std::result::Result<ranks::Measured, Missing>,
) -> Result<Vec<String>> {
    let of_ranks = match of_ranks {
        Ok(of_ranks) => of_ranks,
        Err(why) => return Ok(why.said(&format!("{COLLECTIVE} is among threads"))),
    };
    warn(&of_ranks.warnings);
    let what = format!("{}; more than processors are not measured", of_ranks.what);
    let threads = std::mem::take(&mut measured.tables.collective);
    let conditions = &measured.conditions;
    write(arguments, AMONG_THREADS, (conditions, "among threads"), &csv::write(&threads))?;
    write(arguments, COLLECTIVE, (conditions, &what), &csv::write(&of_ranks.rows))?;
    Ok(vec![format!("{COLLECTIVE} is {what}"), format!("{AMONG_THREADS} is among threads")])
}

/// Writes off-loads to a device; what each file has.
fn off_loads(
    arguments: &BenchArguments,
    measured: &Benchmarks,
    of_device: std::result::Result<device::Measured, Missing>,
) -> Result<Vec<String>> {
    let [_, copies] = device::FILES;
    let of_device = match of_device {
        Ok(of_device) => of_device,
        Err(why) => return Ok(why.said(&format!("without {copies}"))),
    };
    warn(&of_device.warnings);
    let of = |what: &str| format!("{what} of {}", of_device.name);
    let whats = [of("empty kernels"), of("empty kernels between copies there and back")];
    let rows = [&of_device.launches, &of_device.copies];
    let mut said = Vec::new();
    for ((file, what), rows) in device::FILES.into_iter().zip(whats).zip(rows) {
        write(arguments, file, (&measured.conditions, &what), &csv::write(rows))?;
        said.push(format!("{file} is {what}"));
    }
    Ok(said)
}

/// Writes a file with what its rows are of above them.
fn write(
    arguments: &BenchArguments,
    file: &str,
    (conditions, what): (&[String], &str),
    rows: &str,
) -> Result<()> {
    let remarks = conditions.iter().map(String::as_str).chain([what]);
    let remarks: String = remarks.map(|remark| format!("# {remark}\n")).collect();
    table::write(&arguments.out.join(file), remarks + rows)
}
