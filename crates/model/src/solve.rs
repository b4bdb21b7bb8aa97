//! Which configuration is fastest, by any [`TimeModel`], and how sure that is.
//!
//! [`rank`] predicts every feasible (m, p) with an interval, the probability that it is the best,
//! and the regret of choosing it; [`rank_within`] does so under [`Constraints`]; [`best`] finds the
//! few best where there are too many to rank, and [`fastest`] says what is known of them. Around
//! the choice:
//!
//! * [`explain`]: what a predicted time is made of, and what its interval is due to;
//! * [`next_measurement`]: what to measure so that the choice becomes better;
//! * [`break_even`]: from what size of a task off-loading pays at all;
//! * [`scaled`]: what if a term were another;
//! * [`plan_phases`]: a p of its own for each phase; [`rank_nodes`]: nodes around the threads.
//!
//! ```
//! use mmgp_model::Mapping;
//! use mmgp_model::solve::{Constraints, Sampling, next_measurement, rank_within};
//!
//! let mut parameters = mmgp_model::model::published("pbpi-qs20")?;
//! parameters.terms.g_s.std_error = Some(0.3);
//! parameters.terms.t_apu_s.std_error = Some(4.0);
//! // The loops divide evenly among 1, 2, 4 or 8 APUs.
//! let constraints = Constraints::NONE.p_divides(8);
//! let sampling = Sampling::new(2000, 1);
//! let ranking = rank_within(&parameters, &constraints, sampling)?;
//! let best = ranking.configurations[0];
//! assert_eq!(best.mapping, Mapping::of(4, 4));
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
mod fastest;
mod next;
mod nodes;
mod phased;
mod regret;
mod uncertainty;
mod what_if;

use crate::model::Parameters;
use crate::model::time_model::TimeModel;
use crate::model::uncertainty::quantile_97_5;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::Prediction;
use mmgp_base::units::Seconds;

use best::Candidate;
pub use break_even::{BreakEven, BreakEvenRow, Optimum, break_even};
pub use constraints::{Condition, Constraints, Space};
use draws::Draws;
pub use explanation::{Explanation, TermEffect, explain};
pub use fastest::{Fastest, Predicted, fastest};
pub use next::{Measured, Measurement, NextMeasurement, next_measurement};
pub use nodes::{NodeConfiguration, NodeRanking, rank_nodes};
pub use phased::{Changes, Plan, Plans, plan_phases};
use uncertainty::Uncertainty;
pub use what_if::{Scale, scaled};

/// How the parameters are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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

    /// So many draws, at least 1, from a seed.
    pub const fn new(draws: u32, seed: u64) -> Self {
        Self { draws, seed }
    }
}

/// Every feasible configuration, best first, and the warnings that concern them.
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
#[non_exhaustive]
pub struct Configuration {
    /// Place in the order of predicted time, from 1.
    pub rank: u32,
    /// Which it is.
    pub mapping: Mapping,
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
            m: configuration.mapping.m(),
            p: configuration.mapping.p(),
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
    fn from(&Configuration { time, mapping, .. }: &Configuration) -> Self {
        Self { time, mapping }
    }
}

/// The most APUs of which every configuration is ranked; they have some 2.5 million.
const MOST_APUS: u32 = 200_000;

/// The same where the model has no rows, so that each is computed on its own: some 17,000.
const MOST_APUS_WITHOUT_ROWS: u32 = 2_048;

/// The most APUs of which [`rank`] ranks every configuration by this model. Beyond, [`fastest`]
/// knows the few best.
pub fn most_apus(model: &dyn TimeModel) -> u32 {
    if model.row(1).is_some() { MOST_APUS } else { MOST_APUS_WITHOUT_ROWS }
}

/// All mappings with `m * p <= apus`, by m, then p.
///
/// More workers than tasks are feasible too: the model says what they cost.
pub fn feasible(apus: u32) -> impl Iterator<Item = Mapping> {
    (1..=apus).flat_map(move |m| (1..=apus / m).map(move |p| Mapping::of(m, p)))
}

/// Predicts and ranks every feasible configuration by a model: [`rank_within`] without
/// constraints.
///
/// # Errors
///
/// As [`rank_within`].
pub fn rank(model: &dyn TimeModel, sampling: Sampling) -> Result<Ranking> {
    rank_within(model, &Constraints::NONE, sampling)
}

/// Predicts and ranks every configuration that the constraints allow.
///
/// Intervals come from first-order propagation of the standard errors with their correlation and
/// degrees of freedom; beyond the last m of a table they widen with the distance (see
/// [`Warning::Extrapolated`]). With p beyond what was measured those of equation 11 widen as
/// `N*p*se(g)`, because the gap is paid for each APU. Probabilities and regrets come from
/// `sampling`. A value without a standard error counts as exact, of which a warning tells.
///
/// # Errors
///
/// [`Error::OutOfRange`] for no draws, no APUs, or more than [`most_apus`] of them: use [`fastest`] there.
/// [`Error::NothingFeasible`] where the constraints leave nothing.
pub fn rank_within(
    model: &dyn TimeModel,
    constraints: &Constraints,
    sampling: Sampling,
) -> Result<Ranking> {
    check(model, sampling)?;
    let space = constraints.space(model.apus())?;
    let uncertainty = Uncertainty::of(model);
    let best = best::within(model, &space, 1)[0];
    // Without uncertainty all draws are the same.
    let draws = if uncertainty.is_none() { 1 } else { sampling.draws };
    let draws = Draws::new(&uncertainty, Sampling { draws, ..sampling });
    let contest = regret::contest(&uncertainty, &space, &draws, best);
    let mut configurations = configurations(&uncertainty, &space, &draws, &contest);
    configurations.sort_unstable_by_key(|configuration| Candidate::from(configuration));
    let ranked: Vec<Candidate> = configurations.iter().map(Candidate::from).collect();
    let answers = comparison::indistinguishable(&uncertainty, &draws, &ranked);
    for ((configuration, indistinguishable), rank) in
        configurations.iter_mut().zip(answers).zip(1..)
    {
        configuration.rank = rank;
        configuration.indistinguishable = indistinguishable;
    }
    let expected_least = Seconds(contest.least.iter().sum::<f64>() / draws.count as f64);
    let mut warnings = model.warnings(1..=space.ms().last().unwrap_or(1));
    // Of those beyond a table, the best, or the one that is the fastest in most of the draws.
    let by_wins =
        contest.wins.iter().filter(|(mapping, _)| uncertainty.extrapolated(**mapping).is_some());
    let winner = by_wins.max_by_key(|(_, wins)| **wins).map(|(mapping, _)| *mapping);
    let of_best = uncertainty.extrapolated(best.mapping);
    warnings.extend(of_best.or_else(|| uncertainty.extrapolated(winner?)));
    warnings.extend(safer(&configurations));
    Ok(Ranking { configurations, expected_least, warnings })
}

