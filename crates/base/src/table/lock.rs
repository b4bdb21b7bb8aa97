//! A file that says that somebody is at work, as long as the process lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A file to lock; the lock ends where this is dropped, or the process is gone.
pub struct Lock {
    path: PathBuf,
    file: File,
}

/// Who holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// This process does.
    ByUs,
    /// Another does.
    ByAnother,
    /// Some file systems of clusters have no locks.
    Unknown,
}

impl Lock {
    /// Of a file, which is made where there is none.
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
    pub fn take(&mut self) -> Result<Held> {
        match self.file.try_lock() {
            Ok(()) => Ok(Held::ByUs),
            Err(TryLockError::WouldBlock) => Ok(Held::ByAnother),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Held::Unknown)
            }
            Err(TryLockError::Error(source)) => Err(failed(&self.path, source)),
        }
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Write { file: path.into(), source }
}
