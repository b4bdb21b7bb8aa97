//! Terms as a file has them, in whatever format.

use super::super::parameters::{Estimate, OverM, Phase, Terms};
use super::{Term, ValueMut};
use mmgp_base::error::{Error, Result};

/// Where terms stand under their names.
pub(in crate::models) trait Named {
    /// Whether anything stands there.
    fn has(&self, name: &str) -> bool;
    /// The number there.
    fn estimate(&self, name: &str) -> Result<Estimate>;
    /// The number or the table there.
    fn over_m(&self, name: &str) -> Result<OverM>;
    /// What is wrong with it.
    fn refused(&self, name: &str, found: &str, expected: &str) -> Error;
}

/// The key of the degrees of freedom of a standard error: older files have another.
pub(in crate::models) fn degrees_of_freedom(has: impl Fn(&str) -> bool) -> &'static str {
    let (now, before) = ("degrees_of_freedom", "freedom");
    if has(before) && !has(now) { before } else { now }
}

/// The terms of a program.
pub(in crate::models) fn terms(file: &impl Named) -> Result<Terms> {
    let mut terms = Terms::nothing();
    for term in Term::all() {
        read(file, term, terms.value_mut(term))?;
        let is_zero = |estimate: &Estimate| estimate.value == 0.0;
        if term == Term::Alpha && terms.alpha.estimates().iter().any(is_zero) {
            return Err(file.refused(term.name(), "0 for \"terms.alpha\"", "a slowdown above 0"));
        }
    }
    Ok(terms)
}

/// The part of a phase in them.
pub(in crate::models) fn phase(name: &str, file: &impl Named) -> Result<Phase> {
    let mut phase = Phase::nothing(name);
    for term in Term::of_phases() {
        if let Some(value) = phase.value_mut(term) {
            read(file, term, value)?;
        }
    }
    Ok(phase)
}

fn read(file: &impl Named, term: Term, value: ValueMut<'_>) -> Result<()> {
    let name = term.name();
    match value {
        ValueMut::Number(estimate) => *estimate = file.estimate(name)?,
        ValueMut::Optional(estimate) => {
            *estimate = file.has(name).then(|| file.estimate(name)).transpose()?;
        }
        ValueMut::OverM(term) => *term = file.over_m(name)?,
    }
    Ok(())
}
