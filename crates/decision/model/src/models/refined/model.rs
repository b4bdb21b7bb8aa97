//! The refined model as a [`TimeModel`]: the values of equation 11, then the refined terms that are
//! measured and not counted.
//!
//! The host is a closed queueing network: m threads compute on H hardware contexts, then wait for their
//! APUs, then compute again. A thread *thinks* while it is off-loaded (APU time, signals, collectives) and asks for *service*
//! from the host in between (its share of T_HPU, starting its APUs, the context switch). With n
//! threads at the host, `k = min(n, H)` compute, each as slow as k busy contexts make it:
//!
//! ```text
//! rate(n) = k / (alpha_k*T_HPU/N + T_CSW + p*g)         completions a second
//! pi(n)   = pi(n-1) * (m - n + 1)/think / rate(n)       balance of arrivals and completions
//! cycle   = m / sum of pi(n)*rate(n)                    time of one off-load and its host code
//! ```
//!
//! This is the machine-repairman model with state-dependent rates (Palm 1947; chapter 3 of
//! Kleinrock, Queueing Systems I, 1975). It is exact for exponential bursts in order of arrival and,
//! where the contexts are shared among all threads that are ready, for bursts of any distribution
//! (Baskett, Chandy, Muntz, Palacios, J. ACM 22, 1975); think times may have any distribution in
//! both. It takes threads for independent: those that meet at a collective after every off-load
//! come to the host together and wait longer.
//!
//! alpha is not counted twice: where think is 0 and m at most H, all threads compute always and the
//! host's time is `alpha_m*T_HPU + N*p*g` as in equation 11; the more they think, the less often
//! contexts disturb each other, and alpha's weight falls.

use std::ops::RangeInclusive;

use super::{RefinedBreakdown, Refinements};
use crate::models::parameters::{Estimate, Parameters};
use crate::models::sensitivity::Entry;
use crate::models::time_model::{Part, REFINED, TimeModel, Value};
use mmgp_base::Mapping;
use mmgp_base::error::Warning;
use mmgp_base::units::Seconds;

/// The refined model of parameters that have refined terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Refined {
    parameters: Parameters,
}

impl Refined {
    /// `None` where the parameters have no refined term.
    pub fn of(parameters: &Parameters) -> Option<Self> {
        let is_refined = parameters.refinements.as_ref().is_some_and(|it| !it.names().is_empty());
        is_refined.then(|| Self { parameters: parameters.clone() })
    }

    /// The refined terms that are measured, with their places in [`MEASURED`].
    fn measured(&self) -> impl Iterator<Item = (usize, Estimate)> + '_ {
        let mut refinements = self.parameters.refinements.clone();
        MEASURED.iter().enumerate().filter_map(move |(index, (_, pick))| {
            Some((index, pick(refinements.as_mut()?)?.clone()))
        })
    }
}

type Pick = fn(&mut Refinements) -> Option<&mut Estimate>;

/// The refined terms that are measured, not counted, by their names in files.
const MEASURED: [(&str, Pick); 4] = [
    ("exposed_transfer_s", |it| it.exposed_transfer_s.as_mut()),
    ("memory_demand_bytes_per_s", |it| {
        it.memory.as_mut().map(|memory| &mut memory.demand_bytes_per_s)
    }),
    ("memory_bandwidth_bytes_per_s", |it| {
        it.memory.as_mut().map(|memory| &mut memory.bandwidth_bytes_per_s)
    }),
    ("work_growth_s", |it| it.work_growth_s.as_mut()),
];

/// The step of a difference, relative to the value: the error of a central difference is of second
/// order in it, that of rounding of the inverse first.
const STEP: f64 = 1e-5;

impl TimeModel for Refined {
    fn name(&self) -> &str {
        REFINED
    }

    fn apus(&self) -> u32 {
        self.parameters.apus
    }

    fn time(&self, mapping: Mapping) -> Seconds {
        self.parameters.refined_time(mapping)
    }

    fn values(&self) -> Vec<Value> {
        let of = |(index, estimate): (usize, Estimate)| Value::new(MEASURED[index].0, &estimate);
        self.parameters.values().into_iter().chain(self.measured().map(of)).collect()
    }

