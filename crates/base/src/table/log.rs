//! `log.jsonl`: one [`Attempt`] a line, written as it ends, so that whatever happens to the writer
//! nothing is lost but the attempt under way.
//!
//! Whoever writes the [`Lines`] of a file holds a lock on it, which ends with the process however that ends. A
//! last line without its end is what a writer was killed in, and is taken away.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::streamed::flushed;
use super::{Source, writing};
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
        Self::of(Lines::open(path)?)
    }

    /// The same for a writer of a single line: waits for others who write one, [`PATIENCE`] at most.
    ///
    /// # Errors
    /// As [`Log::open`].
    pub fn open_when_free(path: &Path) -> Result<Self> {
        Self::of(Lines::open_when_free(path)?)
    }

    fn of((lines, text): (Lines, Source)) -> Result<Self> {
        let attempts = parse(&text)?;
        Ok(Self { lines, attempts })
    }

    /// Takes damaged lines out of a log, after all of it was copied to a file beside it. Each line with
    /// its number and what is wrong with it, and the copy; nothing where no line is damaged.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process goes on with it; [`Error::Write`].
    pub fn repair(path: &Path) -> Result<Option<Repair>> {
        let (mut lines, text) = Lines::open_when_free(path)?;
        let mut whole = String::new();
        let mut lost = Vec::new();
        for (number, line) in (1..).zip(text.text.split_inclusive('\n')) {
            match parse(&Source::new(&text.name, line)) {
                Ok(_) => whole += line,
                Err(error) => lost.push((number, line.trim_end().to_string(), error)),
            }
        }
        if lost.is_empty() {
            return Ok(None);
        }
        let copy = (1..).map(|count| path.with_extension(format!("damaged-{count}.jsonl")));
        let copy = copy.into_iter().find(|it| !it.exists()).expect("invariant: one is free");
        super::write(&copy, &text.text)?;
        lines.replace(&whole)?;
        Ok(Some(Repair { lost, copy }))
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

/// What was taken out of a log.
#[derive(Debug)]
pub struct Repair {
    /// The damaged lines: number, text, what is wrong.
    pub lost: Vec<(usize, String, Error)>,
    /// The log as it was.
    pub copy: PathBuf,
}

/// How long an attempt has taken whose loss, where the whole computer fails, would be worse than to wait
/// for the disk \[s\].
const WORTH_FLUSHING_S: f64 = 0.1;

/// The largest id of an attempt: readers of JSON know no larger whole numbers than 2^53 exactly.
pub const LARGEST_ID: u64 = 1 << 53;

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
        let error = |found: String| source.error(start, found, EXPECTED);
        let attempt: Attempt = serde_json::from_str(line.trim_end())
            .map_err(|error| source.json_error(line, &error, EXPECTED))?;
        if attempt.id > LARGEST_ID {
            return Err(error(format!("an id of {}", attempt.id)));
        }
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

/// How long a writer of a single line waits for others.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Time between two looks whether a file is free.
const PAUSE: Duration = Duration::from_millis(5);

/// Lines that this process, and no other, goes on with. They are appended, whoever else writes.
pub struct Lines {
    path: PathBuf,
    file: File,
}

/// Whether a line has to be on disk before the work goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The line was so much work that it is waited for.
    Matters,
    /// The line may be lost where the whole computer fails.
    IsCheap,
}

impl Lines {
    /// Goes on with the file at `path`, or begins it; with the whole lines that it has.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process goes on with it; [`Error::Write`].
    pub fn open(path: &Path) -> Result<(Self, Source)> {
        Self::open_after(path, 0)
    }

    /// The same, once nobody else goes on with it, after [`PATIENCE`] at most.
    ///
    /// # Errors
    /// As [`Lines::open`].
    pub fn open_when_free(path: &Path) -> Result<(Self, Source)> {
        Self::open_after(path, PATIENCE.as_millis() / PAUSE.as_millis())
    }

    /// Goes on with a file that may be another's at so many looks.
    fn open_after(path: &Path, mut looks: u128) -> Result<(Self, Source)> {
        let failed = |source| Error::Write { file: path.into(), source };
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create(true);
        let mut file = options.open(path).map_err(failed)?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if looks > 0 => {
                    looks -= 1;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(Error::InUse { file: path.into() }),
                // Some file systems of clusters have no locks.
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => break,
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        bytes.truncate(whole);
        let text = Source::new(&path.display().to_string(), &String::from_utf8_lossy(&bytes));
        Ok((Self { path: path.into(), file }, text))
    }

    /// Writes a line, which must have no end of its own.
    ///
    /// # Errors
    /// [`Error::Write`]; nothing of the line is in the file then.
    pub fn append(&mut self, line: &str, loss: Loss) -> Result<()> {
        let written = self.write((line.to_string() + "\n").as_bytes()).and_then(|()| match loss {
            Loss::Matters => flushed(self.file.sync_data()),
            Loss::IsCheap => Ok(()),
        });
        written.map_err(|source| Error::Write { file: self.path.clone(), source })
    }

    /// Writes all or nothing, since half a line is of no use to whoever reads it meanwhile.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let _writing = writing();
        let whole = self.file.metadata()?.len();
        self.file.write_all(line).inspect_err(|_| {
            // Where that fails as well, the next one who opens it takes the half away.
            let _ = self.file.set_len(whole);
        })
    }

    /// Puts these lines in the place of all.
    fn replace(&mut self, all: &str) -> Result<()> {
        let _writing = writing();
        // The file stays the same one: others may wait for its lock.
        let written = self.file.set_len(0).and_then(|()| self.file.write_all(all.as_bytes()));
        let written = written.and_then(|()| flushed(self.file.sync_data()));
        written.map_err(|source| Error::Write { file: self.path.clone(), source })
    }
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
    fn damaged_lines_are_taken_out_and_kept_beside_the_log() {
        let folder = std::env::temp_dir().join(format!("mmgp-repair-{}", std::process::id()));
        super::super::create_folder(&folder).expect("a folder");
        let path = folder.join("log.jsonl");
        let mut log = Log::open(&path).expect("a new log");
        (1..=2).for_each(|id| log.append(attempt(id, 1.0)).expect("it is written"));
        drop(log);
        assert!(Log::repair(&path).expect("it is free").is_none());
        let text = std::fs::read_to_string(&path).expect("it is there");
        let damaged = text.replacen('\n', "\n\0\0{\"id\":9\n", 1);
        std::fs::write(&path, &damaged).expect("it is damaged");
        assert!(Log::open(&path).is_err());
        let repair = Log::repair(&path).expect("it is free").expect("a line is lost");
        assert_eq!((repair.lost.len(), repair.lost[0].0), (1, 2));
        assert_eq!(std::fs::read_to_string(&repair.copy).expect("a copy"), damaged);
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        std::fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    fn writers_of_single_lines_wait_for_one_another() {
        let folder = std::env::temp_dir().join(format!("mmgp-writers-{}", std::process::id()));
        super::super::create_folder(&folder).expect("a folder");
        let path = folder.join("log.jsonl");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for id in 1..=20 {
                        let mut log = Log::open_when_free(path).expect("it becomes free");
                        log.append(attempt(100 * writer + id, 1.0)).expect("it is written");
                    }
                });
            }
        });
        let log = Log::open(&path).expect("it is free");
        let orders: Vec<u64> = log.attempts().iter().map(|it| it.order).collect();
        assert_eq!(orders, (1..=80).collect::<Vec<u64>>());
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
