//! What is believed of each choice: equation 11 as it follows the windows, and how far it is off.
//!
//! The time of an off-load in the stream of all is `T(m,p)` of independent tasks for one off-load:
//! `1/m * [alpha_m*T_HPU + T_APU/p + C_APU + p*g]`, its terms being per off-load. Where m processes
//! want more APUs than there are, floor(N_APU/p) of them are served at a time, which takes
//! `B = t(p)/floor(N_APU/p)` at least; of both bounds the twelfth root of the sum of twelfth powers
//! counts, a smooth maximum. Over this mean lies a relative discrepancy, a Gaussian process with an
//! exponential kernel over (log m, log p), conditioned on the windows: what was measured is believed,
//! what is near to it too, and far from it equation 11.

use super::prior;
use super::window::{FUNCTIONS, Sample, Window, place_of};
use crate::fit::online::Online;
use mmgp_base::Mapping;

/// The power of the smooth maximum: equal bounds make 6 % more than each.
const SHARPNESS: i32 = 12;
/// Standard deviation of the discrepancy, relative, where nothing tells that it is larger; records by
/// which that counts as measured; and the largest.
const MISFIT: f64 = 0.05;
const AS_RECORDS: f64 = 2.0;
const MOST_MISFIT: f64 = 0.5;
/// By so much (m, p) must differ, in natural logarithms, for its correlation to fall to 1/e.
const REACH: f64 = 3.0;
/// The least relative error of a round: its ends fall anywhere into the rhythm of the processes. And
/// of any number of rounds.
const OF_A_ROUND: f64 = 0.05;
const LEAST_ERROR: f64 = 0.002;
/// Windows from which a record counts as many as these at most, so that it follows slow drifts.
const MOST_OFFLOADS: f64 = 4096.0;
/// Most choices that are remembered.
const MOST_RECORDS: usize = 48;
/// What a window is worth of which some functions will have fewer APUs from now on, so that its time is
/// reckoned, not measured.
const RECKONED: f64 = 0.1;
/// From windows with a larger relative error equation 11 learns nothing but its first terms.
const ROUGH: f64 = 0.15;
/// A function gets no APUs that make it faster by less than this.
const WORTH_SHARING: f64 = 1.02;
/// A window that differs from earlier ones by so many standard errors, and by so much, is of
/// another workload.
const OTHER: (f64, f64) = (6.0, 0.15);

/// What was measured under one choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub mapping: Mapping,
    /// How many processes were alive: more than went, if some were held.
    alive: u32,
    /// What its windows are worth.
    pub offloads: f64,
    /// Of an off-load in the stream of all \[s\].
    pub time_s: f64,
    /// Standard deviation of one cycle, relative.
    deviation: f64,
}

impl Record {
    fn relative_error(&self) -> f64 {
        let of_ends = OF_A_ROUND * f64::from(self.mapping.m()) / self.offloads;
        (self.deviation / self.offloads.sqrt()).hypot(of_ends.max(LEAST_ERROR))
    }
}

/// What a choice promises.
#[derive(Debug, Clone, Copy)]
pub(super) struct Promise {
    pub mapping: Mapping,
    /// Of an off-load in the stream of all \[s\].
    pub time_s: f64,
    /// Its standard error, relative.
    pub error: f64,
}

/// Everything that was learnt since the workload last changed.
#[derive(Debug, Clone)]
pub(super) struct Belief {
    apus: u32,
    contexts: u32,
    pub records: Vec<Record>,
    pub online: Option<Online>,
    /// Mean host burst of the last window \[s\].
    pub burst_s: f64,
    /// Mean off-load at each p, from 0 \[s\].
    pub by_shares: Vec<Sample>,
    /// Off-loads of each function at each p: a row for each function.
    functions: Vec<Sample>,
    /// The most APUs that are worth while for each function at the current p.
    caps: [u32; FUNCTIONS],
    /// How often one of these was found to be another while a choice held.
    pub cap_changes: u64,
    /// Lower triangle of the records' covariance, row by row, and the weights of the records.
    factor: Vec<f64>,
    weights: Vec<f64>,
    /// Standard deviation of the discrepancy, relative.
    misfit: f64,
}

