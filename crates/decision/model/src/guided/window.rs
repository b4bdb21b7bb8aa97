//! Windows: what is measured while one choice holds, off-loads by time, by function and by APUs; the record
//! of a choice; and the watch that tells whether the workload is still the one that was learnt.
//!
//! Of the watch each quantity has a reference, the mean of all windows so far; of every further window the
//! distance from it in standard errors, z, enters two cumulative sums (E. S. Page, Biometrika 41, 1954):
//! `S+ <- max(0, S+ + z - 1)` and `S- <- max(0, S- - z - 1)`. Beyond 10 the workload has changed.
//! With normal errors it did not happen by chance in 3,000 series of 2,000 windows. An error is taken to
//! be [`SLACK`] at least, which lets drifts of that size go by, and no less than windows have scattered
//! so far: a program with a rhythm longer than a window scatters more than its off-loads tell.

use super::admission::Process;
use super::mix::{Expectation, Functions, RestatedTimes};
use mmgp_base::Mapping;

/// Mean and scatter of numbers that come one by one.
///
/// B. P. Welford, Technometrics 4, 1962.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub count: f64,
    pub mean: f64,
    squares: f64,
}

impl Sample {
    pub const EMPTY: Self = Self { count: 0.0, mean: 0.0, squares: 0.0 };

    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        let difference = value - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (value - self.mean);
    }

    pub fn sum(&self) -> f64 {
        self.count * self.mean
    }

    /// Takes in the numbers of another one, which count `worth` each.
    ///
    /// T. F. Chan, G. H. Golub, R. J. LeVeque, COMPSTAT 1982.
    pub fn merge(&mut self, other: &Self, worth: f64) {
        let more = worth * other.count;
        let count = self.count + more;
        if count <= 0.0 {
            return;
        }
        let difference = other.mean - self.mean;
        self.mean += difference * more / count;
        self.squares += worth * other.squares + difference * difference * self.count * more / count;
        self.count = count;
    }

    /// The same mean and scatter, of so many numbers at most.
    pub fn of_at_most(self, most: f64) -> Self {
        let part = (most / self.count.max(1.0)).min(1.0);
        Self { count: part * self.count, squares: part * self.squares, ..self }
    }

    /// The same relative scatter about another mean.
    pub fn about(self, mean: f64) -> Self {
        let factor = if self.mean > 0.0 { mean / self.mean } else { 1.0 };
        Self { mean, squares: factor * factor * self.squares, ..self }
    }

    /// Standard deviation of a single number, relative to the mean; 0 where nothing is known.
    pub fn relative_deviation(&self) -> f64 {
        if self.count < 2.0 || self.mean <= 0.0 {
            return 0.0;
        }
        (self.squares / (self.count - 1.0)).max(0.0).sqrt() / self.mean
    }

    /// Standard error of the mean, relative to it.
    pub fn relative_error(&self) -> f64 {
        self.relative_deviation() / self.count.max(1.0).sqrt()
    }
}

/// Cycles of a batch. Those of a program with a rhythm are alike while they follow each other, so that
/// the means of batches scatter more than cycles by themselves tell.
pub(super) const BATCH: u32 = 8;

/// Functions that are told apart; those beyond share the last place.
pub(super) const FUNCTIONS: usize = 16;

/// A place for each function; further ones have the last.
pub(super) fn place_of(function: u32) -> usize {
    (function as usize).min(FUNCTIONS - 1)
}

/// The off-loads of one function in a window.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfFunction {
    pub offload: Sample,
    /// Host time after it \[s\].
    pub burst: Sample,
    /// APUs of the last.
    pub shares: u32,
}

impl OfFunction {
    const NONE: Self = Self { offload: Sample::EMPTY, burst: Sample::EMPTY, shares: 0 };
}

/// Off-loads under one choice, from the first that the change of choice does not disturb.
#[derive(Debug, Clone)]
pub(super) struct Window {
    /// Completions to let go by before anything counts.
    warm_up: u32,
    /// The completion from which it counts \[s\].
    begun_at: f64,
    pub completions: u32,
    /// Host time from the end of an off-load to asking for the next \[s\].
    pub burst: Sample,
    /// Off-loads from start to end \[s\].
    pub offload: Sample,
    /// Sum of a burst and its off-load \[s\].
    pub cycle: Sample,
    /// Means of batches of cycles, and the sum of those of the batch that is not full.
    batches: Sample,
    batch_s: f64,
    pub by_function: [OfFunction; FUNCTIONS],
}

impl Window {
    pub fn new(warm_up: u32) -> Self {
        Self {
            warm_up,
            begun_at: f64::NAN,
            completions: 0,
            burst: Sample::EMPTY,
            offload: Sample::EMPTY,
            cycle: Sample::EMPTY,
            batches: Sample::EMPTY,
            batch_s: 0.0,
            by_function: [OfFunction::NONE; FUNCTIONS],
        }
    }

    /// The same choice goes on.
    pub fn going_on(now: f64) -> Self {
        Self { begun_at: now, ..Self::new(0) }
    }

    /// The off-load of `process` ends at `now`; off-loads that began under another choice than the
    /// current one count for the throughput alone.
    pub fn complete(&mut self, now: f64, process: &Process, choice: u64) {
        if self.begun_at.is_nan() {
            self.warm_up = self.warm_up.saturating_sub(1);
            if self.warm_up == 0 {
                self.begun_at = now;
            }
            return;
        }
        self.completions += 1;
        let offload = (now - process.started_at).max(0.0);
        if offload.is_finite() && process.choice == choice {
            self.offload.add(offload);
            let of_function = &mut self.by_function[place_of(process.function)];
            of_function.offload.add(offload);
            of_function.shares = process.shares;
            if process.burst_s.is_finite() {
                self.burst.add(process.burst_s);
                self.by_function[place_of(process.before)].burst.add(process.burst_s);
                self.cycle.add(process.burst_s + offload);
                self.batch_s += process.burst_s + offload;
                if self.cycle.count % f64::from(BATCH) == 0.0 {
                    self.batches.add(self.batch_s / f64::from(BATCH));
                    self.batch_s = 0.0;
                }
            }
        }
    }

