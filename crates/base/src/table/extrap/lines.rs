//! The JSON Lines format: one object of `params`, `callpath`, `metric` and `value` in each line.

use super::super::json::{Object, Value};
use super::super::records::Run;
use super::super::{BYTE_ORDER_MARK, Source};
use super::objects::push_values;
use super::{Columns, Names, Numbered, Order};
use crate::error::{Error, Result};

/// All runs of an Extra-P JSON Lines file. A point may have several lines, and a line several
/// values; all are repetitions. A line without `callpath` belongs to the region `<root>`, as in
/// Extra-P, one without `metric` has the metric `time`.
///
/// # Errors
/// [`Error::Input`] as [`super::json`], with the place in the line.
pub fn json_lines(source: &Source, columns: &Columns) -> Result<Vec<Run>> {
    let names = Names::of(columns);
    let text = source.text.trim_start_matches(BYTE_ORDER_MARK);
    let mut runs = Numbered::of(names.unit);
    let mut region: Option<String> = None;
    for line in text.split('\n').filter(|line| !line.trim().is_empty()) {
        let object = Value::parse_part(source, line)?.object()?;
        let word = |key: &str, without: &str| match object.get(key) {
            Some(value) => value.text(),
            None => Ok(without.to_string()),
        };
        if word("metric", "time")? != names.metric {
            continue;
        }
        let of_line = word("callpath", "<root>")?;
        match &region {
            Some(known) if *known != of_line => {
                let found = format!("a second region {of_line:?} with {}", names.metric());
                return Err(object.whole.error_found(found, names.one_region()));
            }
            Some(_) => {}
            None => region = Some(of_line),
        }
        push_values(&object.required("value")?, point(&object, names)?, &mut runs)?;
    }
    let runs = runs.into_runs();
    if runs.is_empty() {
        return Err(Error::Input {
            at: source.position(source.text.len()),
            found: format!("no line with {}", names.metric()),
            expected: "at least one".into(),
        });
    }
    Ok(runs)
}

fn point(object: &Object<'_>, names: Names<'_>) -> Result<(u32, u32)> {
    let place = object.required("params")?;
    let params = place.object()?;
    let mut found: Vec<&str> = params.entries().map(|(name, _)| name).collect();
    found.sort_unstable();
    if Order::of(&found, names).is_none() {
        let found = format!("the parameters {}", found.join(", "));
        return Err(place.error_found(found, names.parameters()));
    }
    Ok((params.required(names.m)?.count(1)?, params.required(names.p)?.count(1)?))
}
