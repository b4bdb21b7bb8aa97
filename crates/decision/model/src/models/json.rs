//! Parameters in JSON, for other tools: as serde writes them, in the layout of `schema/parameters-1.json`, or of
//! `schema/parameters-2.json` where they have what only that holds.

use serde::{Serialize, Serializer};

use super::observations::{Before, Observations};
use super::parameters::{Decomposition, Estimate, Parameters, Phase, Terms};
use super::refined::{Memory, Refinements};
use super::terms::Value;
use super::uncertainty::Correlation;
use mmgp_base::quantity::Quantity;

/// The versions of the layout: 2 has `objective`, `refined`, `runs` and `before_runs`. Each set is written in
/// the first that holds it.
const SCHEMAS: [u32; 2] = [1, 2];

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { name, decomposition, apus, terms, phases, .. } = self;
        let (decomposition, apus) = (*decomposition, *apus);
        let (refined, evidence) = (self.refinements.as_ref(), self.evidence.as_ref());
        Object {
            schema: SCHEMAS[usize::from(refined.is_some() || self.needs_schema_2())],
            name,
            decomposition,
            apus,
            objective: &self.quantity,
            terms,
            phases,
            correlation: self.correlation.as_ref().map(|known| Matrix::new(known, terms)),
            refined: refined.map(Refined::from),
            runs: evidence.map(|known| Runs::from(&known.observations)),
            before_runs: evidence.and_then(|known| known.before.as_ref().map(BeforeRuns::from)),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    name: &'a str,
    decomposition: Decomposition,
    apus: u32,
    #[serde(skip_serializing_if = "Quantity::is_time")]
    objective: &'a Quantity,
    terms: &'a Terms,
    #[serde(skip_serializing_if = "<[Phase]>::is_empty")]
    phases: &'a [Phase],
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation: Option<Matrix<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refined: Option<Refined<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Runs<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_runs: Option<BeforeRuns<'a>>,
}

/// A correlation by the names of its entries.
#[derive(Serialize)]
struct Matrix<'a> {
    entries: Vec<String>,
    matrix: Vec<&'a [f64]>,
}

impl<'a> Matrix<'a> {
    fn new(known: &'a Correlation, terms: &Terms) -> Self {
        Self {
            entries: known.entries().iter().map(|&entry| terms.name_of(entry)).collect(),
            matrix: (0..known.entries().len()).map(|index| known.row(index)).collect(),
        }
    }
}

impl Serialize for Terms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.values().map(|(term, value)| (term.name(), value)))
    }
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object<'a> {
            name: &'a str,
            terms: Parts<'a>,
        }
        struct Parts<'a>(&'a Phase);
        impl Serialize for Parts<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.values().map(|(term, value)| (term.name(), value)))
            }
        }
        Object { name: &self.name, terms: Parts(self) }.serialize(serializer)
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.m, self.estimates) {
            (Some(m), estimates) => {
                let interpolation = self.interpolation.name();
                Columns { interpolation, ..table(m, estimates) }.serialize(serializer)
            }
            (None, [estimate]) => estimate.serialize(serializer),
            (None, _) => serializer.serialize_none(),
        }
    }
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object<'a> {
            value: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            std_error: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            degrees_of_freedom: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            low: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            high: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            source: Option<&'a str>,
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            combined_with: &'a [String],
        }
        let (low, high) = self.interval().unzip();
        let Self { value, std_error, degrees_of_freedom, combined_with, .. } = self;
        let (value, std_error, degrees_of_freedom) = (*value, *std_error, *degrees_of_freedom);
        let source = self.source.as_deref();
        Object { value, std_error, degrees_of_freedom, low, high, source, combined_with }
            .serialize(serializer)
    }
}

/// A table by columns, all beside m.
#[derive(Serialize)]
struct Columns<'a> {
    m: &'a [u32],
    value: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    std_error: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degrees_of_freedom: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    low: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    high: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    source: Vec<Option<&'a str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    combined_with: Vec<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interpolation: Option<&'static str>,
}

