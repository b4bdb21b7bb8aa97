//! The row types of every CSV file that mmgp reads or writes, with the unit in each name.

use super::csv::{Record, Row};
use crate::error::Result;

/// A row of `alpha.csv`: time until all of `processes` concurrent matrix products are done.
#[derive(Debug, Clone, PartialEq)]
pub struct Alpha {
    /// Rows and columns of each square matrix of doubles.
    pub matrix_size: u32,
    /// Concurrent processes, one product each.
    pub processes: u32,
    /// Which repetition of the same measurement.
    pub repetition: u32,
    /// Until the last of them was done \[s\].
    pub time_s: f64,
}

impl Record for Alpha {
    const COLUMNS: &'static [&'static str] = &["matrix_size", "processes", "repetition", "time_s"];
    const KEY_COLUMNS: &'static [&'static str] = &["matrix_size", "processes", "repetition"];
    type Key = (u32, u32, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            matrix_size: row.count(0, 1)?,
            processes: row.count(1, 1)?,
            repetition: row.count(2, 1)?,
            time_s: row.seconds(3)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.matrix_size, self.processes, self.repetition)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.matrix_size.to_string(),
            self.processes.to_string(),
            self.repetition.to_string(),
            self.time_s.to_string(),
        ]
    }
}

/// A row of `offload.csv`: HPU to APU to HPU ping-pong.
#[derive(Debug, Clone, PartialEq)]
pub struct Offload {
    /// Size of the message each way.
    pub bytes: u64,
    /// Which repetition of the same measurement.
    pub repetition: u32,
    /// Round trips in `time_s`.
    pub round_trips: u64,
    /// Time of all the round trips \[s\].
    pub time_s: f64,
}

impl Record for Offload {
    const COLUMNS: &'static [&'static str] = &["bytes", "repetition", "round_trips", "time_s"];
    const KEY_COLUMNS: &'static [&'static str] = &["bytes", "repetition"];
    type Key = (u64, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            bytes: row.large_count(0, 0)?,
            repetition: row.count(1, 1)?,
            round_trips: row.large_count(2, 1)?,
            time_s: row.seconds(3)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.bytes, self.repetition)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.bytes.to_string(),
            self.repetition.to_string(),
            self.round_trips.to_string(),
            self.time_s.to_string(),
        ]
    }
}

/// A row of `context_switch.csv`: repeated yield.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextSwitch {
    /// Processes that yield to one another on one hardware context.
    pub processes: u32,
    /// Which repetition of the same measurement.
    pub repetition: u32,
    /// Context switches in `time_s`.
    pub switches: u64,
    /// Time of all the switches \[s\].
    pub time_s: f64,
}

impl Record for ContextSwitch {
    const COLUMNS: &'static [&'static str] = &["processes", "repetition", "switches", "time_s"];
    const KEY_COLUMNS: &'static [&'static str] = &["processes", "repetition"];
    type Key = (u32, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            processes: row.count(0, 1)?,
            repetition: row.count(1, 1)?,
            switches: row.large_count(2, 1)?,
            time_s: row.seconds(3)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.processes, self.repetition)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.processes.to_string(),
            self.repetition.to_string(),
            self.switches.to_string(),
            self.time_s.to_string(),
        ]
    }
}

/// A row of `collective.csv`: a collective operation of MPI among `ranks` processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Collective {
    /// The operation, such as `allreduce`.
    pub operation: String,
    /// Processes that take part.
    pub ranks: u32,
    /// Bytes that each contributes.
    pub bytes: u64,
    /// Which repetition of the same measurement.
    pub repetition: u32,
    /// Calls in `time_s`.
    pub calls: u64,
    /// Time of all the calls \[s\].
    pub time_s: f64,
}

impl Record for Collective {
    const COLUMNS: &'static [&'static str] =
        &["operation", "ranks", "bytes", "repetition", "calls", "time_s"];
    const KEY_COLUMNS: &'static [&'static str] = &["operation", "ranks", "bytes", "repetition"];
    type Key = (String, u32, u64, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            operation: row.word(0)?,
            ranks: row.count(1, 1)?,
            bytes: row.large_count(2, 0)?,
            repetition: row.count(3, 1)?,
            calls: row.large_count(4, 1)?,
            time_s: row.seconds(5)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.operation.clone(), self.ranks, self.bytes, self.repetition)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.operation.clone(),
            self.ranks.to_string(),
            self.bytes.to_string(),
            self.repetition.to_string(),
            self.calls.to_string(),
            self.time_s.to_string(),
        ]
    }
}

