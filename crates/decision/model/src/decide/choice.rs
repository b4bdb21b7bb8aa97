//! The choice: what to run, what it may cost, and what to measure before relying on it;
//! and Pareto's front, which no other configuration beats in every one of several objectives.

use std::cmp::Ordering;
use std::fmt;

use super::Configuration;
use super::candidates::untold;
use super::contest::Contest;
use crate::belief::{Marginals, Posterior, as_printed, sites_of};
use crate::models::terms::Term;
use crate::objective::Objective;
use mmgp_base::error::Result;
use mmgp_base::units::{Percent, Seconds};
use mmgp_base::{Mapping, Site};

/// The configuration to run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Choice {
    /// Processes m and accelerators p of each.
    pub mapping: Mapping,
    /// What it is the choice by.
    pub objective: Objective,
    /// Choice within what may be given up for fewer cores, where something may.
    pub within: Option<Within>,
    /// Predicted time; of rates, that of one unit of work.
    pub time: Seconds,
    /// Lower end of its 95 % interval.
    pub low: Seconds,
    /// Upper end.
    pub high: Seconds,
    /// Whether it ran.
    pub is_measured: bool,
    /// Whether no other is in question.
    pub is_alone: bool,
    /// What it is expected to take longer than the fastest, relative to that.
    pub expected_cost: f64,
    /// Most by which it takes longer than the fastest, with 95 %, relative to that; `None` where a
    /// candidate asks for a dimension that was never varied.
    pub costs_at_most: Option<f64>,
    /// What to run before relying on it, the most useful first, at most two; none where it is
    /// settled.
    pub confirm: Vec<Confirmation>,
    /// The terms that neither files nor runs tell, where the choice rests on them: it is a guess then,
    /// and what to run comes first.
    pub rests_on: Vec<Term>,
}

/// A choice that has the fewest cores of all that come near the best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within {
    /// How near, relative to the best.
    pub tolerance: f64,
    /// How likely it is so near to whatever is the best.
    pub probability: f64,
    /// What would be chosen if nothing were given up.
    pub best: Mapping,
}

/// A run that would make the choice safer.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Confirmation {
    /// Configuration to run.
    pub mapping: Mapping,
    /// The expected cost of the choice, as [`Choice::expected_cost`], once this and those before it
    /// ran.
    pub expected_cost: f64,
}

/// The sentence that all is for: run (m, p), it takes about so long; the choice is expected to cost so
/// much, and at most so much.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mapping, time, low, high, objective, .. } = self;
        let begin = if self.rests_on.is_empty() { "Run" } else { "A guess is" };
        let amount = objective.with_interval(*mapping, [*time, *low, *high]);
        write!(f, "{begin} {mapping}: ")?;
        match objective.is_measured() {
            true => write!(f, "it {} about {amount}; ", objective.quantity().verb())?,
            false => {
                let time = objective.quantity().shown(*time);
                let (name, measured) = (objective.name(), objective.quantity().name());
                write!(f, "{name} of about {amount}, {measured} of {time}; ")?;
            }
        }
        if let Some(within) = self.within {
            f.write_str(&self.said_within(within))?;
        }
        match self.costs_at_most {
            _ if self.is_alone => f.write_str("no other is in question."),
            Some(cost) if cost < NOTHING => f.write_str("nothing else comes near it (95 %)."),
            Some(cost) => {
                let expected = Percent(self.expected_cost);
                write!(
                    f,
                    "it is expected to cost {expected}, at most {} (95 %).",
                    Percent(cost.max(self.expected_cost))
                )
            }
            None => f.write_str("what it may cost is not known."),
        }
    }
}

impl Choice {
    /// What is said of fewer cores.
    fn said_within(&self, Within { tolerance, probability, best }: Within) -> String {
        let percent = 100.0 * tolerance;
        let fastest = self.objective.superlative();
        let fewest = match best == self.mapping {
            true => format!("nothing with fewer cores is within {percent} % of it"),
            false => {
                let (own, others) = (self.mapping.apus(), best.apus());
                format!("{own} cores instead of the {others} of {best}")
            }
        };
        format!(
            "{fewest}; within {percent} % of the {fastest} with probability {:.0} %; ",
            100.0 * probability
        )
    }
}

