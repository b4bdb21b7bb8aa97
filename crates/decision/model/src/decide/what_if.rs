//! Other machines and other problems: parameters with some of their terms scaled.

use crate::models::Parameters;
use crate::models::parameters::{Estimate, Phase, Terms};
use crate::models::sensitivity::Entry;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};

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
/// which is not above 0 or times of 1e100 s and more.
pub fn scaled(parameters: &Parameters, scales: &[Scale]) -> Result<Parameters> {
    let mut scaled = parameters.clone();
    for Scale { term, factor } in scales {
        if !(*factor >= 0.0 && factor.is_finite()) {
            return Err(Error::out_of_range(
                "scale",
                format!("{term}={factor}"),
                "a factor of 0 or more",
            ));
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
    check_size(&scaled, scales)?;
    Ok(scaled)
}

/// The longest time that can be computed with \[s\]: its square is added up.
const LONGEST: f64 = 1e100;

/// Refuses factors that leave no time which could be compared.
fn check_size(scaled: &Parameters, scales: &[Scale]) -> Result<()> {
    let all = scaled.apus;
    let is_small = |(m, p)| scaled.time(Mapping::of(m, p)).0 < LONGEST;
    if scales.is_empty() || [(1, 1), (all, 1), (1, all)].into_iter().all(is_small) {
        return Ok(());
    }
    let factors: Vec<String> =
        scales.iter().map(|Scale { term, factor }| format!("{term}={factor:e}")).collect();
    Err(Error::out_of_range(
        "scale",
        format!("{}, with which a run takes no time below 1e100 s", factors.join(", ")),
        "smaller factors",
    ))
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
        return Err(Error::out_of_range(
            "scale",
            format!("alpha={factor}, which makes {} of {}", value, estimate.value),
            "a slowdown above 0",
        ));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parameters::OverM;
    use crate::models::published;

    fn scale_of(term: &str, factor: f64) -> Vec<Scale> {
        vec![Scale { term: term.into(), factor }]
    }

    #[test]
    fn values_and_standard_errors_scale_and_alpha_by_its_excess() {
        let mut parameters = published("pbpi-qs20").unwrap();
        parameters.terms.g_s.std_error = Some(0.1);
        let scales = [scale_of("g_s", 0.5), scale_of("alpha", 2.0), scale_of("o_col_s(4)", 3.0)];
        let terms = scaled(&parameters, &scales.concat()).unwrap().terms;
        assert_eq!((terms.g_s.value, terms.g_s.std_error), (0.4, Some(0.05)));
        approx::assert_relative_eq!(terms.alpha_at(2), 1.56, max_relative = 1e-15);
        approx::assert_relative_eq!(terms.o_col_at(4), 354e-6, max_relative = 1e-15);
        assert_eq!(terms.o_col_at(5), 167e-6);
    }

    #[test]
    fn a_factor_that_leaves_no_time_to_compare_is_refused() {
        let parameters = published("pbpi-qs20").unwrap();
        let error = scaled(&parameters, &scale_of("t_hpu_s", 1e308)).unwrap_err().to_string();
        assert!(error.starts_with("scale: found t_hpu_s=1e308, with which"), "{error}");
        assert!(scaled(&parameters, &scale_of("t_hpu_s", 1e30)).is_ok());
    }

    #[test]
    fn a_misspelt_term_and_an_impossible_factor_are_refused() {
        let parameters = published("pbpi-qs20").unwrap();
        let message = |term: &str, factor: f64| {
            scaled(&parameters, &scale_of(term, factor)).unwrap_err().to_string()
        };
        let error = message("o_ofload_s", 0.5);
        assert!(error.starts_with(
            "there is no term \"o_ofload_s\"; did you mean \"o_offload_s\"? known: t_hpu_s, "
        ));
        assert_eq!(message("g_s", -1.0), "scale: found g_s=-1, expected a factor of 0 or more");
        let mut fast = parameters.clone();
        fast.terms.estimate_mut(Entry::Alpha(0)).unwrap().value = 0.5;
        assert!(scaled(&fast, &scale_of("alpha", 3.0)).is_err());
    }

    #[test]
    fn a_term_scales_in_every_phase_that_has_it() {
        let values = |phase: &Phase| {
            let named =
                [&phase.t_hpu_s, &phase.t_apu_s, &phase.c_apu_s, &phase.offloads, &phase.g_s];
            let collectives = phase.collectives.as_ref().map(|estimate| estimate.value);
            named
                .map(|estimate| estimate.value)
                .into_iter()
                .chain(collectives)
                .collect::<Vec<f64>>()
        };
        let mut parameters = published("pbpi-qs20").unwrap();
        let phase = Phase {
            name: "only".into(),
            t_hpu_s: Estimate::exact(1.0),
            t_apu_s: Estimate::exact(2.0),
            c_apu_s: Estimate::exact(3.0),
            offloads: Estimate::exact(4.0),
            g_s: Estimate { std_error: Some(0.5), ..Estimate::exact(5.0) },
            collectives: Some(Estimate::exact(6.0)),
        };
        parameters.phases = vec![phase];
        let names = ["t_hpu_s", "t_apu_s", "c_apu_s", "offloads", "g_s", "collectives"];
        for (place, name) in names.into_iter().enumerate() {
            let mut expected = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            expected[place] *= 0.25;
            let phases = scaled(&parameters, &scale_of(name, 0.25)).unwrap().phases;
            assert_eq!(values(&phases[0]), expected, "{name}");
            let error = if name == "g_s" { 0.125 } else { 0.5 };
            assert_eq!(phases[0].g_s.std_error, Some(error), "{name}");
        }
        let phases = scaled(&parameters, &scale_of("t_csw_s", 0.25)).unwrap().phases;
        assert_eq!(values(&phases[0]), values(&parameters.phases[0]));
    }

    #[test]
    fn the_error_of_a_slowdown_scales_with_its_excess() {
        let mut parameters = published("pbpi-qs20").unwrap();
        let alpha = Estimate { std_error: Some(0.04), ..Estimate::exact(1.5) };
        parameters.terms.alpha = OverM::Constant(alpha);
        let scaled = scaled(&parameters, &scale_of("alpha", 0.5)).unwrap();
        let OverM::Constant(alpha) = scaled.terms.alpha else { panic!("it is constant") };
        assert_eq!((alpha.value, alpha.std_error), (1.25, Some(0.02)));
    }
}
