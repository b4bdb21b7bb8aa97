//! The next measurement: the one that is expected to make the choice better, by the knowledge gradient for
//! correlated beliefs (Frazier, Powell, Dayanik, INFORMS Journal on Computing 21, 2009).
//!
//! A measured quantity y moves the expected logarithm of the time of each configuration c by
//! `k_c * z`, z being a standard normal deviate and
//!
//! `k_c = cov(ln T(c), y) / sqrt(var(y) + noise^2)`.
//!
//! A choice after the measurement takes the least, so that it lowers the expected cost by
//!
//! `min over c of E ln T(c) - E[min over c of (E ln T(c) + k_c * z)]`.
//!
//! The expectation over z is that of a function made of straight lines, known in closed form.
//! Nothing is drawn for it.
//!
//! *Regret* is what a choice may cost, by joint draws of all times that have a chance: in every draw the
//! choice takes longer than the fastest by so much, relative to that; nothing where it is the fastest
//! itself. Predictions, searches and other programs are told of these numbers alone. Of 32 tables of programs that others timed, after
//! every run of a search, the limit that is said to hold with 95 % held in 97 %.

use nalgebra::{DMatrix, DVector};

use crate::belief::{Joint, Posterior};
use crate::objective::Amount;
use crate::statistics::{beyond, place_of_most};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

/// What may be measured, the most useful first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NextMeasurement {
    /// The configuration that is predicted to be the fastest.
    pub best: Mapping,
    /// Relative standard deviation of a single run.
    pub noise: f64,
    /// Measurements that were weighed.
    pub measurements: Vec<Measurement>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// A measurement, and what it is expected to be good for.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// What to measure.
    pub what: MeasurementKind,
    /// Amount by which it lowers the expected cost of the choice.
    pub gain: Amount,
    /// The standard error of what is predicted of the best configuration after it.
    pub error_of_best: Amount,
}

/// What can be measured.
#[derive(Debug, Clone, PartialEq)]
pub enum MeasurementKind {
    /// Further timed run of a mapping.
    Run(Mapping),
    /// The micro-benchmark or profile of one term again, so often that its standard error halves.
    Term {
        /// The name of what is not known exactly: `g_s`, `alpha(8)`, `alpha beyond m = 4`.
        name: String,
    },
}

/// Number of mappings that are weighed, as choices and as runs: those of which there is the most to hope
/// for.
const MOST: usize = 256;

/// Ranks measurements by how much they lower the expected cost of the choice among `mappings`.
///
/// `noise` is the relative standard deviation of a single timed run, as 0.02; without it, what the
/// runs say. Ties, as where the choice is settled, go to what makes the predicted time of the best
/// surest.
///
/// # Errors
///
/// [`Error::OutOfRange`] for a noise that is not above 0, and for no mapping.
pub fn next_measurement(
    posterior: &Posterior,
    mappings: &[Mapping],
    noise: Option<f64>,
) -> Result<NextMeasurement> {
    if let Some(noise) = noise.filter(|noise| !(*noise > 0.0 && noise.is_finite())) {
        return Err(Error::out_of_range(
            "noise",
            noise.to_string(),
            "a relative error of a run above 0, as 0.02",
        ));
    }
    super::check(mappings, super::Sampling::new(1, 1))?;
    let noise = noise.unwrap_or_else(|| posterior.noise_variance().sqrt());
    let weighed = weighed(posterior, mappings);
    let joint = posterior.joint(&weighed);
    let log_times = joint.log_times();
    let learning = Learning::new(&joint, noise * noise);
    let best = log_times.imin();
    let amount = posterior.objective().of_product(Seconds(log_times[best].exp())).0;
    let judged = |what: MeasurementKind, variance: f64, covariances: &[f64]| Measurement {
        what,
        gain: Amount(amount * learning.gain_of(covariances.iter().copied(), variance)),
        error_of_best: Amount(amount * learning.left(best, covariances[best], variance)),
    };
    let mut measurements: Vec<Measurement> = weighed
        .iter()
        .enumerate()
        .map(|(place, &mapping)| {
            let (variance, covariances) = learning.run(place);
            judged(MeasurementKind::Run(mapping), variance, &covariances)
        })
        .collect();
    measurements.extend(posterior.values(&weighed).into_iter().map(|value| {
        // With a third of its variance as noise, a quarter of its variance is left.
        judged(
            MeasurementKind::Term { name: value.name },
            value.variance * 4.0 / 3.0,
            &value.covariances,
        )
    }));
    measurements.sort_by(|one, other| {
        let by_gain = other.gain.0.total_cmp(&one.gain.0);
        by_gain.then(one.error_of_best.0.total_cmp(&other.error_of_best.0))
    });
    let warnings = posterior.warnings(mappings);
    Ok(NextMeasurement { best: weighed[best], noise, measurements, warnings })
}

