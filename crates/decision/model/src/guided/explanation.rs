//! What a guide believes, in words and numbers.

use std::fmt;

use super::{Guide, learnt::Knowledge};
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// A choice that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriedChoice {
    /// The choice.
    pub mapping: Mapping,
    /// Off-loads under it, of those that count.
    pub offloads: f64,
    /// Time of an off-load in the stream of all: the inverse of the throughput.
    pub time: Seconds,
    /// What is believed of it now, all windows taken together.
    pub believed: Seconds,
    /// The standard error of that, relative.
    pub error: f64,
}

/// Why a choice is as it is. Printing it takes some lines.
#[derive(Debug, Clone, PartialEq)]
pub struct GuideExplanation {
    /// Processes at once, and APUs for each off-load.
    pub choice: Mapping,
    /// Processes that have entered and not left.
    pub alive: u32,
    /// Off-loads until nothing promised more, the first time.
    pub settled_after: Option<u64>,
    /// How often the workload changed.
    pub changes: u64,
    /// Host time between off-loads, as last measured.
    pub burst: Seconds,
    /// T_APU of an off-load: what APUs share.
    pub shared: Seconds,
    /// g: what a further APU adds to an off-load.
    pub gap: Seconds,
    /// What was tried since the workload last changed, in the order of (m, p).
    pub tried: Vec<TriedChoice>,
}

pub(super) fn explain(guide: &Guide) -> GuideExplanation {
    let learnt = &guide.learnt;
    let row = learnt.online.as_ref().map(|online| online.row(1));
    GuideExplanation {
        choice: guide.choice,
        alive: guide.admission.alive,
        settled_after: guide.settled_after,
        changes: guide.changes,
        burst: Seconds(learnt.burst_s),
        shared: Seconds(row.map_or(0.0, |row| row.shared)),
        gap: Seconds(row.map_or(0.0, |row| row.growing)),
        tried: tried(learnt),
    }
}

fn tried(learnt: &Knowledge) -> Vec<TriedChoice> {
    let of = |record: &super::window::Record| {
        let promise = learnt.promise(record.mapping)?;
        Some(TriedChoice {
            mapping: record.mapping,
            offloads: record.offloads,
            time: Seconds(record.time_s),
            believed: Seconds(promise.time_s),
            error: promise.error,
        })
    };
    let mut tried: Vec<TriedChoice> = learnt.records.iter().filter_map(of).collect();
    tried.sort_by_key(|tried| tried.mapping);
    tried
}

impl fmt::Display for GuideExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (m, p) = (self.choice.m(), self.choice.p());
        writeln!(f, "{m} of {} processes at once, {p} APUs for each off-load", self.alive)?;
        match self.settled_after {
            Some(offloads) => writeln!(f, "settled after {offloads} off-loads")?,
            None => writeln!(f, "not settled yet")?,
        }
        writeln!(f, "changes of the workload: {}", self.changes)?;
        writeln!(
            f,
            "host burst {}; of an off-load {} shared, {} more for each APU",
            self.burst, self.shared, self.gap
        )?;
        for tried in &self.tried {
            writeln!(
                f,
                "{}: {} per off-load, believed {} +- {:.1} %, {:.0} off-loads",
                tried.mapping,
                tried.time,
                tried.believed,
                100.0 * tried.error,
                tried.offloads
            )?;
        }
        Ok(())
    }
}
