//! Files that are written beside their place, at once or while their content comes, and put there
//! when they are whole.
//!
//! A part, where the content lies until then, has a name that nobody else has, and is locked as long as its
//! writer lives. One that is not locked is what a writer was killed in: whoever next writes into that folder
//! removes it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::writing;
use crate::error::{Error, Result, Warning};

/// A file under way: it lies beside its place and takes it with [`StreamedFile::commit`], with the mode and
/// the owner of what was there. One that is discarded, dropped, or interrupted
/// ([`super::exit_between_writes`]) leaves nothing.
pub struct StreamedFile {
    /// Path as the user named it.
    path: PathBuf,
    /// The place that it takes; `None` for a device or a pipe, which is written as it comes.
    place: Option<Destination>,
    /// Absent once the file is committed or discarded.
    out: Option<BufWriter<File>>,
}

/// The place that a file takes.
struct Destination {
    /// Free of links in its last step.
    target: PathBuf,
    part: Part,
}

impl StreamedFile {
    /// Opens a file at once, so that a path that cannot be written shows before a long run.
    ///
    /// # Errors
    /// [`Error::Write`] where the folder, or the file that is there, cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        Self::open(path).map_err(|source| Error::Write { file: path.into(), source })
    }

    fn open(path: &Path) -> io::Result<Self> {
        let Some(target) = place_of(path)? else {
            // A pipe without a reader is waited for, and leaves nothing that has to be removed.
            let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
            return Ok(Self { path: path.into(), place: None, out: Some(BufWriter::new(file)) });
        };
        let before = writable(&target)?;
        let part = Part::new(folder_of(&target))?;
        let prepared = || -> io::Result<File> {
            if let Some(before) = before {
                keep(path, &before, &part.file)?;
            }
            part.file.try_clone()
        };
        match prepared() {
            Ok(file) => {
                let place = Some(Destination { target, part });
                Ok(Self { path: path.into(), place, out: Some(BufWriter::new(file)) })
            }
            Err(error) => {
                part.forget();
                Err(error)
            }
        }
    }

    /// Writes what is left, waits until the disk has it, and puts the file in its place.
    ///
    /// # Errors
    /// [`Error::Write`]; the file is discarded then.
    pub fn commit(&mut self) -> Result<()> {
        let Some(mut out) = self.out.take() else { return Ok(()) };
        let mut done = out.flush();
        // What could not be written is not tried again.
        let (file, _) = out.into_parts();
        if let Some(place) = &self.place {
            done = done.and_then(|()| flushed(file.sync_all())).and_then(|()| place.take());
            place.part.forget();
        }
        done.map_err(|source| Error::Write { file: self.path.clone(), source })
    }

    /// Removes what has been written.
    pub fn discard(&mut self) {
        if let Some(out) = self.out.take() {
            drop(out.into_parts());
            if let Some(place) = &self.place {
                place.part.forget();
            }
        }
    }
}

