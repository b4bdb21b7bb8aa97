//! Names and texts of a user inside the text of a program: whatever they hold, it stays one word
//! or one comment; and the comment on what equation 11 alone does not carry of parameters.

use std::fmt::Write;

use crate::belief::{Posterior, Prior};
use crate::models::Parameters;
use crate::models::time_model::TimeModel as _;
use mmgp_base::units::Percent;

/// The longest identifier, which every compiler keeps apart.
const MOST: usize = 48;

/// A lower-case identifier of ASCII letters, digits and single underscores; it follows a prefix, so
/// it may begin with a digit or be a keyword.
pub(super) fn identifier(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars().map(|letter| letter.to_ascii_lowercase()) {
        if letter.is_ascii_alphanumeric() {
            word.push(letter);
        } else if !word.is_empty() && !word.ends_with('_') {
            word.push('_');
        }
    }
    word.truncate(MOST);
    let word = word.trim_end_matches('_');
    if word.is_empty() { "parameters".into() } else { word.into() }
}

/// Line of printable ASCII, in which nothing can end a comment of any of the languages.
pub(super) fn comment(text: &str) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        match letter {
            ' '..='~' => line.push(letter),
            letter if letter.is_whitespace() || letter.is_control() => line.push(' '),
            letter => {
                let _ = write!(line, "<U+{:04X}>", u32::from(letter));
            }
        }
    }
    // "*/" ends a comment of C, "--" one of XML, and a line that ends in "\" goes on in the next.
    let mut line = line.replace('\\', "/").replace("*/", "* /").replace("/*", "/ *");
    while line.contains("--") {
        line = line.replace("--", "- -");
    }
    line.trim().to_string()
}

/// The inside of a string between double quotes in JSON's notation, in ASCII; Python reads the same.
pub(super) fn quoted(text: &str) -> String {
    let mut inside = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => inside.extend(['\\', letter]),
            ' '..='~' => inside.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(inside, "\\u{unit:04x}");
                }
            }
        }
    }
    inside
}

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
    use super::*;
    use crate::models::observations::{Evidence, Observation, Observations};
    use crate::models::parameters::Parameters;
    use crate::models::refined::Refinements;
    use mmgp_base::Mapping;

    #[test]
    fn any_name_becomes_one_identifier() {
        for (name, expected) in [
            ("PBPI \"107\", QS20", "pbpi_107_qs20"),
            ("", "parameters"),
            ("µ*/\n", "parameters"),
            ("int", "int"),
            ("-- a -- b --", "a_b"),
            ("\u{202e}x\\", "x"),
        ] {
            assert_eq!(identifier(name), expected);
        }
        assert_eq!(identifier(&"ab ".repeat(100)).len(), 47);
    }

    #[test]
    fn nothing_ends_a_comment_before_its_end() {
        assert_eq!(comment("a */ b /* c --> d\r\n\\"), "a * / b / * c - -> d  /");
        assert_eq!(comment("a *\\ b /\\* c"), "a * / b // * c");
        assert_eq!(comment("---"), "- - -");
        assert_eq!(comment("\u{202e}µ"), "<U+202E><U+00B5>");
    }

    #[test]
    fn a_string_is_read_back_by_a_reader_of_json() {
        for text in ["a \"b\" \\ c", "line\nend\u{0}", "µ \u{1f600} \u{202e}"] {
            let json = format!("\"{}\"", quoted(text));
            assert!(json.is_ascii());
            assert_eq!(serde_json::from_str::<String>(&json).expect("a string"), text);
        }
    }

    /// Parameters with twelve configurations, every other one slower by a factor than equation 11 says.
    fn fitted(slower: f64) -> Parameters {
        let mut parameters = bare();
        let all = (0..12).map(|index| {
            let mapping = Mapping::of(1 << (index % 4), 1 << (index / 4));
            let factor = if index % 2 == 0 { 1.0 } else { slower };
            Observation { mapping, time: parameters.time(mapping) * factor, repetitions: 3.0 }
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
