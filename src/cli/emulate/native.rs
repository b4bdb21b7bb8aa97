//! `mmgp emulate --machine host`, and `--timing none`: the program runs on this computer, as fast as it
//! goes to be measured, or plainly for what it computes.

use super::Arguments;
use super::report::{as_csv, as_table};
use crate::Mapping;
use crate::cli::Answer;
use crate::cli::input::{HOST, Way};
use crate::cli::output::{Format, data};
use crate::error::{Error, Result};

/// How often a program runs on this computer where nobody says it.
const REPETITIONS: u32 = 5;

/// What is printed of a program that ran on this computer.
pub trait NativeReport {
    /// Names and values for a table.
    fn values(&self) -> Vec<(&'static str, String)>;

    /// What stands below the table, for people.
    fn text(&self) -> String {
        String::new()
    }

    /// All of it as one object.
    fn json(&self) -> String;
}

/// Runs the program without an emulated machine, and prints what came of it.
pub(super) fn run(arguments: &Arguments, way: Way) -> Result<Answer> {
    let only_emulated = [
        ("--trace", arguments.trace.is_some()),
        ("--check-hazards", arguments.check_hazards),
        ("--port", arguments.app.port().is_some()),
    ];
    if let Some((name, _)) = only_emulated.into_iter().find(|(_, is_given)| *is_given) {
        return Err(match way {
            Way::Host => {
                let expected = "an emulated machine, which has such a thing";
                Error::out_of_range(name, format!("--machine {HOST}"), expected)
            }
            Way::Plainly => {
                let expected = "--timing cached or exact: without a machine there is no such thing";
                Error::out_of_range(name, "--timing none", expected)
            }
        });
    }
    let report = arguments.app.otherwise(way, arguments)?;
    let text = match arguments.format {
        Format::Json => report.json(),
        Format::Csv => as_csv(report.values()),
        Format::Table => as_table(&report.values()) + &report.text(),
    };
    data(arguments.out.as_deref(), &text)?;
    Ok(Answer::Done)
}

impl Arguments {
    /// Host processes, or processes of this computer.
    pub fn m(&self) -> u32 {
        self.m.unwrap_or(1)
    }

    /// SPEs, or threads of this computer, of each.
    pub fn p(&self) -> u32 {
        self.p.unwrap_or(1)
    }

    /// Whether a progress bar is wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Host processes and SPEs: those that are named, or the program's own choice.
    pub(super) fn mapping(&self) -> Result<Mapping> {
        self.app.mapping(self.m, self.p)
    }

    /// How often a program runs on this computer.
    pub fn repetitions(&self) -> u32 {
        self.repetitions.unwrap_or(REPETITIONS)
    }

    /// Refuses to repeat what takes the same time whenever it runs.
    pub(super) fn refuse_repetitions(&self) -> Result<()> {
        match self.repetitions {
            None => Ok(()),
            Some(_) => Err(Error::out_of_range(
                "--repetitions",
                format!("--machine {}", self.machine.machine),
                format!("--machine {HOST}; on an emulated machine every run takes the same time"),
            )),
        }
    }
}
