//! Nonlinear least squares within bounds, as a solver for `argmin`, which has none of its own.
//!
//! [`minimise`] runs the method of Levenberg and Marquardt from each start ([`levenberg`]); every
//! step solves the damped linear problem exactly within the bounds ([`step`]), so a bound costs no
//! accuracy, and a linear problem is solved in a handful of steps. Where that loses its way, the
//! search begins again with shorter steps that bend with the curvature of the residuals.

mod levenberg;
mod plan;
mod step;

#[cfg(test)]
mod joint;
#[cfg(test)]
mod nist;

use argmin::core::{Executor, State};
use nalgebra::{DMatrix, DVector};

use levenberg::{Bounded, LevenbergMarquardt};
use mmgp_base::error::{Error, Result};
use plan::Plan;
pub(crate) use step::inverse_normal;

/// `minimise half the sum of squared residuals r(x) over lower <= x <= upper`.
pub(crate) trait Residuals {
    /// r(x); a value that is not finite marks a point that cannot be used.
    fn residuals(&self, x: &DVector<f64>) -> DVector<f64>;

    /// The derivatives of r(x): one row for each residual, one column for each unknown.
    fn jacobian(&self, x: &DVector<f64>) -> DMatrix<f64>;

    /// The least values of x; minus infinity where there is none.
    fn lower(&self) -> DVector<f64>;

    /// The largest values of x; infinity where there is none.
    fn upper(&self) -> DVector<f64>;
}

/// Where the solver ended.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub x: DVector<f64>,
    /// Which components a bound holds.
    pub at_bound: Vec<bool>,
    /// Steps taken from the start that led here.
    pub iterations: u64,
    /// Half the sum of squared residuals.
    pub cost: f64,
    /// Why it ended there, in words.
    pub termination: String,
    /// How many starts were tried.
    pub starts: usize,
    /// How many of them led here.
    pub agreeing: usize,
}

/// Searches from each start until one ends where every unknown has an effect: the first suits
/// problems that are nearly linear, the others find their way through curved valleys.
const PLANS: [Plan; 3] = [
    Plan { damping: 1e-3, accelerated: false, patience: 500 },
    Plan { damping: 10.0, accelerated: true, patience: 5000 },
    Plan { damping: 0.1, accelerated: true, patience: 5000 },
];

/// Two starts agree where no unknown's effect on the residuals differs by more than this fraction
/// of all unknowns' effect.
const AGREEMENT: f64 = 1e-6;

/// The best of the minima that the starts lead to.
///
/// # Errors
/// [`Error::Fit`] where no start leads to a minimum.
pub(crate) fn minimise<P: Residuals>(problem: &P, starts: &[DVector<f64>]) -> Result<Solution> {
    let mut best: Option<Solution> = None;
    let mut ends = Vec::with_capacity(starts.len());
    let mut failure = Error::Fit("there is no start".into());
    for start in starts {
        match from(problem, start) {
            Ok(found) => {
                ends.push((found.cost, found.x.clone()));
                if best.as_ref().is_none_or(|best| found.cost < best.cost) {
                    best = Some(found);
                }
            }
            Err(error) => failure = error,
        }
    }
    let Some(mut best) = best else { return Err(failure) };
    best.starts = starts.len();
    best.agreeing = if ends.len() == 1 { 1 } else { agreeing(problem, &best, &ends) };
    Ok(best)
}

/// How many ends are the best one.
fn agreeing<P: Residuals>(problem: &P, best: &Solution, ends: &[(f64, DVector<f64>)]) -> usize {
    let jacobian = problem.jacobian(&best.x);
    let effect = |x: &DVector<f64>| -> f64 {
        let of_one = |(column, x): (_, &f64)| {
            let norm: f64 = DMatrix::column(&jacobian, column).norm();
            (norm * x).abs()
        };
        x.iter().enumerate().map(of_one).fold(0.0, f64::max)
    };
    let scale = effect(&best.x) + (2.0 * best.cost).sqrt();
    ends.iter().filter(|(_, x)| effect(&(x - &best.x)) <= AGREEMENT * scale).count()
}

