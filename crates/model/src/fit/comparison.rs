//! Which model to use: equation 11, the refined model and the laws of scaling, each by how well it
//! predicts configurations that it was not fitted to.
//!
//! A model with more values always meets the runs that it was fitted to better. So each configuration
//! is left out in turn, predicted from all others, and compared with what was measured there.
//!
//! Whether a smaller model does as well is a paired question: let `d` be the difference of both
//! models' |relative error| at a configuration. The smaller one is taken to predict as well where the
//! mean of `d` is at most one standard error of that mean above 0, the one-standard-error rule of
//! Breiman, Friedman, Olshen and Stone (Classification and Regression Trees, 1984), paired; Student's
//! one-sided probability of so large a mean by chance stands beside it. Configurations share the runs
//! that they are predicted from, so this probability is a guide and no more.

use std::fmt;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::laws::Law;
use super::runs::Runs;
use mmgp_base::error::{Error, Result};

/// A model with its predictions of configurations left out.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// Its name.
    pub model: String,
    /// Values that it has been given: fitted to the runs or measured.
    pub parameters: usize,
    /// For each of the runs' configurations, in their order, the time predicted from the others
    /// \[s\].
    pub predictions_s: Vec<f64>,
}

/// How well a model predicts what it was not fitted to.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Row {
    /// Its name.
    pub model: String,
    /// Values that it has been given.
    pub parameters: usize,
    /// Mean over the configurations of |predicted - measured|/measured \[%\].
    pub mean_error_percent: f64,
    /// The largest of these \[%\].
    pub max_error_percent: f64,
    /// The configuration that has it.
    pub worst: (u32, u32),
}

/// A smaller model that predicts as well.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Smaller {
    /// Its name.
    pub model: String,
    /// The model that it is compared with.
    pub than: String,
    /// Mean over the configurations of its |relative error| less the larger model's \[%\].
    pub difference_percent: f64,
    /// The standard error of that mean \[%\].
    pub std_error_percent: f64,
    /// Probability of so large a mean or a larger one, were both models as good.
    pub probability: f64,
    /// Whether it cannot tell configurations with the same m\*p apart.
    pub knows_only_the_product: bool,
}

/// All models beside each other.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Comparison {
    /// One for each model that could be fitted: the given ones first, then the laws.
    pub rows: Vec<Row>,
    /// The smallest model that predicts as well as the first of the rows, if any does.
    pub smaller: Option<Smaller>,
    /// The laws that these runs do not determine, with the reason.
    pub undetermined: Vec<(&'static str, String)>,
}

/// Fewer configurations tell nothing of a standard error.
const FEWEST_CONFIGURATIONS: usize = 3;

/// Sets the given models, equation 11 first, beside the laws of scaling.
///
/// # Errors
/// [`Error::OutOfRange`] where no model is given, or a prediction is missing or not finite;
/// [`Error::TooLittleData`] where a configuration took no time.
pub fn compare(runs: &Runs, given: &[LeftOut]) -> Result<Comparison> {
    check(runs, given)?;
    let mut models: Vec<(LeftOut, bool)> = given.iter().map(|it| (it.clone(), false)).collect();
    let mut undetermined = Vec::new();
    for law in Law::ALL {
        match law.left_out(runs) {
            Ok(predictions_s) => {
                let (model, parameters) = (law.name().to_string(), law.parameters());
                let left_out = LeftOut { model, parameters, predictions_s };
                models.push((left_out, law.knows_only_the_product()));
            }
            Err(Error::TooLittleData { found, .. }) => undetermined.push((law.name(), found)),
            Err(other) => return Err(other),
        }
    }
    let errors: Vec<Vec<f64>> = models.iter().map(|(model, _)| percentages(model, runs)).collect();
    let rows: Vec<Row> =
        models.iter().zip(&errors).map(|((model, _), errors)| row(model, errors, runs)).collect();
    let larger = &rows[0];
    let as_good = (1..rows.len())
        .filter(|&index| rows[index].parameters < larger.parameters)
        .filter_map(|index| {
            let pair = Pair::of(&errors[index], &errors[0])?;
            let (row, knows_only_the_product) = (&rows[index], models[index].1);
            (pair.mean <= pair.std_error).then_some((row, pair, knows_only_the_product))
        });
    let smallest = as_good.min_by(|(one, ..), (other, ..)| {
        let by_error = || one.mean_error_percent.total_cmp(&other.mean_error_percent);
        one.parameters.cmp(&other.parameters).then_with(by_error)
    });
    let smaller = smallest.map(|(row, pair, knows_only_the_product)| Smaller {
        model: row.model.clone(),
        than: larger.model.clone(),
        difference_percent: pair.mean,
        std_error_percent: pair.std_error,
        probability: pair.probability,
        knows_only_the_product,
    });
    Ok(Comparison { smaller, undetermined, rows })
}

