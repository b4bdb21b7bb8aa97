//! Statistics that know nothing of the model: means of repetitions, least squares, quantiles, the normal
//! distribution, and a Gaussian process given observations.

mod gaussian_process;
mod least_squares;

use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::erf::erfc_inv;

pub(crate) use gaussian_process::{GaussianUpdate, kernel, log_root};
pub(crate) use least_squares::Design;

/// Mean of a sample, with its standard error where there are two values or more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mean {
    pub value: f64,
    pub std_error: Option<f64>,
    /// Degrees of freedom of the standard error.
    pub degrees_of_freedom: f64,
    /// Values in the sample.
    pub count: u64,
}

impl Mean {
    /// Mean of at least one value. Values that are all the same have themselves as the mean and a standard
    /// error of exactly 0, without rounding.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let first = values[0];
        let value = first + values.iter().map(|each| each - first).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|each| (each - value).powi(2)).sum();
        let std_error = (values.len() >= 2).then(|| (squares / (count - 1.0) / count).sqrt());
        Self { value, std_error, degrees_of_freedom: count - 1.0, count: values.len() as u64 }
    }

    /// The same quantity in a unit that is `divisor` times as large.
    pub fn per(self, divisor: f64) -> Self {
        let std_error = self.std_error.map(|error| error / divisor);
        Self { value: self.value / divisor, std_error, ..self }
    }
}

/// The probability of less.
pub(crate) fn below(z: f64) -> f64 {
    above(-z)
}

/// The probability of more, whose relative error is small where it is small.
pub(crate) fn above(z: f64) -> f64 {
    0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

pub(crate) fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
}

/// The value that is not exceeded with a probability.
pub(crate) fn quantile(probability: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * probability)
}

/// Excess of a deviate over -z on the average, counting 0 where there is none: `z*Phi(z) + phi(z)`, the
/// expected improvement in standard deviations (J. Mockus, 1975; D. R. Jones, J. Global Optim. 13, 1998).
pub(crate) fn beyond(z: f64) -> f64 {
    // Rounding may leave less than nothing where both cancel.
    (z * below(z) + density(z)).max(0.0)
}

/// A draw.
pub(crate) fn deviate(random: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(random)
}

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
    student_quantile(0.975, degrees_of_freedom.unwrap_or(f64::INFINITY))
}

/// The quantile of Student's distribution with so many degrees of freedom, at least 1: of the normal
/// distribution with infinitely many.
pub fn student_quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom >= 1e6 {
        return Normal::standard().inverse_cdf(probability);
    }
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom.max(1.0));
    student.expect("invariant: there is at least one degree of freedom").inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_of_a_mean_by_hand() {
        // Deviations -1, 0, 1: variance 1, standard error sqrt(1/3).
        let mean = Mean::of(&[2.0, 3.0, 4.0]);
        assert_eq!((mean.value, mean.degrees_of_freedom, mean.count), (3.0, 2.0, 3));
        approx::assert_relative_eq!(mean.std_error.unwrap(), (1.0_f64 / 3.0).sqrt());
        assert_eq!(Mean::of(&[5.0]).std_error, None);
    }

    #[test]
    fn the_table_in_the_back_of_every_book() {
        approx::assert_relative_eq!(below(1.0), 0.841_344_746, max_relative = 1e-9);
        approx::assert_relative_eq!(above(6.0), 9.865_876_45e-10, max_relative = 1e-8);
        approx::assert_relative_eq!(density(1.0), 0.241_970_725, max_relative = 1e-8);
        approx::assert_relative_eq!(quantile(0.975), 1.959_963_985, max_relative = 1e-9);
    }

    #[test]
    fn a_deviate_exceeds_0_by_its_density_there_on_the_average() {
        approx::assert_relative_eq!(beyond(0.0), density(0.0), max_relative = 1e-15);
        approx::assert_relative_eq!(beyond(10.0), 10.0, max_relative = 1e-12);
        assert_eq!(beyond(-40.0), 0.0);
    }

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
