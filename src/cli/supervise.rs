//! `mmgp supervise LOCK`: the process that runs commands for `tune` and `measure`; not for people, and
//! in no help.

use std::path::{Path, PathBuf};

use super::output::line;
use super::signals;
use crate::error::Result;
use crate::native::supervisor;

/// What asks for it.
pub const COMMAND: &str = "supervise";

/// The file to lock, as long as anything may be left of what was started, where this process is to run
/// commands for another mmgp.
pub fn asked() -> Option<PathBuf> {
    let mut words = std::env::args_os().skip(1);
    words.next().filter(|word| word == COMMAND)?;
    words.next().map(PathBuf::from)
}

/// Runs commands until the process that asks is gone.
pub fn run(lock: &Path) -> Result<()> {
    // What is sent to all processes at once is for the one that asks.
    signals::outlive();
    supervisor::serve(lock, || line(&"waiting for the end of what ran here before"))
}
