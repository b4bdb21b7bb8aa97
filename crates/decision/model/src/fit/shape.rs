//! The shape of a term over m: what was measured of it, a mean at each m, and one of few formulas, or a
//! table, with why that one.

mod choosing;
mod formula;

use std::fmt;

use nalgebra::DMatrix;

use crate::models::parameters::{Estimate, Interpolation, every_m};
use crate::models::sensitivity::StandardError;
use crate::statistics::Mean;

pub(crate) use choosing::{Question, choose};

/// How a term depends on m, the number of host threads or ranks, for m > 1.
///
/// `alpha_m` is 1 at m = 1 whatever its shape; what a collective costs one rank is taken as
/// measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// The same for all m > 1.
    ///
    /// `alpha_m = a`; `O_COL = a`.
    Constant,
    /// `alpha_m = 1 + a*(m - 1)`; `O_COL = a + b*m`.
    Linear,
    /// `O_COL = a + b*log2(m)`, as in an algorithm along a tree; not of alpha.
    Logarithmic,
    /// `alpha_m = 1 + a*(m - 1)^b`, which saturates with b < 1 and rises ever faster with b > 1;
    /// not of collectives.
    Curve,
    /// The value at each measured m, linear between them.
    Table,
}

/// Shape that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Selection {
    /// The one that cross-validation finds.
    #[default]
    CrossValidated,
    /// Take this one, whatever its errors.
    Fixed(Shape),
}

/// How the terms that depend on m are to be estimated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TermChoices {
    /// The shape of alpha.
    pub alpha: Selection,
    /// The shape of O_COL.
    pub collective: Selection,
    /// The collective operation that the program calls, as `collective.csv` names it; without it,
    /// the mean over all in the file.
    pub operation: Option<String>,
    /// The bytes that each rank contributes to it; without it, the mean over all sizes.
    pub operation_bytes: Option<u64>,
}

/// A shape that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The shape.
    pub shape: Shape,
    /// Parameters by the letters of [`Shape`]; none of a table. The unit is that of the term, per m where
    /// it is a slope; an exponent has none. Of these alone the value may be negative.
    pub parameters: Vec<(&'static str, Estimate)>,
    /// Root mean square of the relative errors at each m when that m is left out of the fit;
    /// `None` where too few m were measured for that.
    pub error: Option<f64>,
}

/// Why a shape was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The user asked for it.
    Asked,
    /// The errors are the least.
    LeastError,
    /// The errors are larger than the least by no more than chance explains, and it has fewer parameters.
    Simplest,
    /// A table, because every formula misses the measured values by more than their own errors.
    FormulasMiss,
    /// The m were too few to compare shapes.
    TooFew,
}

/// How the shape of a term was chosen; prints as a line for the reader of a report and one for
/// the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeChoice {
    /// The term, by its name in parameter files; with the operation and its bytes where these
    /// matter.
    pub term: String,
    /// Every shape that was tried, the simplest first.
    pub tried: Vec<Trial>,
    /// The one that was taken.
    pub chosen: Shape,
    /// The reason why it was taken.
    pub reason: Reason,
}

/// The m above 1 at which a term of this shape is stored, and what it is between and beyond them.
///
/// A line and a logarithm are known by two m, which were measured: beyond, they go on. A curve goes on
/// in no such way, and is stored at every m up to `last_m`.
pub(crate) fn knots(shape: Shape, points: &Points, last_m: u32) -> (Vec<u32>, Interpolation) {
    let measured = &points.m[points.above_one()];
    let last = measured.last().copied().unwrap_or(2);
    // A ratio to m = 1 starts there; a quantity that starts later must not come from nothing.
    let ends = || match points.scale {
        PointScale::RelativeToOne => vec![last],
        PointScale::Absolute => {
            [2].into_iter().chain(measured.first().copied()).chain([last]).collect()
        }
    };
    let (mut m, interpolation) = match shape {
        Shape::Table => (measured.to_vec(), Interpolation::Held),
        // Two m, lest it rise from what the term is at m = 1.
        Shape::Constant => (vec![2, last.max(3)], Interpolation::Line),
        Shape::Linear => (ends(), Interpolation::Line),
        Shape::Logarithmic => (ends(), Interpolation::Logarithm),
        Shape::Curve => (every_m(last.max(last_m)), Interpolation::Held),
    };
    m.dedup();
    (m, interpolation)
}

