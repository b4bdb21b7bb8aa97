//! `mmgp supervise`: the process that runs commands for `tune` and `measure`; not for people.

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use crate::error::Result;
use crate::native::supervisor;

/// Run commands for another mmgp
#[derive(Args)]
pub struct Arguments {
    /// File that is locked as long as anything may be left of what was started
    lock: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    supervisor::serve(&arguments.lock)?;
    Ok(Answer::Done)
}