/// The minimum that one start leads to.
fn from<P: Residuals>(problem: &P, start: &DVector<f64>) -> Result<Solution> {
    let mut best: Option<Solution> = None;
    let mut failure = None;
    for plan in PLANS {
        match search(problem, start, plan) {
            Ok((found, is_astray)) => {
                if best.as_ref().is_none_or(|best| found.cost < best.cost) {
                    best = Some(found);
                }
                if !is_astray {
                    break;
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    best.ok_or_else(|| failure.expect("invariant: without an end there is a failure"))
}

/// The minimum that one search leads to, and whether an unknown lost its effect there.
fn search<P: Residuals>(problem: &P, start: &DVector<f64>, plan: Plan) -> Result<(Solution, bool)> {
    let (lower, upper) = (problem.lower(), problem.upper());
    let inside = start.zip_zip_map(&lower, &upper, |x, low, high| x.max(low).min(high));
    let solver = LevenbergMarquardt::new(lower, upper, plan);
    let result = Executor::new(Bounded(problem), solver)
        .configure(|state| state.param(inside).max_iters(plan.patience))
        .timer(false)
        .run()
        .map_err(|error| Error::Fit(error.to_string()))?;
    let iterations = result.state.get_iter();
    let solver = result.solver;
    let Some(end) = solver.end else {
        return Err(Error::Fit(format!("no minimum after {iterations} steps")));
    };
    let is_astray = solver.is_astray();
    let solution = Solution {
        at_bound: solver.at_bound,
        x: solver.x,
        iterations,
        cost: solver.cost,
        termination: end.to_string(),
        starts: 1,
        agreeing: 1,
    };
    Ok((solution, is_astray))
}

/// `minimise |A*x - b|^2 over x >= 0`.
#[derive(Debug, Clone)]
pub(crate) struct LeastSquares {
    pub a: DMatrix<f64>,
    pub b: DVector<f64>,
}

impl Residuals for LeastSquares {
    fn residuals(&self, x: &DVector<f64>) -> DVector<f64> {
        &self.a * x - &self.b
    }

    fn jacobian(&self, _: &DVector<f64>) -> DMatrix<f64> {
        self.a.clone()
    }

    fn lower(&self) -> DVector<f64> {
        DVector::zeros(self.a.ncols())
    }

    fn upper(&self) -> DVector<f64> {
        DVector::from_element(self.a.ncols(), f64::INFINITY)
    }
}

impl LeastSquares {
    /// Solves the problem from inside the bounds.
    pub fn solve(self) -> Result<Solution> {
        let size = self.b.norm() / self.a.ncols() as f64;
        let start = self.a.column_iter().map(|column| size / column.norm().max(f64::MIN_POSITIVE));
        minimise(&self, &[DVector::from_iterator(self.a.ncols(), start)])
    }
}

/// Holds an analytic Jacobian against central differences at `x`, which must lie inside the
/// bounds by a ten-thousandth of each unknown: each derivative to 1e-6 of its column's largest.
#[cfg(test)]
pub(crate) fn check_jacobian<P: Residuals>(problem: &P, x: &DVector<f64>) {
    let jacobian = problem.jacobian(x);
    assert_eq!(jacobian.ncols(), x.len());
    for unknown in 0..x.len() {
        let shift = 1e-5 * if x[unknown] == 0.0 { 1.0 } else { x[unknown].abs() };
        let at = |shift: f64| {
            let mut moved = x.clone();
            moved[unknown] += shift;
            problem.residuals(&moved)
        };
        // Of fourth order, so that the shift may be long and rounding small.
        let difference = (8.0 * (at(shift) - at(-shift)) - (at(2.0 * shift) - at(-2.0 * shift)))
            / (12.0 * shift);
        let largest = difference.amax().max(jacobian.column(unknown).amax());
        for (row, difference) in difference.iter().enumerate() {
            let derivative = jacobian[(row, unknown)];
            assert!(
                (derivative - difference).abs() <= 1e-6 * largest,
                "residual {row} by unknown {unknown}: {derivative} against {difference}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[[f64; 2]], target: &[f64], expected: [f64; 2]) -> Solution {
        let a = DMatrix::from_fn(rows.len(), 2, |row, column| rows[row][column]);
        let solution = LeastSquares { a, b: DVector::from_row_slice(target) }.solve().unwrap();
        for (found, expected) in solution.x.iter().zip(expected) {
            approx::assert_abs_diff_eq!(*found, expected, epsilon = 1e-12);
        }
        solution
    }

    #[test]
    fn inside_the_bounds_it_is_the_ordinary_line() {
        // Through (0, 1), (1, 3), (2, 5): 1 + 2x.
        let solution = check(&[[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], &[1.0, 3.0, 5.0], [1.0, 2.0]);
        assert_eq!(solution.at_bound, [false, false]);
        assert!(solution.cost < 1e-24);
    }

    #[test]
    fn a_falling_line_becomes_its_mean() {
        let rows = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]];
        let solution = check(&rows, &[5.0, 3.0, 1.0], [3.0, 0.0]);
        assert_eq!(solution.at_bound, [false, true]);
        // Half of 2^2 + 0 + 2^2.
        approx::assert_relative_eq!(solution.cost, 4.0, max_relative = 1e-12);
    }

    #[test]
    fn a_negative_target_leaves_nothing() {
        check(&[[1.0, 0.0], [1.0, 1.0]], &[-1.0, -2.0], [0.0, 0.0]);
    }

    #[test]
    fn at_the_minimum_no_direction_inside_the_bounds_lowers_the_cost() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(11);
        let mut held_at_all = 0;
        for _ in 0..200 {
            let a = DMatrix::from_fn(8, 4, |_, _| random.random_range(-1.0..1.0));
            let b = DVector::from_fn(8, |_, _| random.random_range(-1.0..1.0));
            let solution = LeastSquares { a: a.clone(), b: b.clone() }.solve().unwrap();
            let gradient = a.transpose() * (&a * &solution.x - &b);
            for (index, &held) in solution.at_bound.iter().enumerate() {
                if held {
                    assert_eq!(solution.x[index], 0.0);
                    assert!(gradient[index] > -1e-10);
                } else {
                    assert!(solution.x[index] >= 0.0);
                    assert!(gradient[index].abs() < 1e-10);
                }
            }
            held_at_all += solution.at_bound.iter().filter(|&&held| held).count();
        }
        // By symmetry about half of them.
        assert!((300..500).contains(&held_at_all), "{held_at_all}");
    }

    /// `y = b1*exp(b2*x)` through points on `2*exp(-x/2)`, with b2 at least `least`.
    struct Decay {
        least: f64,
    }

    const AT: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];

    impl Residuals for Decay {
        fn residuals(&self, x: &DVector<f64>) -> DVector<f64> {
            let of = |at: &f64| x[0] * (x[1] * at).exp() - 2.0 * (-0.5 * at).exp();
            DVector::from_iterator(AT.len(), AT.iter().map(of))
        }

        fn jacobian(&self, x: &DVector<f64>) -> DMatrix<f64> {
            DMatrix::from_fn(AT.len(), 2, |row, column| {
                let grown = (x[1] * AT[row]).exp();
                if column == 0 { grown } else { x[0] * AT[row] * grown }
            })
        }

        fn lower(&self) -> DVector<f64> {
            DVector::from_vec(vec![0.0, self.least])
        }

        fn upper(&self) -> DVector<f64> {
            DVector::from_element(2, 10.0)
        }
    }

    #[test]
    fn starts_that_meet_are_counted() {
        let problem = Decay { least: -3.0 };
        check_jacobian(&problem, &DVector::from_vec(vec![1.5, -0.7]));
        let starts = [[1.0, -1.0], [5.0, 0.5], [3.0, -20.0]].map(|x| DVector::from_row_slice(&x));
        let solution = minimise(&problem, &starts).unwrap();
        approx::assert_relative_eq!(solution.x[0], 2.0, max_relative = 1e-12);
        approx::assert_relative_eq!(solution.x[1], -0.5, max_relative = 1e-12);
        assert_eq!((solution.starts, solution.agreeing), (3, 3));
        assert!(minimise(&problem, &[]).is_err());
    }

    #[test]
    fn a_bound_that_cuts_the_minimum_off_holds_it() {
        let problem = Decay { least: -0.25 };
        let starts = [DVector::from_vec(vec![1.0, 1.0])];
        let solution = minimise(&problem, &starts).unwrap();
        assert_eq!(solution.at_bound, [false, true]);
        // With b2 = -1/4 the best b1 is sum(2*e^(-3x/4))/sum(e^(-x/2)).
        let sum = |rate: f64| AT.iter().map(|at| (rate * at).exp()).sum::<f64>();
        approx::assert_relative_eq!(
            solution.x[0],
            2.0 * sum(-0.75) / sum(-0.5),
            max_relative = 1e-12
        );
    }

    #[test]
    #[should_panic(expected = "residual 1 by unknown 1")]
    fn a_wrong_derivative_does_not_pass() {
        struct Wrong(Decay);
        impl Residuals for Wrong {
            fn residuals(&self, x: &DVector<f64>) -> DVector<f64> {
                self.0.residuals(x)
            }
            fn jacobian(&self, x: &DVector<f64>) -> DMatrix<f64> {
                let mut jacobian = self.0.jacobian(x);
                jacobian[(1, 1)] *= 1.001;
                jacobian
            }
            fn lower(&self) -> DVector<f64> {
                self.0.lower()
            }
            fn upper(&self) -> DVector<f64> {
                self.0.upper()
            }
        }
        check_jacobian(&Wrong(Decay { least: -3.0 }), &DVector::from_vec(vec![1.5, -0.7]));
    }

    /// `x^2 - 1` and `(x - 1)/10`: nothing is left at 1, and something near -1.
    struct Wells;

    impl Residuals for Wells {
        fn residuals(&self, x: &DVector<f64>) -> DVector<f64> {
            DVector::from_vec(vec![x[0] * x[0] - 1.0, 0.1 * (x[0] - 1.0)])
        }

        fn jacobian(&self, x: &DVector<f64>) -> DMatrix<f64> {
            DMatrix::from_row_slice(2, 1, &[2.0 * x[0], 0.1])
        }

        fn lower(&self) -> DVector<f64> {
            DVector::from_vec(vec![-9.0])
        }

        fn upper(&self) -> DVector<f64> {
            DVector::from_vec(vec![9.0])
        }
    }

    #[test]
    fn of_two_minima_the_lower_is_the_one_whichever_comes_first() {
        for starts in [[-2.0, 2.0], [2.0, -2.0]] {
            let starts = starts.map(|x| DVector::from_vec(vec![x]));
            let found = minimise(&Wells, &starts).unwrap();
            approx::assert_relative_eq!(found.x[0], 1.0, max_relative = 1e-9);
            assert_eq!((found.starts, found.agreeing), (2, 1));
        }
    }

    #[test]
    fn ends_agree_to_a_millionth_of_what_there_is() {
        let problem = LeastSquares { a: DMatrix::from_element(1, 1, 1.0), b: DVector::zeros(1) };
        let mut best = problem.clone().solve().unwrap();
        // Effects of 1 by the unknown and 1 by what is left: two millionths.
        (best.x, best.cost) = (DVector::from_vec(vec![1.0]), 0.5);
        let count =
            |by: f64| agreeing(&problem, &best, &[(0.5, DVector::from_vec(vec![1.0 + by]))]);
        assert_eq!([1.9e-6, -1.9e-6, 2.1e-6].map(count), [1, 1, 0]);
    }
}