    fn gradient(&self, mapping: Mapping) -> Vec<(usize, f64)> {
        let parameters = &self.parameters;
        let contexts = parameters.refinements.as_ref().and_then(|it| it.hardware_contexts);
        // Up to so many threads compute at once, and alpha is asked for no more.
        let computing = contexts.map_or(mapping.m(), |contexts| contexts.min(mapping.m()));
        let of_terms = parameters.refined_gradient(mapping);
        let mut gradient = parameters.by_place(of_terms, [computing, mapping.m()]);
        let mut moved = parameters.clone();
        let first = parameters.values().len();
        for ((index, estimate), place) in self.measured().zip(first..) {
            let pick = MEASURED[index].1;
            let mut set = |value: f64| {
                pick(moved.refinements.as_mut()?)?.value = value;
                Some(moved.refined_time(mapping).0)
            };
            let slope = difference(&estimate, &mut set).unwrap_or(0.0);
            set(estimate.value);
            gradient.push((place, slope));
        }
        gradient
    }

    fn correlation(&self, one: usize, other: usize) -> f64 {
        TimeModel::correlation(&self.parameters, one, other)
    }

    fn parts(&self, mapping: Mapping) -> Vec<Part> {
        self.parameters.refined_breakdown(mapping).parts().to_vec()
    }

    fn warnings(&self, ms: RangeInclusive<u32>) -> Vec<Warning> {
        let unknown = self.measured().filter(|(_, estimate)| estimate.std_error.is_none());
        let unknown: Vec<&str> = unknown.map(|(index, _)| MEASURED[index].0).collect();
        self.parameters.warnings_with(ms, &unknown)
    }
}

impl Parameters {
    /// `dT/dx` of the refined time with respect to every entry of the terms, by central differences
    /// with a step of 1e-5 of the value; 0 for a value of 0 that has no standard error, a one-sided
    /// difference where it has one.
    ///
    /// At the kinks of the refined model (where memory begins to bind, where a count of iterations
    /// is divided evenly) it is a value between the slopes of both sides.
    pub fn refined_gradient(&self, mapping: Mapping) -> Vec<(Entry, f64)> {
        let mut moved = self.clone();
        let slope = |entry: Entry| {
            let estimate = self.terms.estimate(entry)?;
            let mut set = |value: f64| {
                moved.terms.estimate_mut(entry)?.value = value;
                Some(moved.refined_time(mapping).0)
            };
            let slope = difference(estimate, &mut set)?;
            set(estimate.value);
            Some((entry, slope))
        };
        self.terms.entries().into_iter().filter_map(slope).collect()
    }
}

/// The slope of `time` at the estimate's value.
fn difference(estimate: &Estimate, time: &mut dyn FnMut(f64) -> Option<f64>) -> Option<f64> {
    let value = estimate.value;
    let step = if value > 0.0 { STEP * value } else { estimate.std_error.unwrap_or(0.0) };
    if step == 0.0 {
        return Some(0.0);
    }
    let below = (value - step).max(0.0);
    Some((time(value + step)? - time(below)?) / (value + step - below))
}

/// How a thread's time at the host is spent, for each visit \[s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Visit {
    /// Computing, slowed by other contexts.
    pub computing: f64,
    /// Waiting for a context.
    pub waiting: f64,
}

/// Bursts that only get weights beyond this are scaled down, with all weights before them.
const LARGE: f64 = 1e200;

/// A visit of one of m threads, where `burst(k)` is how long one takes while k contexts compute and
/// `think` how long a thread is away between two visits \[s\]. Bursts must be above 0.
pub(super) fn visit(m: u32, contexts: u32, think: f64, burst: impl Fn(u32) -> f64) -> Visit {
    let (mut rate, mut computing, mut waiting) = (0.0, 0.0, 0.0);
    // From the state with all at the host downwards, so that no division is by a think time of 0.
    let mut weight = 1.0;
    for n in (1..=m).rev() {
        let busy = n.min(contexts);
        let rate_here = f64::from(busy) / burst(busy);
        rate += weight * rate_here;
        computing += weight * f64::from(busy);
        waiting += weight * f64::from(n - busy);
        weight *= think * rate_here / f64::from(m - n + 1);
        if weight > LARGE {
            for sum in [&mut rate, &mut computing, &mut waiting, &mut weight] {
                *sum /= LARGE;
            }
        }
    }
    // By Little's law: threads in a place are the rate of visits times the time spent there.
    Visit { computing: computing / rate, waiting: waiting / rate }
}