impl Destination {
    fn take(&self) -> io::Result<()> {
        {
            let _writing = writing();
            fs::rename(&self.part.path, &self.target)?;
        }
        // The file is whole whether or not its folder can be flushed, which not every system does.
        let _ = File::open(folder_of(&self.target)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// What is at a place, where it may be written.
fn writable(target: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(target) {
        Ok(before) => OpenOptions::new().write(true).open(target).map(|_| Some(before)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a whole file another place.
pub(super) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    let target = place_of(to)?.unwrap_or_else(|| to.into());
    if let Some(before) = writable(&target)? {
        keep(to, &before, &OpenOptions::new().write(true).open(from)?)?;
    }
    let _writing = writing();
    fs::rename(from, &target)
}

/// Some file systems cannot be told to flush.
pub(super) fn flushed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) =>
        {
            Ok(())
        }
        other => other,
    }
}

/// How many links are followed before a circle is assumed, as the operating system does.
const MOST_LINKS: u32 = 40;

/// The path that a new file takes: of a link, what it leads to. `None` for what is written as it is,
/// since a file in its place would destroy it: a device, a pipe, an open file by its number.
fn place_of(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut place: PathBuf = path.into();
    for _ in 0..MOST_LINKS {
        if folder_of(&place).canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
            return Ok(None);
        }
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                place = folder_of(&place).join(fs::read_link(&place)?);
            }
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) => return Ok(found.is_file().then_some(place)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(place)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many links lead from one to another"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Gives a part the owner and the mode of the file whose place it takes.
#[cfg(unix)]
fn keep(path: &Path, before: &fs::Metadata, part: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    if before.nlink() > 1 {
        note(format!(
            "{} is the name of a new file now; its {} still the old one",
            path.display(),
            if before.nlink() == 2 { "other name is" } else { "other names are" }
        ));
    }
    let (own, before_owner) = (part.metadata()?, (before.uid(), before.gid()));
    if (own.uid(), own.gid()) != before_owner
        && fchown(part, Some(before.uid()), Some(before.gid())).is_err()
        && fchown(part, None, Some(before.gid())).is_err()
    {
        note(format!(
            "{} had user {} and group {} as owners, and has you now",
            path.display(),
            before.uid(),
            before.gid()
        ));
    }
    part.set_permissions(before.permissions())
}

/// There is neither here.
#[cfg(not(unix))]
fn keep(_: &Path, _: &fs::Metadata, _: &File) -> io::Result<()> {
    Ok(())
}

static NOTES: Mutex<Vec<Warning>> = Mutex::new(Vec::new());

#[cfg(unix)]
fn note(text: String) {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).push(Warning::Note(text));
}

/// What whoever wrote files should know of how they were written, once.
pub fn notes() -> Vec<Warning> {
    std::mem::take(&mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner))
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

/// A new file beside the one that it is to become.
struct Part {
    path: PathBuf,
    file: File,
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
    fn new(folder: &Path) -> io::Result<Self> {
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
    fn forget(&self) {
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
        assert_eq!(names(&folder).len(), 1);
        drop(file);
        assert_eq!(names(&folder), Vec::<String>::new());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn two_who_write_one_file_do_not_mix() {
        let folder = folder("two");
        let path = folder.join("a.json");
        let mut files = [(); 2].map(|()| StreamedFile::create(&path).unwrap());
        for step in 0..1000_u32 {
            for (own, file) in (0_u32..).zip(&mut files) {
                file.write_all(format!("{own} {step}\n").as_bytes()).unwrap();
            }
        }
        for (own, file) in files.iter_mut().enumerate() {
            file.commit().unwrap();
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().count(), 1000);
            assert!(text.lines().all(|line| line.starts_with(&own.to_string())));
        }
        assert_eq!(names(&folder), ["a.json"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn mode_and_links_are_kept_and_a_lost_name_is_told() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = folder("kept");
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.join(name));
        fs::write(&file, "before").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o7777;
        let is_kept = |content: &str| {
            fs::symlink_metadata(&link).unwrap().is_symlink()
                && fs::read_to_string(&file).unwrap() == content
                && mode() == 0o640
        };
        super::super::write(&link, "through a link").unwrap();
        assert!(is_kept("through a link"));
        StreamedFile::create(&link).unwrap().discard();
        assert!(is_kept("through a link"));
        fs::hard_link(&file, &other).unwrap();
        super::super::write(&file, "new").unwrap();
        assert!(is_kept("new"));
        assert_eq!(fs::read_to_string(&other).unwrap(), "through a link");
        let told: Vec<String> = notes().iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|it| it.contains("file is the name of a new file")), "{told:?}");
        // A link to what is not there yet, and one in a circle.
        symlink("later", folder.join("dangling")).unwrap();
        super::super::write(&folder.join("dangling"), "made").unwrap();
        assert_eq!(fs::read_to_string(folder.join("later")).unwrap(), "made");
        symlink("circle", folder.join("circle")).unwrap();
        assert!(StreamedFile::create(&folder.join("circle")).is_err());
        assert!(StreamedFile::create(&folder).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

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
