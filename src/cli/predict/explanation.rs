//! `mmgp predict --explain`; CSV holds the effects of the terms alone.

use serde::Serialize;

use super::Asked;
use super::rows::{Rows, field};
use crate::cli::output::{aligned, warnings};
use crate::error::Result;
use crate::model::run::Breakdown;
use crate::solve::best::within;
use crate::solve::{Explanation, TermEffect, explain};
use crate::units::Seconds;

#[derive(Serialize)]
struct Json<'a> {
    m: u32,
    p: u32,
    time_s: f64,
    low_s: f64,
    high_s: f64,
    breakdown: Vec<Part>,
    terms: Vec<Term<'a>>,
}

/// A term of equation 11.
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

pub fn text(asked: &Asked<'_>, configuration: Option<(u32, u32)>) -> Result<String> {
    let parameters = &asked.parameters;
    let (m, p) = match configuration {
        Some(configuration) => configuration,
        None => {
            let best = within(parameters, &asked.constraints.space(parameters.apus)?, 1)[0];
            (best.m, best.p)
        }
    };
    let explanation = explain(parameters, m, p)?;
    warnings(&explanation.warnings);
    let Explanation { time, low, high, terms, .. } = &explanation;
    let breakdown = parts(&explanation.breakdown);
    let preface = format!(
        "({m}, {p}) takes {time}, 95 % interval {low} .. {high}{}\n\n{}\n",
        due_to(terms).map_or_else(String::new, |cause| format!(", {cause}")),
        breakdown_table(&breakdown)
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
        m,
        p,
        time_s: time.0,
        low_s: low.0,
        high_s: high.0,
        terms: json_terms.collect(),
        breakdown,
    };
    let rows = Rows {
        rows: terms,
        people: (
            &["term", "value", "standard error", "% of T per %", "of the variance"],
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

/// The largest cause of the interval.
fn due_to(terms: &[TermEffect]) -> Option<String> {
    let first = terms.first().filter(|term| term.variance_share > 0.0)?;
    // Errors that go against each other have shares above 1 and below 0.
    let all: f64 = terms.iter().map(|term| term.variance_share.abs()).sum();
    let share = 100.0 * first.variance_share / all;
    Some(format!("which is to {share:.0} % due to {}", first.name))
}

fn parts(breakdown: &Breakdown) -> Vec<Part> {
    let total = breakdown.total().0;
    let parts = [
        ("alpha_m*T_HPU", breakdown.hpu_s),
        ("T_APU/(m*p)", breakdown.apu_s),
        ("C_APU", breakdown.apu_serial_s),
        ("N*O_offload", breakdown.offload_s),
        ("N*T_CSW", breakdown.context_switch_s),
        ("N*O_COL", breakdown.collective_s),
        ("N*p*g", breakdown.gap_s),
    ];
    let share = |time_s: f64| if total > 0.0 { time_s / total } else { 0.0 };
    parts.map(|(name, time_s)| Part { name, time_s, share: share(time_s) }).into()
}

fn breakdown_table(parts: &[Part]) -> String {
    let row = |part: &Part| {
        let share = format!("{:.1} %", 100.0 * part.share);
        vec![part.name.to_string(), Seconds(part.time_s).to_string(), share]
    };
    aligned(&["of equation 11", "time", "share"], &parts.iter().map(row).collect::<Vec<_>>())
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
