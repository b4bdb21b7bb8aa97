//! What was measured of a term over m: a mean at each m, and where the errors of these come from.

use nalgebra::DMatrix;

use crate::models::sensitivity::StandardError;

/// What a term is measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointScale {
    /// A ratio to the value at m = 1, which is the first point and is 1.
    RelativeToOne,
    /// A quantity of its own; no point is at m = 1.
    Absolute,
}

/// Means at increasing m.
#[derive(Debug, Clone)]
pub(crate) struct Points {
    pub scale: PointScale,
    pub m: Vec<u32>,
    pub values: Vec<f64>,
    /// Observations behind each value.
    pub counts: Vec<f64>,
    /// Independent errors from repetition to repetition.
    pub parts: Vec<ErrorSource>,
    /// Deviation of each kind of measurement that was averaged (sizes of a matrix, operations) at each
    /// value, over the number of kinds that have one there.
    pub kinds: Vec<Vec<Option<f64>>>,
}

/// An error that some of the points have in common.
#[derive(Debug, Clone)]
pub(crate) struct ErrorSource {
    /// Variance; `None` where nothing was repeated.
    pub variance: Option<f64>,
    /// Degrees of freedom of the variance.
    pub degrees_of_freedom: f64,
    /// Error of each point that it touches if it is 1.
    pub loadings: Vec<(usize, f64)>,
}

/// What the standard errors are taken from.
#[derive(Debug, Clone)]
pub(crate) enum Spread {
    /// Scatter of repetitions.
    Repetitions,
    /// Differences of the averaged kinds, which repetitions are part of.
    Kinds,
    /// Misses of a formula: the relative variance of one observation and its degrees of freedom.
    Misfit {
        /// Relative variance of one observation.
        variance: f64,
        /// Degrees of freedom of the variance.
        degrees_of_freedom: f64,
    },
}

