//! The results of a study as a transaction: they come to be in a folder within that of the study, result
//! by result, and take their places when all are there.
//!
//! Until then the study's folder is what it was. What was interrupted goes on where it was: results that
//! are kept are not made again. The last file that takes its place is the [`Manifest`], which says what
//! belongs together; where it is written and not yet in its place, whoever comes next puts all in their
//! places.

mod manifest;
mod shares;

use std::path::{Path, PathBuf};

use mmgp_base::table::{self, FolderLock};
use mmgp_base::{Error, Result, Warning};

use crate::identity::Identity;
use crate::measure::Shard;
use crate::observer::Observer;
pub use manifest::{FILE as MANIFEST, KeptLines, KeptResults, Manifest, doubt, objection};
pub use shares::{FOLDER_OF_SHARE, FinishedShard, Shares};

/// What errors call the folder that results go to.
pub const FOLDER_OF_RESULTS: &str = "folder of results";

/// The folder within a study's folder in which its results come to be.
const UNFINISHED: &str = "unfinished";
/// What they are of.
const QUESTION: &str = "question.json";
/// The results so far.
const KEPT: &str = "kept.jsonl";

/// What is done with results of something else, and with those that are not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// Unfinished results of the same go on; those of something else are refused.
    Kept,
    /// Unfinished results, and those of something else, are discarded.
    Discarded,
}

/// Results on their way into a folder.
pub struct Transaction {
    folder: PathBuf,
    identity: Identity,
    kept: KeptResults,
    shard: Shard,
    _lock: FolderLock,
}

impl Transaction {
    /// Begins in a folder, or goes on there.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process is at work there; [`Error::OutOfRange`] where the folder has
    /// results that these are not to be mixed with; those of reading and writing.
    pub fn begin(
        folder: &Path,
        identity: Identity,
        shard: Shard,
        earlier: Earlier,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let lock = FolderLock::take(folder)?;
        finish(folder)?;
        let unfinished = folder.join(UNFINISHED);
        refuse_others(folder, &identity, earlier, observer)?;
        table::create_folder(&unfinished)?;
        if !is_ours(&unfinished)? {
            let found = "which is no folder of unfinished results";
            return Err(refused(&unfinished, found, "another folder"));
        }
        match earlier {
            Earlier::Kept => check_unfinished(folder, &identity)?,
            Earlier::Discarded => discard(&unfinished)?,
        }
        // If it was a finished share, it is under way again.
        FinishedShard::forget(folder)?;
        table::create_folder(&unfinished)?;
        identity.write(&unfinished.join(QUESTION))?;
        for file in table::files_in(&unfinished)? {
            // What follows from results is made again.
            if ![QUESTION, KEPT].contains(&&*file) {
                table::remove_file(&unfinished.join(file))?;
            }
        }
        let kept = KeptResults::open(&unfinished.join(KEPT))?;
        Ok(Self { folder: folder.into(), identity, kept, shard, _lock: lock })
    }

    /// The folder that the files are written into.
    pub fn unfinished(&self) -> PathBuf {
        self.folder.join(UNFINISHED)
    }

    /// The folder that they take their places in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The results so far.
    pub fn kept(&self) -> &KeptResults {
        &self.kept
    }

    /// Writes down that all results of its share are there, which waits to be merged.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish_shard(self) -> Result<FinishedShard> {
        let finished = FinishedShard::new(self.shard, self.identity);
        finished.write(&self.folder)?;
        Ok(finished)
    }

    /// Puts all files in their places. `parameters` is the text of the parameters that the results stand
    /// beside.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn commit(self, parameters: Option<&str>) -> Result<()> {
        let unfinished = self.unfinished();
        let files = table::files_in(&unfinished)?;
        let files = files.iter().filter(|file| ![QUESTION, KEPT].contains(&&***file));
        let manifest = Manifest::of(&unfinished, files, self.identity, parameters)?;
        manifest.write(&unfinished)?;
        finish(&self.folder)
    }
}

/// What the results are of that are not finished in a folder, where there are any.
pub fn unfinished_in(folder: &Path) -> Option<Identity> {
    Identity::read(&folder.join(UNFINISHED).join(QUESTION)).ok()
}

