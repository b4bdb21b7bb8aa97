//! What says that a share of the runs is finished.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::cli::identity::Identity;
use crate::cli::output::json;
use crate::error::{Error, Result};
use crate::measure::Shard;
use crate::table::{self, Source};

/// What says that all runs of a share are there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinishedShard {
    schema: u32,
    shard: String,
    /// What the runs are of.
    pub identity: Identity,
}

/// Its file.
const FILE: &str = "shard.json";

impl FinishedShard {
    pub fn new(shard: Shard, identity: Identity) -> Self {
        Self { schema: 1, shard: shard.to_string(), identity }
    }

    /// Writes it down.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        table::write(&folder.join(FILE), json(self))
    }

    /// That of a folder.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] where it has none; [`Error::Read`], [`Error::Input`].
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Err(Error::TooLittleData {
                file: folder.display().to_string(),
                found: format!("no {FILE}, which says that a share is finished"),
                advice: "the command with --shard and --out goes on with it".into(),
            });
        }
        let source = Source::read(&path)?;
        let expected = "what a command with --shard wrote";
        let found: Self = serde_json::from_str(&source.text)
            .map_err(|error| source.json_error(&source.text, &error, expected))?;
        found.shard.parse::<Shard>().map(|_| found)
    }

    /// A share is under way again in a folder.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn forget(folder: &Path) -> Result<()> {
        table::remove_file(&folder.join(FILE))
    }

    /// What to do with it, for people.
    pub fn told(&self, folder: &Path) -> String {
        format!(
            "Share {} of `{}` is in {}. `mmgp merge DIR...`, with the folders of all shares, makes the \
             whole of them.\n",
            self.shard,
            self.identity.typed(),
            folder.display()
        )
    }

    /// Which it is.
    pub fn shard(&self) -> Shard {
        self.shard.parse().expect("invariant: it was read")
    }
}
