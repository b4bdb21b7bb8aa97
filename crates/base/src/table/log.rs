//! `log.jsonl`: one [`Attempt`] a line, written as it ends, so that whatever happens to the writer
//! nothing is lost but the attempt under way ([`Lines`]).

use std::path::Path;

use super::Source;
use super::json::mistake;
use super::lines::{Lines, Loss};
use crate::attempt::{Attempt, Status};
use crate::error::{Error, Result};

/// A log that this process, and no other, goes on with.
pub struct Log {
    lines: Lines,
    attempts: Vec<Attempt>,
}

impl Log {
    /// Goes on with the log at `path`, or begins it.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process goes on with it; [`Error::Input`] for a line that is no
    /// attempt; [`Error::Write`].
    pub fn open(path: &Path) -> Result<Self> {
        let (lines, text) = Lines::open(path)?;
        let attempts = parse(&text)?;
        Ok(Self { lines, attempts })
    }

    /// All attempts, in the order in which they ended.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Writes an attempt, which gets its place in the order.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn append(&mut self, mut attempt: Attempt) -> Result<()> {
        attempt.order = self.attempts.len() as u64 + 1;
        let text = serde_json::to_string(&attempt);
        let line = text.expect("invariant: an attempt has string keys only");
        let was_long = attempt.wall_s.is_some_and(|it| it >= WORTH_FLUSHING_S);
        self.lines.append(&line, if was_long { Loss::Matters } else { Loss::IsCheap })?;
        self.attempts.push(attempt);
        Ok(())
    }
}

/// How long an attempt has taken whose loss, where the whole computer fails, would be worse than to wait
/// for the disk \[s\].
const WORTH_FLUSHING_S: f64 = 0.1;

/// What a line is.
const EXPECTED: &str = "an attempt as JSON";

/// The attempts of a log that nobody writes, or that is only looked at.
///
/// # Errors
/// [`Error::Input`] at a line that is no attempt.
pub fn parse(source: &Source) -> Result<Vec<Attempt>> {
    let mut attempts = Vec::new();
    let mut offset = 0;
    for line in source.text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let at = || source.position(start);
        let error = |found: String| Error::Input { at: at(), found, expected: EXPECTED.into() };
        let attempt: Attempt = serde_json::from_str(line.trim_end())
            .map_err(|error| mistake(source, line, &error, EXPECTED))?;
        let is_time = |time: f64| time >= 0.0 && time.is_finite();
        if attempt.m == 0 || attempt.p == 0 {
            return Err(error(format!("m = {}, p = {}", attempt.m, attempt.p)));
        }
        let times = [attempt.time_s, attempt.wall_s].into_iter().flatten();
        if let Some(time) = times.into_iter().find(|&time| !is_time(time)) {
            return Err(error(format!("a time of {time} s")));
        }
        if attempt.status == Status::Ok && attempt.time_s.is_none() {
            return Err(error("an attempt that is ok, without time_s".into()));
        }
        attempts.push(attempt);
    }
    Ok(attempts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(id: u64, time_s: f64) -> Attempt {
        let text = format!(
            r#"{{"id":{id},"m":2,"p":4,"repetition":1,"status":"ok","wall_s":1.5,"time_s":{time_s}}}"#
        );
        parse(&Source::new("log.jsonl", &text)).expect("an attempt").remove(0)
    }

    #[test]
    fn a_log_goes_on_after_its_last_whole_line_and_belongs_to_one() {
        let folder = std::env::temp_dir().join(format!("mmgp-log-{}", std::process::id()));
        super::super::create_folder(&folder).expect("a folder");
        let path = folder.join("log.jsonl");
        let mut log = Log::open(&path).expect("a new log");
        log.append(attempt(7, 0.1 + 0.2)).expect("it is written");
        assert!(matches!(Log::open(&path), Err(Error::InUse { .. })));
        drop(log);
        let killed = std::fs::read_to_string(&path).expect("it is there") + r#"{"id":8,"m":2"#;
        std::fs::write(&path, killed).expect("killed while writing");
        let mut log = Log::open(&path).expect("it is free");
        assert_eq!(log.attempts(), [Attempt { order: 1, ..attempt(7, 0.1 + 0.2) }]);
        log.append(attempt(8, 1.0)).expect("it is written");
        drop(log);
        let log = Log::open(&path).expect("it is free");
        let ids: Vec<(u64, u64)> = log.attempts().iter().map(|it| (it.id, it.order)).collect();
        assert_eq!(ids, [(7, 1), (8, 2)]);
        std::fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    fn what_is_no_attempt_is_refused_at_its_place() {
        let check = |line: &str, message: &str| {
            let text = format!("\n{line}\n");
            let error = parse(&Source::new("log.jsonl", &text)).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        };
        check(r#"{"id":1,"m":"#, "log.jsonl:2:12: found EOF while parsing a value, expected");
        check("{\"\u{e9}\":1,}", "log.jsonl:2:8: found trailing comma, expected");
        check(
            r#"{"id":1,"m":0,"p":4,"repetition":1,"status":"failed"}"#,
            "log.jsonl:2:1: found m = 0, p = 4, expected",
        );
        check(
            r#"{"id":1,"m":1,"p":4,"repetition":1,"status":"ok"}"#,
            "log.jsonl:2:1: found an attempt that is ok, without time_s",
        );
        check(
            r#"{"id":1,"m":1,"p":4,"repetition":1,"status":"ok","time_s":-1}"#,
            "log.jsonl:2:1: found a time of -1 s",
        );
    }
}
