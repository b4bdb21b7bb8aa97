//! Mixtures of normal distributions of the logarithms of times: medians, intervals, draws.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::asked::sites_of;
use crate::statistics::{below, density, deviate, quantile as of_normal};
use mmgp_base::Site;
use mmgp_base::units::Seconds;

/// The times of some mappings, each by itself.
#[derive(Debug, Clone)]
pub struct Marginals {
    weights: Vec<f64>,
    /// Means of the logarithms, a list for each component.
    means: Vec<Vec<f64>>,
    /// Standard deviations of the logarithms, a list for each component.
    deviations: Vec<Vec<f64>>,
    caution: f64,
}

/// The times of some mappings together.
#[derive(Debug, Clone)]
pub struct Joint {
    weights: Vec<f64>,
    means: Vec<DVector<f64>>,
    covariances: Vec<DMatrix<f64>>,
}

/// No variance of a logarithm is below this.
const LEAST_VARIANCE: f64 = 1e-12;

impl Marginals {
    /// Marginals of components with these weights; choices are made so many standard deviations above the
    /// expected logarithm.
    pub(super) fn new(weights: Vec<f64>, caution: f64) -> Self {
        let none = vec![Vec::new(); weights.len()];
        Self { weights, means: none.clone(), deviations: none, caution }
    }

    pub(super) fn extend(
        &mut self,
        component: usize,
        means: impl Iterator<Item = f64>,
        variances: impl Iterator<Item = f64>,
    ) {
        self.means[component].extend(means);
        self.deviations[component].extend(variances.map(|it| it.max(LEAST_VARIANCE).sqrt()));
    }

    /// The mean of the logarithm of the time of the mapping with that index.
    pub fn log_time(&self, index: usize) -> f64 {
        self.sum(index, |mean, _| mean)
    }

    /// The time that this is the logarithm of, which is printed: a median.
    pub fn time(&self, index: usize) -> Seconds {
        Seconds(self.log_time(index).exp())
    }

    /// The places of the mappings in the order of choice, by [`Self::caution`]; of what is the same by the
    /// four digits that are printed of times, and hardly less known, the fewest cores come first, then the
    /// fewest m.
    ///
    /// Were the posterior right, the least expected logarithm alone would lose least. Times have
    /// cliffs that it does not know, and on programs that others measured what is known better is
    /// the safer choice: the mean regret falls from 17 to 10 % (`tests/foreign`). Where files give the
    /// terms a standard deviation is mostly what all configurations have in common, and what ran would
    /// win over what is better: a quarter of it is enough.
    pub fn order<S: Copy + Into<Site>>(&self, sites: &[S]) -> Vec<usize> {
        let sites = sites_of(sites);
        let keys: Vec<f64> = (0..sites.len()).map(|index| self.caution(index)).collect();
        let mut all: Vec<usize> = (0..sites.len()).collect();
        all.sort_by(|&one, &other| {
            keys[one].total_cmp(&keys[other]).then(sites[one].cmp(&sites[other]))
        });
        let printed = |index: usize| as_printed(self.time(index).0).to_bits();
        let mut equal: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        all.iter().for_each(|&index| equal.entry(printed(index)).or_default().push(index));
        let mut order = Vec::with_capacity(all.len());
        let mut is_taken = vec![false; all.len()];
        for first in all {
            if is_taken[first] {
                continue;
            }
            let alike = equal.get(&printed(first)).into_iter().flatten().copied();
            let tie = Tie::with(self.time(first), keys[first]);
            let is_tied = |&it: &usize| !is_taken[it] && tie.holds(self.time(it), keys[it]);
            let mut tied: Vec<usize> = alike.filter(is_tied).collect();
            tied.sort_by_key(|&it| (sites[it].apus(), sites[it]));
            tied.iter().for_each(|&it| is_taken[it] = true);
            order.extend(tied);
        }
        order
    }

    /// What choices are made by: some standard deviations above the expected logarithm, one where runs
    /// alone speak, a quarter where files give terms.
    pub fn caution(&self, index: usize) -> f64 {
        let (centre, deviation) = self.moments(index);
        centre + self.caution * deviation
    }

    /// Two standard deviations below the expected logarithm: what there is to hope for.
    pub(crate) fn hope(&self, index: usize) -> f64 {
        let (centre, deviation) = self.moments(index);
        centre - 2.0 * deviation
    }

