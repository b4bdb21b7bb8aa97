//! A run of a program with the library loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::{self, Source};

use crate::library::Library;
use crate::process::{Ended, Process};

/// A program that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Traced {
    /// What its ranks wrote, in their order; at least one.
    pub processes: Vec<Process>,
}

impl Traced {
    /// Ranks (m).
    pub fn ranks(&self) -> u32 {
        self.processes.len() as u32
    }

    /// The processors of all computers that it ran on; `None` where they do not say.
    pub fn processors(&self) -> Option<u32> {
        let hosts: BTreeMap<&str, u32> =
            self.processes.iter().map(|it| (&*it.host.0, it.host.1)).collect();
        Some(hosts.values().sum()).filter(|&count| count > 0)
    }

    /// Refuses a run of other counts than were asked for.
    ///
    /// # Errors
    /// [`Error::Program`], of the program of this name.
    pub fn check(&self, asked: Mapping, program: &str) -> Result<()> {
        let (m, p) = (self.ranks(), self.threads());
        if (m, p) == (asked.m(), asked.p()) {
            return Ok(());
        }
        let why = format!(
            "asked for {asked}, it had {m} ranks of {p} threads: its command must say {{m}} and {{p}}"
        );
        Err(Error::Program { program: program.into(), why })
    }

    /// The most threads (p) of any; 1 where devices are what ranks off-load to.
    pub fn threads(&self) -> u32 {
        if self.processes.iter().any(|it| !it.devices.is_empty()) {
            return 1;
        }
        self.processes.iter().map(|it| it.threads).max().unwrap_or(1)
    }
}

/// Runs a program to its end, with its input and output as they are, and reads what its processes wrote in a folder
/// for the time of the run.
///
/// # Errors
/// [`Error::Program`] where it cannot be started, fails, or says nothing of itself.
pub fn run(library: &Library, argv: &[String], folder: &Path) -> Result<Traced> {
    traced(library, argv, folder, |_| {})
}

/// The same with these variables in its environment, and what it prints thrown away.
///
/// # Errors
/// As [`run`].
pub fn run_quietly(
    library: &Library,
    argv: &[String],
    folder: &Path,
    env: &[(&str, &str)],
) -> Result<Traced> {
    traced(library, argv, folder, |command| {
        command.envs(env.iter().copied()).stdout(Stdio::null());
    })
}

fn traced(
    library: &Library,
    argv: &[String],
    folder: &Path,
    set: impl FnOnce(&mut Command),
) -> Result<Traced> {
    table::create_folder(folder)?;
    let traced = started(library, argv, folder, set).and_then(|()| read(folder, &argv[0]));
    table::remove_folder(folder)?;
    traced
}

fn started(
    library: &Library,
    argv: &[String],
    folder: &Path,
    set: impl FnOnce(&mut Command),
) -> Result<()> {
    let failed = |why: String| Error::Program { program: argv[0].clone(), why };
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).envs(environment(library, folder)?);
    command.env("CUDA_INJECTION64_PATH", &library.file);
    command.env("MMGP_PROBE_PARENT", std::process::id().to_string());
    set(&mut command);
    let status = command.status().map_err(|error| failed(error.to_string()))?;
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => {
            Err(failed(format!("ended with exit code {code}: nothing is kept of it")))
        }
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            Err(failed(format!("was ended by signal {signal}: nothing is kept of it")))
        }
    }
}

/// The environment that loads the library into a program, which writes into a folder.
///
/// # Errors
/// [`Error::Program`] where the folder of this process is not known.
pub fn environment(library: &Library, folder: &Path) -> Result<BTreeMap<String, String>> {
    let preloaded = std::env::var("LD_PRELOAD").unwrap_or_default();
    let own = library.file.to_string_lossy();
    let preload = if preloaded.is_empty() { own.to_string() } else { format!("{own}:{preloaded}") };
    let folder = std::path::absolute(folder)
        .map_err(|error| Error::Program { program: "mmgp".into(), why: error.to_string() })?;
    let folder = folder.to_string_lossy().into_owned();
    Ok([("LD_PRELOAD".into(), preload), ("MMGP_PROBE_DIR".into(), folder)].into())
}