/// The breakdown with the host's part replaced by what the network says.
pub(super) fn with_contexts(
    parameters: &Parameters,
    mut refined: RefinedBreakdown,
    m: u32,
    contexts: u32,
) -> RefinedBreakdown {
    let RefinedBreakdown { terms, .. } = refined;
    let fraction = parameters.share(m, 1).fraction;
    // Only ratios of the times matter, so the totals stand for the average off-load.
    let think = terms.apu_s
        + refined.uneven_division_s
        + refined.memory_contention_s
        + refined.exposed_transfer_s
        + refined.work_growth_s
        + terms.apu_serial_s
        + terms.offload_s
        + terms.collective_s;
    let switches = if m > contexts { terms.context_switch_s } else { 0.0 };
    let alone = fraction * parameters.terms.t_hpu_s.value;
    let steady = switches + terms.gap_s;
    refined.terms.context_switch_s = switches;
    refined.terms.hpu_s = 0.0;
    if alone + steady > 0.0 {
        let burst = |busy| parameters.terms.alpha_at(busy) * alone + steady;
        let Visit { computing, waiting } = visit(m, contexts, think, burst);
        refined.terms.hpu_s = (computing - steady).max(0.0);
        refined.host_queueing_s = waiting;
    }
    refined
}

#[cfg(test)]
mod tests {
    use super::super::super::parameters::{Decomposition, Estimate, OverM};
    use super::super::super::run::Breakdown;
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn a_slope_is_a_central_difference_and_at_zero_one_of_a_standard_error() {
        let check = |value: f64, std_error: Option<f64>, expected: f64| {
            let estimate = Estimate { std_error, ..Estimate::exact(value) };
            // The square of 1 + x.
            let found = difference(&estimate, &mut |x| Some((1.0 + x).powi(2))).unwrap();
            approx::assert_relative_eq!(found, expected, max_relative = 1e-7);
        };
        // 2*(1 + x), whatever the size of x.
        check(3.0, None, 8.0);
        check(1e-3, Some(0.5), 2.002);
        // From 1 to 1.5^2 over half.
        check(0.0, Some(0.5), 2.5);
        check(0.0, None, 0.0);
    }

    /// 1, 1.5, 1.75... seconds while 1, 2, 3... contexts compute.
    fn burst(busy: u32) -> f64 {
        2.0 - 0.5f64.powi(busy as i32 - 1)
    }

    /// The cycle from the balance of all 2^m states, each of which says for each thread whether it is
    /// at the host.
    fn cycle_by_enumeration(m: u32, contexts: u32, think: f64) -> f64 {
        let states = 1usize << m;
        let total = |state: usize| {
            let busy = state.count_ones().min(contexts);
            if busy == 0 { 0.0 } else { f64::from(busy) / burst(busy) }
        };
        let mut balance = DMatrix::zeros(states, states);
        for state in 0..states {
            for thread in 0..m {
                let other = state ^ (1 << thread);
                let is_at_host = state & (1 << thread) != 0;
                let rate = if is_at_host {
                    total(state) / f64::from(state.count_ones())
                } else {
                    1.0 / think
                };
                balance[(other, state)] += rate;
                balance[(state, state)] -= rate;
            }
        }
        balance.row_mut(0).fill(1.0);
        let mut one = DVector::zeros(states);
        one[0] = 1.0;
        let probability = balance.lu().solve(&one).unwrap();
        let visits: f64 = (0..states).map(|state| probability[state] * total(state)).sum();
        f64::from(m) / visits
    }

    #[test]
    fn the_cycle_is_that_of_all_states_of_a_small_network() {
        for (m, contexts, think) in
            [(1, 1, 2.0), (2, 1, 0.5), (3, 2, 4.0), (4, 2, 1.0), (5, 3, 10.0), (4, 8, 0.25)]
        {
            let found = visit(m, contexts, think, burst);
            let cycle = think + found.computing + found.waiting;
            let expected = cycle_by_enumeration(m, contexts, think);
            approx::assert_relative_eq!(cycle, expected, max_relative = 1e-12);
        }
    }

    #[test]
    fn one_context_is_the_machine_repairman_by_hand() {
        // Two threads, burst 1, think 1: weights 1, 2, 2 for 0, 1, 2 at the host; 4/5 visits a
        // second, so a cycle of 2.5, of which half a second is spent waiting.
        let found = visit(2, 1, 1.0, burst);
        approx::assert_relative_eq!(found.computing, 1.0, max_relative = 1e-15);
        approx::assert_relative_eq!(found.waiting, 0.5, max_relative = 1e-15);
    }

