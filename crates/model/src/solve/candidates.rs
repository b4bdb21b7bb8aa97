//! Which mappings are in question.

use super::constraints::Constraints;
use crate::model::observations::Range;
use crate::posterior::Posterior;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};

/// The most configurations that are ranked; all of some 2,400 APUs.
pub const MOST_RANKED: usize = 20_000;

/// All mappings with `m * p <= apus`, by m, then p.
///
/// More workers than tasks are feasible too: the model says what they cost.
pub fn feasible(apus: u32) -> impl Iterator<Item = Mapping> {
    (1..=apus).flat_map(move |m| (1..=apus / m).map(move |p| Mapping::of(m, p)))
}

/// What the constraints leave on so many APUs: where runs are known, within the smallest and the
/// largest m and p that ran, unless the constraints say how far to go.
///
/// # Errors
///
/// [`Error::NothingFeasible`] where nothing is left; [`Error::OutOfRange`] for more than
/// [`MOST_RANKED`] mappings: use [`fastest`](super::fastest) there.
pub fn candidates(
    posterior: &Posterior,
    constraints: &Constraints,
    apus: u32,
) -> Result<Vec<Mapping>> {
    match posterior.range() {
        Some(range) => allowed(&constraints.clone().within(range), apus),
        None => allowed(constraints, apus),
    }
}

/// What the constraints leave on so many APUs, however far from what was timed.
///
/// # Errors
/// As [`candidates`].
pub fn allowed(constraints: &Constraints, apus: u32) -> Result<Vec<Mapping>> {
    let space = constraints.space(apus)?;
    // Counted before they are listed: there may be any number.
    let count = space.count();
    if count > MOST_RANKED {
        return Err(Error::OutOfRange {
            name: "configurations",
            found: count.to_string(),
            expected: format!("at most {MOST_RANKED} where every one is ranked"),
        });
    }
    Ok(space.configurations().collect())
}

/// A warning where mappings ask for a dimension that was never varied.
pub(super) fn never_varied(range: Option<Range>, mappings: &[Mapping]) -> Option<Warning> {
    let range = range?;
    let mut asked =
        mappings.iter().filter_map(|&mapping| Some((mapping, range.never_varied(mapping)?)));
    let (mapping, name) = asked.next()?;
    let only = if name == "m" { range.m.0 } else { range.p.0 };
    Some(Warning::Note(format!(
        "all runs have {name} = {only}: what another {name} does is not known, and no probability \
         is given, as for {mapping}"
    )))
}
