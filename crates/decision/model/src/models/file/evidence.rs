//! `[runs]` and `[before_runs]`: what the terms were fitted with, and what files said of them before.
//!
//! ```toml
//! [runs]                            # a number for each configuration
//! source = "runs.csv"
//! m = [1, 1, 2]
//! p = [1, 2, 1]
//! time_s = [14.5, 9.0, 8.5]         # the mean of its runs
//! equation_11_s = [14.4, 9.0, 8.6]  # what equation 11 makes of [terms]; another time tells of an edit
//! repetitions = [3, 3, 3]
//! scatter = 1.2e-3                  # sum of squared deviations of logarithms from their mean
//! degrees_of_freedom = 6
//!
//! [before_runs]                     # only where files knew anything
//! unknown = ["c_apu_s"]             # of which the runs alone tell
//! [before_runs.terms]               # as [terms]
//! t_hpu_s = 1.3
//! # ...
//! [before_runs.correlation]         # as [correlation]
//! ```

use super::super::observations::{Before, Evidence, Observations, Observed};
use super::super::parameters::Parameters;
use super::super::terms::Term;
use super::{read_correlation, read_terms, writing};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::table::toml;
use mmgp_base::units::Seconds;

const RUNS: &str = "runs";
const BEFORE: &str = "before_runs";

/// The keys of the root that stand for evidence.
pub(super) const KEYS: [&str; 2] = [RUNS, BEFORE];

pub(super) fn read(root: &toml::Table<'_>) -> Result<Option<Evidence>> {
    let before = root.optional_table(BEFORE)?;
    let Some(runs) = root.optional_table(RUNS)? else {
        return match before {
            Some(_) => Err(root.error(BEFORE, "no [runs]", "the runs that came after")),
            None => Ok(None),
        };
    };
    let observations = read_runs(&runs)?;
    let before = before.map(|before| read_before(&before)).transpose()?;
    Ok(Some(Evidence { observations, before }))
}

fn read_runs(runs: &toml::Table<'_>) -> Result<Observations> {
    runs.expect_keys(&Observations::KEYS)?;
    let (m, p) = (runs.counts("m")?, runs.counts("p")?);
    let column = |key: &str| -> Result<Vec<f64>> {
        let numbers = runs.optional_numbers(key)?.unwrap_or_default();
        if numbers.len() != m.len() {
            let found = format!("{} numbers for \"{}.{key}\"", numbers.len(), runs.name());
            return Err(runs.error(key, found, format!("{}, one for each m", m.len())));
        }
        match numbers.iter().find(|number| number.is_nan() || **number <= 0.0) {
            Some(bad) => Err(runs.error(key, format!("{bad:?}"), "above 0")),
            None => Ok(numbers),
        }
    };
    let (times, repetitions) = (column("time_s")?, column("repetitions")?);
    if m.is_empty() || p.len() != m.len() {
        let found = format!("{} values of m and {} of p", m.len(), p.len());
        return Err(runs.error("p", found, "as many of each, at least one"));
    }
    let mut configurations = Vec::with_capacity(m.len());
    for (index, (&m, &p)) in m.iter().zip(&p).enumerate() {
        let Ok(mapping) = Mapping::new(m, p) else {
            return Err(runs.error("m", format!("({m}, {p})"), "m and p of at least 1"));
        };
        let (time, repetitions) = (Seconds(times[index]), repetitions[index]);
        configurations.push(Observed { mapping, time, repetitions });
    }
    let not_negative = |key: &str| super::not_negative(runs, key, runs.number(key)?);
    Ok(Observations::new(
        runs.optional_text("source")?.unwrap_or("runs"),
        configurations,
        not_negative("scatter")?,
        not_negative("degrees_of_freedom")?,
    ))
}

fn read_before(before: &toml::Table<'_>) -> Result<Before> {
    before.expect_keys(&["unknown", "terms", "correlation"])?;
    let terms = read_terms(&before.table("terms")?)?;
    let mut unknown = Vec::new();
    for name in before.texts("unknown")? {
        let Some(term) = Term::all().find(|term| term.name() == name) else {
            let known: Vec<&str> = Term::all().map(Term::name).collect();
            let expected = format!("one of {}", known.join(", "));
            return Err(before.error("unknown", format!("the term {name:?}"), expected));
        };
        unknown.push(term);
    }
    Ok(Before { correlation: read_correlation(before, &terms)?, terms, unknown })
}

/// Refuses terms that were changed after they were fitted to the runs beside them: predictions rest on
/// the runs, and would pass over the change.
pub(super) fn check(root: &toml::Table<'_>, parameters: &Parameters) -> Result<()> {
    let (Some(runs), Some(evidence)) = (root.optional_table(RUNS)?, &parameters.evidence) else {
        return Ok(());
    };
    let mut configurations = evidence.observations.configurations.iter();
    if !configurations.all(|it| parameters.time(it.mapping).0.is_finite()) {
        let expected = "terms that add up to a finite time of each run";
        return Err(runs.error("time_s", "runs of which the terms make no finite time", expected));
    }
    let Some(times) = runs.optional_numbers(EQUATION_11)? else { return Ok(()) };
    let (m, p) = (runs.counts("m")?, runs.counts("p")?);
    let is_as_fitted = |((&m, &p), &time): ((&u32, &u32), &f64)| {
        let now = Mapping::new(m, p).map_or(time, |mapping| parameters.time(mapping).0);
        (now - time).abs() <= ROUNDING * time.abs()
    };
    if times.len() != evidence.observations.configurations.len()
        || m.iter().zip(&p).zip(&times).all(is_as_fitted)
    {
        return Ok(());
    }
    let expected = "the [terms] that were fitted to these runs; where the new ones are to count as they \
                    stand, take [runs] and [before_runs] away, where they are to be beside the runs, \
                    write them into [before_runs.terms]";
    Err(runs.error(EQUATION_11, "terms that were changed since", expected))
}

