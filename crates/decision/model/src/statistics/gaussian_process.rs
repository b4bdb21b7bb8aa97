//! The misfit as a Gaussian process: how alike it is at two configurations, and what observations say of it.

use mmgp_base::Mapping;
use nalgebra::{Cholesky, DMatrix, DVector, Dim, Dyn, OMatrix};

/// The exponential kernel over (log m, log p), the Matern kernel of smoothness 1/2: `exp(-d)` of the
/// distance d in units of a length; 1 for the same configuration. What it makes is continuous and has
/// kinks, as times have where a bandwidth or a socket is full.
pub(crate) fn kernel(one: Mapping, other: Mapping, length: f64) -> f64 {
    let along = |of: fn(Mapping) -> u32| (f64::from(of(one)) / f64::from(of(other))).ln();
    let distance = along(Mapping::m).hypot(along(Mapping::p)) / length;
    (-distance).exp()
}

/// Normal quantities, given observations of some that are correlated with them.
#[derive(Debug, Clone)]
pub(crate) struct GaussianUpdate {
    factor: Cholesky<f64, Dyn>,
    /// The inverse of the observations' covariance times what the mean misses them by.
    pull: DVector<f64>,
    /// The logarithm of the density of what is missed.
    pub log_density: f64,
}

impl GaussianUpdate {
    /// Observations with this covariance, noise included, that the mean misses by so much; `None` where it
    /// is no covariance.
    pub fn observed(covariance: DMatrix<f64>, missed: &DVector<f64>) -> Option<Self> {
        let factor = covariance.cholesky()?;
        let pull = factor.solve(missed);
        let constant = 0.5 * missed.len() as f64 * std::f64::consts::TAU.ln();
        let log_density = -0.5 * missed.dot(&pull) - log_root(&factor) - constant;
        Some(Self { factor, pull, log_density })
    }

    /// No observations.
    pub fn nothing() -> Self {
        let none = Self::observed(DMatrix::zeros(0, 0), &DVector::zeros(0));
        none.expect("invariant: nothing has a covariance")
    }

    /// What observations add to the mean of a quantity with these covariances with them is the product
    /// of both.
    pub fn pull(&self) -> &DVector<f64> {
        &self.pull
    }

    /// Covariances with the observations (rows), such that products of two columns are what observations
    /// take away from the covariance of two quantities.
    pub fn whitened<C: Dim>(&self, mut cross: OMatrix<f64, Dyn, C>) -> OMatrix<f64, Dyn, C>
    where
        nalgebra::DefaultAllocator: nalgebra::allocator::Allocator<Dyn, C>,
    {
        let factor = self.factor.l_dirty();
        let size = cross.nrows();
        if cross.ncols() <= size {
            factor.solve_lower_triangular_mut(&mut cross);
            return cross;
        }
        // One product of matrices takes a third of the time of so many substitutions.
        let mut inverse = DMatrix::identity(size, size);
        factor.solve_lower_triangular_mut(&mut inverse);
        inverse * cross
    }

    /// Observations as all others predict each: what it is off by, and the variance of that.
    pub fn each_by_the_others(&self) -> impl Iterator<Item = (f64, f64)> {
        let size = self.pull.len();
        let inverse = self.whitened(DMatrix::identity(size, size));
        (0..size).map(move |place| {
            let variance = 1.0 / inverse.column(place).norm_squared();
            (self.pull[place] * variance, variance)
        })
    }
}

/// The logarithm of the root of the determinant of what has this factor.
pub(crate) fn log_root(factor: &Cholesky<f64, Dyn>) -> f64 {
    factor.l_dirty().diagonal().iter().map(|pivot| pivot.ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_observations_by_hand() {
        // [[4, 2], [2, 5]] has the inverse [[5, -2], [-2, 4]]/16.
        let covariance = DMatrix::from_row_slice(2, 2, &[4.0, 2.0, 2.0, 5.0]);
        let given =
            GaussianUpdate::observed(covariance, &DVector::from_column_slice(&[1.0, 2.0])).unwrap();
        approx::assert_relative_eq!(given.pull()[0], 1.0 / 16.0, max_relative = 1e-12);
        approx::assert_relative_eq!(given.pull()[1], 6.0 / 16.0, max_relative = 1e-12);
        let density = -0.5 * 13.0 / 16.0 - 4.0_f64.ln() - std::f64::consts::TAU.ln();
        approx::assert_relative_eq!(given.log_density, density, max_relative = 1e-12);
        // The first as the second predicts it: 2*2/5, with a variance of 4 - 2*2/5.
        let (off, variance) = given.each_by_the_others().next().unwrap();
        approx::assert_relative_eq!(off, 0.2, max_relative = 1e-12);
        approx::assert_relative_eq!(variance, 3.2, max_relative = 1e-12);
        // A quantity with covariances 2 and 1: 2*2*5 - 2*2*2*1 + 4, over 16, are taken away.
        let white = given.whitened(DVector::from_column_slice(&[2.0, 1.0]));
        approx::assert_relative_eq!(white.norm_squared(), 1.0, max_relative = 1e-12);
    }

    #[test]
    fn without_observations_nothing_is_taken_away() {
        let given = GaussianUpdate::nothing();
        assert_eq!(given.whitened(DMatrix::zeros(0, 3)).norm_squared(), 0.0);
        assert_eq!((given.log_density, given.pull().len()), (0.0, 0));
    }

    #[test]
    fn the_misfit_of_a_factor_of_four_is_alike_by_three_fifths() {
        let alike = |(m, p), (n, q)| kernel(Mapping::of(m, p), Mapping::of(n, q), 2.8);
        assert_eq!(alike((4, 2), (4, 2)), 1.0);
        // d = ln 4/2.8 = 0.495105.
        approx::assert_relative_eq!(alike((1, 2), (4, 2)), 0.609_507, max_relative = 1e-5);
        assert_eq!(alike((1, 2), (4, 2)), alike((8, 3), (8, 12)));
    }
}
