//! The likeliest coefficients of a mean about some runs: steps of Gauss and Newton, by `argmin`.
//!
//! With a normal prior a0, P of the coefficients, slopes J and a covariance C of the runs about the mean,
//! one step leads to `a0 + P J' (C + J P J')^-1 (missed + J (a - a0))`, which needs no inverse of P:
//! priors may be as narrow as they like.

use argmin::core::{
    Error, Executor, IterState, KV, Operator, Problem, Solver, TerminationReason, TerminationStatus,
};
use nalgebra::{DMatrix, DVector};

use super::bases::Base;
use super::components::Data;
use super::form::{Form, Mean};

/// A mean, what its form makes of the runs, and the runs.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub mean: &'a Mean,
    pub form: &'a dyn Form,
    /// A row for each run.
    pub features: &'a [Vec<f64>],
    pub data: &'a Data,
}

/// The logarithms of a mean's times at the runs as a line about some coefficients.
pub(super) struct Tangent {
    /// What it misses the runs by at the prior's coefficients.
    pub missed: DVector<f64>,
    /// Its derivatives, a row for each run.
    pub slopes: DMatrix<f64>,
}

impl Tangent {
    /// The covariance of the runs that the prior of the coefficients makes.
    pub fn spread(&self, mean: &Mean) -> DMatrix<f64> {
        mean.spread_between(&self.slopes, &self.slopes)
    }
}

impl About<'_> {
    /// The line about these coefficients.
    pub fn tangent(&self, coefficients: &[f64]) -> Tangent {
        let (log_times, slopes) = self.mean.lines(self.form, coefficients, self.features);
        Tangent { missed: &self.data.log_times - log_times, slopes }
    }

    /// The coefficients after at most so many steps from some, the covariance of the runs about the mean
    /// being this; fewer once none is longer than that.
    pub fn climbed(
        &self,
        from: &DVector<f64>,
        base: &Base,
        (steps, settled): (u64, f64),
    ) -> DVector<f64> {
        let step = Step { about: *self, base };
        let climb = Climb { settled, last: f64::INFINITY };
        let executor = Executor::new(step, climb).timer(false);
        let result = executor.configure(|state| state.param(from.clone()).max_iters(steps)).run();
        let found = result.ok().and_then(|mut result| result.state.take_param());
        found.unwrap_or_else(|| from.clone())
    }
}

/// One step, which leads to other coefficients.
struct Step<'a> {
    about: About<'a>,
    base: &'a Base,
}

impl Operator for Step<'_> {
    type Param = DVector<f64>;
    type Output = DVector<f64>;

    fn apply(&self, coefficients: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let tangent = self.about.tangent(coefficients.as_slice());
        let to = self.base.step(self.about.mean, &tangent);
        to.ok_or_else(|| Error::msg("the covariance of the runs is none"))
    }
}

/// The farthest that a coefficient moves in one step.
const FARTHEST: f64 = 2.0;

/// Steps of limited length until they are short.
struct Climb {
    settled: f64,
    last: f64,
}

type Place = IterState<DVector<f64>, (), (), (), DVector<f64>, f64>;

impl<O> Solver<O, Place> for Climb
where
    O: Operator<Param = DVector<f64>, Output = DVector<f64>>,
{
    fn name(&self) -> &str {
        "Gauss-Newton with limited steps"
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<O>,
        mut state: Place,
    ) -> Result<(Place, Option<KV>), Error> {
        let from = state.take_param().ok_or_else(|| Error::msg("no coefficients to start from"))?;
        let to = problem.problem("steps", |step| step.apply(&from))?;
        let moved = (to - &from).map(|by| by.clamp(-FARTHEST, FARTHEST));
        self.last = moved.amax();
        Ok((state.param(from + moved), None))
    }

    fn terminate(&mut self, _: &Place) -> TerminationStatus {
        match self.last < self.settled {
            true => TerminationStatus::Terminated(TerminationReason::SolverConverged),
            false => TerminationStatus::NotTerminated,
        }
    }
}