impl Points {
    /// The points but the one with that index; for a fit only, as it has no errors.
    pub fn without(&self, left_out: usize) -> Self {
        fn kept<T: Copy>(of: &[T], left_out: usize) -> Vec<T> {
            (0..of.len()).filter(|&index| index != left_out).map(|index| of[index]).collect()
        }
        Self {
            scale: self.scale,
            m: kept(&self.m, left_out),
            values: kept(&self.values, left_out),
            counts: kept(&self.counts, left_out),
            parts: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// The indices of the points above m = 1.
    pub fn above_one(&self) -> std::ops::Range<usize> {
        usize::from(self.scale == PointScale::RelativeToOne)..self.m.len()
    }

    /// The gradient of the point with that index.
    pub fn unit(&self, index: usize) -> Vec<f64> {
        (0..self.m.len()).map(|each| f64::from(u8::from(each == index))).collect()
    }

    /// The standard error of a quantity with this gradient over the points.
    pub fn error(&self, spread: &Spread, gradient: &[f64]) -> Option<StandardError> {
        match spread {
            Spread::Repetitions => of_parts(&self.parts, gradient),
            Spread::Kinds => self.of_kinds(gradient),
            Spread::Misfit { variance, degrees_of_freedom } => {
                let error = of_parts(&self.misfit_parts(*variance, *degrees_of_freedom), gradient)?;
                Some(StandardError { degrees_of_freedom: Some(*degrees_of_freedom), ..error })
            }
        }
    }

    /// The covariance of quantities with these gradients, one a row.
    pub fn covariance(&self, spread: &Spread, gradients: &DMatrix<f64>) -> Option<DMatrix<f64>> {
        let mut covariance = DMatrix::zeros(gradients.nrows(), gradients.nrows());
        let mut add = |variance: f64, errors: Vec<f64>| {
            let errors = gradients * nalgebra::DVector::from_vec(errors);
            covariance += variance * &errors * errors.transpose();
        };
        let misfit = match spread {
            Spread::Misfit { variance, degrees_of_freedom } => {
                self.misfit_parts(*variance, *degrees_of_freedom)
            }
            _ => Vec::new(),
        };
        match spread {
            Spread::Kinds => {
                let count = self.kinds.len() as f64;
                for kind in &self.kinds {
                    let errors = kind.iter().map(|each| each.unwrap_or(0.0)).collect();
                    add(count / (count - 1.0), errors);
                }
            }
            _ => {
                for part in self.parts.iter().filter(|_| misfit.is_empty()).chain(&misfit) {
                    let mut errors = vec![0.0; self.m.len()];
                    part.loadings.iter().for_each(|&(index, loading)| errors[index] = loading);
                    add(part.variance?, errors);
                }
            }
        }
        Some(covariance)
    }

    /// The larger of two spreads that the points show by themselves: a program has no matrix
    /// size, so what the sizes differ by is part of not knowing its alpha, and what they happen
    /// to agree in does not undo the noise of the repetitions. One for all gradients, one a row.
    pub fn own_spread(&self, gradients: &[Vec<f64>]) -> Option<Spread> {
        let total = |spread: &Spread| -> Option<f64> {
            gradients
                .iter()
                .map(|gradient| self.error(spread, gradient).map(|error| error.value.powi(2)))
                .sum()
        };
        match (total(&Spread::Repetitions), total(&Spread::Kinds)) {
            (Some(repetitions), Some(kinds)) if kinds > repetitions => Some(Spread::Kinds),
            (Some(_), _) => Some(Spread::Repetitions),
            (None, Some(_)) => Some(Spread::Kinds),
            (None, None) => None,
        }
    }

    /// Independent errors in proportion to the values.
    fn misfit_parts(&self, variance: f64, degrees_of_freedom: f64) -> Vec<ErrorSource> {
        let part = |index: usize| ErrorSource {
            variance: Some(variance * self.values[index].powi(2) / self.counts[index]),
            degrees_of_freedom,
            loadings: vec![(index, 1.0)],
        };
        (0..self.m.len()).map(part).collect()
    }

    /// Standard error by S kinds and their deviations d over S: `var = S/(S - 1)*sum of (gradient*d)^2`,
    /// the variance of a mean of S values, with S - 1 degrees of freedom.
    fn of_kinds(&self, gradient: &[f64]) -> Option<StandardError> {
        let touched = |kind: &&Vec<Option<f64>>| {
            kind.iter().zip(gradient).any(|(each, slope)| each.is_some() && *slope != 0.0)
        };
        let errors: Vec<f64> = self
            .kinds
            .iter()
            .filter(touched)
            .map(|kind| {
                kind.iter().zip(gradient).map(|(each, slope)| each.unwrap_or(0.0) * slope).sum()
            })
            .collect();
        let count = errors.len() as f64;
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        (errors.len() >= 2).then(|| StandardError {
            value: (count / (count - 1.0) * squares).sqrt(),
            degrees_of_freedom: Some(count - 1.0),
        })
    }
}

/// The error of a sum of independent parts, its degrees of freedom after Welch (1947) and
/// Satterthwaite (1946): `f = (sum of v)^2/(sum of v^2/f_v)`.
fn of_parts(parts: &[ErrorSource], gradient: &[f64]) -> Option<StandardError> {
    let (mut variance, mut scarcity, mut all) = (0.0, 0.0, 0.0);
    for part in parts {
        let loading: f64 =
            part.loadings.iter().map(|&(index, loading)| gradient[index] * loading).sum();
        if loading == 0.0 {
            continue;
        }
        let share = part.variance? * loading.powi(2);
        variance += share;
        scarcity += share.powi(2) / part.degrees_of_freedom;
        all += part.degrees_of_freedom;
    }
    let degrees_of_freedom = if scarcity > 0.0 { variance.powi(2) / scarcity } else { all };
    (!parts.is_empty()).then(|| StandardError {
        value: variance.sqrt(),
        degrees_of_freedom: Some(degrees_of_freedom),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two points, of which nothing but this is known.
    fn points(parts: Vec<ErrorSource>, kinds: Vec<Vec<Option<f64>>>) -> Points {
        let (values, counts) = (vec![2.0, 3.0], vec![4.0, 1.0]);
        Points { scale: PointScale::Absolute, m: vec![2, 4], values, counts, parts, kinds }
    }

    fn part(variance: f64, degrees_of_freedom: f64, loadings: Vec<(usize, f64)>) -> ErrorSource {
        ErrorSource { variance: Some(variance), degrees_of_freedom, loadings }
    }

    /// The variance of a quantity with its degrees of freedom.
    fn check(points: &Points, spread: &Spread, gradient: [f64; 2], expected: (f64, f64)) {
        let found = points.error(spread, &gradient).unwrap();
        let degrees_of_freedom = found.degrees_of_freedom.unwrap();
        approx::assert_relative_eq!(found.value.powi(2), expected.0, max_relative = 1e-12);
        approx::assert_relative_eq!(degrees_of_freedom, expected.1, max_relative = 1e-12);
    }

    /// The variances of both points and their covariance.
    fn check_covariance(points: &Points, spread: &Spread, expected: [f64; 3]) {
        let found = points.covariance(spread, &DMatrix::identity(2, 2)).unwrap();
        let found = [found[(0, 0)], found[(1, 1)], found[(0, 1)]];
        for (found, expected) in found.into_iter().zip(expected) {
            approx::assert_relative_eq!(found, expected, max_relative = 1e-12);
        }
    }

    #[test]
    fn variances_of_repetitions_add_up_with_the_degrees_of_freedom_of_welch_and_satterthwaite() {
        let own = vec![part(0.04, 2.0, vec![(0, 1.0)]), part(0.01, 1.0, vec![(1, 1.0)])];
        // 0.05^2/(0.04^2/2 + 0.01^2/1)
        let together = (0.05, 25.0 / 9.0);
        check(&points(own.clone(), Vec::new()), &Spread::Repetitions, [1.0, 1.0], together);
        check(&points(own, Vec::new()), &Spread::Repetitions, [1.0, 0.0], (0.04, 2.0));
        let exact = vec![part(0.0, 2.0, vec![(0, 1.0)]), part(0.0, 1.0, vec![(1, 1.0)])];
        check(&points(exact, Vec::new()), &Spread::Repetitions, [1.0, 1.0], (0.0, 3.0));
        // An error in common of 0.1 at one and 0.2 at the other.
        let common = points(vec![part(0.01, 5.0, vec![(0, 1.0), (1, 2.0)])], Vec::new());
        check_covariance(&common, &Spread::Repetitions, [0.01, 0.04, 0.02]);
    }

    #[test]
    fn kinds_scatter_around_their_mean() {
        // Off by 0.3, 0, -0.3 and 0.6, -0.3, -0.3, over three kinds; the variance of a mean of three is
        // 3/2 of the sum of the squares.
        let kinds = [(0.1, 0.2), (0.0, -0.1), (-0.1, -0.1)];
        let kinds = kinds.map(|(one, other)| vec![Some(one), Some(other)]);
        let all = points(Vec::new(), kinds.to_vec());
        check(&all, &Spread::Kinds, [1.0, 0.0], (0.03, 2.0));
        check(&all, &Spread::Kinds, [1.0, -1.0], (0.03 + 0.09 - 2.0 * 0.045, 2.0));
        check_covariance(&all, &Spread::Kinds, [0.03, 0.09, 0.045]);
        // One that was not measured there has nothing to say of it: 2/1*(0.01 + 0.01) of two kinds.
        let kinds = [Some(0.1), Some(-0.1), None].map(|each| vec![each, Some(0.0)]);
        check(&points(Vec::new(), kinds.to_vec()), &Spread::Kinds, [1.0, 0.0], (0.04, 1.0));
    }

    #[test]
    fn what_a_formula_misses_is_in_proportion_to_the_values() {
        // 1 % of 2^2 over four observations, and of 3^2 over one; nothing more is known of their sum.
        let spread = Spread::Misfit { variance: 0.01, degrees_of_freedom: 5.0 };
        let repeated = points(vec![part(7.0, 1.0, vec![(0, 1.0)])], Vec::new());
        check(&repeated, &spread, [1.0, 1.0], (0.01 + 0.09, 5.0));
        check_covariance(&repeated, &spread, [0.01, 0.09, 0.0]);
    }
}
