//! Objects that are rows: an array of them, or one a line. Objects inside are flattened: `parameters.np`.
//!
//! A first pass finds the columns; a visit reads the text again, so that nothing of it is held.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mmgp_base::error::Result;
use mmgp_base::table::Source;
use serde_json::value::RawValue;

use super::node::{Node, each_entry, no_json, offset, plain_text};
use super::tables::{empty, free_name};
use crate::sheet::{CUT_OFF, EachRow, Field, Heading, Rows, Sheet, unended_line};
use crate::units::{Measure, measure_of};

/// Objects that lie deeper are no columns.
pub(super) const MOST_NESTED: usize = 16;

/// Objects of which each is a row, and the columns that they have.
pub(super) struct Records<'a> {
    source: &'a Source,
    texts: Texts<'a>,
    names: Names<'a>,
    /// The column whose arrays are a row for each item.
    spread: Option<usize>,
    /// A column, and the text in it of objects that are no rows.
    left_out: Option<(usize, &'static str)>,
    /// Place at which the line begins that the end of the file cuts off \[bytes\].
    cut: Option<usize>,
}

/// The texts of the objects.
enum Texts<'a> {
    /// One a line.
    Lines(&'a str),
    /// The items of an array, or objects over several lines.
    Held(Vec<&'a str>),
}

/// The names of all keys, flattened, in the order in which they come.
#[derive(Default)]
struct Names<'a> {
    keys: Vec<Name<'a>>,
    places: BTreeMap<String, usize>,
    /// How many objects there are.
    objects: usize,
}

/// A key of the objects.
struct Name<'a> {
    /// The key as the file has it, flattened.
    key: String,
    heading: Heading,
    /// Whether it has a text or a number anywhere.
    is_plain: bool,
    /// Whether it has an array anywhere.
    is_array: bool,
    /// The first value that is not null.
    first: Option<&'a str>,
    /// Whether all its values are as the first.
    is_constant: bool,
    /// How many objects have a value of it that is not null.
    count: usize,
    /// The number of the last object that has it, from 1.
    seen: usize,
    /// Whether it is passed over whatever it has.
    is_passed_over: bool,
    /// The column; `None` of a key that is left out.
    column: Option<usize>,
}

impl<'a> Records<'a> {
    /// Objects one behind the other, of which `first` is the first and `text` is all.
    pub fn of_lines(source: &'a Source, first: Node<'a>, text: &'a str) -> Result<Self> {
        let behind = &text[offset(text, first.text) + first.text.len()..];
        let is_line = !first.text.contains('\n')
            && behind.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let cut = unended_line(text).filter(|&start| {
            is_line && start > 0 && serde_json::from_str::<&RawValue>(&text[start..]).is_err()
        });
        let texts = if is_line {
            Texts::Lines(&text[..cut.unwrap_or(text.len())])
        } else {
            let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
            let values: serde_json::Result<Vec<&str>> =
                values.map(|value| value.map(RawValue::get)).collect();
            Texts::Held(values.map_err(|error| no_json(source, text, &error))?)
        };
        let cut = cut.map(|start| offset(&source.text, &text[start..]));
        Ok(Self { cut, ..Self::of(source, texts)? })
    }

    /// The items of an array.
    pub fn of_items(source: &'a Source, items: Vec<Node<'a>>) -> Result<Self> {
        Self::of(source, Texts::Held(items.iter().map(|item| item.text).collect()))
    }

    fn of(source: &'a Source, texts: Texts<'a>) -> Result<Self> {
        let mut names = Names::default();
        texts.each(|object| names.add(source, object))?;
        names.choose();
        Ok(Self { source, texts, names, spread: None, left_out: None, cut: None })
    }

    /// Makes the arrays of a column a row for each item, whether it was left out or not.
    pub fn spread(&mut self, key: &str) {
        let Some(&place) = self.names.places.get(key) else { return };
        self.names.keys[place].is_plain = true;
        self.names.choose();
        self.spread = self.names.keys[place].column;
    }

    /// Spreads the only array that is called as times are, where no other column is.
    pub fn spread_times(&mut self) {
        let is_time = |name: &&Name<'_>| matches!(measure_of(&name.key), Measure::Time(_));
        let (plain, arrays): (Vec<&Name<'_>>, Vec<&Name<'_>>) =
            self.names.keys.iter().filter(is_time).partition(|name| name.column.is_some());
        if let ([], [only]) = (&plain[..], &arrays[..]) {
            let key = only.key.clone();
            self.spread(&key);
        }
    }

