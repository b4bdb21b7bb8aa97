//! What belongs together in a folder: written last, so that a folder whose files are what it says is whole.

use std::path::{Path, PathBuf};

use mmgp_base::table::{self, Source};
use mmgp_base::{Error, Result, Warning};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::identity::Identity;

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
