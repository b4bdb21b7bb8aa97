//! `mmgp supervise`: the process that runs commands for `tune` and `measure`; not for people.

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::output::line;
use super::signals;
use crate::error::Result;
use crate::native::supervisor;

/// Run commands for another mmgp
#[derive(Args)]
pub struct Arguments {
    /// File that is locked as long as anything may be left of what was started
    lock: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    // What is sent to all processes at once is for the one that asks.
    signals::outlive();
    supervisor::serve(&arguments.lock, || line(&"waiting for the end of what ran here before"))?;
    Ok(Answer::Done)
}
