//! What the page's script is told, as JSON.

use serde::Serialize;

use super::Study;
use super::provenance::Provenance;
use crate::belief::Basis;
use crate::decide::{Configuration, MeasurementKind, Ranking};
use crate::models::Parameters;
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
    configurations: Columns,
    models: &'a [ModelSummary],
    /// The smallest and the largest m and p that were timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Limits>,
    next: Next,
    basis: &'a Basis,
    choice: String,
    advice: Option<String>,
    warnings: &'a [String],
    provenance: &'a Provenance,
}

impl<'a> Data<'a> {
    pub fn new(study: &'a Study, known: &'a super::Evaluation) -> Self {
        Self {
            schema: 1,
            title: &study.title,
            generator: format!("mmgp {}", crate::VERSION),
            parameters: ParameterSet::from(&study.parameters),
            configurations: Columns::new(study, known),
            models: &known.models,
            measured: known.timed.map(|(range, _)| Limits { m: range.m, p: range.p }),
            next: Next::new(known),
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
pub(super) struct WhatIf<'a> {
    parameters: ParameterSet,
    configurations: Believed,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Limits>,
    objective: Best<'a>,
}

impl<'a> WhatIf<'a> {
    pub fn new(study: &'a Study, known: &'a super::Evaluation) -> Self {
        Self {
            parameters: ParameterSet::from(&study.parameters),
            configurations: Believed::from(Columns::new(study, known)),
            measured: known.timed.map(|(range, _)| Limits { m: range.m, p: range.p }),
            objective: Best::new(&known.ranking),
        }
    }
}

/// What is best.
#[derive(Serialize)]
struct Best<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    /// Whether it is the time in seconds.
    is_time: bool,
    /// Whether more of it is better.
    is_most: bool,
    /// Whether it is what was measured, and all factors are 1.
    is_measured: bool,
    /// What runs are: `times`, `rates in ns/day`.
    runs: String,
    /// What the terms are, where they are no seconds.
    terms: Option<String>,
    /// What may be given up for fewer cores, relative to the best.
    tolerance: Option<f64>,
    /// What the time of each configuration is multiplied by so that the least product is the best.
    factor: Vec<f64>,
}

impl<'a> Best<'a> {
    fn new(ranking: &'a Ranking) -> Self {
        let objective = &ranking.choice.objective;
        Self {
            name: objective.name(),
            unit: objective.unit(),
            is_time: objective.is_time(),
            is_most: objective.direction() == Direction::Most,
            is_measured: objective.is_measured(),
            runs: objective.quantity().to_string(),
            terms: objective.quantity().said_of_terms(),
            tolerance: objective.tolerance(),
            factor: ranking.configurations.iter().map(|it| objective.factor(it.mapping)).collect(),
        }
    }
}

#[derive(Serialize)]
struct Limits {
    m: (u32, u32),
    p: (u32, u32),
}

/// The parameters in their own layout, tables over m written out as far as the page asks, with the
/// table of the terms of equation 11 beside them.
#[derive(Serialize)]
struct ParameterSet {
    #[serde(flatten)]
    parameters: Parameters,
    table: Vec<TermRow>,
}

impl From<&Parameters> for ParameterSet {
    fn from(parameters: &Parameters) -> Self {
        let table = Term::all().map(|term| TermRow::new(term, parameters)).collect();
        Self { parameters: parameters.tabulated(parameters.apus), table }
    }
}

/// What the page says of a term.
#[derive(Serialize)]
struct TermRow {
    name: &'static str,
    symbol: &'static str,
    meaning: String,
    /// Empty for a number, and of rates, whose terms are in no seconds.
    unit: &'static str,
    over_m: bool,
    of_phases: bool,
}

impl TermRow {
    fn new(term: Term, parameters: &Parameters) -> Self {
        let meaning = match parameters.terms.per(term) {
            Per::Run => term.quantity().to_string(),
            per => format!("{}, {}", term.quantity(), per.name()),
        };
        Self {
            name: term.name(),
            symbol: term.label(),
            meaning,
            unit: match term.unit() {
                "1" => "",
                _ if !parameters.quantity.is_time() => "",
                unit => unit,
            },
            over_m: term.is_over_m(),
            of_phases: Term::of_phases().any(|of_phases| of_phases == term),
        }
    }
}

/// All configurations in the order of their ranks, column by column: a third of the size of rows
/// with names.
#[derive(Serialize)]
struct Columns {
    m: Vec<u32>,
    p: Vec<u32>,
    /// Times by equation 11.
    time_s: Vec<f64>,
    /// Times given the runs, where there are any, which are ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    believed_s: Option<Vec<f64>>,
    /// These times and one standard deviation, by which they are ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranked_by_s: Option<Vec<f64>>,
    /// The lower end of the interval of each time that is ranked.
    low_s: Vec<f64>,
    high_s: Vec<f64>,
    probability_best: Vec<Option<f64>>,
    speedup: Vec<f64>,
    efficiency: Vec<f64>,
    expected_regret_s: Vec<f64>,
    regret_95_s: Vec<f64>,
    indistinguishable: Vec<u8>,
    refined_s: Option<Vec<f64>>,
    measured_s: Option<Vec<Option<f64>>>,
    /// How many runs a measured time is of, where it is of timed runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    repetitions: Option<Vec<Option<f64>>>,
    split: Option<SplitColumns>,
}

impl Columns {
    fn new(study: &Study, known: &super::Evaluation) -> Self {
        let rows = &known.ranking.configurations;
        let has_runs = known.timed.is_some();
        fn column<T>(rows: &[Configuration], of: impl Fn(&Configuration) -> T) -> Vec<T> {
            rows.iter().map(of).collect()
        }
        let refinements = study.parameters.refinements.as_ref();
        let is_refined = refinements.is_some_and(|it| !it.names().is_empty());
        let validated = |row: &Configuration| {
            let key = |it: &Validation| (it.m, it.p);
            find(&study.validation, key, row).map(|it| it.measured_s)
        };
        let timed = |row: &Configuration| match validated(row) {
            Some(_) => None,
            None => row.measured,
        };
        let measured =
            |row: &Configuration| validated(row).or_else(|| timed(row).map(|it| it.time.0));
        let has_measured = has_runs || !study.validation.is_empty();
        Self {
            m: column(rows, |it| it.mapping.m()),
            p: column(rows, |it| it.mapping.p()),
            time_s: column(rows, |it| study.parameters.time(it.mapping).0),
            believed_s: has_runs.then(|| column(rows, |it| it.time.0)),
            ranked_by_s: has_runs.then(|| known.ranked_by.iter().map(|it| it.0).collect()),
            low_s: column(rows, |it| it.low.0),
            high_s: column(rows, |it| it.high.0),
            probability_best: column(rows, |it| it.probability_best),
            speedup: column(rows, |it| it.speedup),
            efficiency: column(rows, |it| it.efficiency),
            expected_regret_s: column(rows, |it| it.expected_regret.0),
            regret_95_s: column(rows, |it| it.regret_95.0),
            indistinguishable: column(rows, |it| u8::from(it.indistinguishable)),
            refined_s: is_refined
                .then(|| column(rows, |it| study.parameters.refined_time(it.mapping).0)),
            measured_s: has_measured.then(|| column(rows, measured)),
            repetitions: has_runs.then(|| column(rows, |row| timed(row).map(|it| it.repetitions))),
            split: (!study.splits.is_empty()).then(|| SplitColumns::new(&study.splits, rows)),
        }
    }
}

/// The columns of predictions among these.
#[derive(Serialize)]
struct Believed {
    m: Vec<u32>,
    p: Vec<u32>,
    time_s: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    believed_s: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranked_by_s: Option<Vec<f64>>,
    low_s: Vec<f64>,
    high_s: Vec<f64>,
    refined_s: Option<Vec<f64>>,
}

impl From<Columns> for Believed {
    fn from(columns: Columns) -> Self {
        let Columns { m, p, time_s, believed_s, ranked_by_s, low_s, high_s, refined_s, .. } =
            columns;
        Self { m, p, time_s, believed_s, ranked_by_s, low_s, high_s, refined_s }
    }
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

#[derive(Serialize)]
struct SplitColumns {
    host_s: Vec<Option<f64>>,
    start_s: Vec<Option<f64>>,
    apu_shared_s: Vec<Option<f64>>,
    apu_serial_s: Vec<Option<f64>>,
    wait_s: Vec<Option<f64>>,
    idle_s: Vec<Option<f64>>,
}

impl SplitColumns {
    fn new(splits: &[Split], rows: &[Configuration]) -> Self {
        let column = |of: fn(&Split) -> f64| -> Vec<Option<f64>> {
            rows.iter().map(|row| find(splits, |it| (it.m, it.p), row).map(of)).collect()
        };
        Self {
            host_s: column(|it| it.host_s),
            start_s: column(|it| it.start_s),
            apu_shared_s: column(|it| it.apu_shared_s),
            apu_serial_s: column(|it| it.apu_serial_s),
            wait_s: column(|it| it.wait_s),
            idle_s: column(|it| it.idle_s),
        }
    }
}

/// The most measurements that the page proposes.
const MOST_MEASUREMENTS: usize = 20;

#[derive(Serialize)]
struct Next {
    expected_regret_s: f64,
    noise: f64,
    measurements: Vec<Measurement>,
}

#[derive(Serialize)]
struct Measurement {
    what: String,
    gain_s: f64,
    error_of_best_s: f64,
}

impl Next {
    fn new(known: &super::Evaluation) -> Self {
        let next = &known.next;
        let measurement = |it: &crate::decide::Measurement| Measurement {
            what: match &it.what {
                MeasurementKind::Run(mapping) => format!("run {mapping}"),
                MeasurementKind::Term { name } => format!("term {name}"),
            },
            gain_s: it.gain.0,
            error_of_best_s: it.error_of_best.0,
        };
        Self {
            expected_regret_s: known.best().expected_regret.0,
            noise: next.noise,
            measurements: next
                .measurements
                .iter()
                .take(MOST_MEASUREMENTS)
                .map(measurement)
                .collect(),
        }
    }
}
