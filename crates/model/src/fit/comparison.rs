//! Equation 11, the refined model and the laws of scaling, each by how well it predicts configurations
//! that it was not fitted to.
//!
//! A model with more values always meets the runs that it was fitted to better. So each configuration
//! is left out in turn, predicted from all others, and compared with what was measured there. Which of
//! them explains the runs is not said here: what is believed of times weighs all (see
//! [`posterior`](crate::posterior)).

use std::fmt;

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

/// All models beside each other.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Comparison {
    /// One for each model that could be fitted: the given ones first, then the laws.
    pub rows: Vec<Row>,
    /// The laws that these runs do not determine, with the reason.
    pub undetermined: Vec<(&'static str, String)>,
}

/// Sets the given models, equation 11 first, beside the laws of scaling.
///
/// # Errors
/// [`Error::OutOfRange`] where no model is given, or a prediction is missing or not finite;
/// [`Error::TooLittleData`] where a configuration took no time.
pub fn compare(runs: &Runs, given: &[LeftOut]) -> Result<Comparison> {
    check(runs, given)?;
    let mut models: Vec<LeftOut> = given.to_vec();
    let mut undetermined = Vec::new();
    for law in Law::ALL {
        match law.left_out(runs) {
            Ok(predictions_s) => {
                let (model, parameters) = (law.name().to_string(), law.parameters());
                models.push(LeftOut { model, parameters, predictions_s });
            }
            Err(Error::TooLittleData { found, .. }) => undetermined.push((law.name(), found)),
            Err(other) => return Err(other),
        }
    }
    let rows = models.iter().map(|model| row(model, &percentages(model, runs), runs)).collect();
    Ok(Comparison { undetermined, rows })
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

impl fmt::Display for Comparison {
    /// A table, and what could not be compared.
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
        Ok(())
    }
}

#[cfg(test)]
mod tests;