    /// Standard deviation of a cycle, relative: by itself, or as much as means of batches scatter.
    pub fn relative_deviation(&self) -> f64 {
        let of_batches = self.batches.relative_deviation() * f64::from(BATCH).sqrt();
        self.cycle.relative_deviation().max(of_batches)
    }

    /// Standard error of the mean cycle, relative to it.
    pub fn relative_error(&self) -> f64 {
        self.relative_deviation() / self.cycle.count.max(1.0).sqrt()
    }

    /// Time of an off-load in the stream of all of them: the inverse of the throughput \[s\].
    pub fn time_s(&self, now: f64) -> f64 {
        (now - self.begun_at) / f64::from(self.completions.max(1))
    }
}

/// The least relative error of a round: its ends fall anywhere into the rhythm of the processes. And
/// of any number of rounds.
const OF_A_ROUND: f64 = 0.05;
const LEAST_ERROR: f64 = 0.002;
/// Windows from which a record counts as many as these at most, so that it follows slow drifts.
const MOST_OFFLOADS: f64 = 4096.0;
/// A window that differs from earlier ones by so many standard errors, and by so much, is of
/// another workload.
const OTHER: (f64, f64) = (6.0, 0.15);

/// What was measured under one choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub mapping: Mapping,
    /// How many processes were alive: more than went, if some were held.
    pub alive: u32,
    /// What its windows are worth.
    pub offloads: f64,
    /// Time of an off-load in the stream of all, with the mix of all windows \[s\].
    pub time_s: f64,
    /// The same over a cycle, which is a burst and an off-load: 1/m where nothing is waited for.
    pub per_cycle: f64,
    /// Mean host burst \[s\].
    pub burst_s: f64,
    /// Standard deviation of one cycle, relative.
    pub deviation: f64,
    pub by_function: Functions,
    /// Host time after off-loads of each function.
    pub bursts: Functions,
    /// The most APUs that each function had, or has from now on.
    pub caps: [u32; FUNCTIONS],
    /// Times with the mix of all, where there are several functions.
    pub restated: Option<RestatedTimes>,
}

impl Record {
    /// Standard error of its time, relative.
    pub fn relative_error(&self) -> f64 {
        let of_ends = OF_A_ROUND * f64::from(self.mapping.m()) / self.offloads;
        let of_work = self.restated.map_or(self.deviation / self.offloads.sqrt(), |it| it.error);
        of_work.hypot(of_ends.max(LEAST_ERROR))
    }

    /// Whether it has seen each function of a window, and what follows it on the host: of others it says
    /// nothing.
    fn has_seen(&self, window: &Window) -> bool {
        let seen = self.by_function.iter().zip(&self.bursts);
        seen.zip(&window.by_function).all(|((offload, burst), of_window)| {
            of_window.offload.count == 0.0 || (offload.count > 0.0 && burst.count > 0.0)
        })
    }

    /// Whether the time of a window contradicts it.
    pub fn is_contradicted(&self, window: &Window, time_s: f64) -> bool {
        if !self.has_seen(window) {
            return false;
        }
        let expected = self.expects(window);
        let distance = (time_s / (self.time_s * expected.of_time)).ln().abs();
        // Either may have begun and ended anywhere in a round.
        let m = f64::from(self.mapping.m());
        let ends = (m / self.offloads).hypot(m / f64::from(window.completions)) / 2.0;
        let of_window = window.relative_error().max(expected.error);
        let error = of_window.hypot(self.relative_error()).hypot(ends);
        distance > OTHER.0 * error && distance > OTHER.1
    }

    /// What is expected of a window with the mix that it has.
    pub fn expects(&self, window: &Window) -> Expectation {
        let of = |restated: &RestatedTimes| restated.expects(&window.by_function);
        self.restated.as_ref().map_or(Expectation::SAME, of)
    }

    /// A further window of the same choice.
    pub fn add(&mut self, new: &Self) {
        let part = new.offloads / (self.offloads + new.offloads);
        let mean = |value: &mut f64, new: f64| *value += part * (new - *value);
        mean(&mut self.time_s, new.time_s);
        mean(&mut self.per_cycle, new.per_cycle);
        mean(&mut self.burst_s, new.burst_s);
        mean(&mut self.deviation, new.deviation);
        let all = self.by_function.iter_mut().chain(&mut self.bursts);
        for (sample, new) in all.zip(new.by_function.iter().chain(&new.bursts)) {
            sample.merge(new, 1.0);
            *sample = sample.of_at_most(MOST_OFFLOADS);
        }
        self.offloads = (self.offloads + new.offloads).min(MOST_OFFLOADS);
        self.alive = new.alive;
        self.caps = new.caps;
    }
}

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
pub(super) struct WatchState {
    reference: Sample,
    /// Windows that were not far from it.
    usual: Sample,
    above: f64,
    below: f64,
}

impl WatchState {
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
    burst: WatchState,
    offload: WatchState,
    time: WatchState,
}

impl Watch {
    pub const NEW: Self =
        Self { burst: WatchState::NEW, offload: WatchState::NEW, time: WatchState::NEW };

    /// Takes in a window in which each off-load took `time_s` in the stream of all, by what is expected of
    /// its mix: a change of mix is none of the workload.
    pub fn sees_change(&mut self, window: &Window, expected: Expectation, time_s: f64) -> bool {
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
            let mut watched = WatchState::NEW;
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
