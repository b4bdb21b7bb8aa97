//! The part of a file: where its content lies until it is whole.
//!
//! A part has a name that nobody else has, and is locked as long as its writer lives. One that is not
//! locked is what a writer was killed in: whoever next writes into that folder removes it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A new file beside the one that it is to become.
pub(super) struct Part {
    pub path: PathBuf,
    pub file: File,
}

/// How the names of parts begin and end.
const BEGIN: &str = ".mmgp-";
const END: &str = ".part";

/// How often a name is tried again that somebody has, or that was taken for a remainder.
const ATTEMPTS: u32 = 1000;

/// The files that whoever ends the process removes: parts, and locks.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Part {
    /// A part in a folder, after what is left of others has been removed from it.
    pub fn new(folder: &Path) -> io::Result<Self> {
        remove_remains_once(folder);
        let mut list = under_way();
        for _ in 0..ATTEMPTS {
            let path = folder.join(name());
            let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&path)
            {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            if holds(&file, &path) {
                list.push(path.clone());
                return Ok(Self { path, file });
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "no name for a temporary file is free"))
    }

    /// Removes what is left of the part, which after a rename is nothing.
    pub fn forget(&self) {
        forget(&self.path);
    }
}

/// A name that no other part of this process has.
fn name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{BEGIN}{}-{count}{END}", process::id())
}

/// Whether a file of that name is a part.
pub(super) fn is_part(name: &str) -> bool {
    name.starts_with(BEGIN) && name.ends_with(END)
}

/// Locks a new part; `false` where somebody took it for a remainder between its creation and its lock.
fn holds(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => false,
        // Where there are no locks nobody takes it for anything.
        Ok(()) | Err(TryLockError::Error(_)) => fs::symlink_metadata(path).is_ok(),
    }
}

/// Has whoever ends the process remove a file.
pub(super) fn remember(path: &Path) {
    under_way().push(path.into());
}

/// Removes such a file.
pub(super) fn forget(path: &Path) {
    let mut list = under_way();
    if let Some(index) = list.iter().position(|known| known == path) {
        let _ = fs::remove_file(path);
        list.swap_remove(index);
    }
}

/// Removes all of them, and lets no new one begin while the guard lives.
pub(super) fn remove_all() -> impl Drop {
    let list = under_way();
    for path in list.iter() {
        let _ = fs::remove_file(path);
    }
    list
}

/// Removes the parts of writers that are gone, the first time that this process writes into a folder.
fn remove_remains_once(folder: &Path) {
    static KNOWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.iter().any(|it| it == folder) {
        known.push(folder.into());
        remove_remains(folder);
    }
}

fn remove_remains(folder: &Path) {
    // What cannot be listed or removed is in nobody's way.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(is_part) && entry.file_type().is_ok_and(|it| it.is_file()) {
            let file = OpenOptions::new().write(true).open(entry.path());
            if file.is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_writer_left_is_removed_and_what_is_written_or_a_users_is_not() {
        let folder = std::env::temp_dir().join(format!("mmgp-remains-{}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let part = Part::new(&folder).expect("a part");
        for name in [".mmgp-1-0.part", "y.txt.part", ".mmgp-notes"] {
            fs::write(folder.join(name), "x").expect("a file");
        }
        remove_remains(&folder);
        let names = || {
            let entries = fs::read_dir(&folder).expect("it is there");
            let names = entries.map(|it| it.expect("an entry").file_name().into_string());
            let mut names: Vec<String> = names.map(|it| it.expect("a name")).collect();
            names.sort();
            names
        };
        let own = part.path.file_name().and_then(|it| it.to_str()).expect("a name").to_string();
        let mut expected = [".mmgp-notes".to_string(), own, "y.txt.part".into()];
        expected.sort();
        assert_eq!(names(), expected);
        part.forget();
        assert_eq!(names(), [".mmgp-notes", "y.txt.part"]);
        fs::remove_dir_all(folder).expect("it is removed");
    }
}
