//! Which configuration is fastest, by equation 11, and how sure that is.
//!
//! [`rank`] predicts every feasible (m, p) with an interval, the probability that it is the best,
//! and the regret of choosing it; [`rank_within`] does so under [`Constraints`]; [`best`] finds the
//! few best where there are too many to rank. Around the choice:
//!
//! * [`explain`]: what a predicted time is made of, and what its interval is due to;
//! * [`next_measurement`]: what to measure so that the choice becomes better;
//! * [`break_even`]: from what size of a task off-loading pays at all;
//! * [`scaled`]: what if a term were another;
//! * [`plan_phases`]: a p of its own for each phase; [`rank_nodes`]: nodes around the threads.
//!
//! ```
//! use mmgp_model::solve::{Constraints, Sampling, next_measurement, rank_within};
//!
//! let mut parameters = mmgp_model::model::published("pbpi-qs20")?;
//! parameters.terms.g_s.std_error = Some(0.3);
//! parameters.terms.t_apu_s.std_error = Some(4.0);
//! // The loops divide evenly among 1, 2, 4 or 8 APUs.
//! let constraints = Constraints { p_divides: Some(8), ..Constraints::NONE };
//! let sampling = Sampling { draws: 2000, seed: 1 };
//! let ranking = rank_within(&parameters, &constraints, sampling)?;
//! let best = ranking.configurations[0];
//! assert_eq!((best.m, best.p), (4, 4));
//! assert!(best.expected_regret.0 < 0.1 * best.time.0);
//!
//! // What would a further run, with a noise of 2 %, or a better value of a term gain?
//! let next = next_measurement(&parameters, &constraints, 0.02, sampling)?;
//! assert!(next.measurements[0].gain <= next.expected_regret);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

pub mod best;
mod break_even;
mod comparison;
pub mod constraints;
mod draws;
mod explanation;
mod next;
mod nodes;
mod phased;
mod regret;
mod uncertainty;
mod what_if;

use std::collections::BTreeSet;

use crate::model::Parameters;
use crate::model::parameters::{OverM, Terms};
use crate::model::sensitivity::Entry;
use crate::model::uncertainty::quantile_97_5;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::Prediction;
use mmgp_base::units::Seconds;

use best::Candidate;
pub use break_even::{BreakEven, BreakEvenRow, Optimum, break_even};
pub use constraints::{Constraints, Space};
use draws::Draws;
pub use explanation::{Explanation, TermEffect, explain};
pub use next::{Measured, Measurement, NextMeasurement, next_measurement};
pub use nodes::{NodeConfiguration, NodeRanking, rank_nodes};
pub use phased::{Changes, Plan, Plans, plan_phases};
pub use uncertainty::Source;
use uncertainty::Uncertainty;
pub use what_if::{Scale, scaled};

/// How the parameters are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// How often all parameters are drawn, at least 1. The standard error of a probability q is
    /// `sqrt(q (1 - q) / draws)`: at most 0.005 for 10,000.
    pub draws: u32,
    /// Seed of the generator; the same seed gives the same probabilities.
    pub seed: u64,
}

impl Sampling {
    /// Draws that give probabilities to two digits.
    pub const USUAL_DRAWS: u32 = 10_000;
}

/// Every feasible configuration, best first, and the doubts that concern them.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// In the order of their predicted times; ties by m, then p.
    pub configurations: Vec<Configuration>,
    /// Mean over the draws of the least time: what the run would take if the fastest
    /// configuration were known.
    pub expected_least: Seconds,
    /// What the reader of the ranking should know.
    pub warnings: Vec<Warning>,
}

