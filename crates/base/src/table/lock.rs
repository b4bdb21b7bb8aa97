//! A file that says that somebody is at work, as long as the process lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::streamed;
use crate::error::{Error, Result};

/// A file to lock; the lock ends where this is dropped, or the process is gone.
pub struct Lock {
    path: PathBuf,
    file: File,
}

/// Who holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// This process holds it.
    ByUs,
    /// Another process holds it.
    ByAnother,
    /// Some file systems of clusters have no locks.
    Unknown,
}

impl Lock {
    /// The lock of a file, which is made where there is none.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn new(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let file = options.open(path).map_err(|source| failed(path, source))?;
        Ok(Self { path: path.into(), file })
    }

    /// The absolute path of the file, free of links.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn place(&self) -> Result<PathBuf> {
        self.path.canonicalize().map_err(|source| failed(&self.path, source))
    }

    /// Takes the lock, unless another has it.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn take(&mut self) -> Result<Holder> {
        match self.file.try_lock() {
            Ok(()) => Ok(Holder::ByUs),
            Err(TryLockError::WouldBlock) => Ok(Holder::ByAnother),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Holder::Unknown)
            }
            Err(TryLockError::Error(source)) => Err(failed(&self.path, source)),
        }
    }
}

/// A folder in which this process, and no other, is at work. The file that says so is gone when this is
/// dropped or the process is ended; after a kill it is there, and hinders nobody.
pub struct FolderLock {
    lock: Lock,
}

/// The name.
const RUNNING: &str = ".running";

impl FolderLock {
    /// Takes a folder, which is made where there is none.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process has it; [`Error::Write`].
    pub fn take(folder: &Path) -> Result<Self> {
        super::create_folder(folder)?;
        let path = folder.join(RUNNING);
        loop {
            let mut lock = Lock::new(&path)?;
            if lock.take()? == Holder::ByAnother {
                return Err(Error::InUse { file: path });
            }
            if lock.is_in_place() {
                streamed::remember(&path);
                return Ok(Self { lock });
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        streamed::forget(&self.lock.path);
    }
}

impl Lock {
    /// Whether the file that was locked is the one of that name: who had it before may have removed it.
    #[cfg(unix)]
    fn is_in_place(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;

        let there = std::fs::metadata(&self.path);
        let is_it = |one: std::fs::Metadata, other: std::fs::Metadata| {
            (one.dev(), one.ino()) == (other.dev(), other.ino())
        };
        there.is_ok_and(|there| self.file.metadata().is_ok_and(|own| is_it(own, there)))
    }

    /// A file that is open cannot be removed here.
    #[cfg(not(unix))]
    fn is_in_place(&self) -> bool {
        true
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Write { file: path.into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_belongs_to_one_until_he_is_done() {
        let folder = std::env::temp_dir().join(format!("mmgp-folder-{}", std::process::id()));
        let lock = FolderLock::take(&folder).expect("it is free");
        assert!(matches!(FolderLock::take(&folder), Err(Error::InUse { .. })));
        drop(lock);
        assert!(super::super::names_in(&folder).is_empty());
        // What a process that was killed left hinders nobody.
        super::super::write(&folder.join(RUNNING), "").expect("it is written");
        drop(FolderLock::take(&folder).expect("it is free"));
        super::super::remove_folder(&folder).expect("it is removed");
    }
}