/// Every configuration by m, then p, still without its rank.
fn configurations(
    uncertainty: &Uncertainty<'_>,
    space: &Space,
    draws: &Draws<'_>,
    contest: &regret::Contest,
) -> Vec<Configuration> {
    let model = uncertainty.model;
    let count = space.count();
    let asked = (MOST_TIMES / count).max(FEWEST_DRAWS).min(draws.count);
    let quantiles = Quantiles::new(count);
    let (mut losses, mut room) = (Vec::with_capacity(asked), Vec::new());
    let mut configurations = Vec::with_capacity(count);
    let sequential = model.time(Mapping::SEQUENTIAL);
    for m in space.ms() {
        let drawn = draws.row(m, asked);
        let row = model.row(m);
        for mapping in space.choices(m).iter().map(|p| Mapping::of(m, p)) {
            let time = row.map_or_else(|| model.time(mapping), |row| row.at(mapping.p()));
            let error = uncertainty.standard_error(&uncertainty.slopes(mapping));
            let (low, high) = interval(time, quantiles.of(error.degrees_of_freedom) * error.value);
            let room = (&mut losses, &mut room);
            let regret = regret::regret(&drawn, mapping.p(), &contest.least, room);
            let draws_won = contest.wins.get(&mapping).copied().unwrap_or(0);
            let speedup = speedup(sequential, time);
            configurations.push(Configuration {
                rank: 0,
                mapping,
                time,
                low,
                high,
                probability_best: f64::from(draws_won) / draws.count as f64,
                speedup,
                efficiency: speedup / (f64::from(mapping.m()) * f64::from(mapping.p())),
                expected_regret: Seconds(regret.expected),
                regret_95: Seconds(regret.at_95),
                indistinguishable: false,
            });
        }
    }
    configurations
}

/// The interval about a time, which ends at 0.
fn interval(time: Seconds, half_width: f64) -> (Seconds, Seconds) {
    (Seconds((time.0 - half_width).max(0.0)), Seconds(time.0 + half_width))
}

/// A warning where another than the fastest by prediction is the safer choice: its expected regret is
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
            "{} is the safer choice: its expected regret is {least}, that of {} {most}",
            safest.mapping, best.mapping
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

/// One configuration, with its place among all, and the warnings that concern it.
///
/// # Errors
///
/// As [`rank`], and [`Error::Infeasible`] where the machine has too few APUs for it.
pub fn predict_one(model: &dyn TimeModel, mapping: Mapping, sampling: Sampling) -> Result<Ranking> {
    check_feasible(model, mapping)?;
    let mut ranking = rank(model, sampling)?;
    ranking.configurations.retain(|configuration| configuration.mapping == mapping);
    ranking.warnings = model.warnings(mapping.m()..=mapping.m());
    ranking.warnings.extend(Uncertainty::of(model).extrapolated(mapping));
    Ok(ranking)
}

fn check_feasible(model: &dyn TimeModel, mapping: Mapping) -> Result<()> {
    let (m, p, apus) = (mapping.m(), mapping.p(), model.apus());
    if mapping.apus() > u64::from(apus) {
        return Err(Error::Infeasible { m, p, apus });
    }
    Ok(())
}

fn check(model: &dyn TimeModel, sampling: Sampling) -> Result<()> {
    if sampling.draws == 0 {
        return Err(Error::OutOfRange {
            name: "draws",
            found: "0".into(),
            expected: "at least 1".into(),
        });
    }
    let most = most_apus(model);
    if !(1..=most).contains(&model.apus()) {
        return Err(Error::OutOfRange {
            name: "apus",
            found: model.apus().to_string(),
            expected: format!("from 1 to {most} where every configuration is ranked"),
        });
    }
    Ok(())
}

/// The parameters of equation 11, for a question that is asked of its terms.
fn equation_11<'a>(model: &'a dyn TimeModel, question: &str) -> Result<&'a Parameters> {
    model.equation_11().ok_or_else(|| Error::OutOfRange {
        name: "model",
        found: model.name().into(),
        expected: format!("mmgp: {question} from the terms of equation 11 alone"),
    })
}

/// A run that takes no time at all is as fast on one thread as on many.
fn speedup(sequential: Seconds, time: Seconds) -> f64 {
    if sequential == time { 1.0 } else { sequential.0 / time.0 }
}

#[cfg(test)]
mod tests;
