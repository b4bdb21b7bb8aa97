//! Errors of the library as exceptions of the package.

use mmgp::Error;
use pyo3::prelude::*;

/// The exception of the package that says what this error does; it knows which one.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let kind = match error {
        Error::Read { .. } | Error::Write { .. } => "system",
        Error::InUse { .. } => "in use",
        Error::Program { .. } | Error::Plot(_) | Error::Fit(_) => "failed",
        _ => "input",
    };
    let (text, answers) = match error {
        Error::Ambiguous { file, found, answers } => {
            let answers = answers.iter().map(|it| (it.key, &*it.value, &*it.meaning));
            (format!("{file}: {found}"), answers.collect())
        }
        _ => (error.to_string(), Vec::new()),
    };
    let exception = || {
        let module = py.import("mbyp._errors")?;
        module.call_method1("of", (kind, text, answers))
    };
    exception().map_or_else(|problem| problem, PyErr::from_value)
}
