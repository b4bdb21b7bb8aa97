//! RAxML: maximum-likelihood inference of phylogenies (Stamatakis 2006).
//!
//! A master deals independent tasks, inferences from different starts and bootstraps, to m workers;
//! each searches for a tree and off-loads the three functions that compute likelihoods to p SPEs.
//!
//! What a task comes to depends on its number and the seed, not on m and p, but for the order in
//! which the log likelihoods of patterns are added.

pub mod engine;
mod farm;
mod host;
mod memory;
mod offloaded;
mod plain;
pub mod search;
mod spe_program;
#[cfg(test)]
mod tests;

pub use engine::Columns;
pub use farm::{Best, Findings, FoundTree};
pub use offloaded::{OffloadedEngine, run_alone};
pub use spe_program::{FUNCTIONS, Modules, RaxmlProgram};

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::Port;
use crate::application::{Application, Description, Division, Ran};
use crate::phylogeny::Patterns;
use crate::run::require;
use crate::run::{HostTotals, Run};
use farm::Hosted;
use farm::{Answers, Book};
use host::{HostEngine, HostFunctions};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_cell::mpi::Communicator;
use mmgp_cell::ppe::HostCompiler;
use mmgp_cell::{Placement, Progress};
use mmgp_kernels::raxml::PATTERNS_PER_GROUP;
use mmgp_runtime::{Runtime, Teams};
use search::{Settings, Start, Task};
use spe_program::EVALUATE;

/// The name of the program.
pub const NAME: &str = "raxml";

/// How many searches, of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tasks {
    /// Searches from different starts, on the alignment as it is.
    pub inferences: u32,
    /// Searches on resampled columns.
    pub bootstraps: u32,
}

impl Tasks {
    /// How many there are.
    pub const fn count(self) -> u32 {
        self.inferences + self.bootstraps
    }

    /// Inferences come first.
    fn get(self, index: u32) -> Task {
        match index.checked_sub(self.inferences) {
            None => Task::Inference(index),
            Some(bootstrap) => Task::Bootstrap(bootstrap),
        }
    }
}

/// Whether the functions are on the host beside the SPEs, where a scheduler may leave them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostVersion {
    /// The functions are on the SPEs alone.
    #[default]
    None,
    /// The functions are on both.
    Present,
}

/// A run of RAxML: what it computes, not where.
#[derive(Debug, Clone)]
pub struct Raxml {
    patterns: Patterns,
    settings: Settings,
    tasks: Tasks,
    port: Port,
    compiler: HostCompiler,
    placement: Placement,
    teams: Teams,
    modules: Modules,
    host_version: HostVersion,
    /// What the SPEs answer, where that is known.
    known: Option<Arc<Answers>>,
}

impl Raxml {
    /// Searches for trees of `patterns`.
    ///
    /// # Errors
    /// Fails where there are fewer than four taxa, no pattern, no task, or a tree of other taxa.
    pub fn new(patterns: Patterns, settings: Settings, tasks: Tasks, port: Port) -> Result<Self> {
        let taxa = patterns.tips.len();
        require(
            !patterns.is_empty(),
            "the alignment",
            "no column with a determined character",
            "at least one",
        )?;
        require(taxa >= 4, "the alignment", format!("{taxa} taxa"), "at least 4")?;
        let (found, expected) = ("no inference and no bootstrap", "at least one of either");
        require(tasks.count() > 0, "tasks", found, expected)?;
        if let Start::Given(tree) = &settings.start {
            let (found, expected) = (tree.taxa(), format!("{taxa}, as in the alignment"));
            require(found == taxa, "the tree", format!("{found} taxa"), expected)?;
        }
        Ok(Self {
            patterns,
            settings,
            tasks,
            port,
            compiler: HostCompiler::default(),
            placement: Placement::default(),
            teams: Teams::ByMaster,
            modules: Modules::default(),
            host_version: HostVersion::default(),
            known: None,
        })
    }

    /// The same with the data of the processes placed otherwise than each on its own Cell.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The same with the SPEs that share a loop started otherwise than by a master among them.
    pub fn teamed(self, teams: Teams) -> Self {
        Self { teams, ..self }
    }

    /// The same with the code of its functions in other modules.
    pub fn in_modules(self, modules: Modules) -> Self {
        Self { modules, ..self }
    }

    /// The same where its functions are on the host, too, or not.
    pub fn with_host_version(self, host_version: HostVersion) -> Self {
        Self { host_version, ..self }
    }

    /// The same with its functions on the host compiled otherwise than by [`HostCompiler::Gcc`].
    pub fn compiled_by(self, compiler: HostCompiler) -> Self {
        Self { compiler, ..self }
    }

