//! Everything that is checked before anything runs, and the runs.

use std::path::PathBuf;

use super::file::TypedFlags;
use super::folder::keep_declaration;
use super::program::Ranks;
use super::targets::{TARGETS, TargetEntry};
use super::{
    Declaration, Interrupt, RunsArguments, SearchReport, Session, Watch, folder, program, session,
};
use crate::Mapping;
use crate::attempt::{Attempt, Order};
use crate::cli::Invocation;
use crate::cli::files::Guard;
use crate::cli::output::{Verbosity, data, warn};
use crate::error::{Error, Result};
use crate::intake::CapturedQuantity;
use crate::launch::command_line;
use crate::native::{self, host};
use crate::quantity::Quantity;
use crate::table;
use crate::table::log::Log;
use crate::tune::engine::{self, Budget, Cell, Discipline, End, OrderTarget, Plan};

/// Everything that is checked before anything runs.
pub struct Job {
    pub declared: Declaration,
    pub settings: native::Settings,
    pub plan: Plan,
    pub discipline: Discipline,
    target: &'static TargetEntry,
    pub folder: PathBuf,
    flags: TypedFlags,
    /// The command line in full, with what a file of flags said.
    typed: String,
    identity: Vec<(&'static str, String)>,
}

/// Runs that were made.
pub struct Made {
    /// Why there are no more.
    pub end: End,
    /// How to know that a signal has ended one.
    pub interrupt: Interrupt,
    session: Session,
}

impl Made {
    /// All attempts of the folder.
    pub fn attempts(&self) -> &[Attempt] {
        self.session.log.attempts()
    }
}

impl RunsArguments {
    /// Checks flags, looks up what they name, and says what is doubtful.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what cannot be run.
    pub fn prepared(&self, invocation: &Invocation) -> Result<Job> {
        let mut warnings = Vec::new();
        let (search, counted) = (&self.sought(), self.counted());
        let program = &self.program.with_sample()?;
        let declare = &if program.is_of_sample() {
            self.declare.clone().of_sample()
        } else {
            self.declare.clone()
        };
        let save_as = self.save_as.as_deref();
        declare.guarded(Guard::default()).writes("--save-as", save_as).check()?;
        if program.command().is_empty() {
            return Err(no_command());
        }
        let declared = declare.declared(&mut warnings)?;
        let mut settings = program.settings(&declared, &search.out, counted)?;
        program::check_room(&settings, &declared)?;
        self.elsewhere.set(&mut settings, program.ranks(&declared));
        warnings.extend(program.unbound(&declared));
        warnings.extend(session::doubts(&settings, &declared));
        warn(&warnings);
        // A cluster's nodes are not this computer.
        let here = self.elsewhere.is_here().then(|| host::cores() as u32);
        // The unit is known by what the first run prints.
        let is_of_rate = settings.time.is_of_rate();
        let captured = settings.captures.iter().map(native::Capture::quantity);
        let nodes = CapturedQuantity::named("nodes");
        let captured: Vec<CapturedQuantity> = [nodes].into_iter().chain(captured).collect();
        settings.measurand = search.best.measurand(&captured)?;
        let quantity = match (&settings.measurand, is_of_rate) {
            (Some(measurand), false) => measurand.quantity().clone(),
            (None, true) => Quantity::Rate("units".into()),
            (None, false) => Quantity::Time,
            (Some(_), true) => {
                return Err(Error::out_of_range(
                    "--rate-from",
                    "one, and an objective over what is captured",
                    "--capture for the rate, too",
                ));
            }
        };
        let flags = TypedFlags::typed(invocation);
        let words = invocation.words.iter().skip(1);
        let words: Vec<String> = words.map(|it| it.to_string_lossy().into_owned()).collect();
        let typed_line = command_line(&[vec!["mmgp".into()], words].concat());
        if let Some(path) = save_as {
            table::write(path, flags.to_toml())?;
        }
        if search.repair {
            session::repair(&search.out)?;
        }
        let objective = counted.or(search.best.captured()).unwrap_or_default();
        let mut identity = program.identity();
        identity.push(("--objective", objective.into()));
        let is_step = settings.launcher.is_some() && program.ranks(&declared) == Ranks::Bound;
        let binding = if settings.binding.is_some() || is_step { "auto" } else { "" };
        identity.push(("--binding", binding.into()));
        if self.on.name != TARGETS[0].name {
            identity.push(("--on", self.on.name.into()));
        }
        Ok(Job {
            plan: self.budget.limit(search.plan(&declared, &quantity, here)?),
            discipline: program.discipline(&declared),
            identity,
            target: self.on,
            folder: search.out.clone(),
            typed: typed_line,
            flags,
            declared,
            settings,
        })
    }
}

impl Job {
    /// What was done in the folder already.
    pub fn attempts(&self) -> Result<Vec<Attempt>> {
        session::attempts(&self.folder, &self.identity)
    }

