//! Timed runs in the formats of Extra-P: text, JSON and JSON Lines.
//!
//! ```
//! use mmgp_model::export::runs::RunsTarget;
//! use mmgp_base::table::Source;
//! use mmgp_intake::{Claims, runs};
//!
//! let claims = Claims::default();
//! let source = Source::new("runs.csv", "m,p,repetition,time_s\n1,1,1,8.5\n2,4,1,1.5\n");
//! let (read, _) = runs(&source, &claims)?;
//! let text = "extra-p-jsonl".parse::<RunsTarget>()?.write(&read)?;
//! assert_eq!(runs(&Source::new("runs.jsonl", &text), &claims)?.0, read);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

use std::collections::BTreeMap;
use std::str::FromStr;

use mmgp_base::error::{Error, Result, of_name};
use mmgp_base::table::records::Run;

/// A format to hand timed runs over in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsTarget {
    /// See [`extra_p`].
    ExtraP,
    /// See [`extra_p_json`].
    ExtraPJson,
    /// See [`extra_p_json_lines`].
    ExtraPJsonLines,
}

impl RunsTarget {
    /// Every target, in the order in which they are offered.
    pub const ALL: &'static [Self] = &[Self::ExtraP, Self::ExtraPJson, Self::ExtraPJsonLines];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExtraP => "extra-p",
            Self::ExtraPJson => "extra-p-json",
            Self::ExtraPJsonLines => "extra-p-jsonl",
        }
    }

    /// The runs in this format, the last line ended by a newline.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where the format cannot hold them; the message says which can.
    pub fn write(self, runs: &[Run]) -> Result<String> {
        match self {
            Self::ExtraP => extra_p(runs),
            Self::ExtraPJson => extra_p_json(runs),
            Self::ExtraPJsonLines => extra_p_json_lines(runs),
        }
    }

    /// The command that fits a model to `file` with Extra-P. Its default search has no negative
    /// exponents and would turn `T_APU/(m*p)` into a logarithm; with these options it finds it.
    pub fn command(self, file: &str) -> String {
        let reader = match self {
            Self::ExtraP => "--text",
            Self::ExtraPJson | Self::ExtraPJsonLines => "--json",
        };
        let file = file.replace('\'', "'\\''");
        format!(
            "extrap {reader} '{file}' --modeler multi-parameter \
             --options '#spm=Default' '#spo=allow_negative_exponents=true'"
        )
    }
}

impl FromStr for RunsTarget {
    type Err = Error;

    /// Finds the target of that [name](Self::name).
    fn from_str(name: &str) -> Result<Self> {
        of_name("export target for runs", Self::ALL, Self::name, name)
    }
}

/// The region that the runs are of.
const REGION: &str = "run";

/// The times of each (m, p), in increasing order, the repetitions in theirs.
fn points(runs: &[Run]) -> Result<BTreeMap<(u32, u32), Vec<f64>>> {
    if runs.is_empty() {
        return Err(refused("no runs".into(), "at least one"));
    }
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by_key(|run| (run.m, run.p, run.repetition));
    let mut points: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for run in sorted {
        points.entry((run.m, run.p)).or_default().push(run.time_s);
    }
    Ok(points)
}

fn refused(found: String, expected: &str) -> Error {
    Error::out_of_range("runs", found, expected)
}

/// Writes one JSON object: `parameters`, and under `measurements`, region `run` and metric `time` the
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

/// Extra-P text: a comment, `PARAMETER m p`, all `POINTS`, and for the region `run` with the metric
/// `time` a line `DATA` for each point.
///
/// # Errors
/// [`crate::Error::OutOfRange`] for no runs, and where the (m, p) are not all as often repeated:
/// the text format is a full table, so such runs need JSON or JSON Lines.
pub fn extra_p(runs: &[Run]) -> Result<String> {
    let points = points(runs)?;
    let count = points.first_key_value().map_or(0, |(_, times)| times.len());
    if let Some(((m, p), times)) = points.iter().find(|(_, times)| times.len() != count) {
        return Err(refused(
            format!("{} repetitions of m = {m}, p = {p}, but {count} of the first", times.len()),
            "as many of each in Extra-P text; use extra-p-json or extra-p-jsonl",
        ));
    }
    let mut text = format!(
        "# Times of whole runs in seconds: m host threads, p APUs for each, {count} repetitions\n\
         PARAMETER m p\nPOINTS"
    );
    for (m, p) in points.keys() {
        text += &format!(" ({m} {p})");
    }
    text += &format!("\n\nREGION {REGION}\nMETRIC time\n");
    for times in points.values() {
        text += "DATA";
        for time in times {
            text += &format!(" {time:?}");
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_base::table::Source;
    use mmgp_intake::Claims;

    fn runs(rows: &[(u32, u32, u32, f64)]) -> Vec<Run> {
        rows.iter().map(|&(m, p, repetition, time_s)| Run { m, p, repetition, time_s }).collect()
    }

    fn refusal(target: RunsTarget, rows: &[(u32, u32, u32, f64)]) -> String {
        target.write(&runs(rows)).expect_err("must be refused").to_string()
    }

    #[test]
    fn every_format_gives_back_the_runs_to_the_last_bit() {
        let rows = runs(&[
            (1, 1, 1, 0.1 + 0.2),
            (1, 1, 2, 1e-9),
            (2, 4, 1, 123_456_789.123_456_78),
            (2, 4, 2, 0.0),
            (16, 1, 1, 5e-324),
            (16, 1, 2, 1e300),
        ]);
        for &target in RunsTarget::ALL {
            let text = target.write(&rows).unwrap();
            let read = mmgp_intake::runs(&Source::new("x", &text), &Claims::default()).unwrap().0;
            assert_eq!(read, rows, "{}", target.name());
            assert_eq!(target.name().parse::<RunsTarget>().unwrap(), target);
        }
    }

    #[test]
    fn uneven_repetitions_are_refused_as_text_and_written_as_json() {
        let rows = [(1, 1, 1, 1.0), (1, 1, 2, 1.5), (2, 1, 7, 0.5)];
        assert_eq!(
            refusal(RunsTarget::ExtraP, &rows),
            "runs: found 1 repetitions of m = 2, p = 1, but 2 of the first, expected as many of each in \
             Extra-P text; use extra-p-json or extra-p-jsonl"
        );
        for target in [RunsTarget::ExtraPJson, RunsTarget::ExtraPJsonLines] {
            let text = target.write(&runs(&rows)).unwrap();
            assert_eq!(
                mmgp_intake::runs(&Source::new("x", &text), &Claims::default()).unwrap().0.len(),
                3
            );
        }
    }

    #[test]
    fn one_configuration_is_not_enough_for_lines() {
        assert_eq!(
            refusal(RunsTarget::ExtraPJsonLines, &[(1, 1, 1, 1.0)]),
            "runs: found one configuration, expected two or more in Extra-P JSON Lines; use extra-p-json"
        );
        assert_eq!(
            refusal(RunsTarget::ExtraPJson, &[]),
            "runs: found no runs, expected at least one"
        );
    }

    #[test]
    fn the_command_names_the_reader_and_quotes_the_file() {
        assert_eq!(
            RunsTarget::ExtraP.command("it's.txt"),
            "extrap --text 'it'\\''s.txt' --modeler multi-parameter --options '#spm=Default' \
             '#spo=allow_negative_exponents=true'"
        );
    }
}
