//! Parameters in JSON, for other tools, in the layout of `schema/parameters-1.json`, or of
//! `schema/parameters-2.json` where they have what only that holds.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::super::observations::{Before, Observations};
use super::super::parameters::{Estimate, Parameters, Phase, Terms};
use super::super::sensitivity::Correlation;
use super::super::terms::{Term, TermValue};
use super::SCHEMAS;

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_second = self.refinements.is_some() || self.needs_schema_2();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", &SCHEMAS[usize::from(is_second)])?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("decomposition", &self.decomposition)?;
        map.serialize_entry("apus", &self.apus)?;
        if !self.quantity.is_time() {
            map.serialize_entry("objective", &self.quantity)?;
        }
        map.serialize_entry("terms", &self.terms)?;
        if !self.phases.is_empty() {
            map.serialize_entry("phases", &self.phases)?;
        }
        if let Some(correlation) = &self.correlation {
            map.serialize_entry("correlation", &Matrix::new(correlation, &self.terms))?;
        }
        if let Some(refinements) = &self.refinements {
            map.serialize_entry("refined", refinements)?;
        }
        if let Some(traced) = &self.traced {
            map.serialize_entry("traced", traced)?;
        }
        if let Some(evidence) = &self.evidence {
            map.serialize_entry("runs", &evidence.observations)?;
            if let Some(before) = &evidence.before {
                map.serialize_entry("before_runs", before)?;
            }
        }
        map.end()
    }
}

/// A correlation by the names of its entries.
#[derive(Serialize)]
struct Matrix<'a> {
    entries: Vec<String>,
    matrix: Vec<&'a [f64]>,
}

impl<'a> Matrix<'a> {
    fn new(correlation: &'a Correlation, terms: &Terms) -> Self {
        let entries = correlation.entries();
        Self {
            entries: entries.iter().map(|&entry| terms.name_of(entry)).collect(),
            matrix: (0..entries.len()).map(|index| correlation.row(index)).collect(),
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
        struct Parts<'a>(&'a Phase);
        impl Serialize for Parts<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.values().map(|(term, value)| (term.name(), value)))
            }
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("terms", &Parts(self))?;
        map.end()
    }
}

/// A property of an estimate, `null` where it is not known.
type Property = fn(&Estimate) -> Json;

/// Properties of an estimate that are written.
const PROPERTIES: [(&str, Property); 7] = [
    ("value", |it| json!(it.value)),
    ("std_error", |it| json!(it.std_error)),
    ("degrees_of_freedom", |it| json!(it.degrees_of_freedom)),
    ("low", |it| json!(it.interval().map(|ends| ends.0))),
    ("high", |it| json!(it.interval().map(|ends| ends.1))),
    ("source", |it| json!(it.source)),
    ("combined_with", |it| json!(it.combined_with)),
];

impl Serialize for TermValue<'_> {
    /// Writes one estimate, or a table by columns beside its m; a column of which nothing is known is left
    /// out.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(m) = self.m {
            map.serialize_entry("m", m)?;
        }
        for (name, property) in PROPERTIES {
            let column: Vec<Json> = self.estimates.iter().map(property).collect();
            match &column[..] {
                all if all.iter().all(|it| it.is_null() || *it == json!([])) => {}
                [one] if self.m.is_none() => map.serialize_entry(name, one)?,
                all => map.serialize_entry(name, all)?,
            }
        }
        if let Some(interpolation) = self.interpolation.name() {
            map.serialize_entry("interpolation", interpolation)?;
        }
        map.end()
    }
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        TermValue::from(self).serialize(serializer)
    }
}

impl Serialize for Observations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = || self.configurations.iter();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("m", &all().map(|it| it.mapping.m()).collect::<Vec<_>>())?;
        map.serialize_entry("p", &all().map(|it| it.mapping.p()).collect::<Vec<_>>())?;
        map.serialize_entry("time_s", &all().map(|it| it.time.0).collect::<Vec<_>>())?;
        map.serialize_entry("repetitions", &all().map(|it| it.repetitions).collect::<Vec<_>>())?;
        map.serialize_entry("scatter", &self.scatter)?;
        map.serialize_entry("degrees_of_freedom", &self.degrees_of_freedom)?;
        map.end()
    }
}

impl Serialize for Before {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unknown: Vec<&str> = self.unknown.iter().map(|&term| Term::name(term)).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("unknown", &unknown)?;
        map.serialize_entry("terms", &self.terms)?;
        if let Some(correlation) = &self.correlation {
            map.serialize_entry("correlation", &Matrix::new(correlation, &self.terms))?;
        }
        map.end()
    }
}
