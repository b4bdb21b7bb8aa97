//! What runs on the emulated machine: the seam where a program plugs in.
//!
//! A program implements [`Application`]; whatever measures, validates and prints knows no more of
//! it. `examples/toy_application.rs` is a whole one in sixty lines.

use std::any::Any;
use std::fmt::Debug;

use crate::description::Description;
use crate::fingerprint::Fingerprint;
use crate::run::Run;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_runtime::Runtime;

/// A program with its input, ready to run on any machine at any mapping.
///
/// What it computes depends on its input alone: machine, mapping and scheduler change its time, and
/// its [`Fingerprint`] shows that they change nothing else.
pub trait Application: Debug + Send + Sync {
    /// Its name, in lower case, as in `list-ranking`.
    fn name(&self) -> &'static str;

    /// How its work is divided among host processes.
    fn division(&self) -> Division;

    /// How many steps a run tells the [`Progress`](mmgp_cell::Progress) of its machine.
    fn steps(&self) -> u64;

    /// What a user knows of it before it runs; none where nobody has counted, or where the counts
    /// would not tell.
    fn description(&self) -> Option<Description> {
        None
    }

    /// The off-loaded function after which its collective follows, if it has one.
    fn function_before_collective(&self) -> Option<&'static str> {
        None
    }

    /// The same program with what a run of it computed, at any mapping, known: its runs compute none
    /// of that again and take the same time. Nothing where it has to compute.
    fn knowing(&self, _: &Ran) -> Option<Box<dyn Application>> {
        None
    }

    /// The same program with so many independent tasks, one or more, in place of those that it has.
    /// Nothing where its work is not made of such.
    fn with_tasks(&self, _: u32) -> Option<Box<dyn Application>> {
        None
    }

    /// Runs it on a machine at rest under a scheduler, with m host processes and p APUs for each.
    ///
    /// # Errors
    /// [`Infeasible`](mmgp_base::Error::Infeasible) where the machine has fewer than m * p APUs, and
    /// what the program itself refuses or runs into.
    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran>;
}

/// How the work of a program is divided among its m host processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Division {
    /// One job: its data is cut into m pieces, and every process follows the whole control flow.
    Data,
    /// Independent tasks, dealt to the processes; so many.
    Tasks(u32),
    /// Ranks that each follow their own part of one job, and exchange messages.
    Ranks,
}

/// What came of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ran {
    /// Times and counts.
    pub run: Run,
    /// What must be the same at every mapping.
    pub fingerprint: Fingerprint,
    findings: Box<dyn Any + Send>,
}

impl Ran {
    /// A run with its fingerprint, and what the application found: of a type of its own.
    pub fn new(run: Run, fingerprint: Fingerprint, findings: impl Any + Send) -> Self {
        Self { run, fingerprint, findings: Box::new(findings) }
    }

    /// What the application found, for who knows its type; none where it is another.
    pub fn findings<F: Any>(&self) -> Option<&F> {
        self.findings.downcast_ref()
    }
}
