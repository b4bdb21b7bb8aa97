//! Timed runs from the JSON file of the benchmarking tool hyperfine.
//!
//! `hyperfine --parameter-list m 1,2,4 --parameter-list p 1,2,4 --export-json runs.json
//! './program {m} {p}'` gives one result for each (m, p); its `times` are the repetitions.
//!
//! ```
//! use mmgp_base::table::{Source, hyperfine};
//!
//! let text = r#"{"results": [{"times": [1.5, 1.25], "parameters": {"m": "2", "p": "4"}}]}"#;
//! let runs = hyperfine::read(&Source::new("runs.json", text))?;
//! assert_eq!((runs[1].m, runs[1].p, runs[1].repetition, runs[1].time_s), (2, 4, 2, 1.25));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

use super::Source;
use super::extrap::Numbered;
use super::json::{Object, Value};
use super::records::Run;
use crate::error::Result;

/// All runs of a hyperfine JSON file. Parameters other than m and p, and what hyperfine computes
/// from the times, are passed over.
///
/// # Errors
/// [`crate::Error::Input`] at what is not as the format asks, a time that is negative or not
/// finite, m or p of 0 or missing, a second result for the same m and p, or a run that failed.
pub fn read(source: &Source) -> Result<Vec<Run>> {
    let results = Value::parse(source)?.object()?.required("results")?;
    let mut runs = Numbered::default();
    for result in results.array()? {
        read_result(&result.object()?, &mut runs)?;
    }
    let runs = runs.into_runs();
    if runs.is_empty() {
        return Err(results.error_found("no results", "at least one"));
    }
    Ok(runs)
}

fn read_result(result: &Object<'_>, runs: &mut Numbered) -> Result<()> {
    let place = result.required("parameters")?;
    let parameters = place.object()?;
    let point = (count(&parameters, "m")?, count(&parameters, "p")?);
    if runs.has(point) {
        let found = format!("a second result for m = {}, p = {}", point.0, point.1);
        return Err(place.error_found(found, "one result for each"));
    }
    if let Some(codes) = result.get("exit_codes") {
        for code in codes.array()? {
            if code.is_null() || code.number()? != 0.0 {
                return Err(code.error_found("the exit code of a run that failed", "0"));
            }
        }
    }
    let times = result.required("times")?;
    let values = times.array()?;
    if values.is_empty() {
        return Err(times.error_found("no times", "at least one"));
    }
    for value in values {
        runs.push(point, value.seconds()?);
    }
    Ok(())
}

/// hyperfine writes the values of its parameters as texts.
fn count(parameters: &Object<'_>, name: &str) -> Result<u32> {
    let value = parameters.required(name)?;
    if !value.is_text() {
        return value.count(1);
    }
    match value.text()?.parse::<u32>() {
        Ok(count) if count >= 1 => Ok(count),
        _ => Err(value.error(&format!("a whole number from 1 to {}", u32::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(results: &str, message: &str) {
        let source = Source::new("x.json", &format!("{{\"results\":\n{results}}}"));
        assert_eq!(read(&source).expect_err("must be refused").to_string(), message);
    }

    #[test]
    fn every_time_of_every_result_is_a_run() {
        let text = r#"{"results": [
            {"command": "x 1 1", "mean": 2.5, "stddev": null, "times": [2, 3], "exit_codes": [0, 0],
             "parameters": {"m": "1", "p": "1", "size": "big"}},
            {"command": "x 2 4", "times": [0.5], "parameters": {"m": 2, "p": 4}}]}"#;
        let runs = read(&Source::new("x.json", text)).unwrap();
        let found: Vec<_> =
            runs.iter().map(|run| (run.m, run.p, run.repetition, run.time_s)).collect();
        assert_eq!(found, [(1, 1, 1, 2.0), (1, 1, 2, 3.0), (2, 4, 1, 0.5)]);
    }

    #[test]
    fn what_is_not_a_timed_run_is_refused_at_its_place() {
        check("[]", "x.json:2:1: found no results, expected at least one");
        check(
            r#"[{"times":[1]}]"#,
            "x.json:2:2: found an object without \"parameters\", expected \"parameters\"",
        );
        check(
            r#"[{"times":[1],"parameters":{"m":"1"}}]"#,
            "x.json:2:28: found an object without \"p\", expected \"p\"",
        );
        check(
            r#"[{"times":[1],"parameters":{"m":"0","p":"1"}}]"#,
            "x.json:2:33: found the text \"0\", expected a whole number from 1 to 4294967295",
        );
        check(
            r#"[{"times":[1,-1],"parameters":{"m":"1","p":"1"}}]"#,
            "x.json:2:14: found the number -1, expected a finite time of 0 s or more",
        );
        check(
            r#"[{"times":[1],"exit_codes":[1],"parameters":{"m":"1","p":"1"}}]"#,
            "x.json:2:29: found the exit code of a run that failed, expected 0",
        );
        check(
            r#"[{"times":[1],"parameters":{"m":1,"p":1}},{"times":[1],"parameters":{"m":1,"p":1}}]"#,
            "x.json:2:69: found a second result for m = 1, p = 1, expected one result for each",
        );
        check(
            r#"[{"times":[],"parameters":{"m":1,"p":1}}]"#,
            "x.json:2:11: found no times, expected at least one",
        );
    }
}
