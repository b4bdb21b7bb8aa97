//! `runs` and `before_runs` in JSON: the keys of `[runs]` and `[before_runs]` in a parameter file.

use serde::Serialize;

use super::super::observations::{Before, Evidence, Observations, Observed};
use super::super::parameters::Terms;
use super::super::terms::Term;
use super::writing::Matrix;
use super::{not_negative, read_correlation, read_terms, texts};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::table::json::{Object, Value};
use mmgp_base::units::Seconds;

pub(super) fn read(root: &Object<'_>) -> Result<Option<Evidence>> {
    let before = root.get("before_runs");
    let Some(runs) = root.get("runs") else {
        return before.map_or(Ok(None), |value| Err(value.error("\"runs\" that came after")));
    };
    let observations = read_runs(&runs)?;
    Ok(Some(Evidence { observations, before: before.map(|it| read_before(&it)).transpose()? }))
}

fn read_runs(value: &Value<'_>) -> Result<Observations> {
    let runs = value.object()?;
    runs.expect_keys(&Observations::KEYS)?;
    let m = runs.required("m")?.array()?;
    let column = |key: &str| -> Result<Vec<Value<'_>>> {
        let list = runs.required(key)?;
        let items = list.array()?;
        if items.is_empty() || items.len() != m.len() {
            let found = format!("{} items for {key:?} and {} for \"m\"", items.len(), m.len());
            return Err(list.error_found(found, "as many of each, at least one"));
        }
        Ok(items)
    };
    let (p, times, repetitions) = (column("p")?, column("time_s")?, column("repetitions")?);
    let above_0 = |value: &Value<'_>| match value.number()? {
        number if number > 0.0 => Ok(number),
        _ => Err(value.error("above 0")),
    };
    let observed = |index: usize| -> Result<Observed> {
        Ok(Observed {
            mapping: Mapping::new(m[index].count(1)?, p[index].count(1)?)?,
            time: Seconds(above_0(&times[index])?),
            repetitions: above_0(&repetitions[index])?,
        })
    };
    let source = runs.get("source").map(|source| source.text()).transpose()?;
    Ok(Observations::new(
        source.unwrap_or_else(|| "runs".into()),
        (0..m.len()).map(observed).collect::<Result<_>>()?,
        not_negative(&runs.required("scatter")?)?,
        not_negative(&runs.required("degrees_of_freedom")?)?,
    ))
}

fn read_before(value: &Value<'_>) -> Result<Before> {
    let before = value.object()?;
    before.expect_keys(&["unknown", "terms", "correlation"])?;
    let terms = read_terms(&before.required("terms")?.object()?)?;
    let mut unknown = Vec::new();
    if let Some(list) = before.get("unknown") {
        for (name, place) in texts(&list)?.into_iter().zip(list.array()?) {
            let term = Term::all().find(|term| term.name() == name);
            unknown.push(term.ok_or_else(|| place.error("the name of a term"))?);
        }
    }
    let correlation = before.get("correlation").map(|it| read_correlation(&it, &terms));
    Ok(Before { correlation: correlation.transpose()?, terms, unknown })
}

/// `runs` as it is written.
#[derive(Serialize)]
pub(super) struct Runs<'a> {
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
pub(super) struct BeforeRuns<'a> {
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
