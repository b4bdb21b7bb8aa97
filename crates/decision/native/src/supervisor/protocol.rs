//! What is said to a supervisor and what it answers: a line of JSON each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What is said to a supervisor.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Run this and answer when it has ended.
    Run(Run),
    /// End what is running; it is answered as usual.
    Stop,
}

/// A command to run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program and its arguments, at least the program.
    pub argv: Vec<String>,
    /// What is set in its environment.
    pub env: BTreeMap<String, String>,
    /// Names of variables that are taken out of its environment.
    pub without: Vec<String>,
    /// Where it runs; where the supervisor does, unless given.
    pub folder: Option<PathBuf>,
    /// The processors that it may use; all, where there are none.
    pub processors: Vec<usize>,
    /// After this it is stopped \[s\].
    pub limit_s: Option<f64>,
    /// Regular expressions to find in its output, line by line.
    pub patterns: Vec<String>,
    /// Whether it tidies up: it runs to its end also where a stop was asked for.
    pub concludes: bool,
}

/// What came of a command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// Why it could not be started.
    pub not_started: Option<String>,
    /// From start to end \[s\].
    pub wall_s: f64,
    /// Its exit status.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was stopped at its limit.
    pub is_late: bool,
    /// Whether it was stopped because that was asked for.
    pub is_stopped: bool,
    /// Processes that it left behind, which were ended.
    pub left_behind: u64,
    /// CPU time of all its processes \[s\].
    pub cpu_s: f64,
    /// Peak memory of its largest process \[KiB\].
    pub max_rss_kb: u64,
    /// Context switches of all its processes.
    pub context_switches: u64,
    /// Of each pattern the groups of its last match; without any, nothing.
    pub matches: Vec<Option<Match>>,
    /// The end of its standard output.
    pub output: String,
    /// The end of its standard error.
    pub errors: String,
}

/// The last match of a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// Of each group, the whole match first, its name and what it holds.
    pub groups: Vec<(Option<String>, Option<String>)>,
    /// The line in which it stands.
    pub line: String,
    /// Where the first group stands in the line, from its first byte to behind its last.
    pub span: (usize, usize),
}
