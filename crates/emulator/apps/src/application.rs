//! What runs on the emulated machine: the seam where a program plugs in.
//!
//! A program implements [`Application`]; whatever measures, validates and prints knows no more of
//! it. `examples/toy_program.rs` of the repository has a whole one.

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use crate::fingerprint::Fingerprint;
use crate::run::Run;
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_cell::Placement;
use mmgp_runtime::Runtime;

/// A program with its input, ready to run on any machine at any mapping.
///
/// What it computes depends on its input alone: machine, mapping and scheduler change its time, and
/// its [`Fingerprint`] shows that they change nothing else.
pub trait Application: Debug + Send + Sync {
    /// The name of the program, in lower case, as in `list-ranking`.
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

/// Counts that follow from the input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Pieces into which the shared loops can be cut: of all processes together, or of a task where
    /// each process has tasks of its own.
    pub iterations: u32,
    /// What its off-loaded functions move between memory and accelerators; empty where nobody has
    /// counted.
    pub traffic: Vec<Traffic>,
    /// The placement of the data.
    pub placement: Placement,
}

impl Description {
    /// A description of so many pieces of data that lie there; nobody has counted what functions move.
    pub fn new(iterations: u32, placement: Placement) -> Self {
        Self { iterations, traffic: Vec::new(), placement }
    }

    /// The same with what its functions move.
    pub fn moving(self, traffic: Vec<Traffic>) -> Self {
        Self { traffic, ..self }
    }
}

/// What one off-loaded function moves, one call in a sequential run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// The name of the function.
    pub function: &'static str,
    /// Bytes fetched and stored.
    pub bytes: u64,
    /// Bytes that an accelerator moves before its first and after its last computation,
    /// which nothing overlaps.
    pub exposed_bytes: u64,
}

/// A program whose first run computes, at whatever mapping, and whose others know what came of it
/// ([`Application::knowing`]): they take the time that they would take, and do not compute again.
/// Runs that begin while the first one is under way wait for it.
#[derive(Debug)]
pub struct Once {
    program: Box<dyn Application>,
    state: Mutex<OnceState>,
}

#[derive(Debug)]
enum OnceState {
    /// No run has ended.
    New,
    /// The program computes at every run, for it cannot know.
    Computes,
    Knows(Arc<dyn Application>),
}

impl Once {
    /// The program, before its first run.
    pub fn new(program: Box<dyn Application>) -> Self {
        Self { program, state: Mutex::new(OnceState::New) }
    }
}

impl Application for Once {
    fn name(&self) -> &'static str {
        self.program.name()
    }

    fn division(&self) -> Division {
        self.program.division()
    }

    fn steps(&self) -> u64 {
        self.program.steps()
    }

    fn description(&self) -> Option<Description> {
        self.program.description()
    }

    fn function_before_collective(&self) -> Option<&'static str> {
        self.program.function_before_collective()
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &*state {
            OnceState::Knows(program) => Some(Arc::clone(program)),
            OnceState::Computes => None,
            OnceState::New => {
                let ran = self.program.run(on, mapping)?;
                *state = match self.program.knowing(&ran) {
                    Some(program) => OnceState::Knows(program.into()),
                    None => OnceState::Computes,
                };
                return Ok(ran);
            }
        };
        drop(state);
        known.as_deref().unwrap_or(&*self.program).run(on, mapping)
    }
}
