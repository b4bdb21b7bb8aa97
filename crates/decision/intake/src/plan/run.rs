//! What a row says of a run.

use mmgp_base::quantity::Quantity;
use mmgp_base::table::records::Run;

use crate::units::{Comma, duration};

/// What a row says.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// A run, or the mean of several.
    pub run: Run,
    /// Of how many runs the time is the mean, and their standard deviation \[s\]; of a single run, nothing.
    pub mean_of: Option<(u32, f64)>,
}

/// What a row says of a run that somebody asked for, whether it was good or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The number in a column `id`, where there is one.
    pub id: Option<u64>,
    /// Processes.
    pub m: u32,
    /// Threads of each.
    pub p: u32,
    /// Which repetition, where a column says it.
    pub repetition: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
    /// What the table has: times, or what its time stands for.
    pub quantity: Quantity,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Well, after so long \[s\].
    Time(f64),
    /// It was stopped after so long: it takes longer \[s\].
    Longer(f64),
    /// It failed.
    Failed {
        /// What says so.
        why: String,
        /// Its exit code, where that is known.
        exit: Option<i32>,
    },
}

/// How a run ended that was not good, by the text that says so; a run that was stopped takes longer.
pub(super) fn how_ended(text: &str, time_s: Option<f64>, why: &str, comma: Comma) -> Outcome {
    let bound = duration(text.trim_matches(['>', '+', ' ']), comma).map(|it| it.seconds);
    let is_bound = text.starts_with('>') || text.ends_with('+');
    if let Some(bound) = bound.filter(|_| is_bound) {
        return Outcome::Longer(bound);
    }
    let is_stopped = ["timeout", "timed out", "timed_out"].contains(&text.to_lowercase().as_str());
    match time_s.filter(|time_s| is_stopped && *time_s > 0.0) {
        Some(bound) => Outcome::Longer(bound),
        None => Outcome::Failed { why: why.into(), exit: text.parse().ok() },
    }
}
