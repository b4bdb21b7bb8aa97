//! Tables: CSV files with a record for each row, timed runs as other tools write them, and the log of
//! a search.

use std::collections::BTreeSet;

use mmgp::intake::{self, Claims, Columns, configurations};
use mmgp::table::csv::{self, Record};
use mmgp::table::records::*;
use mmgp::table::{Source, log};

use super::{Check, first_unsound, reader};
use crate::mutation::Format;
use crate::target::{Outcome, Seen, Target, judged, read_otherwise, refused};

/// Reads all rows, and again as they are written.
fn rows<R: Record + PartialEq>(source: &Source) -> Result<Outcome, String> {
    judged(csv::read::<R>(source), source, |(rows, warnings)| {
        warnings.iter().for_each(|warning| drop(warning.to_string()));
        let is_time: Vec<bool> = R::COLUMNS.iter().map(|it| it.ends_with("_s")).collect();
        let times = rows.iter().flat_map(|row| {
            let fields = row.write().into_iter().zip(&is_time);
            let times = fields.filter(|(_, is_time)| **is_time).map(|(field, _)| field);
            times.collect::<Vec<_>>()
        });
        // A time that is not known is empty. What a release costs may be less than nothing.
        let may_be_negative = R::COLUMNS.contains(&"release_s");
        let times = times.filter(|field| !field.is_empty());
        let times: Vec<f64> = times.map(|field| field.parse().unwrap_or(f64::NAN)).collect();
        let unsound = first_unsound(
            times.into_iter().map(|time| if may_be_negative { time.abs() } else { time }),
        );
        unsound.or_else(|| {
            let written = csv::write(&rows);
            let again = csv::read::<R>(&Source::new("written.csv", &written));
            read_otherwise(again.map(|(again, _)| again), &rows, "what is written", &written)
        })
    })
}

/// The two readers of runs agree, on rows and on messages: a quote, in a comment for that matter, keeps the
/// fast one away.
fn timed_runs(source: &Source) -> Result<Outcome, String> {
    let read = |text: &str| intake::runs(&Source::new(&source.name, text), &Claims::default());
    // Of a last line that is not ended, both would know another part.
    let text = format!("{}\n", source.text.trim_end());
    let (fast, general) = (read(&text), read(&format!("{text}# \"")));
    match (&fast, &general) {
        // Neither is read fast; a quote that is not closed would hold the comment, and JSON has none. A mark
        // of an editor's within the text is passed over where a row begins with it.
        _ if text.contains('"')
            || text
                .trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t'])
                .starts_with(['{', '['])
            || text.chars().skip(1).any(|it| it == '\u{feff}') => {}
        (Ok(rows), Ok(expected)) if rows == expected => {}
        (Err(one), Err(other)) if one.to_string() == other.to_string() => {}
        // An end of the file is elsewhere.
        (Err(one), Err(_))
            if ["found no rows", "found an empty file"]
                .iter()
                .any(|it| one.to_string().contains(it)) => {}
        _ => return Err(format!("fast and general differ: {fast:?} instead of {general:?}")),
    }
    let source = Source::new(&source.name, &text);
    judged(fast, &source, |(rows, _)| first_unsound(rows.iter().map(|run| run.time_s)))
}

/// Whole repetitions from 1, no key twice, each time finite.
fn foreign(source: &Source) -> Result<Outcome, String> {
    let runs = match intake::runs(source, &Claims::default()) {
        Err(error) => return refused(&error, source),
        Ok((runs, _)) => runs,
    };
    let keys: BTreeSet<_> = runs.iter().map(|run| run.key()).collect();
    if keys.len() != runs.len() || runs.is_empty() {
        return Err(format!("keys of runs: {} of {}", keys.len(), runs.len()));
    }
    if runs.iter().any(|run| run.m == 0 || run.p == 0 || run.repetition == 0) {
        return Err("m, p or a repetition is nothing".into());
    }
    first_unsound(runs.iter().map(|run| run.time_s)).map_or(Ok(Seen::Taken.into()), Err)
}

/// Attempts with times that are finite.
fn attempts(source: &Source) -> Result<Outcome, String> {
    judged(log::parse(source), source, |attempts| {
        first_unsound(attempts.iter().filter_map(|attempt| attempt.time_s))
    })
}

fn listed(source: &Source) -> Result<Outcome, String> {
    judged(configurations(source, &Columns::default()), source, |(mappings, _)| {
        mappings.is_empty().then(|| "no configuration was read".into())
    })
}

/// Readers of tables.
pub fn targets() -> Vec<Target> {
    let table = |name, check: Check| reader(name, Format::Csv, "", check);
    let text = |name, check: Check| {
        reader(
            name,
            Format::Text,
            "PARAMETER¦POINTS¦DATA¦METRIC¦REGION¦point¦values¦times¦(1 1)",
            check,
        )
    };
    vec![
        table("alpha-csv", rows::<Alpha>),
        table("offload-csv", rows::<Offload>),
        table("context-switch-csv", rows::<ContextSwitch>),
        table("collective-csv", rows::<Collective>),
        table("memory-csv", rows::<MemoryStream>),
        table("profile-csv", rows::<Profile>),
        table("predictions-csv", rows::<Prediction>),
        table("validation-csv", rows::<Validation>),
        table("split-csv", rows::<Split>),
        table("schedulers-csv", rows::<Scheduled>),
        table("machine-csv", rows::<MachineFigure>),
        table("turns-csv", rows::<Turn>),
        table("messages-csv", rows::<MessageTime>),
        table("threads-csv", rows::<ThreadRun>),
        table("blocks-csv", rows::<BlockRun>),
        table("block-messages-csv", rows::<MessageRun>),
        // Plain, so that the fast reader takes them; and not, so that it does not.
        table("runs-csv", timed_runs),
        text("extra-p-text", foreign),
        text("extra-p-json", foreign),
        text("extra-p-jsonl", foreign),
        text("hyperfine-json", foreign),
        text("log-jsonl", attempts),
        text("configurations-csv", listed),
    ]
}
