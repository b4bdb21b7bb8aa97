//! The folder of a comparison: rows as they come, and what they are of.

use std::path::{Path, PathBuf};

use crate::cli::report;
use crate::error::{Error, Result};
use crate::lab::Identity;
use crate::lab::transaction::Earlier;
use crate::table::records::Scheduled;
use crate::table::{self, FolderLock, Source, csv};

use super::super::schedulers;

/// The rows.
pub const ROWS: &str = "schedulers.csv";
/// What the rows are of.
pub const IDENTITY: &str = "schedulers.json";

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
        question: &Identity,
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
            folder.show_no_longer()?;
            // In this order: no row may stand beside a question that it is no answer to.
            folder.write()?;
            question.write(&path.join(IDENTITY))?;
        }
        Ok(folder)
    }

    /// The place of a row among all: by scheduler, workers and tasks.
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
        self.keep_all(std::slice::from_ref(row))
    }

    /// Adds rows, and writes all.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn keep_all(&mut self, rows: &[Scheduled]) -> Result<()> {
        self.show_no_longer()?;
        rows.iter().for_each(|row| self.add(row));
        self.write()
    }

    fn add(&mut self, row: &Scheduled) {
        let index = self.rows.partition_point(|other| self.place(other) < self.place(row));
        match self.rows.get_mut(index) {
            // One of another seed, which only somebody else can have written.
            Some(other) if is_beside(other, row) => *other = row.clone(),
            _ => self.rows.insert(index, row.clone()),
        }
    }

    /// Removes page and pictures, which show other rows than there will be.
    fn show_no_longer(&self) -> Result<()> {
        table::remove_file(&self.path.join(report::PAGE))?;
        schedulers::remove_pictures(&self.path)
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
pub fn rows(folder: &Path, question: &Identity) -> Result<Vec<Scheduled>> {
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
        true => question.difference(&Identity::read(&identity)?),
        false => Some(format!("there is no {IDENTITY} to say which")),
    };
    match difference {
        None => csv::read(&source).map(|(rows, _)| rows),
        Some(difference) => Err(Error::out_of_range(
            "--out",
            format!("{}, whose rows are of another question: {difference}", folder.display()),
            "another folder, or --force to discard the rows",
        )),
    }
}
