//! Timed runs, as every command that takes them reads them, and lists of numbers.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::cli::files::Guard;
use crate::error::{Error, Result, Warning};
use crate::fit::{Reading, Runs, WarmUp};
use crate::intake::sheet::Origin;
use crate::intake::{Claims, Columns, Measurand};
use crate::models::observations::Observations;
use crate::table::Source;

/// Flags of timed runs, and of how they are read.
#[derive(Args, Clone, Default)]
pub struct RunArguments {
    /// Timed runs: a table with m, p and a time, by any usual names, in CSV, Markdown, JSON or what
    /// hyperfine, Extra-P, Kernel Tuner, Ramble, ReFrame, JUBE, Google Benchmark, GNU parallel or
    /// sacct wrote; - is standard input. `mmgp look FILE` shows how it is understood. Runs that
    /// failed are left out
    #[arg(long, value_name = "FILE")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub said: ClaimArguments,
    /// Keep first repetitions that take longer than the others, more than chance explains; without
    /// it, they are left out
    #[arg(long, requires = "runs")]
    pub keep_warm_up: bool,
}

/// Flags that say of a table what it does not say itself.
#[derive(Args, Clone, Default)]
pub struct ClaimArguments {
    /// Names that the timed runs have for m, p, time and repetition, where these are not usual ones:
    /// m=ranks,p=cores/ranks,time=elapsed_ms; 'time=wall [ms]' says a unit, m,p=config splits 8x4,
    /// p,m=config where threads come first, 'p=t*' takes times and p from columns t1, t2, t4. In JSON also
    /// paths: m=parameters.np,time=results[*].mean
    #[arg(long, value_name = "KEY=NAME,...")]
    pub columns: Option<Columns>,
    /// A column of rates (ns/day, GFLOP/s), of which more is better, instead of a time
    #[arg(long, value_name = "COLUMN")]
    pub rate: Option<String>,
    /// Condition on columns that a row has to meet: 'N == 10000 and mode == "hybrid"'
    #[arg(long, value_name = "CONDITION")]
    pub filter: Option<String>,
    /// A column that may differ among the repetitions of a run; may be given several times
    #[arg(long, value_name = "COLUMN")]
    pub ignore: Vec<String>,
    /// Quantity that is measured instead of the time.
    #[arg(skip)]
    pub objective: Option<String>,
    /// A column and the text that a row must have in it.
    #[arg(skip)]
    pub only: Option<(String, String)>,
}

impl RunArguments {
    /// The guard with the file of the runs.
    pub fn guarded(&self, guard: Guard) -> Guard {
        guard.reads("--runs", self.runs.as_deref())
    }

    /// The same flags with an objective that has to be read from the runs.
    pub fn measuring(&self, objective: Option<&str>) -> Self {
        let mut same = self.clone();
        same.said.objective = objective.filter(|it| Measurand::is_needed(it)).map(String::from);
        same
    }

    fn reading(&self) -> Reading {
        let warm_up = if self.keep_warm_up { WarmUp::Keep } else { WarmUp::LeaveOut };
        Reading { claims: self.said.claims(), warm_up }
    }
}

impl ClaimArguments {
    /// Claims that the flags make of the table.
    pub fn claims(&self) -> Claims {
        Claims {
            columns: self.columns.clone().unwrap_or_default(),
            rate: self.rate.clone(),
            objective: self.objective.clone(),
            filter: self.filter.clone(),
            only: self.only.clone(),
            ignored: self.ignore.clone(),
        }
    }
}

/// The timed runs of a file that was read, or of a frame.
pub fn runs_in<'a>(
    origin: impl Into<Origin<'a>>,
    arguments: &RunArguments,
) -> Result<(Runs, Vec<Warning>)> {
    let (runs, warnings) = arguments.reading().runs(origin).map_err(in_flags)?;
    Ok((runs, warnings.into_iter().map(with_flag).collect()))
}

/// Timed runs for predictions to be conditioned on, with the doubts about them.
pub fn observations_in(
    source: &Source,
    arguments: &RunArguments,
) -> Result<(Observations, Vec<Warning>)> {
    let (runs, mut warnings) = runs_in(source, arguments)?;
    warnings.extend(runs.doubts());
    Ok((runs.observations(), warnings))
}

/// The warning with the flag that keeps what was left out.
fn with_flag(warning: Warning) -> Warning {
    match warning {
        Warning::WarmUp { left_out: 1.., .. } => {
            Warning::Note(format!("{warning}; --keep-warm-up keeps them"))
        }
        other => other,
    }
}

/// An error of the library in the words of flags.
fn in_flags(error: Error) -> Error {
    error.renamed(|name| match name {
        "columns" => "--columns",
        "filter" => "--filter",
        "objective" => "--objective",
        other => other,
    })
}

/// Whole numbers of at least 1, increasing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values(pub Vec<u32>);

/// Most values of a list; more are a slip of the pen.
const MOST: usize = 100_000;

impl FromStr for Values {
    type Err = String;

    /// Parses `1,2,4`, `1..64`, `4..64+4`, `1..64*2` and lists of these.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut values = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((first, rest)) => range(part, first, rest, &mut values)?,
                None => values.push(number(part)?),
            }
        }
        values.sort_unstable();
        values.dedup();
        Ok(Self(values))
    }
}

fn number(text: &str) -> std::result::Result<u32, String> {
    let number = text.trim().parse::<u32>().ok().filter(|&it| it > 0);
    number.ok_or_else(|| {
        format!("{text:?} is no whole number of at least 1 and no range, as in 1,2,4 or 1..64")
    })
}

fn range(
    part: &str,
    first: &str,
    rest: &str,
    values: &mut Vec<u32>,
) -> std::result::Result<(), String> {
    let (last, step, grows) = match (rest.split_once('+'), rest.split_once('*')) {
        (Some((last, step)), _) => (last, number(step)?, false),
        (_, Some((last, factor))) => (last, number(factor)?, true),
        _ => (rest, 1, false),
    };
    let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
    if first > last {
        return Err(format!("{part}: the first is above the last"));
    }
    if grows && step < 2 {
        return Err(format!("{part}: a factor is at least 2"));
    }
    let mut next = Some(first);
    while let Some(value) = next.filter(|&it| it <= last) {
        values.push(value);
        if values.len() > MOST {
            return Err(format!("{part}: more than {MOST} values"));
        }
        next = if grows { value.checked_mul(step) } else { value.checked_add(step) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_steps_and_factors_are_read() {
        let check = |text: &str, values: &[u32]| {
            assert_eq!(text.parse::<Values>().expect("values").0, values, "{text}");
        };
        check("1,2,4", &[1, 2, 4]);
        check("3..5", &[3, 4, 5]);
        check("4..16+4", &[4, 8, 12, 16]);
        check("1..64*2", &[1, 2, 4, 8, 16, 32, 64]);
        check("8, 1..3,2", &[1, 2, 3, 8]);
        check("4294967295..4294967295*2", &[u32::MAX]);
        for wrong in ["", "0", "a", "1..", "5..3", "1..9*1", "1..9+0", "1..4294967295", "1,,2"] {
            assert!(wrong.parse::<Values>().is_err(), "{wrong}");
        }
    }
}
