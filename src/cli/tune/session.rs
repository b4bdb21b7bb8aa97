//! A folder of runs: what they are of, the log, and what runs them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::super::identity::Identity;
use super::super::{signals, supervise};
use crate::attempt::Attempt;
use crate::error::{Error, Result};
use crate::native::{self, Program, Supervisor};
use crate::table::log::Log;
use crate::table::{self, Source, log};

/// The log of all attempts.
pub const LOG: &str = "log.jsonl";

/// What the log is of.
const IDENTITY: &str = "tune.json";

/// Held by whatever may still run.
const RUNNING: &str = ".running";

/// A folder that this process, and no other, goes on with.
pub struct Session {
    folder: PathBuf,
    /// The log.
    pub log: Log,
}

/// What is in a folder before anything is done with it; nothing where there is no log.
///
/// # Errors
/// Those of reading it, and as [`Session::open`].
pub fn attempts(folder: &Path, identity: &[(&str, String)]) -> Result<Vec<Attempt>> {
    let path = folder.join(LOG);
    if !path.exists() {
        return Ok(Vec::new());
    }
    check(folder, identity)?;
    log::parse(&Source::read(&path)?)
}

/// Refuses a folder whose log is of something else; whoever runs nothing is of nothing.
fn check(folder: &Path, identity: &[(&str, String)]) -> Result<()> {
    let path = folder.join(IDENTITY);
    if !path.exists() {
        return Ok(());
    }
    let before = Identity::read(&path)?;
    let Some(difference) = Identity::new(identity).difference(&before) else { return Ok(()) };
    Err(Error::out_of_range(
        "--out",
        format!("{}, whose runs are of another program: {difference}", folder.display()),
        "another folder, or the same program",
    ))
}

impl Session {
    /// Goes on in a folder, or begins there.
    ///
    /// # Errors
    /// [`Error::InUse`] where another process does; [`Error::OutOfRange`] where its runs are of
    /// something else.
    pub fn open(folder: &Path, identity: &[(&str, String)]) -> Result<Self> {
        table::create_folder(folder)?;
        let log = Log::open(&folder.join(LOG))?;
        if log.attempts().is_empty() && !identity.is_empty() {
            Identity::new(identity).write(&folder.join(IDENTITY))?;
        } else {
            check(folder, identity)?;
        }
        Ok(Self { folder: folder.into(), log })
    }

    /// What runs commands, and a flag that says that it was interrupted.
    ///
    /// # Errors
    /// [`Error::Program`] where the process that runs them cannot be started.
    pub fn program(&self, settings: native::Settings) -> Result<(Program, Interrupt)> {
        let own = std::env::current_exe()
            .map_err(|error| Error::Program { program: "mmgp".into(), why: error.to_string() })?;
        let mut command = Command::new(own);
        command.arg(supervise::COMMAND).arg(self.folder.join(RUNNING));
        let supervisor = Supervisor::start(command)?;
        let interrupt = Interrupt(Arc::new(AtomicI32::new(0)));
        let (flag, stop) = (interrupt.clone(), supervisor.stopper());
        signals::take_first(move |signal| {
            flag.0.store(signal, Ordering::SeqCst);
            stop.stop();
        });
        Ok((Program::new(settings, supervisor), interrupt))
    }
}

/// Which signal asked for an end, if one did.
#[derive(Clone)]
pub struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// The signal.
    pub fn signal(&self) -> Option<i32> {
        Some(self.0.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }
}
