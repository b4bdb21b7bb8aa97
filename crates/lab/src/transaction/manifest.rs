//! Results as they are kept, and the manifest of what belongs together in a folder: written last, so that a folder
//! whose files are what it says is whole.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mmgp_base::table::{self, Lines, Loss, Source};
use mmgp_base::{Error, Result, Warning};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::identity::Identity;
use crate::measure::{Shard, on_threads};
use crate::observer::Observer;

/// A list of files, with what they are of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    schema: u32,
    identity: Identity,
    /// SHA-256 of the parameters that the results stand beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<String>,
    files: Vec<Entry>,
}

/// A file by its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// The path of the file in the folder, with `/`.
    file: String,
    /// The length of the file \[byte\].
    bytes: usize,
    /// SHA-256 of its content, in hexadecimal digits.
    sha256: String,
}

/// The file of a manifest.
pub const FILE: &str = "manifest.json";

impl Manifest {
    /// The manifest of files in a folder.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub fn of<'f>(
        folder: &Path,
        files: impl Iterator<Item = &'f String>,
        identity: Identity,
        parameters: Option<&str>,
    ) -> Result<Self> {
        let entry = |file: &String| {
            let content = table::bytes(&folder.join(file))?;
            Ok(Entry { file: file.clone(), bytes: content.len(), sha256: sha256(&content) })
        };
        let files = files.map(entry).collect::<Result<_>>()?;
        let parameters = parameters.map(|text| sha256(text.as_bytes()));
        Ok(Self { schema: 1, identity, parameters, files })
    }

    /// The manifest of a folder, if it has one.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Input`].
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let source = Source::read(&path)?;
        let expected = "what a command of mmgp says of its files";
        serde_json::from_str(&source.text)
            .map(Some)
            .map_err(|error| source.json_error(&source.text, &error, expected))
    }

    /// Writes it into a folder.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        table::write(&folder.join(FILE), table::json(self))
    }

    /// Moves the manifest of one folder to another, whose files then are whole.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn take_place(&self, from: &Path, to: &Path) -> Result<()> {
        table::replace(&from.join(FILE), &to.join(FILE))
    }

    /// What the files are of.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The files, by their paths in the folder.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|entry| entry.file.as_str())
    }

    /// Whether a file of its folder is as it was written.
    pub fn is_unchanged(&self, folder: &Path, file: &str) -> bool {
        let content = table::bytes(&folder.join(file));
        content.is_ok_and(|content| self.has(file, &content))
    }

    fn has(&self, file: &str, content: &[u8]) -> bool {
        let entry = self.files.iter().find(|entry| entry.file == file);
        entry.is_some_and(|entry| entry.bytes == content.len() && entry.sha256 == sha256(content))
    }

    /// What is wrong with a file that was read for this folder, in words; `None` where it belongs to the
    /// others.
    fn objection(&self, file: &str, content: &[u8]) -> Option<String> {
        let command = self.identity.typed();
        let is_listed = self.files().any(|it| it == file);
        if is_listed {
            let is_whole = self.has(file, content);
            return (!is_whole).then(|| format!("it is not what `{command}` wrote there"));
        }
        if let (Some(parameters), "params.toml") = (&self.parameters, file) {
            let is_beside = *parameters == sha256(content);
            return (!is_beside)
                .then(|| format!("it is not what `{command}` set its results beside"));
        }
        let is_of_study = self.identity.command.first().is_some_and(|it| it == "study");
        is_of_study.then(|| format!("`{command}`, whose folder it is in, did not write it"))
    }
}

/// The objection to a file as a warning, where a file is used by itself.
///
/// # Errors
/// As [`objection`].
pub fn doubt(source: &Source) -> Result<Option<Warning>> {
    let objection = objection(source)?;
    Ok(objection.map(|objection| Warning::Note(format!("{}: {objection}", source.name))))
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Says why a file that was read does not belong to what is beside it; `None` where it does, or nothing
/// beside it says what belongs together.
///
/// # Errors
/// [`Error::Read`], [`Error::Input`]; [`Error::TooLittleData`] where files were being put in their places
/// when their writer was killed.
pub fn objection(source: &Source) -> Result<Option<String>> {
    let path = PathBuf::from(&source.name);
    let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let unfinished = folder.join(super::UNFINISHED);
    if let Some(manifest) = Manifest::read(&unfinished)? {
        return Err(Error::too_little(
            folder.display().to_string(),
            "files that were being put in their places when their writer was killed",
            format!("`{}` goes on", manifest.identity.typed_into(folder)),
        ));
    }
    let manifest = Manifest::read(folder)?;
    let file = file.to_string_lossy();
    Ok(manifest.and_then(|it| it.objection(&file, source.text.as_bytes())))
}

/// A line of the file of results.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// What the result is of.
    of: String,
    is: Box<RawValue>,
}

/// Results by what they are of, as JSON.
pub type KeptLines = BTreeMap<String, String>;

/// The results that a folder keeps so far.
pub struct KeptResults {
    known: KeptLines,
    lines: Mutex<Lines>,
}

