//! Predictions beside measurements: the only place in the library where the model and the
//! emulated machine meet.

mod counts;
pub mod machine;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

use crate::Mapping;
use crate::apps::{App, Outcome};
use crate::cell::KernelTiming;
use crate::error::{Result, Warning};
use crate::machine::Machine;
use crate::model::refined::Refined;
use crate::model::{Parameters, TimeModel};
use crate::solve;
use crate::table::records::{MaybeSeconds, Validation};

pub use counts::counts;

/// Relative difference of log likelihoods that the order of additions explains.
const SAME_LIKELIHOOD: f64 = 1e-9;

/// Runs the program at every feasible (m, p) of the machine, on so many threads of this computer;
/// `finished` is called after each. The outcomes come by m, then p, whatever the threads do.
///
/// # Errors
/// The first error, in the same order.
pub fn sweep(
    app: &App,
    machine: &Machine,
    threads: usize,
    finished: &(dyn Fn() + Sync),
) -> Result<Vec<Outcome>> {
    let feasible = solve::feasible(machine.layout.spes());
    let configurations: Vec<(u32, u32)> = feasible.map(|it| (it.m(), it.p())).collect();
    let run = |&configuration: &(u32, u32)| {
        let outcome = app.emulate(machine, configuration, KernelTiming::Cached, 0.0);
        finished();
        outcome
    };
    on_threads(&configurations, threads, &run)
}

/// Runs `job` for each item on so many threads of this computer; the results stand in the order of
/// the items, whatever the threads do.
///
/// # Errors
/// The first error, in the same order.
fn on_threads<I: Sync, T: Send>(
    items: &[I],
    threads: usize,
    job: &(dyn Fn(&I) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<T>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()).max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    *lock(&results[index]) = Some(job(item));
                }
            });
        }
    });
    let filled = "invariant: each job was run";
    results.iter().map(|result| lock(result).take().expect(filled)).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// How well a model met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    pub predicted_best: (u32, u32),
    /// The configuration measured to be the fastest.
    pub measured_best: (u32, u32),
    /// How much longer the predicted best takes than the measured best [%].
    pub regret_percent: f64,
}

/// How well the models met the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Configurations compared.
    pub configurations: usize,
    /// One entry for each model.
    pub models: Vec<ModelSummary>,
}

/// Predictions beside measurements, by m, then p.
#[derive(Debug, Clone, PartialEq)]
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

/// Sets the predictions beside the outcomes, which must not be empty.
pub fn compare(parameters: &Parameters, outcomes: &[Outcome]) -> Comparison {
    let refined = Refined::of(parameters);
    let row = |outcome: &Outcome| {
        let (m, p) = (outcome.run.m, outcome.run.p);
        let mapping = Mapping::of(m, p);
        let refined_s = refined.as_ref().map(|model| model.time(mapping).0);
        beside((m, p), outcome.run.time.0, parameters.time(mapping).0, MaybeSeconds(refined_s))
    };
    Comparison::new(outcomes.iter().map(row).collect())
}

fn beside(
    (m, p): (u32, u32),
    measured_s: f64,
    predicted_s: f64,
    refined_s: MaybeSeconds,
) -> Validation {
    let error_percent = 100.0 * (predicted_s - measured_s) / measured_s;
    Validation { m, p, measured_s, predicted_s, error_percent, refined_s }
}

/// The same measurements beside what the refined model predicts, where it does so for all.
pub fn refined(rows: &[Validation]) -> Option<Vec<Validation>> {
    let of_row = |row: &Validation| {
        let Validation { m, p, measured_s, refined_s, .. } = *row;
        refined_s.0.map(|predicted_s| beside((m, p), measured_s, predicted_s, refined_s))
    };
    rows.iter().map(of_row).collect()
}

