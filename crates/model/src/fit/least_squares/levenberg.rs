//! The method of Levenberg and Marquardt within bounds.

use argmin::core::{
    Error as ArgminError, IterState, Jacobian, KV, Operator, Problem, Solver, TerminationReason,
    TerminationStatus,
};
use nalgebra::{DMatrix, DVector};

use super::Residuals;
use super::plan::{End, Plan};
use super::step::{Limits, Linear};

/// Residuals in the terms of `argmin`.
pub(super) struct Bounded<'a, P>(pub &'a P);

impl<P: Residuals> Operator for Bounded<'_, P> {
    type Param = DVector<f64>;
    type Output = DVector<f64>;

    fn apply(&self, x: &DVector<f64>) -> Result<DVector<f64>, ArgminError> {
        Ok(self.0.residuals(x))
    }
}

impl<P: Residuals> Jacobian for Bounded<'_, P> {
    type Param = DVector<f64>;
    type Jacobian = DMatrix<f64>;

    fn jacobian(&self, x: &DVector<f64>) -> Result<DMatrix<f64>, ArgminError> {
        Ok(self.0.jacobian(x))
    }
}

/// A step below this fraction of every unknown is the last.
const STEP_TOLERANCE: f64 = 1e-11;

/// A change of the sum of squares below this fraction cannot be told from rounding.
const SUM_TOLERANCE: f64 = 1e-11;

/// A fraction of the largest summand that rounding of residuals may reach.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The least damping keeps unknowns that the data cannot tell apart from running away.
const LEAST_DAMPING: f64 = 1e-26;

/// Beyond this damping, steps are rounding.
const LARGEST_DAMPING: f64 = 1e20;

/// How far along a step the curvature of the residuals is probed.
const PROBE: f64 = 0.1;

/// The largest bend of a step in parts of its length, the figure of Transtrum and Sethna.
const LARGEST_BEND: f64 = 0.75;

/// What is left after a step of the largest length that a column has had.
const FORGETTING: f64 = 0.95;

/// A column of less than this fraction of its largest length, or an unknown that as a whole makes
/// up less than this fraction of the residuals, ran to where it has no effect.
const NO_EFFECT: f64 = 1e-6;

/// Steps within rounding of the sum of squares after which the search ends in any case.
const QUIET_STEPS: u32 = 50;

/// Marquardt, SIAM J. Appl. Math. 11 (1963) 431; the damping follows the ratio of actual and
/// predicted fall as in Nielsen, Damping Parameter in Marquardt's Method (1999), but falls faster
/// where the linear problem predicts well; the scale of each unknown is the largest length that
/// its column has had (More, Lecture Notes in Mathematics 630 (1978) 105), forgotten slowly so that
/// a start from which it is huge does not hold an unknown for ever.
pub(super) struct LevenbergMarquardt {
    lower: DVector<f64>,
    upper: DVector<f64>,
    pub x: DVector<f64>,
    residuals: DVector<f64>,
    pub cost: f64,
    pub at_bound: Vec<bool>,
    /// How it ended; absent while it runs, or where no minimum was found.
    pub end: Option<End>,
    lost: bool,
    linear: Linear,
    /// The largest length of each column, of which every step forgets some.
    longest: Vec<f64>,
    longest_ever: Vec<f64>,
    damping: f64,
    growth: f64,
    quiet: u32,
    last_length: f64,
    low: Vec<f64>,
    high: Vec<f64>,
    weights: Vec<f64>,
    z: Vec<f64>,
    /// At x, for the curvature.
    jacobian: DMatrix<f64>,
    accelerated: bool,
}

impl LevenbergMarquardt {
    pub fn new(lower: DVector<f64>, upper: DVector<f64>, plan: Plan) -> Self {
        let unknowns = lower.len();
        Self {
            lower,
            upper,
            x: DVector::zeros(0),
            residuals: DVector::zeros(0),
            cost: f64::INFINITY,
            at_bound: vec![false; unknowns],
            end: None,
            lost: false,
            linear: Linear::new(unknowns),
            longest: vec![0.0; unknowns],
            longest_ever: vec![0.0; unknowns],
            damping: plan.damping,
            growth: 2.0,
            quiet: 0,
            last_length: f64::INFINITY,
            low: vec![0.0; unknowns],
            high: vec![0.0; unknowns],
            weights: vec![1.0; unknowns],
            z: vec![0.0; unknowns],
            jacobian: DMatrix::zeros(0, 0),
            accelerated: plan.accelerated,
        }
    }
}

type LeastSquaresState = IterState<DVector<f64>, (), DMatrix<f64>, (), DVector<f64>, f64>;

