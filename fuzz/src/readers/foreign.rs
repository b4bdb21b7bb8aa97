//! Timed runs as other tools write them, and the log of a search.

use std::collections::BTreeSet;

use mmgp::intake::{self, Claims, Columns, configurations};
use mmgp::table::csv::Record as _;
use mmgp::table::{Source, log};

use super::{Kind, Reader, first_unsound, judged};
use crate::mutation::Format;
use crate::target::{Outcome, Seen, refused};

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

const TEXT: Kind = Kind {
    format: Format::Text,
    words: &[
        "PARAMETER",
        "POINTS",
        "DATA",
        "METRIC",
        "REGION",
        "point",
        "values",
        "times",
        "(1 1)",
    ],
};

pub const READERS: &[Reader] = &[
    TEXT.read(
        ("extra-p-text", "runs.txt"),
        &[
            "# runs\nPARAMETER m p\nPOINTS (1 1) (2 4)\nPOINTS ( 4 1 )\n\nREGION run\nMETRIC visits\n\
           DATA 1\nMETRIC time\nDATA 8.5 8.25\nDATA 1.5e0\nDATA 2 3 4\n",
        ],
        foreign,
    ),
    TEXT.read(
        ("extra-p-json", "runs.json"),
        &[r#"{"parameters": ["m", "p"], "measurements": {"run": {"visits": [],
              "time": [{"point": [1, 1], "values": [8.5, 8.25]}, {"point": [4, 2], "values": 1.5}]}}}"#],
        foreign,
    ),
    TEXT.read(
        ("extra-p-jsonl", "runs.jsonl"),
        &["{\"params\": {\"m\": 1, \"p\": 1}, \"callpath\": \"run\", \"value\": [8.5, 8.25]}\n\
           {\"params\": {\"m\": 2, \"p\": 4}, \"callpath\": \"run\", \"metric\": \"time\", \"value\": 1}\n"],
        foreign,
    ),
    TEXT.read(
        ("hyperfine-json", "hyperfine.json"),
        &[r#"{"results": [{"command": "x 1 1", "mean": 2.5, "stddev": null, "times": [2, 3],
              "exit_codes": [0, 0], "parameters": {"m": "1", "p": "1"}},
              {"times": [0.5], "parameters": {"m": 2, "p": 4}}]}"#],
        foreign,
    ),
    TEXT.read(
        ("log-jsonl", "log.jsonl"),
        &[
            "{\"id\":1,\"m\":2,\"p\":4,\"repetition\":1,\"status\":\"ok\",\"wall_s\":1.5,\"time_s\":1.25}\n\
           {\"id\":2,\"m\":1,\"p\":4,\"repetition\":0,\"status\":\"failed\",\"exit\":3,\"wall_s\":0.5}\n",
        ],
        attempts,
    ),
    TEXT.read(
        ("configurations-csv", "configurations.csv"),
        &["m,p\n1,1\n2,4\n", "p;m;host\n1;4;a\n"],
        listed,
    ),
];
