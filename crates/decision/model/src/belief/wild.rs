//! Runs that no model and no neighbour explains: a time of three times what it should be.
//!
//! A configuration that ran once is wild or is not, a priori with [`PROBABILITY`]. Whether it is
//! is judged by the evidence of all components with and without a variance of 1 more for that run,
//! by an update of rank one; the most likely is marked, everything is fitted again, and so on while
//! one is likely enough. A run at the edge of what was timed, as (1, 1) often is, may be what no
//! other tells, and is never marked.

use super::components::{Component, Data};
use crate::statistics::log_sum;
use mmgp_base::Mapping;

/// How likely a single run is wild beforehand.
const PROBABILITY: f64 = 0.01;

/// How likely it must be for a run to be marked.
const ENOUGH: f64 = 0.9;

/// Components below this part of the heaviest say nothing of it.
const HEAVY: f64 = 1e-2;

/// The further variance of the logarithm of a wild run: a factor of e either way.
pub(super) const WILD_VARIANCE: f64 = 1.0;

/// At most one in so many is marked.
pub(super) const FEWEST_FOR_ONE: usize = 5;

/// The place of the run that is wild, where one is likely enough to be.
pub(super) fn wildest(data: &Data, components: &[Component], temper: f64) -> Option<usize> {
    let may_be = |place: usize| {
        data.repetitions[place] < 2.0 && data.wildness[place] == 0.0 && is_surrounded(data, place)
    };
    let places: Vec<usize> = (0..data.timed()).filter(|&place| may_be(place)).collect();
    if places.is_empty() {
        return None;
    }
    let weights = components.iter().map(|component| component.log_weight);
    let largest = weights.fold(f64::NEG_INFINITY, f64::max);
    let is_heavy = |component: &&Component| component.log_weight > largest + HEAVY.ln();
    let components: Vec<&Component> = components.iter().filter(is_heavy).collect();
    // Logarithms of the evidence of each component, and with each run wild.
    let usual: Vec<f64> =
        components.iter().map(|component| component.log_weight / temper).collect();
    let mut with_wild = vec![Vec::with_capacity(components.len()); places.len()];
    for (component, usual) in components.iter().zip(&usual) {
        let by_the_others: Vec<(f64, f64)> = component.given.each_by_the_others().collect();
        for (with_wild, &place) in with_wild.iter_mut().zip(&places) {
            let (error, variance) = by_the_others[place];
            let wide = variance + WILD_VARIANCE;
            let gain =
                0.5 * error * error * (1.0 / variance - 1.0 / wide) - 0.5 * (wide / variance).ln();
            with_wild.push(usual + gain);
        }
    }
    let without = log_sum(&usual);
    let factors = with_wild.iter().map(|with_wild| log_sum(with_wild) - without);
    let (best, factor) = factors.enumerate().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let odds = (1.0 - PROBABILITY) / PROBABILITY * ENOUGH / (1.0 - ENOUGH);
    (factor >= odds.ln()).then_some(places[best])
}

/// Whether others say what a run should take without going beyond what they are: in m, p and m p.
fn is_surrounded(data: &Data, place: usize) -> bool {
    let measures: [fn(Mapping) -> u64; 3] =
        [|it| u64::from(it.m()), |it| u64::from(it.p()), Mapping::apus];
    measures.into_iter().all(|of| {
        let own = of(data.mappings[place]);
        let others = || {
            let others = data.mappings.iter().enumerate().filter(|(other, _)| *other != place);
            others.map(|(_, &mapping)| of(mapping))
        };
        others().any(|other| other <= own) && others().any(|other| other >= own)
    })
}
