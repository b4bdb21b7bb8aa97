//! Of more configurations than can be weighed against each other, those that have a chance.
//!
//! What is believed of times varies smoothly over (log m, log p), but for kinks at what ran. So hopes are
//! looked at on a grid whose steps grow with m and p; from the most hopeful of it, steps that halve lead
//! to the integers about which the least may lie. What ran is among them in any case, and where a model
//! has a structure by which its best are found among any number, so are these.

use std::collections::BTreeMap;

use super::best;
use super::constraints::Space;
use crate::belief::Posterior;
use mmgp_base::Mapping;

/// So many are kept.
const KEPT: usize = 256;

/// Values of m on the grid, and of p for each.
const STEPS: u32 = 56;

/// From so many of the grid the search goes on.
const STARTS: usize = 16;

/// More values of m are not searched by structure: a second or two.
const MOST_ROWS: u32 = 10_000_000;

/// Of every mapping that was looked at, the expected logarithm of its time and what there is to hope for.
type Seen = BTreeMap<Mapping, (f64, f64)>;

/// Those of a space that have a chance, by m, then p: that of which there is the most to hope for, and
/// that of which the least is expected.
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
    let mut seen = Seen::new();
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
fn look(posterior: &Posterior, mut mappings: Vec<Mapping>, seen: &mut Seen) {
    mappings.retain(|it| !seen.contains_key(it));
    mappings.sort_unstable();
    mappings.dedup();
    seen.extend(mappings.iter().copied().zip(posterior.hopes(&mappings)));
}

/// Goes from the least of what was seen to the least about it, in steps that halve.
fn search(posterior: &Posterior, space: &Space, by: By, seen: &mut Seen) {
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

/// All that was seen, the least first.
fn sorted(seen: &Seen, by: By) -> Vec<Mapping> {
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
    use crate::models::observations::{Observations, Observed};
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
        let observed = |&(m, p): &(u32, u32)| Observed {
            mapping: Mapping::of(m, p),
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
