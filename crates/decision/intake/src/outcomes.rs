//! What a row says of a run, and how a table says that one failed.

use mmgp_base::Mapping;
use mmgp_base::quantity::Quantity;
use mmgp_base::table::records::Run;

use crate::names::Role;
use crate::units::{Comma, duration};

/// What a row says.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// A run, or the mean of several.
    pub run: Run,
    /// The number of runs that the time is the mean of, and their standard deviation \[s\]; of a single run, nothing.
    pub mean_of: Option<(u32, f64)>,
}

/// What a row says of a run that somebody asked for, whether it was good or not.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// Which order it answers: the number in a column `id`; where a format has none, nothing.
    pub id: Option<u64>,
    /// The configuration, where the format says it.
    pub mapping: Option<Mapping>,
    /// Which repetition, where the format says it.
    pub repetition: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
    /// What the format has: times, or what its time stands for.
    pub quantity: Quantity,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Well, after so long \[s\].
    Time(f64),
    /// The run was stopped after so long: it takes longer \[s\].
    Longer(f64),
    /// The run failed.
    Failed {
        /// What says so.
        why: String,
        /// The exit code, where that is known.
        exit: Option<i32>,
    },
}

/// How a run ended that was not good, by the text that says so; a run that was stopped takes longer.
pub(crate) fn how_ended(text: &str, time_s: Option<f64>, why: &str, comma: Comma) -> Outcome {
    let bound = duration(text.trim_matches(['>', '+', ' ']), comma).map(|it| it.seconds);
    let is_bound = text.starts_with('>') || text.ends_with('+');
    if let Some(bound) = bound.filter(|_| is_bound) {
        return Outcome::Longer(bound);
    }
    let is_stopped = ["timeout", "timed out", "timed_out"].contains(&text.to_lowercase().as_str());
    match time_s.filter(|time_s| is_stopped && *time_s > 0.0) {
        Some(bound) => Outcome::Longer(bound),
        None => Outcome::Failed { why: why.into(), exit: text.parse().ok() },
    }
}

/// What stands in the place of a time where there is none, in small letters; empty says so, too.
const NO_TIMES: &str = "nan na n/a - -- --- none null inf infinity failed fail failure error err timeout timed_out \
    timed-out oom killed crash crashed dnf tle aborted abort cancelled canceled segfault unknown missing \
    node_fail out_of_memory preempted deadline boot_fail invalidconfig compilationfailedconfig \
    runtimefailedconfig x #n/a n.a. ? t/o to -1 diverged";

/// What a status says of a run that was good, in small letters.
const GOOD: &str = "cd normal none info debug done. ok 0 success succeeded successful completed complete done pass passed finished true yes \
    correct valid good xpass 1.0 ended";

/// What stands for no.
const NO: &str = "false no 0 n f none null nan - ok 0.0 correct";

/// What stands for yes.
const YES: &str = "successful success succeeded passed. done valid verified correct. true yes 1 y t ok pass passed 1.0 correct";

/// Parts of words that only a run that failed leaves in a remark, in small letters.
const SIGNS: [&str; 16] = [
    "segfault",
    "segmentation",
    "core dumped",
    "out of memory",
    "oom",
    "killed",
    "crash",
    "abort",
    "timed out",
    "timeout",
    "time out",
    "on signal",
    "run failed",
    "failed",
    "diverged",
    "fatal",
];

/// Whether a remark beside a run says that it failed.
pub(crate) fn is_sign(text: &str) -> bool {
    let lower = text.to_lowercase();
    let has = |sign: &&str| {
        lower.match_indices(*sign).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let is_denied =
                ["no ", "not ", "never ", "0 "].iter().any(|no| lower[..at].ends_with(no));
            before.is_none_or(|it| !it.is_alphanumeric()) && !is_denied
        })
    };
    SIGNS.iter().any(has)
}

fn is_one_of(list: &str, text: &str) -> bool {
    list.split_whitespace().any(|known| known.eq_ignore_ascii_case(text))
}