    #[test]
    fn weights_of_many_threads_do_not_overflow() {
        // Nearly all threads always think: nobody waits, and nobody is disturbed.
        let found = visit(100_000, 200_000, 1e12, burst);
        approx::assert_relative_eq!(found.computing, 1.0, max_relative = 1e-6);
        assert_eq!(found.waiting, 0.0);
        // And where none does, all wait for the others.
        let found = visit(100_000, 2, 1e-9, burst);
        approx::assert_relative_eq!(found.waiting, 0.75 * 1e5, max_relative = 1e-4);
    }

    /// Mean time at the host and its standard error, from threads that think for a time uniform
    /// between 0 and twice `think` and share the contexts in bursts that are all of the same length.
    fn simulated(m: usize, contexts: u32, think: f64, seed: u64) -> (f64, f64) {
        const BATCHES: usize = 50;
        const VISITS: usize = 4000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut thought = || 2.0 * think * random.random::<f64>();
        // For each thread the time until it arrives, or the work left and the time since it did.
        let mut thinking: Vec<Option<f64>> = (0..m).map(|_| Some(thought())).collect();
        let mut at_host = vec![(0.0, 0.0); m];
        let mut means = Vec::new();
        for _ in 0..BATCHES {
            let (mut sum, mut visits) = (0.0, 0);
            while visits < VISITS {
                let present = thinking.iter().filter(|it| it.is_none()).count() as u32;
                let busy = present.min(contexts);
                let speed = if busy == 0 {
                    0.0
                } else {
                    f64::from(busy) / burst(busy) / f64::from(present)
                };
                let until =
                    |thread: usize| thinking[thread].unwrap_or_else(|| at_host[thread].0 / speed);
                let next = (0..m).min_by(|&a, &b| until(a).total_cmp(&until(b))).unwrap();
                let step = until(next);
                for thread in 0..m {
                    match &mut thinking[thread] {
                        Some(left) => *left -= step,
                        None => {
                            at_host[thread].0 -= step * speed;
                            at_host[thread].1 += step;
                        }
                    }
                }
                if thinking[next].is_some() {
                    (thinking[next], at_host[next]) = (None, (1.0, 0.0));
                } else {
                    thinking[next] = Some(thought());
                    sum += at_host[next].1;
                    visits += 1;
                }
            }
            means.push(sum / VISITS as f64);
        }
        let mean = means.iter().sum::<f64>() / BATCHES as f64;
        let squares: f64 = means.iter().map(|each| (each - mean).powi(2)).sum();
        (mean, (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt())
    }

    #[test]
    fn bursts_of_equal_length_on_shared_contexts_take_as_long() {
        for (m, contexts, think, seed) in [(6, 2, 4.0, 1), (4, 4, 1.0, 2)] {
            let found = visit(m, contexts, think, burst);
            let (mean, error) = simulated(m as usize, contexts, think, seed);
            let deviation = (found.computing + found.waiting - mean) / error;
            assert!(deviation.abs() < 4.0, "{found:?}, simulated {mean} +- {error}");
            assert!(error < 0.01 * mean);
        }
    }

    #[test]
    fn whatever_a_thread_is_away_for_leaves_the_host_to_others() {
        let mut parameters = crate::toy::parameters(Decomposition::Data);
        parameters.terms.alpha = OverM::Constant(Estimate::exact(1.0));
        let terms = Breakdown {
            hpu_s: 2.0,
            apu_s: 1.0,
            apu_serial_s: 2.0,
            offload_s: 4.0,
            context_switch_s: 0.75,
            collective_s: 8.0,
            gap_s: 0.25,
        };
        let refined = RefinedBreakdown {
            terms,
            uneven_division_s: 16.0,
            memory_contention_s: 32.0,
            exposed_transfer_s: 64.0,
            work_growth_s: 128.0,
            host_queueing_s: 0.0,
        };
        // Two threads on one context: T_HPU 2, a switch and a gap make bursts of 3 s, the others 255 s
        // away. One finds the other there for b/(b + z) of a burst.
        let found = with_contexts(&parameters, refined, 2, 1);
        approx::assert_relative_eq!(found.host_queueing_s, 9.0 / 258.0, max_relative = 1e-12);
        approx::assert_relative_eq!(found.terms.hpu_s, 2.0, max_relative = 1e-12);
    }
}
