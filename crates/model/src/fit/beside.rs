//! Other models beside equation 11: the refined one where its counts are known, and the laws of
//! scaling.

use super::comparison::{Comparison, LeftOut, compare};
use super::inputs::Inputs;
use super::joint;
use super::refined::{fit_beside, refinements};
use super::report::RunsReport;
use super::request::Request;
use super::runs::Runs;
use super::settings::Settings;
use crate::model::Parameters;
use crate::model::terms::Term;
use mmgp_base::Mapping;
use mmgp_base::error::{Result, Warning};

/// Fewer configurations are not compared.
const FEWEST: usize = 4;

/// The refined model fitted to the same data.
pub(crate) struct Refined {
    pub parameters: Parameters,
    /// Every configuration as predicted from all others \[s\].
    left_out_s: Vec<f64>,
    pub warnings: Vec<Warning>,
}

/// Fits the refined model, where its counts are given; to runs by scaling them to the times that
/// equation 11 would have.
pub(crate) fn refined(
    (base, unknown): (&Parameters, &[Term]),
    fitted: &Parameters,
    inputs: &Inputs,
    settings: &Settings,
    request: Option<Request<'_>>,
) -> Result<Option<Refined>> {
    let Some(counts) = &settings.options.counts else { return Ok(None) };
    let (refinements, warnings) = refinements(fitted, inputs.memory.as_ref(), counts);
    let Some(request) = request else {
        let parameters = Parameters { refinements: Some(refinements), ..fitted.clone() };
        return Ok(Some(Refined { parameters, left_out_s: Vec::new(), warnings }));
    };
    let again = |runs: &Runs| joint::fit(base, unknown, Request { runs, ..request });
    let parameters =
        fit_beside(request.runs, &refinements, &|runs| again(runs).map(|joint| joint.parameters))?;
    let factors: Vec<f64> = request
        .runs
        .cells
        .iter()
        .map(|cell| {
            parameters.time(Mapping::of(cell.m, cell.p)).0
                / parameters.refined_time(Mapping::of(cell.m, cell.p)).0
        })
        .collect();
    let left_out = again(&request.runs.scaled(&factors))?.report.left_out_s;
    let left_out_s = left_out.iter().zip(&factors).map(|(time, factor)| time / factor).collect();
    Ok(Some(Refined { parameters, left_out_s, warnings }))
}

/// All models by their error at configurations left out; `None` where there are too few, or one
/// that the others cannot do without.
pub(crate) fn comparison(
    runs: &Runs,
    report: &RunsReport,
    refined: Option<&Refined>,
    values: usize,
) -> Result<Option<Comparison>> {
    if runs.cells.len() < FEWEST || report.left_out_s.is_empty() {
        return Ok(None);
    }
    let model = |model: &str, parameters, predictions_s: &[f64]| LeftOut {
        model: model.into(),
        parameters,
        predictions_s: predictions_s.to_vec(),
    };
    let mut models = vec![model("equation 11", values, &report.left_out_s)];
    if let Some(refined) = refined.filter(|refined| !refined.left_out_s.is_empty()) {
        let terms = refined.parameters.refinements.as_ref().map_or(0, |each| each.names().len());
        models.push(model("refined", values + terms, &refined.left_out_s));
    }
    compare(runs, &models).map(Some)
}
