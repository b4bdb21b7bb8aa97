//! This computer as the target of a search.

use std::process::Command;

use super::{StartedTarget, TargetEntry};
use crate::cli::signals;
use crate::cli::tune::{Interrupt, Job, Session};
use crate::error::{Error, Result};
use crate::native::{Program, Supervisor};

/// The target on the command line.
pub const ENTRY: TargetEntry =
    TargetEntry { name: "host", about: "This computer, which runs the command", start };

/// Starts the process that runs commands, and has it stop at a signal.
fn start(job: &Job, session: &Session) -> Result<StartedTarget> {
    let own = std::env::current_exe()
        .map_err(|error| Error::Program { program: "mmgp".into(), why: error.to_string() })?;
    let mut command = Command::new(own);
    command.arg(signals::SUPERVISE).arg(session.running());
    let supervisor = Supervisor::start(command)?;
    let stop = supervisor.stopper();
    let interrupt = Interrupt::then(move || stop.stop());
    Ok((Box::new(Program::new(job.settings.clone(), supervisor)), interrupt))
}
