//! Statistics that know nothing of the model: means of repetitions, least squares, quantiles, the normal
//! distribution, and a Gaussian process given observations.

use nalgebra::{Cholesky, DMatrix, DVector, Dim, Dyn, OMatrix};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::erf::erfc_inv;

use mmgp_base::Mapping;

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

/// Weighted linear least squares: columns with a weight for each row, of which the normal equations have
/// been solved.
///
/// The coefficients b make `sum of w*(y - X*b)^2` least. Columns may be seconds and numbers of bytes, so each
/// is brought to length 1 before the normal equations are solved; what is singular then is so.
#[derive(Debug, Clone)]
pub(crate) struct Design {
    /// Rows times the roots of their weights, in columns of length 1.
    scaled: DMatrix<f64>,
    lengths: Vec<f64>,
    roots: Vec<f64>,
    /// Inverse of `scaled' * scaled`.
    inverse: DMatrix<f64>,
}

/// What makes the squares least.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub coefficients: Vec<f64>,
    /// Distance by which each row is missed, times the root of its weight.
    pub residuals: DVector<f64>,
}

/// No eigenvalue of the columns' products is less: of unit columns these add up to the number of columns.
const SINGULAR: f64 = 1e-9;

impl Design {
    /// Design of one row for each observation, one column for each coefficient; `None` where the rows do
    /// not tell the columns apart.
    pub fn new(mut columns: DMatrix<f64>, weights: impl Iterator<Item = f64>) -> Option<Self> {
        let roots: Vec<f64> = weights.map(f64::sqrt).collect();
        for (mut row, root) in columns.row_iter_mut().zip(&roots) {
            row *= *root;
        }
        let lengths: Vec<f64> = columns.column_iter().map(|column| column.norm()).collect();
        for (mut column, length) in columns.column_iter_mut().zip(&lengths) {
            column /= *length;
        }
        let products = columns.tr_mul(&columns);
        let is_finite = products.iter().all(|each| each.is_finite());
        if !is_finite || products.symmetric_eigenvalues().min() <= SINGULAR {
            return None;
        }
        let inverse = products.cholesky()?.inverse();
        Some(Self { scaled: columns, lengths, roots, inverse })
    }

    /// What each coefficient is by each observation, a row for each coefficient: `(X'WX)^-1 X'W`.
    pub fn response(&self) -> DMatrix<f64> {
        let mut response = &self.inverse * self.scaled.transpose();
        for (mut row, length) in response.row_iter_mut().zip(&self.lengths) {
            row /= *length;
        }
        for (mut column, root) in response.column_iter_mut().zip(&self.roots) {
            column *= *root;
        }
        response
    }

    /// The lengths of the weighted columns.
    pub fn lengths(&self) -> &[f64] {
        &self.lengths
    }

    /// The variances of the coefficients where that of an observation of weight 1 is 1.
    pub fn variances(&self) -> Vec<f64> {
        let of = |(variance, length): (&f64, &f64)| variance / length.powi(2);
        self.inverse.diagonal().iter().zip(&self.lengths).map(of).collect()
    }

    pub fn solve(&self, observed: &[f64]) -> Solution {
        let observed = observed.iter().zip(&self.roots).map(|(each, root)| each * root);
        let observed = DVector::from_iterator(self.roots.len(), observed);
        let solved = &self.inverse * self.scaled.tr_mul(&observed);
        let residuals = observed - &self.scaled * &solved;
        let unscaled = solved.iter().zip(&self.lengths).map(|(each, length)| each / length);
        Solution { coefficients: unscaled.collect(), residuals }
    }

    /// How much of what each row is fitted to is the row itself: 1 where nothing else tells of it.
    pub fn leverages(&self) -> Vec<f64> {
        let rows = self.scaled.row_iter();
        rows.map(|row| (row * &self.inverse * row.transpose())[(0, 0)]).collect()
    }
}

impl Solution {
    /// The weighted sum of squares that is left.
    pub fn squares(&self) -> f64 {
        self.residuals.norm_squared()
    }
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

    /// A line through (0, 1), (1, 3), (2, 4) with weights 1, 1, 2, x in units of a billion.
    fn line() -> Design {
        let x = [0.0, 1e9, 2e9];
        let columns = DMatrix::from_fn(3, 2, |row, column| if column == 0 { 1.0 } else { x[row] });
        Design::new(columns, [1.0, 1.0, 2.0].into_iter()).unwrap()
    }

    #[test]
    fn a_weighted_line_by_hand() {
        // Means 1.25 and 3, S_xx = 2.75, S_xy = 4: slope 16/11, intercept 13/11; what is missed is
        // -2/11, 4/11, -1/11.
        let found = line().solve(&[1.0, 3.0, 4.0]);
        approx::assert_relative_eq!(found.coefficients[0], 13.0 / 11.0, max_relative = 1e-12);
        approx::assert_relative_eq!(found.coefficients[1], 16e-9 / 11.0, max_relative = 1e-12);
        approx::assert_relative_eq!(found.squares(), 22.0 / 121.0, max_relative = 1e-12);
        let variances = line().variances();
        approx::assert_relative_eq!(variances[1], 1e-18 / 2.75, max_relative = 1e-12);
        approx::assert_relative_eq!(
            variances[0],
            0.25 + 1.25_f64.powi(2) / 2.75,
            max_relative = 1e-12
        );
    }

    #[test]
    fn the_response_makes_the_coefficients_and_leverages_add_up_to_them() {
        let design = line();
        let made = design.response() * DVector::from_column_slice(&[1.0, 3.0, 4.0]);
        let found = design.solve(&[1.0, 3.0, 4.0]).coefficients;
        approx::assert_relative_eq!(made[0], found[0], max_relative = 1e-12);
        approx::assert_relative_eq!(made[1], found[1], max_relative = 1e-12);
        approx::assert_relative_eq!(
            design.leverages().iter().sum::<f64>(),
            2.0,
            max_relative = 1e-12
        );
    }

    #[test]
    fn columns_that_are_alike_or_empty_have_no_solution() {
        let alike = DMatrix::from_fn(3, 2, |row, column| (row + 1) as f64 * (column + 1) as f64);
        assert!(Design::new(alike, [1.0; 3].into_iter()).is_none());
        let empty = DMatrix::from_fn(3, 2, |row, column| (row * column) as f64 * 0.0);
        assert!(Design::new(empty, [1.0; 3].into_iter()).is_none());
    }
}
