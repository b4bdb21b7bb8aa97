//! Frames by the Arrow C interface: what `__arrow_c_stream__` of pandas, polars and pyarrow gives.

#![allow(unsafe_code)] // Frames come as pointers of C.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use mmgp::Error;
use mmgp::intake::Column;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::raised;

/// The columns of a frame, each with its name.
pub fn columns(table: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Column)>> {
    let py = table.py();
    if !table.hasattr("__arrow_c_stream__")? {
        let text = format!("found a {}, expected a frame", table.get_type().name()?);
        return Err(PyTypeError::new_err(text));
    }
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of that name holds a stream, which is moved out of it and left released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let reader = arrow_array::ffi_stream::RecordBatchStreamReader::try_new(stream);
    let read = reader.and_then(|reader| {
        let schema = reader.schema();
        Ok((schema, reader.collect::<Result<Vec<RecordBatch>, ArrowError>>()?))
    });
    let (schema, batches) = read.map_err(|error| raised(py, &Error::other(error)))?;
    let fields = schema.fields().iter().enumerate();
    let column = |(place, field): (usize, &std::sync::Arc<arrow_schema::Field>)| {
        let parts: Vec<&dyn Array> = batches.iter().map(|it| it.column(place).as_ref()).collect();
        let name = match field.data_type() {
            // What is a length of time comes in seconds.
            DataType::Duration(_) => format!("{} [s]", field.name()),
            _ => field.name().clone(),
        };
        let values = values(field.data_type(), &parts);
        let unknown = || {
            let found = format!("column {:?} of type {}", field.name(), field.data_type());
            raised(py, &Error::out_of_range("the frame", found, "numbers, texts or times"))
        };
        values.map(|values| (name, values)).ok_or_else(unknown)
    };
    fields.map(column).collect()
}

