//! Files in and out: the only module that opens them.
//!
//! Readers take a [`Source`], the whole text of a file with its name, so everything above this
//! module is free of input and output; every error carries file, line and column. A file is written
//! beside its place, under a name that nobody else has, flushed to disk, and takes its place in one step
//! ([`StreamedFile`]), so an interrupted program leaves either the old file or the new one, never half of
//! one. A program that is killed leaves a part, which the next one that writes there removes.

#![allow(clippy::disallowed_methods)] // This module is the exception to its own rule.

pub mod csv;
mod device_trace;
mod encoding;
mod lock;
pub mod log;
mod profiler_file;
pub mod records;
mod streamed;
pub mod toml;
pub mod trace;

pub use device_trace::{Activity, DeviceTrace, Launch, Stretch};
pub use encoding::inflated;
pub use lock::{FolderLock, Holder, Lock};
pub use log::{Lines, Loss};
pub use profiler_file::{Archive, ProfilerFile};
pub use records::MicroBenchmarks;
pub use streamed::{StreamedFile, notes};

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Place, Position, Result};

/// The text of an input file and the name to call it by in messages.
#[derive(Debug, Clone)]
pub struct Source {
    /// The file's name as the user gave it.
    pub name: String,
    /// The whole content.
    pub text: String,
    /// What the text was made from, where that was not UTF-8 as it stands: `gzip, UTF-16`.
    pub encoding: Option<String>,
}

impl Source {
    /// A text that is compiled in or made by a test.
    pub fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_string(), text: text.to_string(), encoding: None }
    }

    /// Reads a whole file, which must be UTF-8; [`STANDARD_INPUT`] is standard input, once.
    ///
    /// # Errors
    /// [`Error::Read`]; [`Error::Input`] at the first byte that is not UTF-8.
    pub fn read(path: &Path) -> Result<Self> {
        let (name, bytes) = named_bytes(path)?;
        Self::of_utf8(name, bytes)
    }

    /// Reads a whole file as people have it: compressed by gzip or xz, in UTF-8, UTF-16 or Windows-1252.
    ///
    /// # Errors
    /// As [`Self::read`]; [`Error::Input`] for what is compressed and damaged, and for what is no text in
    /// any of these.
    pub fn read_any(path: &Path) -> Result<Self> {
        let (name, bytes) = named_bytes(path)?;
        let (bytes, compression) = encoding::expanded(&name, bytes)?;
        encoding::decoded(name, bytes, compression)
    }

    fn of_utf8(name: String, bytes: Vec<u8>) -> Result<Self> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text, encoding: None }),
            Err(error) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let before = String::from_utf8_lossy(valid);
                let found = format!("the byte 0x{:02x}", error.as_bytes()[valid.len()]);
                let source = Self::new(&name, &before);
                Err(source.error(before.len(), found, "text encoded as UTF-8"))
            }
        }
    }

    /// Line and column of the byte at `offset`.
    pub fn position(&self, offset: usize) -> Position {
        let before = &self.text[..self.text.floor_char_boundary(offset.min(self.text.len()))];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before[line_start..].trim_start_matches(BYTE_ORDER_MARK);
        let place = Place::Text {
            line: before.matches('\n').count() as u64 + 1,
            column: line.chars().count() as u64 + 1,
        };
        Position { file: self.name.clone(), place }
    }

    /// The error that something else was expected at the byte at `offset`.
    pub fn error(
        &self,
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Error {
        let at = self.position(offset);
        Error::Input { at, found: found.into(), expected: expected.into() }
    }

    /// The error that `part`, which is a part of the text, is not the JSON that was expected.
    pub fn json_error(&self, part: &str, error: &serde_json::Error, expected: &str) -> Error {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let message = error.to_string();
        let found = message.split(" at line ").next().unwrap_or_default();
        self.error(start + json_offset(part, error), found, expected)
    }
}

/// The text of a value as JSON, with a newline at its end.
pub fn json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("invariant: what is written has string keys only") + "\n"
}

/// The byte of a text at which it is not the JSON that was expected.
///
/// `serde_json` counts a column in bytes, and the last of a line as 0 of the next.
pub fn json_offset(text: &str, error: &serde_json::Error) -> usize {
    let lines_before = error.line().saturating_sub(1);
    let line: usize = text.split_inclusive('\n').take(lines_before).map(str::len).sum();
    line + error.column().saturating_sub(1)
}

/// The bytes of a file or of standard input, with what to call it.
fn named_bytes(path: &Path) -> Result<(String, Vec<u8>)> {
    let is_standard_input = path == Path::new(STANDARD_INPUT);
    let bytes = if is_standard_input { standard_input() } else { fs::read(path) };
    let bytes = bytes.map_err(|source| Error::Read { file: path.into(), source })?;
    let name = if is_standard_input { "standard input".into() } else { path.display().to_string() };
    Ok((name, bytes))
}

/// The name of a file that is read from standard input.
pub const STANDARD_INPUT: &str = "-";

