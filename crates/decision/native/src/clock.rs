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

    /// What one reading costs: of ten thousand in a row, where nothing else had the processor.
    #[cfg(target_os = "linux")]
    pub(crate) fn cost() -> Seconds {
        const READINGS: u32 = 10_000;
        let of_one = |_| {
            let clock = Self::start();
            for _ in 0..READINGS {
                std::hint::black_box(Self::start());
            }
            clock.elapsed().0 / f64::from(READINGS)
        };
        Seconds((0..10).map(of_one).fold(f64::INFINITY, f64::min))
    }

    /// What is left of so long a time; nothing once it has passed.
    #[cfg(unix)]
    pub(crate) fn left_of(self, limit: Duration) -> Duration {
        limit.saturating_sub(self.0.elapsed())
    }
}

/// Time that the calling thread has had a processor, since it was started.
#[cfg(target_os = "linux")]
pub(crate) fn processor_time() -> Seconds {
    use nix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    Seconds(Duration::from(time.expect("invariant: Linux keeps it of every thread")).as_secs_f64())
}

/// Date and time of day in UTC, as in `2026-11-22T21:23:23.104Z`.
#[cfg(unix)]
pub(crate) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
