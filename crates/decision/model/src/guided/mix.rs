//! What every choice would take with one mix of functions.
//!
//! A program has phases: now one function prevails, now another, and each of them may take longer in one
//! phase than in the next. Two windows under different choices are then not windows of the same work.
//! What they have in common are the functions. The mean time of an off-load of function f in the windows
//! of a record r is taken to be
//!
//! `ln t_rf = a_f + h_r + d_rf + e_rf`:
//!
//! a level of the function, what the record's choice makes of every function, what it makes of this
//! one besides ([`SHAPES`]), and an error, from how much off-loads of f scatter. A function whose
//! off-loads are alike tells much of a choice, one whose off-loads vary with their input little. The
//! records are then *restated*: each is given the time that it would have with the mix of functions of
//! all off-loads so far, of the times `t_rf` that are most likely. Host code, too, is of the function that
//! it follows: where a step ends in a collective, it is long after the last function of a step.
//!
//! So a change of mix is a phase, and changes nothing of what is believed of the choices. A change of
//! the times of a function is a change of the workload. With one function there is one mix, and what
//! was measured stands as it is.

use super::window::{BATCH, FUNCTIONS, OfFunction, Record, Sample};

/// Standard deviation of what a choice makes of one function beyond what it makes of all, relative.
const SHAPES: f64 = 0.1;
/// Standard deviation of what it makes of all from what equation 11 made of it before any window: it
/// decides where two records have no function in common.
const BEFOREHAND: f64 = 0.5;
/// The least relative error of the mean of one function.
const LEAST_ERROR: f64 = 0.002;
/// A part of the time that a window must have seen.
const PART: f64 = 0.1;
/// Off-loads that those before a change of the workload count for.
const FADED: f64 = 64.0;
/// Sweeps over levels and choices: with some functions in common few are enough.
const SWEEPS: usize = 16;

/// Off-loads of each function, under one choice.
pub(super) type Functions = [Sample; FUNCTIONS];

/// How many off-loads there were of each function.
#[derive(Debug, Clone)]
pub(super) struct Mix {
    counts: [f64; FUNCTIONS],
    /// Times of the off-loads of each function and of the host code after them \[s\].
    times: [f64; FUNCTIONS],
}

/// The mean off-load of a record, and of its functions.
#[derive(Debug, Clone, Copy)]
pub(super) struct RestatedTimes {
    /// Time of each function \[s\].
    pub times: [f64; FUNCTIONS],
    /// Mean off-load with the mix of all \[s\].
    pub offload_s: f64,
    /// The host time after each function, and with the mix of all \[s\].
    bursts: [f64; FUNCTIONS],
    pub burst_s: f64,
    /// Standard error of that beside the records' other ones, relative.
    pub error: f64,
    /// The square of the relative error that a single off-load of each function has.
    variances: [f64; FUNCTIONS],
}

/// What is expected of a window with the mix that it has, by a record with the mix of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expectation {
    /// Mean off-load of the window, over that of the record.
    pub of_offload: f64,
    /// Mean burst of the window, over that of the record.
    pub of_burst: f64,
    /// Burst and off-load of the window, over those of the record.
    pub of_time: f64,
    /// The relative standard error of its mean off-load, from how much functions scatter.
    pub error: f64,
}

impl Expectation {
    pub const SAME: Self = Self { of_offload: 1.0, of_burst: 1.0, of_time: 1.0, error: 0.0 };
}

impl RestatedTimes {
    /// What is expected of a window with these functions.
    pub fn expects(&self, by_function: &[OfFunction; FUNCTIONS]) -> Expectation {
        let (mut offloads_s, mut count, mut squares) = (0.0, 0.0, 0.0);
        let (mut bursts_s, mut bursts) = (0.0, 0.0);
        for (place, of_function) in by_function.iter().enumerate() {
            let Sample { count: offloads, mean, .. } = of_function.offload;
            // One that no record has seen is as it is.
            let is_known = self.times[place] > 0.0;
            let time = if is_known { self.times[place] } else { mean };
            let burst = if is_known { self.bursts[place] } else { of_function.burst.mean };
            offloads_s += offloads * time;
            bursts_s += of_function.burst.count * burst;
            bursts += of_function.burst.count;
            squares += self.variances[place] * offloads * time * time;
            count += offloads;
        }
        if offloads_s <= 0.0 || self.offload_s <= 0.0 || bursts <= 0.0 {
            return Expectation::SAME;
        }
        let (offload_s, burst_s) = (offloads_s / count, bursts_s / bursts);
        Expectation {
            of_offload: offload_s / self.offload_s,
            of_burst: if self.burst_s > 0.0 { burst_s / self.burst_s } else { 1.0 },
            of_time: (burst_s + offload_s) / (self.burst_s + self.offload_s),
            error: squares.sqrt() / offloads_s,
        }
    }
}

impl Mix {
    pub const NONE: Self = Self { counts: [0.0; FUNCTIONS], times: [0.0; FUNCTIONS] };

    pub fn add(&mut self, by_function: &[OfFunction; FUNCTIONS]) {
        for (place, of_function) in by_function.iter().enumerate() {
            self.counts[place] += of_function.offload.count;
            self.times[place] += of_function.offload.sum() + of_function.burst.sum();
        }
    }

    /// The workload is another one: what it was says as much of it as one window would.
    pub fn fade(&mut self) {
        let all: f64 = self.counts.iter().sum();
        let left = (FADED / all.max(FADED)).min(1.0);
        self.counts.iter_mut().chain(&mut self.times).for_each(|it| *it *= left);
    }

