//! The JSON of Extra-P: objects of the new kind, objects of versions before 4, and JSON Lines.
//!
//! A row has the parameters by their names, `callpath`, `metric`, and the value, whose column is called as
//! the metric where the file has only one, and `value` otherwise.

use std::collections::BTreeMap;

use mmgp_base::error::Result;

use super::node::{Node, Object};
use super::records::Records;
use super::tables::{Row, Table};
use super::{ObjectFormat, RecordFormat};
use crate::sheet::{Field, Sheet};

pub(super) const FORMAT: ObjectFormat = ObjectFormat {
    name: "JSON of Extra-P",
    sign: "\"measurements\" of Extra-P",
    recognises: |root| root.get("measurements").is_some(),
    table: |root| match root.get("measurements").filter(Node::is_array) {
        Some(measurements) => old(root, measurements),
        None => new(root),
    },
};

/// `{params{}, value, callpath?, metric?}` in each line.
pub(super) const LINES: RecordFormat = RecordFormat {
    recognises: |line| {
        let has_parameters = line.get("params").is_some_and(|params| params.is_object());
        has_parameters && line.any("value").is_some()
    },
    sheet: of_lines,
};

/// `{"parameters": [name], "measurements": {callpath: {metric: [{point, values}]}}}`.
fn new<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let parameters = root.required("parameters")?.array()?;
    let names: Vec<_> = parameters.iter().map(Node::plain_text).collect::<Result<_>>()?;
    let measurements = root.required("measurements")?;
    let mut table = Table::default();
    for (callpath, metrics) in measurements.object()?.entries() {
        for (metric, points) in metrics.object()?.entries() {
            for point in points.array()? {
                let point = point.object()?;
                let mut row = Row::at(point.node.at());
                let place = point.required("point")?;
                let coordinates = if place.is_array() { place.array()? } else { vec![place] };
                if coordinates.len() != names.len() {
                    let found = format!("{} numbers", coordinates.len());
                    return Err(place.error(found, format!("one for each of {}", names.join(", "))));
                }
                for (name, coordinate) in names.iter().zip(&coordinates) {
                    row.add(name, coordinate.field()?);
                }
                row.add("callpath", text(callpath, point.node.at()));
                row.add("metric", text(metric, point.node.at()));
                push_values(&point.required("values")?, &row, &mut table)?;
            }
        }
    }
    finish(table, measurements)
}

fn text<'a>(text: &str, at: usize) -> Field<'a> {
    Field { text: text.to_string().into(), at }
}

/// `parameters`, `callpaths`, `metrics` and `coordinates` by their ids, and a measurement for each of
/// their combinations.
fn old<'a>(root: &Object<'a>, measurements: Node<'a>) -> Result<Table<'a>> {
    let named = |key: &str| -> Result<BTreeMap<String, Node<'a>>> {
        by_id(root.required(key)?, |object| object.required("name"))
    };
    let (parameters, metrics) = (named("parameters")?, named("metrics")?);
    let callpaths = named("callpaths")?;
    let coordinates =
        by_id(root.required("coordinates")?, |object| object.required("parameter_value_pairs"))?;
    let mut table = Table::default();
    for measurement in measurements.array()? {
        let measurement = measurement.object()?;
        let find = |key: &str, among: &BTreeMap<String, Node<'a>>| {
            found(&measurement.required(key)?, among)
        };
        let mut row = Row::at(measurement.node.at());
        for pair in find("coordinate_id", &coordinates)?.array()? {
            let pair = pair.object()?;
            let name = found(&pair.required("parameter_id")?, &parameters)?.plain_text()?;
            row.add(&name, pair.required("parameter_value")?.field()?);
        }
        row.add("callpath", find("callpath_id", &callpaths)?.field()?);
        row.add("metric", find("metric_id", &metrics)?.field()?);
        push_values(&measurement.required("value")?, &row, &mut table)?;
    }
    finish(table, measurements)
}

/// What each object of an array has, by the object's id.
fn by_id<'a>(
    array: Node<'a>,
    value: impl Fn(&Object<'a>) -> Result<Node<'a>>,
) -> Result<BTreeMap<String, Node<'a>>> {
    let entry = |item: Node<'a>| {
        let object = item.object()?;
        Ok((object.required("id")?.plain_text()?.into_owned(), value(&object)?))
    };
    array.array()?.into_iter().map(entry).collect()
}

fn found<'a>(id: &Node<'a>, among: &BTreeMap<String, Node<'a>>) -> Result<Node<'a>> {
    let value = among.get(id.plain_text()?.as_ref()).copied();
    value.ok_or_else(|| id.error(id.describe(), "an id of the file"))
}

/// A row for a number, or for each of an array of at least one.
fn push_values<'a>(values: &Node<'a>, common: &Row<'a>, table: &mut Table<'a>) -> Result<()> {
    let items = if values.is_array() { values.array()? } else { vec![*values] };
    if items.is_empty() {
        return Err(values.error("no values", "at least one"));
    }
    for item in items {
        let mut row = common.clone();
        row.add("value", item.field()?);
        table.push(row);
    }
    Ok(())
}

fn finish<'a>(table: Table<'a>, measurements: Node<'a>) -> Result<Table<'a>> {
    let mut table = table.filled(measurements, "measurements")?;
    let metric = match table.values("metric")[..] {
        [only] => Some(only.to_string()),
        _ => None,
    };
    if let Some(metric) = metric {
        table.rename("value", &metric);
    }
    Ok(table)
}

/// The table of JSON Lines. A line without `metric` has the metric `time`, as in Extra-P; a value may be
/// an array of repetitions.
fn of_lines(mut records: Records<'_>) -> Result<Sheet<'_>> {
    records.rename_inner("params.");
    if let Some(metric) = records.only_text("metric", "time") {
        records.rename("value", &metric);
    }
    records.spread("value");
    Ok(records.sheet("JSON Lines of Extra-P"))
}
