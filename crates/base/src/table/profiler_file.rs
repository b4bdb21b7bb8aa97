//! Files that profilers write, told apart by their first bytes: databases, archives of files, and texts.

use std::path::Path;

use super::device_trace::DeviceTrace;
use super::{STANDARD_INPUT, Source, encoding, named_bytes};
use crate::error::{Error, Result};

/// A file that a profiler wrote, whatever its format.
#[derive(Debug)]
pub enum ProfilerFile {
    /// A trace, from a database.
    Database(DeviceTrace),
    /// Several files in one.
    Archive(Archive),
    /// A text, which may have been compressed.
    Text(Source),
}

impl ProfilerFile {
    /// Reads a file; `-` is standard input, and no database.
    ///
    /// # Errors
    /// [`Error::Read`], also for a format that this build does not read; [`Error::Input`] for what is
    /// compressed or an archive and damaged, and for what is no text; those of [`DeviceTrace::read`] for a
    /// database.
    pub fn read(path: &Path) -> Result<Self> {
        if path != Path::new(STANDARD_INPUT) && DeviceTrace::is_database(path)? {
            return DeviceTrace::of_database(path).map(Self::Database);
        }
        let (name, bytes) = named_bytes(path)?;
        let (bytes, compression) = encoding::expanded(&name, bytes)?;
        if is_archive(&bytes) {
            return Archive::new(name, &bytes).map(Self::Archive);
        }
        encoding::decoded(name, bytes, compression).map(Self::Text)
    }
}

/// An archive of `tar`.
#[derive(Debug)]
pub struct Archive {
    /// Name of the archive's own file.
    pub name: String,
    files: Vec<(String, Vec<u8>)>,
}

/// Bytes of a block: each file has one before it, and as many as it needs.
const BLOCK: usize = 512;

/// Whether a file is an archive, by the mark in its first block (POSIX.1-1988 and GNU).
fn is_archive(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

impl Archive {
    /// The files in an archive. Sums of its blocks are not looked at: CubeW 4.8 writes wrong ones.
    fn new(name: String, bytes: &[u8]) -> Result<Self> {
        let mut files = Vec::new();
        let mut rest = bytes;
        while let Some((header, content)) = rest.split_at_checked(BLOCK)
            && header[0] != 0
        {
            let field = |from: usize, to: usize| {
                let text = String::from_utf8_lossy(&header[from..to]);
                text.trim_matches(['\0', ' ']).to_string()
            };
            let size = usize::from_str_radix(&field(124, 136), 8).ok();
            let size = size.filter(|&size| size <= content.len());
            let size = size.ok_or_else(|| {
                let found = format!("an archive whose file {:?} is cut off", field(0, 100));
                Source::new(&name, "").error(0, found, "a whole one")
            })?;
            files.push((field(0, 100), content[..size].to_vec()));
            rest = content.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
        }
        Ok(Self { name, files })
    }

    /// The bytes of a file.
    pub fn bytes(&self, file: &str) -> Option<&[u8]> {
        self.files.iter().find(|(name, _)| name == file).map(|(_, bytes)| bytes.as_slice())
    }

    /// The text of a file, which may be compressed by itself.
    ///
    /// # Errors
    /// [`Error::Input`] where there is none, or it is no text.
    pub fn text(&self, file: &str) -> Result<Source> {
        let bytes = self.bytes(file).ok_or_else(|| self.error(file, "no such file", "one"))?;
        let name = self.path(file);
        let (bytes, compression) = encoding::expanded(&name, bytes.to_vec())?;
        encoding::decoded(name, bytes, compression)
    }

    /// The error that something else was expected of a file that is no text.
    pub fn error(
        &self,
        file: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Error {
        Source::new(&self.path(file), "").error(0, found, expected)
    }

    fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.name)
    }
}
