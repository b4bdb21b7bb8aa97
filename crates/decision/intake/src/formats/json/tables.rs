//! Tables that are written column by column or with their names apart, as pandas and `json.dump` do, and
//! tables within an object, with what stands beside them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use super::node::{Node, Object};
use super::records::Records;
use super::{ObjectFormat, sheet_of};
use crate::formats::blocks::with_column;
use crate::names::{Role, role_of};
use crate::sheet::{Field, Heading, Sheet, extended, made_of};
use crate::survey::pair;

pub(super) const SPLIT: ObjectFormat = ObjectFormat {
    name: "JSON of a table",
    sign: "\"columns\" and \"data\" of pandas",
    recognises: |root| {
        let is_array = |key: &str| root.get(key).is_some_and(|value| value.is_array());
        is_array("columns") && is_array("data")
    },
    table: split,
};

pub(super) const COLUMNS: ObjectFormat = ObjectFormat {
    name: "JSON of columns",
    sign: "an object of columns",
    recognises: |root| {
        let columns = || columns_of(root).into_iter();
        let all = |is_kind: fn(&str) -> bool| {
            columns().all(|(_, column)| is_kind(column.text) && is_of_plain(column))
        };
        let is_whole = columns().count() == root.entries().count();
        let is_of_one_kind = (all(|text| text.starts_with('{')) && is_whole)
            || (all(|text| text.starts_with('[')) && (is_whole || columns().count() > 1));
        is_of_one_kind && columns().next().is_some() && are_even(root)
    },
    table: columns,
};

pub(super) const KEYED: ObjectFormat = ObjectFormat {
    name: "JSON by configuration",
    sign: "an object with a key such as \"8x4\" for each run",
    recognises: |root| {
        let is_run = |value: Node<'_>| match value.is_object() {
            true => is_of_plain(value),
            false => value.is_plain() || value.is_null(),
        };
        let mut entries = root.entries();
        entries.clone().count() > 1
            && entries.all(|(key, value)| pair(key).is_some() && is_run(value))
    },
    table: keyed,
};

/// `{"8x4": time}` or `{"8x4": {name: value}}`.
fn keyed<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let mut table = Table::default();
    for (key, value) in root.entries() {
        let mut row = Row::at(value.at());
        row.add("key", Field { text: key.to_string().into(), at: value.at() });
        match value.is_object() {
            true => {
                row.add_all(value.object()?.entries())?;
            }
            false => row.add("value", value.field()?),
        }
        table.push(row);
    }
    Ok(table)
}

/// The entries that are no plain values.
fn columns_of<'a, 'o>(root: &'o Object<'a>) -> Vec<(&'o str, Node<'a>)> {
    root.entries().filter(|(_, value)| !value.is_plain() && !value.is_null()).collect()
}

/// Whether an array or object has values that stand for themselves, at least one.
fn is_of_plain(column: Node<'_>) -> bool {
    cells(column).is_ok_and(|cells| {
        !cells.is_empty() && cells.iter().all(|(_, cell)| cell.is_plain() || cell.is_null())
    })
}

/// Whether all columns have the same rows.
fn are_even(root: &Object<'_>) -> bool {
    let keys = |column| -> Vec<String> {
        cells(column).unwrap_or_default().into_iter().map(|(key, _)| key).collect()
    };
    let mut rows = columns_of(root).into_iter().map(|(_, column)| keys(column));
    let first = rows.next();
    rows.all(|other| Some(other) == first)
}

/// The values of a column and their keys.
fn cells(column: Node<'_>) -> Result<Vec<(String, Node<'_>)>> {
    if column.is_array() {
        let items = column.array()?.into_iter().enumerate();
        return Ok(items.map(|(index, item)| (index.to_string(), item)).collect());
    }
    let object = column.object()?;
    Ok(object.entries().map(|(key, value)| (key.to_string(), value)).collect())
}

/// `{"columns": [name], "data": [[value]]}`.
fn split<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let names = root.required("columns")?.array()?;
    let names: Vec<_> = names.iter().map(Node::plain_text).collect::<Result<_>>()?;
    let data = root.required("data")?;
    let mut table = Table::default();
    for line in data.array()? {
        let items = line.array()?;
        if items.len() != names.len() {
            let expected = format!("{}, as there are columns", names.len());
            return Err(line.error(format!("{} items", items.len()), expected));
        }
        let mut row = Row::at(line.at());
        for (name, item) in names.iter().zip(items) {
            row.add(name, item.field()?);
        }
        table.push(row);
    }
    table.filled(data, "rows")
}

