//! What the first window tells: the most APUs that are worth while for each function, and equation 11 before
//! it has seen more than one window.

use super::window::{BATCH, FUNCTIONS, OfFunction, Sample, Window, place_of};
use crate::fit::online::{self, Online};
use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};
use crate::models::sensitivity::Correlation;
use crate::models::terms::Term;
use mmgp_base::Mapping;

/// A function gets no APUs that make it faster by less than this.
const WORTH_SHARING: f64 = 1.02;
/// Number of standard errors by which two means of one function must differ to be told apart.
const TOLD_APART: f64 = 2.0;

/// How functions share, under choices with the same m.
#[derive(Debug, Clone)]
pub(super) struct Caps {
    columns: usize,
    /// Off-loads of each function at each p: a row for each function.
    functions: Vec<Sample>,
    /// Most APUs of each function at the current p.
    caps: [u32; FUNCTIONS],
    /// How often one of these was found to be another while a choice held.
    pub changes: u64,
}

impl Caps {
    pub fn new(apus: u32) -> Self {
        let columns = apus as usize + 1;
        let functions = vec![Sample::EMPTY; columns * FUNCTIONS];
        Self { columns, functions, caps: [u32::MAX; FUNCTIONS], changes: 0 }
    }

    pub fn forget(&mut self) {
        self.functions.fill(Sample::EMPTY);
        self.caps.fill(u32::MAX);
    }

    /// The most APUs that are worth while for a function.
    pub fn of(&self, function: u32) -> u32 {
        self.caps[place_of(function)]
    }

    fn row(&self, place: usize) -> &[Sample] {
        &self.functions[place * self.columns..(place + 1) * self.columns]
    }

    /// Learns how functions share from a window at p, and answers how much less an off-load will take on
    /// the average now that none gets APUs that are of no use to it \[s\].
    pub fn learn(&mut self, p: u32, window: &Window) -> f64 {
        // The choice of p is that of the function if it is the only one.
        if window.by_function.iter().filter(|it| it.offload.count > 0.0).count() < 2 {
            return 0.0;
        }
        let (mut saved, mut count) = (0.0, 0.0);
        for (place, of_function) in window.by_function.iter().enumerate() {
            let measured = &of_function.offload;
            if measured.count == 0.0 {
                continue;
            }
            self.functions[place * self.columns + of_function.shares as usize].merge(measured, 1.0);
            let row = self.row(place);
            // With more APUs than it ever had it is tried first.
            let is_known = row[p as usize].count > 0.0 || of_function.shares < p;
            if let Some(fewest) = fewest(row, p).filter(|_| is_known) {
                let less = (measured.mean - row[fewest as usize].mean).max(0.0);
                saved += if of_function.shares > fewest { measured.count * less } else { 0.0 };
                let cap = if fewest == p { u32::MAX } else { fewest };
                self.changes += u64::from(cap.min(p) != self.caps[place].min(p));
                self.caps[place] = cap;
            }
            count += measured.count;
        }
        if count > 0.0 { saved / count } else { 0.0 }
    }

    /// The off-loads of a function in a window, as they will be with no more APUs than are worth while.
    pub fn capped(&self, place: usize, of_function: &OfFunction) -> Sample {
        let cap = self.caps[place];
        if of_function.shares <= cap {
            return of_function.offload;
        }
        of_function.offload.about(self.row(place)[cap as usize].mean)
    }

    /// A choice of p follows: every function is to show what it makes of more APUs.
    pub fn choose(&mut self, p: u32) {
        for place in 0..FUNCTIONS {
            let row = self.row(place);
            self.caps[place] = match (row[p as usize].count > 0.0, fewest(row, p)) {
                (true, Some(fewest)) => fewest,
                _ => u32::MAX,
            };
        }
    }

    /// A choice follows that was measured with these.
    pub fn choose_again(&mut self, caps: [u32; FUNCTIONS]) {
        self.caps = caps;
    }

    /// Caps of all functions as they are now.
    pub fn all(&self) -> [u32; FUNCTIONS] {
        self.caps
    }

    /// Forgets off-loads measured with another number of processes on the host: they may wait longer for
    /// it, and say nothing of those before.
    pub fn choose_others(&mut self) {
        self.functions.fill(Sample::EMPTY);
    }
}