/// The folder that a command uses which is given none: that one, or the first of that name with a number
/// that has no results of something else.
///
/// # Errors
/// Those of reading.
pub fn free_folder(name: &str, identity: &Identity, observer: &dyn Observer) -> Result<PathBuf> {
    let mut folder = PathBuf::from(name);
    let mut number = 1;
    while is_of_something_else(&folder, identity)? {
        number += 1;
        folder = PathBuf::from(format!("{name}-{number}"));
    }
    if number > 1 {
        observer.warn(&Warning::Note(format!(
            "{name} has results of something else: those of this command go to {}",
            folder.display()
        )));
    }
    Ok(folder)
}

fn is_of_something_else(folder: &Path, identity: &Identity) -> Result<bool> {
    if table::names_in(folder).is_empty() {
        return Ok(false);
    }
    let question = folder.join(UNFINISHED).join(QUESTION);
    if question.exists() {
        return Ok(identity.difference(&Identity::read(&question)?).is_some());
    }
    let manifest = Manifest::read(folder)?;
    Ok(manifest.is_none_or(|it| identity.difference(it.identity()).is_some()))
}

/// Whether a folder of unfinished results is one, or has nothing in it.
fn is_ours(unfinished: &Path) -> Result<bool> {
    Ok(unfinished.join(QUESTION).exists() || table::files_in(unfinished)?.is_empty())
}

/// Removes a folder of unfinished results; wherever that is cut short, what is left is known for one.
fn discard(unfinished: &Path) -> Result<()> {
    for file in table::files_in(unfinished)?.iter().filter(|file| *file != QUESTION) {
        table::remove_file(&unfinished.join(file))?;
    }
    table::remove_folder(unfinished)
}

/// Puts files in their places that are all written and were to take them when their writer was killed.
fn finish(folder: &Path) -> Result<()> {
    let unfinished = folder.join(UNFINISHED);
    let Some(manifest) = Manifest::read(&unfinished)? else { return Ok(()) };
    let before = Manifest::read(folder)?;
    for file in manifest.files() {
        let (from, to) = (unfinished.join(file), folder.join(file));
        if from.exists() {
            if let Some(parent) = to.parent() {
                table::create_folder(parent)?;
            }
            table::replace(&from, &to)?;
        }
    }
    // What the results before these had and these have not.
    for file in before.iter().flat_map(Manifest::files) {
        let is_old = manifest.files().all(|it| it != file);
        if is_old && before.as_ref().is_some_and(|it| it.is_unchanged(folder, file)) {
            table::remove_file(&folder.join(file))?;
        }
    }
    manifest.take_place(&unfinished, folder)?;
    discard(&unfinished)
}

/// Refuses a folder whose results are of another kind: those of a validation are not to stand beside the
/// page of a study.
fn refuse_others(
    folder: &Path,
    identity: &Identity,
    earlier: Earlier,
    observer: &dyn Observer,
) -> Result<()> {
    let Some(manifest) = Manifest::read(folder)? else { return Ok(()) };
    let before = manifest.identity();
    let is_same_kind = before.command.first() == identity.command.first();
    if !is_same_kind && earlier == Earlier::Kept {
        let found = format!("which has the results of `{}`", before.typed());
        return Err(refused(folder, &found, "another folder, or to replace them"));
    }
    if let Some(difference) = identity.difference(before) {
        observer.warn(&Warning::Note(format!(
            "{} has the results of `{}`, which these are to replace ({difference})",
            folder.display(),
            before.typed()
        )));
    }
    Ok(())
}

/// Refuses unfinished results of something else.
fn check_unfinished(folder: &Path, identity: &Identity) -> Result<()> {
    let question = folder.join(UNFINISHED).join(QUESTION);
    if !question.exists() {
        return Ok(());
    }
    let before = Identity::read(&question)?;
    let Some(difference) = identity.difference(&before) else { return Ok(()) };
    if Manifest::read(folder)?.is_some_and(|it| *it.identity() == before) {
        // They are in their places, and what was left of them is of no use.
        return discard(&folder.join(UNFINISHED));
    }
    let found = format!("where `{}` is not finished: {difference}", before.typed());
    Err(refused(folder, &found, "another folder, or to discard what it has"))
}

fn refused(folder: &Path, found: &str, expected: &str) -> Error {
    Error::out_of_range(FOLDER_OF_RESULTS, format!("{}, {found}", folder.display()), expected)
}