fn table<'a>(m: &'a [u32], estimates: &'a [Estimate]) -> Columns<'a> {
    let (low, high) = (
        |each: &Estimate| each.interval().map(|ends| ends.0),
        |each: &Estimate| each.interval().map(|ends| ends.1),
    );
    Columns {
        m,
        value: estimates.iter().map(|each| each.value).collect(),
        std_error: column(estimates, |each| each.std_error, Option::is_some),
        degrees_of_freedom: column(estimates, |each| each.degrees_of_freedom, Option::is_some),
        low: column(estimates, low, Option::is_some),
        high: column(estimates, high, Option::is_some),
        source: column(estimates, |each| each.source.as_deref(), Option::is_some),
        combined_with: column(estimates, |each| &each.combined_with[..], |sum| !sum.is_empty()),
        interpolation: None,
    }
}

/// One property of every estimate, or nothing where none of them has it.
fn column<'a, T>(
    estimates: &'a [Estimate],
    property: impl Fn(&'a Estimate) -> T,
    is_known: impl Fn(&T) -> bool,
) -> Vec<T> {
    let properties: Vec<T> = estimates.iter().map(property).collect();
    if properties.iter().any(is_known) { properties } else { Vec::new() }
}

/// `runs` as it is written.
#[derive(Serialize)]
struct Runs<'a> {
    source: &'a str,
    m: Vec<u32>,
    p: Vec<u32>,
    time_s: Vec<f64>,
    repetitions: Vec<f64>,
    scatter: f64,
    degrees_of_freedom: f64,
}

impl<'a> From<&'a Observations> for Runs<'a> {
    fn from(observations: &'a Observations) -> Self {
        let Observations { source, configurations, scatter, degrees_of_freedom, .. } = observations;
        let all = || configurations.iter();
        Self {
            source,
            m: all().map(|it| it.mapping.m()).collect(),
            p: all().map(|it| it.mapping.p()).collect(),
            time_s: all().map(|it| it.time.0).collect(),
            repetitions: all().map(|it| it.repetitions).collect(),
            scatter: *scatter,
            degrees_of_freedom: *degrees_of_freedom,
        }
    }
}

/// `before_runs` as it is written.
#[derive(Serialize)]
struct BeforeRuns<'a> {
    unknown: Vec<&'static str>,
    terms: &'a Terms,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation: Option<Matrix<'a>>,
}

impl<'a> From<&'a Before> for BeforeRuns<'a> {
    fn from(before: &'a Before) -> Self {
        let Before { terms, correlation, unknown } = before;
        Self {
            unknown: unknown.iter().map(|term| term.name()).collect(),
            terms,
            correlation: correlation.as_ref().map(|known| Matrix::new(known, terms)),
        }
    }
}

/// `refined` as it is written.
#[derive(Serialize)]
struct Refined<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hardware_contexts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exposed_transfer_s: Option<&'a Estimate>,
    #[serde(flatten)]
    memory: Option<OfMemory<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_growth_s: Option<&'a Estimate>,
}

#[derive(Serialize)]
struct OfMemory<'a> {
    memory_demand_bytes_per_s: &'a Estimate,
    memory_bandwidth_bytes_per_s: &'a Estimate,
    memories: u32,
    memory_of: &'static str,
}

impl<'a> From<&'a Refinements> for Refined<'a> {
    fn from(refined: &'a Refinements) -> Self {
        Self {
            iterations: refined.iterations,
            hardware_contexts: refined.hardware_contexts,
            exposed_transfer_s: refined.exposed_transfer_s.as_ref(),
            memory: refined.memory.as_ref().map(OfMemory::from),
            work_growth_s: refined.work_growth_s.as_ref(),
        }
    }
}

impl<'a> From<&'a Memory> for OfMemory<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self {
            memory_demand_bytes_per_s: &memory.demand_bytes_per_s,
            memory_bandwidth_bytes_per_s: &memory.bandwidth_bytes_per_s,
            memories: memory.memories,
            memory_of: memory.placement.name(),
        }
    }
}
