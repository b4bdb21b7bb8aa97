//! How far the times may be off their mean: sizes that are tried, and how likely each is beforehand.

use crate::model::observations::Observations;

/// Standard deviations of the logarithm of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    /// Of the misfit that configurations near each other have in common.
    pub size: f64,
    /// Of what a configuration has of its own and keeps when it is run again.
    pub own: f64,
    /// Of the noise of a single run.
    pub noise: f64,
}

impl Node {
    /// Whether the mean is taken to be right.
    pub fn is_spike(&self) -> bool {
        self.size == 0.0
    }
}

/// The nodes with the logarithms of their probabilities.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub nodes: Vec<(Node, f64)>,
}

/// Sizes of the misfit, in the size that is expected.
const SIZES: [f64; 4] = [0.5, 1.5, 4.0, 8.0];

/// With runs, the median of the size, in the size that is expected: programs differ more than the
/// models that were published.
const MEDIAN_SIZE: f64 = 2.0;

/// The size of the misfit where there is no mean but a constant.
const SIZE_OF_FLAT: f64 = 0.6;

/// Sizes of what configurations have of their own.
const OWN: [f64; 3] = [0.01, 0.05, 0.2];

/// The same where the mean is taken to be right.
const OWN_OF_SPIKE: [f64; 2] = [0.003, 0.01];

/// The probability that a mean is right, but for what configurations have of their own.
const SPIKE: f64 = 0.5;

/// The size that is expected of what configurations have of their own.
const EXPECTED_OWN: f64 = 0.02;

/// The same in the size of the misfit, where no run tells.
const OWN_OF_SIZE: f64 = 0.2;

/// The standard deviation of the logarithm of a time about its mean where no run tells how far a
/// mean is off that is expected to be off by so much.
pub(super) fn untold(expected: f64) -> f64 {
    expected.hypot(OWN_OF_SIZE * expected)
}

/// Standard deviation of the logarithm of either size.
const SPREAD: f64 = 1.5;

/// Noise that counts as one repetition more, so that two equal times do not make a certainty.
const EXPECTED_NOISE: f64 = 0.02;

/// Standard deviation of the logarithm of the noise without any repetition.
const UNKNOWN_NOISE: f64 = 0.75;

/// The variance of a single run's logarithm, as repetitions tell.
pub(super) fn noise_variance(observations: &Observations) -> f64 {
    (observations.scatter + EXPECTED_NOISE.powi(2)) / (observations.degrees_of_freedom + 1.0)
}

/// The noise is not known well from few repetitions: three nodes of Gauss and Hermite about it.
fn noises(observations: &Observations) -> [f64; 3] {
    let usual = noise_variance(observations).sqrt();
    let known = 1.0 + 2.0 * UNKNOWN_NOISE.powi(2) * observations.degrees_of_freedom;
    let spread = UNKNOWN_NOISE / known.sqrt();
    [-1.0, 0.0, 1.0].map(|node: f64| usual * (node * 1.5_f64.sqrt() * spread).exp())
}

impl Grid {
    /// Over a mean that may be off by about `expected`.
    pub fn over_a_mean(expected: f64, observations: &Observations) -> Self {
        if observations.configurations.is_empty() {
            // Nothing tells which size it is.
            let node = Node { size: expected, own: OWN_OF_SIZE * expected, noise: EXPECTED_NOISE };
            return Self { nodes: vec![(node, 0.0)] };
        }
        let of_size = |factor: f64| log_density(factor, MEDIAN_SIZE);
        let sizes = SIZES.map(|factor| (factor * expected, of_size(factor)));
        let mut grid = Self::of(&sizes, &OWN, observations);
        let spike = Self::of(&[(0.0, 0.0)], &OWN_OF_SPIKE, observations);
        for (_, log_prior) in &mut grid.nodes {
            *log_prior += (1.0 - SPIKE).ln();
        }
        grid.nodes.extend(spike.nodes.into_iter().map(|(node, prior)| (node, prior + SPIKE.ln())));
        grid
    }

    /// Over a constant.
    pub fn over_nothing(observations: &Observations) -> Self {
        Self::of(&[(SIZE_OF_FLAT, 0.0)], &OWN, observations)
    }

    fn of(sizes: &[(f64, f64)], owns: &[f64], observations: &Observations) -> Self {
        let mut nodes = Vec::new();
        for &(size, of_size) in sizes {
            for &own in owns {
                for noise in noises(observations) {
                    let log_prior = of_size + log_density(own, EXPECTED_OWN);
                    nodes.push((Node { size, own, noise }, log_prior));
                }
            }
        }
        let total: f64 = nodes.iter().map(|(_, log_prior)| log_prior.exp()).sum();
        nodes.iter_mut().for_each(|(_, log_prior)| *log_prior -= total.ln());
        Self { nodes }
    }

    /// The place of the node that is likeliest beforehand; of equal ones the first.
    pub fn likeliest(&self) -> usize {
        let by_prior = |one: &usize, other: &usize| {
            self.nodes[*one].1.total_cmp(&self.nodes[*other].1).then(other.cmp(one))
        };
        (0..self.nodes.len()).max_by(by_prior).unwrap_or(0)
    }
}

/// The logarithm of the density of a size whose logarithm is normal, but for a constant.
fn log_density(size: f64, median: f64) -> f64 {
    -0.5 * ((size / median).ln() / SPREAD).powi(2)
}
