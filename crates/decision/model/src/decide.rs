//! Which configuration is fastest, what that choice may cost, and what to run before relying on it.
//!
//! [`rank`] orders mappings (m, p) by what a [`Posterior`] believes of their times, each with an
//! interval, the probability that it is the best, and the regret of choosing it, and makes the
//! [`Choice`]; [`candidates`] says which mappings are in question, of too many to rank those that have a
//! chance; [`best`] finds the few best by a model's structure. Around the choice:
//!
//! * [`explain`]: what a predicted time is made of, and what its interval is due to;
//! * [`next_measurement`]: what to measure so that the choice becomes better;
//! * [`break_even`]: from what size of a task off-loading pays at all;
//! * [`scaled`]: what if a term were another;
//! * [`front`]: what is best by several objectives at once;
//! * [`plan_phases`]: a p of its own for each phase; [`rank_nodes`]: nodes around the threads.
//!
//! ```
//! use mmgp_model::Mapping;
//! use mmgp_model::belief::{Posterior, Prior};
//! use mmgp_model::decide::{Constraints, Sampling, candidates, next_measurement, rank};
//!
//! let mut parameters = mmgp_model::models::published("pbpi-qs20")?;
//! parameters.terms.g_s.std_error = Some(0.3);
//! parameters.terms.t_apu_s.std_error = Some(4.0);
//! let posterior = Posterior::of(&parameters)?;
//! // The loops divide evenly among 1, 2, 4 or 8 APUs.
//! let constraints = Constraints::NONE.p_divides(8);
//! let mappings = candidates(&posterior, &constraints, parameters.apus)?.mappings;
//! let ranking = rank(&posterior, &mappings, Sampling::new(2000, 1))?;
//! assert_eq!(ranking.choice.mapping, Mapping::of(4, 4));
//!
//! // Nobody knows how far the model is off here, so that others may be faster. What would a run tell?
//! let costs = ranking.choice.costs_at_most.expect("all within what is known");
//! assert!(0.02 < costs && costs < 1.0);
//! let next = next_measurement(&posterior, &mappings, None)?;
//! assert!(next.measurements[0].gain.0 > 0.0);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

pub mod best;
mod candidates;
mod choice;
pub mod constraints;
mod contest;
mod explanation;
mod next;
mod nodes;
mod phased;

use crate::belief::Posterior;
use crate::models::Parameters;
use crate::models::observations::Observation;
use crate::models::time_model::TimeModel;
use crate::objective::Amount;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::{Maybe, Prediction};
use mmgp_base::units::Seconds;

pub use candidates::{Candidates, MOST_RANKED, allowed, candidates, every, feasible};
pub use choice::{Choice, Confirmation, Point, Within, chosen, front};
pub use constraints::{Condition, Constraints, Space};
use contest::Contest;
pub use contest::{Outlook, Ratio};
pub use explanation::{
    BreakEven, BreakEvenRow, Explanation, MISFIT, Optimum, Scale, TermEffect, break_even, explain,
    scaled,
};
pub use next::{Measurement, MeasurementKind, NextMeasurement, Regret, next_measurement};
pub use nodes::{NodeConfiguration, NodeRanking, rank_nodes};
pub use phased::{Changes, Plan, Plans, plan_phases};

/// How the posterior is drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampling {
    /// How often all times are drawn, at least 1. The standard error of a probability q is
    /// `sqrt(q (1 - q) / draws)`: at most 0.008 for 4,000.
    pub draws: u32,
    /// Seed of the generator; the same seed gives the same probabilities.
    pub seed: u64,
}

impl Sampling {
    /// Draws that give probabilities to a per cent.
    pub const USUAL_DRAWS: u32 = 4_000;

    /// Draws so many times, at least once, from a seed.
    pub const fn new(draws: u32, seed: u64) -> Self {
        Self { draws, seed }
    }
}

/// Configurations, best first, the choice, and the warnings that concern them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ranking {
    /// Configurations in the order of [`Marginals::order`](crate::belief::Marginals::order): the first is the choice, unless fewer cores
    /// come within what may be given up for them.
    pub configurations: Vec<Configuration>,
    /// What to run, what it may cost, and what to run before relying on it.
    pub choice: Choice,
    /// Mean over the draws of the best amount: what the run would take if the best configuration were
    /// known.
    pub expected_least: Amount,
    /// What the reader of the ranking should know.
    pub warnings: Vec<Warning>,
}

/// A configuration with its place in the ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Configuration {
    /// Place in the ranking, from 1.
    pub rank: u32,
    /// Mapping of the configuration.
    pub mapping: Mapping,
    /// Predicted time of the run, whatever the objective is: the exponential of the expected logarithm,
    /// near the median; of rates, the time of one unit of work.
    pub time: Seconds,
    /// Lower end of the 95 % interval of its time over many runs.
    pub low: Seconds,
    /// Upper end of that interval.
    pub high: Seconds,
    /// Probability that no other candidate is better; `None` where any of them asks for a dimension
    /// that was never varied.
    pub probability_best: Option<f64>,
    /// Predicted time of (1, 1) over that of this configuration.
    pub speedup: f64,
    /// Speed-up over the APUs in use, `m * p`.
    pub efficiency: f64,
    /// Expected regret: the mean over the draws of how far it is from the configuration that is the best
    /// in that draw.
    pub expected_regret: Amount,
    /// The regret that 95 % of the draws do not exceed; of a configuration that has no chance to be
    /// the best, no more than that.
    pub regret_95: Amount,
    /// Whether it cannot be told from the best: with at least 5 % it is better than the choice.
    pub indistinguishable: bool,
    /// What was measured, where it ran.
    pub measured: Option<Observation>,
    /// Whether its m or p is beyond what was timed.
    pub beyond: bool,
}