    /// The folder, to go on there, with what is asked there now.
    pub fn open(&self) -> Result<Session> {
        let session = Session::open(&self.folder, &self.identity)?;
        keep_declaration(&self.folder, &self.flags, &self.declared)?;
        Ok(session)
    }

    /// Starts what makes the runs, has them made, and prints what came of them; why there are no more, and
    /// how to know that a signal has ended one.
    ///
    /// # Errors
    /// Those of the target, of the log, and of `runs`.
    pub fn conduct(
        &self,
        budget: Budget,
        verbosity: Verbosity,
        runs: impl FnOnce(&OrderTarget<'_>, &mut Log, &mut Watch) -> Result<End>,
    ) -> Result<(End, Interrupt)> {
        let Made { end, interrupt, session } = self.make(budget, verbosity, runs)?;
        data(None, &folder::write(&self.report(Some(end)), session.log.attempts())?)?;
        Ok((end, interrupt))
    }

    /// Starts what makes the runs, and has them made.
    ///
    /// # Errors
    /// Those of the target, of the log, and of `runs`.
    pub fn make(
        &self,
        budget: Budget,
        verbosity: Verbosity,
        runs: impl FnOnce(&OrderTarget<'_>, &mut Log, &mut Watch) -> Result<End>,
    ) -> Result<Made> {
        let mut session = self.open()?;
        let (target, interrupt) = (self.target.start)(self, &session)?;
        let mut watch = Watch::new(&self.declared.words, budget, interrupt.clone(), verbosity);
        let end = runs(&*target, &mut session.log, &mut watch)?;
        watch.finish(&session.log);
        Ok(Made { end, interrupt, session })
    }

    /// The report of the attempts, and why there are no more.
    pub fn report(&self, end: Option<End>) -> SearchReport<'_> {
        let Self { declared, plan, folder, typed: command, .. } = self;
        SearchReport { declared, plan, folder, command, end }
    }

    /// Nodes that a configuration takes.
    pub fn nodes(&self, mapping: Mapping) -> u32 {
        self.declared.nodes.get(&mapping).copied().unwrap_or(1)
    }

    /// The runs that would come first.
    pub fn orders(&self, attempts: &[Attempt]) -> Result<Vec<(Mapping, Order)>> {
        Ok(engine::ask(&self.plan, attempts, &self.discipline)?.0)
    }

    /// The runs that would come first, and how long all may take.
    pub fn first_runs(&self, attempts: &[Attempt], budget: Budget) -> Result<String> {
        let orders = self.orders(attempts)?;
        let count = self.plan.search.space.len();
        let runs = budget.runs.map(|runs| runs.saturating_sub(engine::timed(attempts)));
        Ok(session::commands(&self.settings, &orders)
            + &format!(
                "These come first, of {count} configurations; what follows depends on their times.\n"
            )
            + &session::most_time(&self.discipline, runs, budget, attempts))
    }

    /// The runs of cells that are due.
    pub fn orders_of(&self, cells: &[Cell], attempts: &[Attempt]) -> Vec<(Mapping, Order)> {
        let due = cells.iter().filter(|cell| engine::is_due(cell, attempts));
        let order = |(cell, further): (&Cell, u64)| {
            let order = self.discipline.order(&cell.factors, cell.mapping, attempts, None);
            let id = order.id + further;
            (cell.mapping, Order { id, repetition: cell.repetition, ..order })
        };
        due.zip(0..).map(order).collect()
    }

    /// The runs of cells that are due, and how long all may take.
    pub fn runs_of(&self, cells: &[Cell], attempts: &[Attempt], budget: Budget) -> String {
        let orders = self.orders_of(cells, attempts);
        let runs = Some(orders.len() as u64);
        session::commands(&self.settings, &orders)
            + &format!("{} runs.\n", orders.len())
            + &session::most_time(&self.discipline, runs, budget, attempts)
    }
}

/// The error where there is nothing to run.
fn no_command() -> Error {
    Error::out_of_range(
        "command",
        "none",
        "the program to run after --, as in -- ./program --threads {p}, or --sample for one that is there",
    )
}