    /// Whether there are so many off-loads of each function that takes a part of the time, with what
    /// follows them.
    pub fn is_whole(&self, by_function: &[OfFunction; FUNCTIONS], each: u32) -> bool {
        let least = PART * self.times.iter().sum::<f64>();
        let is_seen = |it: &OfFunction| it.burst.count >= f64::from(each);
        self.times.iter().zip(by_function).all(|(&time, it)| time <= least || is_seen(it))
    }

    /// Whether there is a mix at all.
    pub fn has_several(&self) -> bool {
        self.counts.iter().filter(|&&count| count > 0.0).count() > 1
    }

    /// The mean of times of functions, by the mix of all.
    pub fn mean(&self, times: &[f64; FUNCTIONS]) -> f64 {
        mean(&self.counts, times)
    }

    /// Restates all records with one mix; `beforehand_s` is what equation 11 made of the off-load of each.
    pub fn restate(&self, records: &[Record], beforehand_s: &[f64]) -> Vec<RestatedTimes> {
        let scatter = scatter(records);
        let error = |record: usize, place: usize| {
            let count = records[record].by_function[place].count;
            (scatter[place] / count.max(1.0)).sqrt().max(LEAST_ERROR)
        };
        let measured = |record: usize, place: usize| {
            let sample = &records[record].by_function[place];
            (sample.count > 0.0 && sample.mean > 0.0).then(|| sample.mean.ln())
        };
        let seen = |place: &usize| self.counts[*place] > 0.0;
        let weight = |record, place| 1.0 / (error(record, place).powi(2) + SHAPES.powi(2));
        let usual: Vec<f64> =
            beforehand_s.iter().map(|&time| time.max(f64::MIN_POSITIVE).ln()).collect();
        let (mut levels, mut choices) = ([0.0; FUNCTIONS], usual.clone());
        for _ in 0..SWEEPS {
            for place in (0..FUNCTIONS).filter(seen) {
                let terms = (0..records.len()).filter_map(|record| {
                    let time = measured(record, place)?;
                    Some((weight(record, place), time - choices[record]))
                });
                levels[place] = weighted(terms, (0.0, 0.0));
            }
            for (record, choice) in choices.iter_mut().enumerate() {
                let terms = (0..FUNCTIONS).filter(seen).filter_map(|place| {
                    let time = measured(record, place)?;
                    Some((weight(record, place), time - levels[place]))
                });
                *choice = weighted(terms, (1.0 / BEFOREHAND.powi(2), usual[record]));
            }
        }
        let restated = |record: usize| {
            let (mut times, mut variances) = ([0.0; FUNCTIONS], [0.0; FUNCTIONS]);
            for place in (0..FUNCTIONS).filter(seen) {
                let common = (SHAPES.powi(-2), levels[place] + choices[record]);
                let own = measured(record, place).map(|time| (error(record, place).powi(-2), time));
                times[place] = weighted(own.into_iter(), common).exp();
                variances[place] = 1.0 / (common.0 + own.map_or(0.0, |(weight, _)| weight));
            }
            let offload_s = self.mean(&times);
            let of_each: [f64; FUNCTIONS] =
                std::array::from_fn(|it| self.counts[it] * times[it] * variances[it].sqrt());
            let total: f64 = self.counts.iter().sum();
            let error = of_each.iter().map(|it| it * it).sum::<f64>().sqrt() / (total * offload_s);
            let bursts = self.bursts(records, record);
            let burst_s = self.mean(&bursts);
            RestatedTimes { times, offload_s, bursts, burst_s, error, variances: scatter }
        };
        (0..records.len()).map(restated).collect()
    }

    /// The host time after each function in a record, or in all of them where it has none.
    fn bursts(&self, records: &[Record], record: usize) -> [f64; FUNCTIONS] {
        std::array::from_fn(|place| {
            let own = &records[record].bursts[place];
            if own.count > 0.0 {
                return own.mean;
            }
            let mut all = Sample::EMPTY;
            records.iter().for_each(|other| all.merge(&other.bursts[place], 1.0));
            if all.count > 0.0 { all.mean } else { records[record].burst_s }
        })
    }
}

/// The mean of times of functions, so many off-loads of each.
pub(super) fn mean(counts: &[f64; FUNCTIONS], times: &[f64; FUNCTIONS]) -> f64 {
    let total: f64 = counts.iter().sum();
    let sum: f64 = counts.iter().zip(times).map(|(count, time)| count * time).sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// The mean of weights with values, and one more of them.
fn weighted(terms: impl Iterator<Item = (f64, f64)>, more: (f64, f64)) -> f64 {
    let (weights, sum) = terms.fold((more.0, more.0 * more.1), |sums, (weight, value)| {
        (sums.0 + weight, sums.1 + weight * value)
    });
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// The square of the error that the mean of a single off-load of each function has, relative: off-loads
/// that follow each other are alike.
fn scatter(records: &[Record]) -> [f64; FUNCTIONS] {
    std::array::from_fn(|place| {
        let samples = || records.iter().map(|record| &record.by_function[place]);
        let freedom = |sample: &Sample| (sample.count - 1.0).max(0.0);
        let squares: f64 = samples().map(|it| freedom(it) * it.relative_deviation().powi(2)).sum();
        let count: f64 = samples().map(freedom).sum();
        f64::from(BATCH) * if count > 0.0 { squares / count } else { 0.0 }
    })
}