/// The fewest APUs, up to p, with which a function is as fast as it gets; where it cannot be told that it
/// is as fast with fewer than p, these.
fn fewest(row: &[Sample], p: u32) -> Option<u32> {
    let known = || (1..=p).filter(|&p| row[p as usize].count > 0.0);
    let least = known().map(|p| row[p as usize].mean).fold(f64::INFINITY, f64::min);
    let fewest = known().find(|&p| row[p as usize].mean <= WORTH_SHARING * least)?;
    let (few, all) = (&row[fewest as usize], &row[p as usize]);
    if all.count == 0.0 {
        return Some(fewest);
    }
    let error = few.relative_error().hypot(all.relative_error()) * f64::from(BATCH).sqrt();
    let is_told = (WORTH_SHARING * all.mean / few.mean).ln() > TOLD_APART * error;
    Some(if is_told { fewest } else { p })
}

/// The part of an off-load that is taken to be shared, and its standard error: that of one that
/// somebody thought worth sharing.
const SHARED: (f64, f64) = (0.8, 0.3);
/// What a further APU costs, relative to the off-load on one.
const GAP: (f64, f64) = (0.005, 0.03);
/// Standard error of the host burst, relative.
const HOST: f64 = 0.2;
/// How much slower host code becomes for each process to a context beyond the first, and the standard
/// error of that: 0 where processes take turns and each runs alone, 1 where they run at once.
const CONTENTION: (f64, f64) = (0.5, 0.4);
/// The least standard deviation of a window's time, relative.
const NOISE: f64 = 0.02;
/// Off-loads of a window whose noise counts as usual.
const USUAL_WINDOW: f64 = 128.0;
/// Number of off-loads of which dealing in rounds is dividing: the least common multiple of the numbers up
/// to 16.
const TASKS: u32 = 720_720;
/// Least number of processes that are told apart.
const LEAST_M: u32 = 64;

/// The model that the first window gives, before it has learnt that window; `None` where nothing
/// was measured. Of the window it is told the mean burst \[s\], the mean off-load \[s\] and the
/// relative standard deviation of a cycle.
pub(super) fn online_beforehand(
    mapping: Mapping,
    (burst_s, offload_s, deviation): (f64, f64, f64),
    contexts: u32,
    apus: u32,
) -> Option<Online> {
    let last_m = LEAST_M.max(apus).max(2 * mapping.m()).min(online::MOST_THREADS);
    let of = |value: f64, std_error: f64| Estimate {
        std_error: Some(std_error),
        ..Estimate::exact(value)
    };
    let alpha = alpha(contexts, last_m);
    let at_first = OverM::Table(alpha.clone());
    let mut terms = Terms {
        offloads: Estimate::exact(1.0),
        o_col_s: OverM::Constant(Estimate::exact(0.0)),
        alpha: at_first,
        ..Terms::nothing()
    };
    let host_s = burst_s / terms.alpha_at(mapping.m());
    // The off-load on one APU, from that on p.
    let whole_s = offload_s / (SHARED.0 / f64::from(mapping.p()) + 1.0 - SHARED.0);
    terms.t_hpu_s = of(host_s, HOST * host_s);
    terms.t_apu_s = of(SHARED.0 * whole_s, SHARED.1 * whole_s);
    terms.c_apu_s = of((1.0 - SHARED.0) * whole_s, SHARED.1 * whole_s);
    terms.g_s = of(GAP.0 * whole_s, GAP.1 * whole_s);
    let decomposition = Decomposition::Task { tasks: TASKS };
    let mut parameters = Parameters::new("guided", decomposition, apus, terms);
    // What is not shared is the rest of what is.
    let opposed = vec![1.0, -0.9, -0.9, 1.0];
    let entries = vec![Term::ApuTime.entry(0), Term::ApuSerialTime.entry(0)];
    parameters.correlation = Correlation::new(entries, opposed).ok();
    let noise = NOISE.max(deviation / USUAL_WINDOW.sqrt());
    let beforehand = online::Beforehand { noise, unknown_error: 0.0 };
    Online::new(&parameters, beforehand, last_m).ok()
}

/// 1 up to the contexts; beyond them at each doubling a value of its own, as nothing is known.
fn alpha(contexts: u32, last_m: u32) -> Table {
    let (mut ms, mut values) = (vec![1], vec![Estimate::exact(1.0)]);
    let mut m = contexts.max(1);
    while m < 2 * last_m {
        let beyond = f64::from(m) / f64::from(contexts.max(1)) - 1.0;
        if m > 1 {
            ms.push(m);
            let std_error = Some(0.05 + CONTENTION.1 * beyond);
            let value = 1.0 + CONTENTION.0 * beyond;
            values.push(Estimate { std_error, ..Estimate::exact(value) });
        }
        m *= 2;
    }
    Table::new(ms, values)
}
