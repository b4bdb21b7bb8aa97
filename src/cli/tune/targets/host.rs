//! This computer as the target of a search.

use super::{StartedTarget, TargetEntry};
use crate::cli::signals;
use crate::cli::tune::{Interrupt, Job, Session};
use crate::error::Result;
use crate::native::Program;

/// The target on the command line.
pub const ENTRY: TargetEntry =
    TargetEntry { name: "host", about: "This computer, which runs the command", start };

/// Starts the process that runs commands, and has it stop at a signal.
fn start(job: &Job, session: &Session) -> Result<StartedTarget> {
    let supervisor = signals::supervisor(&session.running())?;
    let stop = supervisor.stopper();
    let interrupt = Interrupt::then(move || stop.stop());
    Ok((Box::new(Program::new(job.settings.clone(), supervisor)), interrupt))
}
