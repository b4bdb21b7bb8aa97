//! A table whose columns are found as its rows come.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use super::node::Node;
use crate::sheet::{Field, Heading, Sheet};

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
        Sheet { source, format: format.into(), columns: self.columns, rows: Box::new(self.rows) }
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