impl Belief {
    pub fn new(apus: u32, contexts: u32) -> Self {
        let columns = apus as usize + 1;
        Self {
            apus,
            contexts,
            records: Vec::with_capacity(MOST_RECORDS),
            online: None,
            burst_s: 0.0,
            by_shares: vec![Sample::EMPTY; columns],
            functions: vec![Sample::EMPTY; columns * FUNCTIONS],
            caps: [u32::MAX; FUNCTIONS],
            cap_changes: 0,
            factor: Vec::with_capacity(MOST_RECORDS * MOST_RECORDS),
            weights: Vec::with_capacity(MOST_RECORDS),
            misfit: MISFIT,
        }
    }

    /// Nothing of what was learnt holds any more.
    pub fn forget(&mut self) {
        self.records.clear();
        self.online = None;
        self.by_shares.fill(Sample::EMPTY);
        self.functions.fill(Sample::EMPTY);
        self.caps.fill(u32::MAX);
        self.factor.clear();
        self.weights.clear();
    }

    /// The most APUs that are worth while for a function.
    pub fn cap(&self, function: u32) -> u32 {
        self.caps[place_of(function)]
    }

    pub fn record(&self, mapping: Mapping) -> Option<&Record> {
        self.records.iter().find(|record| record.mapping == mapping)
    }

    /// Whether a window's time contradicts what was measured under the same choice before.
    pub fn is_contradicted(&self, mapping: Mapping, window: &Window, time_s: f64) -> bool {
        let Some(record) = self.record(mapping) else { return false };
        let distance = (time_s / record.time_s).ln().abs();
        // Either may have begun and ended anywhere in a round.
        let m = f64::from(mapping.m());
        let ends = (m / record.offloads).hypot(m / f64::from(window.completions)) / 2.0;
        let error = window.relative_error().hypot(record.relative_error()).hypot(ends);
        distance > OTHER.0 * error && distance > OTHER.1
    }

    /// So many processes are alive now. What was measured of as many while others were held says little
    /// of them alone: those that are held go whenever nothing else is off-loaded.
    pub fn alive(&mut self, alive: u32) {
        let count = self.records.len();
        self.records
            .retain(|record| record.alive <= record.mapping.m() || record.mapping.m() < alive);
        if self.records.len() < count {
            self.condition();
        }
    }

    /// Learns from a window in which each off-load took `time_s` in the stream of all.
    pub fn learn(&mut self, mapping: Mapping, alive: u32, window: &Window, time_s: f64) {
        let cycle_s = window.burst.mean + window.offload.mean;
        if !(time_s > 0.0 && cycle_s > 0.0) {
            return;
        }
        self.burst_s = window.burst.mean;
        let changes = self.cap_changes;
        let saved = self.learn_functions(mapping.p(), window) / cycle_s;
        let is_reckoned = self.cap_changes > changes;
        if is_reckoned {
            // The choice is another one from now on.
            self.records.retain(|record| record.mapping != mapping);
        }
        self.by_shares[mapping.p() as usize].add(window.offload.mean - saved * cycle_s);
        let worth = if is_reckoned { RECKONED } else { 1.0 };
        let offloads = worth * f64::from(window.completions);
        let deviation = window.relative_deviation();
        let time_s = time_s * (1.0 - saved);
        self.add_record(Record { mapping, alive, offloads, time_s, deviation });
        if self.online.is_none() {
            self.online = prior::online(mapping, window, self.contexts, self.apus);
        }
        if let Some(online) = &mut self.online {
            let m = mapping.m().min(online.last_m());
            let alone_s = cycle_s * (1.0 - saved) / f64::from(m);
            let is_rough = window.relative_error() > ROUGH;
            if !is_rough || online.samples() == 0 {
                // What it refuses is no time; the records hold what was measured all the same.
                let _ = online.learn(m, mapping.p(), alone_s);
            }
        }
        self.condition();
    }

