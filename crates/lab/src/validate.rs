//! Predictions beside measurements, over any space.

pub mod machine;

use std::fmt;

use mmgp_apps::{Fingerprint, Ran};
use mmgp_base::table::records::{Maybe, Split, Validation};
use mmgp_base::units::Seconds;
use mmgp_base::{Error, Mapping, Result, Warning};
use mmgp_model::models::parameters::{Estimate, OverM};
use mmgp_model::models::refined::Refined;
use mmgp_model::models::{Parameters, TimeModel};
use serde::{Deserialize, Serialize};

use crate::space::Point;

/// What is known of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The time of the run \[s\].
    pub time_s: f64,
    /// The parts of the time, where they are known.
    pub split: Option<Split>,
    /// What it computed.
    pub fingerprint: Fingerprint,
}

impl From<Ran> for Outcome {
    fn from(ran: Ran) -> Self {
        let split = Some(ran.run.split());
        Self { time_s: ran.run.time.0, split, fingerprint: ran.fingerprint }
    }
}

impl Outcome {
    /// A run of which the time alone is known.
    pub fn lasting(time: Seconds) -> Self {
        Self { time_s: time.0, split: None, fingerprint: Fingerprint::default() }
    }

    fn mapping(&self) -> Mapping {
        let split = self.split.as_ref().expect("invariant: runs at mappings are split");
        Mapping::of(split.m, split.p)
    }
}

/// What is best: a point, or one of each group of points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Best {
    /// The best of all points.
    OfAll(Point),
    /// The best of each group, in their order.
    OfEach(Vec<Point>),
}

impl fmt::Display for Best {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = match self {
            Self::OfAll(point) => std::slice::from_ref(point),
            Self::OfEach(points) => points,
        };
        let points: Vec<String> = points.iter().map(Point::to_string).collect();
        f.write_str(&points.join(", "))
    }
}

/// How well a model met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelSummary {
    /// The name of the model: `mmgp` is equation 11, `refined` the refined model beside it.
    pub model: &'static str,
    /// Mean over the points of |predicted - measured|/measured \[%\].
    pub mean_error_percent: f64,
    /// Standard deviation of the same \[%\].
    pub sd_error_percent: f64,
    /// The largest of them \[%\].
    pub max_error_percent: f64,
    /// What it chooses.
    pub predicted_best: Best,
    /// What was measured to be the fastest.
    pub measured_best: Best,
    /// How much longer its choice takes than the fastest, the most of all groups \[%\].
    pub regret_percent: f64,
    /// The error without the terms that were put into the machine, where these are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_inputs: Option<WithoutInputs>,
}

/// The error of a model, of the time that is left without the terms that are inputs.
///
/// Where a machine is given what a term of the model means, such as the cost of collectives by
/// number of ranks or how much two hardware threads slow each other down, a micro-benchmark reads it
/// out again: that part of a prediction is right by construction, and makes the error look smaller.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WithoutInputs {
    /// Mean over the points of |predicted - measured| / (measured - inputs) \[%\].
    pub mean_error_percent: f64,
    /// The largest of them \[%\].
    pub max_error_percent: f64,
}

/// How well the models met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Points compared.
    pub configurations: usize,
    /// One entry for each model.
    pub models: Vec<ModelSummary>,
    /// What was said beforehand and came true, where anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
}

/// What a ranking said before anything ran, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Said {
    /// Runs whose times lie in their intervals of 95 %.
    pub within_intervals: usize,
    /// Runs that had one.
    pub intervals: usize,
    /// What the choice was said to cost at most, with 95 %, relative to the fastest \[%\].
    pub at_most_percent: f64,
    /// What it costs \[%\].
    pub cost_percent: f64,
}

/// What a model predicts of points.
pub(crate) struct TimesOf {
    /// The name of the model.
    pub model: &'static str,
    /// The time of each point \[s\].
    pub times: Vec<f64>,
    /// Whether it chooses the first point, rather than the one that it predicts to be the fastest.
    pub is_ranked: bool,
}