    /// Runs all tasks `on` a machine at rest, with m workers and p SPEs for each.
    ///
    /// # Errors
    /// [`Error::Infeasible`](mmgp_base::Error::Infeasible) where it has fewer than m * p SPEs.
    pub fn emulate_on(&self, on: &Runtime, mapping: Mapping) -> Result<(Run, Findings)> {
        let (blade, m) = (on.blade(), mapping.m());
        let spes = on.assign(mapping)?;
        let job = Rc::new(Job {
            patterns: Rc::new(self.patterns.clone()),
            settings: self.settings.clone(),
            tasks: self.tasks,
            world: Communicator::new(blade, m + 1),
            progress: blade.progress.clone(),
        });
        let host = Rc::new(RefCell::new(HostTotals::default()));
        let answers: Answers = vec![Vec::new(); self.tasks.count() as usize];
        let answers = Rc::new(RefCell::new(answers));
        if self.port == Port::Ppe {
            for rank in 0..m {
                let functions = HostFunctions::new(&job.patterns).compiled_by(self.compiler);
                let engine = HostEngine::new(blade.host_process(rank), functions);
                let life = Rc::clone(&job).worker(engine);
                let host = Rc::clone(&host);
                blade.sim.spawn(format!("rank {rank}"), async move {
                    let engine = life.await;
                    host.borrow_mut().add(engine.totals());
                });
            }
        } else {
            let known = self.known.as_ref().filter(|_| blade.takes_known_results());
            let values = Book::new(known).values();
            // A first port is told of calls by mailbox, all its SPEs by the host.
            let teams = if self.port.is_vectorised() { self.teams } else { Teams::ByHost };
            RaxmlProgram::load(on, self.port, values, (teams, self.modules))?;
            for (rank, spes) in (0..m).zip(spes) {
                let homes = blade.homes(self.placement, rank, &spes);
                let memory = (&blade.memory, homes);
                let process = on.process(rank, spes);
                let mut engine = OffloadedEngine::new(process, memory, &job.patterns, known);
                if self.host_version == HostVersion::Present {
                    let functions = HostFunctions::new(&job.patterns);
                    engine.has_on_host(functions.compiled_by(self.compiler));
                }
                let engine = engine.teamed(teams);
                let answers = Rc::clone(&answers);
                let life = Rc::clone(&job).worker(engine);
                blade.sim.spawn(format!("rank {rank}"), async move {
                    let engine = life.await;
                    for (task, noted) in engine.into_answers() {
                        answers.borrow_mut()[task].extend(noted);
                    }
                });
            }
        }
        let outcome = Rc::new(RefCell::new(Vec::new()));
        let found = Rc::clone(&outcome);
        let (master, world) = (blade.host_process(m), job.world.clone());
        let (tasks, taxa) = (self.tasks, self.patterns.tips.len());
        blade.sim.spawn(format!("rank {m}"), async move {
            *found.borrow_mut() = farm::master(master, world, tasks, taxa).await;
        });
        blade.run()?;
        let mut run = Run::collect(on, mapping, &FUNCTIONS);
        if self.port == Port::Ppe {
            run.functions.clear();
            run.host_functions = host.borrow().functions(&FUNCTIONS);
        }
        let findings = Findings::new(outcome.take());
        Ok((run, findings.answered(answers.take())))
    }
}

impl Application for Raxml {
    fn name(&self) -> &'static str {
        NAME
    }

    fn division(&self) -> Division {
        Division::Tasks(self.tasks.count())
    }

    /// The number of its tasks.
    fn steps(&self) -> u64 {
        u64::from(self.tasks.count())
    }

    /// Bootstraps.
    fn with_tasks(&self, tasks: u32) -> Option<Box<dyn Application>> {
        let tasks = Tasks { inferences: 0, bootstraps: tasks };
        Some(Box::new(Self { tasks, known: None, ..self.clone() }))
    }

    /// The traffic of its functions depends on the tree, and nobody has counted it.
    fn description(&self) -> Option<Description> {
        let groups = self.patterns.len().div_ceil(PATTERNS_PER_GROUP as usize) as u32;
        Some(Description::new(groups, self.placement))
    }

    /// Known where its kernels branch on nothing that they compute, and all that it computes is theirs.
    fn knowing(&self, ran: &Ran) -> Option<Box<dyn Application>> {
        let is_known = self.port.is_vectorised() && self.host_version == HostVersion::None;
        let findings = ran.findings::<Findings>().filter(|_| is_known)?;
        Some(Box::new(Self { known: Some(Arc::clone(&findings.answers)), ..self.clone() }))
    }

    /// Runs it; the findings are [`Findings`].
    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        let (run, findings) = self.emulate_on(on, mapping)?;
        Ok(Ran::new(run, findings.fingerprint(), findings))
    }
}

/// What all workers have in common.
struct Job {
    patterns: Rc<Patterns>,
    settings: Settings,
    tasks: Tasks,
    world: Communicator,
    /// Told of every task.
    progress: Progress,
}

impl Job {
    /// The life of a worker; its engine comes back.
    async fn worker<E: Hosted>(self: Rc<Self>, mut engine: E) -> E {
        engine.process().resume().await;
        let perform = async |engine: &mut E, index: usize| {
            let task = self.tasks.get(index as u32);
            let inference = search::run(engine, &self.patterns, &self.settings, task).await;
            self.progress.step();
            FoundTree { task, log_likelihood: inference.log_likelihood, tree: inference.tree }
        };
        farm::work(&mut engine, &self.world, perform).await;
        engine.process().finish(EVALUATE);
        engine
    }
}