/// A configuration with its place in the ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Configuration {
    /// Place in the order of predicted time, from 1.
    pub rank: u32,
    /// Host threads.
    pub m: u32,
    /// APUs for each of them.
    pub p: u32,
    /// Predicted time of the run.
    pub time: Seconds,
    /// Lower end of the 95 % interval that follows from the standard errors of the parameters.
    pub low: Seconds,
    /// Upper end of that interval.
    pub high: Seconds,
    /// Probability that no other configuration is faster, by the same standard errors.
    pub probability_best: f64,
    /// Predicted time of (1, 1) over that of this configuration.
    pub speedup: f64,
    /// Speed-up over the APUs in use, `m * p`.
    pub efficiency: f64,
    /// Expected regret: the mean over the draws of what it takes longer than the configuration
    /// that is the fastest in that draw.
    pub expected_regret: Seconds,
    /// The regret that 95 % of the draws do not exceed.
    pub regret_95: Seconds,
    /// Whether it cannot be told from the best.
    pub indistinguishable: bool,
}

impl From<&Configuration> for Prediction {
    fn from(configuration: &Configuration) -> Self {
        Self {
            rank: configuration.rank,
            m: configuration.m,
            p: configuration.p,
            time_s: configuration.time.0,
            low_s: configuration.low.0,
            high_s: configuration.high.0,
            probability_best: configuration.probability_best,
            speedup: configuration.speedup,
            efficiency: configuration.efficiency,
            expected_regret_s: configuration.expected_regret.0,
            regret_95_s: configuration.regret_95.0,
            indistinguishable: u32::from(configuration.indistinguishable),
        }
    }
}

impl From<&Configuration> for Candidate {
    fn from(&Configuration { time, m, p, .. }: &Configuration) -> Self {
        Self { time, m, p }
    }
}

/// The most APUs of which every configuration is ranked; they have some 2.5 million.
const MOST_APUS: u32 = 200_000;

/// All (m, p) with `m * p <= apus`, by m, then p.
///
/// More workers than tasks are feasible too: the model says what they cost.
pub fn feasible(apus: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=apus).flat_map(move |m| (1..=apus / m).map(move |p| (m, p)))
}

/// Predicts and ranks every feasible configuration of `parameters`: [`rank_within`] without
/// constraints.
///
/// # Errors
///
/// As [`rank_within`].
pub fn rank(parameters: &Parameters, sampling: Sampling) -> Result<Ranking> {
    rank_within(parameters, &Constraints::NONE, sampling)
}

/// Predicts and ranks every configuration that the constraints allow.
///
/// Intervals come from first-order propagation of the standard errors with their correlation and
/// degrees of freedom; beyond the last m of a table they widen with the distance (see
/// [`Warning::Extrapolated`]). With p beyond what was measured they widen as `N*p*se(g)`, because
/// the gap is paid for each APU. Probabilities and regrets come from `sampling`. A value without a
/// standard error counts as exact, of which a warning tells.
///
/// # Errors
///
/// [`Error::OutOfRange`] for no draws, no APUs, or more than 200,000 of them: use [`best`] there.
/// [`Error::NothingFeasible`] where the constraints leave nothing.
pub fn rank_within(
    parameters: &Parameters,
    constraints: &Constraints,
    sampling: Sampling,
) -> Result<Ranking> {
    check(parameters, sampling)?;
    let space = constraints.space(parameters.apus)?;
    let uncertainty = Uncertainty::of(parameters);
    let best = best::within(parameters, &space, 1)[0];
    // Without uncertainty all draws are the same.
    let draws = if uncertainty.is_none() { 1 } else { sampling.draws };
    let draws = Draws::new(parameters, &uncertainty, Sampling { draws, ..sampling });
    let contest = regret::contest((parameters, &uncertainty), &space, &draws, best);
    let count = space.count();
    let asked = (MOST_TIMES / count).max(FEWEST_DRAWS).min(draws.count);
    let quantiles = Quantiles::new(count);
    let mut losses = Vec::with_capacity(asked);
    let mut configurations = Vec::with_capacity(count);
    let sequential = parameters.time(Mapping::of(1, 1));
    for m in space.ms() {
        let drawn = draws.row(parameters, m, asked);
        let row = parameters.row(m);
        for p in space.choices(m).iter() {
            let time = row.at(p);
            let error = uncertainty.standard_error(&uncertainty.slopes(parameters, m, p));
            let half_width = quantiles.of(error.freedom) * error.value;
            let regret = regret::regret(&drawn, p, &contest.least, &mut losses);
            let draws_won = contest.wins.get(&(m, p)).copied().unwrap_or(0);
            let speedup = speedup(sequential, time);
            configurations.push(Configuration {
                rank: 0,
                m,
                p,
                time,
                low: Seconds((time.0 - half_width).max(0.0)),
                high: Seconds(time.0 + half_width),
                probability_best: f64::from(draws_won) / draws.count as f64,
                speedup,
                efficiency: speedup / (f64::from(m) * f64::from(p)),
                expected_regret: Seconds(regret.expected),
                regret_95: Seconds(regret.at_95),
                indistinguishable: false,
            });
        }
    }
    configurations.sort_unstable_by_key(|configuration| Candidate::from(configuration));
    let ranked: Vec<Candidate> = configurations.iter().map(Candidate::from).collect();
    let answers = comparison::indistinguishable(parameters, &uncertainty, &draws, &ranked);
    for ((configuration, indistinguishable), rank) in
        configurations.iter_mut().zip(answers).zip(1..)
    {
        configuration.rank = rank;
        configuration.indistinguishable = indistinguishable;
    }
    let expected_least = Seconds(contest.least.iter().sum::<f64>() / draws.count as f64);
    let mut warnings = warnings(parameters, 1, space.ms().last().unwrap_or(1));
    // Of those beyond a table, the best, or the one that is the fastest in most of the draws.
    let beyond = |&(m, p): &(u32, u32)| uncertainty.extrapolated(parameters, m, p);
    let by_wins = contest.wins.iter().filter(|(place, _)| beyond(place).is_some());
    let winner = by_wins.max_by_key(|(_, wins)| **wins).map(|(place, _)| *place);
    warnings.extend(beyond(&(best.m, best.p)).or_else(|| beyond(&winner?)));
    warnings.extend(safer(&configurations));
    Ok(Ranking { configurations, expected_least, warnings })
}