fn summarize(model: &'static str, rows: &[Validation]) -> ModelSummary {
    let errors: Vec<f64> = rows.iter().map(|row| row.error_percent.abs()).collect();
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let squares: f64 = errors.iter().map(|error| (error - mean).powi(2)).sum();
    let best = |time: fn(&Validation) -> f64| {
        rows.iter()
            .min_by(|a, b| time(a).total_cmp(&time(b)))
            .expect("invariant: at least one configuration was run")
    };
    let (predicted, measured) = (best(|row| row.predicted_s), best(|row| row.measured_s));
    ModelSummary {
        model,
        mean_error_percent: mean,
        sd_error_percent: (squares / (count - 1.0).max(1.0)).sqrt(),
        max_error_percent: errors.iter().copied().fold(0.0, f64::max),
        predicted_best: (predicted.m, predicted.p),
        measured_best: (measured.m, measured.p),
        regret_percent: 100.0 * (predicted.measured_s / measured.measured_s - 1.0),
    }
}

/// Whether all configurations computed the same: the same proposals accepted, the same log
/// likelihood of each task, but for the order of additions.
pub fn check_same_result(outcomes: &[Outcome]) -> Vec<Warning> {
    let Some(first) = outcomes.first() else { return Vec::new() };
    let far = |&(one, other): &(f64, f64)| (one - other).abs() > SAME_LIKELIHOOD * other.abs();
    // The two likelihoods to name.
    let difference = |outcome: &Outcome| {
        let mut pairs = log_likelihoods(outcome).into_iter().zip(log_likelihoods(first));
        let accepts_others = outcome.accepted != first.accepted;
        if accepts_others { pairs.next() } else { pairs.find(far) }
    };
    let warning = |outcome: &Outcome| {
        let (m, p) = (outcome.run.m, outcome.run.p);
        let (one, other) = difference(outcome)?;
        Some(Warning::Note(format!(
            "({m}, {p}) ended with ln likelihood {one} where (1, 1) ended with {other}: their \
             times are not of the same work"
        )))
    };
    outcomes.iter().filter_map(warning).collect()
}

/// That of the whole, where it has one, and of each task where there are any.
fn log_likelihoods(outcome: &Outcome) -> Vec<f64> {
    let found = outcome.findings.iter().flat_map(|findings| &findings.found);
    let tasks = found.map(|found| found.log_likelihood);
    outcome.log_likelihood.into_iter().chain(tasks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(m: u32, p: u32, measured_s: f64, predicted_s: f64) -> Validation {
        beside((m, p), measured_s, predicted_s, MaybeSeconds(None))
    }

    #[test]
    fn a_summary_by_hand() {
        // Errors 10, 20 and 0 %; the predicted best (1, 2) takes 5 where (2, 1) takes 4.
        let rows = [row(1, 1, 10.0, 11.0), row(1, 2, 5.0, 4.0), row(2, 1, 4.0, 4.5)];
        let summary = summarize("mmgp", &rows[..2]);
        assert_eq!((summary.mean_error_percent, summary.max_error_percent), (15.0, 20.0));
        assert!((summary.sd_error_percent - 50_f64.sqrt()).abs() < 1e-12);
        let summary = summarize("mmgp", &rows);
        assert_eq!((summary.predicted_best, summary.measured_best), ((1, 2), (2, 1)));
        assert!((summary.regret_percent - 25.0).abs() < 1e-12);
    }

    #[test]
    fn the_refined_model_has_a_summary_of_its_own_where_it_predicts_every_run() {
        let mut rows = vec![row(1, 1, 10.0, 11.0), row(1, 2, 5.0, 4.0)];
        rows[0].refined_s = MaybeSeconds(Some(10.5));
        assert_eq!(refined(&rows), None);
        assert_eq!(Comparison::new(rows.clone()).summary.models.len(), 1);
        rows[1].refined_s = MaybeSeconds(Some(5.0));
        let models = Comparison::new(rows).summary.models;
        assert_eq!((models[0].model, models[0].mean_error_percent), ("mmgp", 15.0));
        assert_eq!((models[1].model, models[1].mean_error_percent), ("refined", 2.5));
    }
}