    /// The expected time.
    pub fn expected(&self, index: usize) -> Seconds {
        let of = |mean: f64, deviation: f64| (mean + 0.5 * deviation * deviation).exp();
        Seconds(self.sum(index, of))
    }

    /// The expected inverse of the time.
    pub fn expected_inverse(&self, index: usize) -> f64 {
        self.sum(index, |mean, deviation| (0.5 * deviation * deviation - mean).exp())
    }

    /// The standard deviation of the logarithm of the time.
    pub fn deviation(&self, index: usize) -> f64 {
        self.moments(index).1
    }

    /// The mean of the logarithm and its standard deviation.
    fn moments(&self, index: usize) -> (f64, f64) {
        let centre = self.sum(index, |mean, _| mean);
        let square = |mean: f64, deviation: f64| deviation * deviation + (mean - centre).powi(2);
        (centre, self.sum(index, square).sqrt())
    }

    fn sum(&self, index: usize, of: impl Fn(f64, f64) -> f64) -> f64 {
        let parts = self.weights.iter().zip(&self.means).zip(&self.deviations);
        parts.map(|((w, means), deviations)| w * of(means[index], deviations[index])).sum()
    }

    /// The time that is not exceeded with this probability.
    pub fn quantile(&self, index: usize, probability: f64) -> Seconds {
        self.quantile_with(index, probability, 0.0)
    }

    /// Both ends of the interval that holds the time with 95 %.
    pub fn interval(&self, index: usize) -> [Seconds; 2] {
        [0.025, 0.975].map(|probability| self.quantile(index, probability))
    }

    /// The time that is not exceeded with a probability, of a quantity whose logarithm scatters by a further variance: a single run.
    pub fn quantile_with(&self, index: usize, probability: f64, variance: f64) -> Seconds {
        let of = |((weight, means), deviations): ((&f64, &Vec<f64>), &Vec<f64>)| {
            let deviation = (deviations[index].powi(2) + variance).sqrt();
            (*weight, means[index], deviation)
        };
        let parts = self.weights.iter().zip(&self.means).zip(&self.deviations);
        Seconds(quantile(&parts.map(of).collect::<Vec<_>>(), probability).exp())
    }
}

/// What cannot be told from the first in an order of choice: its time is the same by the four digits that
/// are printed, and its caution hardly more. The choice among what is tied is the one with the fewest
/// cores, then the fewest m.
#[derive(Debug, Clone, Copy)]
pub struct Tie {
    /// What is printed of the first.
    printed: f64,
    /// The first by itself: what is far from it need not be printed.
    time: f64,
    /// The most caution.
    most: f64,
}

impl Tie {
    /// Tie with the first of an order, which has that time, and that [caution](Marginals::caution).
    pub fn with(time: Seconds, caution: f64) -> Self {
        Self { printed: as_printed(time.0), time: time.0, most: caution + HARDLY_MORE }
    }

    /// Whether a configuration is tied.
    pub fn holds(&self, time: Seconds, caution: f64) -> bool {
        caution <= self.most && self.is_near(time) && as_printed(time.0) == self.printed
    }

    /// Whether it is tied or better: of times that fall, the first that is.
    pub fn is_reached(&self, time: Seconds, caution: f64) -> bool {
        let is_shown = || self.is_near(time) && as_printed(time.0) <= self.printed;
        caution <= self.most && (time.0 <= self.time || is_shown())
    }

    /// Whether it may print the same, which takes longer to find out.
    fn is_near(&self, time: Seconds) -> bool {
        (time.0 - self.time).abs() <= 2.0 * OF_LAST_DIGIT * self.time
    }
}

/// The caution of what is tied may differ by this.
const HARDLY_MORE: f64 = 0.01;

/// The most that the last of four digits is worth, relative to the number.
const OF_LAST_DIGIT: f64 = 1e-3;

/// A number above 0 with the four digits that are printed of it.
pub(crate) fn as_printed(number: f64) -> f64 {
    let digits = 10_f64.powf(3.0 - number.log10().floor());
    let rounded = (number * digits).round() / digits;
    if rounded.is_finite() { rounded } else { number }
}

/// A step of a quantile below this is the last, as a part of the time: the next would be its square or less.
const SETTLED: f64 = 1e-4;

/// No probability is taken to be less, so that it has a deviate.
const LEAST_SHARE: f64 = 1e-12;

