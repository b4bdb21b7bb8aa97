//! Predictions beside measurements: the only place in the library where the model and the
//! emulated machine meet.

pub mod choices;
mod counts;
mod inputs;
pub mod machine;
pub mod wavefronts;

use serde::{Deserialize, Serialize, Serializer};

use mmgp_apps::{Fingerprint, Ran};
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::records::{Maybe, Split, Validation};
use mmgp_base::units::Seconds;
use mmgp_model::models::refined::Refined;
use mmgp_model::models::{Parameters, TimeModel};

pub use counts::counts;
pub use inputs::WithoutInputs;

/// What a validation knows of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its time, and where that went.
    pub split: Split,
    /// What it computed.
    pub fingerprint: Fingerprint,
}

impl From<Ran> for Outcome {
    fn from(ran: Ran) -> Self {
        Self { split: ran.run.split(), fingerprint: ran.fingerprint }
    }
}

impl Outcome {
    fn mapping(&self) -> Mapping {
        Mapping::of(self.split.m, self.split.p)
    }
}

/// How well a model met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelSummary {
    /// Its name: `mmgp` is equation 11, `refined` the refined model beside it.
    pub model: &'static str,
    /// Mean over the configurations of |predicted - measured|/measured [%].
    pub mean_error_percent: f64,
    /// Standard deviation of the same [%].
    pub sd_error_percent: f64,
    /// The largest of them [%].
    pub max_error_percent: f64,
    /// The configuration predicted to be the fastest.
    #[serde(serialize_with = "pair")]
    pub predicted_best: Mapping,
    /// The configuration measured to be the fastest.
    #[serde(serialize_with = "pair")]
    pub measured_best: Mapping,
    /// How much longer the predicted best takes than the measured best [%].
    pub regret_percent: f64,
    /// The error without the terms that were put into the machine; none where they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_inputs: Option<WithoutInputs>,
}

/// As a list of m and p.
fn pair<S: Serializer>(mapping: &Mapping, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    (mapping.m(), mapping.p()).serialize(serializer)
}

/// How well the models met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Configurations compared.
    pub configurations: usize,
    /// One entry for each model.
    pub models: Vec<ModelSummary>,
}

/// Predictions beside measurements, by m, then p.
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
        let mut models = vec![summarize("mmgp", &rows)];
        models.extend(refined(&rows).map(|rows| summarize("refined", &rows)));
        let summary = Summary { configurations: rows.len(), models };
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
        beside(mapping, run.split.time_s, predicted_s, Maybe(refined_s))
    };
    let mut comparison = Comparison::new(runs.iter().map(row).collect());
    for model in &mut comparison.summary.models {
        model.without_inputs = Some(match model.model {
            "mmgp" => inputs::without_inputs(parameters, Parameters::clone, runs),
            _ => inputs::without_inputs(parameters, |of| Refined::of(of).expect(KNOWN), runs),
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

/// The same measurements beside what the refined model predicts, where it does so for all.
pub fn refined(rows: &[Validation]) -> Option<Vec<Validation>> {
    let of_row = |row: &Validation| {
        let Validation { m, p, measured_s, refined_s, .. } = *row;
        refined_s.0.map(|predicted_s| beside(Mapping::of(m, p), measured_s, predicted_s, refined_s))
    };
    rows.iter().map(of_row).collect()
}

fn summarize(model: &'static str, rows: &[Validation]) -> ModelSummary {
    let errors: Vec<f64> = rows.iter().map(|row| row.error_percent.abs()).collect();
    let [mean_error_percent, sd_error_percent, max_error_percent] = spread(&errors);
    let best = |time: fn(&Validation) -> f64| {
        rows.iter()
            .min_by(|a, b| time(a).total_cmp(&time(b)))
            .expect("invariant: at least one configuration was run")
    };
    let (predicted, measured) = (best(|row| row.predicted_s), best(|row| row.measured_s));
    ModelSummary {
        model,
        mean_error_percent,
        sd_error_percent,
        max_error_percent,
        predicted_best: Mapping::of(predicted.m, predicted.p),
        measured_best: Mapping::of(measured.m, measured.p),
        regret_percent: percent(predicted.measured_s, measured.measured_s),
        without_inputs: None,
    }
}

/// How much more the one is than the other [%].
fn percent(one: f64, other: f64) -> f64 {
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
        let summary = summarize("mmgp", &rows[..2]);
        assert_eq!((summary.mean_error_percent, summary.max_error_percent), (15.0, 20.0));
        assert!((summary.sd_error_percent - 50_f64.sqrt()).abs() < 1e-12);
        let summary = summarize("mmgp", &rows);
        let best = (Mapping::of(1, 2), Mapping::of(2, 1));
        assert_eq!((summary.predicted_best, summary.measured_best), best);
        assert!((summary.regret_percent - 25.0).abs() < 1e-12);
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