impl Ranking {
    /// What is known of the choice; `None` where the ranking was cut to others.
    pub fn chosen(&self) -> Option<&Configuration> {
        self.configurations.iter().find(|it| it.mapping == self.choice.mapping)
    }
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
            probability_best: Maybe(configuration.probability_best),
            speedup: configuration.speedup,
            efficiency: configuration.efficiency,
            expected_regret_s: configuration.expected_regret.0,
            regret_95_s: configuration.regret_95.0,
            indistinguishable: u32::from(configuration.indistinguishable),
            measured_s: Maybe(configuration.measured.map(|observed| observed.time.0)),
            beyond: u32::from(configuration.beyond),
        }
    }
}

/// Ranks mappings, at least one, by what is believed of the posterior's objective.
///
/// # Errors
///
/// [`Error::OutOfRange`] for no draws, for no mapping or more than [`MOST_RANKED`], and for one of which
/// the objective is no number above 0.
pub fn rank(posterior: &Posterior, mappings: &[Mapping], sampling: Sampling) -> Result<Ranking> {
    check(mappings, sampling)?;
    // The sequential run comes last.
    let mut asked = mappings.to_vec();
    asked.push(Mapping::SEQUENTIAL);
    let objective = posterior.objective();
    mappings.iter().try_for_each(|&mapping| objective.check(mapping))?;
    let marginals = posterior.marginals(&asked);
    let factor = |index: usize| objective.factor(asked[index]);
    let sequential = marginals.time(mappings.len()) / factor(mappings.len());
    let order = marginals.order(mappings);
    let chosen = chosen(mappings, &marginals, objective);
    let contest = Contest::new(posterior, (mappings, chosen), &marginals, sampling);
    let range = posterior.range();
    // Where one of them asks for what is not known, any other may be slower or faster than that.
    let is_unknown = candidates::never_varied(posterior, mappings).is_some();
    let of = |(&index, rank): (&usize, u32)| {
        let (mapping, factor) = (mappings[index], factor(index));
        let time = marginals.time(index) / factor;
        let [low, high] = marginals.interval(index).map(|end| end / factor);
        let stake = contest.stake(index, &marginals);
        let speedup = speedup(sequential, time);
        Configuration {
            rank,
            mapping,
            time,
            low,
            high,
            probability_best: (!is_unknown).then_some(stake.probability_best),
            speedup,
            efficiency: speedup / mapping.apus() as f64,
            expected_regret: stake.expected_regret,
            regret_95: stake.regret_95,
            indistinguishable: stake.indistinguishable,
            measured: posterior.measured(mapping),
            beyond: range.is_some_and(|range| !range.holds(mapping)),
        }
    };
    let configurations: Vec<Configuration> = order.iter().zip(1..).map(of).collect();
    let is_chosen = |it: &&Configuration| it.mapping == mappings[chosen];
    let of_choice = configurations.iter().find(is_chosen);
    let of_choice = of_choice.expect("invariant: the choice is ranked");
    let choice = choice::choice(of_choice, configurations[0].mapping, &contest, posterior);
    let mut warnings = posterior.warnings(mappings);
    warnings.extend(candidates::never_varied(posterior, mappings));
    Ok(Ranking { configurations, choice, expected_least: contest.expected_best(), warnings })
}

/// Predicts one configuration, with its place among the others, and the warnings that concern it.
///
/// # Errors
///
/// Errors of [`rank`].
pub fn predict_one(
    posterior: &Posterior,
    mapping: Mapping,
    mappings: &[Mapping],
    sampling: Sampling,
) -> Result<Ranking> {
    let mut mappings = mappings.to_vec();
    if !mappings.contains(&mapping) {
        mappings.push(mapping);
    }
    let mut ranking = rank(posterior, &mappings, sampling)?;
    ranking.configurations.retain(|configuration| configuration.mapping == mapping);
    ranking.warnings = posterior.warnings(&[mapping]);
    ranking.warnings.extend(candidates::never_varied(posterior, &[mapping]));
    Ok(ranking)
}

fn check(mappings: &[Mapping], sampling: Sampling) -> Result<()> {
    let error =
        |name, found: String, expected: String| Err(Error::out_of_range(name, found, expected));
    if sampling.draws == 0 {
        return error("draws", "0".into(), "at least 1".into());
    }
    if mappings.is_empty() || mappings.len() > MOST_RANKED {
        let expected = format!("from 1 to {MOST_RANKED} where every configuration is ranked");
        return error("configurations", mappings.len().to_string(), expected);
    }
    Ok(())
}

/// The parameters of equation 11, for a question that is asked of its terms.
fn equation_11<'a>(model: &'a dyn TimeModel, question: &str) -> Result<&'a Parameters> {
    model.equation_11().ok_or_else(|| {
        Error::out_of_range(
            "model",
            model.name(),
            format!("mmgp: {question} from the terms of equation 11 alone"),
        )
    })
}

/// A run that takes no time at all is as fast on one thread as on many.
fn speedup(sequential: Seconds, time: Seconds) -> f64 {
    if sequential == time { 1.0 } else { sequential.0 / time.0 }
}

#[cfg(test)]
mod tests;
