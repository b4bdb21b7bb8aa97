//! A small process that runs commands for another and outlives it by as long as it takes to end
//! them.
//!
//! It is started once ([`Supervisor::start`]) and runs one command at a time, each in a process
//! group of its own. A command that has ended, or is late, leaves nothing behind: its whole group is
//! asked to end and then ended, and so is what has left the group. Where the process that asked
//! is gone, killed as it may be, the supervisor notices at once, ends what runs, and ends itself.
//!
//! A file that a supervisor holds a lock on as long as it lives keeps the next one waiting until
//! nothing of the last is left.

mod family;
mod output;
mod protocol;
mod serve;

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use mmgp_base::error::{Error, Result};
use mmgp_base::table;
use protocol::Request;
pub use protocol::{Ended, Match, Run};

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
    /// Starts one by a command that calls [`serve`] with its standard input and output.
    ///
    /// # Errors
    /// [`Error::Program`] where it cannot be started.
    pub fn start(mut command: Command) -> Result<Self> {
        // A group of its own: what a terminal sends when a key is pressed is not for it.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut process = command.spawn().map_err(|it| failed(&it))?;
        // What it leaves if it is killed comes to this process.
        family::adopt();
        let gone = || failed(&io::Error::other("it has no pipes"));
        let requests = process.stdin.take().ok_or_else(gone)?;
        let answers = BufReader::new(process.stdout.take().ok_or_else(gone)?);
        Ok(Self { process, requests: Arc::new(Mutex::new(Some(requests))), answers })
    }

    /// What ends the command that it runs.
    pub fn stopper(&self) -> Stop {
        Stop(Arc::clone(&self.requests))
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// [`Error::Program`] where the supervisor does not answer.
    pub fn run(&mut self, run: Run) -> Result<Ended> {
        send(&self.requests, &Request::Run(run)).map_err(|it| failed(&it))?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|it| failed(&it))?;
        if line.is_empty() {
            return Err(failed(&io::Error::other("it has ended before its command")));
        }
        serde_json::from_str(&line).map_err(|it| failed(&it.into()))
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

/// Serves the process on the other side of standard input and output, holding a lock on the file at
/// `lock` as long as anything may be left of what was started.
///
/// # Errors
/// [`Error::Write`] where the lock cannot be taken, [`Error::Program`] where nobody reads answers.
pub fn serve(lock: &Path) -> Result<()> {
    let _held = table::lock(lock)?;
    // Without a buffer between: it would hide requests from whoever waits for them.
    let requests = io::stdin().as_fd().try_clone_to_owned().map_err(|it| failed(&it))?;
    serve::serve(File::from(requests), io::stdout()).map_err(|it| failed(&it))
}
