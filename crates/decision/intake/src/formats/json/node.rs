//! A value of JSON that knows its place and its text as it is written.

use std::borrow::Cow;
use std::fmt;

use mmgp_base::error::{Error, Result, shortened};
use mmgp_base::table::{BYTE_ORDER_MARK, Source, json_offset};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;

use crate::sheet::Field;

/// A value inside a text; what it holds is read when it is asked for.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    pub(super) source: &'a Source,
    /// The text that the value is a part of: the file's, or one that begins as the file does.
    whole: &'a str,
    /// The value as it is written, without blanks around it.
    pub(super) text: &'a str,
}

/// An object with its entries in the order of the file.
pub struct Object<'a> {
    pub(super) node: Node<'a>,
    entries: Vec<(Cow<'a, str>, Node<'a>)>,
}

/// The value with which `text`, a part of the file's, begins, and what follows it, without the blanks
/// between and at the end.
///
/// # Errors
/// [`Error::Input`] for what is no JSON.
pub(super) fn first_value<'a>(source: &'a Source, text: &'a str) -> Result<(Node<'a>, &'a str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(value)) => {
            let rest = text[values.byte_offset()..].trim();
            Ok((Node { source, whole: &source.text, text: value.get() }, rest))
        }
        Some(Err(error)) => Err(no_json(source, text, &error)),
        None => Err(source.error(0, "nothing", "JSON")),
    }
}

/// The error that a part of the file is no JSON.
pub(super) fn no_json(source: &Source, part: &str, error: &serde_json::Error) -> Error {
    let offset_in_part = json_offset(part, error);
    let place = part.floor_char_boundary(offset_in_part);
    // Python writes these, and where they stand the library may have gone one letter further.
    let begins = |word: &&str| {
        (0..2).any(|back| {
            part.get(place.saturating_sub(back)..).is_some_and(|it| it.starts_with(*word))
        })
    };
    match ["NaN", "Infinity"].into_iter().find(begins) {
        Some(word) => {
            let at = offset(&source.text, part) + offset_in_part;
            let expected = format!("JSON, which has no {word}; where there is no number, null");
            source.error(at, word, expected)
        }
        None => source.json_error(part, error, "JSON"),
    }
}

impl<'a> Node<'a> {
    /// The one value that a file is.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no JSON, and for what follows it.
    pub fn of_file(source: &'a Source) -> Result<Self> {
        let text = source.text.trim_start_matches(BYTE_ORDER_MARK);
        match serde_json::from_str::<&RawValue>(text) {
            Ok(value) => Ok(Self { source, whole: &source.text, text: value.get() }),
            Err(error) => Err(no_json(source, text, &error)),
        }
    }

    /// The value that a whole text is, which begins as the file does; `None` where it is no JSON.
    pub fn of_changed(source: &'a Source, whole: &'a str) -> Option<Self> {
        let text = whole.trim_start_matches(BYTE_ORDER_MARK);
        let value: &RawValue = serde_json::from_str(text).ok()?;
        Some(Self { source, whole, text: value.get() })
    }

    /// A part of the same text as a value.
    pub fn part(&self, text: &'a str) -> Self {
        Self { text, ..*self }
    }

    /// Place at which it begins in the file \[bytes\].
    pub fn at(&self) -> usize {
        offset(self.whole, self.text)
    }

    /// The error that something else was expected here.
    pub fn error(&self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        self.source.error(self.at(), found, expected)
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.text == "null"
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.text.starts_with('{')
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.text.starts_with('[')
    }

    /// Whether it is a text, a number, or true or false.
    pub fn is_plain(&self) -> bool {
        !self.is_null() && !self.is_object() && !self.is_array()
    }

    /// What stands there, in a few words.
    pub fn describe(&self) -> String {
        match self.text.as_bytes().first() {
            Some(b'"') => format!("the text {}", shortened(self.text)),
            Some(b'{') => "an object".into(),
            Some(b'[') => "an array".into(),
            Some(b'-' | b'0'..=b'9') => format!("the number {}", shortened(self.text)),
            _ => shortened(self.text).into(),
        }
    }