/// Sums up what a model predicts of points, of which there is at least one, beside what was measured;
/// within each of the groups that points are of.
pub(crate) fn summarize(
    points: &[Point],
    groups: Option<&[u32]>,
    of: &TimesOf,
    measured: &[f64],
) -> ModelSummary {
    let pairs = of.times.iter().zip(measured);
    let errors: Vec<f64> = pairs.map(|(one, other)| percent(*one, *other).abs()).collect();
    let [mean_error_percent, sd_error_percent, max_error_percent] = spread(&errors);
    let mut all: Vec<u32> = groups.unwrap_or(&[0]).to_vec();
    all.sort_unstable();
    all.dedup();
    let (mut chosen, mut fastest, mut regret_percent) = (vec![], vec![], 0.0_f64);
    for group in all {
        let places = || (0..points.len()).filter(|&it| groups.is_none_or(|of| of[it] == group));
        let least = |times: &[f64]| {
            let least = places().min_by(|&one, &other| times[one].total_cmp(&times[other]));
            least.expect("invariant: a group has points")
        };
        let choice = if of.is_ranked { places().next() } else { None };
        let choice = choice.unwrap_or_else(|| least(&of.times));
        let best = least(measured);
        chosen.push(points[choice].clone());
        fastest.push(points[best].clone());
        regret_percent = regret_percent.max(percent(measured[choice], measured[best]));
    }
    let best = |mut points: Vec<Point>| match groups {
        None => Best::OfAll(points.swap_remove(0)),
        Some(_) => Best::OfEach(points),
    };
    ModelSummary {
        model: of.model,
        mean_error_percent,
        sd_error_percent,
        max_error_percent,
        predicted_best: best(chosen),
        measured_best: best(fastest),
        regret_percent,
        without_inputs: None,
    }
}

/// Predictions beside measurements at (m, p), by m, then p.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// One for each configuration; with the refined model's where the parameters have its terms.
    pub rows: Vec<Validation>,
    /// How well each model met the measurements; equation 11 first.
    pub summary: Summary,
}

impl Comparison {
    /// Sums up rows, which must not be empty.
    pub fn new(rows: Vec<Validation>) -> Self {
        let points: Vec<Point> = rows.iter().map(|row| Point(vec![row.m, row.p])).collect();
        let measured: Vec<f64> = rows.iter().map(|row| row.measured_s).collect();
        let of = |model, rows: &[Validation]| {
            let times = rows.iter().map(|row| row.predicted_s).collect();
            summarize(&points, None, &TimesOf { model, times, is_ranked: false }, &measured)
        };
        let mut models = vec![of("mmgp", &rows)];
        models.extend(refined(&rows).map(|rows| of("refined", &rows)));
        let summary = Summary { configurations: rows.len(), models, said: None };
        Self { rows, summary }
    }
}

/// Sets the predictions beside the runs, which must not be empty.
pub fn compare(parameters: &Parameters, runs: &[Outcome]) -> Comparison {
    let refined = Refined::of(parameters);
    let row = |run: &Outcome| {
        let mapping = run.mapping();
        let refined_s = refined.as_ref().map(|model| model.time(mapping).0);
        let predicted_s = parameters.time(mapping).0;
        beside(mapping, run.time_s, predicted_s, Maybe(refined_s))
    };
    let mut comparison = Comparison::new(runs.iter().map(row).collect());
    for model in &mut comparison.summary.models {
        model.without_inputs = Some(match model.model {
            "mmgp" => without_inputs(parameters, Parameters::clone, runs),
            _ => without_inputs(parameters, |of| Refined::of(of).expect(KNOWN), runs),
        });
    }
    comparison
}

const KNOWN: &str = "invariant: the refined model has predicted these runs";

fn beside(mapping: Mapping, measured_s: f64, predicted_s: f64, refined_s: Maybe) -> Validation {
    let (m, p) = (mapping.m(), mapping.p());
    let error_percent = percent(predicted_s, measured_s);
    Validation { m, p, measured_s, predicted_s, error_percent, refined_s }
}

/// Measurements beside what the refined model predicts, where it does so for all.
pub fn refined(rows: &[Validation]) -> Option<Vec<Validation>> {
    let of_row = |row: &Validation| {
        let Validation { m, p, measured_s, refined_s, .. } = *row;
        refined_s.0.map(|predicted_s| beside(Mapping::of(m, p), measured_s, predicted_s, refined_s))
    };
    rows.iter().map(of_row).collect()
}