/// A doubt where another than the fastest by prediction is the safer choice: its expected regret is
/// less by a fifth and by a thousandth of the time. The mean over the draws differs from the
/// prediction where errors are large, as beyond a table.
fn safer(ranked: &[Configuration]) -> Option<Warning> {
    let by_regret = |one: &&Configuration, other: &&Configuration| {
        one.expected_regret.0.total_cmp(&other.expected_regret.0)
    };
    let (best, safest) = (&ranked[0], ranked.iter().min_by(by_regret)?);
    let (most, least) = (best.expected_regret, safest.expected_regret);
    let is_less = least.0 < 0.8 * most.0 && most.0 - least.0 > 1e-3 * best.time.0;
    is_less.then(|| {
        Warning::Note(format!(
            "({}, {}) is the safer choice: its expected regret is {least}, that of ({}, {}) {most}",
            safest.m, safest.p, best.m, best.p
        ))
    })
}

/// Times that are drawn for the regrets of all configurations together; where these are so many
/// that fewer draws are left to each, the first ones are taken.
const MOST_TIMES: usize = 500_000;

/// The fewest draws behind a regret.
const FEWEST_DRAWS: usize = 200;

/// Half the width of a 95 % interval in standard errors, for many different degrees of freedom.
enum Quantiles {
    /// Each computed.
    Exact,
    /// Between the quantiles at equal steps of 1/freedom from 0 to 1: off by less than 1e-4.
    Between(Vec<f64>),
}

impl Quantiles {
    /// Steps from no to one degree of freedom.
    const STEPS: usize = 512;

    /// For so many intervals.
    fn new(count: usize) -> Self {
        if count <= Self::STEPS {
            return Self::Exact;
        }
        let at = |step| (step > 0).then(|| Self::STEPS as f64 / step as f64);
        Self::Between((0..=Self::STEPS).map(|step| quantile_97_5(at(step))).collect())
    }

