//! How alike the misfit of two configurations is.

use mmgp_base::Mapping;

/// Over so much of a logarithm of m or p, a factor of 16, the misfit stays alike.
const LENGTH: f64 = 2.8;

/// The exponential kernel over (log m, log p), the Matern kernel of smoothness 1/2: `exp(-d)` of the
/// distance d in [`LENGTH`]s; 1 for the same configuration. What it makes is continuous and has
/// kinks, as times have where a bandwidth or a socket is full.
pub(super) fn kernel(one: Mapping, other: Mapping) -> f64 {
    let along = |of: fn(Mapping) -> u32| (f64::from(of(one)) / f64::from(of(other))).ln();
    let distance = along(Mapping::m).hypot(along(Mapping::p)) / LENGTH;
    (-distance).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_misfit_of_a_factor_of_four_is_alike_by_three_fifths() {
        let alike = |(m, p), (n, q)| kernel(Mapping::of(m, p), Mapping::of(n, q));
        assert_eq!(alike((4, 2), (4, 2)), 1.0);
        // d = ln 4/2.8 = 0.495105.
        approx::assert_relative_eq!(alike((1, 2), (4, 2)), 0.609_507, max_relative = 1e-5);
        assert_eq!(alike((1, 2), (4, 2)), alike((8, 3), (8, 12)));
    }
}
