//! Parameters as the text of a file; floats are written with as many digits as give them back.

use std::fmt::Write;

use super::super::parameters::{Decomposition, Estimate, Parameters, Phase, Terms};
use super::super::sensitivity::Entry;
use super::super::terms::{Per, Term, Value};
use super::super::uncertainty::Correlation;
use super::{INTERPOLATION, OBJECTIVE, SCHEMAS};
use mmgp_base::quantity::Direction;

pub(super) fn parameters(parameters: &Parameters) -> String {
    let mut text = String::new();
    let schema = SCHEMAS[usize::from(parameters.needs_schema_2())];
    line(&mut text, format_args!("schema = {schema}"));
    line(&mut text, format_args!("name = {}", quoted(&parameters.name)));
    match parameters.decomposition {
        Decomposition::Data => line(&mut text, format_args!("decomposition = \"data\"")),
        Decomposition::Task { tasks } => {
            line(&mut text, format_args!("decomposition = \"task\"\ntasks = {tasks}"));
        }
    }
    line(&mut text, format_args!("apus = {}", parameters.apus));
    let quantity = &parameters.quantity;
    if let Some(unit) = quantity.unit() {
        let of_terms = match quantity.direction() {
            Direction::Most => OF_RATES,
            Direction::Least => OF_AMOUNTS,
        };
        line(&mut text, format_args!("\n{of_terms}\n[{OBJECTIVE}]"));
        line(&mut text, format_args!("{} = {}", quantity.name(), quoted(unit)));
    }
    line(&mut text, format_args!("\n[terms]"));
    terms(&mut text, &parameters.terms);
    for phase in &parameters.phases {
        self::phase(&mut text, phase);
    }
    if let Some(known) = &parameters.correlation {
        correlation(&mut text, known, &parameters.terms, "correlation");
    }
    if let Some(refinements) = &parameters.refinements {
        super::refined::write(&mut text, refinements);
    }
    if let Some(evidence) = &parameters.evidence {
        super::evidence::write(&mut text, evidence, parameters);
    }
    text
}

/// What stands above the unit of rates.
const OF_RATES: &str = "# Runs are rates in this unit: every [s] below is the inverse of it, a share of \
                        the time of one unit of work";

/// What stands above the unit of amounts.
const OF_AMOUNTS: &str =
    "# Runs are amounts in this unit, of which less is better: every [s] below is it";

pub(super) fn terms(text: &mut String, terms: &Terms) {
    for (term, value) in terms.values() {
        commented(text, (term.name(), &comment(term, terms.per(term))), &written(value));
    }
}

/// What stands above a term.
fn comment(term: Term, per: Per) -> String {
    let (symbol, quantity) = (term.symbol(), term.quantity());
    match (term, term.unit(), per) {
        // The paper has no symbol for them.
        (Term::Collectives, ..) => "Collective operations in the run".into(),
        (_, "1", _) => format!("{symbol}: {quantity}"),
        (_, unit, Per::Run) => format!("{symbol}: {quantity} [{unit}]"),
        (_, unit, per) => format!("{symbol}: {quantity} [{unit} {}]", per.name()),
    }
}

fn phase(text: &mut String, phase: &Phase) {
    line(text, format_args!("\n[[phases]]\nname = {}", quoted(&phase.name)));
    for (term, value) in phase.values() {
        line(text, format_args!("{} = {}", term.name(), written(value)));
    }
}

pub(super) fn correlation(
    text: &mut String,
    correlation: &Correlation,
    terms: &Terms,
    heading: &str,
) {
    let name = |&entry: &Entry| quoted(&terms.name_of(entry));
    let names: Vec<String> = correlation.entries().iter().map(name).collect();
    line(text, format_args!("\n# How the errors of the terms go together"));
    line(text, format_args!("[{heading}]\nentries = [{}]", names.join(", ")));
    for (index, name) in names.iter().enumerate() {
        line(text, format_args!("{name} = {:?}", correlation.row(index)));
    }
}

pub(super) fn commented(text: &mut String, (name, comment): (&str, &str), value: &str) {
    line(text, format_args!("# {comment}\n{name} = {value}"));
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("invariant: writing to a string cannot fail");
}

fn written(value: Value<'_>) -> String {
    match value.m {
        Some(m) => columns(m, value).unwrap_or_else(|| rows(value)),
        None => value.estimates.iter().map(|estimate| inline_table(estimate, None)).collect(),
    }
}

/// A table by columns, where what is known of its entries has the same shape for all.
fn columns(m: &[u32], table: Value<'_>) -> Option<String> {
    let estimates = table.estimates;
    let first = estimates.first()?;
    let alike = |estimate: &Estimate| {
        estimate.std_error.is_some() == first.std_error.is_some()
            && estimate.degrees_of_freedom.is_some() == first.degrees_of_freedom.is_some()
            && estimate.source == first.source
            && estimate.combined_with.is_empty()
    };
    if !estimates.iter().all(alike) {
        return None;
    }
    let values: Vec<f64> = estimates.iter().map(|estimate| estimate.value).collect();
    let mut text = format!("{{ m = {m:?}, value = {values:?}");
    if first.std_error.is_some() {
        let errors: Vec<f64> = estimates.iter().filter_map(|value| value.std_error).collect();
        text += &format!(", std_error = {errors:?}");
    }
    if first.degrees_of_freedom.is_some() {
        let degrees_of_freedom: Vec<f64> =
            estimates.iter().filter_map(|value| value.degrees_of_freedom).collect();
        text += &format!(", degrees_of_freedom = {degrees_of_freedom:?}");
    }
    if let Some(source) = &first.source {
        text += &format!(", source = {}", quoted(source));
    }
    Some(text + &interpolation(table) + " }")
}

/// A table by rows, each with what is known of it.
fn rows(table: Value<'_>) -> String {
    let row = |(m, estimate)| inline_table(estimate, m);
    let mut rows: Vec<String> = table.numbers().map(row).collect();
    if let Some(first) = rows.first_mut().and_then(|first| first.strip_suffix(" }")) {
        rows[0] = format!("{first}{} }}", interpolation(table));
    }
    format!("[\n    {},\n]", rows.join(",\n    "))
}

/// The pair that says how a table is interpolated, where a file must say so.
fn interpolation(table: Value<'_>) -> String {
    let name = table.interpolation.name();
    name.map(|name| format!(", {INTERPOLATION} = {}", quoted(name))).unwrap_or_default()
}

pub(super) fn inline_table(estimate: &Estimate, m: Option<u32>) -> String {
    let m = m.map(|m| format!("m = {m}, ")).unwrap_or_default();
    let mut text = format!("{{ {m}value = {:?}", estimate.value);
    if let Some(error) = estimate.std_error {
        text += &format!(", std_error = {error:?}");
    }
    if let Some(degrees_of_freedom) = estimate.degrees_of_freedom {
        text += &format!(", degrees_of_freedom = {degrees_of_freedom:?}");
    }
    if let Some(source) = &estimate.source {
        text += &format!(", source = {}", quoted(source));
    }
    if !estimate.combined_with.is_empty() {
        let names: Vec<String> = estimate.combined_with.iter().map(|name| quoted(name)).collect();
        text += &format!(", combined_with = [{}]", names.join(", "));
    }
    text + " }"
}

/// A basic string of TOML.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() => quoted += &format!("\\u{:04X}", u32::from(letter)),
            _ => quoted.push(letter),
        }
    }
    quoted + "\""
}
