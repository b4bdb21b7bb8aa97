//! `asked.json`: the runs that were handed out, to other engines and to drivers, and not told of yet.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::session::Session;
use crate::Mapping;
use crate::attempt::Order;
use crate::cli::output::json;
use crate::error::Result;
use crate::table::{self, Source};

/// A run that was handed out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Which order it is.
    pub id: u64,
    /// Processes.
    pub m: u32,
    /// APUs or threads of each.
    pub p: u32,
    /// Nodes that it takes.
    pub nodes: u32,
    /// Further factors.
    pub params: BTreeMap<String, String>,
    /// Number among the runs of its configuration.
    #[serde(default)]
    pub repetition: u32,
    /// Name of the driver that it is reserved for; none where an engine has the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
}

impl Request {
    /// The request for an order.
    pub fn new((mapping, order): &(Mapping, Order), worker: Option<&str>) -> Self {
        Self {
            id: order.id,
            m: mapping.m(),
            p: mapping.p(),
            nodes: order.nodes,
            params: order.factors.clone(),
            repetition: order.repetition,
            worker: worker.map(String::from),
        }
    }

    /// The configuration to run.
    pub fn mapping(&self) -> Result<Mapping> {
        Mapping::new(self.m, self.p)
    }
}

/// All that was handed out in a folder and not told of yet. Whoever writes it holds the log.
pub struct Requests {
    path: PathBuf,
    all: Vec<Request>,
}

impl Requests {
    /// The requests of a folder whose log has runs of these ids.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) where the file is another.
    pub fn read(folder: &Path, told: impl Iterator<Item = u64>) -> Result<Self> {
        let path = folder.join("asked.json");
        let mut all = Vec::new();
        if path.exists() {
            let source = Source::read(&path)?;
            all = serde_json::from_str(&source.text).map_err(|error| {
                source.json_error(&source.text, &error, "what was asked of others")
            })?;
        }
        let told: BTreeSet<u64> = told.collect();
        all.retain(|request: &Request| !told.contains(&request.id));
        Ok(Self { path, all })
    }

    /// The requests of a folder that this process goes on with.
    ///
    /// # Errors
    /// As [`Requests::read`].
    pub fn of(folder: &Path, session: &Session) -> Result<Self> {
        Self::read(folder, session.log.attempts().iter().map(|it| it.id))
    }

    /// All of them.
    pub fn all(&self) -> &[Request] {
        &self.all
    }

    /// The request with an id.
    pub fn with_id(&self, id: u64) -> Option<&Request> {
        self.all.iter().find(|it| it.id == id)
    }

    /// The runs that are in the hands of this driver.
    pub fn of_worker<'a>(&'a self, worker: Option<&'a str>) -> impl Iterator<Item = &'a Request> {
        self.all.iter().filter(move |it| worker.is_some() && it.worker.as_deref() == worker)
    }

    /// Whether a run of a configuration is in somebody's hands.
    pub fn has(&self, mapping: Mapping, factors: &BTreeMap<String, String>) -> bool {
        self.all.iter().any(|it| {
            it.worker.is_some()
                && (it.m, it.p) == (mapping.m(), mapping.p())
                && it.params == *factors
        })
    }

    /// The first id that is free beside those of a log.
    pub fn free_id(&self, logged: u64) -> u64 {
        self.all.iter().map(|it| it.id).fold(logged, u64::max) + 1
    }

    /// Keeps further requests of a driver; the list of an engine takes the place of its last one.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write).
    pub fn add(&mut self, further: Vec<Request>) -> Result<()> {
        let is_of_engine = |it: &Request| it.worker.is_none();
        if further.iter().any(is_of_engine) {
            self.all.retain(|it| !is_of_engine(it));
        }
        self.all.extend(further);
        table::write(&self.path, json(&self.all))
    }
}
