//! What came of runs that somebody else started, in any format that [`crate::emit`] leads to.

mod hyperqueue;

use mmgp_base::table::Source;
use mmgp_base::table::csv::Reader;
use mmgp_base::units::Seconds;
use mmgp_base::{Mapping, Result};

/// What came of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Which order it answers; where a table has no ids, none.
    pub id: Option<u64>,
    /// The configuration, where the format says it.
    pub mapping: Option<Mapping>,
    /// Which repetition, where the format says it.
    pub repetition: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Well, after this time.
    Time(Seconds),
    /// It was stopped: it takes longer than this.
    Longer(Seconds),
    /// With an error.
    Failed {
        /// Its exit status, where it is known; as shells have it 128 more than a signal.
        exit: Option<i32>,
        /// The signal that ended it, where it is known.
        signal: Option<i32>,
    },
}

impl Outcome {
    /// Of an exit status.
    fn of_exit(exit: u32, time: Seconds) -> Self {
        match exit {
            0 => Self::Time(time),
            _ => Self::Failed { exit: i32::try_from(exit).ok(), signal: None },
        }
    }
}

/// Reads a table of results (see [`crate::emit::script`]; without ids or exit status too), a job
/// log of GNU parallel or the tasks of HyperQueue as JSON, recognised by their content. What has
/// not ended is left out.
///
/// # Errors
/// [`mmgp_base::Error::Input`] with the place of what is not as the format asks.
pub fn read(source: &Source) -> Result<Vec<Told>> {
    let text = source.text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['[', '{']) {
        return hyperqueue::read(source);
    }
    if text.starts_with("Seq\t") { job_log(source) } else { table(source) }
}

fn table(source: &Source) -> Result<Vec<Told>> {
    const COLUMNS: [&str; 6] = ["m", "p", "time_s", "id", "repetition", "exit"];
    let optional = [("id", ""), ("repetition", ""), ("exit", "0")];
    let mut reader = Reader::new(source, &COLUMNS, &optional)?;
    let mut all = Vec::new();
    while let Some(row) = reader.next_row()? {
        let outcome = match row.text(5) {
            "timeout" => Outcome::Longer(Seconds(row.seconds(2)?)),
            "0" => Outcome::Time(Seconds(row.seconds(2)?)),
            _ => Outcome::of_exit(row.count(5, 0)?, Seconds(0.0)),
        };
        let is_there = |column: usize| !row.text(column).is_empty();
        all.push(Told {
            id: is_there(3).then(|| row.large_count(3, 1)).transpose()?,
            mapping: Some(Mapping::new(row.count(0, 1)?, row.count(1, 1)?)?),
            repetition: is_there(4).then(|| row.count(4, 0)).transpose()?,
            outcome,
        });
    }
    Ok(all)
}

fn job_log(source: &Source) -> Result<Vec<Told>> {
    const COLUMNS: [&str; 4] = ["JobRuntime", "Exitval", "Signal", "Command"];
    let mut reader = Reader::new(source, &COLUMNS, &[])?;
    let mut all = Vec::new();
    while let Some(row) = reader.next_row()? {
        let command = row.text(3);
        let variable = |name: &str| {
            let mut words = command.split_whitespace();
            words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let Some(id) = variable("MMGP_ID").and_then(|id| id.parse().ok()) else {
            return Err(row.error(0, format!("the command {command}"), "one that sets MMGP_ID"));
        };
        let number = |name| variable(name)?.parse::<u32>().ok();
        let mapping = number("MMGP_M").zip(number("MMGP_P"));
        let time = Seconds(row.seconds(0)?);
        let limit = variable("MMGP_LIMIT").and_then(|it| it.parse().ok()).map(Seconds);
        let outcome = match (limit, row.text(1), row.count(2, 0)?) {
            (Some(limit), exit, _) if exit != "0" && time >= limit => Outcome::Longer(limit),
            (_, _, 0) => Outcome::of_exit(row.count(1, 0)?, time),
            (_, _, signal) => Outcome::Failed { exit: None, signal: i32::try_from(signal).ok() },
        };
        all.push(Told {
            id: Some(id),
            mapping: mapping.map(|(m, p)| Mapping::new(m, p)).transpose()?,
            repetition: number("MMGP_REP"),
            outcome,
        });
    }
    Ok(all)
}
