//! Estimates that stay where terms make sense: times of 0 or more, slowdowns of 1 or more.
//!
//! The least squares hold unknowns within bounds, but an entry that moves with an error in common
//! with others is a sum of several unknowns, which no bound of theirs holds. Where such an entry ends
//! beyond what it may be, it is held at its bound and the rest is estimated again.

use std::fmt;

use nalgebra::DVector;

use super::estimate::{Data, Estimated, estimate};
use super::unknowns::{Kind, Unknown, Unknowns};
use crate::model::Parameters;
use crate::model::sensitivity::Entry;
use mmgp_base::error::{Result, Warning};

/// A fraction of a bound that is rounding.
const ROUNDING: f64 = 1e-9;

/// An entry whose estimate would be beyond what it may be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    pub entry: Entry,
    /// The value that it is held at.
    pub bound: f64,
    /// What its file says, where one does.
    pub measured: f64,
    /// What all data together would make of it.
    pub wanted: f64,
}

/// The least value of an entry: nobody is slowed down by less than nothing.
pub(crate) fn least(entry: Entry) -> f64 {
    if matches!(entry, Entry::Alpha(_)) { 1.0 } else { 0.0 }
}

/// An estimate with every entry of the parameters at its bound or above.
#[derive(Debug, Clone)]
pub(crate) struct Within {
    pub estimated: Estimated,
    /// Without what is held, and with the errors of the priors as files have them.
    pub unknowns: Unknowns,
    pub held: Vec<Held>,
}

/// As [`estimate`], within all bounds.
pub(crate) fn estimate_within(
    unknowns: &Unknowns,
    data: &Data,
    start: &DVector<f64>,
) -> Result<Within> {
    let (mut unknowns, mut start) = (unknowns.clone(), start.clone());
    let mut held = Vec::new();
    loop {
        let estimated = estimate(&unknowns, data, &start)?;
        let beyond = beyond(&estimated);
        if beyond.is_empty() {
            return Ok(Within { estimated, unknowns, held });
        }
        (unknowns, start) = holding(&unknowns, &beyond, &estimated.minimum.solution.x);
        held.extend(beyond);
    }
}

/// The entries that errors in common have moved beyond their bounds.
fn beyond(estimated: &Estimated) -> Vec<Held> {
    let unknowns = &estimated.unknowns;
    let found = unknowns.parameters(estimated.minimum.solution.x.as_slice());
    let in_common = |entry: &Entry| {
        let has = |unknown: &Unknown| matches!(unknown.kind, Kind::Common(_));
        unknowns.list.iter().any(|unknown| has(unknown) && unknown.moves(*entry))
    };
    let of = |entry: Entry| {
        let (bound, wanted) = (least(entry), found.terms.estimate(entry)?.value);
        let is_beyond = wanted < bound - ROUNDING * bound.max(unknowns.base_value(entry));
        is_beyond.then(|| Held { entry, bound, measured: unknowns.base_value(entry), wanted })
    };
    found.terms.entries().into_iter().filter(in_common).filter_map(of).collect()
}

/// The unknowns without what moves the held entries, which are at their bounds.
fn holding(unknowns: &Unknowns, held: &[Held], start: &DVector<f64>) -> (Unknowns, DVector<f64>) {
    let is_held = |entry: &Entry| held.iter().any(|each| each.entry == *entry);
    let mut list = Vec::new();
    let mut from = Vec::new();
    for (unknown, &start) in unknowns.list.iter().zip(start) {
        let kind = match &unknown.kind {
            Kind::Entry(entry) if is_held(entry) => continue,
            Kind::Common(parts) => {
                let left = parts.iter().filter(|(entry, _)| !is_held(entry)).copied();
                let left: Vec<(Entry, f64)> = left.collect();
                if left.is_empty() {
                    continue;
                }
                Kind::Common(left)
            }
            other => other.clone(),
        };
        list.push(Unknown { kind, ..unknown.clone() });
        from.push(start);
    }
    let mut held_unknowns = unknowns.clone();
    held_unknowns.list = list;
    held.iter().for_each(|each| held_unknowns.hold(each.entry, each.bound));
    (held_unknowns, DVector::from_vec(from))
}

/// Puts held entries at their bounds in the parameters of a result.
pub(crate) fn put(held: &[Held], parameters: &mut Parameters, runs: &str) {
    for each in held {
        if let Some(estimate) = parameters.terms.estimate_mut(each.entry) {
            (estimate.value, estimate.std_error) = (each.bound, None);
            estimate.degrees_of_freedom = None;
            let file = estimate.source.take().unwrap_or_default();
            estimate.source = Some(format!("{file} and {runs}"));
        }
    }
}

/// Slowdowns below 1 become 1; says which, unless their own errors explain it.
///
/// Those of a file that no runs correct are as measured until here, and so are those that the fit
/// leaves at rounding below 1.
pub(crate) fn slowdowns(parameters: &mut Parameters) -> Option<Warning> {
    let mut contradictions = Vec::new();
    for entry in parameters.terms.entries() {
        let name = parameters.terms.name_of(entry);
        let Some(estimate) = parameters.terms.estimate_mut(entry) else { continue };
        if !matches!(entry, Entry::Alpha(_)) || estimate.value >= 1.0 {
            continue;
        }
        let by_chance = estimate.standard_error().map_or(0.0, |error| error.half_width());
        if estimate.value + by_chance < 1.0 - ROUNDING {
            let file = estimate.source.as_deref().unwrap_or("a file");
            contradictions.push(format!("{name} = {:.3} by {file}", estimate.value));
        }
        estimate.value = 1.0;
    }
    let first = contradictions.first()?;
    let more = match contradictions.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Some(Warning::Note(format!(
        "{first}{more}: several host threads cannot be faster each than one alone; 1 is taken; \
         measure one process and several by turns"
    )))
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bound, measured, wanted, .. } = self;
        write!(f, "its file says {measured:.4e}, the runs want {wanted:.4e}; {bound} is taken")
    }
}

