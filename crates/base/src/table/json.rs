//! JSON whose every value knows its place in the file.
//!
//! ```
//! use mmgp_base::table::{Source, json::Value};
//!
//! let source = Source::new("x.json", r#"{"m": [1, 2.5]}"#);
//! let object = Value::parse(&source)?.object()?;
//! let items = object.required("m")?.array()?;
//! assert_eq!(items[0].count(1)?, 1);
//! let error = items[1].count(1).expect_err("no whole number").to_string();
//! assert_eq!(
//!     error,
//!     "x.json:1:11: found the number 2.5, expected a whole number from 1 to 4294967295"
//! );
//! # Ok::<(), mmgp_base::Error>(())
//! ```

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{BYTE_ORDER_MARK, Source};
use crate::error::{Error, Position, Result};

/// A value inside a document, as its text: what it holds is read when it is asked for.
///
/// Numbers are read by the standard library, to the nearest `f64`.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    source: &'a Source,
    /// A part of the source's text, without blanks around it.
    text: &'a str,
}

/// An object's entries in the order of the file.
pub struct Object<'a> {
    /// The object as a value.
    pub whole: Value<'a>,
    entries: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Value<'a> {
    /// The one value that the whole text is.
    ///
    /// # Errors
    /// [`Error::Input`] where the text is not JSON, or more follows.
    pub fn parse(source: &'a Source) -> Result<Self> {
        Self::parse_part(source, source.text.trim_start_matches(BYTE_ORDER_MARK))
    }

    /// The one value that `part`, which is a part of the source's text, is.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_part(source: &'a Source, part: &'a str) -> Result<Self> {
        match serde_json::from_str::<&RawValue>(part) {
            Ok(raw) => Ok(Self { source, text: raw.get() }),
            Err(error) => Err(mistake(source, part, &error, "JSON")),
        }
    }

    /// Where it begins.
    pub fn position(&self) -> Position {
        self.source.position(offset_of(self.source, self.text))
    }

    /// The error that this value is not what was `expected`.
    pub fn error(&self, expected: &str) -> Error {
        self.error_found(self.describe(), expected)
    }

    /// An error at this value that says what was `found` in other words.
    pub fn error_found(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Input { at: self.position(), found: found.into(), expected: expected.into() }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.text == "null"
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.text.starts_with('[')
    }

    /// The entries of an object; a key that comes twice is an error.
    pub fn object(&self) -> Result<Object<'a>> {
        let Entries(entries) = self.read("an object")?;
        let entries: Vec<(Cow<'a, str>, Value<'a>)> = entries
            .into_iter()
            .map(|(key, raw)| (key, Value { source: self.source, text: raw.get() }))
            .collect();
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&index| (&entries[index].0, index));
        match order.windows(2).find(|pair| entries[pair[0]].0 == entries[pair[1]].0) {
            None => Ok(Object { whole: *self, entries }),
            Some(pair) => {
                let (key, value) = &entries[pair[1]];
                Err(value.error_found(format!("a second value for {key:?}"), "one"))
            }
        }
    }

    /// The items of an array.
    pub fn array(&self) -> Result<Vec<Value<'a>>> {
        let items: Vec<&RawValue> = self.read("an array")?;
        Ok(items.into_iter().map(|raw| Value { source: self.source, text: raw.get() }).collect())
    }

    /// A string.
    pub fn text(&self) -> Result<String> {
        self.read("a string")
    }

    /// A whole number of at least `least`; `4.0` is one too.
    pub fn count(&self, least: u32) -> Result<u32> {
        let whole = self.as_number().filter(|number| number.fract() == 0.0);
        match whole {
            Some(number) if (f64::from(least)..=f64::from(u32::MAX)).contains(&number) => {
                Ok(number as u32)
            }
            _ => Err(self.error(&format!("a whole number from {least} to {}", u32::MAX))),
        }
    }

    fn as_number(&self) -> Option<f64> {
        let begins = self.text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let number: f64 = if begins { self.text.parse().ok()? } else { return None };
        // What is too large to be a finite number is infinite.
        number.is_finite().then_some(number)
    }

    /// The value as a type of the standard library.
    fn read<T: Deserialize<'a>>(&self, expected: &str) -> Result<T> {
        serde_json::from_str(self.text).map_err(|_| self.error(expected))
    }

    /// What stands there, in a few words.
    pub(super) fn describe(&self) -> String {
        const MOST: usize = 60;
        let (short, rest) = self.text.split_at(self.text.floor_char_boundary(MOST));
        let end = if rest.is_empty() { "" } else { "..." };
        match self.text.as_bytes().first() {
            Some(b'"') => format!("the text {short}{end}"),
            Some(b'{') => "an object".into(),
            Some(b'[') => "an array".into(),
            Some(b'-' | b'0'..=b'9') => format!("the number {short}{end}"),
            _ => format!("{short}{end}"),
        }
    }
}

