//! What a measurement is expected to gain: the knowledge gradient for correlated beliefs (Frazier,
//! Powell, Dayanik, INFORMS Journal on Computing 21, 2009).
//!
//! A measured quantity y moves the expected logarithm of the time of each configuration c by
//! `k_c * z`, z being a standard normal deviate and
//!
//! `k_c = cov(ln T(c), y) / sqrt(var(y) + noise^2)`.
//!
//! Whoever chooses after the measurement takes the least, so that it lowers the expected cost by
//!
//! `min over c of E ln T(c) - E[min over c of (E ln T(c) + k_c * z)]`.
//!
//! The expectation over z is that of a function made of straight lines, known in closed form.
//! Nothing is drawn for it.

use nalgebra::{DMatrix, DVector};

use crate::belief::Joint;
use crate::statistics::beyond;

/// What is believed of some times, as it changes by runs of them.
pub(super) struct Learning {
    log_times: DVector<f64>,
    covariance: DMatrix<f64>,
    noise_variance: f64,
}

impl Learning {
    /// Of runs with a noise of this variance in the logarithm.
    pub fn new(joint: &Joint, noise_variance: f64) -> Self {
        let (log_times, covariance) = (joint.log_times(), joint.covariance());
        Self { log_times, covariance, noise_variance }
    }

    /// The expected logarithms of the times.
    pub fn log_times(&self) -> &DVector<f64> {
        &self.log_times
    }

    /// What a measurement gains that has this variance, noise included, and these covariances with
    /// the times.
    pub fn gain_of(&self, covariances: impl Iterator<Item = f64>, variance: f64) -> f64 {
        let scale = if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 };
        let line = |(log_time, covariance): (&f64, f64)| Line {
            // The least time is the largest of the negative ones.
            height: -log_time,
            slope: -scale * covariance,
        };
        let gain = gain(self.log_times.iter().zip(covariances).map(line).collect());
        // To first order, no less than this means anything.
        if gain > RESOLUTION { gain } else { 0.0 }
    }

    /// The standard deviation that a measurement leaves of the logarithm at a place.
    pub fn left(&self, place: usize, covariance: f64, variance: f64) -> f64 {
        let learnt = if variance > 0.0 { covariance.powi(2) / variance } else { 0.0 };
        (self.covariance[(place, place)] - learnt).max(0.0).sqrt()
    }

    /// The variance of a run at a place, noise included, and its covariances with all.
    pub fn run(&self, place: usize) -> (f64, Vec<f64>) {
        let variance = self.covariance[(place, place)] + self.noise_variance;
        (variance, self.covariance.column(place).iter().copied().collect())
    }
}

/// A gain below this part of the time counts as none.
const RESOLUTION: f64 = 1e-9;

/// `height + slope * z`
#[derive(Clone, Copy)]
struct Line {
    height: f64,
    slope: f64,
}

