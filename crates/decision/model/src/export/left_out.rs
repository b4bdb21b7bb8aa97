//! What the formula of equation 11 alone does not carry of parameters.

use crate::belief::{Posterior, Prior};
use crate::models::Parameters;
use crate::models::time_model::TimeModel as _;
use mmgp_base::units::Percent;

/// A sentence of ASCII for the comment of a program; `None` where equation 11 is all that there is.
pub(super) fn left_out(parameters: &Parameters) -> Option<String> {
    let runs = misfit(parameters).map(|misfit| {
        let misfit = Percent(misfit);
        format!("the runs that it was fitted with show it off by some {misfit}, and are left out")
    });
    let refined = parameters.refinements.as_ref().map(|terms| terms.names().join(", "));
    let refined = refined.filter(|names| !names.is_empty());
    let refined = refined.map(|names| format!("of the refined model it leaves out {names}"));
    let parts: Vec<String> = [runs, refined].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Equation 11 alone: {}.", parts.join("; ")))
}

/// What predictions of `mmgp` itself rest on.
pub(super) fn basis(parameters: &Parameters) -> Option<String> {
    Some(Posterior::of(parameters).ok()?.basis().to_string())
}

/// How far runs say that equation 11 is off, whatever other means they know: the formula has no other.
fn misfit(parameters: &Parameters) -> Option<f64> {
    parameters.evidence.as_ref()?;
    let prior = Prior::of(parameters).only(parameters.name()).ok()?;
    Posterior::new(&prior, None).ok().map(|posterior| posterior.misfit())
}

#[cfg(test)]
mod tests {
    use super::super::Target;
    use super::super::tests::{bare, everything};
    use crate::models::observations::{Evidence, Observations, Observed};
    use crate::models::parameters::Parameters;
    use crate::models::refined::Refinements;
    use mmgp_base::Mapping;

    /// Of twelve configurations, every other one slower by a factor than equation 11 says.
    fn fitted(slower: f64) -> Parameters {
        let mut parameters = bare();
        let all = (0..12).map(|index| {
            let mapping = Mapping::of(1 << (index % 4), 1 << (index / 4));
            let factor = if index % 2 == 0 { 1.0 } else { slower };
            Observed { mapping, time: parameters.time(mapping) * factor, repetitions: 3.0 }
        });
        let observations = Observations::new("my_runs.csv", all.collect(), 1e-4, 24.0);
        parameters.evidence = Some(Evidence { observations, before: None });
        parameters
    }

    /// The size in the sentence on equation 11 \[%\].
    fn misfit(text: &str) -> f64 {
        let (_, rest) = text.split_once("show it off by some ").expect("the sentence");
        rest.split_once(" %").and_then(|(number, _)| number.parse().ok()).expect("a number")
    }

    #[test]
    fn every_program_says_in_a_comment_what_equation_11_leaves_out() {
        let mut parameters = fitted(1.4);
        parameters.refinements = Some(Refinements { iterations: Some(9), ..Default::default() });
        let targets = [
            (Target::CHeader, "/* "),
            (Target::Rust, "// "),
            (Target::Python, "# "),
            (Target::StarPu, "# "),
            (Target::SimGrid, "<!-- "),
            (Target::LogGopSim, "# "),
        ];
        for (target, begin) in targets {
            let text = target.write(&parameters);
            let says = |line: &&str| line.contains("Equation 11 alone: the runs");
            let line = text.lines().find(says).expect("a line of its own");
            assert!(line.trim_start().starts_with(begin), "{line}");
            assert!(line.contains("it leaves out iterations."), "{line}");
            assert!(!target.write(&everything()).contains("Equation 11 alone"));
        }
    }

    #[test]
    fn the_size_follows_what_the_runs_show() {
        let [good, bad] = [1.0, 1.6].map(|slower| misfit(&Target::Rust.write(&fitted(slower))));
        assert!(good < 10.0 && bad > 15.0, "{good} {bad}");
    }

    #[test]
    fn tables_for_people_say_what_predictions_rest_on() {
        let fitted = fitted(1.0);
        for (target, name) in
            [(Target::Markdown, "my\\_runs.csv"), (Target::Latex, "my\\_runs.csv")]
        {
            let text = target.write(&fitted);
            let sentence = format!("From 12 timed configurations ({name}), weighing ");
            assert!(text.contains(&sentence), "{text}");
            assert!(target.write(&everything()).contains("No run tells how far mmgp is off: "));
        }
    }
}
