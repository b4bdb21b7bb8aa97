//! Frames of Python as tables of the library.

use mmgp::table::Source;
use pyo3::prelude::*;

/// A table that somebody has in memory.
pub fn read(table: &Bound<'_, PyAny>) -> PyResult<Source> {
    Ok(Source::new("the frame", &table.extract::<String>()?))
}
