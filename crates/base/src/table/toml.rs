//! TOML whose every value knows its place in the file.

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, Deserializer};
use toml::{Spanned, de};

use super::Source;
use crate::error::{Error, Position, Result, suggest};

/// A parsed TOML file.
pub struct Document<'a> {
    source: &'a Source,
    root: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    /// Parses the whole text.
    pub fn parse(source: &'a Source) -> Result<Self> {
        match DeTable::parse(&source.text) {
            Ok(root) => Ok(Self { source, root }),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                Err(source.error(start, error.message().trim(), "TOML"))
            }
        }
    }

    /// Everything as `T`, whose `Deserialize` says what may stand where. Its errors are `X, expected Y`.
    ///
    /// # Errors
    /// [`Error::Input`] at the value that `T` refuses, or at the key that it does not know.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(Deserializer::from(self.root.clone())).map_err(|error| self.refused(&error))
    }

    /// The words of serde in those of this library.
    fn refused(&self, error: &de::Error) -> Error {
        let message = error.message();
        let text = error.to_string();
        // Behind the message stands the dotted name of the value: in `terms.alpha`.
        let name = text
            .trim_end()
            .rsplit_once("\nin `")
            .map_or("", |(_, name)| name.trim_end_matches('`'));
        let (found, expected) =
            message.split_once(", expected ").unwrap_or((message, "another value"));
        let quoted = |kind: &str| Some(found.strip_prefix(kind)?.trim_matches('`'));
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let one_of = |key: &str| format!("one of {}{}", known.join(", "), suggest(key, &known));
        let (found, expected) = if let Some(key) = quoted("missing field ") {
            (format!("no value for {:?}", path(name, key)), format!("{key} = .."))
        } else if let Some(key) = quoted("unknown field ") {
            (format!("{:?}", path(name, key)), one_of(key))
        } else if let Some(variant) = quoted("unknown variant ") {
            (format!("{variant:?} for {name:?}"), one_of(variant))
        } else if let Some(kind) = quoted("wanted ") {
            (format!("another kind of value for {name:?}"), kind.to_string())
        } else {
            (format!("{} for {name:?}", in_words(found)), in_words(expected))
        };
        let at = self.source.position(error.span().map_or(0, |span| span.start));
        Error::Input { at, found, expected }
    }

    /// The table of everything.
    pub fn root(&self) -> Table<'_> {
        Table { source: self.source, name: String::new(), start: 0, entries: self.root.get_ref() }
    }
}

/// A table inside a document.
pub struct Table<'d> {
    source: &'d Source,
    name: String,
    start: usize,
    entries: &'d DeTable<'d>,
}

