//! What the page's script is told, as JSON.

use serde::Serialize;

use super::Study;
use super::provenance::Provenance;
use crate::model::Parameters;
use crate::model::parameters::Estimate;
use crate::model::refined::{Memory, Placement, Refinements};
use crate::model::terms::{Per, Term};
use crate::plot::benchmarks::Panel;
use crate::posterior::Basis;
use crate::solve::{Configuration, Measured, Ranking};
use crate::table::records::{Split, Validation};
use crate::validate::ModelSummary;

/// The whole of it.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    schema: u32,
    title: &'a str,
    generator: String,
    parameters: ParameterSet<'a>,
    configurations: Columns,
    models: &'a [ModelSummary],
    next: Next,
    basis: &'a Basis,
    choice: String,
    advice: Option<String>,
    warnings: &'a [String],
    benchmarks: &'a [Panel],
    provenance: &'a Provenance,
}

impl<'a> Data<'a> {
    pub fn new(study: &'a Study, known: &'a super::Known) -> Self {
        Self {
            schema: 1,
            title: &study.title,
            generator: format!("mmgp {}", crate::VERSION),
            parameters: ParameterSet::from(&study.parameters),
            configurations: Columns::new(study, &known.ranking),
            models: &known.models,
            next: Next::new(known),
            basis: &known.basis,
            choice: known.ranking.choice.to_string(),
            advice: known.ranking.choice.advice(),
            warnings: &known.warnings,
            benchmarks: &study.benchmarks,
            provenance: &study.provenance,
        }
    }
}

/// The parameters in their own layout, tables written out as far as the page asks, with the refined terms beside them and the table of the terms
/// of equation 11.
#[derive(Serialize)]
struct ParameterSet<'a> {
    #[serde(flatten)]
    parameters: Parameters,
    refined: Option<Refined<'a>>,
    table: Vec<TermRow>,
}

impl<'a> From<&'a Parameters> for ParameterSet<'a> {
    fn from(parameters: &'a Parameters) -> Self {
        let refinements = parameters.refinements.as_ref();
        Self {
            parameters: parameters.tabulated(parameters.apus),
            refined: refinements.filter(|it| !it.names().is_empty()).map(Refined::from),
            table: Term::all().map(|term| TermRow::new(term, parameters)).collect(),
        }
    }
}

/// What the page says of a term.
#[derive(Serialize)]
struct TermRow {
    name: &'static str,
    symbol: &'static str,
    meaning: String,
    /// Empty for a number.
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
            unit: if term.unit() == "1" { "" } else { term.unit() },
            over_m: term.is_over_m(),
            of_phases: Term::of_phases().any(|of_phases| of_phases == term),
        }
    }
}

#[derive(Serialize)]
struct Refined<'a> {
    iterations: Option<u32>,
    hardware_contexts: Option<u32>,
    exposed_transfer_s: Option<&'a Estimate>,
    memory: Option<SharedMemory<'a>>,
    work_growth_s: Option<&'a Estimate>,
}

impl<'a> From<&'a Refinements> for Refined<'a> {
    fn from(refined: &'a Refinements) -> Self {
        Self {
            iterations: refined.iterations,
            hardware_contexts: refined.hardware_contexts,
            exposed_transfer_s: refined.exposed_transfer_s.as_ref(),
            memory: refined.memory.as_ref().map(SharedMemory::from),
            work_growth_s: refined.work_growth_s.as_ref(),
        }
    }
}

#[derive(Serialize)]
struct SharedMemory<'a> {
    demand_bytes_per_s: &'a Estimate,
    bandwidth_bytes_per_s: &'a Estimate,
    memories: u32,
    placement: &'static str,
}

impl<'a> From<&'a Memory> for SharedMemory<'a> {
    fn from(memory: &'a Memory) -> Self {
        let is_it = |(_, placement): &&(&str, Placement)| *placement == memory.placement;
        let (placement, _) =
            Placement::NAMES.iter().find(is_it).expect("invariant: all have names");
        Self {
            demand_bytes_per_s: &memory.demand_bytes_per_s,
            bandwidth_bytes_per_s: &memory.bandwidth_bytes_per_s,
            memories: memory.memories,
            placement,
        }
    }
}

/// All configurations in the order of their ranks, column by column: a third of the size of rows
/// with names.
#[derive(Serialize)]
struct Columns {
    m: Vec<u32>,
    p: Vec<u32>,
    time_s: Vec<f64>,
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
    split: Option<SplitColumns>,
}

impl Columns {
    fn new(study: &Study, ranking: &Ranking) -> Self {
        let rows = &ranking.configurations;
        fn column<T>(rows: &[Configuration], of: impl Fn(&Configuration) -> T) -> Vec<T> {
            rows.iter().map(of).collect()
        }
        let refinements = study.parameters.refinements.as_ref();
        let is_refined = refinements.is_some_and(|it| !it.names().is_empty());
        let measured = |row: &Configuration| {
            let key = |it: &Validation| (it.m, it.p);
            find(&study.validation, key, row).map(|it| it.measured_s)
        };
        Self {
            m: column(rows, |it| it.mapping.m()),
            p: column(rows, |it| it.mapping.p()),
            time_s: column(rows, |it| it.time.0),
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
            measured_s: (!study.validation.is_empty()).then(|| column(rows, measured)),
            split: (!study.splits.is_empty()).then(|| SplitColumns::new(&study.splits, rows)),
        }
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
    fn new(known: &super::Known) -> Self {
        let next = &known.next;
        let measurement = |it: &crate::solve::Measurement| Measurement {
            what: match &it.what {
                Measured::Run(mapping) => format!("run {mapping}"),
                Measured::Term { name } => format!("term {name}"),
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