fn check(runs: &Runs, given: &[LeftOut]) -> Result<()> {
    let out_of_range =
        |name, found, expected: String| Err(Error::OutOfRange { name, found, expected });
    if given.is_empty() || runs.cells.is_empty() {
        let expected = "at least one model and one configuration".into();
        return out_of_range("a comparison", "none".into(), expected);
    }
    for model in given {
        let (found, expected) = (model.predictions_s.len(), runs.cells.len());
        if found != expected {
            return out_of_range("predictions", found.to_string(), expected.to_string());
        }
        if let Some(time) = model.predictions_s.iter().find(|time| !time.is_finite()) {
            return out_of_range("a prediction", time.to_string(), "a finite time".into());
        }
    }
    Ok(())
}

/// |predicted - measured|/measured \[%\] at each configuration.
fn percentages(model: &LeftOut, runs: &Runs) -> Vec<f64> {
    let pairs = model.predictions_s.iter().zip(&runs.cells);
    pairs.map(|(predicted, cell)| 100.0 * (predicted / cell.mean_s - 1.0).abs()).collect()
}

fn row(model: &LeftOut, errors: &[f64], runs: &Runs) -> Row {
    let worst = (0..errors.len())
        .max_by(|&one, &other| errors[one].total_cmp(&errors[other]).then(other.cmp(&one)))
        .expect("invariant: there are configurations");
    Row {
        model: model.model.clone(),
        parameters: model.parameters,
        mean_error_percent: errors.iter().sum::<f64>() / errors.len() as f64,
        max_error_percent: errors[worst],
        worst: (runs.cells[worst].m, runs.cells[worst].p),
    }
}

/// Two models at the same configurations.
struct Pair {
    /// Of the differences.
    mean: f64,
    std_error: f64,
    /// Of a mean this large or larger, were there none.
    probability: f64,
}

impl Pair {
    /// `None` for fewer configurations than tell anything.
    fn of(smaller: &[f64], larger: &[f64]) -> Option<Self> {
        if smaller.len() < FEWEST_CONFIGURATIONS {
            return None;
        }
        let count = smaller.len() as f64;
        let differences: Vec<f64> = smaller.iter().zip(larger).map(|(s, l)| s - l).collect();
        let mean = differences.iter().sum::<f64>() / count;
        let squares: f64 = differences.iter().map(|each| (each - mean).powi(2)).sum();
        let std_error = (squares / (count - 1.0) / count).sqrt();
        let probability = if std_error > 0.0 {
            let student = StudentsT::new(0.0, 1.0, count - 1.0);
            1.0 - student.expect("invariant: at least two degrees").cdf(mean / std_error)
        } else {
            f64::from(u8::from(mean <= 0.0))
        };
        Some(Self { mean, std_error, probability })
    }
}

impl fmt::Display for Comparison {
    /// A table, the verdict below it, and what could not be compared.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width =
            self.rows.iter().map(|row| row.model.len()).max().unwrap_or(0).max("model".len());
        writeln!(f, "Each configuration predicted from all others:")?;
        writeln!(f, "{:width$}  values  mean error [%]  largest [%]  at", "model")?;
        for row in &self.rows {
            let ((m, p), model) = (row.worst, &row.model);
            writeln!(
                f,
                "{model:width$}  {:>6}  {:>14.2}  {:>11.2}  ({m}, {p})",
                row.parameters, row.mean_error_percent, row.max_error_percent
            )?;
        }
        for (law, reason) in &self.undetermined {
            writeln!(f, "{law}: {reason}")?;
        }
        self.verdict(f)
    }
}

/// An error below this part of another is clearly less.
const CLEARLY: f64 = 2.0 / 3.0;

impl Comparison {
    /// The model that predicts left-out configurations best, where that is clearly better than the
    /// first does.
    pub fn clearly_better(&self) -> Option<&Row> {
        let first = self.rows.first()?;
        let error = |row: &Row| row.mean_error_percent;
        let best = self.rows.iter().min_by(|one, other| error(one).total_cmp(&error(other)))?;
        let is_clear = error(best) < CLEARLY * error(first) && error(first) - error(best) > 1.0;
        is_clear.then_some(best)
    }

    fn verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |name: &str| self.rows.iter().find(|row| row.model == name);
        let smaller = self.smaller.as_ref();
        let pair = smaller.and_then(|it| named(&it.model).zip(named(&it.than)));
        let (Some(test), Some((small, large))) = (smaller, pair) else {
            return match self.rows.first() {
                Some(first) => {
                    if let Some(better) = self.clearly_better() {
                        return writeln!(
                            f,
                            "{} predicts left-out configurations better than {}: {:.2} % against \
                             {:.2} %.",
                            better.model,
                            first.model,
                            better.mean_error_percent,
                            first.mean_error_percent
                        );
                    }
                    writeln!(
                        f,
                        "No smaller model predicts left-out configurations as well as {}.",
                        first.model
                    )
                }
                None => Ok(()),
            };
        };
        writeln!(
            f,
            "A smaller model should be used: {} predicts left-out configurations as well ({:.2} % \
             against {:.2} %) with {} values instead of {}\n(paired difference {:+.2} +- {:.2} %, \
             probability by chance {:.2}).",
            small.model,
            small.mean_error_percent,
            large.mean_error_percent,
            small.parameters,
            large.parameters,
            test.difference_percent,
            test.std_error_percent,
            test.probability
        )?;
        if test.knows_only_the_product {
            writeln!(
                f,
                "It cannot choose between configurations with the same m*p, nor far beyond these runs."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
