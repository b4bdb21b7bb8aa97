//! Terms as a parameter file has them, under their names.

use super::super::parameters::{Estimate, Phase, Terms};
use super::super::terms::{Term, ValueMut};
use super::{read_estimate, read_over_m};
use mmgp_base::error::Result;
use mmgp_base::table::toml;

/// The key of the degrees of freedom of a standard error: older files have another.
pub(super) fn degrees_of_freedom(has: impl Fn(&str) -> bool) -> &'static str {
    let (now, before) = ("degrees_of_freedom", "freedom");
    if has(before) && !has(now) { before } else { now }
}

/// The terms of a program.
pub(super) fn terms(file: &toml::Table<'_>) -> Result<Terms> {
    let mut terms = Terms::nothing();
    for term in Term::all() {
        read(file, term, terms.value_mut(term))?;
        let is_zero = |estimate: &Estimate| estimate.value == 0.0;
        if term == Term::Alpha && terms.alpha.estimates().iter().any(is_zero) {
            return Err(file.error(term.name(), "0 for \"terms.alpha\"", "a slowdown above 0"));
        }
    }
    Ok(terms)
}

/// The part of a phase in them.
pub(super) fn phase(name: &str, file: &toml::Table<'_>) -> Result<Phase> {
    let mut phase = Phase::nothing(name);
    for term in Term::of_phases() {
        if let Some(value) = phase.value_mut(term) {
            read(file, term, value)?;
        }
    }
    Ok(phase)
}

fn read(file: &toml::Table<'_>, term: Term, value: ValueMut<'_>) -> Result<()> {
    let name = term.name();
    match value {
        ValueMut::Number(estimate) => *estimate = read_estimate(file, name)?,
        ValueMut::Optional(estimate) => {
            *estimate = file.has(name).then(|| read_estimate(file, name)).transpose()?;
        }
        ValueMut::OverM(term) => *term = read_over_m(file, name)?,
    }
    Ok(())
}
