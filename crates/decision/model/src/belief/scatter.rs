//! How far the times may be off their mean: sizes that are tried, and how likely each is beforehand.

use mmgp_base::Mapping;

use crate::models::observations::Observations;

/// Standard deviations of the logarithm of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    /// Standard deviation of the misfit that configurations near each other have in common.
    pub size: f64,
    /// Standard deviation of what a configuration has of its own and keeps when it is run again.
    pub own: f64,
    /// What levels of further factors do; nothing where there are none.
    pub apart: Apart,
    /// Standard deviation of the noise of a single run.
    pub noise: f64,
}

/// Standard deviations of what levels of further factors do to the logarithm of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Apart {
    /// Deviation that all mappings have in common.
    pub all: f64,
    /// Deviation of the slopes over log m and log p.
    pub slopes: f64,
    /// Deviation of each mapping, shared with those near it.
    pub each: f64,
}

impl Apart {
    /// No levels.
    pub const NOTHING: Self = Self { all: 0.0, slopes: 0.0, each: 0.0 };

    /// The variances of the three.
    pub fn variances(self) -> [f64; 3] {
        [self.all, self.slopes, self.each].map(|it| it * it)
    }

    /// The variance of what levels do to one mapping.
    pub fn variance(self, mapping: Mapping) -> f64 {
        let [all, slopes, each] = self.variances();
        all + slopes * log_product(mapping, mapping) + each
    }
}

/// The product of two mappings as places in (log m, log p).
pub(super) fn log_product(one: Mapping, other: Mapping) -> f64 {
    let logs = |one: u32, other: u32| f64::from(one).ln() * f64::from(other).ln();
    logs(one.m(), other.m()) + logs(one.p(), other.p())
}

impl Node {
    /// Node without levels and without noise.
    fn quiet(size: f64, own: f64) -> Self {
        Self { size, own, apart: Apart::NOTHING, noise: 0.0 }
    }
}

/// The sizes that are tried, each with the logarithm of its probability, and the noise.
#[derive(Debug, Clone)]
pub(super) struct ScatterGrid {
    /// All but the noise.
    pub nodes: Vec<(Node, f64)>,
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

/// Sizes of what levels do, equally likely: from next to nothing to another program, assumed.
const APARTS: [Apart; 5] = [
    Apart { all: 0.05, slopes: 0.02, each: 0.02 },
    Apart { all: 0.2, slopes: 0.06, each: 0.06 },
    Apart { all: 0.5, slopes: 0.15, each: 0.1 },
    Apart { all: 0.5, slopes: 0.4, each: 0.2 },
    Apart { all: 1.5, slopes: 0.4, each: 0.3 },
];

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
        let mut nodes = Vec::new();
        for (size, of_size) in SIZES.into_iter().zip(weights.sizes) {
            for (own, of_own) in OWNS.into_iter().zip(weights.owns) {
                let is_right = (size, own) == EXACT;
                let preferred = if is_right { SPIKE } else { 1.0 };
                nodes.push((Node::quiet(size, own), (of_size * of_own * preferred).ln()));
            }
        }
        Self { nodes, noises: noises(observations) }
    }

    /// Grid over a mean that is off by about `size`: 0 where it is exactly right.
    pub fn stated(size: f64, observations: &Observations) -> Self {
        let nodes = vec![(Node::quiet(size, OWN_OF_STATED * size), 0.0)];
        Self { nodes, noises: noises(observations) }
    }

    /// Grid over a constant.
    pub fn over_nothing(weights: &Weights, observations: &Observations) -> Self {
        let owns = OWNS.into_iter().zip(weights.owns);
        let node = |(own, of_own): (f64, f64)| (Node::quiet(SIZE_OF_FLAT, own), of_own.ln());
        let nodes = owns.map(node).collect();
        Self { nodes, noises: noises(observations) }
    }

    /// The noise at which sizes are judged before all of it is gone through.
    pub fn middle_noise(&self) -> f64 {
        self.noises[self.noises.len() / 2]
    }

    /// The same with each size of what levels do, all equally likely.
    #[must_use]
    pub fn between_levels(self) -> Self {
        let of = |(node, log_prior): (Node, f64)| {
            APARTS.map(|apart| (Node { apart, ..node }, log_prior - (APARTS.len() as f64).ln()))
        };
        Self { nodes: self.nodes.into_iter().flat_map(of).collect(), ..self }
    }

    /// The logarithm of the probability of a node, at one of the noises.
    pub fn log_prior(&self, place: usize) -> f64 {
        self.nodes[place].1 - (self.noises.len() as f64).ln()
    }

    /// The place of the node that is likeliest beforehand; of equal ones the first.
    pub fn likeliest(&self) -> usize {
        likeliest(self.nodes.iter().map(|(_, log_prior)| *log_prior))
    }
}