#[cfg(test)]
mod tests {
    use super::super::trials::{TERMS, ended_at, truth};
    use super::*;
    use crate::model::parameters::{Decomposition, Estimate, OverM};
    use crate::model::terms::Term;

    /// What becomes of an alpha, and whether it is told.
    fn corrected(alpha: Estimate) -> (f64, bool) {
        let mut parameters = truth(Decomposition::Data, 0.1, TERMS);
        parameters.terms.alpha = OverM::Constant(alpha);
        let told = slowdowns(&mut parameters);
        (parameters.terms.alpha_at(3), told.is_some())
    }

    #[test]
    fn a_slowdown_below_1_becomes_1_and_is_told_unless_its_error_explains_it() {
        assert_eq!(corrected(Estimate::exact(1.25)), (1.25, false));
        assert_eq!(corrected(Estimate::exact(0.75)), (1.0, true));
        assert_eq!(corrected(Estimate::exact(1.0 - 0.5 * ROUNDING)), (1.0, false));
        let uncertain =
            |std_error| Estimate { std_error: Some(std_error), ..Estimate::exact(0.75) };
        assert_eq!(corrected(uncertain(0.5)), (1.0, false));
        assert_eq!(corrected(uncertain(0.001)), (1.0, true));
    }

    #[test]
    fn no_entry_but_a_slowdown_is_at_least_1() {
        assert_eq!((least(Entry::Alpha(0)), least(Entry::HpuTime)), (1.0, 0.0));
    }

    #[test]
    fn what_is_held_is_estimated_no_more_nor_moved_by_errors_in_common() {
        let of = |kind| Unknown { term: Term::HpuTime, kind, prior: None, lower: 0.0 };
        let list = vec![
            of(Kind::Entry(Entry::HpuTime)),
            of(Kind::Entry(Entry::Gap)),
            of(Kind::Common(vec![(Entry::HpuTime, 0.5), (Entry::Gap, 2.0)])),
            of(Kind::Common(vec![(Entry::Gap, 1.0)])),
        ];
        let unknowns = Unknowns::new(&truth(Decomposition::Data, 0.1, TERMS), list);
        let held = Held { entry: Entry::Gap, bound: 0.0, measured: 1e-3, wanted: -1e-4 };
        let start = DVector::from_vec(vec![1.0, 2.0, 3.0, 4.0]);
        let (left, from) = holding(&unknowns, &[held], &start);
        let kinds: Vec<Kind> = left.list.iter().map(|unknown| unknown.kind.clone()).collect();
        let common = Kind::Common(vec![(Entry::HpuTime, 0.5)]);
        assert_eq!(kinds, [Kind::Entry(Entry::HpuTime), common]);
        assert_eq!(from.as_slice(), [1.0, 3.0]);
        assert_eq!(left.base_value(Entry::Gap), 0.0);
    }

    #[test]
    fn what_is_held_has_no_error_of_its_own_and_two_sources() {
        let mut parameters = truth(Decomposition::Data, 0.1, TERMS);
        let gap = |parameters: &Parameters| parameters.terms.g_s.clone();
        parameters.terms.g_s = Estimate {
            std_error: Some(1e-4),
            degrees_of_freedom: Some(3.0),
            source: Some("profile.csv".into()),
            ..Estimate::exact(1e-3)
        };
        let held = Held { entry: Entry::Gap, bound: 0.0, measured: 1e-3, wanted: -1e-4 };
        let others = parameters.terms.t_hpu_s.clone();
        put(&[held], &mut parameters, "runs.csv");
        let source = Some("profile.csv and runs.csv".into());
        assert_eq!(gap(&parameters), Estimate { source, ..Estimate::exact(0.0) });
        assert_eq!(parameters.terms.t_hpu_s, others);
    }

    #[test]
    fn only_errors_in_common_move_an_entry_beyond_its_bound_and_by_more_than_rounding() {
        // 200 us of gap in units of 1e-13 s, an alpha in units of 1e-9, and a term of its own.
        let of = |kind| Unknown { term: Term::Gap, kind, prior: None, lower: 0.0 };
        let list = vec![
            of(Kind::Common(vec![(Entry::Gap, 1e-13)])),
            of(Kind::Common(vec![(Entry::Alpha(3), 1e-9)])),
            of(Kind::Entry(Entry::ApuTime)),
        ];
        let mut base = truth(Decomposition::Data, 0.1, TERMS);
        base.terms.g_s = Estimate::exact(2e-4);
        base.terms.estimate_mut(Entry::Alpha(3)).unwrap().value = 1.25;
        let unknowns = Unknowns::new(&base, list);
        let held = |gap: f64, alpha: f64| {
            let x = [(gap - 2e-4) / 1e-13, (alpha - 1.25) / 1e-9, -1.0];
            let held = beyond(&ended_at(unknowns.clone(), &x));
            held.into_iter().map(|it| (it.entry, it.bound, it.measured)).collect::<Vec<_>>()
        };
        // A thousandth of a millionth of what the file says is rounding.
        assert_eq!(held(-1e-13, 1.0 - 1e-9), []);
        assert_eq!(held(1e-13, 1.0 + 1e-9), []);
        assert_eq!(held(-3e-13, 1.0), [(Entry::Gap, 0.0, 2e-4)]);
        assert_eq!(held(0.0, 1.0 - 2e-9), [(Entry::Alpha(3), 1.0, 1.25)]);
    }
}
