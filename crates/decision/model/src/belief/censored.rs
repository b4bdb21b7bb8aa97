//! Runs that were stopped: what a bound below a time says of it.
//!
//! That y is above b is no normal distribution's likelihood. Given everything else, expectation
//! propagation (Minka 2001; Rasmussen and Williams, Gaussian Processes for Machine Learning, 3.6) puts
//! in its place a measurement of y with a value and a variance that leave y with the mean and the
//! variance of the normal distribution that is cut off at b. From there on it is a run like others.
//! One bound is met exactly, several that depend on each other nearly.

use crate::statistics::above;
use nalgebra::{DMatrix, DVector};

/// What stands in the place of a bound: as if its quantity had been measured.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stand {
    /// What was measured.
    pub value: f64,
    /// Variance of that measurement.
    pub variance: f64,
    /// The logarithm of what the likelihood of the bound is more than that of the measurement.
    pub log_factor: f64,
}

/// No measurement has a larger variance: a bound that says nothing.
const MOST_VARIANCE: f64 = 1e8;

/// Rounds through all bounds, at most.
const ROUNDS: usize = 50;

/// Once no precision moves by more than this part, it is settled.
const SETTLED: f64 = 1e-8;

/// Puts what stands for them in the place of bounds: the last `count` of what was missed are bounds, in
/// whose place come values, and variances are added to the covariance. The logarithm of the likelihood
/// of the bounds over that of the measurements; `None` where the covariance is none.
pub(super) fn as_measured(
    covariance: &mut DMatrix<f64>,
    missed: &mut DVector<f64>,
    count: usize,
) -> Option<f64> {
    if count == 0 {
        return Some(0.0);
    }
    let runs = missed.len() - count;
    let mut mean = DVector::zeros(count);
    let mut spread = covariance.view((runs, runs), (count, count)).into_owned();
    if runs > 0 {
        let factor = covariance.view((0, 0), (runs, runs)).into_owned().cholesky()?;
        let cross = covariance.view((0, runs), (runs, count)).into_owned();
        mean += cross.tr_mul(&factor.solve(&missed.rows(0, runs).into_owned()));
        spread -= cross.tr_mul(&factor.solve(&cross));
    }
    let bounds = missed.as_slice()[runs..].to_vec();
    let mut log_factor = 0.0;
    for (place, stand) in (runs..).zip(stands(&mean, &spread, &bounds)) {
        covariance[(place, place)] += stand.variance;
        missed[place] = stand.value;
        log_factor += stand.log_factor;
    }
    Some(log_factor)
}

/// What stands for each of some bounds, below quantities with these means and this covariance.
fn stands(mean: &DVector<f64>, covariance: &DMatrix<f64>, bounds: &[f64]) -> Vec<Stand> {
    let count = bounds.len();
    // Of each stand, its precision and that times its value.
    let mut natural = vec![(1.0 / MOST_VARIANCE, 0.0); count];
    let (mut at, mut spread) = (mean.clone(), covariance.clone());
    for (place, (_, value)) in natural.iter_mut().enumerate() {
        // Nothing but a large variance about what is expected anyway.
        *value = mean[place] / MOST_VARIANCE;
        move_by(place, (1.0 / MOST_VARIANCE, *value), (&mut at, &mut spread));
    }
    for _ in 0..ROUNDS {
        let mut largest = 0.0_f64;
        for (place, &bound) in bounds.iter().enumerate() {
            let (without, variance) = cavity(place, natural[place], (&at, &spread));
            let (_, cut_mean, cut_variance) = cut_off(without, variance, bound);
            let precision = (1.0 / cut_variance - 1.0 / variance).max(1.0 / MOST_VARIANCE);
            let wanted = (precision, cut_mean * (precision + 1.0 / variance) - without / variance);
            let old = natural[place];
            move_by(place, (wanted.0 - old.0, wanted.1 - old.1), (&mut at, &mut spread));
            natural[place] = wanted;
            largest = largest.max((wanted.0 - old.0).abs() * variance);
        }
        if largest < SETTLED {
            break;
        }
    }
    let stand = |(place, &bound): (usize, &f64)| {
        let (precision, scaled) = natural[place];
        let (value, own) = (scaled / precision, 1.0 / precision);
        let (without, variance) = cavity(place, natural[place], (&at, &spread));
        let (log_above, ..) = cut_off(without, variance, bound);
        let wide = variance + own;
        let density =
            -0.5 * ((value - without).powi(2) / wide + (std::f64::consts::TAU * wide).ln());
        Stand { value, variance: own, log_factor: log_above - density }
    };
    bounds.iter().enumerate().map(stand).collect()
}

