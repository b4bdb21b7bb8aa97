//! Which run is due: of what is worth running, what is not known to be stopped again.

use std::collections::BTreeMap;

use mmgp_base::Mapping;
use mmgp_base::attempt::{Attempt, Order, Status};
use mmgp_base::units::Seconds;

use super::{Discipline, Plan, mapping};
use crate::search::Verdict;

/// A configuration, what its run is expected to take, and its order.
pub(super) type Due = (Mapping, Option<Seconds>, Order);

/// The orders of what is worth running, the most useful first. What was stopped is not run again unless it is
/// given more time.
pub(super) fn orders_due(
    plan: &Plan,
    verdict: &Verdict,
    attempts: &[Attempt],
    (discipline, most): (&Discipline, Option<Seconds>),
) -> impl Iterator<Item = Due> {
    verdict.next.iter().filter_map(move |&(site, expected)| {
        let factors = plan.factors(site);
        let order = discipline.order(factors, site.mapping, attempts, most);
        let stopped = stopped_after(attempts, factors, site.mapping);
        let has_more = stopped.is_none_or(|stopped| order.limit.is_some_and(|it| it.0 > stopped));
        has_more.then_some((site.mapping, expected, order))
    })
}

/// The longest limit at which a configuration was stopped \[s\].
fn stopped_after(
    attempts: &[Attempt],
    factors: &BTreeMap<String, String>,
    of: Mapping,
) -> Option<f64> {
    let is_stopped =
        |it: &&Attempt| it.params == *factors && mapping(it) == of && it.status == Status::Timeout;
    attempts.iter().filter(is_stopped).filter_map(|it| it.limit_s.or(it.wall_s)).reduce(f64::max)
}

/// Number of further runs that are proposed at most.
pub(super) const PROPOSED: usize = 8;
