//! The origin of a study, so that it can be done again.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::table::Source;

/// What made the files of a study, and of what. `study` leaves it in `study.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// The command, without what changes no result: threads, folders.
    pub command: Option<String>,
    /// Version and commit of the program that measured and fitted.
    pub version: Option<String>,
    /// Seed of all random numbers.
    pub seed: Option<u64>,
    /// The program that was measured, and its input.
    pub application: Option<String>,
    /// The machine that it ran on.
    pub machine: Option<MachineName>,
    /// The files that went in.
    #[serde(default)]
    pub inputs: Vec<InputFile>,
    /// What was warned of when it was done.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Provenance {
    /// Reads what `study` left.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) where the text is not such an object.
    pub fn read(source: &Source) -> Result<Self> {
        let expected = "what `mmgp study` says of itself, as JSON";
        serde_json::from_str(&source.text)
            .map_err(|error| source.json_error(&source.text, &error, expected))
    }
}

/// A machine, as its file calls it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineName {
    /// The short name: `qs20`.
    pub name: String,
    /// What it is.
    pub description: String,
}

/// A file by its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// The name of the file, without the folders above it.
    pub file: String,
    /// The length of the file \[byte\].
    pub bytes: usize,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// What it is to the study: `parameters`, `alignment`...
    pub role: String,
}

impl InputFile {
    /// Describes a file that was read.
    pub fn new(source: &Source, role: &str) -> Self {
        let digest = Sha256::digest(source.text.as_bytes());
        let name = source.name.rsplit(['/', '\\']).next().unwrap_or_default();
        Self {
            file: name.to_string(),
            bytes: source.text.len(),
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            role: role.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_hash_and_by_its_last_name_alone() {
        // The example of FIPS 180-2, appendix B.1.
        let file = InputFile::new(&Source::new("a/b\\c.csv", "abc"), "runs");
        assert_eq!((file.file.as_str(), file.bytes), ("c.csv", 3));
        assert_eq!(file.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
