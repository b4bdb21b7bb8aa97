//! A small process that runs commands for another and outlives it by as long as it takes to end
//! them.
//!
//! It is started once ([`Supervisor::start`]) and runs one command at a time, each in a process
//! group of its own. A command that has ended, or is late, leaves nothing behind: its whole group is
//! asked to end and then ended, and so is what has left the group. Where the process that asked
//! is gone, killed as it may be, the supervisor notices at once, ends what runs, and ends itself.
//! Where the supervisor is killed, the process that asked ends what it left.
//!
//! A file that a supervisor holds a lock on as long as it lives keeps the next one waiting until
//! nothing of the last is left. Where both were killed, the next one ends what they left, which it
//! knows by [`MARK`].

mod family;
mod line_regex;
mod looks;
mod output;
mod serve;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use family::GRACE;
use mmgp_base::attempt::Placement;
use mmgp_base::error::{Error, Result};
use mmgp_base::table::{Holder, Lock};
use nix::unistd::{getppid, setsid};
use serde::{Deserialize, Serialize};

/// What is said to a supervisor, in a line of JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Run this and answer when it has ended.
    Run(Run),
    /// End what is running; it is answered as usual.
    Stop,
}

/// A command to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program and its arguments, at least the program.
    pub argv: Vec<String>,
    /// What is set in its environment.
    pub env: BTreeMap<String, String>,
    /// Names of variables that are taken out of its environment.
    pub without: Vec<String>,
    /// Folder in which it runs; that of the supervisor, unless given.
    pub folder: Option<PathBuf>,
    /// The processors that it may use; all, where there are none.
    pub processors: Vec<usize>,
    /// Time after which it is stopped \[s\].
    pub limit_s: Option<f64>,
    /// Regular expressions to find in its output, line by line.
    pub patterns: Vec<String>,
    /// Whether it tidies up: it runs to its end also where a stop was asked for.
    pub concludes: bool,
}

/// What came of a command, which a supervisor answers in a line of JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// Why it could not be started.
    pub not_started: Option<String>,
    /// Time from start to end \[s\].
    pub wall_s: f64,
    /// Exit status.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was stopped at its limit.
    pub is_late: bool,
    /// Whether it was stopped because that was asked for.
    pub is_stopped: bool,
    /// Processes that it left behind, which were ended.
    pub left_behind: u64,
    /// CPU time of all its processes \[s\].
    pub cpu_s: f64,
    /// Peak memory of its largest process \[KiB\].
    pub max_rss_kb: u64,
    /// Context switches of all its processes.
    pub context_switches: u64,
    /// Those of them that were not voluntary.
    pub involuntary_switches: u64,
    /// Share of the time of all processors that other virtual machines took while it ran.
    pub steal: Option<f64>,
    /// What was seen of its processes while it lived.
    pub placement: Option<Placement>,
    /// The last match of each pattern; without any, nothing.
    pub matches: Vec<Option<Match>>,
    /// The end of its standard output.
    pub output: String,
    /// The end of its standard error.
    pub errors: String,
}

/// The last match of a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Names of the groups, the whole match first, and what they hold.
    pub groups: Vec<(Option<String>, Option<String>)>,
    /// The line in which it stands.
    pub line: String,
    /// Span of the first group in the line, from its first byte to behind its last.
    pub span: (usize, usize),
}

/// A supervisor that runs.
pub struct Supervisor {
    process: Child,
    requests: Arc<Mutex<Option<ChildStdin>>>,
    answers: BufReader<ChildStdout>,
}

/// What ends the command that a supervisor runs.
#[derive(Clone)]
pub struct Stop(Arc<Mutex<Option<ChildStdin>>>);

impl Stop {
    /// Asks for it, for this command and all that would come; the answers say so.
    pub fn stop(&self) {
        // A supervisor that is gone has nothing left to stop.
        let _ = send(&self.0, &Request::Stop);
    }
}

