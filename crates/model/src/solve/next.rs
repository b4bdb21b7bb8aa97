//! Which measurement makes the choice better.
//!
//! To first order the times are linear in the parameters, whose errors are normal; a measurement
//! then moves the expected time of each configuration c by `k_c * z`, z being a standard normal
//! deviate and
//!
//! `k_c = cov(T(c), y) / sqrt(var(y) + noise^2)`
//!
//! for a measured quantity y. Whoever chooses after the measurement takes the least of the new
//! expected times, so that it lowers the expected regret by
//!
//! `min over c of T(c) - E[min over c of (T(c) + k_c * z)]`.
//!
//! The expectation over z is that of a function made of straight lines, known in closed form:
//! the knowledge gradient for correlated beliefs (Frazier, Powell, Dayanik, INFORMS Journal on
//! Computing 21, 2009). Nothing is drawn for it.

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

use super::best::{self, Candidate};
use super::constraints::{Constraints, Space};
use super::uncertainty::{Uncertainty, covariance};
use super::{Sampling, rank_within};
use crate::model::time_model::TimeModel;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::units::Seconds;

/// What may be measured, the most useful first.
#[derive(Debug, Clone, PartialEq)]
pub struct NextMeasurement {
    /// The configuration that is predicted to be the fastest.
    pub best: Mapping,
    /// Its expected regret as things stand.
    pub expected_regret: Seconds,
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
    /// By how much it lowers the expected regret of the choice.
    pub gain: Seconds,
    /// The standard error of the predicted time of the best configuration after it.
    pub error_of_best: Seconds,
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

/// So many of the best configurations are weighed, as choices and as runs; of the runs also those
/// at the ends of the first and the last row.
const MOST: usize = 200;

/// A gain below this part of the time counts as none.
const RESOLUTION: f64 = 1e-9;

/// Ranks measurements by how much they lower the expected regret.
///
/// `noise` is the relative standard deviation of a single timed run, as 0.02. Ties, as where the
/// choice is already certain, go to what makes the predicted time of the best surest.
///
/// # Errors
///
/// As [`rank_within`], and [`Error::OutOfRange`] for a noise that is not above 0.
pub fn next_measurement(
    model: &dyn TimeModel,
    constraints: &Constraints,
    noise: f64,
    sampling: Sampling,
) -> Result<NextMeasurement> {
    if !(noise > 0.0 && noise.is_finite()) {
        return Err(Error::OutOfRange {
            name: "noise",
            found: noise.to_string(),
            expected: "a relative error of a run above 0, as 0.02".into(),
        });
    }
    let ranking = rank_within(model, constraints, sampling)?;
    let space = constraints.space(model.apus())?;
    let uncertainty = Uncertainty::of(model);
    let choices = best::within(model, &space, MOST);
    let beliefs: Vec<Belief> = choices
        .iter()
        .map(|c| Belief { time: c.time.0, deviates: uncertainty.deviates_of_time(c.mapping) })
        .collect();
    let judge = |what: Measured, of_measured: &[f64], noise_variance: f64| {
        measurement(what, &beliefs, of_measured, noise_variance)
    };
    let mut measurements: Vec<Measurement> = runs(model, &space, &choices)
        .into_iter()
        .map(|Candidate { time, mapping }| {
            let of_run = uncertainty.deviates_of_time(mapping);
            judge(Measured::Run(mapping), &of_run, (noise * time.0).powi(2))
        })
        .collect();
    measurements.extend(uncertainty.sources.iter().enumerate().map(|(index, source)| {
        let of_term = uncertainty.deviates(&[(index, 1.0)]);
        // With a third of its variance as noise, a quarter of its variance is left.
        let noise_variance = covariance(&of_term, &of_term) / 3.0;
        let name = source.name.clone();
        judge(Measured::Term { name }, &of_term, noise_variance)
    }));
    measurements.sort_by(|one, other| {
        let by_gain = other.gain.0.total_cmp(&one.gain.0);
        by_gain.then(one.error_of_best.0.total_cmp(&other.error_of_best.0))
    });
    let best = ranking.configurations[0];
    Ok(NextMeasurement {
        best: best.mapping,
        expected_regret: best.expected_regret,
        measurements,
        warnings: ranking.warnings,
    })
}

/// What is believed of the time of a configuration.
struct Belief {
    time: f64,
    deviates: Vec<f64>,
}

/// The runs to weigh.
fn runs(model: &dyn TimeModel, space: &Space, choices: &[Candidate]) -> Vec<Candidate> {
    let mut runs = choices.to_vec();
    let rows = space.ms().next().into_iter().chain(space.ms().last());
    for m in rows {
        let ps = space.choices(m);
        for p in [ps.at(0), ps.at(ps.count - 1)] {
            let mapping = Mapping::of(m, p);
            runs.push(Candidate { time: model.time(mapping), mapping });
        }
    }
    runs.sort_unstable();
    runs.dedup();
    runs
}

fn measurement(
    what: Measured,
    beliefs: &[Belief],
    of_measured: &[f64],
    noise_variance: f64,
) -> Measurement {
    let variance = covariance(of_measured, of_measured) + noise_variance;
    let scale = if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 };
    let lines: Vec<Line> = beliefs
        .iter()
        .map(|belief| Line {
            // The least time is the largest of the negative ones.
            height: -belief.time,
            slope: -scale * covariance(&belief.deviates, of_measured),
        })
        .collect();
    let of_best = &beliefs[0].deviates;
    let left = covariance(of_best, of_best) - lines[0].slope.powi(2);
    // To first order, no less than this means anything.
    let gain = Some(gain(lines)).filter(|gain| *gain > RESOLUTION * beliefs[0].time);
    Measurement {
        what,
        gain: Seconds(gain.unwrap_or(0.0)),
        error_of_best: Seconds(left.max(0.0).sqrt()),
    }
}

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
    let normal = Normal::standard();
    let corner = |pair: &[(Line, f64)]| {
        let z = -pair[1].1.abs();
        // Rounding may leave less than nothing where phi and z*Phi cancel.
        (pair[1].0.slope - pair[0].0.slope) * (normal.pdf(z) + z * normal.cdf(z)).max(0.0)
    };
    // From +0: the sum of no floats would be -0.
    envelope.windows(2).map(corner).fold(0.0, |sum, corner| sum + corner)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::model::sensitivity::Entry;
    use crate::model::{Parameters, published};

    const SAMPLING: Sampling = Sampling::new(20_000, 2);

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

    /// PBPI where (4, 4) and (8, 2) differ by little, whatever the cause.
    fn close() -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        // (8,2) pays 20000*147 us more for collectives and 2*0.8 s less for the gap.
        let o_col = parameters.terms.estimate_mut(Entry::Collective(7)).unwrap();
        (o_col.value, o_col.std_error) = (203e-6, Some(20e-6));
        parameters.terms.c_apu_s.std_error = Some(0.5);
        parameters
    }

    fn next(parameters: &Parameters, noise: f64) -> NextMeasurement {
        next_measurement(parameters, &Constraints::NONE, noise, SAMPLING).unwrap()
    }

    #[test]
    fn the_term_that_decides_is_to_be_measured_and_not_the_one_that_all_share() {
        let next = next(&close(), 0.02);
        let place = |name: &str| {
            next.measurements
                .iter()
                .position(
                    |one| matches!(&one.what, Measured::Term { name: known } if known == name),
                )
                .unwrap()
        };
        assert_eq!(place("o_col_s(8)"), 0);
        assert_eq!(next.measurements[place("c_apu_s")].gain, Seconds(0.0));
        // T(8,2) - T(4,4) = 20000*(203 - 118) us - 1.6 s = 0.1 s with a standard error of 0.4 s,
        // of which 0.75 of the variance is learnt: s = 0.34641, and E[max(0, s z - 0.1)] is
        // s*phi(0.1/s) - 0.1*Phi(-0.1/s).
        let expected = 0.346_410_161 * 0.382_663_6 - 0.1 * 0.386_418_3;
        approx::assert_relative_eq!(next.measurements[0].gain.0, expected, max_relative = 1e-4);
    }

    #[test]
    fn no_run_is_worth_more_than_knowing_everything() {
        let next = next(&close(), 1e-9);
        // A run without noise at (8,2) still mixes O_COL with C_APU, which only a run elsewhere
        // could tell apart; nothing exceeds the expected regret.
        let bound = next.expected_regret.0 * 1.05;
        assert!(next.measurements.iter().all(|one| one.gain.0 <= bound));
        assert!(next.measurements[0].gain.0 > 0.0);
    }

    #[test]
    fn a_certain_choice_leaves_what_makes_its_time_surest() {
        let mut parameters = close();
        let o_col = parameters.terms.estimate_mut(Entry::Collective(7)).unwrap();
        o_col.value = 900e-6;
        let next = next(&parameters, 0.001);
        assert!(next.measurements.iter().all(|one| one.gain.0 == 0.0));
        // The error of C_APU is in every time; the shortest run has the least noise.
        assert_eq!(next.measurements[0].what, Measured::Run(Mapping::of(4, 4)));
    }

    #[test]
    fn noise_is_above_nothing() {
        let error = next_measurement(&close(), &Constraints::NONE, 0.0, SAMPLING).unwrap_err();
        assert_eq!(
            error.to_string(),
            "noise: found 0, expected a relative error of a run above 0, as 0.02"
        );
    }
}
