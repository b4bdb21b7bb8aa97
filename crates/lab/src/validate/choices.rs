//! What was chosen of p, sublists and buffers beside what ran.

use serde::Serialize;

use super::percent;
use mmgp_base::table::records::{Maybe, ThreadChoice, ThreadRun};
use mmgp_model::models::threads::NAME;

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
    /// What it chooses: p, sublists, buffers.
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

/// Sets predictions, the choice first and at least one, beside the runs of all of them.
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
        summarize(NAME, (&rows, by_model), &measured, 0),
        summarize("formula", (&rows, by_formula), &measured, least(rows.iter().map(by_formula))),
    ];
    let summaries = ChoiceSummaries { configurations: rows.len(), models };
    (rows, summaries)
}

fn summarize(
    model: &'static str,
    (rows, predicted): (&[ThreadChoice], impl Fn(&ThreadChoice) -> f64),
    measured: &[f64],
    best: usize,
) -> ChoiceSummary {
    let predicted: Vec<f64> = rows.iter().map(predicted).collect();
    let pairs = predicted.iter().zip(measured);
    let errors: Vec<f64> = pairs.map(|(one, other)| percent(*one, *other).abs()).collect();
    let fastest = least(measured.iter().copied());
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

/// The place of the least of times, of which there is at least one.
fn least(times: impl Iterator<Item = f64>) -> usize {
    let least = times.enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
    least.map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_by_hand() {
        let row = |buffers, time_s, formula_s| ThreadChoice {
            rank: 1,
            p: 8,
            sublists: 64,
            buffers,
            time_s,
            low_s: 0.0,
            high_s: 1.0,
            formula_s,
            measured_s: Maybe(None),
            error_percent: Maybe(None),
        };
        let run = |buffers, time_s| ThreadRun {
            heads: "random".into(),
            p: 8,
            sublists: 64,
            buffers,
            nodes: 100,
            repetition: 1,
            time_s,
            step_1_s: 0.0,
            step_2_s: time_s,
            step_3_s: 0.0,
            step_4_s: 0.0,
            load_imbalance: 1.0,
        };
        // The first is the choice, though another is predicted to be as fast; that one is.
        let rows = [row(16, 4.0, 3.0), row(8, 4.0, 2.0)];
        let (rows, summaries) = compare_choices(&rows, &[run(8, 4.0), run(16, 5.0)]);
        assert_eq!(rows[0].error_percent, Maybe(Some(-20.0)));
        let [model, formula] = &summaries.models[..] else { panic!("there are two models") };
        assert_eq!((model.mean_error_percent, model.max_error_percent), (10.0, 20.0));
        assert_eq!((model.predicted_best, model.measured_best), ([8, 64, 16], [8, 64, 8]));
        assert_eq!((model.regret_percent, formula.regret_percent), (25.0, 0.0));
        assert_eq!(formula.mean_error_percent, 45.0);
    }
}