    fn of(&self, freedom: Option<f64>) -> f64 {
        match self {
            Self::Exact => quantile_97_5(freedom),
            Self::Between(known) => {
                let place = freedom.map_or(0.0, f64::recip).min(1.0) * Self::STEPS as f64;
                let below = (place as usize).min(Self::STEPS - 1);
                known[below] + (known[below + 1] - known[below]) * (place - below as f64)
            }
        }
    }
}

/// The one configuration (m, p), with its place among all, and the doubts that concern it.
///
/// # Errors
///
/// As [`rank`], and [`Error::Infeasible`] where the machine has too few APUs for (m, p).
pub fn predict_one(parameters: &Parameters, m: u32, p: u32, sampling: Sampling) -> Result<Ranking> {
    parameters.check(Mapping::of(m, p))?;
    let mut ranking = rank(parameters, sampling)?;
    ranking.configurations.retain(|configuration| (configuration.m, configuration.p) == (m, p));
    ranking.warnings = warnings(parameters, m, m);
    ranking.warnings.extend(Uncertainty::of(parameters).extrapolated(parameters, m, p));
    Ok(ranking)
}

fn check(parameters: &Parameters, sampling: Sampling) -> Result<()> {
    if sampling.draws == 0 {
        return Err(Error::OutOfRange {
            name: "draws",
            found: "0".into(),
            expected: "at least 1".into(),
        });
    }
    if !(1..=MOST_APUS).contains(&parameters.apus) {
        return Err(Error::OutOfRange {
            name: "apus",
            found: parameters.apus.to_string(),
            expected: format!("from 1 to {MOST_APUS} where every configuration is ranked"),
        });
    }
    Ok(())
}

/// A run that takes no time at all is as fast on one thread as on many.
fn speedup(sequential: Seconds, time: Seconds) -> f64 {
    if sequential == time { 1.0 } else { sequential.0 / time.0 }
}

/// The doubts about predictions for m from `first_m` to `last_m`.
fn warnings(parameters: &Parameters, first_m: u32, last_m: u32) -> Vec<Warning> {
    let terms = &parameters.terms;
    let mut warnings = Vec::new();
    for (term, known) in [("alpha", terms.alpha.last_m()), ("o_col_s", terms.o_col_s.last_m())] {
        if let Some(last) = known
            && last < last_m
        {
            warnings.push(Warning::BeyondTable { term, last, m: first_m.max(last + 1) });
        }
    }
    // The gradient at p = 1 holds every entry that some p makes the time depend on.
    let asked: BTreeSet<Entry> = (first_m..=last_m)
        .flat_map(|m| parameters.gradient(Mapping::of(m, 1)))
        .filter(|(_, slope)| *slope > 0.0)
        .map(|(entry, _)| entry)
        .collect();
    let mut unknown: Vec<&str> = asked
        .into_iter()
        .filter(|&entry| !is_exact_by_nature(terms, entry))
        .filter(|&entry| terms.estimate(entry).is_some_and(|known| known.std_error.is_none()))
        .map(Entry::term)
        .collect();
    unknown.dedup();
    if !unknown.is_empty() {
        warnings.push(Warning::NoStandardError { terms: unknown });
    }
    warnings
}

