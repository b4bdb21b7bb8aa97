//! What a fit found, for programs: JSON.

use serde::Serialize;

use super::super::Answer;
use super::super::output::{self, data, line};
use crate::error::{Error, Result, Warning};
use crate::fit::report::{Report, RunsReport, TermReport};
use crate::fit::require::Undetermined;
use crate::quantity::Quantity;

#[derive(Serialize)]
struct Refusal<'a> {
    required: &'a [String],
    determined: bool,
    undetermined: &'a [Undetermined],
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Says which required terms the data do not determine: the answer is no.
pub(super) fn undetermined(missing: &[Undetermined], required: &[String]) -> Result<Answer> {
    for each in missing {
        let why = match each.reason {
            "sum" => format!("the data know only the sum of {}", each.sum.join(", ")),
            "traded" => format!("in these runs {} take each other's place", each.sum.join(", ")),
            _ => "nothing tells of it".to_string(),
        };
        line(&format!("{} is not determined: {why}; give {}", each.term, each.measure));
    }
    let refusal = Refusal { required, determined: false, undetermined: missing, reason: None };
    data(None, &output::json(&refusal))?;
    Ok(Answer::No)
}

/// The data determine nothing at all.
pub(super) fn refused(error: &Error, required: &[String]) -> Result<Answer> {
    line(&format!("{error}"));
    let reason = Some(error.to_string());
    data(None, &output::json(&Refusal { required, determined: false, undetermined: &[], reason }))?;
    Ok(Answer::No)
}

#[derive(Serialize)]
struct Json<'a> {
    name: &'a str,
    /// What runs are, where they are no times: terms are no seconds then.
    #[serde(skip_serializing_if = "Quantity::is_time")]
    objective: &'a Quantity,
    terms: Vec<Value<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<serde_json::Value>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Value<'a> {
    term: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<u32>,
    value: f64,
    std_error: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    degrees_of_freedom: Option<f64>,
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    combined_with: &'a [String],
    rows: u64,
}

/// The report as one JSON object.
pub(super) fn json(report: &Report, warnings: &[Warning]) -> String {
    output::json(&Json {
        name: &report.name,
        objective: &report.quantity,
        terms: report.terms.iter().flat_map(values).collect(),
        runs: report.runs.as_ref().map(of_runs),
        warnings: warnings.iter().map(ToString::to_string).collect(),
    })
}

fn values(term: &TermReport) -> impl Iterator<Item = Value<'_>> {
    term.values.iter().map(|(m, estimate)| Value {
        term: term.term,
        m: *m,
        value: estimate.value,
        std_error: estimate.std_error,
        low: estimate.interval().map(|(low, _)| low),
        high: estimate.interval().map(|(_, high)| high),
        degrees_of_freedom: estimate.degrees_of_freedom,
        source: estimate.source.as_deref(),
        combined_with: &estimate.combined_with,
        rows: term.observations,
    })
}

fn of_runs(runs: &RunsReport) -> serde_json::Value {
    let left_out = runs.left_out.iter().map(|each| {
        serde_json::json!({
            "mean": each.mean,
            "mean_error_percent": 100.0 * each.mean_error,
            "max_error_percent": 100.0 * each.max_error,
            "worst": each.worst,
        })
    });
    let growths = runs
        .growths
        .iter()
        .map(|(shape, weight)| serde_json::json!({ "shape": shape.name(), "weight": weight }));
    serde_json::json!({
        "file": runs.file,
        "runs": runs.runs,
        "configurations": runs.configurations,
        "estimated": runs.estimated,
        "identifiability": {
            "rank": runs.identifiability.rank,
            "singular_values": runs.identifiability.singular_values,
            "sums": runs.identifiability.sums,
            "traded": runs.identifiability.traded,
            "time_next": runs.identifiability.time_next,
            "silent": runs.identifiability.silent,
        },
        "basis": runs.basis,
        "equation_11_is_exact": runs.exact,
        "mean_error_percent": 100.0 * runs.mean_error,
        "max_error_percent": 100.0 * runs.max_error,
        "worst": runs.worst,
        "left_out": left_out.collect::<Vec<_>>(),
        "agreement_with_files": runs.agreement.as_ref().map(|agreement| serde_json::json!({
            "contradicted": agreement.contradicted,
            "contradictions":
                agreement.values.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })),
        "alpha_shapes": growths.collect::<Vec<_>>(),
    })
}