/// What the ranks of a run wrote in a folder.
///
/// # Errors
/// [`Error::Program`] where a rank says nothing of itself, or ended early.
pub fn read(folder: &Path, program: &str) -> Result<Traced> {
    let failed = |why: String| Error::Program { program: program.into(), why };
    let read = |name: &String| Process::read(&Source::read(&folder.join(name))?);
    let all: Vec<Process> = table::files_in(folder)?.iter().map(read).collect::<Result<_>>()?;
    let note = all.iter().flat_map(|it| &it.notes).next().cloned();
    let mut processes: Vec<Process> = all.iter().filter(|it| it.ranks > 0).cloned().collect();
    if processes.is_empty() {
        let is_seen = |it: &Process| !it.regions.is_empty() || !it.devices.is_empty();
        processes = all.into_iter().filter(is_seen).collect();
        if processes.len() > 1 {
            let count = processes.len();
            return Err(failed(format!(
                "{count} processes entered regions, and none called MPI: which of them are copies of one program is \
                 not known; probe one of them"
            )));
        }
    }
    processes.sort_by_key(|it| it.rank);
    let Some(first) = processes.first() else {
        return Err(failed(note.unwrap_or_else(|| NOTHING.into())));
    };
    let ranks = first.ranks.max(1) as usize;
    if let Some(early) = processes.iter().find_map(|it| match &it.ended {
        Ended::Early(how) => Some((it.rank, how.clone())),
        Ended::Well => None,
    }) {
        return Err(failed(format!("rank {} was ended by {}", early.0, early.1)));
    }
    match processes.len() {
        count if count == ranks => Ok(Traced { processes }),
        count => Err(failed(format!(
            "{count} of {ranks} ranks wrote what they saw. Where the others ran on other nodes: with Open MPI, \
             mpirun -x LD_PRELOAD -x MMGP_PROBE_DIR -x MMGP_PROBE_PARENT, and --out in a folder that all nodes share; \
             several programs of one name of MPI_COMM_WORLD are not told apart"
        ))),
    }
}

const NOTHING: &str = "entered no region of OpenMP and called no MPI that could be seen. The probe sees programs that \
    are linked dynamically to libgomp, libomp, Open MPI or MPICH: not static ones, Go, Java, nor pools of threads of \
    their own";

impl Traced {
    /// What was seen and does not fit into the terms, and what makes them unsure.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let all = &self.processes;
        if let Some(it) = all.iter().find(|it| it.has_several_hosts) {
            warnings.push(Warning::Probed(format!(
                "several threads of rank {} entered regions of their own: they are ranks of a kind that is not seen, \
                 and its times overlap",
                it.rank
            )));
        }
        if let Some(it) = all.iter().find(|it| it.other_threads.0 > 0) {
            let (count, who) = &it.other_threads;
            let threads = if *count == 1 { "a thread" } else { "threads" };
            warnings.push(Warning::Probed(format!(
                "{who} started {threads} ({count}) that are not OpenMP's: what they do is in no term"
            )));
        }
        let notes: BTreeSet<&String> = all.iter().flat_map(|it| &it.notes).collect();
        warnings.extend(notes.into_iter().map(|note| Warning::Probed(note.clone())));
        if all.iter().any(|it| !it.devices.is_empty() && !it.regions.is_empty()) {
            warnings.push(Warning::Probed(
                "devices are what it off-loads to: p is 1, and its threads are the host's".into(),
            ));
        }
        let counts = all.iter().map(|it| it.threads);
        if let (Some(least), Some(most)) = (counts.clone().min(), counts.max())
            && least < most
        {
            warnings.push(Warning::Probed(format!(
                "ranks have {least} to {most} threads: p is taken as {most}"
            )));
        }
        // A rank that was taken off its processors again and again.
        let expected = |it: &Process| FEWEST.max(SWITCHES * it.time * f64::from(it.threads));
        let busy = all.iter().find(|it| it.switches as f64 > expected(it));
        if let Some(it) = busy {
            warnings.push(Warning::Probed(format!(
                "rank {} was taken off its processors {} times in {:.3} s: others had them, and times are longer \
                 than on a machine of its own",
                it.rank, it.switches, it.time
            )));
        }
        warnings
    }
}

/// Involuntary context switches of a thread in a second that are worth a word, and of all at least.
const SWITCHES: f64 = 20.0;
const FEWEST: f64 = 10.0;
