//! What is left of an error when the terms are left out that were put into the machine.
//!
//! Where a machine is given what a term of the model means, such as the cost of collectives by
//! number of ranks or how much two hardware threads slow each other down, a micro-benchmark reads it
//! out again: that part of a prediction is right by construction, and makes the error look smaller.
//! So the error is also set against the time without it.

use serde::Serialize;

use super::Outcome;
use mmgp_model::models::parameters::{Estimate, OverM};
use mmgp_model::models::{Parameters, TimeModel};

/// The error of a model, of the time that is left without the terms that are inputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WithoutInputs {
    /// Mean over the configurations of |predicted - measured| / (measured - inputs) \[%\].
    pub mean_error_percent: f64,
    /// The largest of them \[%\].
    pub max_error_percent: f64,
}

/// The same parameters with collectives that cost nothing, and hardware threads that do not slow
/// each other down.
fn neutral(parameters: &Parameters) -> Parameters {
    let mut neutral = parameters.clone();
    neutral.terms.o_col_s = OverM::Constant(Estimate::exact(0.0));
    neutral.terms.alpha = OverM::Constant(Estimate::exact(1.0));
    neutral
}

/// The error of the model that `of` makes of parameters, without what its collectives and its alpha
/// add.
pub(super) fn without_inputs<M: TimeModel>(
    parameters: &Parameters,
    of: impl Fn(&Parameters) -> M,
    runs: &[Outcome],
) -> WithoutInputs {
    let (with, without) = (of(parameters), of(&neutral(parameters)));
    let error = |run: &Outcome| {
        let (mapping, measured) = (run.mapping(), run.split.time_s);
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
