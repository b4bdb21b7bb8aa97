//! The formulas for a term over m, fitted to its points.

use nalgebra::{DMatrix, DVector};

use super::Shape;
use super::{PointScale, Points};
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
    scale: PointScale,
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
/// Exponents from which the search begins.
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

    /// Fits by Fisher's scoring with halved steps, from the line that fits with this exponent.
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

    /// Takes one step of Fisher's scoring: least squares with the weights of where it stands. `None` where
    /// the points cannot tell the parameters.
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
            PointScale::Absolute => (self.level(m), self.slopes(m)),
            PointScale::RelativeToOne => {
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
        if self.scale == PointScale::Absolute {
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
fn basis(shape: Shape, scale: PointScale, exponent: f64, m: u32) -> Vec<f64> {
    let beyond_one = f64::from(m) - 1.0;
    match (scale, shape) {
        (PointScale::RelativeToOne, Shape::Constant) => {
            let above_one = f64::from(u8::from(m > 1));
            vec![1.0 - above_one, above_one]
        }
        (PointScale::RelativeToOne, Shape::Curve) => vec![1.0, beyond_one.powf(exponent)],
        (PointScale::RelativeToOne, _) => vec![1.0, beyond_one],
        (PointScale::Absolute, Shape::Constant) => vec![1.0],
        (PointScale::Absolute, Shape::Logarithmic) => vec![1.0, f64::from(m).log2()],
        (PointScale::Absolute, _) => vec![1.0, f64::from(m)],
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
mod tests {
    use super::*;

    fn points(scale: PointScale, m: &[u32], truth: impl Fn(f64) -> f64) -> Points {
        Points {
            scale,
            m: m.to_vec(),
            values: m.iter().map(|&m| truth(f64::from(m))).collect(),
            counts: vec![1.0; m.len()],
            parts: Vec::new(),
            kinds: Vec::new(),
        }
    }

    /// The parameters of a shape that the points follow exactly.
    fn check(shape: Shape, points: &Points, expected: &[f64]) {
        let formula = Formula::fit(shape, points).unwrap();
        let found: Vec<f64> = formula.parameters().iter().map(|each| each.1).collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            approx::assert_relative_eq!(found, expected, max_relative = 1e-7);
        }
        for (index, &m) in points.m.iter().enumerate() {
            let (term, gradient) = formula.term(m);
            approx::assert_relative_eq!(term, points.values[index], max_relative = 1e-9);
            check_gradient(shape, points, &gradient, |formula| formula.term(m).0);
        }
        for (index, (_, _, gradient)) in formula.parameters().iter().enumerate() {
            check_gradient(shape, points, gradient, |formula| formula.parameters()[index].1);
        }
    }

    /// The derivatives are those of fits to points that lie a little off.
    fn check_gradient(
        shape: Shape,
        points: &Points,
        gradient: &[f64],
        quantity: impl Fn(&Formula) -> f64,
    ) {
        let fit = |points: &Points| quantity(&Formula::fit(shape, points).unwrap());
        for (index, slope) in gradient.iter().enumerate() {
            let moved = |factor: f64| {
                let mut points = points.clone();
                points.values[index] *= 1.0 + factor;
                fit(&points)
            };
            let difference = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            let found = slope * points.values[index];
            approx::assert_abs_diff_eq!(found, difference, epsilon = 1e-5 * fit(points));
        }
    }

    #[test]
    fn points_that_follow_a_formula_give_it_back() {
        let m = [1, 2, 3, 5, 8, 16];
        let ratio = |truth: fn(f64) -> f64| points(PointScale::RelativeToOne, &m, truth);
        check(Shape::Constant, &ratio(|m| if m > 1.0 { 1.28 } else { 1.0 }), &[1.28]);
        check(Shape::Linear, &ratio(|m| 1.0 + 0.08 * (m - 1.0)), &[0.08]);
        check(Shape::Curve, &ratio(|m| 1.0 + 0.3 * (m - 1.0).powf(0.6)), &[0.3, 0.6]);
        check(Shape::Curve, &ratio(|m| 1.0 + 0.02 * (m - 1.0).powf(1.7)), &[0.02, 1.7]);
        let time = |truth: fn(f64) -> f64| points(PointScale::Absolute, &m[1..], truth);
        check(Shape::Constant, &time(|_| 3e-6), &[3e-6]);
        check(Shape::Linear, &time(|m| 2e-6 + 3e-6 * m), &[2e-6, 3e-6]);
        check(Shape::Logarithmic, &time(|m| 2e-6 + 5e-6 * m.log2()), &[2e-6, 5e-6]);
    }

    #[test]
    fn an_error_of_the_time_alone_moves_the_height_and_not_the_slope() {
        // All ratios are 2 % too high, as if the time of one process had been measured too short:
        // 1.02*(1 + 0.08*(m - 1)) at five m and 1 at m = 1.
        let m = [1, 4, 8, 12, 16, 20];
        let exact = points(PointScale::RelativeToOne, &m, |m| {
            if m > 1.0 { 1.02 * (1.0 + 0.08 * (m - 1.0)) } else { 1.0 }
        });
        let formula = Formula::fit(Shape::Linear, &exact).unwrap();
        let through_one = 1.02 * 2.2 - 1.0;
        // A line through 1 at m = 1 would take all of it for slope: alpha(16) = 2.244 at least.
        assert!(formula.term(16).0 - 1.0 < through_one - 0.005);
    }

    #[test]
    fn the_height_of_all_ratios_is_no_part_of_the_term() {
        let twice = points(PointScale::RelativeToOne, &[1, 4, 8, 16], |m| 2.0 + 0.16 * (m - 1.0));
        let (term, gradient) = Formula::fit(Shape::Linear, &twice).unwrap().term(16);
        approx::assert_relative_eq!(term, 2.2, max_relative = 1e-9);
        check_gradient(Shape::Linear, &twice, &gradient, |formula| formula.term(16).0);
    }

    #[test]
    fn the_misfit_is_the_mean_square_that_the_formula_leaves() {
        // A constant is the mean by the counts, 2: relative residuals of -0.1, 0, 0.1.
        let values = vec![1.8, 2.0, 2.2];
        let counts = vec![3.0, 1.0, 3.0];
        let scattered =
            Points { values, counts, ..points(PointScale::Absolute, &[2, 4, 8], |m| m) };
        let formula = Formula::fit(Shape::Constant, &scattered).unwrap();
        approx::assert_relative_eq!(formula.level(4), 2.0, max_relative = 1e-9);
        // 2*3*0.1^2/(3 - 1)
        approx::assert_relative_eq!(formula.misfit.unwrap(), 0.03, max_relative = 1e-9);
        assert_eq!(formula.degrees_of_freedom, 2.0);
        // A line through two points leaves nothing over.
        let line =
            Formula::fit(Shape::Linear, &points(PointScale::Absolute, &[2, 4], |m| m)).unwrap();
        assert_eq!((line.misfit, line.degrees_of_freedom), (None, 0.0));
    }

    #[test]
    fn the_deviance_is_that_of_a_gamma_distribution() {
        let measured = Points {
            values: vec![4.0, 1.0],
            counts: vec![1.0, 3.0],
            ..points(PointScale::Absolute, &[2, 4], |m| m)
        };
        let deviance = |level: f64| {
            let formula = Formula::fit(Shape::Constant, &measured).unwrap();
            Formula { theta: DVector::from_vec(vec![level]), ..formula }.deviance(&measured)
        };
        // 2*[(4 - 2)/2 - ln 2] + 2*3*[(1 - 2)/2 + ln 2]
        let expected = 4.0 * 2.0_f64.ln() - 1.0;
        approx::assert_relative_eq!(deviance(2.0).unwrap(), expected, max_relative = 1e-12);
        assert_eq!([0.0, -1.0, f64::NAN].map(deviance), [None; 3]);
    }

    #[test]
    fn what_the_points_cannot_tell_is_no_formula() {
        let flat = points(PointScale::RelativeToOne, &[1, 2, 4, 8], |_| 1.0);
        assert!(Formula::fit(Shape::Curve, &flat).is_none());
        let two = points(PointScale::RelativeToOne, &[1, 4], |m| m);
        assert!(Formula::fit(Shape::Curve, &two).is_none());
        let one = points(PointScale::Absolute, &[2], |m| m);
        assert!(Formula::fit(Shape::Linear, &one).is_none());
        let next_to_one_another =
            points(PointScale::Absolute, &[1_000_000, 1_000_001], |m| m.cos() + 2.0);
        assert!(Formula::fit(Shape::Linear, &next_to_one_another).is_none());
        let zero = points(PointScale::Absolute, &[2, 4], |_| 0.0);
        assert!(Formula::fit(Shape::Constant, &zero).is_none());
    }
}
