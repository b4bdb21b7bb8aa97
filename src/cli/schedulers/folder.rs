//! The folder of a comparison: rows as they come, and what they are of.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;

use crate::cli::{Cli, identity};
use crate::error::{Error, Result};
use crate::report::provenance::InputFile;
use crate::table::records::Scheduled;
use crate::table::{self, FolderLock, STANDARD_INPUT, Source, csv};

/// The rows.
pub const ROWS: &str = "schedulers.csv";
/// What the rows are of.
pub const IDENTITY: &str = "schedulers.json";

/// What rows are of: names and values of whatever changes them.
pub type Question = Vec<(String, String)>;

/// Flags that choose among rows or say what is done with them, and change none.
const NOT_ASKED: [&str; 10] = [
    "schedulers",
    "workers",
    "tasks",
    "out",
    "force",
    "rows_only",
    "threads",
    "quiet",
    "help",
    "version",
];

/// What a command asks, by the value of every flag that may change a row, the content of the files
/// that are read for a flag, and the program's version.
///
/// # Errors
/// [`Error::Read`], and [`Error::OutOfRange`] for standard input, which cannot be known before it is
/// read.
pub fn question(
    arguments: impl Iterator<Item = OsString>,
    files: &[(&'static str, Option<&Path>)],
) -> Result<Question> {
    let mut question = vec![("version".to_string(), crate::VERSION.to_string())];
    let command = Cli::command();
    let matches = command.clone().try_get_matches_from(arguments);
    let matches = matches.expect("invariant: the arguments were understood before");
    let (name, matches) = matches.subcommand().expect("invariant: a command runs");
    let command = command.find_subcommand(name).expect("invariant: it has a name").clone();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if NOT_ASKED.contains(&id) {
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        let values: Vec<String> = values.map(|it| it.to_string_lossy().into_owned()).collect();
        question.push((format!("--{}", argument.get_long().unwrap_or(id)), values.join(",")));
    }
    for (flag, path) in files {
        let Some(path) = path else { continue };
        if *path == Path::new(STANDARD_INPUT) {
            return Err(Error::OutOfRange {
                name: flag,
                found: "standard input".into(),
                expected: "a file, by which the folder knows what its rows are of".into(),
            });
        }
        let file = InputFile::new(&Source::read(path)?, flag);
        question.push((format!("the file of {flag}"), file.sha256));
    }
    Ok(question)
}

/// Whether rows that stand in a folder are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// Where they are of the same question; of another, the folder is refused.
    Kept,
    /// They give way.
    Discarded,
}

/// A folder that this process, and no other, goes on with.
pub struct Folder {
    path: PathBuf,
    rows: Vec<Scheduled>,
    /// The schedulers in the order in which their rows stand.
    order: Vec<String>,
    _lock: FolderLock,
}

impl Folder {
    /// Goes on in a folder, or begins there; rows of these schedulers come first.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process does; [`Error::OutOfRange`] where its rows are of
    /// another question; those of reading and writing.
    pub fn open(
        path: &Path,
        question: &Question,
        schedulers: &[String],
        earlier: Earlier,
    ) -> Result<Self> {
        let lock = FolderLock::take(path)?;
        let rows = match earlier {
            Earlier::Kept => rows(path, question)?,
            Earlier::Discarded => Vec::new(),
        };
        let mut order = schedulers.to_vec();
        for row in &rows {
            if !order.contains(&row.scheduler) {
                order.push(row.scheduler.clone());
            }
        }
        let mut folder = Self { path: path.into(), rows, order, _lock: lock };
        let mut rows = std::mem::take(&mut folder.rows);
        rows.sort_by_key(|row| folder.place(row));
        folder.rows = rows;
        if folder.rows.is_empty() {
            // In this order: no row may stand beside a question that it is no answer to.
            folder.write()?;
            identity::write(&path.join(IDENTITY), question)?;
        }
        Ok(folder)
    }

    /// Where a row stands: by scheduler, workers and tasks.
    fn place(&self, row: &Scheduled) -> (Option<usize>, u32, u32) {
        let index = self.order.iter().position(|name| *name == row.scheduler);
        (index, row.workers, row.tasks)
    }

    /// All rows that are known.
    pub fn rows(&self) -> &[Scheduled] {
        &self.rows
    }

    /// Adds a row, and writes all.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn keep(&mut self, row: &Scheduled) -> Result<()> {
        let index = self.rows.partition_point(|other| self.place(other) < self.place(row));
        match self.rows.get_mut(index) {
            // One of another seed, which only somebody else can have written.
            Some(other) if is_beside(other, row) => *other = row.clone(),
            _ => self.rows.insert(index, row.clone()),
        }
        self.write()
    }

    /// Writes all rows.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self) -> Result<()> {
        table::write(&self.path.join(ROWS), csv::write(&self.rows))
    }
}

/// Whether two rows are of the same run but for its seed.
fn is_beside(one: &Scheduled, other: &Scheduled) -> bool {
    (&one.scheduler, one.workers, one.tasks) == (&other.scheduler, other.workers, other.tasks)
}

/// The rows in a folder; none where it has no file of them.
fn rows(folder: &Path, question: &Question) -> Result<Vec<Scheduled>> {
    let (file, identity) = (folder.join(ROWS), folder.join(IDENTITY));
    if !file.exists() {
        return Ok(Vec::new());
    }
    let mut source = Source::read(&file)?;
    // A line without its end is what a copy was cut off in.
    let whole = source.text.rfind('\n').map_or(0, |last| last + 1);
    source.text.truncate(whole);
    if source.text.lines().count() < 2 {
        return Ok(Vec::new());
    }
    let difference = match identity.exists() {
        true => identity::difference(&identity, question)?,
        false => Some(format!("there is no {IDENTITY} to say which")),
    };
    match difference {
        None => csv::read(&source).map(|(rows, _)| rows),
        Some(difference) => Err(Error::OutOfRange {
            name: "--out",
            found: format!(
                "{}, whose rows are of another question: {difference}",
                folder.display()
            ),
            expected: "another folder, or --force to discard the rows".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Question {
        let all = ["mmgp", "schedulers"].iter().chain(arguments).map(OsString::from);
        question(all, &[]).unwrap()
    }

    #[test]
    fn a_question_is_of_every_flag_that_may_change_a_row_however_it_is_written() {
        let of = asked(&["--app", "synthetic", "--seed", "3"]);
        let of = |name: &str| {
            let found = of.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(of("version"), Some(crate::VERSION));
        assert_eq!((of("--app"), of("--seed")), (Some("synthetic"), Some("3")));
        // What is given by default, and by programs that do not run.
        assert_eq!((of("--machine"), of("--task-us")), (Some("qs20"), Some("96")));
        assert_eq!((of("--spes-per-task"), of("--tree")), (Some("1"), Some("")));
        let same = ["--seed=3", "--app=synthetic", "--machine", "qs20", "--force", "--workers=2"];
        assert_eq!(
            asked(&[&same[..], &["--out", "x", "--quiet", "--threads=1", "--tasks=4"]].concat()),
            asked(&["--app", "synthetic", "--seed", "3"])
        );
        assert_ne!(asked(&["--seed", "3"]), asked(&["--seed", "4"]));
    }
}