/// The quantile of a mixture of normal distributions, of each its weight, mean and standard deviation:
/// Newton's steps of the deviate that has the probability below, which is nearly a line over x, within
/// what is known to lie on either side.
fn quantile(parts: &[(f64, f64, f64)], probability: f64) -> f64 {
    let centre: f64 = parts.iter().map(|(weight, mean, _)| weight * mean).sum();
    let square = |&(weight, mean, deviation): &(f64, f64, f64)| {
        weight * (deviation * deviation + (mean - centre).powi(2))
    };
    let spread = parts.iter().map(square).sum::<f64>().sqrt();
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let wanted = of_normal(probability);
    let mut x = centre + wanted * spread;
    for _ in 0..MOST_STEPS {
        let (mut share, mut slope) = (0.0, 0.0);
        for &(weight, mean, deviation) in parts {
            let z = (x - mean) / deviation;
            share += weight * below(z);
            slope += weight * density(z) / deviation;
        }
        if share < probability {
            low = x;
        } else {
            high = x;
        }
        let at = of_normal(share.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE));
        let step = (wanted - at) * density(at) / slope;
        if step.abs() < SETTLED {
            return x + step;
        }
        let next = x + step.clamp(-spread, spread);
        x = match next > low && next < high {
            true => next,
            false => f64::midpoint(low.max(x - 2.0 * spread), high.min(x + 2.0 * spread)),
        };
    }
    x
}

/// Quantiles are found in fewer steps than these.
const MOST_STEPS: usize = 60;

impl Joint {
    /// Joint distribution of components with these weights, means and covariances.
    pub(super) fn new(
        weights: Vec<f64>,
        (means, covariances): (Vec<DVector<f64>>, Vec<DMatrix<f64>>),
    ) -> Self {
        Self { weights, means, covariances }
    }

    /// The means of the logarithms.
    pub fn log_times(&self) -> DVector<f64> {
        let size = self.means.first().map_or(0, DVector::len);
        let parts = self.weights.iter().zip(&self.means);
        parts.fold(DVector::zeros(size), |sum, (weight, mean)| sum + mean * *weight)
    }

    /// The covariance of the logarithms.
    pub fn covariance(&self) -> DMatrix<f64> {
        let centre = self.log_times();
        let mut sum = DMatrix::zeros(centre.len(), centre.len());
        for ((&weight, mean), covariance) in
            self.weights.iter().zip(&self.means).zip(&self.covariances)
        {
            let apart = mean - &centre;
            sum += covariance * weight;
            sum.ger(weight, &apart, &apart, 1.0);
        }
        sum
    }

    /// The probability that the logarithm of the time at one place is above that at another by more
    /// than this.
    pub(crate) fn slower(&self, (one, other): (usize, usize), by: f64) -> f64 {
        let mut probability = 0.0;
        for ((weight, mean), covariance) in
            self.weights.iter().zip(&self.means).zip(&self.covariances)
        {
            let variance = covariance[(one, one)] + covariance[(other, other)]
                - 2.0 * covariance[(one, other)];
            let deviation = variance.max(LEAST_VARIANCE).sqrt();
            probability += weight * below((mean[one] - mean[other] - by) / deviation);
        }
        probability
    }

    /// Draws of the logarithms of all times, a column for each draw; each component has as many as
    /// its weight asks for.
    pub fn draws(&self, count: u32, seed: u64) -> DMatrix<f64> {
        let size = self.means.first().map_or(0, DVector::len);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draws = DMatrix::zeros(size, count as usize);
        let mut column = 0;
        let mut sum = 0.0;
        for ((&weight, mean), covariance) in
            self.weights.iter().zip(&self.means).zip(&self.covariances)
        {
            sum += weight;
            let last = ((sum * f64::from(count)).round() as usize).min(draws.ncols());
            if last <= column {
                continue;
            }
            let mut block = draws.columns_mut(column, last - column);
            block.iter_mut().for_each(|it| *it = deviate(&mut random));
            let root = root_of(covariance);
            let mut drawn = root * &block;
            drawn.column_iter_mut().for_each(|mut column| column += mean);
            block.copy_from(&drawn);
            column = last;
        }
        draws
    }
}

/// The lower triangle whose square is the matrix, which rounding may have left a little short of
/// being positive; of a matrix that is none, the roots of its diagonal.
fn root_of(covariance: &DMatrix<f64>) -> DMatrix<f64> {
    let size = covariance.nrows();
    let usual = covariance.trace().max(LEAST_VARIANCE) / size.max(1) as f64;
    let mut room = 1e-10 + 1e-9 * usual;
    for _ in 0..MOST_ROOMS {
        let mut padded = covariance.clone();
        for index in 0..size {
            padded[(index, index)] += room;
        }
        if let Some(factor) = padded.cholesky() {
            return factor.unpack();
        }
        room *= 100.0;
    }
    DMatrix::from_diagonal(&covariance.diagonal().map(|variance| variance.max(0.0).sqrt()))
}

