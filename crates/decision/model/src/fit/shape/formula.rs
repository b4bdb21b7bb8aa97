//! The formulas for a term over m, fitted to its points.

use nalgebra::{DMatrix, DVector};

use super::Shape;
use super::points::{Points, Scale};
use crate::statistics::Design;

/// A formula with its parameters.
///
/// Points err in proportion to their size, so the fit minimises the deviance `2*sum of n*[(y -
/// f)/f - ln(y/f)]` (McCullagh and Nelder, Generalized Linear Models, 1989, chapter 8: constant
/// coefficient of variation), whose weights `n/f^2` follow the fit; weights from the measured
/// values would favour those that are low by chance.
///
/// A ratio to m = 1 errs at all m at once by what the time at m = 1 errs. So its formula has a
/// height of its own, `y_m = height*alpha_m`, and m = 1 is a point like the others.
#[derive(Debug, Clone)]
pub(crate) struct Formula {
    shape: Shape,
    scale: Scale,
    theta: DVector<f64>,
    /// The derivatives of theta with respect to the points.
    response: DMatrix<f64>,
    /// The relative variance of one observation that the residuals show; `None` with as many
    /// parameters as points.
    pub misfit: Option<f64>,
    /// Points beyond the number of parameters.
    pub degrees_of_freedom: f64,
}

/// A step that changes the relative levels by less than this is rounding.
const STEP_TOLERANCE: f64 = 1e-12;
/// A curve that rises by less than this part of it does not rise.
const FLAT: f64 = 1e-9;
/// Values whose squares can be told.
const RANGE: std::ops::Range<f64> = 1e-150..1e150;
const EXPONENT_RANGE: std::ops::Range<f64> = 0.01..10.0;
const MOST_STEPS: u32 = 100;
const MOST_HALVINGS: i32 = 30;
/// Where the search for an exponent begins.
const EXPONENTS: [f64; 3] = [0.5, 1.0, 2.0];

impl Formula {
    /// The best of this shape; `None` where the points cannot tell its parameters, or where a
    /// point is not above 0 or its square is beyond all floating-point numbers.
    pub fn fit(shape: Shape, points: &Points) -> Option<Self> {
        if points.values.iter().any(|value| !RANGE.contains(value)) {
            return None;
        }
        let starts: &[f64] = if shape == Shape::Curve { &EXPONENTS } else { &[1.0] };
        let fits = starts.iter().filter_map(|&exponent| Self::from(shape, exponent, points));
        fits.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, formula)| formula)
    }

    /// The best for other points of much the same term.
    pub fn refitted(&self, points: &Points) -> Option<Self> {
        let exponent = self.theta.get(2).copied().unwrap_or(1.0);
        Self::from(self.shape, exponent, points).map(|(_, formula)| formula)
    }

    /// By Fisher's scoring with halved steps, from the line that fits with this exponent.
    fn from(shape: Shape, exponent: f64, points: &Points) -> Option<(f64, Self)> {
        let mut at = Self {
            shape,
            scale: points.scale,
            theta: start(shape, exponent, points)?,
            response: DMatrix::zeros(0, 0),
            misfit: None,
            degrees_of_freedom: 0.0,
        };
        let mut deviance = at.deviance(points)?;
        for _ in 0..MOST_STEPS {
            let design = at.scoring(points)?;
            at.response = design.response();
            let step = &at.response * at.residuals(points);
            let Some((next, lower)) = at.shortened(&step, points, deviance) else { break };
            let lengths = DVector::from_column_slice(design.lengths());
            let relative = (&next - &at.theta).component_mul(&lengths).norm();
            (at.theta, deviance) = (next, lower);
            if relative < STEP_TOLERANCE {
                break;
            }
        }
        // Of a curve that does not rise, nothing tells the exponent.
        if shape == Shape::Curve && at.theta[1].abs() < FLAT * at.theta[0].abs() {
            return None;
        }
        at.degrees_of_freedom = points.m.len() as f64 - at.theta.len() as f64;
        let square = |(index, residual): (usize, &f64)| {
            points.counts[index] * (residual / at.level(points.m[index])).powi(2)
        };
        let squares: f64 = at.residuals(points).iter().enumerate().map(square).sum();
        at.misfit = (at.degrees_of_freedom > 0.0).then(|| squares / at.degrees_of_freedom);
        Some((deviance, at))
    }

    /// One step of Fisher's scoring: least squares with the weights of where it stands. `None` where the
    /// points cannot tell the parameters.
    fn scoring(&self, points: &Points) -> Option<Design> {
        let rows: Vec<Vec<f64>> = points.m.iter().map(|&m| self.slopes(m)).collect();
        let columns =
            DMatrix::from_fn(rows.len(), self.theta.len(), |row, column| rows[row][column]);
        let levels = points.m.iter().map(|&m| self.level(m));
        Design::new(
            columns,
            points.counts.iter().zip(levels).map(|(count, level)| count / level.powi(2)),
        )
    }

    /// The first of the step, its half, its quarter... that does not raise the deviance.
    fn shortened(
        &self,
        step: &DVector<f64>,
        points: &Points,
        deviance: f64,
    ) -> Option<(DVector<f64>, f64)> {
        (0..MOST_HALVINGS).find_map(|halvings| {
            let theta = &self.theta + step * 0.5_f64.powi(halvings);
            let next = Self { theta, response: DMatrix::zeros(0, 0), ..*self };
            let lower = next.deviance(points).filter(|lower| *lower <= deviance)?;
            Some((next.theta, lower))
        })
    }

    /// `None` where the formula is not above 0 at every point, or its exponent is out of bounds.
    fn deviance(&self, points: &Points) -> Option<f64> {
        if self.theta.get(2).is_some_and(|exponent| !EXPONENT_RANGE.contains(exponent)) {
            return None;
        }
        let mut sum = 0.0;
        for (index, &m) in points.m.iter().enumerate() {
            // Of a level that is not above 0 this is -1 or less, or no number, and so is the sum.
            let excess = points.values[index] / self.level(m) - 1.0;
            // excess - ln(1 + excess), without cancellation where it is small.
            let each = if excess.abs() < 1e-4 {
                excess * excess * (0.5 - excess / 3.0)
            } else {
                excess - excess.ln_1p()
            };
            sum += 2.0 * points.counts[index] * each;
        }
        sum.is_finite().then_some(sum)
    }

    fn residuals(&self, points: &Points) -> DVector<f64> {
        let residual = |(&m, value): (&u32, &f64)| value - self.level(m);
        DVector::from_iterator(points.m.len(), points.m.iter().zip(&points.values).map(residual))
    }

    /// What the formula says of a point at m.
    pub fn level(&self, m: u32) -> f64 {
        let exponent = self.theta.get(2).copied().unwrap_or(1.0);
        basis(self.shape, self.scale, exponent, m)
            .iter()
            .zip(self.theta.iter())
            .map(|(base, factor)| base * factor)
            .sum()
    }

    /// The derivatives of [`Self::level`] with respect to the parameters.
    fn slopes(&self, m: u32) -> Vec<f64> {
        let exponent = self.theta.get(2).copied().unwrap_or(1.0);
        let mut slopes = basis(self.shape, self.scale, exponent, m);
        if self.shape == Shape::Curve {
            let beyond_one = f64::from(m - 1);
            let log = if m > 1 { beyond_one.ln() } else { 0.0 };
            slopes.push(self.theta[1] * slopes[1] * log);
        }
        slopes
    }

    /// The term at m, and its derivatives with respect to the points.
    pub fn term(&self, m: u32) -> (f64, Vec<f64>) {
        let (value, slopes) = match self.scale {
            Scale::Absolute => (self.level(m), self.slopes(m)),
            Scale::RelativeToOne => {
                let height = self.level(1);
                let value = self.level(m) / height;
                let at_one = self.slopes(1);
                let slope = |(of_m, of_one): (f64, f64)| (of_m - value * of_one) / height;
                (value, self.slopes(m).into_iter().zip(at_one).map(slope).collect())
            }
        };
        (value, self.over_points(&slopes))
    }

    /// The parameters by the letters of [`Shape`], with their derivatives with respect to the
    /// points.
    pub fn parameters(&self) -> Vec<(&'static str, f64, Vec<f64>)> {
        let theta = &self.theta;
        if self.scale == Scale::Absolute {
            let row = |index: usize| self.response.row(index).iter().copied().collect();
            let names = ["a", "b"].into_iter().take(theta.len()).enumerate();
            return names.map(|(index, name)| (name, theta[index], row(index))).collect();
        }
        let ratio = theta[1] / theta[0];
        let mut slopes = vec![-ratio / theta[0], 1.0 / theta[0]];
        slopes.resize(theta.len(), 0.0);
        let mut parameters = vec![("a", ratio, self.over_points(&slopes))];
        if self.shape == Shape::Curve {
            parameters.push(("b", theta[2], self.over_points(&[0.0, 0.0, 1.0])));
        }
        parameters
    }

    /// Derivatives with respect to the parameters as derivatives with respect to the points.
    fn over_points(&self, slopes: &[f64]) -> Vec<f64> {
        (self.response.transpose() * DVector::from_column_slice(slopes)).iter().copied().collect()
    }
}

