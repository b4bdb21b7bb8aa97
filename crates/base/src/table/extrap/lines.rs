//! The JSON Lines format: one object of `params`, `callpath`, `metric` and `value` in each line.

use super::super::json::{Object, Value};
use super::super::records::Run;
use super::super::{BYTE_ORDER_MARK, Source};
use super::objects::push_values;
use super::{METRIC, Numbered, ONE_REGION, PARAMETERS};
use crate::error::{Error, Result};

/// All runs of an Extra-P JSON Lines file. A point may have several lines, and a line several
/// values; all are repetitions. A line without `callpath` belongs to the region `<root>`, as in
/// Extra-P, one without `metric` has the metric `time`.
///
/// # Errors
/// [`Error::Input`] as [`super::json`], with the place in the line.
pub fn json_lines(source: &Source) -> Result<Vec<Run>> {
    let text = source.text.trim_start_matches(BYTE_ORDER_MARK);
    let mut runs = Numbered::default();
    let mut region: Option<String> = None;
    for line in text.split('\n').filter(|line| !line.trim().is_empty()) {
        let object = Value::parse_part(source, line)?.object()?;
        let word = |key: &str, without: &str| match object.get(key) {
            Some(value) => value.text(),
            None => Ok(without.to_string()),
        };
        if word("metric", METRIC)? != METRIC {
            continue;
        }
        let of_line = word("callpath", "<root>")?;
        match &region {
            Some(known) if *known != of_line => {
                let found = format!("a second region {of_line:?} with the metric \"time\"");
                return Err(object.whole.error_found(found, ONE_REGION));
            }
            Some(_) => {}
            None => region = Some(of_line),
        }
        push_values(&object.required("value")?, point(&object)?, &mut runs)?;
    }
    let runs = runs.into_runs();
    if runs.is_empty() {
        return Err(Error::Input {
            at: source.position(source.text.len()),
            found: "no line with the metric \"time\"".into(),
            expected: "at least one".into(),
        });
    }
    Ok(runs)
}

fn point(object: &Object<'_>) -> Result<(u32, u32)> {
    let place = object.required("params")?;
    let params = place.object()?;
    let mut names: Vec<&str> = params.entries().map(|(name, _)| name).collect();
    names.sort_unstable();
    if names != ["m", "p"] {
        return Err(place.error_found(format!("the parameters {}", names.join(", ")), PARAMETERS));
    }
    Ok((params.required("m")?.count(1)?, params.required("p")?.count(1)?))
}