impl<'d> Table<'d> {
    /// The table's dotted name; empty for the whole document.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The keys, in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|key| key.get_ref().as_ref())
    }

    /// An error at the value of `key`, or at the table where there is none.
    pub fn error(&self, key: &str, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Input { at: self.position(key), found: found.into(), expected: expected.into() }
    }

    /// The place of the value of `key`.
    pub fn position(&self, key: &str) -> Position {
        let start = self.entries.get(key).map_or(self.start, |value| value.span().start);
        self.source.position(start)
    }

    /// Refuses a key that is none of `known`: a misspelt optional key must not pass in silence.
    pub fn expect_keys(&self, known: &[&str]) -> Result<()> {
        match self.keys().find(|key| !known.contains(key)) {
            None => Ok(()),
            Some(key) => Err(self.error(
                key,
                format!("{:?}", self.path(key)),
                format!("one of {}{}", known.join(", "), suggest(key, known)),
            )),
        }
    }

    /// The table at `key`.
    pub fn table(&self, key: &str) -> Result<Table<'d>> {
        self.optional_table(key)?.ok_or_else(|| self.missing(key, "a table"))
    }

    /// The table at `key`, if there is one.
    pub fn optional_table(&self, key: &str) -> Result<Option<Table<'d>>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(entries) => Ok(Some(Table {
                source: self.source,
                name: self.path(key),
                start: value.span().start,
                entries,
            })),
            other => Err(self.wrong(key, other, "a table")),
        }
    }

    /// The tables of an array of tables; none where the key is missing.
    pub fn tables(&self, key: &str) -> Result<Vec<Table<'d>>> {
        let Some(value) = self.entries.get(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(key, value.get_ref(), "an array of tables"));
        };
        let table = |(index, item): (usize, &'d Spanned<DeValue<'d>>)| match item.get_ref() {
            DeValue::Table(entries) => Ok(Table {
                source: self.source,
                name: format!("{}[{index}]", self.path(key)),
                start: item.span().start,
                entries,
            }),
            other => Err(self.wrong(key, other, "an array of tables")),
        };
        items.iter().enumerate().map(table).collect()
    }

    /// The text at `key`.
    pub fn text(&self, key: &str) -> Result<&'d str> {
        self.optional_text(key)?.ok_or_else(|| self.missing(key, "a string"))
    }

    /// The text at `key`, if there is one.
    pub fn optional_text(&self, key: &str) -> Result<Option<&'d str>> {
        match self.entries.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text.as_ref())),
            Some(other) => Err(self.wrong(key, other, "a string")),
        }
    }

    /// The texts of the array at `key`; none where the key is missing.
    pub fn texts(&self, key: &str) -> Result<Vec<String>> {
        self.array(key, "an array of strings", |value| match value {
            DeValue::String(text) => Some(text.to_string()),
            _ => None,
        })
        .map(Option::unwrap_or_default)
    }

    /// The finite number at `key`, a float or an integer.
    pub fn number(&self, key: &str) -> Result<f64> {
        self.optional_number(key)?.ok_or_else(|| self.missing(key, "a number"))
    }

    /// The finite number at `key`, if there is one.
    pub fn optional_number(&self, key: &str) -> Result<Option<f64>> {
        match self.entries.get(key).map(Spanned::get_ref) {
            None => Ok(None),
            Some(value) => match number(value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(key, value, "a finite number")),
            },
        }
    }

    /// The finite numbers of the array at `key`, if there is one.
    pub fn optional_numbers(&self, key: &str) -> Result<Option<Vec<f64>>> {
        self.array(key, "an array of finite numbers", number)
    }

    /// The whole number at `key`, at least `least`.
    pub fn count(&self, key: &str, least: u32) -> Result<u32> {
        let expected = format!("a whole number of at least {least}");
        match self.entries.get(key).map(Spanned::get_ref) {
            None => Err(self.missing(key, &expected)),
            Some(value) => match count(value) {
                Some(count) if count >= least => Ok(count),
                _ => Err(self.wrong(key, value, &expected)),
            },
        }
    }

    /// The whole numbers of the array at `key`.
    pub fn counts(&self, key: &str) -> Result<Vec<u32>> {
        let expected = "an array of whole numbers";
        self.array(key, expected, count)?.ok_or_else(|| self.missing(key, expected))
    }

    /// Whether there is an entry for `key`.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    fn array<T>(
        &self,
        key: &str,
        expected: &str,
        item: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<Vec<T>>> {
        let Some(value) = self.entries.get(key) else { return Ok(None) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.wrong(key, value.get_ref(), expected));
        };
        let read = |value: &Spanned<DeValue<'_>>| {
            item(value.get_ref()).ok_or_else(|| {
                self.source.error(value.span().start, describe(value.get_ref()), expected)
            })
        };
        items.iter().map(read).collect::<Result<_>>().map(Some)
    }

    fn path(&self, key: &str) -> String {
        path(&self.name, key)
    }

    fn missing(&self, key: &str, expected: &str) -> Error {
        self.source.error(self.start, format!("no value for {:?}", self.path(key)), expected)
    }

    fn wrong(&self, key: &str, value: &DeValue<'_>, expected: &str) -> Error {
        self.error(key, format!("{} for {:?}", describe(value), self.path(key)), expected)
    }
}

/// The dotted name of a key in a table.
fn path(table: &str, key: &str) -> String {
    if table.is_empty() { key.to_string() } else { format!("{table}.{key}") }
}

