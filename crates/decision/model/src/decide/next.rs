//! Which measurement makes the choice better: see [`super::gain`].

use super::gain::Learning;
use crate::belief::Posterior;
use crate::objective::Amount;
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
    /// All measurements that were weighed.
    pub measurements: Vec<Measurement>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// A measurement, and what it is expected to be good for.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// What to measure.
    pub what: Measured,
    /// By how much it lowers the expected cost of the choice.
    pub gain: Amount,
    /// The standard error of what is predicted of the best configuration after it.
    pub error_of_best: Amount,
}

/// What can be measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// One further timed run.
    Run(Mapping),
    /// The micro-benchmark or profile of one term again, so often that its standard error halves.
    Term {
        /// The name of what is not known exactly: `g_s`, `alpha(8)`, `alpha beyond m = 4`.
        name: String,
    },
}

/// So many mappings are weighed, as choices and as runs: those of which there is the most to hope for.
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
    let judged = |what: Measured, variance: f64, covariances: &[f64]| Measurement {
        what,
        gain: Amount(amount * learning.gain_of(covariances.iter().copied(), variance)),
        error_of_best: Amount(amount * learning.left(best, covariances[best], variance)),
    };
    let mut measurements: Vec<Measurement> = weighed
        .iter()
        .enumerate()
        .map(|(place, &mapping)| {
            let (variance, covariances) = learning.run(place);
            judged(Measured::Run(mapping), variance, &covariances)
        })
        .collect();
    measurements.extend(posterior.values(&weighed).into_iter().map(|value| {
        // With a third of its variance as noise, a quarter of its variance is left.
        judged(Measured::Term { name: value.name }, value.variance * 4.0 / 3.0, &value.covariances)
    }));
    measurements.sort_by(|one, other| {
        let by_gain = other.gain.0.total_cmp(&one.gain.0);
        by_gain.then(one.error_of_best.0.total_cmp(&other.error_of_best.0))
    });
    let warnings = posterior.warnings(mappings);
    Ok(NextMeasurement { best: weighed[best], noise, measurements, warnings })
}

/// Those that are weighed, in their order.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Prior;
    use crate::decide::feasible;
    use crate::models::sensitivity::Entry;
    use crate::models::{Parameters, published};

    /// PBPI where (4, 4) and (8, 2) differ by little, whatever the cause.
    fn close() -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        // (8,2) pays 20000*147 us more for collectives and 2*0.8 s less for the gap.
        let o_col = parameters.terms.estimate_mut(Entry::Collective(7)).unwrap();
        (o_col.value, o_col.std_error) = (203e-6, Some(20e-6));
        parameters.terms.c_apu_s.std_error = Some(0.5);
        parameters
    }

    /// With a model that is hardly off.
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
            let is_it = |one: &&Measurement| matches!(&one.what, Measured::Term { name: known } if known == name);
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
        let o_col = parameters.terms.estimate_mut(Entry::Collective(7)).unwrap();
        o_col.value = 900e-6;
        let next = next(&parameters, 0.001);
        assert!(next.measurements.iter().all(|one| one.gain.0 == 0.0));
        // The error of C_APU is in every time.
        assert!(matches!(next.measurements[0].what, Measured::Run(_)));
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
}
