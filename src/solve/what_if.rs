//! Other machines and other problems: parameters with some of their terms scaled.

use crate::error::{Error, Result};
use crate::model::Parameters;
use crate::model::parameters::{Estimate, Phase, Terms};
use crate::model::sensitivity::Entry;

/// A term, or one entry of a table as `alpha(8)`, and what it is multiplied by.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Its name in files.
    pub term: String,
    /// The factor, 0 or more.
    pub factor: f64,
}

/// Parameters in which these terms, of the whole and of its phases, are multiplied by their
/// factors, standard errors with them. Of alpha it is the excess over 1 that is multiplied.
///
/// # Errors
///
/// [`Error::UnknownName`] for a term that the parameters do not have, with the nearest name;
/// [`Error::OutOfRange`] for a factor that is negative or not finite, or that leaves an alpha
/// which is not above 0.
pub fn scaled(parameters: &Parameters, scales: &[Scale]) -> Result<Parameters> {
    let mut scaled = parameters.clone();
    for Scale { term, factor } in scales {
        if !(*factor >= 0.0 && factor.is_finite()) {
            return Err(Error::OutOfRange {
                name: "scale",
                found: format!("{term}={factor}"),
                expected: "a factor of 0 or more".into(),
            });
        }
        let entries = entries(&parameters.terms, term)?;
        for entry in entries {
            if let Some(estimate) = scaled.terms.estimate_mut(entry) {
                scale(estimate, entry, *factor)?;
            }
        }
        for phase in &mut scaled.phases {
            if let Some(estimate) = of_phase(phase, term) {
                multiply(estimate, *factor);
            }
        }
    }
    Ok(scaled)
}

/// The entries that a name means.
fn entries(terms: &Terms, name: &str) -> Result<Vec<Entry>> {
    let all = terms.entries();
    let named = |entry: &Entry| entry.term() == name || terms.name_of(*entry) == name;
    let found: Vec<Entry> = all.iter().copied().filter(named).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut known: Vec<String> = all.iter().map(|entry| entry.term().to_string()).collect();
    known.dedup();
    Err(Error::UnknownName { kind: "term", name: name.into(), known })
}

fn scale(estimate: &mut Estimate, entry: Entry, factor: f64) -> Result<()> {
    if !matches!(entry, Entry::Alpha(_)) {
        multiply(estimate, factor);
        return Ok(());
    }
    let value = 1.0 + factor * (estimate.value - 1.0);
    if value <= 0.0 {
        return Err(Error::OutOfRange {
            name: "scale",
            found: format!("alpha={factor}, which makes {} of {}", value, estimate.value),
            expected: "a slowdown above 0".into(),
        });
    }
    estimate.value = value;
    estimate.std_error = estimate.std_error.map(|error| error * factor);
    Ok(())
}

fn multiply(estimate: &mut Estimate, factor: f64) {
    estimate.value *= factor;
    estimate.std_error = estimate.std_error.map(|error| error * factor);
}

fn of_phase<'a>(phase: &'a mut Phase, term: &str) -> Option<&'a mut Estimate> {
    match term {
        "t_hpu_s" => Some(&mut phase.t_hpu_s),
        "t_apu_s" => Some(&mut phase.t_apu_s),
        "c_apu_s" => Some(&mut phase.c_apu_s),
        "offloads" => Some(&mut phase.offloads),
        "g_s" => Some(&mut phase.g_s),
        "collectives" => phase.collectives.as_mut(),
        _ => None,
    }
}
