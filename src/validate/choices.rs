//! What was chosen of p, sublists and buffers beside what ran.

use serde::Serialize;

use super::percent;
use crate::table::records::{Maybe, ThreadChoice, ThreadRun};
use crate::threads::NAME;

/// How well a model of choices met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChoiceSummary {
    /// Its name.
    pub model: &'static str,
    /// Mean over the choices of |predicted - measured|/measured [%].
    pub mean_error_percent: f64,
    /// Standard deviation of the same [%].
    pub sd_error_percent: f64,
    /// The largest of them [%].
    pub max_error_percent: f64,
    /// What it predicts to be the fastest: p, sublists, buffers.
    pub predicted_best: [u32; 3],
    /// What was the fastest.
    pub measured_best: [u32; 3],
    /// How much longer the predicted best takes than the fastest [%].
    pub regret_percent: f64,
}

/// How well the model and the formula that it carries on met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChoiceSummaries {
    /// Choices compared.
    pub configurations: usize,
    /// The model, then the formula.
    pub models: Vec<ChoiceSummary>,
}

/// Sets predictions, in the order of their ranks and at least one, beside the runs of all of them.
pub fn compare_choices(
    predictions: &[ThreadChoice],
    runs: &[ThreadRun],
) -> (Vec<ThreadChoice>, ChoiceSummaries) {
    let measured = |row: &ThreadChoice| {
        let is_it = |run: &&ThreadRun| {
            (run.p, run.sublists, run.buffers) == (row.p, row.sublists, row.buffers)
        };
        runs.iter().find(is_it).expect("invariant: all of them were run").time_s
    };
    let beside = |row: &ThreadChoice| {
        let measured_s = measured(row);
        let error_percent = Maybe(Some(percent(row.time_s, measured_s)));
        ThreadChoice { measured_s: Maybe(Some(measured_s)), error_percent, ..row.clone() }
    };
    let rows: Vec<ThreadChoice> = predictions.iter().map(beside).collect();
    let measured: Vec<f64> = predictions.iter().map(measured).collect();
    let by_model = |row: &ThreadChoice| row.time_s;
    let by_formula = |row: &ThreadChoice| row.formula_s;
    let models = vec![
        summarize(NAME, (&rows, by_model), &measured),
        summarize("formula", (&rows, by_formula), &measured),
    ];
    let summaries = ChoiceSummaries { configurations: rows.len(), models };
    (rows, summaries)
}

fn summarize(
    model: &'static str,
    (rows, predicted): (&[ThreadChoice], impl Fn(&ThreadChoice) -> f64),
    measured: &[f64],
) -> ChoiceSummary {
    let predicted: Vec<f64> = rows.iter().map(predicted).collect();
    let pairs = predicted.iter().zip(measured);
    let errors: Vec<f64> = pairs.map(|(one, other)| percent(*one, *other).abs()).collect();
    let least = |times: &[f64]| {
        let places = (0..times.len()).min_by(|&a, &b| times[a].total_cmp(&times[b]));
        places.expect("invariant: there is at least one choice")
    };
    let (best, fastest) = (least(&predicted), least(measured));
    let choice = |place: usize| {
        let row = &rows[place];
        [row.p, row.sublists, row.buffers]
    };
    let [mean_error_percent, sd_error_percent, max_error_percent] = super::spread(&errors);
    ChoiceSummary {
        model,
        mean_error_percent,
        sd_error_percent,
        max_error_percent,
        predicted_best: choice(best),
        measured_best: choice(fastest),
        regret_percent: percent(measured[best], measured[fastest]),
    }
}
