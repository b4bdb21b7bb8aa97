//! Timed runs from the JSON file of the benchmarking tool hyperfine.
//!
//! `hyperfine --parameter-list m 1,2,4 --parameter-list p 1,2,4 --export-json runs.json
//! './program {m} {p}'` gives one result for each (m, p); its `times` are the repetitions.
//!
//! ```
//! use mmgp_base::table::{Columns, Source, hyperfine};
//!
//! let text = r#"{"results": [{"times": [1.5, 1.25], "parameters": {"m": "2", "p": "4"}}]}"#;
//! let (runs, _) = hyperfine::read(&Source::new("runs.json", text), &Columns::default())?;
//! assert_eq!((runs[1].m, runs[1].p, runs[1].repetition, runs[1].time_s), (2, 4, 2, 1.25));
//! # Ok::<(), mmgp_base::Error>(())
//! ```

use std::collections::BTreeSet;

use super::Source;
use super::columns::{Columns, Unit};
use super::extrap::Numbered;
use super::failures::Failures;
use super::json::{Object, Value};
use super::records::Run;
use crate::error::{Result, Warning};

/// All runs of a hyperfine JSON file. Parameters other than m and p, and what hyperfine computes
/// from the times, are passed over. Runs with an exit code other than 0 are left out and counted.
/// `columns` name the parameters, and the array of times.
///
/// # Errors
/// [`crate::Error::Input`] at what is not as the format asks, a time that is negative or not
/// finite, m or p of 0 or missing, a second result for the same m and p, or no run that did not
/// fail.
pub fn read(source: &Source, columns: &Columns) -> Result<(Vec<Run>, Vec<Warning>)> {
    let results = Value::parse(source)?.object()?.required("results")?;
    let (times, unit) = columns.time().unwrap_or(("times", Unit::Seconds));
    let mut reader = Reader {
        columns,
        times,
        points: BTreeSet::new(),
        runs: Numbered::of(unit),
        failures: Failures::default(),
    };
    for result in results.array()? {
        reader.read_result(&result.object()?)?;
    }
    let runs = reader.runs.into_runs();
    let warning = reader.failures.warning(&source.name);
    if runs.is_empty() {
        return Err(match warning {
            Some(_) => reader.failures.all(),
            None => results.error_found("no results", "at least one"),
        });
    }
    Ok((runs, warning.into_iter().collect()))
}

/// What has been read so far.
struct Reader<'a> {
    columns: &'a Columns,
    /// The array of times.
    times: &'a str,
    points: BTreeSet<(u32, u32)>,
    runs: Numbered,
    failures: Failures,
}

impl Reader<'_> {
    fn read_result(&mut self, result: &Object<'_>) -> Result<()> {
        let place = result.required("parameters")?;
        let parameters = place.object()?;
        let point = (count(&parameters, self.columns.m())?, count(&parameters, self.columns.p())?);
        if !self.points.insert(point) {
            let found = format!("a second result for m = {}, p = {}", point.0, point.1);
            return Err(place.error_found(found, "one result for each"));
        }
        let codes = result.get("exit_codes").map(|codes| codes.array()).transpose()?;
        let times = result.required(self.times)?;
        let values = times.array()?;
        if values.is_empty() {
            return Err(times.error_found("no times", "at least one"));
        }
        for (index, value) in values.iter().enumerate() {
            if let Some(code) = codes.as_ref().and_then(|codes| codes.get(index))
                && (code.is_null() || code.number()? != 0.0)
            {
                let why = || format!("{} as exit code", code.describe());
                self.failures.add(point, || (code.position(), why()));
                continue;
            }
            self.runs.push(point, value.seconds()?);
        }
        Ok(())
    }
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
        assert_eq!(
            read(&source, &Columns::default()).expect_err("must be refused").to_string(),
            message
        );
    }

    #[test]
    fn every_time_of_every_result_is_a_run() {
        let text = r#"{"results": [
            {"command": "x 1 1", "mean": 2.5, "stddev": null, "times": [2, 3], "exit_codes": [0, 0],
             "parameters": {"m": "1", "p": "1", "size": "big"}},
            {"command": "x 2 4", "times": [0.5], "parameters": {"m": 2, "p": 4}}]}"#;
        let runs = read(&Source::new("x.json", text), &Columns::default()).unwrap().0;
        let found: Vec<_> =
            runs.iter().map(|run| (run.m, run.p, run.repetition, run.time_s)).collect();
        assert_eq!(found, [(1, 1, 1, 2.0), (1, 1, 2, 3.0), (2, 4, 1, 0.5)]);
    }

    #[test]
    fn parameters_have_the_names_that_are_chosen_and_failed_runs_are_left_out() {
        let text = r#"{"results": [
            {"times": [2, 3, 4], "exit_codes": [0, 137, null], "parameters": {"ranks": "4", "t": "2"}}]}"#;
        let columns = "m=ranks,p=t".parse().expect("good columns");
        let (runs, warnings) = read(&Source::new("x.json", text), &columns).unwrap();
        assert_eq!(runs, [Run { m: 4, p: 2, repetition: 1, time_s: 2.0 }]);
        let warnings: Vec<String> = warnings.iter().map(Warning::to_string).collect();
        assert_eq!(
            warnings,
            [
                "x.json: 2 runs failed and were left out, the first in line 2, of (4, 2): the number \
              137 as exit code"
            ]
        );
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
            "x.json:2:29: found the number 1 as exit code, and no run that did not fail, expected at \
             least one time",
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