impl KeptResults {
    /// Goes on with the results in a file, or begins it.
    ///
    /// # Errors
    /// [`Input`](mmgp_base::Error::Input) for a line that is no result; [`Write`](mmgp_base::Error::Write).
    pub fn open(path: &Path) -> Result<Self> {
        let (lines, text) = Lines::open(path)?;
        Ok(Self { known: parse(&text)?, lines: Mutex::new(lines) })
    }

    /// Does something for all items, with its progress, but for those of which a result is kept.
    ///
    /// # Errors
    /// The first error in the order of the items; [`Write`](mmgp_base::Error::Write).
    pub fn all<I: Sync + Debug, T: Serialize + DeserializeOwned + Send>(
        &self,
        what: &'static str,
        items: &[I],
        (threads, observer): (usize, &dyn Observer),
        job: &(dyn Fn(&I) -> Result<T> + Sync),
    ) -> Result<Vec<T>> {
        let step = observer.begin(what, items.len() as u64);
        on_threads(items, threads, &|item| {
            let result = self.one(&format!("{what}: {item:?}"), || job(item));
            step();
            result
        })
    }

    /// Does something for a share of the items; gives all results where that is all of them, and `None` where others
    /// have the rest.
    ///
    /// # Errors
    /// As [`KeptResults::all`].
    pub fn share<I: Sync + Debug, T: Serialize + DeserializeOwned + Send>(
        &self,
        shard: Shard,
        (what, items): (&'static str, &[I]),
        how: (usize, &dyn Observer),
        job: &(dyn Fn(&I) -> Result<T> + Sync),
    ) -> Result<Option<Vec<T>>> {
        let items: Vec<&I> = shard.of(items).collect();
        let done = self.all(what, &items, how, &|item| job(*item))?;
        Ok(shard.is_whole().then_some(done))
    }

    /// The result that is kept, or that of the job.
    ///
    /// # Errors
    /// Those of the job; [`Write`](mmgp_base::Error::Write).
    pub fn one<T: Serialize + DeserializeOwned>(
        &self,
        of: &str,
        job: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let known = self.known.get(of);
        if let Some(result) = known.and_then(|text| serde_json::from_str(text).ok()) {
            return Ok(result);
        }
        let result = job()?;
        let is = serde_json::value::to_raw_value(&result);
        let is = is.expect("invariant: results have string keys only");
        let line = serde_json::to_string(&Line { of: of.into(), is });
        let line = line.expect("invariant: a line has string keys only");
        self.lines().append(&line, Loss::IsCheap)?;
        Ok(result)
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Results by what they are of.
///
/// # Errors
/// [`Input`](mmgp_base::Error::Input) at a line that is none.
pub fn parse(source: &Source) -> Result<KeptLines> {
    let mut known = KeptLines::new();
    let expected = "a result as it was kept; they may be discarded";
    for text in source.text.split_inclusive('\n') {
        let line: Line = serde_json::from_str(text)
            .map_err(|error| source.json_error(text, &error, expected))?;
        known.insert(line.of, line.is.get().into());
    }
    Ok(known)
}

/// Writes results as they are kept.
///
/// # Errors
/// [`Write`](mmgp_base::Error::Write).
pub fn write(path: &Path, kept: &KeptLines) -> Result<()> {
    let line = |(of, is): (&String, &String)| {
        let is = RawValue::from_string(is.clone()).expect("invariant: it was JSON");
        let line = serde_json::to_string(&Line { of: of.clone(), is });
        line.expect("invariant: a line has string keys only") + "\n"
    };
    table::write(path, kept.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn what_was_kept_is_not_done_again_and_is_the_same_to_the_last_bit() {
        let folder = std::env::temp_dir().join(format!("mmgp-kept-{}", std::process::id()));
        table::create_folder(&folder).unwrap();
        let path = folder.join("kept.jsonl");
        let runs = AtomicU32::new(0);
        let items: Vec<u32> = (1..=9).collect();
        let all = |shard: &str| {
            let kept = KeptResults::open(&path).unwrap();
            let job = |item: &u32| {
                runs.fetch_add(1, Ordering::Relaxed);
                Ok(1.0 / f64::from(*item))
            };
            let how: (usize, &dyn Observer) = (3, &());
            kept.share(shard.parse().unwrap(), ("inverses", &items), how, &job).unwrap()
        };
        assert_eq!(all("2/4"), None);
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        // Killed while a line was written, which then is not there.
        let text = Source::read(&path).unwrap().text;
        let last = text.trim_end().rfind('\n').unwrap();
        table::write(&path, &text[..last + 9]).unwrap();
        let expected: Vec<f64> = items.iter().map(|&item| 1.0 / f64::from(item)).collect();
        assert_eq!(all("1/1"), Some(expected.clone()));
        assert_eq!(runs.load(Ordering::Relaxed), 2 + 8);
        assert_eq!(all("1/1"), Some(expected));
        assert_eq!(runs.load(Ordering::Relaxed), 2 + 8);
        table::write(&path, "{}\n").unwrap();
        let error = KeptResults::open(&path).err().unwrap().to_string();
        assert!(error.contains("kept.jsonl:1:2: found missing field `of`"), "{error}");
        table::remove_folder(&folder).unwrap();
    }
}