/// A row of `profile.csv`: totals of a sequential run (m = p = 1) for one phase, which is one
/// off-loaded function with the host code that leads to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The phase's name.
    pub phase: String,
    /// Which repetition of the same run.
    pub repetition: u32,
    /// Off-loads in the run.
    pub offloads: u64,
    /// Collective operations in the run.
    pub collectives: u64,
    /// Time on the host \[s\].
    pub hpu_time_s: f64,
    /// Time on the APU in loops that several APUs can share \[s\].
    pub apu_parallel_time_s: f64,
    /// Time on the APU that they cannot share \[s\].
    pub apu_serial_time_s: f64,
    /// Time that the host spends starting APUs, between deciding to and being done \[s\].
    pub gap_time_s: f64,
}

impl Record for Profile {
    const COLUMNS: &'static [&'static str] = &[
        "phase",
        "repetition",
        "offloads",
        "collectives",
        "hpu_time_s",
        "apu_parallel_time_s",
        "apu_serial_time_s",
        "gap_time_s",
    ];
    const KEY_COLUMNS: &'static [&'static str] = &["phase", "repetition"];
    type Key = (String, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            phase: row.word(0)?,
            repetition: row.count(1, 1)?,
            offloads: row.large_count(2, 0)?,
            collectives: row.large_count(3, 0)?,
            hpu_time_s: row.seconds(4)?,
            apu_parallel_time_s: row.seconds(5)?,
            apu_serial_time_s: row.seconds(6)?,
            gap_time_s: row.seconds(7)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.phase.clone(), self.repetition)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.phase.clone(),
            self.repetition.to_string(),
            self.offloads.to_string(),
            self.collectives.to_string(),
            self.hpu_time_s.to_string(),
            self.apu_parallel_time_s.to_string(),
            self.apu_serial_time_s.to_string(),
            self.gap_time_s.to_string(),
        ]
    }
}

/// A row of `runs.csv`: one timed run of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// Which repetition of the same run.
    pub repetition: u32,
    /// Time of the run \[s\].
    pub time_s: f64,
}

impl Record for Run {
    const COLUMNS: &'static [&'static str] = &["m", "p", "repetition", "time_s"];
    const KEY_COLUMNS: &'static [&'static str] = &["m", "p", "repetition"];
    type Key = (u32, u32, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            m: row.count(0, 1)?,
            p: row.count(1, 1)?,
            repetition: row.count(2, 1)?,
            time_s: row.seconds(3)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.m, self.p, self.repetition)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.m.to_string(),
            self.p.to_string(),
            self.repetition.to_string(),
            self.time_s.to_string(),
        ]
    }
}

/// A row of `predictions.csv`: one feasible configuration, ranked.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// Place in the order of predicted time, from 1.
    pub rank: u32,
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// Predicted time \[s\].
    pub time_s: f64,
    /// Lower end of the 95 % interval from the uncertainty of the parameters \[s\].
    pub low_s: f64,
    /// Upper end of that interval \[s\].
    pub high_s: f64,
    /// Probability that no other configuration is faster, by the uncertainty of the parameters.
    pub probability_best: f64,
    /// Predicted time of (1, 1) over that of this configuration.
    pub speedup: f64,
}

impl Record for Prediction {
    const COLUMNS: &'static [&'static str] =
        &["rank", "m", "p", "time_s", "low_s", "high_s", "probability_best", "speedup"];
    const KEY_COLUMNS: &'static [&'static str] = &["m", "p"];
    type Key = (u32, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            rank: row.count(0, 1)?,
            m: row.count(1, 1)?,
            p: row.count(2, 1)?,
            time_s: row.seconds(3)?,
            low_s: row.seconds(4)?,
            high_s: row.seconds(5)?,
            probability_best: row.number(6)?,
            speedup: row.number(7)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.m, self.p)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.rank.to_string(),
            self.m.to_string(),
            self.p.to_string(),
            self.time_s.to_string(),
            self.low_s.to_string(),
            self.high_s.to_string(),
            self.probability_best.to_string(),
            self.speedup.to_string(),
        ]
    }
}

/// A row of `validation.csv`: a prediction beside what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// Measured time \[s\].
    pub measured_s: f64,
    /// Time predicted by equation 11 \[s\].
    pub predicted_s: f64,
    /// `100 * (predicted_s - measured_s) / measured_s`.
    pub error_percent: f64,
}

impl Record for Validation {
    const COLUMNS: &'static [&'static str] =
        &["m", "p", "measured_s", "predicted_s", "error_percent"];
    const KEY_COLUMNS: &'static [&'static str] = &["m", "p"];
    type Key = (u32, u32);

    fn read(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            m: row.count(0, 1)?,
            p: row.count(1, 1)?,
            measured_s: row.seconds(2)?,
            predicted_s: row.seconds(3)?,
            error_percent: row.number(4)?,
        })
    }

    fn key(&self) -> Self::Key {
        (self.m, self.p)
    }

    fn write(&self) -> Vec<String> {
        vec![
            self.m.to_string(),
            self.p.to_string(),
            self.measured_s.to_string(),
            self.predicted_s.to_string(),
            self.error_percent.to_string(),
        ]
    }
}
