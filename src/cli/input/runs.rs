//! Timed runs, as every command that takes them reads them.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::files::Guard;
use crate::error::{Error, Result, Warning};
use crate::fit::{Reading, Runs, WarmUp};
use crate::table::{Columns, Source};

/// Which timed runs, and how they are read.
#[derive(Args, Clone, Default)]
pub struct RunArguments {
    /// Timed runs: m,p,repetition,time_s as CSV, or what Extra-P or hyperfine wrote; - is standard
    /// input. The time may be in time_ms, time_us, time_ns, time_min or time_h. Runs that failed
    /// (an empty time, nan, timeout, a status that is not ok) are left out
    #[arg(long, value_name = "FILE")]
    pub runs: Option<PathBuf>,
    /// What the timed runs call m, p, time and repetition: m=ranks,p=threads,time=elapsed_ms; the
    /// unit of the time is the end of its name, without one seconds
    #[arg(long, value_name = "KEY=NAME,...")]
    pub columns: Option<Columns>,
    /// Keep first repetitions that take longer than the others, more than chance explains; without
    /// it, they are left out
    #[arg(long, requires = "runs")]
    pub keep_warm_up: bool,
}

impl RunArguments {
    /// With the file of the runs.
    pub fn guarded(&self, guard: Guard) -> Guard {
        guard.reads("--runs", self.runs.as_deref())
    }

    fn reading(&self) -> Reading {
        let warm_up = if self.keep_warm_up { WarmUp::Keep } else { WarmUp::LeaveOut };
        Reading { columns: self.columns.clone().unwrap_or_default(), warm_up }
    }
}

/// The timed runs of a file.
pub fn runs(path: &Path, arguments: &RunArguments) -> Result<(Runs, Vec<Warning>)> {
    runs_in(&Source::read(path)?, arguments)
}

/// As [`runs`], of a file that was read.
pub fn runs_in(source: &Source, arguments: &RunArguments) -> Result<(Runs, Vec<Warning>)> {
    let (runs, warnings) = arguments.reading().runs(source).map_err(in_flags)?;
    Ok((runs, warnings.into_iter().map(with_flag).collect()))
}

/// With the flag that keeps what was left out.
fn with_flag(warning: Warning) -> Warning {
    match warning {
        Warning::WarmUp { left_out: 1.., .. } => {
            Warning::Note(format!("{warning}; --keep-warm-up keeps them"))
        }
        other => other,
    }
}

fn in_flags(error: Error) -> Error {
    match error {
        Error::OutOfRange { name: "columns", found, expected } => {
            Error::OutOfRange { name: "--columns", found, expected }
        }
        other => other,
    }
}
