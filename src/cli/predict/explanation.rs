//! `mmgp predict --explain`; CSV holds the effects of the terms alone.

use serde::Serialize;

use super::Asked;
use super::rows::{Rows, field};
use crate::Mapping;
use crate::cli::output::{aligned, warn};
use crate::decide::{Explanation, TermEffect, explain, rank};
use crate::error::Result;
use crate::models::time_model;
use crate::units::Seconds;

#[derive(Serialize)]
struct Json<'a> {
    m: u32,
    p: u32,
    time_s: f64,
    low_s: f64,
    high_s: f64,
    breakdown: Vec<Part>,
    misfit_share: f64,
    terms: Vec<Term<'a>>,
}

/// A part of the time.
#[derive(Serialize)]
struct Part {
    name: &'static str,
    time_s: f64,
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
    let breakdown = parts(&explanation.parts);
    let header = match model.equation_11() {
        Some(_) => "of equation 11".into(),
        None => format!("of the {} model", model.name()),
    };
    let preface = format!(
        "{mapping} takes {time}, 95 % interval {low} .. {high}, {}\n\n{}\n",
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
        m: mapping.m(),
        p: mapping.p(),
        time_s: time.0,
        low_s: low.0,
        high_s: high.0,
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

fn parts(parts: &[time_model::Part]) -> Vec<Part> {
    let total: f64 = parts.iter().map(|part| part.time.0).sum();
    let share = |time_s: f64| if total > 0.0 { time_s / total } else { 0.0 };
    let of = |part: &time_model::Part| {
        let time_s = part.time.0;
        Part { name: part.name, time_s, share: share(time_s) }
    };
    parts.iter().map(of).collect()
}

fn breakdown_table(header: &str, parts: &[Part]) -> String {
    let row = |part: &Part| {
        let share = format!("{:.1} %", 100.0 * part.share);
        vec![part.name.to_string(), Seconds(part.time_s).to_string(), share]
    };
    aligned(&[header, "time", "share"], &parts.iter().map(row).collect::<Vec<_>>())
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
