//! Extra-P's JSON and JSON Lines.

use super::{REGION, points, refused};
use mmgp_base::error::Result;
use mmgp_base::table::records::Run;

/// One JSON object: `parameters`, and under `measurements`, region `run` and metric `time` the
/// `values` at each `point`.
///
/// # Errors
/// [`crate::Error::OutOfRange`] for no runs.
pub fn extra_p_json(runs: &[Run]) -> Result<String> {
    let points = points(runs)?;
    let lines: Vec<String> = points
        .iter()
        .map(|((m, p), times)| {
            format!("        {{\"point\": [{m}, {p}], \"values\": {}}}", array(times))
        })
        .collect();
    Ok(format!(
        "{{\n  \"parameters\": [\"m\", \"p\"],\n  \"measurements\": {{\n    \"{REGION}\": {{\n      \
         \"time\": [\n{}\n      ]\n    }}\n  }}\n}}\n",
        lines.join(",\n")
    ))
}

/// An object in each line: `params`, `callpath`, `metric`, and as `value` all times of a point.
///
/// # Errors
/// [`crate::Error::OutOfRange`] for fewer than two points: Extra-P takes a single line for JSON.
pub fn extra_p_json_lines(runs: &[Run]) -> Result<String> {
    let points = points(runs)?;
    if points.len() < 2 {
        let expected = "two or more in Extra-P JSON Lines; use extra-p-json";
        return Err(refused("one configuration".into(), expected));
    }
    let line = |((m, p), times): (&(u32, u32), &Vec<f64>)| {
        format!(
            "{{\"params\": {{\"m\": {m}, \"p\": {p}}}, \"callpath\": \"{REGION}\", \
             \"metric\": \"time\", \"value\": {}}}\n",
            array(times)
        )
    };
    Ok(points.iter().map(line).collect())
}

fn array(times: &[f64]) -> String {
    let numbers: Vec<String> = times.iter().map(|time| format!("{time:?}")).collect();
    format!("[{}]", numbers.join(", "))
}
