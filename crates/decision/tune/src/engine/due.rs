//! Which run is due: of what is worth running, what is not known to be stopped again.

use std::collections::BTreeMap;

use mmgp_base::Mapping;
use mmgp_base::attempt::{Attempt, Order, Status};
use mmgp_base::units::Seconds;

use super::{Discipline, Level, mapping, tried};
use crate::search::Verdict;

/// Levels with runs to make, those with the fewest runs first, of equal ones in their order.
pub(super) fn by_need<'a>(
    levels: &'a [Level],
    verdicts: &'a [Verdict],
    attempts: &[Attempt],
) -> impl Iterator<Item = (&'a Level, &'a Verdict)> {
    let open = levels.iter().zip(verdicts).filter(|(_, it)| !it.is_settled());
    let mut open: Vec<_> = open.collect();
    open.sort_by_key(|(level, _)| tried(&level.factors, attempts).len());
    open.into_iter()
}

/// The most useful run of a level that is due.
pub(super) fn due<'a>(
    level: &'a Level,
    verdict: &'a Verdict,
    attempts: &[Attempt],
    limits: (&Discipline, Option<Seconds>),
) -> Option<(&'a Level, &'a Verdict, Due)> {
    let first = orders_due(level, verdict, attempts, limits).next();
    first.map(|order| (level, verdict, order))
}

/// A configuration, what its run is expected to take, and its order.
pub(super) type Due = (Mapping, Option<Seconds>, Order);

/// The orders of what is worth running at a level, the most useful first. What was stopped is not run again
/// unless it is given more time.
pub(super) fn orders_due(
    level: &Level,
    verdict: &Verdict,
    attempts: &[Attempt],
    (discipline, most): (&Discipline, Option<Seconds>),
) -> impl Iterator<Item = Due> {
    verdict.next.iter().filter_map(move |&(mapping, expected)| {
        let order = discipline.order(&level.factors, mapping, attempts, most);
        let stopped = stopped_after(attempts, &level.factors, mapping);
        let has_more = stopped.is_none_or(|stopped| order.limit.is_some_and(|it| it.0 > stopped));
        has_more.then_some((mapping, expected, order))
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

/// Number of further runs of a level that are proposed at most.
pub(super) const PROPOSED: usize = 8;
