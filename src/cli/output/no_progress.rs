//! What stands in for progress in a build without it: nothing is shown.

use super::Verbosity;
use crate::cell::Progress;

/// A line that nobody sees.
pub struct ProgressLine;

pub fn progress(_: &'static str, _: u64, _: Verbosity) -> ProgressLine {
    ProgressLine
}

pub fn waiting(_: &'static str, _: Verbosity) -> ProgressLine {
    ProgressLine
}

impl ProgressLine {
    pub fn inc(&self, _: u64) {}

    pub fn steps(&self) -> Progress {
        Progress::default()
    }

    pub fn finish_and_clear(self) {}
}

/// A line that is not shown.
pub struct Spinner;

/// Shows nothing.
pub fn spinner(_: String) -> Spinner {
    Spinner
}