/// The values of a column that comes in parts; nothing of a type that a table has not.
fn values(of: &DataType, parts: &[&dyn Array]) -> Option<Column> {
    Some(match of {
        DataType::Int8 => integers::<Int8Type>(parts, i64::from),
        DataType::Int16 => integers::<Int16Type>(parts, i64::from),
        DataType::Int32 => integers::<Int32Type>(parts, i64::from),
        DataType::Int64 => integers::<Int64Type>(parts, |it| it),
        DataType::UInt8 => integers::<UInt8Type>(parts, i64::from),
        DataType::UInt16 => integers::<UInt16Type>(parts, i64::from),
        DataType::UInt32 => integers::<UInt32Type>(parts, i64::from),
        DataType::UInt64 => match parts.iter().all(|it| fits(*it)) {
            true => integers::<UInt64Type>(parts, |it| it as i64),
            false => texts(parts, |it, row| it.as_primitive::<UInt64Type>().value(row).to_string()),
        },
        DataType::Float16 => floats::<Float16Type>(parts, |it| it.to_f64()),
        DataType::Float32 => floats::<Float32Type>(parts, f64::from),
        DataType::Float64 => floats::<Float64Type>(parts, |it| it),
        DataType::Duration(unit) => durations(parts, *unit)?,
        DataType::Boolean => {
            texts(parts, |it, row| if it.as_boolean().value(row) { "True" } else { "False" }.into())
        }
        DataType::Utf8 => texts(parts, |it, row| it.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => texts(parts, |it, row| it.as_string::<i64>().value(row).into()),
        DataType::Utf8View => texts(parts, |it, row| it.as_string_view().value(row).into()),
        DataType::Decimal128(..) => {
            texts(parts, |it, row| it.as_primitive::<Decimal128Type>().value_as_string(row))
        }
        DataType::Date32 => texts(parts, |it, row| {
            let days = i64::from(it.as_primitive::<Date32Type>().value(row));
            instant(days * DAY, per_second(TimeUnit::Second))
        }),
        DataType::Date64 => texts(parts, |it, row| {
            let count = it.as_primitive::<Date64Type>().value(row);
            instant(count, per_second(TimeUnit::Millisecond))
        }),
        DataType::Timestamp(unit, _) => instants(parts, *unit)?,
        DataType::Dictionary(..) => categories(parts)?,
        DataType::Null => Column::Texts(vec![None; parts.iter().map(|it| it.len()).sum()]),
        _ => return None,
    })
}

/// Seconds of a day.
const DAY: i64 = 86_400;

fn fits(part: &dyn Array) -> bool {
    part.as_primitive::<UInt64Type>().iter().flatten().all(|it| i64::try_from(it).is_ok())
}

fn integers<T: ArrowPrimitiveType>(parts: &[&dyn Array], of: fn(T::Native) -> i64) -> Column {
    let all = || parts.iter().flat_map(|part| part.as_primitive::<T>().iter());
    if parts.iter().all(|it| it.null_count() == 0) {
        return Column::Integers(all().flatten().map(of).collect());
    }
    // Whole numbers among which some are missing.
    let is_exact = |it: T::Native| of(it).unsigned_abs() <= 1 << 53;
    match all().flatten().all(is_exact) {
        true => Column::Floats(all().map(|it| it.map_or(f64::NAN, |it| of(it) as f64)).collect()),
        false => Column::Texts(all().map(|it| it.map(|it| of(it).to_string())).collect()),
    }
}

fn floats<T: ArrowPrimitiveType>(parts: &[&dyn Array], of: fn(T::Native) -> f64) -> Column {
    let mut values = Vec::with_capacity(parts.iter().map(|it| it.len()).sum());
    for part in parts {
        values.extend(part.as_primitive::<T>().iter().map(|it| it.map_or(f64::NAN, of)));
    }
    Column::Floats(values)
}

fn texts(parts: &[&dyn Array], text: impl Fn(&dyn Array, usize) -> String) -> Column {
    let of = |part: &&dyn Array| {
        let part = *part;
        (0..part.len()).map(|row| part.is_valid(row).then(|| text(part, row))).collect::<Vec<_>>()
    };
    Column::Texts(parts.iter().flat_map(of).collect())
}

/// What the parts have as 64-bit numbers, whatever they count.
fn counts(part: &dyn Array) -> Option<Vec<Option<i64>>> {
    let plain = arrow_array::make_array(
        part.to_data().into_builder().data_type(DataType::Int64).build().ok()?,
    );
    Some(plain.as_primitive::<Int64Type>().iter().collect())
}

/// Number of a unit in a second.
const fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn durations(parts: &[&dyn Array], unit: TimeUnit) -> Option<Column> {
    let seconds = |it: Option<i64>| it.map_or(f64::NAN, |it| it as f64 / per_second(unit) as f64);
    let parts: Option<Vec<_>> = parts.iter().map(|it| counts(*it)).collect();
    Some(Column::Floats(parts?.into_iter().flatten().map(seconds).collect()))
}

fn instants(parts: &[&dyn Array], unit: TimeUnit) -> Option<Column> {
    let parts: Option<Vec<_>> = parts.iter().map(|it| counts(*it)).collect();
    let text = |it: Option<i64>| it.map(|it| instant(it, per_second(unit)));
    Some(Column::Texts(parts?.into_iter().flatten().map(text).collect()))
}

/// An instant by what has gone by since 1970, as ISO 8601 has it: in UTC.
fn instant(count: i64, per_second: i64) -> String {
    let (seconds, rest) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // Years that begin in March, so that the day that some have is their last.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    let year = year + 400 * era;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let fraction = match rest {
        0 => String::new(),
        _ => format!(".{:09}", rest * (1_000_000_000 / per_second)).trim_end_matches('0').into(),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// Categories, each part of which may have its own.
fn categories(parts: &[&dyn Array]) -> Option<Column> {
    let (mut codes, mut known) = (Vec::new(), BTreeMap::new());
    for part in parts {
        let part = part.as_any_dictionary();
        let of_part = values(part.values().data_type(), &[part.values().as_ref()])?;
        let texts: Vec<Option<String>> = match of_part {
            Column::Texts(texts) => texts,
            Column::Integers(values) => values.iter().map(|it| Some(it.to_string())).collect(),
            Column::Floats(values) => values.iter().map(|it| Some(format!("{it:?}"))).collect(),
            Column::Categories { .. } => return None,
        };
        let mut code = |text: Option<String>| {
            let next = known.len() as i32;
            text.map_or(-1, |text| *known.entry(text).or_insert(next))
        };
        let of_part: Vec<i32> = texts.into_iter().map(&mut code).collect();
        let keys = if of_part.is_empty() { vec![0; part.len()] } else { part.normalized_keys() };
        let of_row = |(row, key): (usize, usize)| match part.is_valid(row) {
            true => of_part[key],
            false => -1,
        };
        codes.extend(keys.into_iter().enumerate().map(of_row));
    }
    let mut texts = vec![String::new(); known.len()];
    known.into_iter().for_each(|(text, code)| texts[code as usize] = text);
    Some(Column::Categories { codes, texts })
}
