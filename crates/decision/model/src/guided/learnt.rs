//! What was learnt of each choice: equation 11 as it follows the windows, and how far it is off; and the
//! next choice, the one that is known to be best or one that promises more.
//!
//! The time of an off-load in the stream of all is `T(m,p)` of independent tasks for one off-load:
//! `1/m * [alpha_m*T_HPU + T_APU/p + C_APU + p*g]`, its terms being per off-load. Where m processes
//! want more APUs than there are, floor(N_APU/p) of them are served at a time, which takes
//! `B = t(p)/floor(N_APU/p)` at least; of both bounds the twelfth root of the sum of twelfth powers
//! counts, a smooth maximum. Over this mean lies a relative discrepancy, a Gaussian process with an
//! exponential kernel over (log m, log p), conditioned on the windows: what was measured is believed,
//! what is near to it too, and far from it equation 11.

use nalgebra::{DMatrix, DVector};

use super::caps::{Caps, online_beforehand};
use super::mix::{Expectation, Mix};
use super::window::{Record, Sample, Window};
use crate::fit::online::Online;
use crate::statistics::{GaussianUpdate, beyond, kernel};
use mmgp_base::Mapping;

/// The power of the smooth maximum: equal bounds make 6 % more than each.
const SHARPNESS: i32 = 12;
/// Standard deviation of the discrepancy, relative, where nothing tells that it is larger; records by
/// which that counts as measured; and the largest.
const MISFIT: f64 = 0.05;
const AS_RECORDS: f64 = 2.0;
const MOST_MISFIT: f64 = 0.5;
/// Difference of (m, p), in natural logarithms, at which the correlation falls to 1/e.
const REACH: f64 = 3.0;
/// No variance of a record is less, relative.
const LEAST_VARIANCE: f64 = 1e-12;
/// Largest variance of a record, which says nothing.
const MOST_VARIANCE: f64 = 1e6;
/// Most choices that are remembered.
const MOST_RECORDS: usize = 48;
/// What a window is worth of which some functions will have fewer APUs from now on, so that its time is
/// reckoned, not measured.
const RECKONED: f64 = 0.1;
/// Relative error of a window above which equation 11 learns nothing from it but its first terms.
const ROUGH: f64 = 0.15;

/// What a choice promises.
#[derive(Debug, Clone, Copy)]
pub(super) struct Promise {
    pub mapping: Mapping,
    /// Time of an off-load in the stream of all \[s\].
    pub time_s: f64,
    /// Standard error of that, relative.
    pub error: f64,
}

/// Everything that was learnt since the workload last changed.
#[derive(Debug, Clone)]
pub(super) struct Knowledge {
    apus: u32,
    contexts: u32,
    pub records: Vec<Record>,
    pub online: Option<Online>,
    /// Mean host burst of the last window \[s\].
    pub burst_s: f64,
    /// Mean off-load at each p, from 0 \[s\].
    pub by_shares: Vec<Sample>,
    pub caps: Caps,
    mix: Mix,
    /// Equation 11 as it was before any window.
    beforehand: Option<Online>,
    /// What the records say of the discrepancy.
    given: GaussianUpdate,
    /// Standard deviation of the discrepancy, relative.
    misfit: f64,
}

impl Knowledge {
    pub fn new(apus: u32, contexts: u32) -> Self {
        Self {
            apus,
            contexts,
            records: Vec::with_capacity(MOST_RECORDS),
            online: None,
            burst_s: 0.0,
            by_shares: vec![Sample::EMPTY; apus as usize + 1],
            caps: Caps::new(apus),
            mix: Mix::NONE,
            beforehand: None,
            given: GaussianUpdate::nothing(),
            misfit: MISFIT,
        }
    }

    /// Forgets all that was learnt.
    pub fn forget(&mut self) {
        self.records.clear();
        self.online = None;
        self.by_shares.fill(Sample::EMPTY);
        self.caps.forget();
        self.mix.fade();
        self.beforehand = None;
        self.given = GaussianUpdate::nothing();
    }

