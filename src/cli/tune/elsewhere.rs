//! Runs that others start: a job of Slurm, or lists for other engines.

use std::path::Path;

use clap::{Args, ValueEnum};

use super::Job;
use super::program::Ranks;
use super::requests::{Request, Requests};
use crate::Mapping;
use crate::attempt::Order;
use crate::cli::Answer;
use crate::cli::output::{data, line};
use crate::error::{Error, Result};
use crate::launch::{self, emit, slurm};
use crate::native;
use crate::table;

/// The flags that say who starts the runs, if not this command.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Who starts the runs")]
pub struct ElsewhereArguments {
    /// Through Slurm: submits one job that runs this command in its allocation, each run a step of
    /// srun -n {m} -c {p} --exact, with --cpu-bind=cores for --as mpi+openmp; where configurations take different numbers of nodes, an array of
    /// the runs that come next (then tell --results and this command again). In a job it goes on
    /// there. With --dry-run the script is printed
    #[arg(long, value_enum, value_name = "ENGINE")]
    via: Option<Via>,
    /// Options of sbatch for that job: '--time=2:00:00 --partition=main'
    #[arg(long, value_name = "OPTIONS", requires = "via", default_value = "")]
    #[arg(allow_hyphen_values = true, hide_default_value = true)]
    sbatch: String,
    /// Print the runs that come next for another engine and run nothing: a script for bash, one for
    /// GNU parallel, or a job file for HyperQueue; mmgp tell --results reads what comes of them
    #[arg(long, value_enum, value_name = "ENGINE", conflicts_with_all = ["via", "dry_run"])]
    emit: Option<Emit>,
}

/// The engines through which this command is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Via {
    /// Slurm
    Slurm,
}

/// The engines for which runs are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// A bash script
    Script,
    /// GNU parallel
    Parallel,
    /// HyperQueue: hq job submit-file
    Hyperqueue,
}

/// The file that others write.
const RESULTS: &str = "results.csv";

impl ElsewhereArguments {
    /// Whether this command itself starts the runs, perhaps as steps of the job it is in.
    pub fn is_here(&self) -> bool {
        self.emit.is_none() && (self.via.is_none() || is_in_job())
    }

    /// How each run is started here: as a step of the job, its ranks bound or not; and the nodes of scripts
    /// for others are not this computer.
    pub fn set(&self, settings: &mut native::Settings, ranks: Ranks) {
        if self.via == Some(Via::Slurm) {
            settings.launcher = Some(match ranks {
                Ranks::Bound => slurm::bound_step,
                Ranks::Free => slurm::step,
            });
        }
        if !self.is_here() {
            settings.binding = settings.binding.take().map(native::Binding::elsewhere);
        }
        if self.via == Some(Via::Slurm) && is_in_job() {
            let (name, _) = slurm::step_variable(Mapping::SEQUENTIAL);
            let env = &mut settings.command.env;
            if !env.iter().any(|(set, _)| set == name) {
                env.push((name.into(), "{p}".into()));
            }
            let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
            settings.command.without = names.filter(|name| slurm::leaks(name)).collect();
        }
    }

    /// Has others run what is due.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the time is not the wall clock's and others cannot take it.
    pub fn hand_over(&self, job: &Job, due: &[(Mapping, Order)], is_dry: bool) -> Result<Answer> {
        let folder = &job.folder;
        if let Some(emit) = self.emit {
            check_is_wall(job, "--emit")?;
            let runs = runs(job, due);
            note(job, due)?;
            let results = folder.join(RESULTS).display().to_string();
            let text = match emit {
                Emit::Script => emit::script(&runs, &results),
                Emit::Parallel => emit::parallel(&runs, &results),
                Emit::Hyperqueue => emit::hyperqueue(&runs, "mmgp"),
            };
            data(None, &text)?;
            return Ok(Answer::Done);
        }
        let output = folder.join("slurm-%j.out").display().to_string();
        let step = job.settings.launcher.unwrap_or(slurm::step);
        let settings =
            slurm::Settings { name: "mmgp", output: &output, options: &self.sbatch, step };
        let differ =
            job.declared.space.iter().any(|it| job.nodes(*it) != job.nodes(job.declared.space[0]));
        let script = if differ {
            check_is_wall(job, "--via")?;
            let results = folder.join(RESULTS).display().to_string();
            slurm::array(&settings, &runs(job, due), &results).map_err(in_flags)?
        } else {
            let mut command: Vec<String> = std::env::args().collect();
            if let Ok(own) = std::env::current_exe() {
                command[0] = own.display().to_string();
            }
            slurm::job(&settings, job.nodes(job.declared.space[0]), &command).map_err(in_flags)?
        };
        if is_dry {
            data(None, &script)?;
            return Ok(Answer::Done);
        }
        note(job, due)?;
        let path = folder.join("job.sh");
        table::write(&path, script)?;
        submit(&path, differ)?;
        if differ {
            let folder = emit::quoted(&folder.display().to_string());
            line(&format!(
                "when they have ended: mmgp tell --out {folder} --results {folder}/{RESULTS}, \
                       and this command again"
            ));
        }
        Ok(Answer::Done)
    }
}

/// An error of a script in the words of flags.
fn in_flags(error: Error) -> Error {
    error.renamed(|name| if name == "output" { "--out" } else { name })
}

/// Whether this process is in a job of Slurm.
fn is_in_job() -> bool {
    std::env::var_os("SLURM_JOB_ID").is_some()
}

/// Others take the time by the wall clock alone.
fn check_is_wall(job: &Job, flag: &'static str) -> Result<()> {
    let native::Settings { time, captures, .. } = &job.settings;
    let is_wall = matches!(time, native::TimeSource::Wall) && captures.is_empty();
    if is_wall && job.settings.check.is_none() {
        return Ok(());
    }
    Err(Error::out_of_range(
        flag,
        "runs whose output is to be read",
        "runs that are timed by the wall clock, without --time-from, --rate-from, \
                   --time-json, --capture and --check: another engine starts them",
    ))
}

fn runs(job: &Job, due: &[(Mapping, Order)]) -> Vec<launch::Run> {
    // Who starts them says how: an array of Slurm puts its steps there itself.
    let settings = native::Settings { launcher: None, ..job.settings.clone() };
    let run = |(mapping, order): &(Mapping, Order)| {
        let (argv, env) = settings.filled(order, *mapping);
        let dir = job.settings.folder_of(order, *mapping).map(|it| it.display().to_string());
        launch::Run { mapping: *mapping, order: order.clone(), argv, env, dir }
    };
    due.iter().map(run).collect()
}

/// Keeps what was asked, beside what the log is of.
fn note(job: &Job, due: &[(Mapping, Order)]) -> Result<()> {
    let session = job.open()?;
    let requests = due.iter().map(|due| Request::new(due, None)).collect();
    Requests::of(&job.folder, &session)?.add(requests)
}

/// Submits a job, or runs the script that submits arrays.
fn submit(script: &Path, is_array: bool) -> Result<()> {
    let program = if is_array { "bash" } else { "sbatch" };
    let failed = |why: String| Error::Program { program: program.into(), why };
    let status = std::process::Command::new(program).arg(script).status();
    let status = status.map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
}
