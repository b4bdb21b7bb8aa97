//! What the page's script is told, as JSON.

use serde::Serialize;

use super::Study;
use super::provenance::Provenance;
use crate::model::Parameters;
use crate::model::parameters as terms;
use crate::model::refined::{Memory, Placement, Refinements};
use crate::plot::benchmarks::Panel;
use crate::solve::{Configuration, Measured, NextMeasurement, Ranking};
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
    next: Option<Next>,
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
            next: known.next.as_ref().map(Next::new),
            warnings: &known.warnings,
            benchmarks: &study.benchmarks,
            provenance: &study.provenance,
        }
    }
}

#[derive(Serialize)]
struct ParameterSet<'a> {
    name: &'a str,
    decomposition: &'static str,
    tasks: Option<u32>,
    apus: u32,
    terms: Terms<'a>,
    phases: Vec<Phase<'a>>,
    refined: Option<Refined<'a>>,
}

impl<'a> From<&'a Parameters> for ParameterSet<'a> {
    fn from(parameters: &'a Parameters) -> Self {
        let (decomposition, tasks) = match parameters.decomposition {
            terms::Decomposition::Data => ("data", None),
            terms::Decomposition::Task { tasks } => ("task", Some(tasks)),
        };
        let refinements = parameters.refinements.as_ref();
        Self {
            name: &parameters.name,
            decomposition,
            tasks,
            apus: parameters.apus,
            terms: Terms::from(&parameters.terms),
            phases: parameters.phases.iter().map(Phase::from).collect(),
            refined: refinements.filter(|it| !it.names().is_empty()).map(Refined::from),
        }
    }
}

#[derive(Serialize)]
struct Estimate<'a> {
    value: f64,
    std_error: Option<f64>,
    freedom: Option<f64>,
    /// The 95 % interval.
    low: Option<f64>,
    high: Option<f64>,
    source: Option<&'a str>,
    combined_with: &'a [String],
}

impl<'a> From<&'a terms::Estimate> for Estimate<'a> {
    fn from(estimate: &'a terms::Estimate) -> Self {
        let (low, high) = estimate.interval().unzip();
        Self {
            value: estimate.value,
            std_error: estimate.std_error,
            freedom: estimate.freedom,
            low,
            high,
            source: estimate.source.as_deref(),
            combined_with: &estimate.combined_with,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum OverM<'a> {
    Constant { constant: Estimate<'a> },
    Table { m: &'a [u32], values: Vec<Estimate<'a>> },
}

impl<'a> From<&'a terms::OverM> for OverM<'a> {
    fn from(term: &'a terms::OverM) -> Self {
        match term {
            terms::OverM::Constant(estimate) => Self::Constant { constant: estimate.into() },
            terms::OverM::Table(table) => Self::Table {
                m: &table.m,
                values: table.values.iter().map(Estimate::from).collect(),
            },
        }
    }
}

#[derive(Serialize)]
struct Terms<'a> {
    t_hpu_s: Estimate<'a>,
    t_apu_s: Estimate<'a>,
    c_apu_s: Estimate<'a>,
    offloads: Estimate<'a>,
    o_offload_s: Estimate<'a>,
    t_csw_s: Estimate<'a>,
    g_s: Estimate<'a>,
    collectives: Option<Estimate<'a>>,
    alpha: OverM<'a>,
    o_col_s: OverM<'a>,
}

impl<'a> From<&'a terms::Terms> for Terms<'a> {
    fn from(terms: &'a terms::Terms) -> Self {
        Self {
            t_hpu_s: (&terms.t_hpu_s).into(),
            t_apu_s: (&terms.t_apu_s).into(),
            c_apu_s: (&terms.c_apu_s).into(),
            offloads: (&terms.offloads).into(),
            o_offload_s: (&terms.o_offload_s).into(),
            t_csw_s: (&terms.t_csw_s).into(),
            g_s: (&terms.g_s).into(),
            collectives: terms.collectives.as_ref().map(Estimate::from),
            alpha: (&terms.alpha).into(),
            o_col_s: (&terms.o_col_s).into(),
        }
    }
}

#[derive(Serialize)]
struct Phase<'a> {
    name: &'a str,
    t_hpu_s: Estimate<'a>,
    t_apu_s: Estimate<'a>,
    c_apu_s: Estimate<'a>,
    offloads: Estimate<'a>,
    g_s: Estimate<'a>,
    collectives: Option<Estimate<'a>>,
}

impl<'a> From<&'a terms::Phase> for Phase<'a> {
    fn from(phase: &'a terms::Phase) -> Self {
        Self {
            name: &phase.name,
            t_hpu_s: (&phase.t_hpu_s).into(),
            t_apu_s: (&phase.t_apu_s).into(),
            c_apu_s: (&phase.c_apu_s).into(),
            offloads: (&phase.offloads).into(),
            g_s: (&phase.g_s).into(),
            collectives: phase.collectives.as_ref().map(Estimate::from),
        }
    }
}

#[derive(Serialize)]
struct Refined<'a> {
    iterations: Option<u32>,
    hardware_contexts: Option<u32>,
    exposed_transfer_s: Option<Estimate<'a>>,
    memory: Option<SharedMemory<'a>>,
    work_growth_s: Option<Estimate<'a>>,
}

impl<'a> From<&'a Refinements> for Refined<'a> {
    fn from(refined: &'a Refinements) -> Self {
        Self {
            iterations: refined.iterations,
            hardware_contexts: refined.hardware_contexts,
            exposed_transfer_s: refined.exposed_transfer_s.as_ref().map(Estimate::from),
            memory: refined.memory.as_ref().map(SharedMemory::from),
            work_growth_s: refined.work_growth_s.as_ref().map(Estimate::from),
        }
    }
}

#[derive(Serialize)]
struct SharedMemory<'a> {
    demand_bytes_per_s: Estimate<'a>,
    bandwidth_bytes_per_s: Estimate<'a>,
    memories: u32,
    placement: &'static str,
}

impl<'a> From<&'a Memory> for SharedMemory<'a> {
    fn from(memory: &'a Memory) -> Self {
        let is_it = |(_, placement): &&(&str, Placement)| *placement == memory.placement;
        let (placement, _) =
            Placement::NAMES.iter().find(is_it).expect("invariant: all have names");
        Self {
            demand_bytes_per_s: (&memory.demand_bytes_per_s).into(),
            bandwidth_bytes_per_s: (&memory.bandwidth_bytes_per_s).into(),
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
    probability_best: Vec<f64>,
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
    fn new(next: &NextMeasurement) -> Self {
        let measurement = |it: &crate::solve::Measurement| Measurement {
            what: match &it.what {
                Measured::Run(mapping) => format!("run {mapping}"),
                Measured::Term { name } => format!("term {name}"),
            },
            gain_s: it.gain.0,
            error_of_best_s: it.error_of_best.0,
        };
        Self {
            expected_regret_s: next.expected_regret.0,
            noise: super::NOISE,
            measurements: next
                .measurements
                .iter()
                .take(MOST_MEASUREMENTS)
                .map(measurement)
                .collect(),
        }
    }
}
