//! The JSON format: `{"parameters": [..], "measurements": {region: {metric: [{point, values}]}}}`.

use super::super::Source;
use super::super::json::{Object, Value};
use super::super::records::Run;
use super::{Columns, Names, Numbered, Order};
use crate::error::Result;

/// All runs of an Extra-P JSON file.
///
/// # Errors
/// [`crate::Error::Input`] at what is not as the format asks, a time that is negative or not
/// finite, m or p of 0, a point that comes twice, parameters other than m and p, or no or several
/// regions with the metric `time`.
pub fn json(source: &Source, columns: &Columns) -> Result<Vec<Run>> {
    let names = Names::of(columns);
    let root = Value::parse(source)?.object()?;
    let order = order(&root.required("parameters")?, names)?;
    let measurements = root.required("measurements")?;
    let mut timed = Vec::new();
    for (_, metrics) in measurements.object()?.entries() {
        timed.extend(metrics.object()?.get(names.metric));
    }
    let points = match timed[..] {
        [points] => points,
        [] => {
            let found = format!("no metric {:?}", names.metric);
            return Err(measurements.error_found(found, names.one_region()));
        }
        [_, second, ..] => {
            return Err(second.error_found(names.second_metric(), names.one_region()));
        }
    };
    let mut runs = Numbered::of(names.unit);
    for point in points.array()? {
        read_point(&point.object()?, order, &mut runs)?;
    }
    let runs = runs.into_runs();
    if runs.is_empty() {
        return Err(points.error_found("no points", "at least one"));
    }
    Ok(runs)
}

fn order(parameters: &Value<'_>, names: Names<'_>) -> Result<Order> {
    let found: Vec<String> = parameters.array()?.iter().map(Value::text).collect::<Result<_>>()?;
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    Order::of(&found, names).ok_or_else(|| {
        parameters.error_found(format!("the parameters {}", found.join(", ")), names.parameters())
    })
}

fn read_point(object: &Object<'_>, order: Order, runs: &mut Numbered) -> Result<()> {
    let place = object.required("point")?;
    let coordinates = place.array()?;
    let [first, second] = coordinates[..] else {
        return Err(place.error_found(format!("{} numbers", coordinates.len()), "m and p"));
    };
    let point = order.point([first.count(1)?, second.count(1)?]);
    if runs.has(point) {
        let found = format!("a second point for m = {}, p = {}", point.0, point.1);
        return Err(place.error_found(found, "one point for each"));
    }
    push_values(&object.required("values")?, point, runs)
}

/// A number, or an array of at least one.
pub(super) fn push_values(
    values: &Value<'_>,
    point: (u32, u32),
    runs: &mut Numbered,
) -> Result<()> {
    if !values.is_array() {
        runs.push(point, values.seconds()?);
        return Ok(());
    }
    let items = values.array()?;
    if items.is_empty() {
        return Err(values.error_found("no values", "at least one time"));
    }
    for item in items {
        runs.push(point, item.seconds()?);
    }
    Ok(())
}
