//! The shape of a term over m: one of few formulas, or a table, and why that one.

mod choosing;
mod formula;
mod points;

use std::fmt;

pub(crate) use choosing::{Question, choose};
pub(crate) use points::{ErrorSource, PointScale, Points};

use nalgebra::DMatrix;

use crate::models::parameters::{Estimate, Interpolation, every_m};
use crate::models::sensitivity::{Correlation, Entry};

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

/// The correlation matrix of a covariance over entries, of which those that are exact are left
/// out.
pub(crate) fn correlation(
    covariance: Option<DMatrix<f64>>,
    entry: impl Fn(usize) -> Entry,
) -> Option<Correlation> {
    let covariance = covariance?;
    let uncertain: Vec<usize> =
        (0..covariance.nrows()).filter(|&each| covariance[(each, each)] > 0.0).collect();
    let matrix = |row: usize, column: usize| match row == column {
        true => 1.0,
        false => {
            let sizes = covariance[(row, row)].sqrt() * covariance[(column, column)].sqrt();
            (covariance[(row, column)] / sizes).clamp(-1.0, 1.0)
        }
    };
    let matrix = uncertain
        .iter()
        .flat_map(|&row| uncertain.iter().map(move |&column| (row, column)))
        .map(|(row, column)| matrix(row.max(column), row.min(column)))
        .collect();
    let entries: Vec<Entry> = uncertain.iter().map(|&each| entry(each)).collect();
    // What is too large or too small to be squared has no correlation that could be told.
    Correlation::new(entries, matrix).ok().filter(|known| known.entries().len() >= 2)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::terms::Term;

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

    #[test]
    fn what_cannot_be_squared_has_no_correlation() {
        let covariance = DMatrix::from_element(2, 2, f64::INFINITY);
        assert_eq!(correlation(Some(covariance), |index| Term::Alpha.entry(index)), None);
    }

    #[test]
    fn what_is_exact_has_no_correlation() {
        let covariance =
            DMatrix::from_row_slice(3, 3, &[0.0, 0.0, 0.0, 0.0, 4.0, -3.0, 0.0, -3.0, 9.0]);
        let found = correlation(Some(covariance), |index| Term::Alpha.entry(index)).unwrap();
        assert_eq!(found.entries(), [Term::Alpha.entry(1), Term::Alpha.entry(2)]);
        assert_eq!(found.row(0), [1.0, -0.5]);
    }
}
