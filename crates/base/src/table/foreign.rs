//! Which of the formats of timed runs a file has.

use super::json::Value;
use super::records::Run;
use super::{BYTE_ORDER_MARK, Columns, Source, extrap, hyperfine};
use crate::error::{Error, Result, Warning};

/// The timed runs of a file of another tool, recognised by its content: Extra-P text, JSON or JSON
/// Lines, or hyperfine JSON. `None` where it is none of these, which leaves CSV. `columns` are the
/// names of their parameters and of what holds the times.
///
/// ```
/// use mmgp_base::table::{Columns, Source, runs_of};
///
/// let hyperfine = r#"{"results": [{"times": [2.5], "parameters": {"m": "1", "p": "8"}}]}"#;
/// let columns = Columns::default();
/// let source = Source::new("runs.json", hyperfine);
/// let (runs, _warnings) = runs_of(&source, &columns)?.expect("timed runs");
/// assert_eq!((runs[0].m, runs[0].p, runs[0].time_s), (1, 8, 2.5));
/// let csv = Source::new("runs.csv", "m,p,repetition,time_s\n1,8,1,2.5\n");
/// assert!(runs_of(&csv, &columns)?.is_none());
/// # Ok::<(), mmgp_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Input`] where the file has such a format and is not as it asks, with the place;
/// [`Error::OutOfRange`] where a column of repetitions is chosen, which such a file does not have.
pub fn runs_of(source: &Source, columns: &Columns) -> Result<Option<(Vec<Run>, Vec<Warning>)>> {
    let Some(format) = Format::of(source)? else { return Ok(None) };
    if let Some(repetition) = columns.repetition() {
        return Err(Error::OutOfRange {
            name: "columns",
            found: format!("a repetition {repetition:?} in {}", source.name),
            expected: "m, p and time: in such a file, runs are numbered as they come".into(),
        });
    }
    let of_extrap = |runs: Vec<Run>| (runs, Vec::new());
    let runs = match format {
        Format::ExtraPText => of_extrap(extrap::text(source, columns)?),
        Format::ExtraPJson => of_extrap(extrap::json(source, columns)?),
        Format::ExtraPJsonLines => of_extrap(extrap::json_lines(source, columns)?),
        Format::Hyperfine => hyperfine::read(source, columns)?,
    };
    Ok(Some(runs))
}

/// The formats of other tools.
enum Format {
    ExtraPText,
    ExtraPJson,
    ExtraPJsonLines,
    Hyperfine,
}

impl Format {
    fn of(source: &Source) -> Result<Option<Self>> {
        let text = source.text.trim_start_matches(BYTE_ORDER_MARK).trim_start();
        if text.starts_with('{') {
            return Self::of_json(source, text).map(Some);
        }
        let mut lines = text.lines().map(str::trim_start);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let keyword = first.and_then(|line| line.split_whitespace().next());
        let is_extrap =
            matches!(keyword, Some("PARAMETER" | "POINTS" | "REGION" | "METRIC" | "DATA"));
        Ok(is_extrap.then_some(Self::ExtraPText))
    }

    /// A first line that is a whole object with `params` is one of JSON Lines.
    fn of_json(source: &Source, text: &str) -> Result<Self> {
        let first_line = text.split('\n').next().unwrap_or_default();
        let of_line = Value::parse_part(source, first_line).and_then(|line| line.object());
        if of_line.is_ok_and(|object| object.get("params").is_some()) {
            return Ok(Self::ExtraPJsonLines);
        }
        let root = Value::parse(source)?.object()?;
        if root.get("results").is_some() {
            Ok(Self::Hyperfine)
        } else if root.get("measurements").is_some() {
            Ok(Self::ExtraPJson)
        } else {
            let expected = "timed runs: \"measurements\" of Extra-P, or \"results\" of hyperfine";
            Err(root.whole.error_found("an object without either", expected))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, found: &str) {
        let answer = match runs_of(&Source::new("x", text), &Columns::default()) {
            Ok(Some((runs, _))) => format!("{} runs", runs.len()),
            Ok(None) => "none".into(),
            Err(error) => error.to_string(),
        };
        assert_eq!(answer, found, "{text}");
    }

    #[test]
    fn a_file_is_known_by_its_content() {
        let point = r#"{"params": {"m": 1, "p": 1}, "value": 1}"#;
        check(point, "1 runs");
        check(&format!("\u{feff}{point}\r\n{point}\r\n"), "2 runs");
        check(
            r#"{"parameters": ["m", "p"], "measurements": {"a": {"time": [{"point": [1, 2], "values": [1]}]}}}"#,
            "1 runs",
        );
        check("# by hand\n\nPARAMETER m p\nPOINTS (1 1)\nMETRIC time\nDATA 3\n", "1 runs");
        for text in ["", "\n", "m,p,repetition,time_s\n1,1,1,1\n", "# {\nm,p\n", "DATABASE 3\n"] {
            check(text, "none");
        }
    }

    #[test]
    fn a_column_of_repetitions_is_refused_where_there_can_be_none() {
        let columns = "repetition=n".parse().expect("good columns");
        let point = r#"{"params": {"m": 1, "p": 1}, "value": 1}"#;
        let error = runs_of(&Source::new("x", point), &columns).unwrap_err().to_string();
        assert!(error.starts_with("columns: found a repetition \"n\" in x, expected"), "{error}");
        assert!(runs_of(&Source::new("x", "m,p,n,time_s\n"), &columns).unwrap().is_none());
    }

    #[test]
    fn what_looks_like_a_known_format_is_read_as_such() {
        check("DATA 3\n", "x:1:1: found DATA before METRIC, expected METRIC time");
        check(
            "{\"schema\": 1}",
            "x:1:1: found an object without either, expected timed runs: \"measurements\" of \
             Extra-P, or \"results\" of hyperfine",
        );
        check("{\"a\":\n", "x:2:1: found EOF while parsing a value, expected JSON");
    }
}
