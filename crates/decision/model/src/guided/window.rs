//! What is measured while one choice holds: off-loads by time, by function and by APUs.

use super::admission::Process;

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
    /// From its start to its end \[s\].
    pub offload: Sample,
    /// Both.
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
