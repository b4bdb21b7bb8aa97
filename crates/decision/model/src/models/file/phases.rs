//! `[[phases]]`: the parts of a program, which must add up to the whole.

use super::super::parameters::{Estimate, Phase, Terms};
use super::super::terms::{Per, Term, Value};
use super::read_estimate;
use super::terms;
use mmgp_base::error::Result;
use mmgp_base::table::toml;

/// How far the sum over the phases may lie from the whole, of the larger of the two: what
/// rounding to six digits by hand does, and no more.
const TOLERANCE: f64 = 1e-6;

pub(super) fn read(root: &toml::Table<'_>, terms: &Terms) -> Result<Vec<Phase>> {
    let phases: Vec<Phase> = root
        .tables("phases")?
        .iter()
        .map(|phase| read_phase(phase, terms))
        .collect::<Result<_>>()?;
    if !phases.is_empty() {
        check_sums(root, terms, &phases)?;
    }
    Ok(phases)
}

/// A phase counts its collectives if, and only if, the whole does.
fn read_phase(phase: &toml::Table<'_>, whole: &Terms) -> Result<Phase> {
    let is_in_whole = |term: &Term| !whole.value(*term).estimates.is_empty();
    let terms = Term::of_phases().filter(is_in_whole).map(Term::name);
    phase.expect_keys(&["name"].into_iter().chain(terms).collect::<Vec<_>>())?;
    let mut read = terms::phase(phase.text("name")?, phase)?;
    if whole.collectives.is_some() {
        read.collectives = Some(read_estimate(phase, Term::Collectives.name())?);
    }
    Ok(read)
}

/// Every term but the gap is a total and adds up; of the gap, which is per off-load, `N*g` does.
fn check_sums(root: &toml::Table<'_>, terms: &Terms, phases: &[Phase]) -> Result<()> {
    let total = |value: Value<'_>, offloads: &Estimate, per: Per| {
        let value = value.estimates.first().map_or(0.0, |estimate| estimate.value);
        if per == Per::Run { value } else { offloads.value * value }
    };
    for term in Term::of_phases() {
        let per = terms.per(term);
        let of_phase = |phase: &Phase| total(phase.value(term), &phase.offloads, per);
        let sum: f64 = phases.iter().map(of_phase).sum();
        let whole = total(terms.value(term), &terms.offloads, per);
        if (sum - whole).abs() > TOLERANCE * sum.max(whole) {
            let factor = if per == Per::Run { "" } else { "offloads * " };
            let found = format!("phases whose {factor}{} add up to {sum:?}", term.name());
            return Err(root.error("phases", found, format!("{whole:?} as in [terms]")));
        }
    }
    Ok(())
}
