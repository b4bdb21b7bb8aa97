//! How alike the misfit of two configurations is.

use mmgp_base::Mapping;

/// Over so much of a logarithm of m or p, a factor of 4, the misfit stays alike.
const LENGTH: f64 = 1.4;

/// The Matern kernel of smoothness 3/2 over (log m, log p): `(1 + sqrt(3) d) exp(-sqrt(3) d)` of the
/// distance d in [`LENGTH`]s; 1 for the same configuration.
pub(super) fn kernel(one: Mapping, other: Mapping) -> f64 {
    let along = |of: fn(Mapping) -> u32| (f64::from(of(one)) / f64::from(of(other))).ln();
    let distance = along(Mapping::m).hypot(along(Mapping::p)) / LENGTH;
    let scaled = 3.0_f64.sqrt() * distance;
    (1.0 + scaled) * (-scaled).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_misfit_of_a_factor_of_four_is_half_alike() {
        assert_eq!(kernel(Mapping::of(4, 2), Mapping::of(4, 2)), 1.0);
        // d = ln 4/1.4 = 0.990211; sqrt(3) d = 1.715095; (1 + 1.715095)*exp(-1.715095).
        let expected = 0.488_590;
        approx::assert_relative_eq!(
            kernel(Mapping::of(1, 2), Mapping::of(4, 2)),
            expected,
            max_relative = 1e-4
        );
        assert_eq!(
            kernel(Mapping::of(1, 2), Mapping::of(4, 2)),
            kernel(Mapping::of(8, 3), Mapping::of(8, 12))
        );
    }
}
