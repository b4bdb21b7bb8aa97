//! Parameters as a program of a few lines: what its languages have in common.

use super::left_out::left_out;
use super::names::comment;
use crate::models::parameters::{Decomposition, OverM, Parameters};
use crate::models::terms::{Term, Value};

/// How a language says it.
pub(super) struct Language {
    /// What begins a comment.
    pub comment: &'static str,
    /// What the parameters are of, and the APUs.
    pub name_and_apus: fn(&Parameters) -> String,
    /// A term as a constant, or as a list of `(m, value)`.
    pub constant: fn(Term, Value<'_>) -> String,
    /// The function of (m, p) down to its first statement.
    pub head: &'static str,
    /// What stands around the definition of a variable.
    pub variable: [&'static str; 2],
    /// The fraction of the totals that falls to the slowest thread, and the pieces of its APU time.
    pub share: fn(Decomposition) -> [String; 2],
    /// The value of alpha, 1 at m = 1, else the expression that is given.
    pub alpha: fn(&str) -> String,
    /// p as a number that can be multiplied.
    pub p: &'static str,
    /// What stands before and after the sum that the function returns.
    pub sum: [&'static str; 2],
    /// The function that reads a table.
    pub interpolated: (&'static str, &'static str),
}

/// The text of the program, with the time of a run as `time_s(m, p)`.
pub(super) fn program(language: &Language, parameters: &Parameters) -> String {
    let &Language { comment: begin, sum: [before, after], .. } = language;
    let parameters = &parameters.tabulated(parameters.apus);
    let terms = &parameters.terms;
    let name = comment(&parameters.name);
    let mut text = format!(
        "{begin} {name}: parameters of equation 11 of MMGP.\n{begin} Times are seconds. Standard \
         errors, sources and phases are not carried over.\n"
    );
    if let Some(sentence) = left_out(parameters) {
        text += &format!("{begin} {sentence}\n");
    }
    text.push('\n');
    text += &(language.name_and_apus)(parameters);
    for (term, value) in terms.values() {
        text += &(language.constant)(term, value);
        text.push('\n');
    }
    text += language.head;
    let [fraction, pieces] = (language.share)(parameters.decomposition);
    for (variable, value) in [
        ("fraction", fraction),
        ("pieces", pieces),
        ("alpha", (language.alpha)(&at_m(language, &terms.alpha, Term::Alpha, "1.0"))),
        ("o_col_s", at_m(language, &terms.o_col_s, Term::CollectiveCost, "0.0")),
        ("offloads", "fraction * OFFLOADS".into()),
    ] {
        let [define, end] = language.variable;
        text += &format!("    {define}{variable} = {value}{end}\n");
    }
    let count = if terms.collectives.is_some() { Term::Collectives } else { Term::Offloads };
    let (count, p) = (constant(count), language.p);
    text += &format!(
        "{before}fraction * alpha * T_HPU_S
        + fraction * T_APU_S / pieces
        + fraction * C_APU_S
        + offloads * O_OFFLOAD_S
        + offloads * T_CSW_S
        + fraction * {count} * o_col_s
        + offloads * {p} * G_S
{after}"
    );
    if [&terms.alpha, &terms.o_col_s].into_iter().any(|term| matches!(term, OverM::Table(_))) {
        text += language.interpolated.1;
    }
    text
}

/// The name of a term's constant.
pub(super) fn constant(term: Term) -> String {
    term.name().to_ascii_uppercase()
}

/// The list of `(m, value)`, or the only value.
pub(super) fn numbers(value: Value<'_>) -> Result<f64, String> {
    if let (None, [estimate]) = (value.m, value.estimates) {
        return Ok(estimate.value);
    }
    let pairs = value.numbers().map(|(m, each)| format!("({}, {:?})", m.unwrap_or(1), each.value));
    Err(pairs.collect::<Vec<_>>().join(", "))
}

/// The expression of a term at m.
fn at_m(language: &Language, value: &OverM, term: Term, at_one: &str) -> String {
    match value {
        OverM::Constant(_) => constant(term),
        OverM::Table(_) => {
            format!("{}({}, m, {at_one})", language.interpolated.0, constant(term))
        }
    }
}
