//! Parameters and timed runs in the formats of other tools.
//!
//! A target is one file with one function from [`Parameters`] (or from runs, see [`runs`]) to text.
//! Numbers are written with the fewest digits from which they can be read back exactly, where the
//! format allows it. What a format cannot carry is said in a comment of the text itself. But for
//! [`json`], a table that goes on beyond its last m is written out to all APUs
//! ([`Parameters::tabulated`]).
//!
//! ```
//! use mmgp_model::export::Target;
//!
//! let parameters = mmgp_model::models::published("pbpi-qs20")?;
//! let header = "c-header".parse::<Target>()?.write(&parameters);
//! assert!(header.contains("static inline double mmgp_pbpi_on_qs20_time_s(unsigned m, unsigned p)"));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

mod program;
pub mod runs;
mod simulators;
mod tables;

use std::fmt::Write;
use std::str::FromStr;

use crate::belief::{Posterior, Prior};
use crate::models::Parameters;
use crate::models::time_model::TimeModel as _;
use mmgp_base::error::{Error, Result, of_name};
use mmgp_base::units::Percent;

pub use program::{c_header, python, rust};
pub use simulators::{loggopsim, simgrid, starpu};
pub use tables::{csv, json, latex, markdown};

/// A format to hand parameters over in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// See [`json`].
    Json,
    /// See [`csv()`].
    Csv,
    /// See [`c_header`].
    CHeader,
    /// See [`rust`].
    Rust,
    /// See [`python`].
    Python,
    /// See [`markdown`].
    Markdown,
    /// See [`latex`].
    Latex,
    /// See [`starpu`].
    StarPu,
    /// See [`simgrid`].
    SimGrid,
    /// See [`loggopsim`].
    LogGopSim,
}

/// Writes parameters in a format.
type Writer = fn(&Parameters) -> String;

/// The name by which each target is asked for, and what writes it.
const TARGETS: [(Target, &str, Writer); 10] = [
    (Target::Json, "json", json),
    (Target::Csv, "csv", csv),
    (Target::CHeader, "c-header", c_header),
    (Target::Rust, "rust", rust),
    (Target::Python, "python", python),
    (Target::Markdown, "markdown", markdown),
    (Target::Latex, "latex", latex),
    (Target::StarPu, "starpu", starpu),
    (Target::SimGrid, "simgrid", simgrid),
    (Target::LogGopSim, "loggopsim", loggopsim),
];

impl Target {
    /// Targets in the order in which they are offered.
    pub const ALL: &'static [Self] = &{
        let mut all = [Self::Json; TARGETS.len()];
        let mut place = 0;
        while place < all.len() {
            all[place] = TARGETS[place].0;
            place += 1;
        }
        all
    };

    /// Name by which it is asked for.
    pub fn name(self) -> &'static str {
        TARGETS[self as usize].1
    }

    /// Writes the parameters in this format, the last line ended by a newline.
    pub fn write(self, parameters: &Parameters) -> String {
        TARGETS[self as usize].2(parameters)
    }
}

impl FromStr for Target {
    type Err = Error;

    /// Finds the target of that [name](Self::name).
    fn from_str(name: &str) -> Result<Self> {
        of_name("export target", Self::ALL, Self::name, name)
    }
}

/// The longest identifier, which every compiler keeps apart.
const MOST: usize = 48;