impl<'a> Object<'a> {
    /// The value of `key`, if there is one that is not `null`.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let entry = self.entries.iter().find(|(known, _)| known == key);
        entry.map(|(_, value)| *value).filter(|value| !value.is_null())
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// [`Error::Input`] where there is none.
    pub fn required(&self, key: &str) -> Result<Value<'a>> {
        self.get(key).ok_or_else(|| {
            self.whole.error_found(format!("an object without {key:?}"), format!("{key:?}"))
        })
    }

    /// Its keys and values in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.entries.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

/// Where `part`, a part of the source's text, begins in it.
fn offset_of(source: &Source, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(source.text.as_ptr() as usize)
}

/// What is wrong with `part`, which is a part of the source's text, and where.
///
/// `serde_json` counts a column in bytes, and the last of a line as 0 of the next.
pub fn mistake(source: &Source, part: &str, error: &serde_json::Error, expected: &str) -> Error {
    let lines_before = error.line().saturating_sub(1);
    let line: usize = part.split_inclusive('\n').take(lines_before).map(str::len).sum();
    let offset = offset_of(source, part) + line + error.column().saturating_sub(1);
    Error::Input {
        at: source.position(offset),
        found: without_place(error),
        expected: expected.into(),
    }
}

/// The message without the place, which [`Error::Input`] gives itself.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_string()
}

/// The entries of an object, repeated keys and all.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry::<String, &'de RawValue>()? {
                    entries.push((Cow::Owned(entry.0), entry.1));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, read: impl Fn(&Value<'_>) -> Result<()>, message: &str) {
        let source = Source::new("x.json", text);
        let result = Value::parse(&source).and_then(|value| read(&value));
        assert_eq!(result.expect_err("must be refused").to_string(), message);
    }

    #[test]
    fn each_mistake_names_file_line_column_found_and_expected() {
        check(
            "{\"a\": 1,\n  b}",
            |_| Ok(()),
            "x.json:2:3: found key must be a string, expected JSON",
        );
        check("{} {}", |_| Ok(()), "x.json:1:4: found trailing characters, expected JSON");
        check(
            "{\"µ\": -1}",
            |v| v.object()?.required("µ")?.count(0).map(drop),
            "x.json:1:7: found the number -1, expected a whole number from 0 to 4294967295",
        );
        check(
            "[\n1e999]",
            |v| v.array()?[0].count(0).map(drop),
            "x.json:2:1: found the number 1e999, expected a whole number from 0 to 4294967295",
        );
        check(
            "{\"a\": 1, \"a\": 2}",
            |v| v.object().map(drop),
            "x.json:1:15: found a second value for \"a\", expected one",
        );
        check(
            "{\"a\": \"x\"}",
            |v| v.object()?.required("a")?.count(1).map(drop),
            "x.json:1:7: found the text \"x\", expected a whole number from 1 to 4294967295",
        );
        check(
            " {\"a\": null}",
            |v| v.object()?.required("a").map(drop),
            "x.json:1:2: found an object without \"a\", expected \"a\"",
        );
        check(
            "\"\\ud800\"",
            |v| v.text().map(drop),
            "x.json:1:1: found the text \"\\ud800\", expected a string",
        );
    }

    #[test]
    fn numbers_are_the_nearest_to_what_is_written() {
        for text in ["0.30000000000000004", "5e-324", "123456789012345678901e-20", "-0.0"] {
            let source = Source::new("x.json", text);
            let number = Value::parse(&source).unwrap().as_number().unwrap();
            assert_eq!(number.to_bits(), text.parse::<f64>().unwrap().to_bits());
        }
    }

    #[test]
    fn deep_nesting_is_no_danger() {
        let source = Source::new("x.json", &"[".repeat(1_000_000));
        assert!(Value::parse(&source).is_err());
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let source = Source::new("x.json", &deep);
        let value = Value::parse(&source).unwrap();
        assert_eq!(value.array().unwrap().len(), 1);
    }
}
