//! Attempts to run a program at a mapping: what is asked for, and what comes of it.
//!
//! An attempt is what stands in a line of `log.jsonl` ([`crate::table::log`]). Only one that went
//! well has a time; one that was stopped has a bound below its time.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::quantity::Quantity;
use crate::units::Seconds;

/// How a mapping is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Counts the attempts of a log, from 1.
    pub id: u64,
    /// Nodes that it takes.
    pub nodes: u32,
    /// Values of further factors, by name.
    pub factors: BTreeMap<String, String>,
    /// Counts the attempts at this configuration that are timed, from 1; of a warm-up 0.
    pub repetition: u32,
    /// Time after which it is stopped \[s\].
    pub limit: Option<Seconds>,
}

impl Order {
    /// Whether its time does not count.
    pub fn is_warm_up(&self) -> bool {
        self.repetition == 0
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The run came to its end and its time is known.
    Ok,
    /// The run ended with an error, or could not be started.
    Failed,
    /// The run was stopped at its limit: its time is longer.
    Timeout,
    /// The run ended well, and its output does not say what it should.
    Wrong,
    /// The run was stopped because everything was: it says nothing of the configuration.
    Interrupted,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Wrong => "wrong",
            Self::Interrupted => "interrupted",
        })
    }
}

/// What came of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Which order it answers.
    pub id: u64,
    /// Place among all attempts, in the order in which they ended, from 1.
    #[serde(default)]
    pub order: u64,
    /// The command with all placeholders filled in; none where somebody else ran it.
    #[serde(default)]
    pub argv: Vec<String>,
    /// What was set in its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// When it started: date and time of day, in UTC.
    #[serde(default)]
    pub start: String,
    /// Processes.
    pub m: u32,
    /// APUs or threads of each.
    pub p: u32,
    /// Nodes that it took.
    #[serde(default = "one")]
    pub nodes: u32,
    /// Values of further factors, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Number among the timed attempts at this configuration, from 1; of a warm-up 0.
    pub repetition: u32,
    /// How it ended.
    pub status: Status,
    /// Why it is not `ok`, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first line that it printed as programs do that fail, of one that is `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
    /// Time from its start to its end \[s\].
    pub wall_s: Option<f64>,
    /// Time after which it was to be stopped \[s\]: the bound below the time of one that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<f64>,
    /// The time that counts, of one that is `ok`, or what stands for it: that of a unit of work where it
    /// printed a rate, or the amount \[s\].
    pub time_s: Option<f64>,
    /// The rate whose inverse the time is, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The unit of the rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_unit: Option<String>,
    /// The amount that stands for the time, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// The unit of the amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_unit: Option<String>,
    /// What was captured from its output, by name; its time as `time_s` where that does not count itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub captured: BTreeMap<String, f64>,
    /// Source of the time: `wall`, `output`, `json`, `told`.
    #[serde(default)]
    pub time_source: String,
    /// Exit status.
    #[serde(default)]
    pub exit: Option<i32>,
    /// The signal that ended it.
    #[serde(default)]
    pub signal: Option<i32>,
    /// CPU time of all its processes \[s\].
    #[serde(default)]
    pub cpu_s: Option<f64>,
    /// Peak memory of its largest process \[KiB\].
    #[serde(default)]
    pub max_rss_kb: Option<u64>,
    /// Context switches, voluntary or not.
    #[serde(default)]
    pub context_switches: Option<u64>,
    /// Those of them that were not voluntary: something else got the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// Share of the time of all processors of the computer that other virtual machines took while it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
    /// The computer that started it.
    #[serde(default)]
    pub host: String,
    /// Load of that computer over the last minute, before the start.
    #[serde(default)]
    pub load: Option<f64>,
    /// Threads and processors of its processes, of one that ran long enough for a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

/// What was seen of the processes of a run while it lived.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Time since the start of the run \[s\].
    pub at_s: f64,
    /// Processors of the computer that the run might use.
    pub processors: u32,
    /// Whether a library of MPI is loaded, where that can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_mpi: Option<bool>,
    /// The most threads that were there at one time, working or not.
    pub threads: u32,
    /// Threads that ran or waited for a processor at one time, in the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<f64>,
    /// Processes that worked, those that look the same together.
    pub processes: Vec<PlacedProcesses>,
}

/// Processes of a run that look the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlacedProcesses {
    /// Processors that their threads may use, as Linux lists them: `0-3,8`.
    pub processors: String,
    /// Threads of each that worked: ran, or waited for a processor, for a tenth of the time at least.
    pub working: u32,
    /// All threads of each.
    pub threads: u32,
    /// The number of such processes.
    pub count: u32,
}

impl Placement {
    /// Threads that worked, of all processes.
    pub fn working(&self) -> u32 {
        self.processes.iter().map(|it| it.count.saturating_mul(it.working)).sum()
    }

    /// Threads that worked at one time: those that took turns, as one that starts the others and then waits
    /// for them, are not counted apart.
    pub fn working_at_once(&self) -> u32 {
        let mean = self.at_once.map_or(u32::MAX, |it| it.round() as u32);
        self.working().min(mean)
    }
}

fn one() -> u32 {
    1
}

impl Attempt {
    /// One of which nothing is known but how it ended, as of a line that says no more.
    pub fn new(id: u64, m: u32, p: u32, status: Status) -> Self {
        let line = json!({ "id": id, "m": m, "p": p, "repetition": 1, "status": status });
        serde_json::from_value(line).expect("invariant: what a line may lack has a default")
    }

    /// What was measured of it.
    pub fn quantity(&self) -> Quantity {
        match (&self.rate_unit, &self.amount_unit) {
            (Some(unit), _) => Quantity::Rate(unit.clone()),
            (None, Some(unit)) => Quantity::Amount(unit.clone()),
            (None, None) => Quantity::Time,
        }
    }

    /// Sets what was measured of it, and what stands for its time.
    pub fn measured(&mut self, time: Seconds, quantity: Quantity) {
        let number = Some(quantity.number(time));
        self.time_s = Some(time.0);
        match quantity {
            Quantity::Time => {}
            Quantity::Rate(unit) => (self.rate, self.rate_unit) = (number, Some(unit)),
            Quantity::Amount(unit) => (self.amount, self.amount_unit) = (number, Some(unit)),
        }
    }
}