    /// What was measured under a choice does not hold any more.
    pub fn forget_one(&mut self, mapping: Mapping) {
        self.records.retain(|record| record.mapping != mapping);
        self.condition();
    }

    pub fn record(&self, mapping: Mapping) -> Option<&Record> {
        self.records.iter().find(|record| record.mapping == mapping)
    }

    /// Whether a window's time contradicts what was measured under the same choice before.
    pub fn is_contradicted(&self, mapping: Mapping, window: &Window, time_s: f64) -> bool {
        self.record(mapping).is_some_and(|record| record.is_contradicted(window, time_s))
    }

    /// States how many processes are alive now. What was measured of as many while others were held says
    /// little of them alone: those that are held go whenever nothing else is off-loaded.
    pub fn alive(&mut self, alive: u32) {
        let count = self.records.len();
        self.records
            .retain(|record| record.alive <= record.mapping.m() || record.mapping.m() < alive);
        if self.records.len() < count {
            self.condition();
        }
    }

    /// Whether a window has so many off-loads of each function that matters.
    pub fn is_whole(&self, window: &Window, each: u32) -> bool {
        self.mix.is_whole(&window.by_function, each)
    }

    /// What is expected of a window with the mix that it has, under a choice that was measured.
    pub fn expects(&self, mapping: Mapping, window: &Window) -> Expectation {
        self.record(mapping).map_or(Expectation::SAME, |record| record.expects(window))
    }

    /// Learns from a window in which each off-load took `time_s` in the stream of all.
    pub fn learn(&mut self, mapping: Mapping, alive: u32, window: &Window, time_s: f64) {
        let cycle_s = window.burst.mean + window.offload.mean;
        if !(time_s > 0.0 && cycle_s > 0.0) {
            return;
        }
        self.burst_s = window.burst.mean;
        let changes = self.caps.changes;
        let saved = self.caps.learn(mapping.p(), window) / cycle_s;
        let is_reckoned = self.caps.changes > changes;
        if is_reckoned {
            // The choice is another one from now on.
            self.records.retain(|record| record.mapping != mapping);
        }
        self.by_shares[mapping.p() as usize].add(window.offload.mean - saved * cycle_s);
        let worth = if is_reckoned { RECKONED } else { 1.0 };
        let offloads = worth * f64::from(window.completions);
        let by_function = std::array::from_fn(|place| {
            let sample = self.caps.capped(place, &window.by_function[place]);
            sample.of_at_most(worth * sample.count)
        });
        self.add_record(Record {
            mapping,
            alive,
            offloads,
            time_s: time_s * (1.0 - saved),
            per_cycle: time_s / cycle_s,
            burst_s: window.burst.mean,
            deviation: window.relative_deviation(),
            by_function,
            bursts: std::array::from_fn(|place| window.by_function[place].burst),
            caps: self.caps.all(),
            restated: None,
        });
        self.mix.add(&window.by_function);
        if self.online.is_none() {
            let first = (window.burst.mean, window.offload.mean, window.relative_deviation());
            self.online = online_beforehand(mapping, first, self.contexts, self.apus);
            self.beforehand.clone_from(&self.online);
        }
        if self.mix.has_several() {
            self.restate();
        } else if let Some(online) = &mut self.online {
            let alone_s = cycle_s * (1.0 - saved);
            learn_alone(online, mapping, alone_s, window.relative_error());
        }
        self.condition();
    }

