//! Programs that measure, run to their end or their limit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::signals;
use crate::error::{Error, Result};
use crate::native::Supervisor;
use crate::native::supervisor::{CommandEnd, Run};
use crate::table;
use crate::units::Seconds;

/// The process that runs them, and a folder for what they write, which is there as long as this is.
pub struct Runner {
    supervisor: Supervisor,
    folder: PathBuf,
    limit: Seconds,
}

/// The folder of the runner in that of the answer.
const FOLDER: &str = "programs";

/// The least time of a program before it is stopped: some take seconds to start.
const LEAST: Seconds = Seconds(10.0);

impl Runner {
    /// Starts it, with twice the time that is there for all other measurements for each program.
    ///
    /// # Errors
    /// Where the folder cannot be made, or the process not started.
    pub fn start(out: &Path, budget: Seconds) -> Result<Self> {
        let folder = out.join(FOLDER);
        table::create_folder(&folder)?;
        let supervisor = signals::supervisor(&folder.join("lock"))?;
        Ok(Self { supervisor, folder, limit: Seconds((2.0 * budget.0).max(LEAST.0)) })
    }

    /// A fresh folder of this name.
    ///
    /// # Errors
    /// The errors of making it.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        table::remove_folder(&folder)?;
        table::create_folder(&folder)?;
        std::path::absolute(&folder)
            .map_err(|error| Error::Program { program: "mmgp".into(), why: error.to_string() })
    }

    /// Runs a command to its end, or to its limit; how it ended.
    ///
    /// # Errors
    /// An error where the process that runs it is gone.
    pub fn run(&mut self, argv: &[String], env: BTreeMap<String, String>) -> Result<CommandEnd> {
        let (argv, limit_s) = (argv.to_vec(), Some(self.limit.0));
        self.supervisor.run(Run { argv, env, limit_s, ..Run::default() })
    }

    /// Ends it, and leaves nothing.
    ///
    /// # Errors
    /// Where the folder cannot be removed.
    pub fn end(self) -> Result<()> {
        drop(self.supervisor);
        table::remove_folder(&self.folder)
    }
}
