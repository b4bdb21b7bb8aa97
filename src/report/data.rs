//! What the page's script is told, as JSON.

use serde::Serialize;

use super::provenance::Provenance;
use super::{Evaluation, Study};
use crate::answer::{Object, Value};
use crate::belief::Basis;
use crate::decide::{Configuration, Measurement, MeasurementKind, Ranking};
use crate::models::Parameters;
use crate::models::observations::Range;
use crate::models::terms::{Per, Term};
use crate::quantity::Direction;
use crate::table::records::{Split, Validation};
use crate::validate::ModelSummary;

/// The whole of it.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    schema: u32,
    title: &'a str,
    generator: String,
    parameters: ParameterSet,
    configurations: Object,
    models: &'a [ModelSummary],
    /// The smallest and the largest m and p that were timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Object>,
    next: Object,
    basis: &'a Basis,
    choice: String,
    advice: Option<String>,
    warnings: &'a [String],
    provenance: &'a Provenance,
}

impl<'a> Data<'a> {
    pub fn new(study: &'a Study, known: &'a Evaluation) -> Self {
        Self {
            schema: 1,
            title: &study.title,
            generator: format!("mmgp {}", crate::VERSION),
            parameters: ParameterSet::from(&study.parameters),
            configurations: columns(study, known),
            models: &known.models,
            measured: limits(known),
            next: next(known),
            basis: &known.basis,
            choice: known.ranking.choice.to_string(),
            advice: known.ranking.choice.advice(),
            warnings: &known.warnings,
            provenance: &study.provenance,
        }
    }
}

/// What the page of another objective is told, whose script is what-if alone.
#[derive(Serialize)]
pub(super) struct WhatIfData {
    parameters: ParameterSet,
    configurations: Object,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Object>,
    objective: Object,
}

impl WhatIfData {
    pub fn new(study: &Study, known: &Evaluation) -> Self {
        Self {
            parameters: ParameterSet::from(&study.parameters),
            configurations: predicted(study, known).with("refined_s", refined(study, known)),
            measured: limits(known),
            objective: best(&known.ranking),
        }
    }
}

/// What is best: its name and unit, what runs and terms of it are, what may be given up for fewer cores relative
/// to the best, and what the time of each configuration is multiplied by so that the least product is the best.
fn best(ranking: &Ranking) -> Object {
    let objective = &ranking.choice.objective;
    let factor = ranking.configurations.iter().map(|it| objective.factor(it.mapping));
    Object::new()
        .with("name", objective.name())
        .with("unit", objective.unit())
        .with("is_time", objective.is_time())
        .with("is_most", objective.direction() == Direction::Most)
        .with("is_measured", objective.is_measured())
        .with("runs", objective.quantity().to_string())
        .with("terms", objective.quantity().said_of_terms())
        .with("tolerance", objective.tolerance())
        .with("factor", factor.collect::<Vec<f64>>())
}

/// The smallest and the largest m and p that were timed.
fn limits(known: &Evaluation) -> Option<Object> {
    let (Range { m, p }, _) = known.timed?;
    Some(Object::new().with("m", m).with("p", p))
}

/// The parameters in their own layout, tables over m written out as far as the page asks, with the
/// table of the terms of equation 11 beside them.
#[derive(Serialize)]
struct ParameterSet {
    #[serde(flatten)]
    parameters: Parameters,
    table: Vec<Object>,
}

impl From<&Parameters> for ParameterSet {
    fn from(parameters: &Parameters) -> Self {
        let table = Term::all().map(|term| term_row(term, parameters)).collect();
        Self { parameters: parameters.tabulated(parameters.apus), table }
    }
}

/// What the page says of a term; its unit is empty for a number, and of rates, whose terms are in no seconds.
fn term_row(term: Term, parameters: &Parameters) -> Object {
    let meaning = match parameters.terms.per(term) {
        Per::Run => term.quantity().to_string(),
        per => format!("{}, {}", term.quantity(), per.name()),
    };
    let unit = match term.unit() {
        "1" => "",
        _ if !parameters.quantity.is_time() => "",
        unit => unit,
    };
    Object::new()
        .with("name", term.name())
        .with("symbol", term.label())
        .with("meaning", meaning)
        .with("unit", unit)
        .with("over_m", term.is_over_m())
        .with("of_phases", Term::of_phases().any(|of_phases| of_phases == term))
}

/// A column over the configurations in the order of their ranks: a third of the size of rows with names.
fn column<T: Into<Value>>(known: &Evaluation, of: impl Fn(&Configuration) -> T) -> Value {
    known.ranking.configurations.iter().map(of).collect::<Vec<T>>().into()
}