/// Mappings that are weighed, in their order.
fn weighed(posterior: &Posterior, mappings: &[Mapping]) -> Vec<Mapping> {
    if mappings.len() <= MOST {
        return mappings.to_vec();
    }
    let marginals = posterior.marginals(mappings);
    let hopes: Vec<f64> = (0..mappings.len()).map(|it| marginals.hope(it)).collect();
    let mut places: Vec<usize> = (0..mappings.len()).collect();
    places.sort_by(|&one, &other| hopes[one].total_cmp(&hopes[other]));
    places.truncate(MOST);
    places.sort_unstable();
    places.into_iter().map(|place| mappings[place]).collect()
}

/// What is believed of some times, as it changes by runs of them.
pub(super) struct Learning {
    log_times: DVector<f64>,
    covariance: DMatrix<f64>,
    noise_variance: f64,
}

impl Learning {
    /// Learning from runs with a noise of this variance in the logarithm.
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
        let line = |(log_time, covariance): (&f64, f64)| GainLine {
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
struct GainLine {
    height: f64,
    slope: f64,
}

/// `E[max over all lines] - max over all heights` for a standard normal z.
///
/// The largest of lines is one after the other, by increasing slope, with corners at z_i between
/// them: the sum over corners of `(slope_after - slope_before) * f(-|z_i|)` with
/// `f(z) = phi(z) + z*Phi(z)`.
fn gain(mut lines: Vec<GainLine>) -> f64 {
    lines.sort_by(|one, other| {
        one.slope.total_cmp(&other.slope).then(one.height.total_cmp(&other.height))
    });
    let mut envelope: Vec<(GainLine, f64)> = Vec::new();
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
        |pair: &[(GainLine, f64)]| (pair[1].0.slope - pair[0].0.slope) * beyond(-pair[1].1.abs());
    // From +0: the sum of no floats would be -0.
    envelope.windows(2).map(corner).fold(0.0, |sum, corner| sum + corner)
}

/// What a choice costs relative to the fastest, in every draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Regret {
    /// Costs of the draws, in increasing order.
    costs: Vec<f64>,
}

impl Regret {
    /// Regret by the logarithms of the choice's time and of the least of all, in every draw.
    pub(super) fn of(draws: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut costs: Vec<f64> = draws.map(|(time, least)| (time - least).exp_m1()).collect();
        costs.sort_unstable_by(f64::total_cmp);
        Self { costs }
    }

    /// What it is expected to cost.
    pub fn expected(&self) -> f64 {
        self.costs.iter().sum::<f64>() / self.costs.len().max(1) as f64
    }

    /// What it costs at most, with this probability.
    pub fn at_most(&self, probability: f64) -> f64 {
        let place = place_of_most(self.costs.len(), probability);
        self.costs.get(place).copied().unwrap_or(0.0)
    }

    /// How likely it is to cost more than this.
    pub fn exceeds(&self, cost: f64) -> f64 {
        let within = self.costs.partition_point(|it| *it <= cost);
        (self.costs.len() - within) as f64 / self.costs.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Prior;
    use crate::decide::feasible;
    use crate::models::terms::Term;
    use crate::models::{Parameters, published};
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// PBPI where (4, 4) and (8, 2) differ by little, whatever the cause.
    fn close() -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        // (8,2) pays 20000*147 us more for collectives and 2*0.8 s less for the gap.
        let o_col = parameters.terms.estimate_mut(Term::CollectiveCost.entry(7)).unwrap();
        (o_col.value, o_col.std_error) = (203e-6, Some(20e-6));
        parameters.terms.c_apu_s.std_error = Some(0.5);
        parameters
    }

    /// Next measurement by a model that is hardly off.
    fn next(parameters: &Parameters, noise: f64) -> NextMeasurement {
        let prior = Prior::of(parameters).with_misfit(1e-6).unwrap();
        let posterior = Posterior::new(&prior, None).unwrap();
        let mappings: Vec<Mapping> = feasible(16).collect();
        next_measurement(&posterior, &mappings, Some(noise)).unwrap()
    }

