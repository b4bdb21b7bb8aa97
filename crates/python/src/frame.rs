//! Frames of Python as tables of the library: by the Arrow C interface, or column by column.

mod arrow;

use mmgp::intake::{Column, Frame};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PyString};

use crate::errors::raised;

/// The table that somebody has in memory for a flag: an object with the Arrow interface, or columns as the package makes
/// them: name, the way in which values come (`i8`, `f8`, `codes`, `list`), these, and the texts of codes.
pub fn read(flag: &str, table: &Bound<'_, PyAny>) -> PyResult<Frame> {
    let columns = match table.cast::<PyList>() {
        Ok(columns) => columns.iter().map(|it| column(&it)).collect::<PyResult<_>>()?,
        Err(_) => arrow::columns(table)?,
    };
    let name = match flag {
        "runs" => "the frame".to_string(),
        _ => format!("the frame of {flag}"),
    };
    Frame::new(name, columns).map_err(|error| raised(table.py(), &error))
}

/// A column of the package's.
fn column(column: &Bound<'_, PyAny>) -> PyResult<(String, Column)> {
    let (name, way, values, texts): (
        String,
        String,
        Bound<'_, PyAny>,
        Option<Vec<Option<String>>>,
    ) = column.extract()?;
    let values = match way.as_str() {
        "i8" => Column::Integers(numbers(&values, i64::from_ne_bytes)?),
        "f8" => Column::Floats(numbers(&values, f64::from_ne_bytes)?),
        "codes" => Column::Categories {
            codes: numbers(&values, i32::from_ne_bytes)?,
            texts: texts.unwrap_or_default().into_iter().map(Option::unwrap_or_default).collect(),
        },
        "list" => of_list(values.cast()?)?,
        other => return Err(PyTypeError::new_err(format!("a column cannot come as {other:?}"))),
    };
    Ok((name, values))
}

/// The numbers of an array, whose bytes are copied for as long as they are read.
fn numbers<T, const SIZE: usize>(
    array: &Bound<'_, PyAny>,
    number: fn([u8; SIZE]) -> T,
) -> PyResult<Vec<T>> {
    let bytes = array.call_method0("tobytes")?;
    let (numbers, _) = bytes.cast::<PyBytes>()?.as_bytes().as_chunks();
    Ok(numbers.iter().map(|&it| number(it)).collect())
}

/// The column of a list: whole numbers where all are, numbers where all are or are missing, else texts.
fn of_list(values: &Bound<'_, PyList>) -> PyResult<Column> {
    if let Some(whole) = all(values, |it| it.is_exact_instance_of::<PyInt>())
        && let Ok(whole) = whole.iter().map(|it| it.extract()).collect::<PyResult<Vec<i64>>>()
    {
        return Ok(Column::Integers(whole));
    }
    let is_number = |it: &Bound<'_, PyAny>| {
        let is_number = it.is_instance_of::<PyFloat>() || it.is_instance_of::<PyInt>();
        it.is_none() || (is_number && !it.is_instance_of::<PyBool>())
    };
    // Beyond 2^53 a number of a float is another one.
    let number = |it: &Bound<'_, PyAny>| match it.is_none() {
        true => Ok(f64::NAN),
        false => it.extract::<f64>(),
    };
    if let Some(mixed) = all(values, is_number) {
        let numbers: PyResult<Vec<f64>> = mixed.iter().map(number).collect();
        let is_exact = |it: &f64| it.is_nan() || it.abs() <= 2f64.powi(53) || it.fract() != 0.0;
        if let Ok(numbers) = numbers
            && !numbers.is_empty()
            && numbers.iter().all(is_exact)
        {
            return Ok(Column::Floats(numbers));
        }
    }
    let text = |it: Bound<'_, PyAny>| -> PyResult<Option<String>> {
        if it.is_none() {
            return Ok(None);
        }
        match it.cast::<PyString>() {
            Ok(text) => Ok(Some(text.to_string_lossy().into_owned())),
            Err(_) => Ok(Some(it.str()?.to_string_lossy().into_owned())),
        }
    };
    Ok(Column::Texts(values.iter().map(text).collect::<PyResult<_>>()?))
}

/// All values, where each is such a one.
fn all<'py>(
    values: &Bound<'py, PyList>,
    is_such: impl Fn(&Bound<'py, PyAny>) -> bool,
) -> Option<Vec<Bound<'py, PyAny>>> {
    values.iter().map(|it| is_such(&it).then_some(it)).collect()
}
