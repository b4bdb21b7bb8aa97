//! The likeliest coefficients of a mean about some runs: steps of Gauss and Newton, by `argmin`.
//!
//! With a normal prior a0, P of the coefficients, slopes J and a covariance C of the runs about the mean,
//! one step leads to `a0 + P J' (C + J P J')^-1 (missed + J (a - a0))`, which needs no inverse of P:
//! priors may be as narrow as they like.
//!
//! Covariances of the runs are taken apart once for all means: a mean adds what its coefficients make, `J P J'`, of a rank far below the number of runs. With the
//! factor L of a base C and `W = L^-1 J P^1/2`, everything that is asked of `C + J P J'` follows from
//! `M = I + W' W`, one row for each coefficient (Woodbury): its determinant is that of C times that of M,
//! and the coefficients are pulled by `P^1/2 M^-1 W' L^-1 missed`.

use argmin::core::{
    Error, Executor, IterState, KV, Operator, Problem, Solver, TerminationReason, TerminationStatus,
};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::components::{Data, given};
use super::form::{Form, PriorMean};
use super::scatter;
use super::scatter::{Node, ScatterGrid};
use crate::statistics::log_root;

/// A mean, what its form makes of the runs, and the runs.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub mean: &'a PriorMean,
    pub form: &'a dyn Form,
    /// A row for each run.
    pub features: &'a [Vec<f64>],
    pub data: &'a Data,
}

/// The logarithms of a mean's times at the runs as a line about some coefficients.
pub(super) struct Tangent {
    /// What it misses the runs by at the prior's coefficients.
    pub missed: DVector<f64>,
    /// Derivatives, a row for each run.
    pub slopes: DMatrix<f64>,
}

