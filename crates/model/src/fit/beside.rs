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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::fit;
    use crate::fit::refined::Counts;
    use crate::fit::runs::Cell;
    use crate::fit::trials::{TERMS, exact_runs, feasible, only, truth};
    use crate::model::parameters::Decomposition;
    use crate::model::refined::Refinements;

    /// A report with what this many configurations were predicted as, a tenth too long.
    fn compared(configurations: &[(u32, u32)], refined: bool) -> Option<Vec<(String, usize)>> {
        let truth = truth(Decomposition::Data, 0.0, TERMS);
        let runs = exact_runs(&truth, configurations);
        let predicted: Vec<f64> = runs.cells.iter().map(|cell| 1.1 * cell.mean_s).collect();
        let settings = Settings::new("trial", Decomposition::Data, 16);
        let alone = only(exact_runs(&truth, &[(1, 1), (1, 2), (1, 4), (1, 8)]));
        let fitted = fit(&alone, &settings).unwrap();
        let report = RunsReport { left_out_s: predicted.clone(), ..fitted.report.runs.unwrap() };
        let refinements = Refinements { iterations: Some(24), ..Refinements::default() };
        let terms = refinements.names().len();
        assert!(terms > 0);
        let refined = refined.then(|| Refined {
            parameters: Parameters { refinements: Some(refinements), ..truth },
            left_out_s: predicted,
            warnings: Vec::new(),
        });
        let none = RunsReport { left_out_s: Vec::new(), ..report.clone() };
        assert_eq!(comparison(&runs, &none, refined.as_ref(), 3).unwrap(), None);
        let found = comparison(&runs, &report, refined.as_ref(), 3).unwrap()?;
        let given = found.rows.iter().take(1 + usize::from(refined.is_some()));
        Some(given.map(|row| (row.model.clone(), row.parameters)).collect())
    }

    #[test]
    fn four_configurations_are_compared_with_the_refined_model_where_there_is_one() {
        let four = [(1, 1), (1, 2), (1, 4), (1, 8)];
        assert_eq!(compared(&four[..3], false), None);
        assert_eq!(compared(&four, false), Some(vec![("equation 11".into(), 3)]));
        let refinements = Refinements { iterations: Some(24), ..Refinements::default() };
        let values = 3 + refinements.names().len();
        let both = vec![("equation 11".into(), 3), ("refined".into(), values)];
        assert_eq!(compared(&four, true), Some(both));
    }

    #[test]
    fn without_runs_the_refined_model_has_the_terms_of_equation_11() {
        let base = truth(Decomposition::Data, 0.1, TERMS);
        let mut settings = Settings::new("trial", Decomposition::Data, 16);
        let of = |settings: &Settings| {
            refined((&base, &[]), &base, &Inputs::default(), settings, None).unwrap()
        };
        assert!(of(&settings).is_none());
        settings.options.counts = Some(Counts { iterations: Some(24), ..Counts::default() });
        let refined = of(&settings).unwrap().parameters;
        assert_eq!(refined.refinements.as_ref().unwrap().iterations, Some(24));
        assert_eq!(refined.terms, base.terms);
    }

    #[test]
    fn the_refined_model_predicts_a_configuration_that_is_left_out_in_its_own_times() {
        // 24 pieces of 5 s each among p APUs, nothing else: equation 11 shares them as they cannot be.
        let base = truth(Decomposition::Data, 0.0, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let cell = |p: u32| Cell::of((1, p), &[5.0 * f64::from(24_u32.div_ceil(p)); 2]);
        let cells = [1, 5, 7, 13, 16].map(cell);
        let runs = Runs { file: "runs.csv".into(), cells: cells.into() };
        let mut settings = Settings::new("trial", Decomposition::Data, 16);
        settings.options.counts = Some(Counts { iterations: Some(24), ..Counts::default() });
        let options = &settings.options;
        let request = Request { runs: &runs, correlations: &[], options };
        let unknown = [Term::ApuTime];
        let inputs = Inputs::default();
        let refined = refined((&base, &unknown), &base, &inputs, &settings, Some(request));
        let refined = refined.unwrap().unwrap();
        approx::assert_relative_eq!(
            refined.parameters.terms.t_apu_s.value,
            120.0,
            max_relative = 1e-8
        );
        assert_eq!(refined.left_out_s.len(), runs.cells.len());
        for (left_out, cell) in refined.left_out_s.iter().zip(&runs.cells) {
            approx::assert_relative_eq!(*left_out, cell.mean_s, max_relative = 1e-8);
        }
    }

    #[test]
    fn runs_with_pieces_that_cannot_be_cut_follow_the_refined_model() {
        let refinements = Refinements { iterations: Some(24), ..Refinements::default() };
        let truth =
            Parameters { refinements: Some(refinements), ..truth(Decomposition::Data, 0.1, TERMS) };
        let time = |parameters: &Parameters, (m, p)| parameters.refined_time(Mapping::of(m, p)).0;
        let cell = |&(m, p): &(u32, u32)| Cell::of((m, p), &[time(&truth, (m, p)); 2]);
        let cells = feasible().iter().map(cell).collect();
        let inputs = only(Runs { file: "runs.csv".into(), cells });
        let mut settings = Settings::new("trial", Decomposition::Data, 16);
        settings.options.counts = Some(Counts { iterations: Some(24), ..Counts::default() });
        let fitted = fit(&inputs, &settings).unwrap();
        let refined = fitted.refined.unwrap();
        for place in feasible() {
            let (found, expected) = (time(&refined, place), time(&truth, place));
            approx::assert_relative_eq!(found, expected, max_relative = 1e-3);
        }
        // 24 pieces take as long by 13 APUs as by 23, which equation 11 does not know.
        let comparison = fitted.report.runs.unwrap().comparison.unwrap();
        let error = |name| {
            let row = comparison.rows.iter().find(|row| row.model == name).unwrap();
            row.mean_error_percent
        };
        let (refined, equation_11) = (error("refined"), error("equation 11"));
        assert!(refined < 0.1 && equation_11 > 2.0, "{refined}, {equation_11}");
    }
}