    /// Leaves out a column.
    pub fn pass_over(&mut self, key: &str) {
        if let Some(&place) = self.names.places.get(key) {
            self.names.keys[place].is_passed_over = true;
            self.names.choose();
        }
    }

    /// Calls a column otherwise, where there is none of the new name.
    pub fn rename(&mut self, from: &str, to: &str) {
        let is_taken =
            self.names.keys.iter().any(|name| name.column.is_some() && name.heading.name == to);
        if let (false, Some(&place)) = (is_taken, self.names.places.get(from)) {
            self.names.keys[place].heading.name = to.to_string();
        }
    }

    /// The only text that a key has, with `without` for an object that has none; `None` where there are
    /// several.
    pub fn only_text(&self, key: &str, without: &str) -> Option<String> {
        let Some(&place) = self.names.places.get(key) else { return Some(without.into()) };
        let name = &self.names.keys[place];
        let text = plain_text(name.first.unwrap_or_default())?;
        let is_everywhere = name.count == self.names.objects || text == without;
        (name.is_constant && is_everywhere).then(|| text.into_owned())
    }

    /// Whether any object has that key.
    pub fn has(&self, key: &str) -> bool {
        self.names.keys.iter().any(|name| name.key == key)
    }

    /// Calls what has that beginning without it.
    pub fn rename_inner(&mut self, beginning: &str) {
        let keys: Vec<String> = self.names.keys.iter().map(|name| name.key.clone()).collect();
        for key in &keys {
            if let Some(inner) = key.strip_prefix(beginning) {
                self.rename(key, inner);
            }
        }
    }

    /// Leaves out the keys that have that beginning.
    pub fn without(&mut self, beginning: &str) {
        for name in self.names.keys.iter_mut().filter(|name| name.key.starts_with(beginning)) {
            (name.is_plain, name.is_array) = (false, true);
        }
        self.names.choose();
    }

    /// Leaves out the objects that have that text at a key.
    pub fn leave_out(&mut self, key: &str, text: &'static str) {
        let place = self.names.places.get(key).and_then(|&place| self.names.keys[place].column);
        self.left_out = place.map(|column| (column, text));
    }

    /// The table.
    pub fn sheet(self, format: &str) -> Sheet<'a> {
        let columns = self.names.keys.iter().filter(|name| name.column.is_some());
        let columns = columns.map(|name| name.heading.clone()).collect();
        let (origin, format) = (self.source.into(), format.into());
        Sheet { origin, format, columns, rows: Box::new(self) }
    }
}

impl<'a> Texts<'a> {
    fn each(&self, mut object: impl FnMut(&'a str) -> Result<()>) -> Result<()> {
        match self {
            Self::Lines(text) => {
                let mut lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
                lines.try_for_each(object)
            }
            Self::Held(texts) => texts.iter().try_for_each(|text| object(text)),
        }
    }
}

/// What is called with a flattened key, the key where it is not copied, and the value.
type EachKey<'f, 'a> = &'f mut dyn FnMut(&str, Option<&'a str>, &'a str);

/// Calls `entry` with all keys and values of an object; those of objects inside as `outer.inner`.
fn each_flat<'a>(source: &Source, object: &'a str, entry: EachKey<'_, 'a>) -> Result<()> {
    if !object.starts_with('{') {
        let at = offset(&source.text, object);
        return Err(source.error(at, "what is no object", "an object, as the first is"));
    }
    flatten(object, &mut String::new(), 0, entry).map_err(|error| no_json(source, object, &error))
}

fn flatten<'a>(
    object: &'a str,
    path: &mut String,
    depth: usize,
    entry: EachKey<'_, 'a>,
) -> serde_json::Result<()> {
    let mut outcome = Ok(());
    each_entry(object, &mut |key: Cow<'a, str>, value: &'a str| {
        let is_object = value.starts_with('{') && depth < MOST_NESTED;
        let length = path.len();
        let borrowed = if let Cow::Borrowed(key) = key { Some(key) } else { None };
        match (depth, is_object) {
            (0, false) => return entry(&key, borrowed, value),
            (0, true) => {}
            _ => path.push('.'),
        }
        path.push_str(&key);
        if !is_object {
            entry(path, borrowed, value);
        } else if outcome.is_ok() {
            outcome = flatten(value, path, depth + 1, entry);
        }
        path.truncate(length);
    })?;
    outcome
}

