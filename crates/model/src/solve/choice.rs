//! The choice: what to run, what it may cost, and what to measure before relying on it.

use super::Configuration;
use super::contest::Contest;
use super::gain::Learning;
use crate::posterior::Posterior;
use mmgp_base::Mapping;
use mmgp_base::units::Seconds;

/// The configuration to run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// Which.
    pub mapping: Mapping,
    /// Predicted time.
    pub time: Seconds,
    /// Lower end of its 95 % interval.
    pub low: Seconds,
    /// Upper end.
    pub high: Seconds,
    /// Whether it ran.
    pub is_measured: bool,
    /// What it is expected to take longer than the fastest, relative to that.
    pub expected_cost: f64,
    /// With 95 % it takes no more than this longer than the fastest, relative to that; `None` where a candidate
    /// asks for a dimension that was never varied.
    pub costs_at_most: Option<f64>,
    /// What to run before relying on it, the most useful first, at most two; none where it is
    /// settled.
    pub confirm: Vec<Confirmation>,
}

/// A run that would make the choice safer.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Confirmation {
    /// Which configuration to run.
    pub mapping: Mapping,
    /// The expected cost of the choice, as [`Choice::expected_cost`], once this and those before it ran.
    pub expected_cost: f64,
}

/// A choice that costs at most this, relative, is settled.
pub(super) const SETTLED: f64 = 0.02;

/// At most so many runs are proposed.
const MOST_CONFIRMATIONS: usize = 2;

/// The choice of a ranking whose first configuration is this.
pub(super) fn choice(first: &Configuration, contest: &Contest, posterior: &Posterior) -> Choice {
    let (expected_cost, costs_at_most) = contest.cost_of_choice();
    let is_known = match posterior.range() {
        Some(range) => contest.mappings.iter().all(|&it| range.never_varied(it).is_none()),
        None => true,
    };
    let confirm = if is_known && costs_at_most <= SETTLED {
        Vec::new()
    } else {
        confirmations(contest, posterior, expected_cost)
    };
    Choice {
        mapping: first.mapping,
        time: first.time,
        low: first.low,
        high: first.high,
        is_measured: first.measured.is_some(),
        expected_cost,
        costs_at_most: is_known.then_some(costs_at_most),
        confirm,
    }
}

/// The runs that lower the expected cost most, one after the other.
fn confirmations(
    contest: &Contest,
    posterior: &Posterior,
    expected_cost: f64,
) -> Vec<Confirmation> {
    let mut learning = Learning::new(&contest.joint, posterior.noise_variance());
    let mut confirmations = Vec::new();
    let mut left = expected_cost;
    for _ in 0..MOST_CONFIRMATIONS {
        let Some((place, gain)) = learning.best() else { break };
        if gain <= 1e-3 * expected_cost {
            break;
        }
        // The gain is to first order and of Gaussian beliefs, the cost of all draws.
        left = (left - gain).max(0.0);
        confirmations.push(Confirmation { mapping: contest.mappings[place], expected_cost: left });
        learning.ran(place);
    }
    confirmations
}
