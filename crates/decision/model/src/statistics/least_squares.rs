//! Weighted linear least squares.
//!
//! The coefficients b that make `sum of w*(y - X*b)^2` least. Columns may be seconds and numbers of bytes,
//! so each is brought to length 1 before the normal equations are solved; what is singular then is so.

use nalgebra::{DMatrix, DVector};

/// Columns, with a weight for each row, of which the normal equations have been solved.
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
