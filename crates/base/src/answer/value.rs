//! A value of an answer, made of whatever is told.

use serde::{Serialize, Serializer};

use super::Object;
use crate::table::records::Maybe;
use crate::units::Seconds;

/// A value as programs are told it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// None: `null`, an empty field, a dash.
    Missing,
    /// Yes or no.
    Truth(bool),
    /// A whole number.
    Count(u64),
    /// Any number; what is not finite is `null` in JSON.
    Number(f64),
    /// Any text.
    Text(String),
    /// Several of them, with blanks between them in CSV.
    List(Vec<Value>),
    /// Named values; in JSON alone.
    Object(Object),
}

impl Value {
    /// The field of CSV.
    pub fn field(&self) -> String {
        match self {
            Self::Missing | Self::Object(_) => String::new(),
            Self::Truth(truth) => truth.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::List(list) => list.iter().map(Self::field).collect::<Vec<_>>().join(" "),
        }
    }
}

macro_rules! value_from {
    ($($type:ty: $of:ident => $value:expr),+ $(,)?) => {
        $(impl From<$type> for Value {
            fn from($of: $type) -> Self {
                $value
            }
        })+
    };
}

value_from! {
    bool: of => Self::Truth(of),
    u32: of => Self::Count(of.into()),
    u64: of => Self::Count(of),
    usize: of => Self::Count(of as u64),
    f64: of => Self::Number(of),
    Seconds: of => Self::Number(of.0),
    &str: of => Self::Text(of.into()),
    &String: of => Self::Text(of.clone()),
    String: of => Self::Text(of),
    Object: of => Self::Object(of),
    (u32, u32): of => [of.0, of.1].into(),
    Maybe: of => of.0.into(),
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(of: Option<T>) -> Self {
        of.map_or(Self::Missing, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(of: Vec<T>) -> Self {
        Self::List(of.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(of: [T; N]) -> Self {
        Self::List(of.into_iter().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    fn from(of: &[T]) -> Self {
        of.to_vec().into()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_none(),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}