/// Mean and variance of a quantity as everything but its own stand has it.
fn cavity(
    place: usize,
    (precision, scaled): (f64, f64),
    (at, spread): (&DVector<f64>, &DMatrix<f64>),
) -> (f64, f64) {
    let own = spread[(place, place)];
    let variance = 1.0 / (1.0 / own - precision);
    (variance * (at[place] / own - scaled), variance)
}

/// Changes the stand of a quantity, and what follows for all.
fn move_by(
    place: usize,
    (precision, scaled): (f64, f64),
    (at, spread): (&mut DVector<f64>, &mut DMatrix<f64>),
) {
    let column = spread.column(place).clone_owned();
    let room = 1.0 + precision * column[place];
    at.axpy((scaled - precision * at[place]) / room, &column, 1.0);
    spread.ger(-precision / room, &column, &column, 1.0);
}

/// The logarithm of the probability that a normal quantity is above a bound, and its mean and
/// variance where it is.
fn cut_off(mean: f64, variance: f64, bound: f64) -> (f64, f64, f64) {
    let deviation = variance.sqrt();
    let below = (bound - mean) / deviation;
    let log_density = -0.5 * (below * below + std::f64::consts::TAU.ln());
    // The density over the probability to be above.
    let (ratio, log_above) = if below < FAR {
        let above = above(below);
        (log_density.exp() / above, above.ln())
    } else {
        let ratio = inverse_mills(below);
        (ratio, log_density - ratio.ln())
    };
    // Rounding far out leaves no less than half of what it is there, 1/x^2.
    let left = (1.0 - ratio * (ratio - below)).max(0.5 / (2.0 + below * below));
    (log_above, mean + deviation * ratio, variance * left)
}

/// The density over the probability to be above, of a standard normal quantity far out: Laplace's
/// continued fraction.
fn inverse_mills(x: f64) -> f64 {
    (1..=LEVELS).rev().fold(x, |sum, level| x + f64::from(level) / sum)
}

