//! Runs that failed, which are left out and counted.

use crate::error::{Error, Position, Warning};

/// What a time says of a run that failed, in any capitals; empty says so, too.
const FAILURES: [&str; 7] = ["nan", "na", "inf", "failed", "timeout", "error", "oom"];

/// What a status says of a run that did not fail, in any capitals.
const SUCCESSES: [&str; 4] = ["ok", "0", "success", "completed"];

/// Whether a time tells of a run that failed.
pub(super) fn is_failure(time: &str) -> bool {
    time.is_empty() || FAILURES.iter().any(|failure| failure.eq_ignore_ascii_case(time))
}

/// Whether a status tells of a run that did not fail.
pub(super) fn is_success(status: &str) -> bool {
    SUCCESSES.iter().any(|success| success.eq_ignore_ascii_case(status))
}

/// A field and its column, as messages name them.
pub(super) fn quoted(field: &str, column: &str) -> String {
    format!("{field:?} in column {column:?}")
}

/// How many runs failed, and the first of them.
#[derive(Default)]
pub(super) struct Failures {
    count: u64,
    first: Option<First>,
}

struct First {
    at: Position,
    point: (u32, u32),
    why: String,
}

impl Failures {
    /// Counts a failed run of (m, p); of the first, where it stands and what stands there are kept.
    pub(super) fn add(&mut self, point: (u32, u32), what: impl FnOnce() -> (Position, String)) {
        self.count += 1;
        self.first.get_or_insert_with(|| {
            let (at, why) = what();
            First { at, point, why }
        });
    }

    /// What a result without the failed runs has to say, where there are any.
    pub(super) fn warning(&self, file: &str) -> Option<Warning> {
        let First { at, point: (m, p), why } = self.first.as_ref()?;
        Some(Warning::FailedRuns {
            file: file.to_string(),
            count: self.count,
            line: at.line,
            m: *m,
            p: *p,
            why: why.clone(),
        })
    }

    /// The error where no run is left; at least one failed.
    pub(super) fn all(self) -> Error {
        let First { at, why, .. } = self.first.expect("invariant: a run failed");
        let found = format!("{why}, and no run that did not fail");
        Error::Input { at, found, expected: "at least one time".into() }
    }
}