    #[test]
    fn the_term_that_decides_is_to_be_measured_and_not_the_one_that_all_share() {
        let next = next(&close(), 0.02);
        let gain = |name: &str| {
            let is_it = |one: &&Measurement| matches!(&one.what, MeasurementKind::Term { name: known } if known == name);
            next.measurements.iter().find(is_it).unwrap().gain.0
        };
        let most = next.measurements[0].gain.0;
        assert_eq!(gain("o_col_s(8)"), most);
        assert!(gain("c_apu_s") < 0.02 * most, "{}", gain("c_apu_s"));
        // T(8,2) - T(4,4) = 20000*(203 - 118) us - 1.6 s = 0.1 s with a standard error of 0.4 s,
        // of which 0.75 of the variance is learnt: s = 0.34641, and E[max(0, s z - 0.1)] is
        // s*phi(0.1/s) - 0.1*Phi(-0.1/s), to first order.
        let expected = 0.346_410_161 * 0.382_663_6 - 0.1 * 0.386_418_3;
        approx::assert_relative_eq!(most, expected, max_relative = 0.02);
    }

    #[test]
    fn a_certain_choice_leaves_what_makes_its_time_surest() {
        let mut parameters = close();
        let o_col = parameters.terms.estimate_mut(Term::CollectiveCost.entry(7)).unwrap();
        o_col.value = 900e-6;
        let next = next(&parameters, 0.001);
        assert!(next.measurements.iter().all(|one| one.gain.0 == 0.0));
        // The error of C_APU is in every time.
        assert!(matches!(next.measurements[0].what, MeasurementKind::Run(_)));
    }

    #[test]
    fn noise_is_above_nothing() {
        let posterior = Posterior::of(&close()).unwrap();
        let error = next_measurement(&posterior, &[Mapping::of(1, 1)], Some(0.0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "noise: found 0, expected a relative error of a run above 0, as 0.02"
        );
    }

    #[test]
    fn of_many_mappings_those_are_weighed_that_may_be_the_fastest() {
        let parameters = close();
        let posterior = Posterior::of(&parameters).unwrap();
        let all: Vec<Mapping> = feasible(70).collect();
        assert!(all.len() > MOST);
        let found = weighed(&posterior, &all);
        assert!(found.len() == MOST && found.is_sorted());
        let by_time = |one: &&Mapping, other: &&Mapping| {
            parameters.time(**one).0.total_cmp(&parameters.time(**other).0)
        };
        assert!(found.contains(all.iter().min_by(by_time).unwrap()));
        assert!(!found.contains(all.iter().max_by(by_time).unwrap()));
    }

    #[test]
    fn the_gain_of_two_lines_is_known_in_closed_form() {
        let lines =
            vec![GainLine { height: 0.0, slope: 0.0 }, GainLine { height: -0.5, slope: 0.5 }];
        // E[max(0, 0.5 z - 0.5)] = 0.5 (phi(1) - Phi(-1)).
        approx::assert_relative_eq!(gain(lines), 0.041_657_735, max_relative = 1e-6);
        let parallel =
            vec![GainLine { height: 0.0, slope: 1.0 }, GainLine { height: -1.0, slope: 1.0 }];
        assert_eq!(gain(parallel), 0.0);
    }

    #[test]
    fn the_gain_of_many_lines_is_the_mean_of_their_maximum() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(8);
        let mut normal = || -> f64 { StandardNormal.sample(random) };
        for _ in 0..20 {
            let lines: Vec<GainLine> =
                (0..30).map(|_| GainLine { height: normal(), slope: normal() }).collect();
            let highest = lines.iter().map(|line| line.height).fold(f64::NEG_INFINITY, f64::max);
            let (mut sum, mut squares) = (0.0, 0.0);
            let draws = 20_000;
            for _ in 0..draws {
                let z = normal();
                let at = |line: &GainLine| line.height + line.slope * z;
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

    #[test]
    fn a_choice_costs_what_it_takes_longer_than_the_least_of_each_draw() {
        // Twice as long as the least in three draws of four.
        let draws = [1.0, 1.0, 1.0, 2.0].map(|least| (f64::ln(2.0), f64::ln(least)));
        let regret = Regret::of(draws.into_iter());
        approx::assert_relative_eq!(regret.expected(), 0.75, max_relative = 1e-12);
        approx::assert_relative_eq!(regret.at_most(0.95), 1.0, max_relative = 1e-12);
        assert_eq!(regret.at_most(0.25), 0.0);
        assert_eq!([0.0, 0.5, 1.5].map(|cost| regret.exceeds(cost)), [0.75, 0.75, 0.0]);
    }
}
