//! The fit of a case's files.

use mmgp::error::{Error, Result as Read};
use mmgp::fit::{FileRows, FitResult, Inputs, Runs, Settings, fit};
use mmgp::models::Parameters;
use mmgp::table::Source;
use mmgp::table::csv::Record;

use crate::target::{Input, refused};

/// Fits what there is of a program; `None` where a file or the fit is refused.
pub fn fitted(input: &Input, truth: &Parameters) -> Result<Option<FitResult>, String> {
    let inputs = match inputs(input) {
        Ok(inputs) => inputs,
        Err((error, file)) => {
            let source = input.part(file).expect("invariant: a part that was read");
            return refused(&error, &source).map(|_| None);
        }
    };
    let settings = Settings::new("case", truth.decomposition, truth.apus);
    match fit(&inputs, &settings) {
        Ok(fitted) => Ok(Some(fitted)),
        Err(error) => refused(&error, &Source::new("case", "")).map(|_| None),
    }
}

/// All files; what is wrong and in which.
fn inputs(input: &Input) -> Result<Inputs, (Error, &'static str)> {
    let runs = input.part("runs.csv").map(|source| Runs::read(&source));
    let runs = runs.transpose().map_err(|error| (error, "runs.csv"))?;
    Ok(Inputs {
        alpha: table(input, "alpha.csv")?,
        offload: table(input, "offload.csv")?,
        context_switch: table(input, "context_switch.csv")?,
        collective: table(input, "collective.csv")?,
        profile: table(input, "profile.csv")?,
        runs: runs.map(|(runs, _)| runs),
        ..Inputs::default()
    })
}

fn table<R: Record>(
    input: &Input,
    name: &'static str,
) -> Result<Option<FileRows<R>>, (Error, &'static str)> {
    let read: Option<Read<_>> = input.part(name).map(|source| FileRows::read(&source));
    let read = read.transpose().map_err(|error| (error, name))?;
    Ok(read.map(|(rows, _)| rows))
}
