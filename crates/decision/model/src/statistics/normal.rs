//! The standard normal distribution.

use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::function::erf::erfc_inv;

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

/// By how much a deviate exceeds -z on the average, counting 0 where it does not:
/// `z*Phi(z) + phi(z)`, the expected improvement in standard deviations (J. Mockus, 1975; D. R. Jones,
/// J. Global Optim. 13, 1998).
pub(crate) fn beyond(z: f64) -> f64 {
    // Rounding may leave less than nothing where both cancel.
    (z * below(z) + density(z)).max(0.0)
}

/// A draw.
pub(crate) fn deviate(random: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(random)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