/// Whether the text in the place of a time says that there is none: a word, or that it takes longer than
/// something (`> 600`).
pub(crate) fn is_no_time(text: &str) -> bool {
    let inner = text.trim_matches(['(', ')', '[', ']', '<', ' ']);
    text.is_empty()
        || text.starts_with('>')
        || text.ends_with('+')
        || is_one_of(NO_TIMES, inner)
        || is_sign(text)
        || text.to_lowercase().starts_with("error")
}

/// Whether a column of that role says that the run failed. An empty field says nothing.
pub(crate) fn is_failure(role: Role, text: &str) -> bool {
    let is_zero = |part: &str| part.parse::<f64>().is_ok_and(|code| code == 0.0);
    match role {
        _ if text.is_empty() => false,
        // Slurm has the signal behind the code: 0:15.
        Role::ExitCode => !text.split(':').all(is_zero),
        Role::Success => !is_one_of(YES, text),
        Role::Failure => !is_one_of(NO, text),
        // `Completed successfully`, and not `Completed with errors`.
        Role::Status => {
            let first = text.split_whitespace().next().unwrap_or(text);
            let is_doubted = text.to_lowercase().contains("error") || is_sign(text);
            !is_one_of(GOOD, first) || (first.len() < text.len() && is_doubted)
        }
        _ => false,
    }
}

/// Whether the values of a column are such as its role of a failure has: a column `error` may hold a
/// residual, and a column `result` a number that the program computes.
pub(crate) fn are_of<'a>(role: Role, values: impl Iterator<Item = &'a str>) -> bool {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    let is_whole = |text: &str| text.split(':').all(|part| part.parse::<i64>().is_ok());
    let mut values = values.filter(|text| !text.is_empty());
    match role {
        Role::ExitCode => values.all(|text| is_whole(text) || !is_number(text)),
        // So many errors.
        Role::Failure => values.all(|text| {
            !is_number(text) || text.parse::<u32>().is_ok() || text == "0.0" || text == "1.0"
        }),
        Role::Success | Role::Status => {
            values.all(|text| !is_number(text) || matches!(text, "0" | "1" | "0.0" | "1.0"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_for_no_time_is_one_in_any_capitals() {
        for text in ["", "-", "NaN", "FAILED", "Timeout", "> 600", "600+", "OUT_OF_MEMORY"] {
            assert!(is_no_time(text), "{text:?}");
        }
        for text in ["1.5", "0", "72 s", "1m12s"] {
            assert!(!is_no_time(text), "{text:?}");
        }
    }

    #[test]
    fn a_role_decides_what_a_text_says_of_a_run() {
        let failed = |role| move |text: &&str| is_failure(role, text);
        assert!(["1", "137", "0:9", "null"].iter().all(failed(Role::ExitCode)));
        assert!(!["0", "0:0", "", "0.0"].iter().any(failed(Role::ExitCode)));
        assert!(["False", "no", "0"].iter().all(failed(Role::Success)));
        assert!(["True", "yes", "InvalidConfig"].iter().all(failed(Role::Failure)));
        assert!(["FAILED", "TIMEOUT", "CANCELLED by 1000"].iter().all(failed(Role::Status)));
        assert!(
            !["COMPLETED", "ok", "pass", "Completed successfully"].iter().any(failed(Role::Status))
        );
        assert!(["signal 11", "TO", "completed with errors"].iter().all(failed(Role::Status)));
        assert!(["UNSUCCESSFUL", "failed", "WRONG"].iter().all(failed(Role::Success)));
    }

    #[test]
    fn a_remark_may_say_that_a_run_failed() {
        for text in ["crashed", "OOM on node 3", "killed by OOM", "mpirun exited on signal 9"] {
            assert!(is_sign(text), "{text:?}");
        }
        for text in ["pinned", "no crash", "0 failed", "room 3", "unaborted"] {
            assert!(!is_sign(text), "{text:?}");
        }
    }

    #[test]
    fn a_residual_is_no_failure() {
        assert!(!are_of(Role::Failure, ["1e-9", "3e-8"].into_iter()));
        assert!(are_of(Role::Failure, ["0", "1", "", "timeout"].into_iter()));
        assert!(!are_of(Role::Status, ["200", "404"].into_iter()));
        assert!(are_of(Role::ExitCode, ["0", "137", "0:15"].into_iter()));
    }
}