/// `E[max over all lines] - max over all heights` for a standard normal z.
///
/// The largest of lines is one after the other, by increasing slope, with corners at z_i between
/// them: the sum over corners of `(slope_after - slope_before) * f(-|z_i|)` with
/// `f(z) = phi(z) + z*Phi(z)`.
fn gain(mut lines: Vec<Line>) -> f64 {
    lines.sort_by(|one, other| {
        one.slope.total_cmp(&other.slope).then(one.height.total_cmp(&other.height))
    });
    let mut envelope: Vec<(Line, f64)> = Vec::new();
    for line in lines {
        let mut from = f64::NEG_INFINITY;
        while let Some(&(last, last_from)) = envelope.last() {
            if line.slope == last.slope {
                // The later one is not lower.
                envelope.pop();
                continue;
            }
            from = (last.height - line.height) / (line.slope - last.slope);
            if from > last_from {
                break;
            }
            envelope.pop();
            from = f64::NEG_INFINITY;
        }
        envelope.push((line, from));
    }
    let corner =
        |pair: &[(Line, f64)]| (pair[1].0.slope - pair[0].0.slope) * beyond(-pair[1].1.abs());
    // From +0: the sum of no floats would be -0.
    envelope.windows(2).map(corner).fold(0.0, |sum, corner| sum + corner)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn the_gain_of_two_lines_is_known_in_closed_form() {
        let lines = vec![Line { height: 0.0, slope: 0.0 }, Line { height: -0.5, slope: 0.5 }];
        // E[max(0, 0.5 z - 0.5)] = 0.5 (phi(1) - Phi(-1)).
        approx::assert_relative_eq!(gain(lines), 0.041_657_735, max_relative = 1e-6);
        let parallel = vec![Line { height: 0.0, slope: 1.0 }, Line { height: -1.0, slope: 1.0 }];
        assert_eq!(gain(parallel), 0.0);
    }

    #[test]
    fn the_gain_of_many_lines_is_the_mean_of_their_maximum() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(8);
        let mut normal = || -> f64 { StandardNormal.sample(random) };
        for _ in 0..20 {
            let lines: Vec<Line> =
                (0..30).map(|_| Line { height: normal(), slope: normal() }).collect();
            let highest = lines.iter().map(|line| line.height).fold(f64::NEG_INFINITY, f64::max);
            let (mut sum, mut squares) = (0.0, 0.0);
            let draws = 20_000;
            for _ in 0..draws {
                let z = normal();
                let at = |line: &Line| line.height + line.slope * z;
                let most = lines.iter().map(at).fold(f64::NEG_INFINITY, f64::max) - highest;
                sum += most;
                squares += most * most;
            }
            let mean = sum / f64::from(draws);
            let error = ((squares / f64::from(draws) - mean * mean) / f64::from(draws)).sqrt();
            let found = gain(lines);
            assert!((found - mean).abs() < 4.5 * error, "{found} {mean} {error}");
        }
    }

    #[test]
    fn a_measurement_leaves_what_it_does_not_explain() {
        let learning = Learning {
            log_times: DVector::from_vec(vec![0.0, 1.0]),
            covariance: DMatrix::from_row_slice(2, 2, &[4.0, 1.0, 1.0, 9.0]),
            noise_variance: 0.5,
        };
        // 4 - 3^2/6 and 9 - 3^2/6; what is known already tells nothing.
        approx::assert_relative_eq!(
            learning.left(0, 3.0, 6.0),
            2.5_f64.sqrt(),
            max_relative = 1e-12
        );
        approx::assert_relative_eq!(
            learning.left(1, 3.0, 6.0),
            7.5_f64.sqrt(),
            max_relative = 1e-12
        );
        assert_eq!(learning.left(0, 0.0, 0.0), 2.0);
        assert_eq!(learning.left(0, 3.0, 1.0), 0.0);
        assert_eq!(learning.run(1), (9.5, vec![1.0, 9.0]));
        assert_eq!(learning.gain_of([0.0, 0.0].into_iter(), 0.0), 0.0);
        // Whatever rounding leaves of its covariances.
        assert_eq!(learning.gain_of([1e-17, -1e-17].into_iter(), 0.0), 0.0);
    }

    #[test]
    fn a_measurement_gains_where_it_may_turn_the_order_round() {
        let learning = Learning {
            log_times: DVector::from_vec(vec![0.0, 0.5]),
            covariance: DMatrix::identity(2, 2),
            noise_variance: 0.0,
        };
        // The second is slower by 0.5, and its time moves by 1/2 for each standard deviation of what is
        // measured: E[max(0, z/2 - 1/2)] = (phi(1) - Phi(-1))/2, whichever way it moves.
        for covariance in [1.0, -1.0] {
            let gain = learning.gain_of([0.0, covariance].into_iter(), 4.0);
            approx::assert_relative_eq!(gain, 0.041_657_735, max_relative = 1e-6);
        }
    }
}