/// A cost below this part of the time is none.
const NOTHING: f64 = 5e-4;

/// Runs come before the choice where they lower its expected cost by more than this.
const WORTH_IT: f64 = 0.02;

impl Choice {
    /// What to run before relying on it, and what that buys; `None` where it is settled.
    pub fn advice(&self) -> Option<String> {
        let runs: Vec<String> = self.confirm.iter().map(|it| it.mapping.to_string()).collect();
        let last = self.confirm.last()?;
        let runs = runs.join(" and ");
        if self.costs_at_most.is_none() {
            return Some(format!("Before relying on it, time {runs}."));
        }
        let begin = if self.comes_after_runs() { "First time" } else { "To be surer, time" };
        let (now, then) = (Percent(self.expected_cost), Percent(last.expected_cost));
        if !self.rests_on.is_empty() {
            let terms: Vec<&str> = self.rests_on.iter().map(|term| term.name()).collect();
            return Some(format!(
                "First time {runs}: nothing tells {}, and the choice rests on that (its expected \
                 cost falls from {now} to {then}).",
                terms.join(", ")
            ));
        }
        Some(format!(
            "{begin} {runs}: what the choice is expected to cost falls from {now} to {then}."
        ))
    }

    /// Whether what to run comes before the choice: it is worth more than a few per cent, or the choice
    /// is a guess.
    pub fn comes_after_runs(&self) -> bool {
        let worth = |last: &Confirmation| self.expected_cost - last.expected_cost > WORTH_IT;
        !self.rests_on.is_empty() || self.confirm.last().is_some_and(worth)
    }
}

/// A choice that costs at most this, relative, is settled.
pub(super) const SETTLED: f64 = 0.02;

/// A choice that is expected to cost no more than this rests on nothing that is not known.
const RESTS_ON_NOTHING: f64 = 0.05;

/// Most runs that are proposed.
const MOST_CONFIRMATIONS: usize = 2;

/// The index of the choice among mappings, at least one: the first in the order or, where something may
/// be given up, of those that are expected to be no more above it, the one with the fewest cores, then the
/// fewest m.
pub fn chosen<S: Copy + Into<Site>>(
    sites: &[S],
    marginals: &Marginals,
    objective: &Objective,
) -> usize {
    let sites = sites_of(sites);
    let order = marginals.order(&sites);
    let first = order[0];
    let Some(tolerance) = objective.tolerance() else { return first };
    let most = marginals.log_time(first) + tolerance.ln_1p();
    let near = order.iter().copied().filter(|&it| it == first || marginals.log_time(it) <= most);
    near.min_by_key(|&it| (sites[it].apus(), sites[it])).unwrap_or(first)
}