/// `{name: {index: value}}` or `{name: [value]}`, beside which a plain value is that of all rows.
fn columns<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let columns = columns_of(root).into_iter().map(|(name, column)| Ok((name, cells(column)?)));
    let columns: Vec<_> = columns.collect::<Result<_>>()?;
    let count = columns.first().map_or(0, |(_, cells)| cells.len());
    let mut table = Table::default();
    for index in 0..count {
        let mut row = Row::at(columns[0].1[index].1.at());
        for (name, cells) in &columns {
            row.add(name, cells[index].1.field()?);
        }
        row.add_all(root.entries().filter(|(_, value)| value.is_plain()))?;
        table.push(row);
    }
    Ok(table)
}

/// Tables that lie deeper are not looked for.
const MOST_NESTED: usize = 3;

/// An array of objects, or several of the same keys, and what stands around: it is of all rows.
pub(super) struct InnerTable<'a> {
    items: Vec<Node<'a>>,
    around: Vec<(String, Node<'a>)>,
    /// Place at which each of several arrays begins \[bytes\], and its key.
    starts: Vec<(usize, String)>,
}

/// What the column of the keys of several arrays is called.
const KEYS: &str = "key";

/// The array of objects within an object, or those that have the same keys; `None` of none and of others.
pub(super) fn only_table(root: Node<'_>) -> Result<Option<InnerTable<'_>>> {
    let (mut tables, mut around) = (Vec::new(), Vec::new());
    find(root, "", 0, &mut tables, &mut around)?;
    let mut keys = Vec::new();
    for (_, items) in &tables {
        let first = items[0].object()?;
        keys.push(first.entries().map(|(key, _)| key.to_string()).collect::<Vec<_>>());
    }
    if tables.is_empty() || keys.windows(2).any(|pair| pair[0] != pair[1]) {
        return Ok(None);
    }
    let start = |(path, items): &(String, Vec<Node<'_>>)| (items[0].at(), path.clone());
    let starts = if tables.len() > 1 { tables.iter().map(start).collect() } else { Vec::new() };
    let items = tables.into_iter().flat_map(|(_, items)| items).collect();
    Ok(Some(InnerTable { items, around, starts }))
}

/// Adds the arrays of objects, and the plain values that are its own or count processes or threads.
fn find<'a>(
    node: Node<'a>,
    path: &str,
    depth: usize,
    tables: &mut Vec<(String, Vec<Node<'a>>)>,
    around: &mut Vec<(String, Node<'a>)>,
) -> Result<()> {
    if depth > MOST_NESTED {
        return Ok(());
    }
    if node.is_array() {
        let items = node.array()?;
        let is_table = items.first().is_some_and(Node::is_object);
        tables.extend(is_table.then(|| (path.trim_end_matches('.').to_string(), items)));
    } else if node.is_object() {
        for (name, value) in node.object()?.entries() {
            let is_count =
                || matches!(role_of(name), Some(Role::Processes | Role::Threads | Role::Nodes));
            if value.is_plain() && (depth == 0 || is_count()) {
                around.push((format!("{path}{name}"), value));
            }
            find(value, &format!("{path}{name}."), depth + 1, tables, around)?;
        }
    }
    Ok(())
}

impl<'a> InnerTable<'a> {
    pub fn sheet(self, source: &'a Source) -> Result<Sheet<'a>> {
        let first = self.items[0].object()?;
        let records = Records::of_items(source, self.items)?;
        let mut sheet = sheet_of(records, &first, "JSON of records")?;
        let mut texts = Vec::new();
        for (name, value) in &self.around {
            if sheet.column(name).is_none() {
                let Field { text, at } = value.field()?;
                sheet.columns.push(Heading { name: name.clone(), at });
                texts.push(Field { text, at });
            }
        }
        let Sheet { origin, format, columns, rows } = sheet;
        let rows = made_of(rows, move |rows, row| {
            rows.visit(&mut |fields| {
                let at = fields.first().map_or(0, |field| field.at);
                let mut all = extended(fields, texts.len());
                all.extend(texts.iter().map(|field| Field { at, ..field.borrowed() }));
                row(&all)
            })
        });
        let sheet = Sheet { origin, format, columns, rows };
        let name = free_name(KEYS, 0, |name| sheet.column(name).is_some());
        Ok(if self.starts.is_empty() { sheet } else { with_column(sheet, name, self.starts) })
    }
}

/// A table that is held.
#[derive(Default)]
pub(super) struct Table<'a> {
    columns: Vec<Heading>,
    places: BTreeMap<String, usize>,
    rows: Vec<Vec<Field<'a>>>,
}

/// Fields of a row with the names of their columns.
#[derive(Clone)]
pub(super) struct Row<'a> {
    /// Place at which it begins in the file \[bytes\].
    at: usize,
    fields: Vec<(String, Field<'a>)>,
}

impl<'a> Row<'a> {
    pub fn at(at: usize) -> Self {
        Self { at, fields: Vec::new() }
    }

    /// Adds a field, under a name that is free in the row.
    pub fn add(&mut self, name: &str, field: Field<'a>) {
        let is_taken = |name: &str| self.get(name).is_some();
        let name = free_name(name, self.fields.len() + 1, is_taken);
        self.fields.push((name, field));
    }

    /// Adds the field of a value, if there is one.
    pub fn add_value(&mut self, name: &str, value: Option<Node<'a>>) -> Result<()> {
        if let Some(value) = value {
            self.add(name, value.field()?);
        }
        Ok(())
    }

    /// Adds the fields of values by their keys.
    pub fn add_all<'k>(
        &mut self,
        values: impl IntoIterator<Item = (&'k str, Node<'a>)>,
    ) -> Result<()> {
        values.into_iter().try_for_each(|(name, value)| self.add_value(name, Some(value)))
    }

    /// What the row has in that column.
    pub fn get(&self, name: &str) -> Option<&Field<'a>> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| field)
    }

    /// All names and texts, in their order.
    pub fn texts(&self) -> Vec<(String, String)> {
        self.fields.iter().map(|(name, field)| (name.clone(), field.text.to_string())).collect()
    }
}

impl<'a> Table<'a> {
    /// Adds a row, and the columns that it is the first to have.
    pub fn push(&mut self, row: Row<'a>) {
        let mut fields = vec![empty(row.at); self.columns.len()];
        for (name, field) in row.fields {
            let place = *self.places.entry(name).or_insert_with_key(|name| {
                self.columns.push(Heading { name: name.clone(), at: field.at });
                self.columns.len() - 1
            });
            fields.resize(self.columns.len(), empty(row.at));
            fields[place] = field;
        }
        self.rows.push(fields);
    }

    /// The table, of which there must be at least one row; else there are no `rows` where they should be.
    pub fn filled(self, place: Node<'_>, rows: &str) -> Result<Self> {
        match self.rows.is_empty() {
            true => Err(place.error(format!("no {rows}"), "at least one")),
            false => Ok(self),
        }
    }

    /// Calls a column otherwise, where there is none of the new name.
    pub fn rename(&mut self, from: &str, to: &str) {
        if !self.places.contains_key(to)
            && let Some(place) = self.places.remove(from)
        {
            self.columns[place].name = to.to_string();
            self.places.insert(to.to_string(), place);
        }
    }

    /// The texts of a column, each once; of rows without one, the empty text.
    pub fn values(&self, name: &str) -> Vec<&str> {
        let Some(&place) = self.places.get(name) else { return Vec::new() };
        let mut values: Vec<&str> = self
            .rows
            .iter()
            .map(|row| row.get(place).map_or("", |field| field.text.as_ref()))
            .collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The table with texts of its own.
    pub fn into_owned(self) -> Table<'static> {
        let own =
            |field: Field<'a>| Field { text: Cow::Owned(field.text.into_owned()), at: field.at };
        let rows = self.rows.into_iter();
        Table {
            columns: self.columns,
            places: self.places,
            rows: rows.map(|row| row.into_iter().map(own).collect()).collect(),
        }
    }

    pub fn sheet(mut self, source: &'a Source, format: &str) -> Sheet<'a> {
        for row in &mut self.rows {
            let at = row.first().map_or(0, |field| field.at);
            row.resize(self.columns.len(), empty(at));
        }
        let (format, columns, rows) = (format.into(), self.columns, Box::new(self.rows));
        Sheet { origin: source.into(), format, columns, rows }
    }
}

/// A field of which the file has nothing.
pub(super) fn empty<'a>(at: usize) -> Field<'a> {
    Field { text: Cow::Borrowed(""), at }
}

/// The name without blanks around it; its number from 1, where there is none; `name 2` and so on where
/// that is taken.
pub(super) fn free_name(name: &str, number: usize, is_taken: impl Fn(&str) -> bool) -> String {
    let name = if name.trim().is_empty() { number.to_string() } else { name.trim().to_string() };
    if !is_taken(&name) {
        return name;
    }
    let mut others = (2..).map(|count| format!("{name} {count}"));
    others.find(|other| !is_taken(other)).expect("invariant: not all numbers are taken")
}
