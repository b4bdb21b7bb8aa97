//! Least squares with bounds, as a solver for `argmin`.

use argmin::core::{
    Error as ArgminError, Executor, IterState, Jacobian, KV, Operator, Problem, Solver, State,
    TerminationReason, TerminationStatus,
};
use nalgebra::{DMatrix, DVector};

use crate::error::{Error, Result};

/// `minimise |A*x - b|^2 over x >= 0`.
#[derive(Debug, Clone)]
pub(crate) struct LeastSquares {
    pub a: DMatrix<f64>,
    pub b: DVector<f64>,
}

impl Operator for LeastSquares {
    type Param = DVector<f64>;
    type Output = DVector<f64>;

    /// The residuals `A*x - b`.
    fn apply(&self, x: &DVector<f64>) -> std::result::Result<DVector<f64>, ArgminError> {
        Ok(&self.a * x - &self.b)
    }
}

impl Jacobian for LeastSquares {
    type Param = DVector<f64>;
    type Jacobian = DMatrix<f64>;

    fn jacobian(&self, _: &DVector<f64>) -> std::result::Result<DMatrix<f64>, ArgminError> {
        Ok(self.a.clone())
    }
}

/// Where the solver ended.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub x: DVector<f64>,
    /// Which components the bound holds at zero.
    pub at_bound: Vec<bool>,
    pub iterations: u64,
    /// Half the sum of squared residuals.
    pub cost: f64,
    pub termination: String,
}

/// A change of x below this fraction of its size is rounding.
const STEP_TOLERANCE: f64 = 1e-12;

/// More iterations than any well-posed problem of ten unknowns takes.
const MAX_ITERATIONS: u64 = 200;

impl LeastSquares {
    /// Solves the problem from inside the bounds.
    pub fn solve(self) -> Result<Solution> {
        // Columns of unit length: seconds and counts differ by many orders of magnitude.
        let norms = DVector::from_iterator(
            self.a.ncols(),
            self.a.column_iter().map(|column| column.norm()),
        );
        let mut scaled = self.clone();
        for (mut column, norm) in scaled.a.column_iter_mut().zip(norms.iter()) {
            column /= *norm;
        }
        let start = DVector::from_element(self.a.ncols(), self.b.norm() / self.a.ncols() as f64);
        let solver = BoundedGaussNewton { bound: vec![false; self.a.ncols()], converged: false };
        let result = Executor::new(scaled, solver)
            .configure(|state| state.param(start).max_iters(MAX_ITERATIONS))
            .run()
            .map_err(|error| Error::Fit(error.to_string()))?;
        let TerminationStatus::Terminated(reason) = result.state.get_termination_status() else {
            return Err(Error::Fit("the solver stopped without a reason".into()));
        };
        if *reason != TerminationReason::SolverConverged {
            let iterations = result.state.get_iter();
            return Err(Error::Fit(format!("{} after {iterations} iterations", reason.text())));
        }
        let x = result.state.get_param().expect("invariant: a converged solver has its parameters");
        let x = x.component_div(&norms);
        Ok(Solution {
            cost: 0.5 * (&self.a * &x - &self.b).norm_squared(),
            x,
            at_bound: result.solver.bound,
            iterations: result.state.get_iter(),
            termination: reason.text().to_string(),
        })
    }
}

/// The method of Gauss and Newton with an active set, after Lawson and Hanson (Solving Least
/// Squares Problems, 1974, chapter 23): `argmin` has no least squares with bounds of its own.
///
/// Each step is the least-squares step of the components that no bound holds, by singular value
/// decomposition of their Jacobian, cut where the first of them meets its bound; that one is then
/// held. Where no step is left, the held component that would lower the cost most is released,
/// and where there is none, x is the minimum.
struct BoundedGaussNewton {
    /// Which components are held at zero.
    bound: Vec<bool>,
    converged: bool,
}

type LeastSquaresState = IterState<DVector<f64>, (), DMatrix<f64>, (), DVector<f64>, f64>;

impl<O> Solver<O, LeastSquaresState> for BoundedGaussNewton
where
    O: Operator<Param = DVector<f64>, Output = DVector<f64>>
        + Jacobian<Param = DVector<f64>, Jacobian = DMatrix<f64>>,
{
    fn name(&self) -> &str {
        "Gauss-Newton with bounds"
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<O>,
        mut state: LeastSquaresState,
    ) -> std::result::Result<(LeastSquaresState, Option<KV>), ArgminError> {
        let mut x = state.take_param().expect("invariant: the executor was given a start");
        let jacobian = problem.jacobian(&x)?;
        let residuals = problem.apply(&x)?;
        let step = self.free_step(&jacobian, &residuals);
        if step.norm() <= STEP_TOLERANCE * x.norm() {
            self.release(&(jacobian.transpose() * &residuals), &residuals);
        } else {
            self.advance(&mut x, &step);
        }
        let residuals = problem.apply(&x)?;
        let cost = 0.5 * residuals.norm_squared();
        Ok((state.param(x).residuals(residuals).cost(cost), None))
    }

    fn terminate(&mut self, _: &LeastSquaresState) -> TerminationStatus {
        if self.converged {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}

impl BoundedGaussNewton {
    /// The step that minimises `|J*d + r|` over the components that no bound holds.
    fn free_step(&self, jacobian: &DMatrix<f64>, residuals: &DVector<f64>) -> DVector<f64> {
        let free: Vec<usize> = (0..self.bound.len()).filter(|&each| !self.bound[each]).collect();
        let mut step = DVector::zeros(self.bound.len());
        if free.is_empty() {
            return step;
        }
        let svd = jacobian.select_columns(&free).svd(true, true);
        let of_free = svd
            .solve(&-residuals, f64::EPSILON)
            .expect("invariant: both sets of singular vectors were asked for");
        for (&index, change) in free.iter().zip(of_free.iter()) {
            step[index] = *change;
        }
        step
    }

    /// Goes along `step` as far as the bounds allow, and holds what meets them.
    fn advance(&mut self, x: &mut DVector<f64>, step: &DVector<f64>) {
        let reach = |index: usize| {
            if step[index] < 0.0 { x[index] / -step[index] } else { f64::INFINITY }
        };
        let length = (0..x.len()).map(reach).fold(1.0, f64::min);
        let meets: Vec<bool> = (0..x.len()).map(|index| reach(index) <= length).collect();
        *x += step * length;
        for index in 0..x.len() {
            if meets[index] || self.bound[index] {
                self.bound[index] = true;
                x[index] = 0.0;
            }
        }
    }

    /// Frees the held component along which the cost falls fastest, if there is one.
    fn release(&mut self, gradient: &DVector<f64>, residuals: &DVector<f64>) {
        let falls = |&index: &usize| {
            self.bound[index] && gradient[index] < -STEP_TOLERANCE * residuals.norm()
        };
        let steepest = (0..self.bound.len())
            .filter(falls)
            .min_by(|&one, &other| gradient[one].total_cmp(&gradient[other]));
        match steepest {
            Some(index) => self.bound[index] = false,
            None => self.converged = true,
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
        let mut released = 0;
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
            // More steps than components that met their bound, the last step and its check.
            let held = solution.at_bound.iter().filter(|&&held| held).count() as u64;
            released += u64::from(solution.iterations > held + 2);
        }
        assert!(released > 0, "no problem made the solver release a component");
    }
}