    /// The entries of an object; a key that comes twice is an error.
    pub fn object(&self) -> Result<Object<'a>> {
        if !self.is_object() {
            return Err(self.error(self.describe(), "an object"));
        }
        let mut entries = Vec::new();
        each_entry(self.text, &mut |key, value| entries.push((key, self.part(value))))
            .map_err(|error| self.error(error.to_string(), "an object"))?;
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&index| (&entries[index].0, index));
        match order.windows(2).find(|pair| entries[pair[0]].0 == entries[pair[1]].0) {
            None => Ok(Object { node: *self, entries }),
            Some(pair) => {
                let (key, value) = &entries[pair[1]];
                Err(value.error(format!("a second value for {key:?}"), "one"))
            }
        }
    }

    /// The items of an array.
    pub fn array(&self) -> Result<Vec<Self>> {
        let items = if self.is_array() {
            serde_json::from_str::<Vec<&RawValue>>(self.text).ok()
        } else {
            None
        };
        let items = items.ok_or_else(|| self.error(self.describe(), "an array"))?;
        Ok(items.into_iter().map(|item| self.part(item.get())).collect())
    }

    /// The value as a field: a text without its quotes, a number as it is written, nothing for null.
    pub fn field(&self) -> Result<Field<'a>> {
        let text = plain_text(self.text)
            .ok_or_else(|| self.error(self.describe(), "a text without broken escapes"))?;
        Ok(Field { text, at: self.at() })
    }

    /// The value as a text.
    pub fn plain_text(&self) -> Result<Cow<'a, str>> {
        self.field().map(|field| field.text)
    }
}

/// Place at which `part` begins in the text that it is a part of.
pub(super) fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}

/// What a field says of a value as it is written; `None` of a string with a broken escape.
pub(super) fn plain_text(value: &str) -> Option<Cow<'_, str>> {
    match value.as_bytes() {
        [b'"', .., b'"'] if value.contains('\\') => {
            let text: String = serde_json::from_str(value).ok()?;
            Some(Cow::Owned(text.trim().to_string()))
        }
        [b'"', .., b'"'] => Some(Cow::Borrowed(value[1..value.len() - 1].trim())),
        b"null" => Some(Cow::Borrowed("")),
        _ => Some(Cow::Borrowed(value)),
    }
}

impl<'a> Object<'a> {
    /// The value of `key`, if there is one that is not `null`.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.any(key).filter(|value| !value.is_null())
    }

    /// The value of `key`, `null` or not.
    pub fn any(&self, key: &str) -> Option<Node<'a>> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// [`Error::Input`] where there is none.
    pub fn required(&self, key: &str) -> Result<Node<'a>> {
        let missing = || self.node.error(format!("an object without {key:?}"), format!("{key:?}"));
        self.get(key).ok_or_else(missing)
    }

    /// The keys and values in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Node<'a>)> + Clone {
        self.entries.iter().map(|(key, value)| (key.as_ref(), *value))
    }

    /// The first item of the array that `key` has, if it is an object.
    pub fn first_of(&self, key: &str) -> Option<Object<'a>> {
        let items = self.get(key).filter(Node::is_array)?.array().ok()?;
        items.first().filter(|item| item.is_object())?.object().ok()
    }
}

/// Calls `entry` with each key of an object and its value as it is written, in their order.
pub(super) fn each_entry<'a>(
    object: &'a str,
    entry: &mut dyn FnMut(Cow<'a, str>, &'a str),
) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(object);
    deserializer.deserialize_map(Entries(entry))?;
    deserializer.end()
}

struct Entries<'f, 'a>(&'f mut dyn FnMut(Cow<'a, str>, &'a str));

impl<'de> Visitor<'de> for Entries<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            (self.0)(key, value.get());
        }
        Ok(())
    }
}

/// A key, which is copied only where it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