/// Deviate from which the continued fraction is used, which needs so many levels for 1e-10 there.
const FAR: f64 = 5.0;
const LEVELS: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of two normal quantities, each above its bound, by sums over a fine grid: the
    /// probability, both means, both variances.
    fn integrated(mean: [f64; 2], spread: [[f64; 2]; 2], bounds: [f64; 2]) -> [f64; 5] {
        let [[a, b], [_, d]] = spread;
        let determinant = a * d - b * b;
        let (steps, width) = (1200, 9.0);
        let mut sums = [0.0; 5];
        let ends = |axis: usize| {
            let deviation = spread[axis][axis].sqrt();
            let low = bounds[axis].max(mean[axis] - width * deviation);
            (low, (low.max(mean[axis]) + width * deviation - low) / f64::from(steps))
        };
        let ((x0, dx), (y0, dy)) = (ends(0), ends(1));
        for i in 0..steps {
            let x = x0 + (f64::from(i) + 0.5) * dx;
            for j in 0..steps {
                let y = y0 + (f64::from(j) + 0.5) * dy;
                let (u, v) = (x - mean[0], y - mean[1]);
                let square = (d * u * u - 2.0 * b * u * v + a * v * v) / determinant;
                let mass =
                    (-0.5 * square).exp() * dx * dy / (std::f64::consts::TAU * determinant.sqrt());
                for (sum, of) in sums.iter_mut().zip([1.0, x, y, x * x, y * y]) {
                    *sum += mass * of;
                }
            }
        }
        let [all, x, y, xx, yy] = sums;
        let (x, y) = (x / all, y / all);
        [all, x, y, xx / all - x * x, yy / all - y * y]
    }

    /// The same by stands.
    fn found(mean: [f64; 2], spread: [[f64; 2]; 2], bounds: &[f64]) -> [f64; 5] {
        let count = bounds.len();
        let all = DMatrix::from_fn(2, 2, |row, column| spread[row][column]);
        let mean = DVector::from_row_slice(&mean);
        let (part, block) = (mean.rows(0, count).into_owned(), all.view((0, 0), (count, count)));
        let stands = stands(&part, &block.into_owned(), bounds);
        let mut measured = block.into_owned();
        let mut missed = DVector::zeros(count);
        for (place, stand) in stands.iter().enumerate() {
            measured[(place, place)] += stand.variance;
            missed[place] = stand.value - part[place];
        }
        let factor = measured.cholesky().unwrap();
        let pull = factor.solve(&missed);
        let cross = all.rows(0, count).into_owned();
        let at = &mean + cross.tr_mul(&pull);
        let left = &all - cross.tr_mul(&factor.solve(&cross));
        let log_density = -0.5 * missed.dot(&pull)
            - factor.l().diagonal().map(f64::ln).sum()
            - 0.5 * count as f64 * std::f64::consts::TAU.ln();
        let log_all = log_density + stands.iter().map(|it| it.log_factor).sum::<f64>();
        [log_all.exp(), at[0], at[1], left[(0, 0)], left[(1, 1)]]
    }

    const SPREADS: [[[f64; 2]; 2]; 3] =
        [[[1.0, 0.0], [0.0, 0.5]], [[1.0, 0.6], [0.6, 0.5]], [[0.04, -0.03], [-0.03, 0.09]]];

    #[test]
    fn one_bound_leaves_the_moments_of_the_distribution_that_is_cut_off() {
        let mean = [1.0, 2.0];
        for spread in SPREADS {
            for bound in [-1.0, 0.9, 1.3, 1.7] {
                let found = found(mean, spread, &[bound]);
                let expected = integrated(mean, spread, [bound, -1e3]);
                for (found, expected) in found.into_iter().zip(expected) {
                    approx::assert_relative_eq!(found, expected, max_relative = 2e-3);
                }
            }
        }
    }

    #[test]
    fn two_bounds_leave_nearly_the_moments_of_the_distribution_that_is_cut_off_twice() {
        let mean = [1.0, 2.0];
        for spread in SPREADS {
            for bounds in [[0.8, 2.4], [1.3, 1.9], [1.4, 2.5]] {
                let found = found(mean, spread, &bounds);
                let expected = integrated(mean, spread, bounds);
                for (found, expected) in found.into_iter().zip(expected) {
                    approx::assert_relative_eq!(found, expected, max_relative = 0.1);
                }
            }
        }
    }

    #[test]
    fn a_bound_far_below_says_nothing_and_one_far_above_is_met() {
        let one = DMatrix::from_element(1, 1, 0.04);
        let [stand] = stands(&DVector::from_element(1, 3.0), &one, &[0.0])[..] else { panic!() };
        assert!(stand.variance > 1e6 && stand.log_factor.is_finite(), "{stand:?}");
        // 40 standard deviations above.
        let [stand] = stands(&DVector::from_element(1, 3.0), &one, &[11.0])[..] else { panic!() };
        let gain = 0.04 / (0.04 + stand.variance);
        let at = 3.0 + gain * (stand.value - 3.0);
        assert!((11.0..11.01).contains(&at), "{at}");
    }
}