/// All of standard input, which nobody else has read.
fn standard_input() -> io::Result<Vec<u8>> {
    static IS_READ: AtomicBool = AtomicBool::new(false);
    if IS_READ.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("standard input can be read for one file alone"));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What some editors put before a text; they do not count it as a character.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// The lock that is held while a file takes its place or a log a line; whoever ends the process takes it first, so that no
/// line is left half written.
static WRITING: Mutex<()> = Mutex::new(());

/// Ends the process with `code` as soon as no file is being put in place, and removes the parts of those
/// that are not whole, and the locks on folders.
pub fn exit_between_writes(code: i32) -> ! {
    let _no_write_under_way = WRITING.lock();
    let _no_part_begins = streamed::remove_all();
    std::process::exit(code)
}

/// Replaces `path` by `content` in one step.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let mut file = StreamedFile::create(path)?;
    let written = file.write_all(content.as_ref());
    written.map_err(|source| Error::Write { file: path.into(), source })?;
    file.commit()
}

fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a folder and its parents where they do not exist.
pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|source| Error::Write { file: path.into(), source })
}

/// Gives a whole file another place in one step, with the mode and the owner of what was there.
///
/// # Errors
/// [`Error::Write`], [`Error::Read`].
pub fn replace(from: &Path, to: &Path) -> Result<()> {
    match streamed::replace(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            write(to, bytes(from)?)?;
            remove_file(from)
        }
        result => result.map_err(|source| Error::Write { file: to.into(), source }),
    }
}

/// Removes a file; one that is not there is none to remove.
///
/// # Errors
/// [`Error::Write`].
pub fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::Write { file: path.into(), source })
        }
        _ => Ok(()),
    }
}

/// All files in a folder and those beneath it, by name, each as a path from the folder with `/`; without
/// parts of files.
///
/// # Errors
/// [`Error::Read`].
pub fn files_in(folder: &Path) -> Result<Vec<String>> {
    let failed = |source| Error::Read { file: folder.into(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().map_err(failed)?.is_dir() {
            let beneath = files_in(&entry.path())?;
            files.extend(beneath.into_iter().map(|file| format!("{name}/{file}")));
        } else if !streamed::is_part(&name) {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// The names in a folder, in no order; none of one that cannot be read.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// All bytes of a file, which need not be text.
///
/// # Errors
/// [`Error::Read`].
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|source| Error::Read { file: path.into(), source })
}

/// Removes a folder with all that is in it; one that is not there is none to remove.
pub fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(Error::Write { file: path.into(), source })
        }
        _ => Ok(()),
    }
}

/// Links to nothing that are followed from one to the next; as many as Linux follows.
const MOST_LINKS: usize = 40;

/// The absolute path, free of links, of the file that `path` means, whether it exists or is about
/// to; two paths mean one file where their places are equal. `None` of a device or a pipe, which
/// keeps nothing that could be overwritten.
pub fn place(path: &Path) -> Option<PathBuf> {
    match fs::metadata(path) {
        Ok(it) if !it.is_file() && !it.is_dir() => None,
        _ => Some(place_after(path, MOST_LINKS)),
    }
}

fn place_after(path: &Path, links: usize) -> PathBuf {
    if let Ok(place) = fs::canonicalize(path) {
        return place;
    }
    // A folder that does not exist yet has no links in it.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return absolute;
    };
    match fs::read_link(path) {
        Ok(target) if links > 0 => place_after(&folder.join(target), links - 1),
        _ => place_after(folder, links).join(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_characters_not_bytes() {
        let source = Source::new("x.csv", "m,p\nµ,9\n");
        let at = source.position("m,p\nµ,".len());
        assert_eq!(at.to_string(), "x.csv:2:3");
    }

    #[cfg(unix)]
    #[test]
    fn every_spelling_of_a_path_has_one_place() {
        use std::os::unix::fs::symlink;
        let folder = std::env::temp_dir().join(format!("mmgp-place-{}", std::process::id()));
        fs::create_dir_all(folder.join("in")).expect("a folder");
        fs::write(folder.join("file"), "").expect("a file");
        symlink("file", folder.join("link")).expect("a link");
        symlink("in", folder.join("linked")).expect("a link");
        symlink("../new", folder.join("in/dangling")).expect("a link");
        symlink("loop", folder.join("loop")).expect("a link");
        let of = |path: &str| place(&folder.join(path)).expect("it is no device");
        for same in ["./file", "in/../file", "link", "linked/../link"] {
            assert_eq!(of(same), of("file"), "{same}");
        }
        for same in ["./new", "in/dangling", "linked/dangling"] {
            assert_eq!(of(same), of("new"), "{same}");
        }
        assert_eq!(of("linked/none/a"), of("in/none/a"));
        assert_ne!(of("in/file"), of("file"));
        assert_ne!(of("loop"), of("file"));
        assert_eq!(place(Path::new("/dev/null")), None);
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