/// Variances of the logarithm of a time about a model with values from files where no run tells, and how
/// likely each is.
pub(super) fn without_runs() -> Vec<(f64, f64)> {
    let nothing = Observations::new("", Vec::new(), 0.0, 0.0);
    let grid = ScatterGrid::over_a_mean(&Weights::WITH_FILES, &nothing);
    let total: f64 = grid.nodes.iter().map(|(_, log_prior)| log_prior.exp()).sum();
    let of = |&(Node { size, own, .. }, log_prior): &(Node, f64)| {
        (size * size + own * own, log_prior.exp() / total)
    };
    grid.nodes.iter().map(of).collect()
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

/// Centres of the mixture and their weights.
const BEFOREHAND: [(f64, f64); 4] = [(0.005, 0.2), (0.02, 0.3), (0.06, 0.3), (0.18, 0.2)];

/// Standard deviation of the logarithm about each.
const SPREAD: f64 = 0.5;

/// The grid: from, to, and points on it.
const GRID: (f64, f64, usize) = (1e-3, 0.6, 200);

/// The largest noise is at least so many times what repetitions scatter by.
const BEYOND_SCATTER: f64 = 4.0;

/// The end of the grid: no scatter is beyond it.
fn largest(observations: &Observations) -> f64 {
    let (squares, degrees) = (observations.scatter, observations.degrees_of_freedom);
    let scatter = if degrees > 0.0 { (squares / degrees).sqrt() } else { 0.0 };
    GRID.1.max(BEYOND_SCATTER * scatter)
}

/// Number of nodes as long as the standard deviation of the logarithm is below the first number.
const NODES: [(f64, usize); 3] = [(0.08, 1), (0.25, 3), (f64::INFINITY, 5)];

/// Standard deviations of the logarithm of a single run, equally likely, increasing: its noise, as far as
/// repetitions tell.
///
/// Beforehand the logarithm of the noise is a mixture of normal distributions about what programs
/// have: of 17 tables with repetitions, 0.2 to 26 %, 7 % in the median. The posterior given the
/// repetitions' squared deviations is cut into nodes of equal weight: one where it is well known, five
/// where nothing was repeated.
fn noises(observations: &Observations) -> Vec<f64> {
    let (squares, degrees) = (observations.scatter, observations.degrees_of_freedom);
    let (from, to, count) = (GRID.0.ln(), largest(observations).ln(), GRID.2);
    let log_noises: Vec<f64> =
        (0..count).map(|it| from + (to - from) * it as f64 / (count - 1) as f64).collect();
    let log_density = |log_noise: f64| {
        let about = |(centre, weight): (f64, f64)| {
            weight * (-0.5 * ((log_noise - centre.ln()) / SPREAD).powi(2)).exp()
        };
        let beforehand: f64 = BEFOREHAND.into_iter().map(about).sum();
        beforehand.ln() - degrees * log_noise - 0.5 * squares * (-2.0 * log_noise).exp()
    };
    let logs: Vec<f64> = log_noises.iter().map(|&it| log_density(it)).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean_of = |of: &dyn Fn(f64) -> f64| -> f64 {
        log_noises.iter().zip(&weights).map(|(it, weight)| weight * of(*it)).sum::<f64>() / total
    };
    let mean = mean_of(&|it| it);
    let deviation = mean_of(&|it| (it - mean).powi(2)).sqrt();
    let (_, nodes) = NODES.into_iter().find(|(below, _)| deviation < *below).unwrap_or(NODES[2]);
    if nodes == 1 {
        return vec![mean.exp()];
    }
    let quantile = |share: f64| {
        let mut sum = 0.0;
        for (index, weight) in weights.iter().enumerate() {
            let next = sum + weight / total;
            if next >= share {
                let before = log_noises[index.saturating_sub(1)];
                let part = ((share - sum) / (next - sum)).clamp(0.0, 1.0);
                return (before + part * (log_noises[index] - before)).exp();
            }
            sum = next;
        }
        to.exp()
    };
    (0..nodes).map(|node| quantile((node as f64 + 0.5) / nodes as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(noise: f64, degrees: f64) -> Vec<f64> {
        noises(&Observations::new("runs.csv", Vec::new(), degrees * noise * noise, degrees))
    }

    #[test]
    fn nothing_repeated_leaves_five_nodes_about_what_programs_have() {
        let found = of(0.0, 0.0);
        assert_eq!(found.len(), 5);
        assert!(found.is_sorted() && found[0] < 0.01 && found[4] > 0.1, "{found:?}");
    }

    #[test]
    fn repetitions_say_how_large_it_is_and_how_well_that_is_known() {
        // The standard deviation of the logarithm is 1/sqrt(2 degrees): 0.25 at 8, 0.08 at 80.
        for (degrees, count) in [(2.0, 5), (12.0, 3), (200.0, 1)] {
            let found = of(0.033, degrees);
            assert_eq!(found.len(), count, "{degrees}");
            let middle = found[count / 2];
            assert!((0.025..0.042).contains(&middle), "{degrees}: {middle}");
        }
        approx::assert_relative_eq!(of(0.033, 2000.0)[0], 0.033, max_relative = 0.01);
        // However large it is.
        approx::assert_relative_eq!(of(1.2, 2000.0)[0], 1.2, max_relative = 0.02);
        let found = of(0.8, 12.0);
        assert!(found[0] < 0.75 && found[found.len() / 2] > 0.65, "{found:?}");
    }

    #[test]
    fn equal_times_make_no_certainty() {
        assert!(of(0.0, 3.0)[0] > 1e-3 && of(0.0, 3.0)[4] < 0.02);
    }
}
