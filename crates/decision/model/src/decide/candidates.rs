//! Which mappings are in question.

use super::constraints::Constraints;
use super::hopeful::hopeful;
use crate::belief::Posterior;
use crate::models::observations::Range;
use mmgp_base::Mapping;
use mmgp_base::error::{Result, Warning};

/// The most configurations that are ranked; all of some 739 APUs. Of more, those that have a chance are.
pub const MOST_RANKED: usize = 5_000;

/// The configurations in question.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Those that are weighed against each other, by m, then p.
    pub mappings: Vec<Mapping>,
    /// How many there are; where they are more than [`MOST_RANKED`], only those that have a chance are
    /// weighed.
    pub feasible: usize,
}

impl Candidates {
    /// What whoever reads of them should know.
    pub fn warning(&self) -> Option<Warning> {
        let Self { mappings, feasible } = self;
        (*feasible > mappings.len()).then(|| {
            Warning::Note(format!(
                "of {feasible} configurations the {} of which there is the most to hope for are weighed",
                mappings.len()
            ))
        })
    }
}

/// All mappings with `m * p <= apus`, by m, then p.
///
/// More workers than tasks are feasible too: the model says what they cost.
pub fn feasible(apus: u32) -> impl Iterator<Item = Mapping> {
    (1..=apus).flat_map(move |m| (1..=apus / m).map(move |p| Mapping::of(m, p)))
}

/// What the constraints leave of the configurations that are in question.
///
/// Where files speak of the machine, or `apus` is another number than what the runs used, these are all
/// that it has room for: every (m, p) with `m * p <= apus`. Where runs alone speak, the values of m and
/// of p that ran, combined within the largest `m * p` that ran; where every run had the same, as the
/// cores of a node, all that have just that, between the smallest and the largest m that ran. Of m or p
/// every integer is in question within bounds that the constraints set. Of more than [`MOST_RANKED`],
/// those that have a chance are.
///
/// # Errors
///
/// [`NothingFeasible`](mmgp_base::Error::NothingFeasible) where nothing is left.
pub fn candidates(
    posterior: &Posterior,
    constraints: &Constraints,
    apus: u32,
) -> Result<Candidates> {
    let ran: Vec<Mapping> =
        posterior.observations().configurations.iter().map(|it| it.mapping).collect();
    let Some(most) = ran.iter().map(|it| it.apus()).max() else {
        return allowed(posterior, constraints, apus);
    };
    if posterior.has_files() || most != u64::from(apus) {
        return allowed(posterior, constraints, apus);
    }
    if let Some(line) = line(&ran, most) {
        return allowed(posterior, &constraints.clone().or_among(line), apus);
    }
    let values = |of: fn(Mapping) -> u32, bounds: Option<(u32, u32)>| -> Vec<u32> {
        let mut values: Vec<u32> = ran.iter().map(|&it| of(it)).collect();
        if let Some((least, last)) = bounds {
            values.extend(least..=last.min(apus));
        }
        values.sort_unstable();
        values.dedup();
        values
    };
    let (ms, ps) = (
        values(Mapping::m, constraints.bounds_of_m()),
        values(Mapping::p, constraints.bounds_of_p()),
    );
    let all = ms.iter().flat_map(|&m| ps.iter().map(move |&p| Mapping::of(m, p)));
    let listed = all.filter(|mapping| mapping.apus() <= most).collect();
    allowed(posterior, &constraints.clone().or_among(listed), apus)
}

/// All configurations of as many units as every run used, between the smallest and the largest m that
/// ran; `None` where runs used different numbers, or where there is just one of them.
fn line(ran: &[Mapping], most: u64) -> Option<Vec<Mapping>> {
    if ran.len() < 2 || ran.iter().any(|it| it.apus() != most) {
        return None;
    }
    let (first, last) = (ran.iter().map(|it| it.m()).min()?, ran.iter().map(|it| it.m()).max()?);
    let whole = u32::try_from(most).ok()?;
    let divisors = (first..=last).filter(|&m| whole.is_multiple_of(m));
    Some(divisors.map(|m| Mapping::of(m, whole / m)).collect())
}

/// As [`candidates`], with every integer between the smallest and the largest m and p that ran, unless
/// the constraints say how far to go.
///
/// # Errors
/// As [`candidates`].
pub fn every(posterior: &Posterior, constraints: &Constraints, apus: u32) -> Result<Candidates> {
    match posterior.range() {
        Some(range) => allowed(posterior, &constraints.clone().within(range), apus),
        None => allowed(posterior, constraints, apus),
    }
}

/// What the constraints leave on so many APUs, however far from what was timed.
///
/// # Errors
/// As [`candidates`].
pub fn allowed(posterior: &Posterior, constraints: &Constraints, apus: u32) -> Result<Candidates> {
    let space = constraints.space(apus)?;
    // Counted before they are listed: there may be any number.
    let feasible = space.count();
    let mappings = match feasible > MOST_RANKED {
        true => hopeful(posterior, &space),
        false => space.configurations().collect(),
    };
    Ok(Candidates { mappings, feasible })
}

/// The range of what was timed, where nothing else tells of m and p.
pub(super) fn untold(posterior: &Posterior) -> Option<Range> {
    posterior.range().filter(|_| !posterior.has_files())
}

/// A warning where mappings ask for a dimension that was never varied, and of which no file speaks.
pub(super) fn never_varied(posterior: &Posterior, mappings: &[Mapping]) -> Option<Warning> {
    let range = untold(posterior)?;
    let mut asked =
        mappings.iter().filter_map(|&mapping| Some((mapping, range.never_varied(mapping)?)));
    let (mapping, name) = asked.next()?;
    let only = if name == "m" { range.m.0 } else { range.p.0 };
    Some(Warning::Note(format!(
        "all runs have {name} = {only}: what another {name} does is not known, and no probability \
         is given, as for {mapping}"
    )))
}