    /// Learns how functions share, and answers how much less an off-load will take on the average
    /// now that none gets APUs that are of no use to it \[s\].
    fn learn_functions(&mut self, p: u32, window: &Window) -> f64 {
        // The choice of p is that of the function if it is the only one.
        if window.by_function.iter().filter(|it| it.offload.count > 0.0).count() < 2 {
            return 0.0;
        }
        let columns = self.apus as usize + 1;
        let (mut saved, mut count) = (0.0, 0.0);
        for (place, of_function) in window.by_function.iter().enumerate() {
            let measured = &of_function.offload;
            if measured.count == 0.0 {
                continue;
            }
            let row = &mut self.functions[place * columns..(place + 1) * columns];
            row[of_function.shares as usize].add(measured.mean);
            let known = || (1..=p).filter(|&p| row[p as usize].count > 0.0);
            let least = known().map(|p| row[p as usize].mean).fold(f64::INFINITY, f64::min);
            let fewest = known().find(|&p| row[p as usize].mean <= WORTH_SHARING * least);
            // With more APUs than it ever had it is tried first.
            let is_known = row[p as usize].count > 0.0 || of_function.shares < p;
            if let Some(fewest) = fewest.filter(|_| is_known) {
                let cap = if fewest == p { u32::MAX } else { fewest };
                self.cap_changes += u64::from(cap.min(p) != self.caps[place].min(p));
                self.caps[place] = cap;
                let less = (measured.mean - row[fewest as usize].mean).max(0.0);
                saved += if of_function.shares > fewest { measured.count * less } else { 0.0 };
            }
            count += measured.count;
        }
        if count > 0.0 { saved / count } else { 0.0 }
    }

    /// A choice follows another: with more APUs, every function is to show what it makes of them. With
    /// another number of processes on the host, off-loads may wait longer for it, and say nothing of
    /// those before.
    pub fn choose(&mut self, before: Mapping, now: Mapping) {
        if before.m() != now.m() {
            self.functions.fill(Sample::EMPTY);
        }
        let (p, columns) = (now.p(), self.apus as usize + 1);
        for (place, cap) in self.caps.iter_mut().enumerate() {
            let row = &self.functions[place * columns..(place + 1) * columns];
            let known = || (1..=p).filter(|&p| row[p as usize].count > 0.0);
            let least = known().map(|p| row[p as usize].mean).fold(f64::INFINITY, f64::min);
            let fewest = known().find(|&p| row[p as usize].mean <= WORTH_SHARING * least);
            *cap = match (row[p as usize].count > 0.0, fewest) {
                (true, Some(fewest)) => fewest,
                _ => u32::MAX,
            };
        }
    }

    fn add_record(&mut self, new: Record) {
        let found = self.records.iter_mut().find(|record| record.mapping == new.mapping);
        if let Some(record) = found {
            let part = new.offloads / (record.offloads + new.offloads);
            record.time_s += part * (new.time_s - record.time_s);
            record.deviation += part * (new.deviation - record.deviation);
            record.offloads = (record.offloads + new.offloads).min(MOST_OFFLOADS);
            record.alive = new.alive;
            return;
        }
        if self.records.len() == MOST_RECORDS {
            self.records.remove(0);
        }
        self.records.push(new);
    }

