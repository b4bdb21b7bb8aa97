//! How far the times may be off their mean: sizes that are tried, and how likely each is beforehand.

use super::noise;
use crate::models::observations::Observations;

/// Standard deviations of the logarithm of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    /// Standard deviation of the misfit that configurations near each other have in common.
    pub size: f64,
    /// Standard deviation of what a configuration has of its own and keeps when it is run again.
    pub own: f64,
    /// Standard deviation of the noise of a single run.
    pub noise: f64,
}

/// The sizes that are tried, each with the logarithm of its probability, and the noise.
#[derive(Debug, Clone)]
pub(super) struct ScatterGrid {
    /// Size and own scatter.
    pub pairs: Vec<((f64, f64), f64)>,
    /// Sizes of the noise, equally likely, increasing.
    pub noises: Vec<f64>,
}

/// How likely sizes of the misfit and of what configurations have of their own are beforehand.
///
/// Learnt from programs that others timed, by expectation maximisation of the evidence of whole
/// tables (tempered by 0.7, half a count for each size, a kind of k tables counting sqrt(k)).
pub(super) struct Weights {
    sizes: [f64; SIZES.len()],
    owns: [f64; OWNS.len()],
}

/// Length of the misfit's kernel, in logarithms of m or p: a factor of 16.
pub(super) const LENGTH: f64 = 2.8;

/// Sizes of the misfit.
const SIZES: [f64; 6] = [0.0, 0.02, 0.06, 0.2, 0.5, 1.0];

/// Sizes of what configurations have of their own.
const OWNS: [f64; 4] = [0.001, 0.008, 0.04, 0.15];

impl Weights {
    /// Weights over means that runs alone determine: 23 tables of programs that others timed.
    pub const OF_RUNS: Self = Self {
        sizes: [0.118, 0.101, 0.098, 0.293, 0.227, 0.162],
        owns: [0.217, 0.271, 0.255, 0.257],
    };

    /// Weights over means with values from files: validations of equation 11 on three studies and of the
    /// terms of four probed programs, with a tenth of those of runs.
    pub const WITH_FILES: Self = Self {
        sizes: [0.060, 0.206, 0.465, 0.183, 0.039, 0.047],
        owns: [0.276, 0.348, 0.176, 0.200],
    };
}

/// Size and own scatter of a mean that is exactly right.
pub(super) const EXACT: (f64, f64) = (SIZES[0], OWNS[0]);

/// How much likelier it is than by both probabilities that a mean is exactly right.
const SPIKE: f64 = 6.0;

/// The size of the misfit where there is no mean but a constant.
const SIZE_OF_FLAT: f64 = 0.6;

/// What a configuration has of its own, in a size of the misfit that is stated.
const OWN_OF_STATED: f64 = 0.2;

impl ScatterGrid {
    /// Grid over a mean, with sizes as likely as these.
    pub fn over_a_mean(weights: &Weights, observations: &Observations) -> Self {
        let mut pairs = Vec::new();
        for (size, of_size) in SIZES.into_iter().zip(weights.sizes) {
            for (own, of_own) in OWNS.into_iter().zip(weights.owns) {
                let is_right = (size, own) == EXACT;
                let preferred = if is_right { SPIKE } else { 1.0 };
                pairs.push(((size, own), (of_size * of_own * preferred).ln()));
            }
        }
        Self { pairs, noises: noise::nodes(observations) }
    }

    /// Grid over a mean that is off by about `size`: 0 where it is exactly right.
    pub fn stated(size: f64, observations: &Observations) -> Self {
        Self {
            pairs: vec![((size, OWN_OF_STATED * size), 0.0)],
            noises: noise::nodes(observations),
        }
    }

    /// Grid over a constant.
    pub fn over_nothing(weights: &Weights, observations: &Observations) -> Self {
        let owns = OWNS.into_iter().zip(weights.owns);
        let pairs = owns.map(|(own, of_own)| ((SIZE_OF_FLAT, own), of_own.ln())).collect();
        Self { pairs, noises: noise::nodes(observations) }
    }

    /// The noise at which sizes are judged before all of it is gone through.
    pub fn middle_noise(&self) -> f64 {
        self.noises[self.noises.len() / 2]
    }

    /// The logarithm of the probability of a pair, at one of the noises.
    pub fn log_prior(&self, pair: usize) -> f64 {
        self.pairs[pair].1 - (self.noises.len() as f64).ln()
    }

    /// The place of the pair that is likeliest beforehand; of equal ones the first.
    pub fn likeliest(&self) -> usize {
        likeliest(self.pairs.iter().map(|(_, log_prior)| *log_prior))
    }
}

/// Variances of the logarithm of a time about a model with values from files where no run tells, and how
/// likely each is.
pub(super) fn without_runs() -> Vec<(f64, f64)> {
    let nothing = Observations::new("", Vec::new(), 0.0, 0.0);
    let grid = ScatterGrid::over_a_mean(&Weights::WITH_FILES, &nothing);
    let total: f64 = grid.pairs.iter().map(|(_, log_prior)| log_prior.exp()).sum();
    let of = |&((size, own), log_prior): &((f64, f64), f64)| {
        (size * size + own * own, log_prior.exp() / total)
    };
    grid.pairs.iter().map(of).collect()
}

/// The place of the largest; of equal ones the first.
pub(super) fn likeliest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, value) in values.enumerate() {
        if value > best.1 {
            best = (place, value);
        }
    }
    best.0
}