/// What serde calls a value or a type, as a user knows it.
fn in_words(text: &str) -> String {
    const WORDS: [(&str, &str); 10] = [
        ("a nonzero u32", "a whole number of at least 1"),
        ("u32", "a whole number"),
        ("f64", "a finite number"),
        ("a sequence", "an array"),
        ("struct ", "a table"),
        ("sequence", "an array"),
        ("map", "a table"),
        ("string ", "the text "),
        ("integer ", "the number "),
        ("floating point ", "the number "),
    ];
    let text = text.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
    let known = WORDS.iter().find_map(|(theirs, ours)| Some((ours, text.strip_prefix(theirs)?)));
    match known {
        // The name of a type of ours tells a user nothing.
        Some((&"a table", _)) => "a table".into(),
        Some((words, rest)) => format!("{words}{}", rest.trim_matches('`')),
        None => text.trim_matches('`').to_string(),
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    let number: f64 = match value {
        DeValue::Float(float) => float.as_str().replace('_', "").parse().ok()?,
        DeValue::Integer(_) => integer(value)? as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

fn count(value: &DeValue<'_>) -> Option<u32> {
    u32::try_from(integer(value)?).ok()
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    match value {
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok(),
        _ => None,
    }
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text {text:?}"),
        DeValue::Integer(integer) => format!("the number {}", integer.as_str()),
        DeValue::Float(float) => format!("the number {}", float.as_str()),
        DeValue::Boolean(boolean) => format!("{boolean}"),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(_) => "an array".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, read: impl Fn(&Table<'_>) -> Result<()>, message: &str) {
        let source = Source::new("x.toml", text);
        let document = Document::parse(&source);
        let result = document.and_then(|document| read(&document.root()));
        assert_eq!(result.expect_err("must be refused").to_string(), message);
    }

    #[test]
    fn each_mistake_names_file_line_column_found_and_expected() {
        check(
            "a = 1\nb = ",
            |_| Ok(()),
            "x.toml:2:5: found string values must be quoted, expected literal string, expected TOML",
        );
        check(
            "a = \"x\"",
            |t| t.number("a").map(drop),
            "x.toml:1:5: found the text \"x\" for \"a\", expected a finite number",
        );
        check(
            "a = nan",
            |t| t.number("a").map(drop),
            "x.toml:1:5: found the number nan for \"a\", expected a finite number",
        );
        check(
            "[s]\na = -1",
            |t| t.table("s")?.count("a", 1).map(drop),
            "x.toml:2:5: found the number -1 for \"s.a\", expected a whole number of at least 1",
        );
        check(
            "[s]\na = 1",
            |t| t.table("s")?.number("b").map(drop),
            "x.toml:1:1: found no value for \"s.b\", expected a number",
        );
        check(
            "a = [1, 'x']",
            |t| t.optional_numbers("a").map(drop),
            "x.toml:1:9: found the text \"x\", expected an array of finite numbers",
        );
        check("b = 1", |t| t.expect_keys(&["a"]), "x.toml:1:5: found \"b\", expected one of a");
    }

    #[test]
    fn what_a_type_refuses_is_told_with_its_place_and_in_our_words() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(dead_code, reason = "they are there to be read")]
        struct Sizes {
            number: f64,
            count: std::num::NonZeroU32,
            list: Option<Vec<u32>>,
            nested: Option<Box<Sizes>>,
        }
        let check = |text: &str, message: &str| {
            let source = Source::new("x.toml", text);
            let read = Document::parse(&source).and_then(|document| document.read::<Sizes>());
            assert_eq!(read.expect_err("must be refused").to_string(), format!("x.toml:{message}"));
        };
        check(
            "count = 1\nnumber = \"x\"",
            "2:10: found the text \"x\" for \"number\", expected a finite number",
        );
        check(
            "count = 0",
            "1:9: found the number 0 for \"count\", expected a whole number of at least 1",
        );
        check("list = 2", "1:8: found the number 2 for \"list\", expected an array");
        check("count = 1", "1:1: found no value for \"number\", expected number = ..");
        check(
            "count = 1\n[nested]\nnumbr = 1",
            "3:1: found \"nested.numbr\", expected one of number, count, list, nested; did you mean \"number\"?",
        );
        check("nested = 1", "1:10: found the number 1 for \"nested\", expected a table");
        check("number = {}", "1:10: found a table for \"number\", expected a finite number");
    }

    #[test]
    fn underscores_exponents_and_hexadecimal_integers_are_numbers() {
        let source = Source::new("x.toml", "a = 1_000.5\nb = 70e-9\nc = 0x10");
        let document = Document::parse(&source).unwrap();
        let root = document.root();
        assert_eq!(root.number("a").unwrap(), 1000.5);
        assert_eq!(root.number("b").unwrap(), 70e-9);
        assert_eq!(root.count("c", 1).unwrap(), 16);
    }
}
