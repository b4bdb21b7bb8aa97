//! The refined model as a [`TimeModel`]: the values of equation 11, then the refined terms that are
//! measured and not counted.

use std::ops::RangeInclusive;

use super::super::parameters::{Estimate, Parameters};
use super::super::sensitivity::Entry;
use super::super::time_model::{Part, REFINED, TimeModel, Value};
use super::Refinements;
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
