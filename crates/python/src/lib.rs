//! The extension module `mbyp._mbyp`: `fit` and `predict` for Python.
//!
//! Questions are asked in the words of the command line (`mmgp::cli::library`) and answered as the JSON that
//! it prints; the package around this module makes words of keywords, and frames of answers. Work is done
//! without the lock of the interpreter, on copies of what was given.

mod errors;
mod frame;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mmgp::Mapping;
use mmgp::cli::library::{Believed, Estimate, Tables, believed, estimates, prediction};
use mmgp::error::Warning;
use mmgp::models::{Parameters, published};
use mmgp::table::{self, Source};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use errors::raised;

/// Warnings: whether each is a note on how something was read, and its text.
type Told = Vec<(bool, String)>;

/// What is believed of a program: its parameters, and what was said when they were estimated.
#[pyclass(frozen, module = "mbyp._mbyp")]
struct Belief {
    parameters: Parameters,
    report: Option<String>,
    text: Option<String>,
    formula: String,
    warnings: Told,
    believed: OnceLock<Believed>,
}

#[pymethods]
impl Belief {
    /// Writes the parameter file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        table::write(&path, self.parameters.to_toml()).map_err(|error| raised(py, &error))
    }

    /// The report of the fit as JSON; nothing where the parameters were loaded.
    #[getter]
    fn report(&self) -> Option<&str> {
        self.report.as_deref()
    }

    /// What was found, in lines; nothing where the parameters were loaded.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Equation 11 with its numbers.
    #[getter]
    fn formula(&self) -> &str {
        &self.formula
    }

    /// The warnings of the fit.
    #[getter]
    fn warnings(&self) -> Told {
        self.warnings.clone()
    }

    /// The accelerators, or hardware threads, that there are.
    #[getter]
    fn apus(&self) -> u32 {
        self.parameters.apus
    }

    /// What `mmgp predict` answers in these words, as JSON, with its warnings.
    fn ask(&self, py: Python<'_>, words: Vec<String>) -> PyResult<(String, Told)> {
        let answer = py.detach(|| prediction(&words, &self.parameters));
        let (json, warnings) = answer.map_err(|error| raised(py, &error))?;
        Ok((json, told(&warnings)))
    }

    /// Times and both ends of their intervals at configurations: arrays of 4 bytes for m and p, of 8 bytes
    /// for what comes back, all in the order of this computer.
    fn times<'py>(
        &self,
        py: Python<'py>,
        m: &Bound<'py, PyBytes>,
        p: &Bound<'py, PyBytes>,
    ) -> PyResult<[Bound<'py, PyBytes>; 3]> {
        let (m, p) = (counts(m), counts(p));
        let times = py.detach(|| {
            let mappings: Vec<Mapping> =
                m.iter().zip(&p).map(|(&m, &p)| Mapping::new(m, p)).collect::<Result<_, _>>()?;
            self.believed()?.times(&mappings)
        });
        let times = times.map_err(|error| raised(py, &error))?;
        Ok([times.time, times.low, times.high].map(|all| {
            let bytes: Vec<u8> = all.iter().flat_map(|it| it.to_ne_bytes()).collect();
            PyBytes::new(py, &bytes)
        }))
    }
}

impl Belief {
    fn of(estimate: Estimate) -> Self {
        let Estimate { parameters, report, text, formula, warnings, .. } = estimate;
        Self {
            parameters,
            report: Some(report),
            text: Some(text),
            formula,
            warnings: told(&warnings),
            believed: OnceLock::new(),
        }
    }

    fn believed(&self) -> mmgp::Result<&Believed> {
        if let Some(known) = self.believed.get() {
            return Ok(known);
        }
        let found = believed(&[], &self.parameters)?;
        Ok(self.believed.get_or_init(|| found))
    }
}

fn told(warnings: &[Warning]) -> Told {
    let told = |it: &Warning| (matches!(it, Warning::Understood(_)), it.to_string());
    warnings.iter().map(told).collect()
}

/// The numbers that these bytes are.
fn counts(bytes: &Bound<'_, PyBytes>) -> Vec<u32> {
    let (counts, _) = bytes.as_bytes().as_chunks();
    counts.iter().map(|&it| u32::from_ne_bytes(it)).collect()
}

/// Estimates in the words of `mmgp fit`; `tables` stand in the place of the files of the flags with their
/// names. One belief, or one for each value of the column of `--by`.
#[pyfunction]
fn fit(
    py: Python<'_>,
    words: Vec<String>,
    tables: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<Vec<(Option<String>, Belief)>> {
    let read = |(flag, table): (String, Bound<'_, PyAny>)| {
        let frame = frame::read(&flag, &table)?;
        Ok((flag, frame))
    };
    let tables = Tables(tables.into_iter().map(read).collect::<PyResult<_>>()?);
    let found = py.detach(|| estimates(&words, &tables)).map_err(|error| raised(py, &error))?;
    Ok(found.into_iter().map(|mut it| (it.of.take(), Belief::of(it))).collect())
}

/// The parameters of a file, or those of a published set.
#[pyfunction]
fn load(py: Python<'_>, name: &str, is_file: bool) -> PyResult<Belief> {
    let parameters = match is_file {
        true => Source::read(Path::new(name)).and_then(|source| Parameters::read(&source)),
        false => published(name),
    };
    let parameters = parameters.map_err(|error| raised(py, &error))?;
    let formula = mmgp::fit::summary::formula(&parameters);
    Ok(Belief {
        parameters,
        report: None,
        text: None,
        formula,
        warnings: Vec::new(),
        believed: OnceLock::new(),
    })
}

/// What stands behind the package `mbyp`.
#[pymodule]
fn _mbyp(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", mmgp::VERSION)?;
    module.add_class::<Belief>()?;
    module.add_function(wrap_pyfunction!(fit, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)
}