impl Tangent {
    /// The covariance of the runs that the prior of the coefficients makes.
    pub fn spread(&self, mean: &PriorMean) -> DMatrix<f64> {
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

/// Step of Gauss and Newton, which leads to other coefficients.
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

type ClimbState = IterState<DVector<f64>, (), (), (), DVector<f64>, f64>;

impl<O> Solver<O, ClimbState> for Climb
where
    O: Operator<Param = DVector<f64>, Output = DVector<f64>>,
{
    fn name(&self) -> &str {
        "Gauss-Newton with limited steps"
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<O>,
        mut state: ClimbState,
    ) -> Result<(ClimbState, Option<KV>), Error> {
        let from = state.take_param().ok_or_else(|| Error::msg("no coefficients to start from"))?;
        let to = problem.problem("steps", |step| step.apply(&from))?;
        let moved = (to - &from).map(|by| by.clamp(-FARTHEST, FARTHEST));
        self.last = moved.amax();
        Ok((state.param(from + moved), None))
    }

    fn terminate(&mut self, _: &ClimbState) -> TerminationStatus {
        match self.last < self.settled {
            true => TerminationStatus::Terminated(TerminationReason::SolverConverged),
            false => TerminationStatus::NotTerminated,
        }
    }
}

/// Covariance of the runs about a mean, with its factor.
pub(super) struct Base {
    covariance: DMatrix<f64>,
    /// Factor of the covariance; `None` where it has none, or nothing needs it.
    factor: Option<Cholesky<f64, Dyn>>,
    /// The inverse of that, where many means are whitened: products cost less than substitutions.
    inverse: Option<DMatrix<f64>>,
    /// How many of the runs were stopped.
    stopped: usize,
}

/// Sizes of the misfit with the covariances that they make at the middle noise.
pub(super) struct Bases {
    pub grid: ScatterGrid,
    middle: Vec<Base>,
}

/// What a mean is about a base.
struct WhitenedMean {
    gram: Cholesky<f64, Dyn>,
    along: DVector<f64>,
    square: f64,
    log_root: f64,
}

impl Base {
    /// The base of one mean.
    pub fn of(data: &Data, node: &Node) -> Self {
        let covariance = data.covariance(node);
        let stopped = data.stopped();
        let factor = (stopped == 0).then(|| covariance.clone().cholesky()).flatten();
        Self { covariance, factor, inverse: None, stopped }
    }

    /// A base of many means, which is worth an inverse.
    fn for_many(data: &Data, node: &Node) -> Self {
        let mut base = Self::of(data, node);
        base.inverse = base.factor.as_ref().map(|factor| {
            let mut inverse = DMatrix::identity(data.sites.len(), data.sites.len());
            factor.l_dirty().solve_lower_triangular_mut(&mut inverse);
            inverse
        });
        base
    }

    /// Whether the few coefficients are less work than the runs. What was stopped changes the covariance.
    fn is_worth_it(&self, mean: &PriorMean) -> bool {
        self.stopped == 0 && mean.prior.len() < self.covariance.nrows()
    }

    fn whitened(&self, mean: &PriorMean, tangent: &Tangent) -> Option<WhitenedMean> {
        let factor = self.factor.as_ref()?;
        let mut slopes = tangent.slopes.clone();
        for (mut column, (_, variance)) in slopes.column_iter_mut().zip(&mean.prior) {
            column *= variance.sqrt();
        }
        let mut missed = tangent.missed.clone();
        match &self.inverse {
            Some(inverse) => (slopes, missed) = (inverse * slopes, inverse * missed),
            None => {
                factor.l_dirty().solve_lower_triangular_mut(&mut slopes);
                factor.l_dirty().solve_lower_triangular_mut(&mut missed);
            }
        }
        let mut gram = slopes.tr_mul(&slopes);
        (0..gram.nrows()).for_each(|place| gram[(place, place)] += 1.0);
        Some(WhitenedMean {
            gram: gram.cholesky()?,
            along: slopes.tr_mul(&missed),
            square: missed.norm_squared(),
            log_root: log_root(factor),
        })
    }

    /// The logarithm of how likely a mean makes the runs; minus infinity where nothing can be said.
    fn log_evidence(&self, mean: &PriorMean, tangent: &Tangent) -> f64 {
        let found = if self.is_worth_it(mean) {
            self.whitened(mean, tangent).map(|it| {
                let constant = 0.5 * tangent.missed.len() as f64 * std::f64::consts::TAU.ln();
                let explained = it.along.dot(&it.gram.solve(&it.along));
                -0.5 * (it.square - explained) - it.log_root - log_root(&it.gram) - constant
            })
        } else {
            let covariance = &self.covariance + tangent.spread(mean);
            given(covariance, &tangent.missed, self.stopped).map(|it| it.log_density)
        };
        found.unwrap_or(f64::NEG_INFINITY)
    }

    /// The coefficients that one step leads to.
    pub fn step(&self, mean: &PriorMean, tangent: &Tangent) -> Option<DVector<f64>> {
        if self.is_worth_it(mean) {
            let WhitenedMean { gram, along, .. } = self.whitened(mean, tangent)?;
            let mut to = gram.solve(&along);
            for (to, (mean, variance)) in to.iter_mut().zip(&mean.prior) {
                *to = mean + variance.sqrt() * *to;
            }
            return Some(to);
        }
        let covariance = &self.covariance + tangent.spread(mean);
        let given = given(covariance, &tangent.missed, self.stopped)?;
        Some(mean.pulled(&tangent.slopes, given.pull()))
    }
}

impl Bases {
    pub fn new(grid: ScatterGrid, data: &Data) -> Self {
        let noise = grid.middle_noise();
        let of = |(node, _): &(Node, f64)| Base::for_many(data, &Node { noise, ..*node });
        Self { middle: grid.nodes.iter().map(of).collect(), grid }
    }

    /// The likeliest beforehand.
    pub fn first(&self) -> &Base {
        &self.middle[self.grid.likeliest()]
    }

    /// How likely a mean makes the runs with each size of the misfit.
    pub fn log_evidences(&self, mean: &PriorMean, tangent: &Tangent) -> impl Iterator<Item = f64> {
        self.middle.iter().map(|base| base.log_evidence(mean, tangent))
    }

    /// The covariance that makes the runs likeliest about a mean: of the size of the misfit that does so
    /// at the middle noise, and of the noise that does so then.
    pub fn likeliest(&self, mean: &PriorMean, tangent: &Tangent, data: &Data) -> Base {
        let evidences = self.log_evidences(mean, tangent).zip(&self.grid.nodes);
        let place = scatter::likeliest(evidences.map(|(evidence, (_, prior))| evidence + prior));
        let node = self.grid.nodes[place].0;
        let base = |&noise: &f64| Base::of(data, &Node { noise, ..node });
        let mut at_noises: Vec<Base> = self.grid.noises.iter().map(base).collect();
        let noise = scatter::likeliest(at_noises.iter().map(|it| it.log_evidence(mean, tangent)));
        at_noises.swap_remove(noise)
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels::Levels;
    use super::super::scatter::Apart;
    use super::*;
    use crate::models::observations::{Observation, Observations};
    use mmgp_base::Mapping;
    use mmgp_base::units::Seconds;

    #[test]
    fn few_coefficients_say_of_many_runs_what_all_of_their_covariance_does() {
        let observed = |(place, p): (usize, u32)| Observation {
            mapping: Mapping::of(1 + place as u32 % 3, p),
            level: 0,
            time: Seconds(3.0 + (place as f64).sin()),
            repetitions: 1.0 + place as f64,
        };
        let all = [1, 2, 3, 4, 6, 8].into_iter().enumerate().map(observed).collect();
        let runs = Observations::new("runs.csv", all, 0.0, 0.0);
        let data = Data::of(&runs, Levels::none());
        let base =
            Base::of(&data, &Node { size: 0.2, own: 0.04, apart: Apart::NOTHING, noise: 0.1 });
        let prior = vec![(0.5, 4.0), (-1.0, 0.25)];
        let mean = PriorMean { name: "toy".into(), form: 0, prior, loose: 0.0, log_prior: 0.0 };
        let tangent = Tangent {
            missed: data.log_times.clone(),
            slopes: DMatrix::from_fn(6, 2, |row, column| (row as f64 - 2.0).powi(column as i32)),
        };
        let covariance = &base.covariance + tangent.spread(&mean);
        let given = given(covariance, &tangent.missed, 0).unwrap();
        let found = base.log_evidence(&mean, &tangent);
        approx::assert_relative_eq!(found, given.log_density, max_relative = 1e-10);
        let step = base.step(&mean, &tangent).unwrap();
        let expected = mean.pulled(&tangent.slopes, given.pull());
        approx::assert_relative_eq!(step, expected, max_relative = 1e-10);
    }
}