/// Parameters with collectives that cost nothing, and hardware threads that do not slow
/// each other down.
fn neutral(parameters: &Parameters) -> Parameters {
    let mut neutral = parameters.clone();
    neutral.terms.o_col_s = OverM::Constant(Estimate::exact(0.0));
    neutral.terms.alpha = OverM::Constant(Estimate::exact(1.0));
    neutral
}

/// The error of the model that `of` makes of parameters, without what its collectives and its alpha
/// add.
fn without_inputs<M: TimeModel>(
    parameters: &Parameters,
    of: impl Fn(&Parameters) -> M,
    runs: &[Outcome],
) -> WithoutInputs {
    let (with, without) = (of(parameters), of(&neutral(parameters)));
    let error = |run: &Outcome| {
        let (mapping, measured) = (run.mapping(), run.time_s);
        let predicted = with.time(mapping).0;
        let inputs = predicted - without.time(mapping).0;
        100.0 * (predicted - measured).abs() / (measured - inputs)
    };
    let errors: Vec<f64> = runs.iter().map(error).collect();
    WithoutInputs {
        mean_error_percent: errors.iter().sum::<f64>() / errors.len() as f64,
        max_error_percent: errors.iter().copied().fold(0.0, f64::max),
    }
}

/// How much more the one is than the other \[%\].
pub(crate) fn percent(one: f64, other: f64) -> f64 {
    100.0 * (one - other) / other
}

