//! The next choice: the one that is known to be best, or one that promises more.

use super::learnt::{Knowledge, Promise};
use crate::statistics::beyond;
use mmgp_base::Mapping;

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

/// The choice that a cautious mind prefers, from what is known now; `None` before the first window.
pub(super) fn safest(learnt: &Knowledge, alive: u32, apus: u32) -> Option<Mapping> {
    let cautious = |promise: &Promise| promise.time_s * (1.0 + promise.error);
    let promises = candidates(alive, apus).filter_map(|mapping| learnt.promise(mapping));
    let best = promises.min_by(|a, b| cautious(a).total_cmp(&cautious(b)));
    best.map(|promise| promise.mapping)
}

/// The next choice; to look may cost `allowance_s` for each off-load of a window.
pub(super) fn next(learnt: &Knowledge, alive: u32, apus: u32, allowance_s: f64) -> Option<Next> {
    let promises = || candidates(alive, apus).filter_map(|mapping| learnt.promise(mapping));
    let tried = promises().filter(|it| learnt.record(it.mapping).is_some());
    let best = tried.min_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let Some(best) = best else {
        let mapping = safest(learnt, alive, apus)?;
        return Some(Next { mapping, best: None, is_settled: false });
    };
    let mut next = Next { mapping: best.mapping, best: Some(best), is_settled: true };
    let mut most = 0.0;
    for promise in promises().filter(|it| it.mapping != best.mapping) {
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

/// Relative gain of a choice over the best on the average, where it is faster.
fn expected_gain(promise: &Promise, best_s: f64) -> f64 {
    let gain = (best_s / promise.time_s).ln();
    if promise.error <= 0.0 {
        return gain.max(0.0);
    }
    promise.error * beyond(gain / promise.error)
}
