//! Whether the workload is still the one that was learnt.
//!
//! Each quantity has a reference, the mean of all windows so far; of every further window the
//! distance from it in standard errors, z, enters two cumulative sums (E. S. Page, Biometrika 41, 1954):
//! `S+ <- max(0, S+ + z - 1)` and `S- <- max(0, S- - z - 1)`. Beyond 10 the workload has changed.
//! With normal errors it did not happen by chance in 3,000 series of 2,000 windows. An error is taken to
//! be [`SLACK`] at least, which lets drifts of that size go by, and no less than windows have scattered
//! so far: a program with a rhythm longer than a window scatters more than its off-loads tell.

use super::mix::Expected;
use super::window::{Sample, Window};

/// Windows before the first that is judged.
const REFERENCE: f64 = 6.0;
/// What z must exceed to count.
const ALLOWANCE: f64 = 1.0;
/// The sum at which the workload has changed.
const LIMIT: f64 = 10.0;
/// A shift of a window's mean by less than this, relative, is no change of the workload.
const SLACK: f64 = 0.02;

/// A window that lies farther from the reference does not count for how much windows scatter.
const USUAL: f64 = 3.0;

/// The cumulative sums of one quantity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    reference: Sample,
    /// Windows that were not far from it.
    usual: Sample,
    above: f64,
    below: f64,
}

impl Watched {
    pub const NEW: Self =
        Self { reference: Sample::EMPTY, usual: Sample::EMPTY, above: 0.0, below: 0.0 };

    /// Takes in the mean of a window with its relative standard error; whether all has changed.
    pub fn has_changed(&mut self, mean: f64, relative_error: f64) -> bool {
        if self.reference.count < REFERENCE {
            self.reference.add(mean);
            self.usual.add(mean);
            return false;
        }
        let expected = self.reference.mean;
        // The reference has an error, too, that of several windows.
        let error = relative_error.hypot(relative_error / self.reference.count.sqrt());
        let error = error.max(SLACK).max(self.usual.relative_deviation()) * expected;
        if error <= 0.0 {
            return false;
        }
        let z = (mean - expected) / error;
        self.above = (self.above + z - ALLOWANCE).max(0.0);
        self.below = (self.below - z - ALLOWANCE).max(0.0);
        self.reference.add(mean);
        if z.abs() < USUAL {
            self.usual.add(mean);
        }
        self.above.max(self.below) > LIMIT
    }
}

/// Host burst, off-load and throughput under one choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    burst: Watched,
    offload: Watched,
    time: Watched,
}

impl Watch {
    pub const NEW: Self = Self { burst: Watched::NEW, offload: Watched::NEW, time: Watched::NEW };

    /// Takes in a window in which each off-load took `time_s` in the stream of all, by what is expected of
    /// its mix: a change of mix is none of the workload.
    pub fn sees_change(&mut self, window: &Window, expected: Expected, time_s: f64) -> bool {
        let Window { burst, offload, .. } = window;
        let of_burst =
            self.burst.has_changed(burst.mean / expected.of_burst, burst.relative_error());
        let of_offload = self.offload.has_changed(
            offload.mean / expected.of_offload,
            offload.relative_error().max(expected.error),
        );
        let of_time = self
            .time
            .has_changed(time_s / expected.of_time, window.relative_error().max(expected.error));
        of_burst || of_offload || of_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_of_a_tenth_is_seen_within_a_few_windows_and_none_is_never_seen() {
        let windows_until_seen = |shift: f64| {
            let mut watched = Watched::NEW;
            for _ in 0..6 {
                assert!(!watched.has_changed(1.0, 0.01));
            }
            (1..1000).find(|_| watched.has_changed(1.0 + shift, 0.01))
        };
        // The reference moves along: z - 1 = 4, 3.22, 2.66, 2.23.
        assert_eq!(windows_until_seen(0.1), Some(4));
        // 4, 3.35, 2.85, as the error is relative to a reference that falls.
        assert_eq!(windows_until_seen(-0.1), Some(3));
        // z = 1, which the allowance takes away.
        assert_eq!(windows_until_seen(0.019), None);
    }
}