/// Mean, standard deviation and maximum of errors, of which there is at least one.
fn spread(errors: &[f64]) -> [f64; 3] {
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let squares: f64 = errors.iter().map(|error| (error - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    [mean, deviation, errors.iter().copied().fold(0.0, f64::max)]
}

/// How much more or less than the parameters a row may predict whose predictions are theirs: files have
/// all digits.
const SAME: f64 = 1e-9;

/// Refuses rows whose predictions are those of other parameters.
///
/// # Errors
/// [`Error::OutOfRange`] with the first of them.
pub fn check_same_parameters(rows: &[Validation], parameters: &Parameters) -> Result<()> {
    for row in rows {
        let predicted_s = parameters.time(Mapping::new(row.m, row.p)?).0;
        let is_same = (row.predicted_s - predicted_s).abs() <= SAME * predicted_s;
        if !is_same {
            return Err(Error::out_of_range(
                "validation",
                format!(
                    "{} predicted at ({}, {}), where these parameters, {}, predict {}",
                    Seconds(row.predicted_s),
                    row.m,
                    row.p,
                    parameters.name,
                    Seconds(predicted_s)
                ),
                "a validation of the same parameters",
            ));
        }
    }
    Ok(())
}

/// Whether all runs did the same work, by their fingerprints: a warning for each that differs from
/// the first.
pub fn check_same_result(runs: &[Outcome]) -> Vec<Warning> {
    let Some(first) = runs.first() else { return Vec::new() };
    let warning = |run: &Outcome| {
        let difference = run.fingerprint.differs_from(&first.fingerprint)?;
        let what = difference.describe(run.mapping(), first.mapping());
        Some(Warning::Note(format!("{what}: their times are not of the same work")))
    };
    runs.iter().filter_map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_apps::run::Run;

    fn row(m: u32, p: u32, measured_s: f64, predicted_s: f64) -> Validation {
        beside(Mapping::of(m, p), measured_s, predicted_s, Maybe(None))
    }

    fn ran(mapping: Mapping, log_likelihood: f64) -> Outcome {
        let fingerprint = Fingerprint::default().within(1e-9, "ln likelihood", log_likelihood);
        let time = Seconds(1.0 / mapping.apus() as f64);
        Ran::new(Run::lasting(mapping, time), fingerprint, ()).into()
    }

    #[test]
    fn a_run_that_ended_otherwise_is_a_warning() {
        let runs = [ran(Mapping::SEQUENTIAL, -5.5), ran(Mapping::of(2, 1), -5.25)];
        let warnings: Vec<String> =
            check_same_result(&runs).iter().map(|it| it.to_string()).collect();
        let expected = "(2, 1) ended with ln likelihood -5.25 where (1, 1) ended with -5.5: their \
                        times are not of the same work";
        assert_eq!(warnings, [expected]);
    }

    #[test]
    fn predictions_of_other_parameters_are_refused() {
        let parameters = mmgp_model::models::published("pbpi-qs20").unwrap();
        let at = |m, p| parameters.time(Mapping::of(m, p)).0;
        let mut rows = [row(1, 1, 400.0, at(1, 1)), row(4, 4, 30.0, at(4, 4))];
        check_same_parameters(&rows, &parameters).unwrap();
        rows[1].predicted_s *= 1.0 + 1e-6;
        let error = check_same_parameters(&rows, &parameters).unwrap_err().to_string();
        assert!(error.starts_with("validation: found") && error.contains("at (4, 4)"), "{error}");
    }

    #[test]
    fn a_summary_by_hand() {
        // Errors 10, 20 and 0 %; the predicted best (1, 2) takes 5 where (2, 1) takes 4.
        let rows = [row(1, 1, 10.0, 11.0), row(1, 2, 5.0, 4.0), row(2, 1, 4.0, 4.5)];
        let of = |rows: &[Validation]| Comparison::new(rows.to_vec()).summary.models.remove(0);
        let summary = of(&rows[..2]);
        assert_eq!((summary.mean_error_percent, summary.max_error_percent), (15.0, 20.0));
        assert!((summary.sd_error_percent - 50_f64.sqrt()).abs() < 1e-12);
        let summary = of(&rows);
        let best = [&summary.predicted_best, &summary.measured_best].map(Best::to_string);
        assert_eq!(best, ["(1, 2)", "(2, 1)"]);
        assert!((summary.regret_percent - 25.0).abs() < 1e-12);
    }

    /// A summary of points of one dimension, as JSON.
    fn summary(groups: Option<&[u32]>, of: [f64; 4], is_ranked: bool) -> serde_json::Value {
        let points = [1, 2, 3, 4].map(|value| Point(vec![value]));
        let times = TimesOf { model: "model", times: of.to_vec(), is_ranked };
        let summary = summarize(&points, groups, &times, &[2.5, 2.0, 4.0, 5.0]);
        serde_json::to_value(summary).expect("a summary is JSON")
    }

    #[test]
    fn the_choice_is_the_first_though_another_is_predicted_to_be_as_fast() {
        let ranked = summary(None, [2.0, 2.0, 5.0, 5.0], true);
        assert_eq!(
            (&ranked["predicted_best"], &ranked["measured_best"]),
            (&[1].into(), &[2].into())
        );
        assert_eq!(ranked["regret_percent"], 25.0);
        let least = summary(None, [3.0, 2.0, 5.0, 5.0], false);
        assert_eq!(
            (&least["predicted_best"], &least["regret_percent"]),
            (&[2].into(), &0.0.into())
        );
        assert_eq!(
            (&least["mean_error_percent"], &least["max_error_percent"]),
            (&11.25.into(), &25.0.into())
        );
    }

    #[test]
    fn regret_is_the_most_of_those_of_groups() {
        // Of the second group the choice is a quarter slower than the best, of the first it is the best.
        let grouped = summary(Some(&[8, 8, 4, 4]), [1.0, 2.0, 4.0, 5.0], true);
        let best = |of: [u32; 2]| serde_json::json!([[of[0]], [of[1]]]);
        assert_eq!(grouped["predicted_best"], best([3, 1]));
        assert_eq!(grouped["measured_best"], best([3, 2]));
        assert_eq!(
            (&grouped["regret_percent"], &grouped["max_error_percent"]),
            (&25.0.into(), &60.0.into())
        );
        assert_eq!(grouped["mean_error_percent"], 15.0);
    }

    #[test]
    fn the_refined_model_has_a_summary_of_its_own_where_it_predicts_every_run() {
        let mut rows = vec![row(1, 1, 10.0, 11.0), row(1, 2, 5.0, 4.0)];
        rows[0].refined_s = Maybe(Some(10.5));
        assert_eq!(refined(&rows), None);
        assert_eq!(Comparison::new(rows.clone()).summary.models.len(), 1);
        rows[1].refined_s = Maybe(Some(5.0));
        let models = Comparison::new(rows).summary.models;
        assert_eq!((models[0].model, models[0].mean_error_percent), ("mmgp", 15.0));
        assert_eq!((models[1].model, models[1].mean_error_percent), ("refined", 2.5));
    }
}