    /// Gives all records one mix of functions, and equation 11 what they are then.
    fn restate(&mut self) {
        let Some(beforehand) = &self.beforehand else { return };
        let offload_s = |record: &Record| {
            let m = record.mapping.m().min(beforehand.last_m());
            f64::from(m) * beforehand.time(m, record.mapping.p()).0 - self.burst_s
        };
        let expected: Vec<f64> = self.records.iter().map(offload_s).collect();
        let restated = self.mix.restate(&self.records, &expected);
        self.by_shares.fill(Sample::EMPTY);
        for (record, restated) in self.records.iter_mut().zip(restated) {
            record.time_s = record.per_cycle * (restated.burst_s + restated.offload_s);
            record.restated = Some(restated);
            self.by_shares[record.mapping.p() as usize].add(restated.offload_s);
        }
        let Some(first) = self.records.first() else { return };
        let mean =
            |record: &Record| record.restated.map_or((0.0, 0.0), |it| (it.burst_s, it.offload_s));
        let (burst_s, offload_s) = mean(first);
        let usual = (burst_s, offload_s, first.deviation);
        self.online = online_beforehand(first.mapping, usual, self.contexts, self.apus);
        let Some(online) = &mut self.online else { return };
        for record in &self.records {
            let (burst_s, offload_s) = mean(record);
            learn_alone(online, record.mapping, burst_s + offload_s, record.relative_error());
        }
    }

    /// A choice follows another.
    pub fn choose(&mut self, before: Mapping, now: Mapping) {
        if before.m() != now.m() {
            self.caps.choose_others();
        }
        match self.record(now).map(|record| record.caps) {
            Some(caps) => self.caps.choose_again(caps),
            None => self.caps.choose(now.p()),
        }
    }

    fn add_record(&mut self, new: Record) {
        let found = self.records.iter_mut().find(|record| record.mapping == new.mapping);
        if let Some(record) = found {
            record.add(&new);
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
        let covariances = self.records.iter().map(|it| self.covariance(it.mapping, mapping));
        let covariances = DVector::from_iterator(self.records.len(), covariances);
        let shift = covariances.dot(self.given.pull());
        let told = self.given.whitened(covariances).norm_squared();
        let error = (self.misfit.powi(2) - told).max(0.0).sqrt().hypot(of_terms);
        Some(Promise { mapping, time_s: mean * shift.exp(), error })
    }

    /// The discrepancy, given the records; its size first, by its likelihood.
    fn condition(&mut self) {
        let off = |record: &Record| {
            let off = self.expected(record.mapping).map(|(mean, _)| (record.time_s / mean).ln());
            // A time of nothing, or without end, says nothing of how far equation 11 is off.
            off.filter(|it| it.is_finite()).unwrap_or(0.0)
        };
        let off = DVector::from_iterator(self.records.len(), self.records.iter().map(off));
        self.misfit = MISFIT;
        for _ in 0..3 {
            let (sum, count) = (off.dot(self.given(&off).pull()), self.records.len() as f64);
            let excess = (AS_RECORDS + sum) / (AS_RECORDS + count);
            self.misfit = (self.misfit * excess.sqrt()).clamp(MISFIT, MOST_MISFIT);
        }
        self.given = self.given(&off);
    }

    /// What the records say, which are off by so much, each as a logarithm.
    fn given(&self, off: &DVector<f64>) -> GaussianUpdate {
        let count = self.records.len();
        let mut covariance = DMatrix::from_fn(count, count, |row, column| {
            self.covariance(self.records[row].mapping, self.records[column].mapping)
        });
        for (place, record) in self.records.iter().enumerate() {
            covariance[(place, place)] +=
                record.relative_error().powi(2).clamp(LEAST_VARIANCE, MOST_VARIANCE);
        }
        let nothing_told = || {
            let unit = DMatrix::identity(count, count);
            GaussianUpdate::observed(unit, &DVector::zeros(count))
                .expect("invariant: 1 is a covariance")
        };
        GaussianUpdate::observed(covariance, off).unwrap_or_else(nothing_told)
    }

    /// Covariance of the discrepancies of two choices.
    fn covariance(&self, one: Mapping, other: Mapping) -> f64 {
        self.misfit.powi(2) * kernel(one, other, REACH)
    }
}

/// Equation 11 learns what a cycle takes, of all m processes.
fn learn_alone(online: &mut Online, mapping: Mapping, cycle_s: f64, relative_error: f64) {
    if relative_error > ROUGH && online.samples() > 0 {
        return;
    }
    let m = mapping.m().min(online.last_m());
    // What it refuses is no time; the records hold what was measured all the same.
    let _ = online.learn(m, mapping.p(), cycle_s / f64::from(m));
}

/// A choice that promises less gain than this on the average is not looked at, relative.
const WORTH_LOOKING: f64 = 0.005;

/// What to do next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Next {
    pub mapping: Mapping,
    /// The best of what was tried.
    pub best: Option<Promise>,
    /// Whether no choice promises more, whatever it costs to look.
    pub is_settled: bool,
}