/// A matrix that so much room does not make positive has numbers that are none.
const MOST_ROOMS: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    fn marginals() -> Marginals {
        let mut marginals = Marginals::new(vec![0.75, 0.25], 1.0);
        marginals.extend(0, [0.0].into_iter(), [1.0].into_iter());
        marginals.extend(1, [4.0].into_iter(), [0.25].into_iter());
        marginals
    }

    #[test]
    fn a_quantile_of_a_mixture_has_its_probability_below() {
        let marginals = marginals();
        for probability in [0.001, 0.025, 0.5, 0.76, 0.975, 0.9999] {
            let x = marginals.quantile(0, probability).0.ln();
            let found = 0.75 * below(x) + 0.25 * below((x - 4.0) / 0.5);
            approx::assert_relative_eq!(found, probability, max_relative = 1e-6);
        }
    }

    #[test]
    fn moments_of_a_mixture_are_those_worked_out_by_hand() {
        let marginals = marginals();
        approx::assert_relative_eq!(marginals.log_time(0), 1.0, max_relative = 1e-12);
        // 0.75*(1 + 1) + 0.25*(0.25 + 9).
        approx::assert_relative_eq!(marginals.deviation(0).powi(2), 3.8125, max_relative = 1e-12);
    }

    /// Two components: a difference of -0.2 with a variance of 0.4, and one of 1 with 0.2.
    #[test]
    fn how_likely_one_time_is_above_another_is_the_share_of_draws_that_have_it_so() {
        let means = vec![DVector::from_vec(vec![0.0, 0.2]), DVector::from_vec(vec![2.0, 1.0])];
        let one = DMatrix::from_row_slice(2, 2, &[1.0, 0.8, 0.8, 1.0]);
        let weights = vec![0.3, 0.7];
        let parts = (means, vec![one.clone(), one * 0.5]);
        let joint = Joint::new(weights, parts);
        let found = joint.slower((0, 1), 0.3);
        let expected = 0.3 * below(-0.5 / 0.4_f64.sqrt()) + 0.7 * below(0.7 / 0.2_f64.sqrt());
        approx::assert_relative_eq!(found, expected, max_relative = 1e-12);
        let draws = joint.draws(100_000, 3);
        let share = draws.column_iter().filter(|it| it[0] - it[1] > 0.3).count() as f64 / 1e5;
        assert!((share - expected).abs() < 0.006, "{share} {expected}");
    }

    #[test]
    fn a_matrix_that_is_none_has_a_root_all_the_same() {
        let none = DMatrix::from_row_slice(2, 2, &[4.0, f64::NAN, f64::NAN, 9.0]);
        assert_eq!(root_of(&none), DMatrix::from_row_slice(2, 2, &[2.0, 0.0, 0.0, 3.0]));
        let nothing = DMatrix::from_element(2, 2, f64::INFINITY);
        assert_eq!(root_of(&nothing).nrows(), 2);
    }

    #[test]
    fn draws_have_the_moments_of_the_mixture() {
        let means = vec![DVector::from_vec(vec![0.0, 1.0]), DVector::from_vec(vec![2.0, 1.0])];
        let one = DMatrix::from_row_slice(2, 2, &[1.0, 0.8, 0.8, 1.0]);
        let covariances = vec![one.clone(), one * 0.5];
        let weights = vec![0.5, 0.5];
        let joint = Joint::new(weights, (means, covariances));
        let draws = joint.draws(200_000, 1);
        let mean = draws.column_mean();
        let covariance = joint.covariance();
        // Four standard errors of a mean of 200,000.
        for index in 0..2 {
            let error = 4.0 * (covariance[(index, index)] / 200_000.0).sqrt();
            assert!((mean[index] - joint.log_times()[index]).abs() < error);
        }
        let product: f64 = draws.column_iter().map(|it| (it[0] - 1.0) * (it[1] - 1.0)).sum();
        approx::assert_relative_eq!(covariance[(0, 1)], 0.6, max_relative = 1e-12);
        approx::assert_relative_eq!(product / 200_000.0, 0.6, max_relative = 0.02);
    }
}
