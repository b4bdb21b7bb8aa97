//! The choice: what to run, what it may cost, and what to measure before relying on it.

use std::fmt;

use super::Configuration;
use super::contest::Contest;
use crate::posterior::Posterior;
use mmgp_base::Mapping;
use mmgp_base::units::{Percent, Seconds};

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
    /// With 95 % it takes no more than this longer than the fastest, relative to that; `None` where
    /// a candidate asks for a dimension that was never varied.
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
    /// The expected cost of the choice, as [`Choice::expected_cost`], once this and those before it
    /// ran.
    pub expected_cost: f64,
}

/// The sentence that all is for: run (m, p), it takes about so long, and that choice costs at most so
/// much.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mapping, time, low, high, .. } = self;
        write!(f, "Run {mapping}: it takes about {time} ({low} .. {high}), and ")?;
        match self.costs_at_most {
            Some(cost) if cost < NOTHING => f.write_str("nothing else comes near it (95 %)."),
            Some(cost) => {
                write!(f, "it costs at most {} more than the fastest (95 %).", Percent(cost))
            }
            None => f.write_str("what it may cost is not known."),
        }
    }
}

/// A cost below this part of the time is none.
const NOTHING: f64 = 5e-4;

impl Choice {
    /// What to run before relying on it, and what that buys; `None` where it is settled.
    pub fn advice(&self) -> Option<String> {
        let runs: Vec<String> = self.confirm.iter().map(|it| it.mapping.to_string()).collect();
        let last = self.confirm.last()?;
        if self.costs_at_most.is_none() {
            return Some(format!("Before relying on it, time {}.", runs.join(" and ")));
        }
        Some(format!(
            "Before relying on it, time {}: what the choice is expected to cost falls from {} to {}.",
            runs.join(" and "),
            Percent(self.expected_cost),
            Percent(last.expected_cost)
        ))
    }
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

/// The runs after which the best of all that ran costs least, one after the other, while each
/// lowers what is to be expected.
fn confirmations(
    contest: &Contest,
    posterior: &Posterior,
    expected_cost: f64,
) -> Vec<Confirmation> {
    let ran: Vec<bool> =
        contest.mappings.iter().map(|&mapping| posterior.measured(mapping).is_some()).collect();
    let mut left = expected_cost;
    let mut confirmations = Vec::new();
    for (place, cost) in contest.confirmations(&ran, MOST_CONFIRMATIONS) {
        // Whoever finds nothing better may still take the choice.
        left = cost.min(left);
        confirmations.push(Confirmation { mapping: contest.mappings[place], expected_cost: left });
    }
    worthwhile(confirmations, expected_cost)
}

/// Without the last runs that promise nothing: they are not worth their time.
fn worthwhile(mut confirmations: Vec<Confirmation>, expected_cost: f64) -> Vec<Confirmation> {
    let is_worthwhile = |before: f64, after: f64| after <= WORTHWHILE * before;
    while let Some(last) = confirmations.last() {
        let before = confirmations.len().checked_sub(2).map(|index| &confirmations[index]);
        if is_worthwhile(before.map_or(expected_cost, |it| it.expected_cost), last.expected_cost) {
            break;
        }
        confirmations.pop();
    }
    confirmations
}

/// A run is proposed where it leaves at most this of the expected cost.
const WORTHWHILE: f64 = 0.98;

#[cfg(test)]
mod tests {
    use super::*;

    /// To run (2, 4), and before that what is to be timed, each with what it leaves.
    fn choice(costs_at_most: Option<f64>, confirm: &[((u32, u32), f64)]) -> Choice {
        let confirmation = |&((m, p), expected_cost): &((u32, u32), f64)| Confirmation {
            mapping: Mapping::of(m, p),
            expected_cost,
        };
        Choice {
            mapping: Mapping::of(2, 4),
            time: Seconds(2.0),
            low: Seconds(1.5),
            high: Seconds(2.5),
            is_measured: false,
            expected_cost: 0.08,
            costs_at_most,
            confirm: confirm.iter().map(confirmation).collect(),
        }
    }

    #[test]
    fn the_sentence_says_what_to_run_how_long_it_takes_and_what_it_may_cost() {
        let said = |cost: Option<f64>, expected: &str| {
            let begin = "Run (2, 4): it takes about 2.000 s (1.500 s .. 2.500 s), and ";
            assert_eq!(choice(cost, &[]).to_string(), format!("{begin}{expected}"));
        };
        said(Some(0.25), "it costs at most 25 % more than the fastest (95 %).");
        said(Some(5e-4), "it costs at most 0.1 % more than the fastest (95 %).");
        said(Some(4e-4), "nothing else comes near it (95 %).");
        said(None, "what it may cost is not known.");
    }

    #[test]
    fn the_advice_names_the_runs_and_what_they_buy() {
        assert_eq!(choice(Some(0.2), &[]).advice(), None);
        let confirm = [((2, 4), 0.03), ((4, 2), 0.01)];
        assert_eq!(
            choice(Some(0.2), &confirm).advice().unwrap(),
            "Before relying on it, time (2, 4) and (4, 2): what the choice is expected to cost falls \
             from 8.0 % to 1.0 %."
        );
        assert_eq!(
            choice(None, &confirm[..1]).advice().unwrap(),
            "Before relying on it, time (2, 4)."
        );
    }

    #[test]
    fn a_run_that_lowers_the_cost_by_hardly_anything_is_not_proposed() {
        // At first a cost of 10 %.
        let check = |costs: &[f64], expected: usize| {
            let confirm = choice(None, &costs.iter().map(|&it| ((1, 1), it)).collect::<Vec<_>>());
            assert_eq!(worthwhile(confirm.confirm, 0.1).len(), expected, "{costs:?}");
        };
        check(&[], 0);
        check(&[0.05], 1);
        check(&[0.099], 0);
        check(&[0.05, 0.04], 2);
        check(&[0.05, 0.0499], 1);
        check(&[0.1, 0.099], 0);
        // The first prepares for the second.
        check(&[0.1, 0.05], 2);
    }
}
