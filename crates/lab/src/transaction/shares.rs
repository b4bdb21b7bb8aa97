//! Shares of the runs: what says that one is finished, and how all of them become the whole.

use std::path::{Path, PathBuf};

use mmgp_base::table::{self, Source};
use mmgp_base::{Error, Result};
use serde::{Deserialize, Serialize};

use super::{Earlier, KEPT, KeptLines, Transaction, UNFINISHED, manifest};
use crate::identity::Identity;
use crate::measure::Shard;
use crate::observer::Observer;

/// What a folder says of its share, all of whose runs are there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinishedShard {
    schema: u32,
    shard: String,
    /// What the runs are of.
    pub identity: Identity,
}

/// The file of a share that is finished.
const FILE: &str = "shard.json";

impl FinishedShard {
    /// A share of runs, all of which are there.
    pub fn new(shard: Shard, identity: Identity) -> Self {
        Self { schema: 1, shard: shard.to_string(), identity }
    }

    /// Writes it into a folder.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        table::write(&folder.join(FILE), table::json(self))
    }

    /// Reads what a folder says of its share.
    ///
    /// # Errors
    /// [`Error::TooLittleData`] where it has none; [`Error::Read`], [`Error::Input`].
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Err(Error::too_little(
                folder.display().to_string(),
                format!("no {FILE}, which says that a share is finished"),
                "the command that this is a share of goes on with it",
            ));
        }
        let source = Source::read(&path)?;
        let expected = "what the command of a share wrote";
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

    /// The share.
    pub fn shard(&self) -> Shard {
        self.shard.parse().expect("invariant: it was read")
    }
}

/// Folders each of which has a share of the same runs.
pub struct Shares {
    folders: Vec<(PathBuf, FinishedShard)>,
}

/// What errors call a folder of a share.
pub const FOLDER_OF_SHARE: &str = "folder of a share";

impl Shares {
    /// Reads what folders say of their shares, of which there is at least one.
    ///
    /// # Errors
    /// As [`FinishedShard::read`]; [`Error::OutOfRange`] where they are of different things, or of
    /// different numbers of shares.
    pub fn read(folders: &[PathBuf]) -> Result<Self> {
        let read = |folder: &PathBuf| Ok((folder.clone(), FinishedShard::read(folder)?));
        let shares = Self { folders: folders.iter().map(read).collect::<Result<_>>()? };
        let (first, own) = &shares.folders[0];
        for (folder, other) in &shares.folders[1..] {
            if let Some(difference) = difference(&other.identity, &own.identity) {
                let (folder, first) = (folder.display(), first.display());
                let found = format!(
                    "{folder}, whose share is of something else than that of {first}: {difference}"
                );
                return Err(Error::out_of_range(FOLDER_OF_SHARE, found, "shares of the same"));
            }
            if !other.shard().is_beside(own.shard()) {
                let found = format!("the shares {} and {}", own.shard(), other.shard());
                return Err(Error::out_of_range(FOLDER_OF_SHARE, found, "shares of one number"));
            }
        }
        Ok(shares)
    }

    /// What all of them are of.
    pub fn identity(&self) -> &Identity {
        &self.folders[0].1.identity
    }

    /// The shares that no folder has.
    pub fn missing(&self) -> Vec<Shard> {
        let all: Vec<Shard> = self.folders.iter().map(|(_, share)| share.shard()).collect();
        Shard::missing_among(&all)
    }

    /// The folders.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|(folder, _)| folder.as_path())
    }

    /// Lays all results down in a folder, for what they are of to go on with.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where two folders have different results of the same; as
    /// [`Transaction::begin`].
    pub fn lay_down(&self, into: &Path, observer: &dyn Observer) -> Result<()> {
        let mut all = KeptLines::new();
        for folder in self.folders() {
            for (of, is) in manifest::parse(&Source::read(&folder.join(UNFINISHED).join(KEPT))?)? {
                if all.get(&of).is_some_and(|known| *known != is) {
                    let found = format!("{}, which has another result of {of}", folder.display());
                    let expected = "the same from all that have it";
                    return Err(Error::out_of_range(FOLDER_OF_SHARE, found, expected));
                }
                all.insert(of, is);
            }
        }
        let identity = self.identity().clone();
        let begun = Transaction::begin(into, identity, Shard::WHOLE, Earlier::Kept, observer)?;
        manifest::write(&begun.unfinished().join(KEPT), &all)
    }
}

/// The first difference between what shares are of, the commands that were typed included.
fn difference(own: &Identity, other: &Identity) -> Option<String> {
    own.difference(other).or_else(|| {
        let [own, other] = [own, other].map(Identity::typed);
        (own != other).then(|| format!("the command was `{other}`, and is `{own}`"))
    })
}
