//! Files that are written beside their place, at once or while their content comes, and put there
//! when they are whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{part_of, writing};
use crate::error::{Error, Result};

/// A file under way: it lies beside its place and takes it with [`StreamedFile::commit`]. One that
/// is discarded, dropped, or interrupted ([`super::exit_between_writes`]) leaves nothing.
pub struct StreamedFile {
    path: PathBuf,
    part: PathBuf,
    /// Absent once the file is committed or discarded.
    out: Option<BufWriter<File>>,
}

/// The parts of files under way, for whoever ends the process.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StreamedFile {
    /// Opens a file at once, so that a path that cannot be written shows before a long run.
    ///
    /// # Errors
    /// [`Error::Write`] where the folder cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let part = part_of(path);
        // A pipe without a reader is waited for, and leaves nothing that has to be removed.
        let mut list = (part != path).then(under_way);
        let file = File::create(&part)
            .map_err(|source| Error::Write { file: path.to_path_buf(), source })?;
        if let Some(list) = &mut list {
            list.push(part.clone());
        }
        Ok(Self { path: path.to_path_buf(), part, out: Some(BufWriter::new(file)) })
    }

    /// Writes what is left and puts the file in its place.
    ///
    /// # Errors
    /// [`Error::Write`]; the file is discarded then.
    pub fn commit(&mut self) -> Result<()> {
        let Some(mut out) = self.out.take() else { return Ok(()) };
        let written = out.flush();
        drop(out);
        let done = written.and_then(|()| self.replace());
        self.forget();
        done.map_err(|source| Error::Write { file: self.path.clone(), source })
    }

    /// Removes what has been written.
    pub fn discard(&mut self) {
        if self.out.take().is_some() {
            self.forget();
        }
    }

    fn replace(&self) -> io::Result<()> {
        let _writing = writing();
        if self.is_in_place() { Ok(()) } else { fs::rename(&self.part, &self.path) }
    }

    /// Removes what is left of the part, which after a rename is nothing.
    fn forget(&self) {
        let mut list = under_way();
        if !self.is_in_place() {
            let _ = fs::remove_file(&self.part);
        }
        list.retain(|part| *part != self.part);
    }

    /// Whether it is a link, a device or a pipe, which is written as it is.
    fn is_in_place(&self) -> bool {
        self.part == self.path
    }
}

impl Write for StreamedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Some(out) => out.write(bytes),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for StreamedFile {
    fn drop(&mut self) {
        self.discard();
    }
}

/// Removes the parts of all files under way and lets no new one begin while the guard lives.
pub(super) fn remove_parts() -> impl Drop {
    let list = under_way();
    for part in list.iter() {
        let _ = fs::remove_file(part);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("mmgp-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_takes_its_place_when_it_is_whole_and_not_before() {
        let folder = folder("whole");
        let path = folder.join("a.json");
        fs::write(&path, "old").unwrap();
        let mut file = StreamedFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        file.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(&folder), ["a.json"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_dropped_leaves_nothing() {
        let folder = folder("dropped");
        let mut file = StreamedFile::create(&folder.join("a.json")).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(names(&folder), ["a.json.part"]);
        drop(file);
        assert_eq!(names(&folder), Vec::<String>::new());
        fs::remove_dir_all(folder).unwrap();
    }
}
