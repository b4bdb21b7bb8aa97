//! The only place that asks for the time.

#![allow(clippy::disallowed_types)] // Timing is what this crate is for.

use std::time::Instant;
#[cfg(unix)]
use std::time::{Duration, SystemTime};

use mmgp_base::units::Seconds;

/// Time since it was started.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts one.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    pub fn elapsed(self) -> Seconds {
        Seconds(self.0.elapsed().as_secs_f64())
    }

    /// What is left of so long a time; nothing once it has passed.
    #[cfg(unix)]
    pub(crate) fn left_of(self, limit: Duration) -> Duration {
        limit.saturating_sub(self.0.elapsed())
    }
}

/// Date and time of day in UTC, as in `2026-11-22T21:23:23.104Z`.
#[cfg(unix)]
pub(crate) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