/// What the linear parameters of the shape multiply at m.
fn basis(shape: Shape, scale: Scale, exponent: f64, m: u32) -> Vec<f64> {
    let beyond_one = f64::from(m) - 1.0;
    match (scale, shape) {
        (Scale::RelativeToOne, Shape::Constant) => {
            let above_one = f64::from(u8::from(m > 1));
            vec![1.0 - above_one, above_one]
        }
        (Scale::RelativeToOne, Shape::Curve) => vec![1.0, beyond_one.powf(exponent)],
        (Scale::RelativeToOne, _) => vec![1.0, beyond_one],
        (Scale::Absolute, Shape::Constant) => vec![1.0],
        (Scale::Absolute, Shape::Logarithmic) => vec![1.0, f64::from(m).log2()],
        (Scale::Absolute, _) => vec![1.0, f64::from(m)],
    }
}

/// The least squares with weights from the measured values; as a last resort a constant.
fn start(shape: Shape, exponent: f64, points: &Points) -> Option<DVector<f64>> {
    let rows: Vec<Vec<f64>> =
        points.m.iter().map(|&m| basis(shape, points.scale, exponent, m)).collect();
    let columns = rows.first()?.len();
    // Over the measured values: the relative errors of the points are all alike.
    let weights =
        points.counts.iter().zip(&points.values).map(|(count, value)| count / value.powi(2));
    let matrix = DMatrix::from_fn(rows.len(), columns, |row, column| rows[row][column]);
    let solution = Design::new(matrix, weights)?.solve(&points.values);
    let mut theta = DVector::from_vec(solution.coefficients);
    let level = |theta: &DVector<f64>, row: &Vec<f64>| -> f64 {
        row.iter().zip(theta.iter()).map(|(base, factor)| base * factor).sum()
    };
    if rows.iter().any(|row| level(&theta, row) <= 0.0) {
        theta.fill(0.0);
        theta[0] = points.values.iter().sum::<f64>() / points.values.len() as f64;
    }
    if shape == Shape::Curve {
        theta = theta.push(exponent);
    }
    Some(theta)
}

#[cfg(test)]
mod tests;
