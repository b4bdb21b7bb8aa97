//! `mmgp predict --explain`; CSV holds the effects of the terms alone.

use serde::Serialize;

use super::Asked;
use super::rows::{Rows, field};
use crate::Mapping;
use crate::cli::objective::Fields;
use crate::cli::output::{aligned, warn};
use crate::decide::{Explanation, TermEffect, explain, rank};
use crate::error::Result;
use crate::models::time_model;
use crate::quantity::Quantity;
use crate::units::Seconds;

#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    predicted: Fields,
    breakdown: Vec<Part>,
    misfit_share: f64,
    terms: Vec<Term<'a>>,
}

/// A part of the time.
#[derive(Serialize)]
struct Part {
    name: &'static str,
    /// Of rates it is no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_s: Option<f64>,
    share: f64,
}

#[derive(Serialize)]
struct Term<'a> {
    term: &'a str,
    value: Option<f64>,
    std_error: Option<f64>,
    derivative: f64,
    elasticity: Option<f64>,
    variance_share: f64,
}

pub fn text(asked: &Asked<'_>, configuration: Option<Mapping>) -> Result<String> {
    let model = &*asked.model;
    let mapping = match configuration {
        Some(configuration) => configuration,
        None => rank(&asked.posterior, &asked.mappings()?, asked.sampling)?.choice.mapping,
    };
    let explanation = explain(&asked.posterior, model, mapping);
    warn(&explanation.warnings);
    let Explanation { time, low, high, terms, .. } = &explanation;
    let objective = asked.posterior.objective();
    let quantity = objective.quantity();
    let breakdown = parts(&explanation.parts, quantity);
    let header = match model.equation_11() {
        Some(_) => "of equation 11".into(),
        None => format!("of the {} model", model.name()),
    };
    let preface = format!(
        "{mapping} {} {}, 95 % interval {}, {}\n\n{}\n",
        quantity.verb(),
        quantity.shown(*time),
        quantity.interval(*low, *high),
        due_to(&explanation),
        breakdown_table(&header, &breakdown)
    );
    let json_terms = terms.iter().map(|effect| Term {
        term: &effect.name,
        value: effect.value,
        std_error: effect.std_error,
        derivative: effect.derivative,
        elasticity: effect.elasticity,
        variance_share: effect.variance_share,
    });
    let json = Json {
        predicted: Fields::default().with("m", mapping.m()).with("p", mapping.p()).with_amounts(
            objective,
            mapping,
            [*time, *low, *high],
        ),
        misfit_share: explanation.misfit_share,
        terms: json_terms.collect(),
        breakdown,
    };
    let rows = Rows {
        rows: terms,
        people: (
            &["term", "value", "standard error", "% of T per %", "of the variance, known"],
            row_for_people,
        ),
        programs: (
            &["term", "value", "std_error", "derivative", "elasticity", "variance_share"],
            row_for_programs,
        ),
        preface,
        json,
    };
    Ok(rows.text(asked.format))
}

/// What the interval is due to, and what would narrow it most.
fn due_to(explanation: &Explanation) -> String {
    let Explanation { terms, misfit_share, .. } = explanation;
    let misfit =
        format!("which is to {:.0} % due to the misfit of the model", 100.0 * misfit_share);
    match terms.first().filter(|term| term.variance_share > *misfit_share) {
        Some(TermEffect { name, variance_share, .. }) => format!(
            "of whose variance knowing {name} would take away {:.0} %",
            100.0 * variance_share
        ),
        None => misfit,
    }
}

fn parts(parts: &[time_model::Part], quantity: &Quantity) -> Vec<Part> {
    let total: f64 = parts.iter().map(|part| part.time.0).sum();
    let share = |time_s: f64| if total > 0.0 { time_s / total } else { 0.0 };
    let of = |part: &time_model::Part| {
        let time_s = quantity.is_time().then_some(part.time.0);
        Part { name: part.name, time_s, share: share(part.time.0) }
    };
    parts.iter().map(of).collect()
}

fn breakdown_table(header: &str, parts: &[Part]) -> String {
    let row = |part: &Part| {
        let share = format!("{:.1} %", 100.0 * part.share);
        let time = part.time_s.map(|time| Seconds(time).to_string());
        [Some(part.name.to_string()), time, Some(share)].into_iter().flatten().collect()
    };
    let is_of_times = parts.iter().any(|part| part.time_s.is_some());
    let header: &[&str] = if is_of_times { &[header, "time", "share"] } else { &[header, "share"] };
    aligned(header, &parts.iter().map(row).collect::<Vec<_>>())
}

fn row_for_people(effect: &TermEffect) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(|| "-".into(), |x| format!("{x:.4}"));
    let size = |value: Option<f64>| match value {
        Some(x) if x != 0.0 && x.abs() < 0.01 => format!("{x:.3e}"),
        other => number(other),
    };
    vec![
        effect.name.clone(),
        size(effect.value),
        size(effect.std_error),
        number(effect.elasticity),
        format!("{:.1} %", 100.0 * effect.variance_share),
    ]
}

fn row_for_programs(effect: &TermEffect) -> Vec<String> {
    vec![
        effect.name.clone(),
        field(effect.value),
        field(effect.std_error),
        effect.derivative.to_string(),
        field(effect.elasticity),
        effect.variance_share.to_string(),
    ]
}