    /// Equation 11 with the bound of the APUs, and its relative standard error; `None` before the
    /// first window.
    pub fn expected(&self, mapping: Mapping) -> Option<(f64, f64)> {
        let online = self.online.as_ref()?;
        let (m, p) = (mapping.m().min(online.last_m()), mapping.p());
        let alone = online.time(m, p).0.max(f64::MIN_POSITIVE);
        let error = online.std_error(m, p) / alone;
        let servers = (self.apus / p).max(1);
        if m <= servers {
            return Some((alone, error));
        }
        let measured = &self.by_shares[p as usize];
        let offload = if measured.count > 0.0 {
            measured.mean
        } else {
            (f64::from(m) * alone - self.burst_s).max(0.0)
        };
        let bound = offload / f64::from(servers);
        let (less, more) = (alone.min(bound), alone.max(bound));
        let both = more * (1.0 + (less / more).powi(SHARPNESS)).powf(1.0 / f64::from(SHARPNESS));
        Some((both, error))
    }

    /// What a choice promises; `None` before the first window.
    pub fn promise(&self, mapping: Mapping) -> Option<Promise> {
        let (mean, of_terms) = self.expected(mapping)?;
        let count = self.records.len();
        let mut solved = [0.0; MOST_RECORDS];
        let (mut shift, mut variance) = (0.0, self.misfit.powi(2));
        for row in 0..count {
            let covariance = self.covariance(self.records[row].mapping, mapping);
            shift += self.weights[row] * covariance;
            let known: f64 = (0..row).map(|it| self.factor[row * count + it] * solved[it]).sum();
            solved[row] = (covariance - known) / self.factor[row * count + row];
            variance -= solved[row] * solved[row];
        }
        let error = variance.max(0.0).sqrt().hypot(of_terms);
        Some(Promise { mapping, time_s: mean * shift.exp(), error })
    }

    /// The discrepancy, given the records; its size first, by its likelihood.
    fn condition(&mut self) {
        self.misfit = MISFIT;
        for _ in 0..3 {
            let (sum, count) = (self.factorize(), self.records.len() as f64);
            let excess = (AS_RECORDS + sum) / (AS_RECORDS + count);
            self.misfit = (self.misfit * excess.sqrt()).clamp(MISFIT, MOST_MISFIT);
        }
        self.factorize();
        let count = self.records.len();
        for row in (0..count).rev() {
            let mut sum = self.weights[row];
            for later in row + 1..count {
                sum -= self.factor[later * count + row] * self.weights[later];
            }
            self.weights[row] = sum / self.factor[row * count + row];
        }
    }

    /// The Cholesky factor L of the records' covariance, and as weights `L^-1 y`, y being how far each
    /// is off, as a logarithm; answers the sum of their squares.
    fn factorize(&mut self) -> f64 {
        let count = self.records.len();
        self.factor.clear();
        self.factor.resize(count * count, 0.0);
        self.weights.clear();
        for row in 0..count {
            let record = self.records[row];
            let off =
                self.expected(record.mapping).map_or(0.0, |(mean, _)| (record.time_s / mean).ln());
            let mut sum = off;
            for column in 0..=row {
                let other = &self.records[column];
                let mut entry = self.covariance(record.mapping, other.mapping);
                for it in 0..column {
                    entry -= self.factor[row * count + it] * self.factor[column * count + it];
                }
                self.factor[row * count + column] = if column == row {
                    (entry + record.relative_error().powi(2)).max(1e-12).sqrt()
                } else {
                    entry / self.factor[column * count + column]
                };
                if column < row {
                    sum -= self.factor[row * count + column] * self.weights[column];
                }
            }
            self.weights.push(sum / self.factor[row * count + row]);
        }
        self.weights.iter().map(|weight| weight * weight).sum()
    }

    /// Of the discrepancies of two choices.
    fn covariance(&self, one: Mapping, other: Mapping) -> f64 {
        let distance = |one: u32, other: u32| (f64::from(one) / f64::from(other)).ln();
        let far = distance(one.m(), other.m()).hypot(distance(one.p(), other.p()));
        self.misfit.powi(2) * (-far / REACH).exp()
    }
}
