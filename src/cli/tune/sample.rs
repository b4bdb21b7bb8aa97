//! The program that `tune --sample` runs: mmgp itself, asked for by a word of its own.

use std::process::Command;

use crate::Mapping;
use crate::cli::output::data;
use crate::error::{Error, Result};
use crate::native::stencil;

/// The word that asks for it.
const RUN: &str = "run-sample";

/// The command with its placeholders.
///
/// # Errors
/// [`Error::Program`] where this program's own file is not known.
pub fn command() -> Result<Vec<String>> {
    let own = std::env::current_exe().map_err(|error| failed(&error))?;
    Ok([&*own.to_string_lossy(), RUN, "{m}", "{p}"].map(String::from).to_vec())
}

/// Counts of processes and threads, and the number of the process that this is to be, where this
/// process is to be the sample.
pub fn asked() -> Option<(Mapping, Option<usize>)> {
    let mut words = std::env::args().skip(1);
    words.next().filter(|word| word == RUN)?;
    let mut count = || words.next()?.parse().ok();
    let mapping = Mapping::new(count()?, count()?).ok()?;
    Some((mapping, count().map(|number| number as usize)))
}

/// Is the sample, or one of its processes.
///
/// # Errors
/// [`Error::Program`] where a process of it fails.
pub fn run(mapping: Mapping, number: Option<usize>) -> Result<()> {
    if let Some(number) = number {
        return stencil::serve(number, mapping).map_err(|error| failed(&error));
    }
    let own = std::env::current_exe().map_err(|error| failed(&error))?;
    let sum = stencil::run(mapping, |number| {
        let mut command = Command::new(&own);
        command.arg(RUN);
        command.args([mapping.m().to_string(), mapping.p().to_string(), number.to_string()]);
        command
    });
    data(None, &format!("checksum: {:016x}\n", sum.map_err(|error| failed(&error))?))
}

fn failed(error: &std::io::Error) -> Error {
    Error::Program { program: "the sample".into(), why: error.to_string() }
}