impl<'a> Names<'a> {
    /// Adds the keys of the next object.
    fn add(&mut self, source: &Source, object: &'a str) -> Result<()> {
        self.objects += 1;
        let number = self.objects;
        let (mut next, mut twice) = (0, None);
        each_flat(source, object, &mut |key, borrowed, value| {
            let place = self.place(key, next).unwrap_or_else(|| {
                let at = offset(&source.text, borrowed.unwrap_or(value));
                self.insert(key, at)
            });
            next = place + 1;
            let name = &mut self.keys[place];
            if std::mem::replace(&mut name.seen, number) == number && twice.is_none() {
                twice = Some((place, offset(&source.text, value)));
            }
            match value.as_bytes()[0] {
                b'[' | b'{' => name.is_array = true,
                b'n' => return,
                _ => name.is_plain = true,
            }
            name.count += 1;
            name.is_constant &= *name.first.get_or_insert(value) == value;
        })?;
        match twice {
            None => Ok(()),
            Some((place, at)) => {
                let found = format!("a second value for {:?}", self.keys[place].key);
                Err(source.error(at, found, "one"))
            }
        }
    }

    /// The place of a key, which most often is the one behind the last key's.
    fn place(&self, key: &str, next: usize) -> Option<usize> {
        match self.keys.get(next) {
            Some(name) if name.key == key => Some(next),
            _ => self.places.get(key).copied(),
        }
    }

    fn insert(&mut self, key: &str, at: usize) -> usize {
        let place = self.keys.len();
        let is_taken = |name: &str| self.keys.iter().any(|known| known.heading.name == name);
        let heading = Heading { name: free_name(key, place + 1, is_taken), at };
        let key = key.to_string();
        self.places.insert(key.clone(), place);
        self.keys.push(Name {
            key,
            heading,
            is_plain: false,
            is_array: false,
            first: None,
            is_constant: true,
            count: 0,
            seen: 0,
            is_passed_over: false,
            column: None,
        });
        place
    }

    /// Leaves out what has arrays and nothing else.
    fn choose(&mut self) {
        let mut count = 0;
        for name in &mut self.keys {
            let is_column = (name.is_plain || !name.is_array) && !name.is_passed_over;
            name.column = is_column.then_some(count);
            count += usize::from(is_column);
        }
    }
}

impl Rows for Records<'_> {
    fn visit(&self, row: &mut EachRow<'_>) -> Result<()> {
        let count = self.names.keys.iter().filter(|name| name.column.is_some()).count();
        let mut fields = vec![empty(0); count];
        self.texts.each(|object| {
            let at = offset(&self.source.text, object);
            fields.fill(empty(at));
            let mut broken = None;
            let mut next = 0;
            each_flat(self.source, object, &mut |key, _, value| {
                let Some(place) = self.names.place(key, next) else { return };
                next = place + 1;
                let Some(column) = self.names.keys[place].column else { return };
                let at = offset(&self.source.text, value);
                match plain_text(value) {
                    Some(text) => fields[column] = Field { text, at },
                    None => broken = Some(at),
                }
            })?;
            if let Some(at) = broken {
                return Err(self.source.error(at, "a text", "a text without broken escapes"));
            }
            if self.left_out.is_some_and(|(column, text)| fields[column].text == text) {
                return Ok(());
            }
            match self.spread {
                Some(column) if fields[column].text.starts_with('[') => {
                    self.each_item(&fields, column, row)
                }
                _ => row(&fields),
            }
        })?;
        let cut = |at| vec![Field { text: CUT_OFF.into(), at }; count];
        self.cut.map_or(Ok(()), |at| row(&cut(at)))
    }
}

impl Records<'_> {
    /// A row for each item of the array in that column.
    fn each_item(&self, fields: &[Field<'_>], column: usize, row: &mut EachRow<'_>) -> Result<()> {
        let array = &fields[column];
        let error = |found: &str, expected: &str| self.source.error(array.at, found, expected);
        let items: Vec<&RawValue> =
            serde_json::from_str(&array.text).map_err(|_| error("what is no array", "an array"))?;
        if items.is_empty() {
            return Err(error("no values", "at least one"));
        }
        let mut spread = fields.to_vec();
        for item in items {
            let at = array.at + offset(&array.text, item.get());
            let text = plain_text(item.get()).unwrap_or_default();
            spread[column] = Field { text, at };
            row(&spread)?;
        }
        Ok(())
    }
}