impl Supervisor {
    /// Starts one by a command that calls [`serve`] with its standard input and output, and waits until
    /// nothing of the last one is left.
    ///
    /// # Errors
    /// [`Error::Program`] where it cannot be started.
    pub fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|it| failed(&it))?;
        // What it leaves if it is killed comes to this process.
        family::adopt();
        let gone = || failed(&io::Error::other("it has no pipes"));
        let requests = process.stdin.take().ok_or_else(gone)?;
        let answers = BufReader::new(process.stdout.take().ok_or_else(gone)?);
        let requests = Arc::new(Mutex::new(Some(requests)));
        let mut started = Self { process, requests, answers };
        started.answer()?;
        Ok(started)
    }

    /// What ends the command that it runs.
    pub fn stopper(&self) -> Stop {
        Stop(Arc::clone(&self.requests))
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// [`Error::Program`] where the supervisor does not answer.
    pub fn run(&mut self, run: Run) -> Result<CommandEnd> {
        // Where this cannot be said, there is no answer either.
        let _ = send(&self.requests, &Request::Run(run));
        let line = self.answer()?;
        serde_json::from_str(&line).map_err(|it| failed(&it.into()))
    }

    fn answer(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(_) if line.ends_with('\n') => Ok(line),
            read => {
                // What it leaves is ended here: somebody has killed it.
                let _ = self.process.wait();
                family::wind_up(GRACE);
                let why = read.err().unwrap_or_else(|| io::Error::other("it has ended"));
                Err(failed(&why))
            }
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // Without requests to come it ends what runs, and itself.
        drop(self.requests.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.process.wait();
    }
}

fn send(requests: &Mutex<Option<ChildStdin>>, request: &Request) -> io::Result<()> {
    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
    let pipe = requests.as_mut().ok_or_else(|| io::Error::other("it is told to end"))?;
    let line = serde_json::to_string(request)? + "\n";
    pipe.write_all(line.as_bytes())?;
    pipe.flush()
}

fn failed(source: &io::Error) -> Error {
    Error::Program { program: "the process that runs commands".into(), why: source.to_string() }
}

/// Time between two looks whether the last supervisor has ended.
const POLL: Duration = Duration::from_millis(10);

/// A variable that all commands of a supervisor have in their environment: the place of its lock.
pub const MARK: &str = "MMGP_RUNNING";

/// Serves the process on the other side of standard input and output, holding a lock on the file at
/// `lock` as long as anything may be left of what was started. Says so where another holds it, and
/// waits.
///
/// # Errors
/// [`Error::Write`] where the lock cannot be taken, [`Error::Program`] where nobody reads answers.
pub fn serve(lock: &Path, waits: impl FnOnce()) -> Result<()> {
    // A session of its own: no terminal is for it and for what it starts.
    let _ = setsid();
    let mut lock = Lock::new(lock)?;
    let place = lock.place()?;
    family::adopt();
    let (asker, mut waits) = (getppid(), Some(waits));
    loop {
        match lock.take()? {
            // Nobody else is at work, so whatever is left has no supervisor any more.
            Holder::ByUs => break family::end_marked(MARK, place.as_os_str()),
            Holder::Unknown => break,
            Holder::ByAnother if getppid() != asker => return Ok(()),
            Holder::ByAnother => {
                if let Some(waits) = waits.take() {
                    waits();
                }
                std::thread::sleep(POLL);
            }
        }
    }
    let served = attend((MARK, place.as_os_str()));
    family::bury();
    served.map_err(|it| failed(&it))
}

/// Says that all is ready, and answers.
fn attend(mark: (&str, &OsStr)) -> io::Result<()> {
    // Without a buffer between: it would hide requests from whoever waits for them.
    let requests = io::stdin().as_fd().try_clone_to_owned()?;
    let mut answers = io::stdout();
    answers.write_all(b"ready\n")?;
    answers.flush()?;
    serve::serve(File::from(requests), answers, mark)
}