/// A lower-case identifier of ASCII letters, digits and single underscores; it follows a prefix, so
/// it may begin with a digit or be a keyword.
fn identifier(name: &str) -> String {
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
fn comment(text: &str) -> String {
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
fn quoted(text: &str) -> String {
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
fn left_out(parameters: &Parameters) -> Option<String> {
    let runs = misfit(parameters).map(|misfit| {
        let misfit = Percent(misfit);
        format!("the runs that it was fitted with show it off by some {misfit}, and are left out")
    });
    let refined = parameters.refinements.as_ref().map(|terms| terms.names().join(", "));
    let refined = refined.filter(|names| !names.is_empty());
    let refined = refined.map(|names| format!("of the refined model it leaves out {names}"));
    let traced = parameters.traced.is_some();
    let traced = traced.then(|| "what traced runs say of its parts is left out".to_string());
    let parts: Vec<String> = [runs, traced, refined].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Equation 11 alone: {}.", parts.join("; ")))
}

/// What predictions of `mmgp` itself rest on.
fn basis(parameters: &Parameters) -> Option<String> {
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
    use super::*;
    use crate::models::observations::{Evidence, Observation, Observations};
    use crate::models::parameters::{
        Decomposition, Estimate, Interpolation, OverM, Parameters, Phase, Table, Terms,
    };
    use crate::models::refined::Refinements;
    use crate::toy::estimate;
    use mmgp_base::Mapping;

    /// A parameter set with everything that may be there, and things that are hard to write.
    pub(in crate::export) fn everything() -> Parameters {
        let measured = |value, std_error, source: &str| Estimate {
            source: Some(source.into()),
            ..estimate(value, std_error)
        };
        let sum = Estimate {
            combined_with: vec!["t_csw_s".into(), "o_col_s".into()],
            ..Estimate::exact(7e-8)
        };
        let values = vec![Estimate::exact(1.0), measured(1.28, 0.01, "alpha.csv")];
        let alpha = Table::new(vec![1, 2], values);
        let terms = Terms {
            t_hpu_s: measured(1.3, 0.02, "profile.csv"),
            t_apu_s: Estimate::exact(370.0),
            c_apu_s: Estimate::exact(0.1 + 0.2),
            offloads: Estimate::exact(20000.0),
            o_offload_s: sum,
            g_s: Estimate::exact(4e-5),
            collectives: Some(Estimate::exact(100.0)),
            alpha: OverM::Table(alpha),
            o_col_s: OverM::Constant(Estimate::exact(1.6e-5)),
            ..Terms::nothing()
        };
        let phase = Phase {
            t_hpu_s: Estimate::exact(0.5),
            t_apu_s: Estimate::exact(370.0),
            c_apu_s: Estimate::exact(0.25),
            offloads: Estimate::exact(20000.0),
            g_s: Estimate::exact(4e-5),
            ..Phase::nothing("newview, \"left\"")
        };
        let decomposition = Decomposition::Task { tasks: 16 };
        let whole = Parameters::new("PBPI \"107\", QS20", decomposition, 16, terms);
        Parameters { phases: vec![phase], ..whole }
    }

    /// A parameter set in which everything that may be absent is.
    pub(in crate::export) fn bare() -> Parameters {
        let full = everything();
        Parameters {
            name: "bare".into(),
            decomposition: Decomposition::Data,
            terms: Terms {
                t_hpu_s: Estimate::exact(1.0),
                o_offload_s: Estimate::exact(0.0),
                collectives: None,
                alpha: OverM::Constant(Estimate::exact(1.28)),
                ..full.terms
            },
            phases: Vec::new(),
            ..full
        }
    }

    #[test]
    fn every_target_is_found_by_its_name() {
        for &target in Target::ALL {
            assert_eq!(target.name().parse::<Target>().expect("a known name"), target);
        }
    }

    #[test]
    fn an_unknown_target_names_the_known_ones() {
        let error = "jsn".parse::<Target>().expect_err("not a target");
        assert_eq!(
            error.to_string(),
            "there is no export target \"jsn\"; did you mean \"json\"? known: json, csv, \
             c-header, rust, python, markdown, latex, starpu, simgrid, loggopsim"
        );
    }

    #[test]
    fn only_json_says_how_a_table_goes_on_and_the_others_write_it_out() {
        let mut parameters = everything();
        let OverM::Table(alpha) = &mut parameters.terms.alpha else { panic!("a table") };
        alpha.interpolation = Interpolation::Line;
        // 1 + 15 times 0.28, on 16 APUs.
        let last = parameters.terms.alpha_at(16).to_string();
        for &target in Target::ALL {
            let text = target.write(&parameters);
            let knows_alpha = ![Target::Json, Target::StarPu, Target::LogGopSim].contains(&target);
            assert_eq!(text.contains(&last), knows_alpha, "{}", target.name());
            assert_eq!(text.contains("\"line\""), target == Target::Json, "{}", target.name());
        }
    }

    #[test]
    fn every_target_ends_its_last_line() {
        for &target in Target::ALL {
            assert!(target.write(&everything()).ends_with('\n'), "{}", target.name());
        }
    }

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
            Observation {
                mapping,
                level: 0,
                time: parameters.time(mapping) * factor,
                repetitions: 3.0,
            }
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