impl<O> Solver<O, LeastSquaresState> for LevenbergMarquardt
where
    O: Operator<Param = DVector<f64>, Output = DVector<f64>>
        + Jacobian<Param = DVector<f64>, Jacobian = DMatrix<f64>>,
{
    fn name(&self) -> &str {
        "Levenberg-Marquardt within bounds"
    }

    fn init(
        &mut self,
        problem: &mut Problem<O>,
        mut state: LeastSquaresState,
    ) -> Result<(LeastSquaresState, Option<KV>), ArgminError> {
        self.x = state.take_param().expect("invariant: the executor was given a start");
        self.residuals = problem.apply(&self.x)?;
        self.cost = 0.5 * self.residuals.norm_squared();
        if !self.cost.is_finite() {
            return Err(ArgminError::msg("the start has no finite residuals"));
        }
        Ok((state.param(self.x.clone()).cost(self.cost), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<O>,
        state: LeastSquaresState,
    ) -> Result<(LeastSquaresState, Option<KV>), ArgminError> {
        let jacobian = problem.jacobian(&self.x)?;
        if !jacobian.iter().all(|each| each.is_finite()) {
            return Err(ArgminError::msg("a derivative is not finite"));
        }
        self.linear.set(&jacobian, self.residuals.as_slice());
        self.set_limits();
        self.jacobian = jacobian;
        while self.end.is_none() && !self.lost {
            if self.try_step(problem)? {
                break;
            }
        }
        let state = if self.end.is_some() { state.param(self.x.clone()) } else { state };
        Ok((state.cost(self.cost), None))
    }

    fn terminate(&mut self, _: &LeastSquaresState) -> TerminationStatus {
        if self.end.is_some() || self.lost {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}

impl LevenbergMarquardt {
    /// How far each unknown may move, and how strongly it is damped, in units of its column.
    fn set_limits(&mut self) {
        for index in 0..self.x.len() {
            let norm = self.linear.norms[index];
            self.longest[index] = norm.max(FORGETTING * self.longest[index]);
            self.longest_ever[index] = norm.max(self.longest_ever[index]);
            self.weights[index] = self.longest[index] / norm;
            self.low[index] = (self.lower[index] - self.x[index]) * norm;
            self.high[index] = (self.upper[index] - self.x[index]) * norm;
        }
    }

    /// Whether the search ran to where an unknown has next to no effect: the sum of squares may be
    /// flat there without being least.
    pub fn is_astray(&self) -> bool {
        let norms = &self.linear.norms;
        let residuals = (2.0 * self.cost).sqrt();
        let faded = |index: usize| norms[index] < NO_EFFECT * self.longest_ever[index];
        let idle = |index: usize| {
            self.x[index] != 0.0 && (self.x[index] * norms[index]).abs() < NO_EFFECT * residuals
        };
        let lost = |index: usize| self.linear.is_empty(index) || faded(index) || idle(index);
        (0..self.x.len()).any(|index| !self.at_bound[index] && lost(index))
    }

    /// The largest summand of the residuals, as far as the unknowns tell.
    fn size(&self) -> f64 {
        let effect = |(x, norm): (&f64, &f64)| (x * norm).abs();
        self.x.iter().zip(&self.linear.norms).map(effect).fold(0.0, f64::max)
    }

    /// Tries one step; answers whether it was taken.
    fn try_step<O>(&mut self, problem: &mut Problem<O>) -> Result<bool, ArgminError>
    where
        O: Operator<Param = DVector<f64>, Output = DVector<f64>>,
    {
        let limits = Limits {
            low: &self.low,
            high: &self.high,
            weights: &self.weights,
            damping: self.damping,
        };
        self.linear.solve(&limits, &mut self.z, &mut self.at_bound);
        let predicted = self.linear.predicted_fall(&self.z);
        let size = self.size();
        let noise = SUM_TOLERANCE * self.cost + 0.5 * (ROUNDING * size).powi(2);
        let quiet = predicted <= noise;
        if self.accelerated && !quiet && !self.bend(problem)? {
            self.tighten();
            return Ok(false);
        }
        let moved = self.moved();
        let rounding = ROUNDING * (size + (2.0 * self.cost).sqrt());
        let is_rounding = self.z.iter().enumerate().all(|(index, z)| {
            let step = (moved[index] - self.x[index]).abs();
            step <= STEP_TOLERANCE * moved[index].abs() || z.abs() <= rounding
        });
        let residuals = problem.apply(&moved)?;
        let cost = 0.5 * residuals.norm_squared();
        let accepted =
            if quiet { cost <= self.cost + noise } else { self.cost - cost > 1e-4 * predicted };
        if accepted {
            let ratio = if quiet { 1.0 } else { (self.cost - cost) / predicted };
            self.take(moved, residuals, cost);
            self.relax(ratio);
            self.finish(is_rounding, quiet);
        } else if is_rounding && self.damping < 1e-3 {
            self.end = Some(End::StepIsRounding);
        } else {
            self.tighten();
        }
        Ok(accepted)
    }

    /// Bends the step along the curvature of the residuals in its direction (geodesic
    /// acceleration: Transtrum, Machta and Sethna, Phys. Rev. E 83 (2011) 036701); answers
    /// whether the step was straight enough for that to help.
    fn bend<O>(&mut self, problem: &mut Problem<O>) -> Result<bool, ArgminError>
    where
        O: Operator<Param = DVector<f64>, Output = DVector<f64>>,
    {
        let step =
            DVector::from_fn(self.z.len(), |index, _| self.z[index] / self.linear.norms[index]);
        let ahead = problem.apply(&(&self.x + PROBE * &step))?;
        let curvature =
            (2.0 / PROBE) * ((ahead - &self.residuals) / PROBE - &self.jacobian * &step);
        if !curvature.iter().all(|each| each.is_finite()) {
            return Ok(false);
        }
        let slopes: Vec<f64> = (0..self.z.len())
            .map(|index| self.jacobian.column(index).dot(&curvature) / self.linear.norms[index])
            .collect();
        let bend = self.linear.respond(&slopes, &self.at_bound);
        let weighted = |z: &[f64]| {
            z.iter().zip(&self.weights).map(|(z, weight)| (z * weight).powi(2)).sum::<f64>().sqrt()
        };
        if 2.0 * weighted(&bend) > LARGEST_BEND * weighted(&self.z) {
            return Ok(false);
        }
        for (index, bend) in bend.iter().enumerate() {
            if !self.at_bound[index] {
                let bent = self.z[index] + 0.5 * bend;
                self.z[index] = bent.max(self.low[index]).min(self.high[index]);
            }
        }
        Ok(true)
    }

    /// x after the step, exactly at the bounds that hold it.
    fn moved(&self) -> DVector<f64> {
        let moved = |index: usize| {
            let (low, high) = (self.lower[index], self.upper[index]);
            if self.at_bound[index] {
                let is_low = self.z[index] <= self.low[index];
                return if is_low { low } else { high };
            }
            (self.x[index] + self.z[index] / self.linear.norms[index]).max(low).min(high)
        };
        DVector::from_fn(self.x.len(), |index, _| moved(index))
    }

    fn take(&mut self, moved: DVector<f64>, residuals: DVector<f64>, cost: f64) {
        self.x = moved;
        self.residuals = residuals;
        self.cost = cost;
    }

    /// Damps less after a step, the less the better it was predicted.
    fn relax(&mut self, ratio: f64) {
        let factor = match (ratio - 1.0).abs() {
            error if error < 0.01 => 1e-4,
            error if error < 0.1 => 1e-2,
            _ => (1.0 - (2.0 * ratio - 1.0).powi(3)).max(1.0 / 3.0),
        };
        self.damping = (self.damping * factor).max(LEAST_DAMPING);
        self.growth = 2.0;
    }

    /// Damps more where a step failed, ever faster.
    fn tighten(&mut self) {
        self.damping *= if self.damping < 1e-6 { 10.0 * self.growth } else { self.growth };
        self.growth *= 2.0;
        if self.damping > LARGEST_DAMPING {
            let slope = |index: usize| self.linear.slope_at_start(index).abs();
            let free = (0..self.x.len()).filter(|&index| !self.at_bound[index]);
            let steepest = free.map(slope).fold(0.0, f64::max);
            // The cosine between residuals and columns at which the sum is flat to rounding.
            if steepest <= 1e-7 * (2.0 * self.cost).sqrt() {
                self.end = Some(End::SumIsRounding);
            } else {
                self.lost = true;
            }
        }
    }

    /// Ends the search where the step that was taken is the last.
    fn finish(&mut self, is_rounding: bool, quiet: bool) {
        let length = self.z.iter().map(|z| z * z).sum::<f64>().sqrt();
        self.quiet = if quiet { self.quiet + 1 } else { 0 };
        let shrinks = length < self.last_length;
        self.last_length = length;
        if (2.0 * self.cost).sqrt() <= f64::EPSILON * self.size() {
            self.end = Some(End::NothingLeft);
        } else if is_rounding && self.damping < 1e-3 {
            self.end = Some(End::StepIsRounding);
        } else if self.quiet > QUIET_STEPS || (self.quiet > 2 && !shrinks) {
            self.end = Some(End::SumIsRounding);
        }
    }
}

#[cfg(test)]
mod tests;
