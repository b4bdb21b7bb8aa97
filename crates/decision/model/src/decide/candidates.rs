//! Candidates: the mappings in question and, of more than can be weighed against each other, those that have
//! a chance.
//!
//! What is believed of times varies smoothly over (log m, log p), but for kinks at what ran. So hopes are
//! looked at on a grid whose steps grow with m and p; from the most hopeful of it, steps that halve lead
//! to the integers about which the least may lie. What ran is among them in any case, and where a model
//! has a structure by which its best are found among any number, so are these.

use std::collections::BTreeMap;

use super::best;
use super::constraints::{Constraints, Space};
use crate::belief::Posterior;
use crate::models::observations::Range;
use mmgp_base::Mapping;
use mmgp_base::error::{Result, Warning};

/// The most configurations that are ranked; all of some 739 APUs. Of more, those that have a chance are.
pub const MOST_RANKED: usize = 5_000;

/// The configurations in question.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Mappings that are weighed against each other, by m, then p.
    pub mappings: Vec<Mapping>,
    /// How many there are; where they are more than [`MOST_RANKED`], only those that have a chance are
    /// weighed.
    pub feasible: usize,
}

impl Candidates {
    /// Warning that not all feasible mappings are among them.
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

/// Feasible mappings, `m * p <= apus`, by m, then p.
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

/// Configurations of as many units as every run used, between the smallest and the largest m that ran;
/// `None` where runs used different numbers, or where there is just one of them.
fn line(ran: &[Mapping], most: u64) -> Option<Vec<Mapping>> {
    if ran.len() < 2 || ran.iter().any(|it| it.apus() != most) {
        return None;
    }
    let (first, last) = (ran.iter().map(|it| it.m()).min()?, ran.iter().map(|it| it.m()).max()?);
    let whole = u32::try_from(most).ok()?;
    let divisors = (first..=last).filter(|&m| whole.is_multiple_of(m));
    Some(divisors.map(|m| Mapping::of(m, whole / m)).collect())
}

/// Candidates with every integer between the smallest and the largest m and p that ran, unless the
/// constraints say how far to go.
///
/// # Errors
/// Errors of [`candidates`].
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

/// Number of mappings that are kept.
const KEPT: usize = 256;

/// Values of m on the grid, and of p for each.
const STEPS: u32 = 56;

/// Number of mappings of the grid from which the search goes on.
const STARTS: usize = 16;

/// Most values of m that are searched by structure: a second or two.
const MOST_ROWS: u32 = 10_000_000;

/// Expected logarithm of the time of every mapping that was looked at, and what there is to hope for.
type Prospects = BTreeMap<Mapping, (f64, f64)>;

/// Mappings of a space that have a chance, by m, then p: those of which there is the most to hope for, and
/// those of which the least is expected.
pub(super) fn hopeful(posterior: &Posterior, space: &Space) -> Vec<Mapping> {
    let ran = posterior.observations().configurations.iter().map(|it| it.mapping);
    let ran: Vec<Mapping> = ran.filter(|&it| space.contains(it)).collect();
    let mut first = ran.clone();
    for m in growing(1, space.last_m()).filter(|&m| space.has(m)) {
        let choices = space.choices(m);
        let indices = growing(1, choices.count).map(|index| index - 1);
        first.extend(indices.map(|index| Mapping::of(m, choices.at(index))));
    }
    if space.last_m() <= MOST_ROWS
        && let Some(model) = posterior.structured()
    {
        first.extend(best::within(model, space, KEPT / 4).iter().map(|it| it.mapping));
    }
    let mut seen = Prospects::new();
    look(posterior, first, &mut seen);
    for by in BY {
        search(posterior, space, by, &mut seen);
    }
    let mut kept = ran;
    for by in BY {
        kept.extend(sorted(&seen, by).into_iter().take(KEPT / BY.len()));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// What is looked for: what is expected, and what may be hoped for.
const BY: [By; 2] = [|it| it.0, |it| it.1];

/// A number of those that are seen.
type By = fn(&(f64, f64)) -> f64;

/// Looks at what was not looked at yet.
fn look(posterior: &Posterior, mut mappings: Vec<Mapping>, seen: &mut Prospects) {
    mappings.retain(|it| !seen.contains_key(it));
    mappings.sort_unstable();
    mappings.dedup();
    seen.extend(mappings.iter().copied().zip(posterior.hopes(&mappings)));
}

/// Goes from the least of what was seen to the least about it, in steps that halve.
fn search(posterior: &Posterior, space: &Space, by: By, seen: &mut Prospects) {
    let mut at: Vec<Mapping> = sorted(seen, by).into_iter().take(STARTS).collect();
    let mut step = f64::from(space.last_m().max(2)).powf(1.0 / f64::from(STEPS));
    loop {
        let about = at.iter().flat_map(|&it| beside(it, step));
        look(posterior, about.filter(|&it| space.contains(it)).collect(), seen);
        for place in &mut at {
            let known = beside(*place, step).into_iter().filter(|it| seen.contains_key(it));
            let least = known.min_by(|one, other| by(&seen[one]).total_cmp(&by(&seen[other])));
            *place = least.unwrap_or(*place);
        }
        if at.iter().all(|it| (step - 1.0) * f64::from(it.m().max(it.p())) < 1.0) {
            return;
        }
        step = step.sqrt();
    }
}

/// Mappings that were seen, the least first.
fn sorted(seen: &Prospects, by: By) -> Vec<Mapping> {
    let mut all: Vec<(&Mapping, &(f64, f64))> = seen.iter().collect();
    all.sort_by(|one, other| by(one.1).total_cmp(&by(other.1)));
    all.into_iter().map(|(mapping, _)| *mapping).collect()
}

/// Numbers from one to another whose steps grow with them.
fn growing(first: u32, last: u32) -> impl Iterator<Item = u32> {
    let ratio = (f64::from(last.max(1)) / f64::from(first)).powf(1.0 / f64::from(STEPS));
    let mut next = f64::from(first);
    let mut before = 0;
    std::iter::from_fn(move || {
        while before < last {
            let value = (next.round() as u32).min(last);
            next = (next * ratio).max(next + 1.0).min(f64::from(last));
            if value > before {
                before = value;
                return Some(value);
            }
        }
        None
    })
}

/// The eight about a mapping, so far in each direction.
fn beside(mapping: Mapping, step: f64) -> Vec<Mapping> {
    let moved = |value: u32| {
        let by = ((f64::from(value) * (step - 1.0)).round() as u32).max(1);
        [value.saturating_sub(by), value, value.saturating_add(by)]
    };
    let (ms, ps) = (moved(mapping.m()), moved(mapping.p()));
    let pairs = ms.iter().flat_map(|&m| ps.iter().map(move |&p| Mapping::new(m, p)));
    pairs.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::Prior;
    use crate::decide::Constraints;
    use crate::models::observations::{Observation, Observations};
    use crate::models::parameters::Decomposition;
    use crate::models::published;
    use mmgp_base::units::Seconds;

    #[test]
    fn of_millions_the_best_by_structure_are_among_the_hopeful() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.apus = 1_000_000;
        let posterior = Posterior::of(&parameters).unwrap();
        let space = Constraints::NONE.space(parameters.apus).unwrap();
        let found = hopeful(&posterior, &space);
        assert!(found.len() <= KEPT && found.is_sorted());
        assert!(found.contains(&Mapping::of(7, 8)));
        for best in best::within(&parameters, &space, 16) {
            assert!(found.contains(&best.mapping), "{}", best.mapping);
        }
    }

    /// Runs alone, at powers of four: the least believed is that of all, looked at one by one.
    #[test]
    fn what_runs_alone_make_hopeful_is_found_between_them() {
        let time = |m: u32, p: u32| {
            let (m, p) = (f64::from(m), f64::from(p));
            5.0 + 0.02 * m + 4000.0 / (m * p) + 0.3 * p
        };
        let ran = [(1, 1), (4, 4), (16, 16), (64, 4), (256, 1), (4, 64), (256, 16), (16, 1)];
        let observed = |&(m, p): &(u32, u32)| Observation {
            mapping: Mapping::of(m, p),
            level: 0,
            time: Seconds(time(m, p)),
            repetitions: 3.0,
        };
        let all = ran.iter().map(observed).collect();
        let observations = Observations::new("runs.csv", all, 16.0 * 1e-4, 16.0);
        let prior = Prior::of_runs(Decomposition::Data);
        let posterior = Posterior::new(&prior, Some(observations)).unwrap();
        let space = Constraints::NONE.max_m(256).max_p(64).space(4096).unwrap();
        let found = hopeful(&posterior, &space);
        assert!(ran.iter().all(|&(m, p)| found.contains(&Mapping::of(m, p))));
        let every: Vec<Mapping> = space.configurations().collect();
        assert!(every.len() > 9000, "{}", every.len());
        for by in BY {
            let least = |mappings: &[Mapping]| {
                posterior.hopes(mappings).iter().map(by).fold(f64::INFINITY, f64::min)
            };
            let [found, all] = [&found, &every].map(|it| least(it));
            assert!(found < all + 0.01, "{found} {all}");
        }
    }
}
