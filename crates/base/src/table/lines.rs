//! A file of lines that are written as they come, so that whatever happens to the writer nothing is lost
//! but the line under way.
//!
//! Whoever writes it holds a lock on it, which ends with the process however that ends. A last line
//! without its end is what a writer was killed in, and is taken away.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::streamed::flushed;
use super::{Source, writing};
use crate::error::{Error, Result};

/// Lines that this process, and no other, goes on with.
pub struct Lines {
    path: PathBuf,
    file: File,
}

/// Whether a line has to be on disk before the work goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// It was so much work that it is waited for.
    Matters,
    /// It may be lost where the whole computer fails.
    IsCheap,
}

impl Lines {
    /// Goes on with the file at `path`, or begins it; with the whole lines that it has.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process goes on with it; [`Error::Write`].
    pub fn open(path: &Path) -> Result<(Self, Source)> {
        let failed = |source| Error::Write { file: path.into(), source };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse { file: path.into() }),
            // Some file systems of clusters have no locks.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        file.seek(SeekFrom::Start(whole as u64)).map_err(failed)?;
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
        let whole = self.file.stream_position()?;
        self.file.write_all(line).inspect_err(|_| {
            // Where that fails as well, the next one who opens it takes the half away.
            let _ = self.file.set_len(whole);
            let _ = self.file.seek(SeekFrom::Start(whole));
        })
    }
}
