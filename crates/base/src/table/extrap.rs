//! Timed runs from the files of Extra-P: text, JSON and JSON Lines.
//!
//! Extra-P keeps, for each region (call path) and metric, the repeated values at each point of its
//! parameters. A file is read where its parameters are `m` and `p`, in either order, and one region
//! has the metric `time`, whose values are the times of whole runs in seconds, or what [`Columns`]
//! names instead of these; other metrics are passed over. The values at a point are its repetitions
//! 1, 2, 3... in the order of the file.
//!
//! ```
//! use mmgp_base::table::{Columns, Source, extrap};
//!
//! let source = Source::new(
//!     "runs.txt",
//!     "PARAMETER m p\nPOINTS (1 1) (2 4)\nREGION run\nMETRIC time\nDATA 8.5 8.25\nDATA 1.5\n",
//! );
//! let runs = extrap::text(&source, &Columns::default())?;
//! assert_eq!((runs[2].m, runs[2].p, runs[2].repetition, runs[2].time_s), (2, 4, 1, 1.5));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod lines;
mod objects;
mod text;

pub use lines::json_lines;
pub use objects::json;
pub use text::text;

use std::collections::BTreeMap;

use super::columns::{Columns, Unit};
use super::records::Run;

/// What a file calls the two parameters and the metric.
#[derive(Clone, Copy)]
struct Names<'a> {
    m: &'a str,
    p: &'a str,
    /// The metric that holds the time of a run.
    metric: &'a str,
    /// That time's.
    unit: Unit,
}

impl<'a> Names<'a> {
    fn of(columns: &'a Columns) -> Self {
        let (metric, unit) = columns.time().unwrap_or(("time", Unit::Seconds));
        Self { m: columns.m(), p: columns.p(), metric, unit }
    }

    /// What a file whose parameters are others is told.
    fn parameters(&self) -> String {
        let Self { m, p, .. } = self;
        format!("the parameters {m} (host threads) and {p} (APUs for each); rename them")
    }

    /// What a file with several timed regions is told.
    fn one_region(&self) -> String {
        format!("one region with {}: that of the whole run", self.metric())
    }

    fn metric(&self) -> String {
        format!("the metric {:?}", self.metric)
    }

    fn second_metric(&self) -> String {
        format!("a second metric {:?}", self.metric)
    }
}

/// Runs whose repetitions are numbered as they come.
pub(super) struct Numbered {
    /// Of their times.
    unit: Unit,
    runs: Vec<Run>,
    repetitions: BTreeMap<(u32, u32), u32>,
}

impl Numbered {
    /// None yet, their times in that unit.
    pub(super) fn of(unit: Unit) -> Self {
        Self { unit, runs: Vec::new(), repetitions: BTreeMap::new() }
    }

    /// Adds the next run of (m, p).
    pub(super) fn push(&mut self, (m, p): (u32, u32), time: f64) {
        let time_s = self.unit.seconds(time);
        let repetition = self.repetitions.entry((m, p)).or_insert(0);
        *repetition += 1;
        self.runs.push(Run { m, p, repetition: *repetition, time_s });
    }

    /// Whether (m, p) has runs already.
    pub(super) fn has(&self, point: (u32, u32)) -> bool {
        self.repetitions.contains_key(&point)
    }

    /// All of them in their order.
    pub(super) fn into_runs(self) -> Vec<Run> {
        self.runs
    }
}

/// The order in which a file gives m and p.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    ThreadsFirst,
    ApusFirst,
}

impl Order {
    /// From the names of the parameters in the file.
    fn of(found: &[&str], names: Names<'_>) -> Option<Self> {
        match found {
            [first, second] if (*first, *second) == (names.m, names.p) => Some(Self::ThreadsFirst),
            [first, second] if (*first, *second) == (names.p, names.m) => Some(Self::ApusFirst),
            _ => None,
        }
    }

    /// m and p, from the two coordinates of a point.
    fn point(self, [first, second]: [u32; 2]) -> (u32, u32) {
        match self {
            Self::ThreadsFirst => (first, second),
            Self::ApusFirst => (second, first),
        }
    }
}

#[cfg(test)]
mod tests;