/// Times by equation 11; times given the runs, where there are any, and these with one standard deviation, by which
/// they are ranked; the ends of the interval of each time that is ranked.
fn predicted(study: &Study, known: &Evaluation) -> Object {
    let has_runs = known.timed.is_some();
    Object::new()
        .with("m", column(known, |it| it.mapping.m()))
        .with("p", column(known, |it| it.mapping.p()))
        .with("time_s", column(known, |it| study.parameters.time(it.mapping)))
        .with_some("believed_s", has_runs.then(|| column(known, |it| it.time)))
        .with_some("ranked_by_s", has_runs.then(|| known.ranked_by.clone()))
        .with("low_s", column(known, |it| it.low))
        .with("high_s", column(known, |it| it.high))
}

/// Times by the refined model, where there is one.
fn refined(study: &Study, known: &Evaluation) -> Option<Value> {
    let refinements = study.parameters.refinements.as_ref();
    let is_refined = refinements.is_some_and(|it| !it.names().is_empty());
    is_refined.then(|| column(known, |it| study.parameters.refined_time(it.mapping)))
}

/// All that is known of the configurations; repetitions are of timed runs alone.
fn columns(study: &Study, known: &Evaluation) -> Object {
    let has_runs = known.timed.is_some();
    let validated = |row: &Configuration| {
        let key = |it: &Validation| (it.m, it.p);
        find(&study.validation, key, row).map(|it| it.measured_s)
    };
    let timed = |row: &Configuration| match validated(row) {
        Some(_) => None,
        None => row.measured,
    };
    let measured = |row: &Configuration| validated(row).or_else(|| timed(row).map(|it| it.time.0));
    let repetitions = |row: &Configuration| timed(row).map(|it| it.repetitions);
    let has_measured = has_runs || !study.validation.is_empty();
    predicted(study, known)
        .with("probability_best", column(known, |it| it.probability_best))
        .with("speedup", column(known, |it| it.speedup))
        .with("efficiency", column(known, |it| it.efficiency))
        .with("expected_regret_s", column(known, |it| it.expected_regret.0))
        .with("regret_95_s", column(known, |it| it.regret_95.0))
        .with("indistinguishable", column(known, |it| u32::from(it.indistinguishable)))
        .with("refined_s", refined(study, known))
        .with("measured_s", has_measured.then(|| column(known, measured)))
        .with_some("repetitions", has_runs.then(|| column(known, repetitions)))
        .with("split", (!study.splits.is_empty()).then(|| splits(study, known)))
}

/// Where the time of each configuration went, as far as it ran.
fn splits(study: &Study, known: &Evaluation) -> Object {
    let found = |row: &Configuration| find(&study.splits, |it| (it.m, it.p), row);
    let part = |of: fn(&Split) -> f64| column(known, |row| found(row).map(of));
    Object::new()
        .with("host_s", part(|it| it.host_s))
        .with("start_s", part(|it| it.start_s))
        .with("apu_shared_s", part(|it| it.apu_shared_s))
        .with("apu_serial_s", part(|it| it.apu_serial_s))
        .with("wait_s", part(|it| it.wait_s))
        .with("idle_s", part(|it| it.idle_s))
}

/// The record of a configuration in `records`, which come by m, then p.
fn find<'a, R>(
    records: &'a [R],
    key: impl Fn(&R) -> (u32, u32),
    row: &Configuration,
) -> Option<&'a R> {
    let index = records.binary_search_by_key(&(row.mapping.m(), row.mapping.p()), key).ok()?;
    records.get(index)
}

/// The most measurements that the page proposes.
const MOST_MEASUREMENTS: usize = 20;

/// What to measure next, and what each would gain.
fn next(known: &Evaluation) -> Object {
    let measurement = |it: &Measurement| {
        let what = match &it.what {
            MeasurementKind::Run(mapping) => format!("run {mapping}"),
            MeasurementKind::Term { name } => format!("term {name}"),
        };
        Object::new()
            .with("what", what)
            .with("gain_s", it.gain.0)
            .with("error_of_best_s", it.error_of_best.0)
    };
    let measurements = known.next.measurements.iter().take(MOST_MEASUREMENTS).map(measurement);
    Object::new()
        .with("expected_regret_s", known.best().expected_regret.0)
        .with("noise", known.next.noise)
        .with("measurements", measurements.collect::<Vec<_>>())
}
