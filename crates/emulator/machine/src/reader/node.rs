//! What serde deserialises a machine from.

use std::fmt;
use std::ops::RangeInclusive;
use std::slice;

use super::{Layers, bounds};
use mmgp_base::error::{Error, Result};
use mmgp_base::table::toml::Table;
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// What is deserialised: the whole file, whose name is empty, a section of it, or a value with its dotted
/// name.
#[derive(Clone, Copy)]
pub(super) struct Node<'a, 'd> {
    pub layers: &'a Layers<'a, 'd>,
    pub name: &'a str,
}

impl<'d> Node<'_, 'd> {
    /// The value's table, with no other keys.
    fn table(self, keys: &[&str]) -> Result<Table<'d>> {
        let table = self.layers.value(self.name)?;
        table.expect_keys(keys)?;
        Ok(table)
    }

    /// The value, for a field of that type.
    fn number(self, field: &str) -> Result<f64> {
        let (value, range, table) = self.noted(field)?;
        if !range.contains(&value) {
            let expected = format!("a number from {:e} to {:e}", range.start(), range.end());
            return Err(table.error("value", value.to_string(), expected));
        }
        Ok(value)
    }

    /// The whole value, for a field of that type.
    fn whole(self, field: &str) -> Result<u64> {
        let (value, range, table) = self.noted(field)?;
        if !range.contains(&value) || value.fract() != 0.0 {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            return Err(table.error("value", value.to_string(), expected));
        }
        Ok(value as u64)
    }

    /// The value with its range and its table, once its unit and origin are checked.
    fn noted(self, field: &str) -> Result<(f64, RangeInclusive<f64>, Table<'d>)> {
        let (unit, range) = bounds(self.name, field);
        let table = self.table(&["value", "unit", "source", "status"])?;
        let value = table.number("value")?;
        self.layers.note(&table, value, unit)?;
        Ok((value, range, table))
    }

    /// What a way through the kernel is made of, in the order of its unit.
    fn path(self, count: usize) -> Result<Vec<u32>> {
        let (unit, range) = bounds(self.name, "path");
        let table = self.table(&["value", "unit", "source", "status"])?;
        let values = table.optional_numbers("value")?.unwrap_or_default();
        let is_count = |it: &f64| range.contains(it) && it.fract() == 0.0;
        if values.len() != count || !values.iter().all(is_count) {
            let expected = format!("{count} counts up to {}: {unit}", range.end());
            return Err(table.error("value", format!("{values:?}"), expected));
        }
        self.layers.note(&table, values[1], unit)?;
        Ok(values.into_iter().map(|it| it as u32).collect())
    }

    /// Times by number of ranks.
    fn times(self) -> Result<Vec<(u32, f64)>> {
        let table = self.table(&["ranks", "value", "unit", "source", "status"])?;
        let ranks = table.counts("ranks")?;
        let costs = table.optional_numbers("value")?.unwrap_or_default();
        let rising = ranks.windows(2).all(|pair| pair[0] < pair[1]);
        if ranks.first().is_none_or(|&first| first < 2) || !rising {
            return Err(table.error("ranks", format!("{ranks:?}"), "increasing numbers from 2"));
        }
        if costs.len() != ranks.len() || !costs.iter().all(|cost| (0.0..=1.0).contains(cost)) {
            let expected = format!("{} times from 0 to 1 s, one for each of ranks", ranks.len());
            return Err(table.error("value", format!("{costs:?}"), expected));
        }
        self.layers.note(&table, costs[0], "s")?;
        Ok(ranks.into_iter().zip(costs).collect())
    }
}

type Refused<T> = std::result::Result<T, Refusal>;

impl<'de> Deserializer<'de> for Node<'_, '_> {
    type Error = Refusal;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Refused<V::Value> {
        self.layers.expect(self.name, fields)?;
        visitor.visit_map(Fields { of: self, left: fields.iter(), next: "" })
    }

    /// A section that no layer has is none.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Refused<V::Value> {
        match self.layers.sections(self.name)?.is_empty() {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Refused<V::Value> {
        visitor.visit_str(self.layers.own.text(self.name)?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Refused<V::Value> {
        visitor.visit_u64(self.whole("count")?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Refused<V::Value> {
        visitor.visit_u64(self.whole("count")?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Refused<V::Value> {
        visitor.visit_f64(self.number("ratio")?)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        field: &'static str,
        visitor: V,
    ) -> Refused<V::Value> {
        match field {
            "Cycles" | "Bytes" => {
                visitor.visit_newtype_struct(self.whole(field)?.into_deserializer())
            }
            _ => visitor.visit_newtype_struct(self.number(field)?.into_deserializer()),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Refused<V::Value> {
        let table = self.table(&["value", "unit", "source", "status"])?;
        let names = table.texts("value")?;
        self.layers.note(&table, names.len() as f64, "unit")?;
        let units = SeqDeserializer::<_, Refusal>::new(names.into_iter());
        match visitor.visit_seq(units) {
            Ok(units) => Ok(units),
            Err(_) => Err(Refusal(self.layers.participants(self.name)?)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Refused<V::Value> {
        visitor.visit_seq(SeqDeserializer::<_, Refusal>::new(self.path(count)?.into_iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Refused<V::Value> {
        visitor.visit_map(MapDeserializer::new(self.times()?.into_iter()))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Refused<V::Value> {
        unreachable!("invariant: a machine has no field of another type, {}", self.name)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 char str bytes byte_buf unit unit_struct
        tuple_struct enum identifier ignored_any
    }
}

/// The fields of the file or of a section, in the order of their struct.
struct Fields<'a, 'd> {
    of: Node<'a, 'd>,
    left: slice::Iter<'static, &'static str>,
    next: &'static str,
}

impl<'de> MapAccess<'de> for Fields<'_, '_> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Refused<Option<K::Value>> {
        let Some(field) = self.left.next() else { return Ok(None) };
        self.next = field;
        let key: StrDeserializer<'_, Refusal> = self.next.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Refused<V::Value> {
        let name = match self.of.name {
            "" => self.next.to_string(),
            section => format!("{section}.{}", self.next),
        };
        seed.deserialize(Node { layers: self.of.layers, name: &name })
    }
}

/// An error of the file, as serde carries it.
#[derive(Debug)]
pub(super) struct Refusal(pub Error);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Refusal {}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl serde::de::Error for Refusal {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Error::out_of_range("machine", message.to_string(), "a value of its type"))
    }
}
