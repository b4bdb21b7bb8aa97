//! Tables that are written column by column, or with their names apart, as pandas and `json.dump` do.

use mmgp_base::error::Result;

use super::Format;
use super::node::{Node, Object};
use super::table::{Row, Table};

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
        let all = |is_kind: fn(&str) -> bool| {
            root.entries().all(|(_, column)| is_kind(column.text) && is_of_plain(column))
        };
        let is_of_one_kind = all(|text| text.starts_with('{')) || all(|text| text.starts_with('['));
        is_of_one_kind && root.entries().next().is_some() && are_even(root)
    },
    table: columns,
};

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
    let mut rows = root.entries().map(|(_, column)| keys(column));
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

/// `{name: {index: value}}` or `{name: [value]}`.
fn columns<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let columns = root.entries().map(|(name, column)| Ok((name, cells(column)?)));
    let columns: Vec<_> = columns.collect::<Result<_>>()?;
    let count = columns.first().map_or(0, |(_, cells)| cells.len());
    let mut table = Table::default();
    for index in 0..count {
        let mut row = Row::at(columns[0].1[index].1.at());
        for (name, cells) in &columns {
            row.add(name, cells[index].1.field()?);
        }
        table.push(row);
    }
    Ok(table)
}