/// The times of equation 11 with the fitted terms.
const EQUATION_11: &str = "equation_11_s";

/// Times that differ by less than this fraction are the same, by rounding of terms written by hand.
const ROUNDING: f64 = 1e-6;

pub(super) fn write(text: &mut String, evidence: &Evidence, parameters: &Parameters) {
    use std::fmt::Write as _;

    let Observations { source, configurations, scatter, degrees_of_freedom, .. } =
        &evidence.observations;
    let column = |of: &dyn Fn(&Observed) -> String| -> String {
        configurations.iter().map(of).collect::<Vec<_>>().join(", ")
    };
    let written = writeln!(
        text,
        "\n# What was timed: the mean of each configuration\n[{RUNS}]\nsource = {}\nm = [{}]\n\
         p = [{}]\ntime_s = [{}]\n{EQUATION_11} = [{}]\nrepetitions = [{}]\n# Squared deviations of the logarithms\n\
         scatter = {scatter:?}\ndegrees_of_freedom = {degrees_of_freedom:?}",
        writing::quoted(source),
        column(&|it| it.mapping.m().to_string()),
        column(&|it| it.mapping.p().to_string()),
        column(&|it| format!("{:?}", it.time.0)),
        column(&|it| format!("{:?}", parameters.time(it.mapping).0)),
        column(&|it| format!("{:?}", it.repetitions)),
    );
    written.expect("invariant: writing to a string cannot fail");
    let Some(Before { terms, correlation, unknown }) = &evidence.before else { return };
    let names: Vec<String> = unknown.iter().map(|term| writing::quoted(term.name())).collect();
    let written = writeln!(
        text,
        "\n# What files said before the runs\n[{BEFORE}]\nunknown = [{}]\n[{BEFORE}.terms]",
        names.join(", ")
    );
    written.expect("invariant: writing to a string cannot fail");
    writing::terms(text, terms);
    if let Some(correlation) = correlation {
        writing::correlation(text, correlation, terms, &format!("{BEFORE}.correlation"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Parameters;
    use crate::models::published;
    use crate::models::sensitivity::Entry;
    use crate::models::uncertainty::Correlation;
    use mmgp_base::table::Source;

    fn parameters() -> Parameters {
        let mut parameters = published("pbpi-qs20").unwrap();
        let observed = |m, time_s| Observed {
            mapping: Mapping::of(m, 2),
            time: Seconds(time_s),
            repetitions: 3.0,
        };
        let configurations = vec![observed(1, 0.1), observed(4, 7.25)];
        let observations = Observations::new("my \"runs\"", configurations, 1e-4, 4.0);
        let entries = vec![Entry::HpuTime, Entry::Gap];
        let before = Before {
            terms: parameters.terms.clone(),
            correlation: Some(Correlation::new(entries, vec![1.0, 0.5, 0.5, 1.0]).unwrap()),
            unknown: vec![Term::ApuSerialTime],
        };
        parameters.evidence = Some(Evidence { observations, before: Some(before) });
        parameters
    }

    #[test]
    fn what_is_written_is_read_back() {
        let parameters = parameters();
        let text = parameters.to_toml();
        assert!(text.starts_with("schema = 2\n"), "{text}");
        assert_eq!(Parameters::read(&Source::new("p.toml", &text)).unwrap(), parameters);
    }

    #[test]
    fn terms_without_end_beside_runs_are_refused() {
        let endless =
            parameters().to_toml().replace("g_s = { value = 0.8", "g_s = { value = 1.7e308");
        let error = Parameters::read(&Source::new("p.toml", &endless)).unwrap_err().to_string();
        assert!(error.contains("runs of which the terms make no finite time"), "{error}");
    }

    #[test]
    fn runs_that_cannot_be_are_refused_with_their_place() {
        let text = parameters().to_toml();
        let check = |from: &str, to: &str, expected: &str| {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            let error = Parameters::read(&Source::new("p.toml", &changed)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("p = [2, 2]", "p = [2]", "found 2 values of m and 1 of p");
        check("time_s = [0.1, 7.25]", "time_s = [0.1]", "found 1 numbers for \"runs.time_s\"");
        check("time_s = [0.1, 7.25]", "time_s = [0.1, 0.0]", "found 0.0, expected above 0");
        check("scatter = 0.0001", "scatter = -1.0", "expected 0 or more");
        check("unknown = [\"c_apu_s\"]", "unknown = [\"c_apu\"]", "the term \"c_apu\"");
    }
}