impl ShapeChoice {
    /// The trial of the shape that was taken.
    pub fn taken(&self) -> &Trial {
        let taken = self.tried.iter().find(|trial| trial.shape == self.chosen);
        taken.expect("invariant: the chosen shape was tried")
    }
}

impl Shape {
    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Constant => "constant",
            Shape::Linear => "linear",
            Shape::Logarithmic => "logarithmic",
            Shape::Curve => "curve",
            Shape::Table => "table",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Asked => "as asked",
            Reason::LeastError => "it errs least",
            Reason::Simplest => "no other errs clearly less",
            Reason::FormulasMiss => "no formula meets the measured values as well",
            Reason::TooFew => "too few m to compare shapes",
        })
    }
}

impl fmt::Display for ShapeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, {}", self.term, self.chosen, self.reason)?;
        let errors: Vec<String> = self
            .tried
            .iter()
            .filter_map(|trial| Some(format!("{} {:.2} %", trial.shape, 100.0 * trial.error?)))
            .collect();
        if !errors.is_empty() {
            write!(f, "; with one m left out they err by: {}", errors.join(", "))?;
        }
        let parameter = |(name, estimate): &(&str, Estimate)| {
            let half_width = estimate.standard_error().map(|error| error.half_width());
            let half_width = half_width.map(|half| format!(" +- {half:.1e}"));
            format!("{name} = {:.4e}{}", estimate.value, half_width.unwrap_or_default())
        };
        let parameters: Vec<String> = self.taken().parameters.iter().map(parameter).collect();
        if !parameters.is_empty() {
            write!(f, "\n  {} (95 %)", parameters.join(", "))?;
        }
        Ok(())
    }
}

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

impl ErrorSource {
    /// What a mean errs by, with the error of each point that it touches if that is 1.
    pub fn of(mean: &Mean, loadings: Vec<(usize, f64)>) -> Self {
        let variance = mean.std_error.map(|error| error.powi(2));
        Self { variance, degrees_of_freedom: mean.degrees_of_freedom, loadings }
    }
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

    #[test]
    fn a_line_is_stored_at_its_ends_and_a_curve_everywhere() {
        let at = |scale, shape, m: &[u32], last_m| {
            let points = Points {
                scale,
                m: m.to_vec(),
                values: vec![1.0; m.len()],
                counts: vec![1.0; m.len()],
                parts: Vec::new(),
                kinds: Vec::new(),
            };
            knots(shape, &points, last_m)
        };
        use Interpolation::{Held, Line, Logarithm};
        let absolute = |shape, m: &[u32]| at(PointScale::Absolute, shape, m, 64);
        assert_eq!(absolute(Shape::Linear, &[2, 3, 16]), (vec![2, 16], Line));
        assert_eq!(absolute(Shape::Logarithmic, &[4, 8, 16]), (vec![2, 4, 16], Logarithm));
        assert_eq!(absolute(Shape::Constant, &[2]), (vec![2, 3], Line));
        assert_eq!(absolute(Shape::Table, &[2, 3, 20]), (vec![2, 3, 20], Held));
        let ratio = |shape, m: &[u32], last_m| at(PointScale::RelativeToOne, shape, m, last_m);
        assert_eq!(ratio(Shape::Linear, &[1, 2, 8], 64), (vec![8], Line));
        assert_eq!(ratio(Shape::Curve, &[1, 2, 4], 5), (vec![2, 3, 4, 5], Held));
    }

    #[test]
    fn a_choice_says_what_was_tried_and_what_came_out() {
        let trial = |shape, error| Trial { shape, parameters: Vec::new(), error };
        let slope = Estimate {
            std_error: Some(0.001),
            degrees_of_freedom: Some(10.0),
            ..Estimate::exact(0.08)
        };
        let linear = Trial { parameters: vec![("a", slope)], ..trial(Shape::Linear, Some(0.0081)) };
        let choice = ShapeChoice {
            term: "alpha".into(),
            tried: vec![trial(Shape::Constant, Some(0.31)), linear, trial(Shape::Table, None)],
            chosen: Shape::Linear,
            reason: Reason::LeastError,
        };
        assert_eq!(
            choice.to_string(),
            "alpha: linear, it errs least; with one m left out they err by: constant 31.00 %, \
             linear 0.81 %\n  a = 8.0000e-2 +- 2.2e-3 (95 %)"
        );
    }

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
