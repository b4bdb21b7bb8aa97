//! Tables that are written column by column, or with their names apart, as pandas and `json.dump` do.

use mmgp_base::error::Result;

use super::Format;
use super::node::{Node, Object};
use super::table::{Row, Table};
use crate::sheet::Field;
use crate::survey::pair;

pub(super) const SPLIT: Format = Format {
    name: "JSON of a table",
    sign: "\"columns\" and \"data\" of pandas",
    recognises: |root| {
        let is_array = |key: &str| root.get(key).is_some_and(|value| value.is_array());
        is_array("columns") && is_array("data")
    },
    table: split,
};

pub(super) const COLUMNS: Format = Format {
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

pub(super) const KEYED: Format = Format {
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
                for (name, value) in value.object()?.entries() {
                    row.add(name, value.field()?);
                }
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
    if table.is_empty() {
        return Err(data.error("no rows", "at least one"));
    }
    Ok(table)
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
        for (name, value) in root.entries().filter(|(_, value)| value.is_plain()) {
            row.add(name, value.field()?);
        }
        table.push(row);
    }
    Ok(table)
}
