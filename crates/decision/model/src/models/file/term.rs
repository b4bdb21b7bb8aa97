//! A term as a parameter file has it: a number, a table with `value`, or a table over m in either of its two
//! forms.

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;

use super::super::parameters::{Estimate, Interpolation, OverM, Table};

/// A finite number of 0 or more.
#[derive(Clone, Copy)]
pub(super) struct NonNegative(f64);

impl From<NonNegative> for f64 {
    fn from(size: NonNegative) -> Self {
        size.0
    }
}

impl<'de> Deserialize<'de> for NonNegative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        let expected = if number.is_finite() { "0 or more" } else { "a finite number" };
        match number.is_finite() && number >= 0.0 {
            true => Ok(Self(number)),
            false => Err(D::Error::invalid_value(Unexpected::Float(number), &expected)),
        }
    }
}

/// Number, or an array of one for each m.
struct Column<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Column<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColumnVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ColumnVisitor<T> {
            type Value = Column<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a finite number, or one for each m")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Column<T>, E> {
                Ok(Column(vec![T::deserialize(number.into_deserializer())?]))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Column<T>, E> {
                Ok(Column(vec![T::deserialize(number.into_deserializer())?]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, numbers: A) -> Result<Column<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(numbers)).map(Column)
            }
        }
        deserializer.deserialize_any(ColumnVisitor(PhantomData))
    }
}

/// The m of a table: increasing, the first at least 1.
#[derive(Deserialize)]
#[serde(try_from = "Column<u32>")]
struct ThreadCounts(Vec<u32>);

impl TryFrom<Column<u32>> for ThreadCounts {
    type Error = String;

    fn try_from(Column(m): Column<u32>) -> Result<Self, String> {
        match m.first().is_some_and(|&first| first >= 1) && m.is_sorted_by(|one, next| one < next) {
            true => Ok(Self(m)),
            false => Err(format!("{m:?}, expected increasing whole numbers, the first at least 1")),
        }
    }
}

/// A table of a term.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EstimateTable {
    m: Option<ThreadCounts>,
    value: Column<NonNegative>,
    std_error: Option<Column<NonNegative>>,
    /// Older files call them `freedom`.
    #[serde(alias = "freedom")]
    degrees_of_freedom: Option<Column<NonNegative>>,
    source: Option<String>,
    #[serde(default)]
    combined_with: Vec<String>,
    interpolation: Option<Interpolation>,
}

impl EstimateTable {
    /// An estimate for each of so many m.
    fn estimates(self, count: usize) -> Result<Vec<Estimate>, String> {
        let column = |name: &str, column: Option<Column<NonNegative>>| match column {
            Some(Column(numbers)) if numbers.len() != count => Err(format!(
                "{} numbers as {name}, expected {count}, one for each m",
                numbers.len()
            )),
            Some(Column(numbers)) => Ok(numbers.into_iter().map(|it| Some(it.0)).collect()),
            None => Ok(vec![None; count]),
        };
        let (values, std_errors) =
            (column("value", Some(self.value))?, column("std_error", self.std_error)?);
        let degrees = column("degrees_of_freedom", self.degrees_of_freedom)?;
        let estimate = |((value, std_error), degrees_of_freedom): ((Option<f64>, _), _)| Estimate {
            value: value.unwrap_or_default(),
            std_error,
            degrees_of_freedom,
            source: self.source.clone(),
            combined_with: self.combined_with.clone(),
        };
        Ok(values.into_iter().zip(std_errors).zip(degrees).map(estimate).collect())
    }
}

/// A term in any of its forms.
enum TermForm {
    Number(NonNegative),
    Table(EstimateTable),
    Rows(Vec<EstimateTable>),
}

impl<'de> Deserialize<'de> for TermForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FormVisitor;
        impl<'de> Visitor<'de> for FormVisitor {
            type Value = TermForm;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, { value = .. } or, for alpha and o_col_s, a table over m")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<TermForm, E> {
                self.visit_f64(number as f64)
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<TermForm, E> {
                NonNegative::deserialize(number.into_deserializer()).map(TermForm::Number)
            }
            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<TermForm, A::Error> {
                EstimateTable::deserialize(MapAccessDeserializer::new(table)).map(TermForm::Table)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, rows: A) -> Result<TermForm, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(rows)).map(TermForm::Rows)
            }
        }
        deserializer.deserialize_any(FormVisitor)
    }
}

impl TryFrom<TermForm> for Estimate {
    type Error = String;

    fn try_from(form: TermForm) -> Result<Self, String> {
        match OverM::try_from(form)? {
            OverM::Constant(estimate) => Ok(estimate),
            OverM::Table(_) => Err("a table over m, expected a number or { value = .. }".into()),
        }
    }
}

impl TryFrom<TermForm> for OverM {
    type Error = String;

    fn try_from(form: TermForm) -> Result<Self, String> {
        let rows = match form {
            TermForm::Number(size) => return Ok(Self::Constant(Estimate::exact(size.0))),
            TermForm::Table(mut entry) => match entry.m.take() {
                None if entry.interpolation.is_some() => {
                    return Err(
                        "an interpolation of one number, expected one of a table over m".into()
                    );
                }
                None => return Ok(Self::Constant(entry.estimates(1)?.remove(0))),
                Some(ThreadCounts(m)) => {
                    let interpolation = entry.interpolation.unwrap_or_default();
                    let values = entry.estimates(m.len())?;
                    return Ok(Self::Table(Table { m, values, interpolation }));
                }
            },
            TermForm::Rows(rows) => rows,
        };
        let interpolation = rows.first().and_then(|first| first.interpolation).unwrap_or_default();
        let (mut m, mut values) = (Vec::new(), Vec::new());
        for (index, mut entry) in rows.into_iter().enumerate() {
            if index > 0 && entry.interpolation.is_some() {
                return Err("an interpolation in a further row, expected it in the first".into());
            }
            let Some(ThreadCounts(own)) = entry.m.take() else {
                return Err("a row without m, expected { m = .., value = .. }".into());
            };
            values.extend(entry.estimates(own.len())?);
            m.extend(own);
        }
        let ThreadCounts(m) = Column(m).try_into()?;
        Ok(Self::Table(Table { m, values, interpolation }))
    }
}

impl<'de> Deserialize<'de> for Estimate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TermForm::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for OverM {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TermForm::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}