/// What is known of a configuration that is the choice, `best` being the first of the ranking.
pub(super) fn choice(
    chosen: &Configuration,
    best: Mapping,
    contest: &Contest,
    posterior: &Posterior,
) -> Choice {
    let regret = contest.regret();
    let (expected_cost, costs_at_most) = (regret.expected(), regret.at_most(0.95));
    let is_known = match untold(posterior) {
        Some(range) => contest.mappings.iter().all(|&it| range.never_varied(it).is_none()),
        None => true,
    };
    let confirm = if is_known && costs_at_most <= SETTLED {
        Vec::new()
    } else {
        confirmations(contest, posterior, expected_cost)
    };
    let rests_on = match expected_cost > RESTS_ON_NOTHING && !confirm.is_empty() {
        true => posterior.untold(),
        false => Vec::new(),
    };
    let objective = posterior.objective();
    let within = |tolerance| Within { tolerance, probability: contest.within(tolerance), best };
    Choice {
        rests_on,
        mapping: chosen.mapping,
        objective: objective.clone(),
        within: objective.tolerance().map(within),
        time: chosen.time,
        low: chosen.low,
        high: chosen.high,
        is_measured: chosen.measured.is_some(),
        is_alone: contest.is_alone(),
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

/// Leaves out the last runs that promise nothing: they are not worth their time.
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

/// A configuration of the front.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Processes m and accelerators p of each.
    pub mapping: Mapping,
    /// Predicted time; of rates, that of one unit of work.
    pub time: Seconds,
    /// Lower end of its 95 % interval.
    pub low: Seconds,
    /// Upper end.
    pub high: Seconds,
}

/// The configurations that are predicted to be beaten by no other in all objectives, the best in the first
/// objective first. Of those that are equal in all by the four digits that are printed, it has the one with
/// the fewest cores.
///
/// # Errors
/// [`mmgp_base::Error::OutOfRange`] for no mapping or too many, and for one of which an objective is no
/// number above 0.
pub fn front(
    posterior: &Posterior,
    mappings: &[Mapping],
    objectives: &[Objective],
) -> Result<Vec<Point>> {
    super::check(mappings, super::Sampling::new(1, 1))?;
    for objective in objectives {
        mappings.iter().try_for_each(|&mapping| objective.check(mapping))?;
    }
    let marginals = posterior.marginals(mappings);
    let point = |(index, &mapping): (usize, &Mapping)| {
        let factor = posterior.objective().factor(mapping);
        let [low, high] = marginals.interval(index).map(|end| end / factor);
        Point { mapping, time: marginals.time(index) / factor, low, high }
    };
    let with_products = |point: Point| {
        let product = |of: &Objective| as_printed(point.time.0 * of.factor(point.mapping));
        (point, objectives.iter().map(product).collect())
    };
    let all = mappings.iter().enumerate().map(point).map(with_products);
    let mut all: Vec<(Point, Vec<f64>)> = all.collect();
    all.sort_by(order);
    let mut front: Vec<(Point, Vec<f64>)> = Vec::new();
    for (point, own) in all {
        // Whatever beats or equals it stands before it.
        let beats = |other: &(Point, Vec<f64>)| other.1.iter().zip(&own).all(|(a, b)| a <= b);
        if !front.iter().any(beats) {
            front.push((point, own));
        }
    }
    Ok(front.into_iter().map(|(point, _)| point).collect())
}

/// Orders by the first objective, then the next, then the fewest cores.
fn order((one, own): &(Point, Vec<f64>), (other, others): &(Point, Vec<f64>)) -> Ordering {
    let by_products = own.iter().zip(others).map(|(a, b)| a.total_cmp(b));
    let cores = |it: &Point| (it.mapping.apus(), it.mapping);
    by_products.fold(Ordering::Equal, Ordering::then).then(cores(one).cmp(&cores(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::{Decomposition, Estimate, OverM, Parameters, Terms};
    use mmgp_base::quantity::Quantity;

    /// Choice of (2, 4), and before that what is to be timed, each with what it leaves.
    fn choice(costs_at_most: Option<f64>, confirm: &[((u32, u32), f64)]) -> Choice {
        let confirmation = |&((m, p), expected_cost): &((u32, u32), f64)| Confirmation {
            mapping: Mapping::of(m, p),
            expected_cost,
        };
        Choice {
            mapping: Mapping::of(2, 4),
            objective: Objective::of(Quantity::Time),
            within: None,
            time: Seconds(2.0),
            low: Seconds(1.5),
            high: Seconds(2.5),
            is_measured: false,
            is_alone: false,
            expected_cost: 0.08,
            costs_at_most,
            confirm: confirm.iter().map(confirmation).collect(),
            rests_on: Vec::new(),
        }
    }

    #[test]
    fn the_sentence_says_what_to_run_how_long_it_takes_and_what_it_may_cost() {
        let said = |cost: Option<f64>, expected: &str| {
            let begin = "Run (2, 4): it takes about 2.000 s (1.500 s .. 2.500 s); ";
            assert_eq!(choice(cost, &[]).to_string(), format!("{begin}{expected}"));
        };
        said(Some(0.25), "it is expected to cost 8.0 %, at most 25 % (95 %).");
        // Of few large regrets the mean lies beyond the quantile.
        said(Some(5e-4), "it is expected to cost 8.0 %, at most 8.0 % (95 %).");
        said(Some(4e-4), "nothing else comes near it (95 %).");
        said(None, "what it may cost is not known.");
        let alone = Choice { is_alone: true, ..choice(Some(0.0), &[]) };
        assert!(alone.to_string().ends_with("(1.500 s .. 2.500 s); no other is in question."));
    }

    #[test]
    fn the_advice_names_the_runs_and_what_they_buy() {
        assert_eq!(choice(Some(0.2), &[]).advice(), None);
        let check = |choice: &Choice, is_first: bool, expected: &str| {
            assert_eq!(choice.advice().unwrap(), expected);
            assert_eq!(choice.comes_after_runs(), is_first);
        };
        let confirm = [((2, 4), 0.03), ((4, 2), 0.01)];
        let mut worth = choice(Some(0.2), &confirm);
        let first = "First time (2, 4) and (4, 2): ";
        let falls = "what the choice is expected to cost falls from 8.0 % to 1.0 %.";
        check(&worth, true, &format!("{first}{falls}"));
        worth.rests_on = vec![Term::Alpha, Term::CollectiveCost];
        let guess = "nothing tells alpha, o_col_s, and the choice rests on that (its expected cost \
                     falls from 8.0 % to 1.0 %).";
        check(&worth, true, &format!("{first}{guess}"));
        assert!(worth.to_string().starts_with("A guess is (2, 4): it takes about"));
        let little = choice(Some(0.2), &[((2, 4), 0.065)]);
        let surer = "To be surer, time (2, 4): what the choice is expected to cost falls from 8.0 % to \
                     6.5 %.";
        check(&little, false, surer);
        let unknown = choice(None, &[((2, 4), 0.07)]);
        check(&unknown, false, "Before relying on it, time (2, 4).");
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

    /// 3 s on the host, half as much more with several threads, and 100 s of work that all share.
    fn posterior() -> Posterior {
        let terms = Terms {
            t_hpu_s: Estimate::exact(3.0),
            t_apu_s: Estimate::exact(100.0),
            alpha: OverM::Constant(Estimate::exact(1.5)),
            ..Terms::nothing()
        };
        Posterior::of_model(Parameters::new("toy", Decomposition::Data, 8, terms))
    }

    fn found(objectives: &[&str]) -> Vec<(u32, u32)> {
        let objective = |text: &&str| Objective::parse(text, &Quantity::Time, None).unwrap();
        let objectives: Vec<Objective> = objectives.iter().map(objective).collect();
        let mappings: Vec<Mapping> = crate::decide::feasible(8).collect();
        let front = front(&posterior(), &mappings, &objectives).unwrap();
        front.iter().map(|it| (it.mapping.m(), it.mapping.p())).collect()
    }

    #[test]
    fn nothing_on_the_front_is_beaten_in_all_objectives() {
        // One thread is always better than several with as many APUs; each further APU costs more.
        let one_thread: Vec<(u32, u32)> = (1..=8).map(|p| (1, p)).collect();
        assert_eq!(found(&["time"]), [(1, 8)]);
        assert_eq!(found(&["cost", "time"]), one_thread);
        let the_other_way: Vec<(u32, u32)> = one_thread.into_iter().rev().collect();
        assert_eq!(found(&["time", "cost"]), the_other_way);
    }

    #[test]
    fn of_what_is_equal_in_all_the_cheapest_is_on_the_front() {
        // (1, 1) and (1, 2) are the same by this, as it takes 103 s and 53 s.
        assert_eq!(found(&["time/(3 + 100/p)*max(m, 1)*max(p, 2)"]), [(1, 1)]);
    }
}