/// The numbers up to 8, and two of each doubling beyond.
fn steps(last: u32) -> impl Iterator<Item = u32> {
    let beyond = (2..29).flat_map(|power| [3 << power, 4 << power]);
    (1..=8).chain(beyond).take_while(move |&step| step <= last)
}

/// Choices for that many processes: m*p within twice the APUs, as not all off-load at the same time; and
/// all processes with any p.
pub(super) fn candidates(alive: u32, apus: u32) -> impl Iterator<Item = Mapping> {
    let alive = alive.max(1);
    let shares = move |most: u32| {
        let whole = (!steps(most).any(|step| step == most)).then_some(most);
        steps(most).chain(whole)
    };
    let fewer = steps(alive.min(apus)).filter(move |&m| m < alive);
    let some =
        fewer.flat_map(move |m| shares((2 * apus / m).min(apus)).map(move |p| Mapping::of(m, p)));
    // As many as can be served at a time with each p are not always among the steps.
    let full = shares(apus).map(move |p| Mapping::of(apus / p, p));
    let full = full.filter(move |it| it.m() < alive && steps(alive).all(|step| step != it.m()));
    some.chain(full).chain(shares(apus).map(move |p| Mapping::of(alive, p)))
}

impl Knowledge {
    /// The choice that a cautious mind prefers, from what is known now; `None` before the first window.
    pub fn safest(&self, alive: u32) -> Option<Mapping> {
        let cautious = |promise: &Promise| promise.time_s * (1.0 + promise.error);
        let best = self.promises(alive).min_by(|a, b| cautious(a).total_cmp(&cautious(b)));
        best.map(|promise| promise.mapping)
    }

    /// What each candidate for so many processes promises.
    fn promises(&self, alive: u32) -> impl Iterator<Item = Promise> {
        candidates(alive, self.apus).filter_map(|mapping| self.promise(mapping))
    }

    /// The next choice; to look may cost `allowance_s` for each off-load of a window.
    pub fn next(&self, alive: u32, allowance_s: f64) -> Option<Next> {
        let tried = self.promises(alive).filter(|it| self.record(it.mapping).is_some());
        let Some(best) = tried.min_by(|a, b| a.time_s.total_cmp(&b.time_s)) else {
            let mapping = self.safest(alive)?;
            return Some(Next { mapping, best: None, is_settled: false });
        };
        let mut next = Next { mapping: best.mapping, best: Some(best), is_settled: true };
        let mut most = 0.0;
        for promise in self.promises(alive).filter(|it| it.mapping != best.mapping) {
            let gain = expected_gain(&promise, best.time_s);
            if gain <= WORTH_LOOKING {
                continue;
            }
            next.is_settled = false;
            if gain > most && promise.time_s - best.time_s <= allowance_s {
                most = gain;
                next.mapping = promise.mapping;
            }
        }
        Some(next)
    }
}

/// Relative gain of a choice over the best on the average, where it is faster.
fn expected_gain(promise: &Promise, best_s: f64) -> f64 {
    let gain = (best_s / promise.time_s).ln();
    if promise.error <= 0.0 { gain.max(0.0) } else { promise.error * beyond(gain / promise.error) }
}
