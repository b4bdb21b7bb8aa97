//! Signals that end the program; and `mmgp supervise LOCK`, the process that outlives them to run commands for
//! `tune` and `measure`: it is not for people, and in no help.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::output::line;
use crate::error::{Error, Result};
use crate::native::{Supervisor, supervisor};
use crate::table::{self, Source};

/// What is done at the first signal instead of ending the program.
type Action = Box<dyn FnOnce(i32) + Send>;

static AT_FIRST: Mutex<Option<Action>> = Mutex::new(None);

/// Has each signal end the program between two writes from here on, so that who sends it finds
/// every file either whole or untouched; the exit code tells which it was, as a shell does. A hangup
/// that is ignored stays so: `nohup` asks for it.
pub fn obey() {
    // A file that grows beyond a limit is an error of whoever writes it, with its path.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    // Where they cannot be handled, the default ends the program as well.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup)) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match AT_FIRST.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(action) => action(signal),
                None => table::exit_between_writes(128 + signal),
            }
        }
    });
}

/// Has the first signal do this, where somebody winds up and ends the program himself; the second
/// ends it.
pub fn take_first(action: impl FnOnce(i32) + Send + 'static) {
    *AT_FIRST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(action));
}

/// Has no signal do anything from here on: the process ends when its work is gone.
fn outlive() {
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        // What is started is not to ignore them, so a handler that does nothing takes them.
        let _ = signal_hook::flag::register(signal, Arc::default());
    }
}

/// Whether whoever started the program had it ignore a signal. Only Linux tells.
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = Source::read(Path::new("/proc/self/status")) else { return false };
    let ignored = status.text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    ignored.is_some_and(|bits| bits >> (signal - 1) & 1 == 1)
}

/// The word that asks for the supervisor.
const SUPERVISE: &str = "supervise";

/// The file to lock, as long as anything may be left of what was started, where this process is to run
/// commands for another mmgp.
pub fn supervised() -> Option<PathBuf> {
    let mut words = std::env::args_os().skip(1);
    words.next().filter(|word| word == SUPERVISE)?;
    words.next().map(PathBuf::from)
}

/// Starts the process that runs commands, which locks a file as long as anything may be left of them.
pub fn supervisor(lock: &Path) -> Result<Supervisor> {
    let own = std::env::current_exe()
        .map_err(|error| Error::Program { program: "mmgp".into(), why: error.to_string() })?;
    let mut command = Command::new(own);
    command.arg(SUPERVISE).arg(lock);
    Supervisor::start(command)
}

/// Runs commands until the process that asks is gone.
pub fn supervise(lock: &Path) -> Result<()> {
    // What is sent to all processes at once is for the one that asks.
    outlive();
    supervisor::serve(lock, || line(&"waiting for the end of what ran here before"))
}
