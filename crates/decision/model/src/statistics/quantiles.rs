//! Quantiles of values, and of Student's distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The middle of the values, or of both in the middle; `None` of nothing.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// The least of (value, weight) that half of the weight does not exceed; 0 of nothing.
pub(crate) fn weighted_median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * values.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut before = 0.0;
    let is_there = |(_, weight): &&(f64, f64)| {
        before += weight;
        before >= half
    };
    values.iter().find(is_there).map_or(0.0, |(value, _)| *value)
}

/// The least of some values that at least a share of them does not exceed. They are put in another order.
pub(crate) fn least_of_most(values: &mut [f64], share: f64) -> f64 {
    let place = place_of_most(values.len(), share);
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// The place of that among so many values in increasing order; 0 of none.
pub(crate) fn place_of_most(count: usize, share: f64) -> usize {
    let within = (share * count as f64).ceil() as usize;
    within.clamp(1, count.max(1)) - 1
}

/// The logarithm of the sum of what these are the logarithms of.
pub(crate) fn log_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}

/// The 97.5 % quantile of Student's distribution with so many degrees of freedom, of the normal
/// distribution without any: half the width of a 95 % interval in standard errors.
pub fn quantile_97_5(degrees_of_freedom: Option<f64>) -> f64 {
    match degrees_of_freedom {
        Some(degrees_of_freedom) if degrees_of_freedom < 1e6 => {
            let student = StudentsT::new(0.0, 1.0, degrees_of_freedom.max(1.0));
            student.expect("invariant: there is at least one degree of freedom").inverse_cdf(0.975)
        }
        _ => Normal::standard().inverse_cdf(0.975),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Two-sided 5 % points, as every table of Student's distribution has them.
        for (degrees_of_freedom, expected) in [(1.0, 12.7062), (2.0, 4.30265), (10.0, 2.22814)] {
            approx::assert_relative_eq!(
                quantile_97_5(Some(degrees_of_freedom)),
                expected,
                max_relative = 1e-5
            );
        }
        approx::assert_relative_eq!(quantile_97_5(None), 1.959964, max_relative = 1e-6);
    }

    #[test]
    fn of_endless_degrees_of_freedom_the_quantile_is_the_normal_one() {
        for many in [1e6, 1e12, 1e300, f64::INFINITY] {
            assert_eq!(quantile_97_5(Some(many)), quantile_97_5(None));
        }
    }

    #[test]
    fn a_quantile_is_the_smallest_value_that_enough_do_not_exceed() {
        let mut values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(least_of_most(&mut values, 0.95), 95.0);
        assert_eq!(least_of_most(&mut [3.0], 0.95), 3.0);
    }

    #[test]
    fn a_median_is_the_middle_one_or_between_both() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), Some(3.0));
        assert_eq!(median(Vec::new()), None);
        assert_eq!(weighted_median(vec![(3.0, 1.0), (1.0, 1.0), (2.0, 3.0)]), 2.0);
        assert_eq!(weighted_median(Vec::new()), 0.0);
    }
}
