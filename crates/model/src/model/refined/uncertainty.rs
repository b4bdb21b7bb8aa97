//! How sure a refined time is.

use super::super::parameters::{Estimate, Parameters};
use super::super::sensitivity::Entry;
use super::super::uncertainty::StandardError;
use super::Refinements;
use mmgp_base::Mapping;

/// The step of a difference, relative to the value: the error of a central difference is of second
/// order in it, that of rounding of the inverse first.
const STEP: f64 = 1e-5;

impl Parameters {
    /// `dT/dx` of the refined time with respect to every entry of the terms, by central differences
    /// with a step of 1e-5 of the value; 0 for a value of 0 that has no standard error, a one-sided
    /// difference where it has one.
    ///
    /// At the kinks of the refined model (where memory begins to bind, where a count of iterations
    /// is divided evenly) it is a value between the slopes of both sides.
    pub fn refined_gradient(&self, mapping: Mapping) -> Vec<(Entry, f64)> {
        let slope = |entry: Entry| {
            let estimate = self.terms.estimate(entry)?;
            let slope = difference(estimate, |value| {
                let mut moved = self.clone();
                moved.terms.estimate_mut(entry)?.value = value;
                Some(moved.refined_time(mapping).0)
            })?;
            Some((entry, slope))
        };
        self.terms.entries().into_iter().filter_map(slope).collect()
    }

    /// The standard error of the refined time, to first order: that of the terms with their
    /// correlation, and that of the refined terms, each of which errs on its own.
    pub fn refined_standard_error(&self, mapping: Mapping) -> StandardError {
        let of_terms = self.propagated(&self.refined_gradient(mapping));
        let mut variance = of_terms.value.powi(2);
        for pick in MEASURED {
            let Some(estimate) = self.refinements.as_ref().and_then(|it| picked(it, pick)) else {
                continue;
            };
            let slope = difference(&estimate, |value| {
                let mut moved = self.clone();
                pick(moved.refinements.as_mut()?)?.value = value;
                Some(moved.refined_time(mapping).0)
            });
            variance += (slope.unwrap_or(0.0) * estimate.std_error.unwrap_or(0.0)).powi(2);
        }
        StandardError { value: variance.sqrt(), freedom: of_terms.freedom }
    }
}

type Pick = fn(&mut Refinements) -> Option<&mut Estimate>;

/// The refined terms that are measured, not counted.
const MEASURED: [Pick; 4] = [
    |it| it.exposed_transfer_s.as_mut(),
    |it| it.memory.as_mut().map(|memory| &mut memory.demand_bytes_per_s),
    |it| it.memory.as_mut().map(|memory| &mut memory.bandwidth_bytes_per_s),
    |it| it.work_growth_s.as_mut(),
];

fn picked(refinements: &Refinements, pick: Pick) -> Option<Estimate> {
    pick(&mut refinements.clone()).cloned()
}

/// The slope of `time` at the estimate's value.
fn difference(estimate: &Estimate, time: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let value = estimate.value;
    let step = if value > 0.0 { STEP * value } else { estimate.std_error.unwrap_or(0.0) };
    if step == 0.0 {
        return Some(0.0);
    }
    let below = (value - step).max(0.0);
    Some((time(value + step)? - time(below)?) / (value + step - below))
}