/// Counts, and alpha at m = 1, which is 1 by definition.
fn is_exact_by_nature(terms: &Terms, entry: Entry) -> bool {
    match (entry, &terms.alpha) {
        (Entry::Offloads | Entry::Collectives, _) => true,
        (Entry::Alpha(index), OverM::Table(table)) => table.m[index] == 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::parameters::{Decomposition, Estimate, Table};
    use crate::model::uncertainty::Correlation;
    use crate::model::{published, published_names};

    const SAMPLING: Sampling = Sampling { draws: 40_000, seed: 7 };

    fn estimate(value: f64, std_error: f64) -> Estimate {
        Estimate { std_error: Some(std_error), ..Estimate::exact(value) }
    }

    /// Two APUs and a second thread so slow that only (1, 1) and (1, 2) can win. With one
    /// off-load, `T(1,1) - T(1,2) = T_APU/2 - g`.
    fn two_rivals(t_apu_s: Estimate, g_s: Estimate) -> Parameters {
        Parameters {
            name: "rivals".into(),
            decomposition: Decomposition::Data,
            apus: 2,
            terms: Terms {
                t_hpu_s: estimate(2.0, 0.0),
                t_apu_s,
                c_apu_s: estimate(0.0, 0.0),
                offloads: Estimate::exact(1.0),
                o_offload_s: estimate(0.0, 0.0),
                t_csw_s: estimate(0.0, 0.0),
                g_s,
                collectives: None,
                alpha: OverM::Constant(estimate(1000.0, 0.0)),
                o_col_s: OverM::Constant(estimate(0.0, 0.0)),
            },
            phases: vec![],
            correlation: None,
            refinements: None,
        }
    }

    /// Draws are independent, so four standard errors of the share that wins are a safe bound.
    fn check_probability(parameters: &Parameters, (m, p): (u32, u32), expected: f64) {
        let ranking = rank(parameters, SAMPLING).unwrap();
        let of = |c: &&Configuration| (c.m, c.p) == (m, p);
        let found = ranking.configurations.iter().find(of).unwrap().probability_best;
        let bound = 4.0 * (expected * (1.0 - expected) / f64::from(SAMPLING.draws)).sqrt();
        assert!((found - expected).abs() < bound, "{found} is not {expected} +- {bound}");
        let sum: f64 = ranking.configurations.iter().map(|c| c.probability_best).sum();
        approx::assert_relative_eq!(sum, 1.0, max_relative = 1e-12);
    }

    #[test]
    fn the_probability_of_two_rivals_is_the_normal_distribution_of_their_difference() {
        // T_APU/2 - g is normal with mean 0.5 and variance (0.8/2)^2 + 0.3^2 = 0.5^2.
        let parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
        check_probability(&parameters, (1, 2), 0.841_344_746_1); // Phi(1)
        check_probability(&parameters, (1, 1), 1.0 - 0.841_344_746_1);
    }

    #[test]
    fn regret_is_the_mean_loss_to_a_rival_that_may_be_faster() {
        // D = T(1,1) - T(1,2) is normal with mean 0.5 and standard deviation 0.5.
        let ranking = rank(&two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3)), SAMPLING).unwrap();
        // (1,2) loses max(0, -D): 0.5 (phi(1) - Phi(-1)), and 0.5*1.644854 - 0.5 at 95 %.
        // (1,1) loses max(0, D): 0.5 (phi(1) + Phi(1)), and 0.5 + 0.5*1.644854.
        let expected = [((1, 2), 0.041_658, 0.322_427), ((1, 1), 0.541_658, 1.322_427)];
        for ((m, p), mean, at_95) in expected {
            let of = |c: &&Configuration| (c.m, c.p) == (m, p);
            let found = ranking.configurations.iter().find(of).unwrap();
            // Losses spread by at most 0.5, and the density at the 95 % point is phi(1.645)/0.5.
            let draws = f64::from(SAMPLING.draws);
            let bound = 4.0 * 0.5 / draws.sqrt();
            assert!((found.expected_regret.0 - mean).abs() < bound, "{found:?}");
            let bound = 4.0 * (0.95 * 0.05 / draws).sqrt() / 0.206;
            assert!((found.regret_95.0 - at_95).abs() < bound, "{found:?}");
        }
        let best = ranking.configurations[0];
        let least = best.time.0 - 0.041_658;
        assert!((ranking.expected_least.0 - least).abs() < 4.0 * 1.0 / 200.0);
    }

    #[test]
    fn correlated_errors_change_the_odds() {
        let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
        let entries = vec![Entry::Gap, Entry::ApuTime];
        let matrix = vec![1.0, 0.5, 0.5, 1.0];
        parameters.correlation = Some(Correlation::new(entries, matrix).unwrap());
        // The variance of T_APU/2 - g is 0.4^2 + 0.3^2 - 2*0.5*0.4*0.3 = 0.13:
        // Phi(0.5/sqrt(0.13)) = Phi(1.386750).
        check_probability(&parameters, (1, 2), 0.917_238);
    }

    #[test]
    fn constraints_leave_fewer_rivals() {
        let parameters = published("pbpi-qs20").unwrap();
        let constraints =
            Constraints { m_divides: Some(6), p_divides: Some(8), ..Constraints::NONE };
        let ranking = rank_within(&parameters, &constraints, SAMPLING).unwrap();
        let places: Vec<_> = ranking.configurations.iter().map(|c| (c.m, c.p)).collect();
        assert_eq!(places.len(), 4 + 4 + 3 + 2);
        assert!(places.iter().all(|(m, p)| 6 % m == 0 && 8 % p == 0));
        assert_eq!(places[0], (2, 8));
        assert_eq!(ranking.configurations[0].expected_regret, Seconds(0.0));
        let efficiency = ranking.configurations[0].speedup / 16.0;
        assert_eq!(ranking.configurations[0].efficiency, efficiency);
    }

    #[test]
    fn rivals_with_different_numbers_of_threads_are_weighed_alike() {
        // With g = 100 a second APU is hopeless; T(1,1) - T(2,1) = T_APU/2 - (alpha - 1) T_HPU is
        // normal with mean 5 - 4.5 and variance (0.8/2)^2 + (2*0.15)^2 = 0.5^2. The error of
        // C_APU is common to both.
        let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(100.0, 0.0));
        parameters.terms.alpha = OverM::Constant(estimate(3.25, 0.15));
        parameters.terms.c_apu_s = estimate(200.0, 10.0);
        check_probability(&parameters, (2, 1), 0.841_344_746_1); // Phi(1)
    }

    #[test]
    fn a_value_near_zero_is_drawn_from_the_positive_half_of_its_distribution() {
        // (1, 2) wins where g < T_APU/2 = 0.5, and g is half-normal with sigma 0.5.
        let parameters = two_rivals(estimate(1.0, 0.0), estimate(0.0, 0.5));
        check_probability(&parameters, (1, 2), 0.682_689_492_1); // 2 Phi(1) - 1
    }

    #[test]
    fn the_interval_adds_the_independent_errors_of_the_terms() {
        let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
        parameters.terms.t_hpu_s = estimate(2.0, 1.0);
        let ranking = rank(&parameters, SAMPLING).unwrap();
        let best = ranking.configurations[0];
        assert_eq!((best.rank, best.m, best.p, best.time), (1, 1, 2, Seconds(16.0)));
        // T(1,2) = T_HPU + T_APU/2 + 2 g: the variance is 1.0^2 + 0.4^2 + 0.6^2 = 1.52.
        let half_width = 1.959_963_985 * 1.52f64.sqrt();
        approx::assert_relative_eq!(best.low.0, 16.0 - half_width, max_relative = 1e-9);
        approx::assert_relative_eq!(best.high.0, 16.0 + half_width, max_relative = 1e-9);
        approx::assert_relative_eq!(best.speedup, 16.5 / 16.0, max_relative = 1e-15);
    }

    #[test]
    fn an_interval_does_not_reach_below_zero() {
        let parameters = two_rivals(estimate(1.0, 5.0), estimate(0.0, 0.0));
        assert!(rank(&parameters, SAMPLING).unwrap().configurations[0].low == Seconds(0.0));
    }

    #[test]
    fn the_published_sets_rank_their_published_optimum_first_and_in_order() {
        for (name, best) in published_names().zip([(4, 4), (16, 1)]) {
            let parameters = published(name).unwrap();
            let configurations = rank(&parameters, SAMPLING).unwrap().configurations;
            assert_eq!(configurations.len(), 50);
            assert_eq!((configurations[0].m, configurations[0].p), best, "{name}");
            assert_eq!(configurations[0].probability_best, 1.0);
            assert!(
                configurations.is_sorted_by(|a, b| (a.time.0, a.m, a.p) < (b.time.0, b.m, b.p))
            );
            assert!(configurations.iter().map(|c| c.rank).eq(1..=50));
        }
    }

    #[test]
    fn tasks_do_not_limit_how_many_workers_are_feasible() {
        let mut parameters = published("raxml-qs20").unwrap();
        parameters.decomposition = Decomposition::Task { tasks: 3 };
        assert_eq!(rank(&parameters, SAMPLING).unwrap().configurations.len(), 50);
        assert_eq!(feasible(16).count(), 50);
        assert_eq!(feasible(3).collect::<Vec<_>>(), [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1)]);
    }

    #[test]
    fn the_same_seed_gives_the_same_ranking_and_another_seed_another() {
        let parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
        let with = |seed| rank(&parameters, Sampling { draws: 1000, seed }).unwrap();
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
    }

    #[test]
    fn one_configuration_stands_as_it_does_among_all() {
        let parameters = published("pbpi-qs20").unwrap();
        let all = rank(&parameters, SAMPLING).unwrap();
        let one = predict_one(&parameters, 2, 8, SAMPLING).unwrap();
        assert_eq!(one.configurations.len(), 1);
        assert!(all.configurations.contains(&one.configurations[0]));
        let error = predict_one(&parameters, 5, 4, SAMPLING).unwrap_err().to_string();
        assert_eq!(error, "m = 5, p = 4 needs 20 APUs, but there are 16");
    }

    fn check_warnings(parameters: &Parameters, m: Option<u32>, expected: &[&str]) {
        let ranking = match m {
            Some(m) => predict_one(parameters, m, 1, SAMPLING),
            None => rank(parameters, SAMPLING),
        };
        let warnings: Vec<String> =
            ranking.unwrap().warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, expected);
    }

    #[test]
    fn a_table_that_ends_too_early_and_values_without_errors_are_warned_of() {
        let mut parameters = two_rivals(estimate(10.0, 0.8), estimate(4.5, 0.3));
        check_warnings(&parameters, None, &[]);
        let values = vec![Estimate::exact(1.0), estimate(1.5, 0.1)];
        parameters.apus = 9;
        parameters.terms.alpha = OverM::Table(Table { m: vec![1, 4], values });
        let beyond = "alpha is known up to m = 4; its last value was used for m = ";
        // The entry of alpha at m = 1 needs no standard error: alpha is 1 there by definition.
        // Half the last slope of 1/6 for five more threads is 5/12, which doubles with T_HPU; the
        // rest is 0.1 of alpha(4), 0.3 of g and 0.8/9 of T_APU.
        let widened = "the interval of (9, 1) rests to 83 % on what alpha may be beyond m = 4; \
                       measure it at m = 9";
        check_warnings(&parameters, None, &[&format!("{beyond}5 and above"), widened]);
        let widened = "the interval of (7, 1) rests to 64 % on what alpha may be beyond m = 4; \
                       measure it at m = 7";
        check_warnings(&parameters, Some(7), &[&format!("{beyond}7 and above"), widened]);
        check_warnings(&parameters, Some(3), &[]);
        parameters.terms.t_apu_s.std_error = None;
        check_warnings(
            &parameters,
            Some(1),
            &[
                "intervals and probabilities know nothing of the uncertainty of t_apu_s: no standard \
               error is given",
            ],
        );
    }

    #[test]
    fn published_values_have_no_standard_errors_and_a_warning_says_so() {
        check_warnings(
            &published("raxml-qs20").unwrap(),
            None,
            &["intervals and probabilities know nothing of the uncertainty of t_hpu_s, t_apu_s, \
               c_apu_s, alpha: no standard error is given"],
        );
    }

    #[test]
    fn no_draws_and_numbers_of_apus_that_cannot_be_ranked_are_refused() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let error = rank(&parameters, Sampling { draws: 0, seed: 1 }).unwrap_err().to_string();
        assert_eq!(error, "draws: found 0, expected at least 1");
        for apus in [0, 200_001] {
            parameters.apus = apus;
            assert_eq!(
                rank(&parameters, SAMPLING).unwrap_err().to_string(),
                format!(
                    "apus: found {apus}, expected from 1 to 200000 where every configuration is \
                     ranked"
                )
            );
        }
    }
}
