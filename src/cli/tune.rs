//! `mmgp tune`

mod answer;
mod declare;
mod elsewhere;
mod file;
mod folder;
mod program;
mod requests;
mod session;
mod targets;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::objective::{ObjectiveArguments, percent};
use super::output::{Verbosity, data, warn};
use crate::Mapping;
use crate::attempt::{Attempt, Order};
use crate::belief::Prior;
use crate::error::{Error, Result};
use crate::native;
use crate::native::host;
use crate::quantity::Quantity;
use crate::table;
use crate::table::log::Log;
use crate::tune::engine::{self, Budget, Cell, Discipline, End, Level, OrderTarget, Timeout};
use crate::tune::{Goal, Search, derived};
use crate::units::Seconds;

pub use declare::{Declaration, DeclareArguments};
use elsewhere::ElsewhereArguments;
pub use file::{TypedFlags, expanded, typed};
pub use folder::{SearchReport, answer, declaration, keep_declaration, kept};
use program::ProgramArguments;
pub use program::duration;
pub use requests::{Request, Requests};
pub use session::{Interrupt, Session, Watch, interrupted, processors, repair};
use targets::{TARGETS, TargetEntry};

/// Run your program at the (m, p) that tell most, and say which to take and why
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    runs: RunsArguments,
}

/// What is run, how, how often, and by whom.
#[derive(Args)]
pub struct RunsArguments {
    /// A file with all that follows in the same words, as --save-as writes it; flags that are typed
    /// beside it take the place of its own
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    declare: DeclareArguments,
    #[command(flatten)]
    program: ProgramArguments,
    #[command(flatten)]
    pub budget: BudgetArguments,
    #[command(flatten)]
    pub search: SearchArguments,
    #[command(flatten)]
    pub elsewhere: ElsewhereArguments,
    /// What makes the runs
    #[arg(long, value_name = "TARGET", default_value = TARGETS[0].name, value_parser = targets::parser())]
    #[arg(hide = TARGETS.len() == 1, conflicts_with_all = ["via", "emit"])]
    #[arg(help_heading = "Who starts the runs")]
    on: &'static TargetEntry,
    /// Print the runs that would come first, and how long they may take, and run nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
    /// Write these flags to a file, for `mmgp tune FILE`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    save_as: Option<PathBuf>,
    /// Print nothing but the answer, warnings and errors
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

/// How far a search goes.
#[derive(Args, Clone)]
#[command(next_help_heading = "When it stops")]
pub struct BudgetArguments {
    /// Stop once all runs together took so long: 30m, 2h, 90s
    #[arg(long, value_name = "TIME", value_parser = program::duration)]
    budget: Option<Seconds>,
    /// Stop after so many timed runs [default of tune: 50 where there is no --budget]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
}

impl BudgetArguments {
    /// The budget that the flags say.
    pub fn budget(&self) -> Budget {
        Budget::new(self.runs, self.budget)
    }

    /// The budget with an end where the flags say none: on a busy machine the noise may be such that
    /// no number of runs is enough.
    fn or_usual(&self) -> Budget {
        let usual = self.budget.is_none().then_some(USUAL_RUNS);
        Budget::new(self.runs.or(usual), self.budget)
    }
}

/// What is searched, and where it is kept.
#[derive(Args, Clone)]
pub struct SearchArguments {
    /// Stop once the choice is expected to take at most this longer than the fastest [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "until_regret")]
    #[arg(help_heading = "When it stops")]
    until_expected: Option<f64>,
    /// Stop once the choice takes at most this longer than the fastest, with 95 %: half as many runs
    /// more
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    #[arg(help_heading = "When it stops")]
    until_regret: Option<f64>,
    #[command(flatten)]
    pub best: ObjectiveArguments,
    /// Folder of the log and of all that follows from it; the same command goes on there
    #[arg(long, value_name = "DIR", default_value = FOLDER, help_heading = "Output")]
    pub out: PathBuf,
    /// Take damaged lines out of the log first, and say which; a copy of it stays
    #[arg(long, help_heading = "Output")]
    pub repair: bool,
    /// Seed of the order of runs
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Output")]
    pub seed: u64,
}

impl SearchArguments {
    /// What is good enough.
    fn goal(&self) -> Goal {
        match self.until_regret {
            Some(regret) => Goal::Sure(regret),
            None => Goal::Expected(self.until_expected.unwrap_or(USUAL_EXPECTED)),
        }
    }

    /// The search at each level, of what is measured of each run, on a machine with so many hardware
    /// threads, where that is known.
    ///
    /// # Errors
    /// The errors of [`ObjectiveArguments::objective`], and one for a configuration of which it is no number above 0.
    pub fn levels(
        &self,
        declared: &Declaration,
        quantity: &Quantity,
        cores: Option<u32>,
    ) -> Result<Vec<Level>> {
        let objective = self.best.objective(quantity, declared.per_node)?;
        declared.space.iter().try_for_each(|&mapping| objective.check(mapping))?;
        let prior = Prior::of_runs(declared.decomposition);
        let prior = cores.map_or(prior.clone(), |cores| prior.with_cores(cores));
        let search = || Search {
            space: declared.space.clone(),
            prior: prior.clone(),
            objective: objective.clone(),
            goal: self.goal(),
            seed: self.seed,
        };
        let level = |factors: &_| Level { factors: Clone::clone(factors), search: search() };
        Ok(declared.levels.iter().map(level).collect())
    }
}

/// The expected regret that is good enough where no flag says.
const USUAL_EXPECTED: f64 = 0.05;

/// Timed runs where no flag sets an end.
const USUAL_RUNS: u64 = 50;

/// When a run is stopped that no flag says anything of: what takes so many times as long as another is
/// not the fastest, and may hang.
const USUAL_TIMEOUT: Timeout = Timeout::Times(30.0);

/// The folder unless one is given.
pub const FOLDER: &str = "mmgp-tune";

const HELP: &str = "\
Examples:
  mmgp tune --m 1..64*2 --p 1,2,4,8 --where 'm*p <= cores' --as mpi+openmp \\
      --budget 30m --out tune -- mpirun -n {m} ./app
  mmgp tune --time-from 'Total time: +([0-9.]+) s' -- ./app {m} {p}
  mmgp tune --configurations table.csv --timeout 3x --dry-run -- ./app {m} {p}
  mmgp tune tune.toml --budget 1h

It starts with runs at the corners and in the middle, and then makes the run that lowers the \
expected regret most for its time, until the choice is expected to cost little enough (or, with \
--until-regret, costs little enough with 95 %, over programs) or the budget is spent. What it \
recommends has run twice. Every attempt is a line of DIR/log.jsonl, written as it ends: the same command \
goes on where it stopped, whatever stopped it. A configuration that fails is not chosen; one that is \
stopped is known to take longer.

Leaves in DIR: log.jsonl, tune.toml and configurations.csv (what was asked; `mmgp show DIR` prints the \
answer again, `mmgp compare` compares two folders), runs.csv (for fit and predict), summary.json, hyperfine.json, t4.json, \
params.toml, report.html (the page), output (of runs that went wrong).

Exit code 0: the regret is reached; 1: the budget was spent first, the answer says what is known; \
2: bad usage; 130, 143: interrupted, and the line to go on is printed.";

pub fn run(arguments: &Arguments, words: &[OsString]) -> Result<Answer> {
    let arguments = &arguments.runs;
    let mut job = arguments.prepared(words)?;
    job.discipline.timeout = arguments.program.timeout(Some(USUAL_TIMEOUT));
    let budget = arguments.budget.or_usual();
    if !arguments.elsewhere.is_here() {
        let orders = job.orders(&job.attempts()?)?;
        return arguments.elsewhere.hand_over(&job, &orders, arguments.dry_run);
    }
    if arguments.dry_run {
        data(None, &job.first_runs(&job.attempts()?, budget)?)?;
        return Ok(Answer::Done);
    }
    let Job { levels, discipline, .. } = &job;
    let (end, interrupt) = job.conduct(budget, arguments.quiet.into(), |target, log, watch| {
        engine::tune(target, log, levels, discipline, budget, watch)
    })?;
    match end {
        End::Settled => Ok(Answer::Done),
        End::Interrupted => Ok(interrupted(&interrupt)),
        End::Runs | End::Time | End::Exhausted => Ok(Answer::No),
    }
}

/// Everything that is checked before anything runs.
pub struct Job {
    pub declared: Declaration,
    pub settings: native::Settings,
    pub levels: Vec<Level>,
    pub discipline: Discipline,
    target: &'static TargetEntry,
    folder: PathBuf,
    flags: TypedFlags,
    identity: Vec<(&'static str, String)>,
}

impl RunsArguments {
    /// Checks flags, looks up what they name, and says what is doubtful.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for what cannot be run.
    pub fn prepared(&self, words: &[OsString]) -> Result<Job> {
        let mut warnings = Vec::new();
        let Self { declare, program, search, .. } = self;
        let save_as = self.save_as.as_deref();
        declare.guarded(Guard::default()).writes("--save-as", save_as).check()?;
        if program.command().is_empty() {
            return Err(no_command());
        }
        let declared = declare.declared(&mut warnings)?;
        let mut settings = program.settings(&declared, &search.out)?;
        program::check_room(&settings, &declared)?;
        self.elsewhere.set(&mut settings);
        warnings.extend(session::doubts(&settings, &declared));
        warn(&warnings);
        // A cluster's nodes are not this computer.
        let here = self.elsewhere.is_here().then(|| host::cores() as u32);
        // The unit is known by what the first run prints.
        let is_of_rate = settings.time.is_of_rate();
        let captured = settings.captures.iter().map(|it| it.name.as_str());
        let captured: Vec<&str> = ["nodes"].into_iter().chain(captured).collect();
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
        let flags = typed(words);
        if let Some(path) = save_as {
            table::write(path, flags.to_toml())?;
        }
        if search.repair {
            session::repair(&search.out)?;
        }
        let objective = search.best.captured().unwrap_or_default();
        let mut identity = program.identity();
        identity.push(("--objective", objective.into()));
        if self.on.name != TARGETS[0].name {
            identity.push(("--on", self.on.name.into()));
        }
        Ok(Job {
            levels: search.levels(&declared, &quantity, here)?,
            discipline: program.discipline(&declared),
            identity,
            target: self.on,
            folder: search.out.clone(),
            flags,
            declared,
            settings,
        })
    }
}

impl Arguments {
    /// What was asked in a folder that has these attempts: configurations and levels.
    ///
    /// # Errors
    /// As [`RunsArguments::prepared`].
    pub fn searched(&self, attempts: &[Attempt]) -> Result<(Declaration, Vec<Level>)> {
        let RunsArguments { declare, search, .. } = &self.runs;
        let declared = declare.declared(&mut Vec::new())?;
        let quantity = match attempts.is_empty() {
            true => search.best.quantity()?,
            false => derived::quantity(attempts),
        };
        let levels = search.levels(&declared, &quantity, processors(&search.out))?;
        Ok((declared, levels))
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
        let mut session = self.open()?;
        let (target, interrupt) = (self.target.start)(self, &session)?;
        let mut watch = Watch::new(&self.declared.words, budget, interrupt.clone(), verbosity);
        let end = runs(&*target, &mut session.log, &mut watch)?;
        watch.finish(&session.log);
        drop(target);
        data(None, &folder::write(&self.report(Some(end)), session.log.attempts())?)?;
        Ok((end, interrupt))
    }

    /// The report of the attempts, and why there are no more.
    pub fn report(&self, end: Option<End>) -> SearchReport<'_> {
        let Self { declared, levels, folder, .. } = self;
        SearchReport { declared, levels, folder, end }
    }

    /// Nodes that a configuration takes.
    fn nodes(&self, mapping: Mapping) -> u32 {
        self.declared.nodes.get(&mapping).copied().unwrap_or(1)
    }

    /// The runs that would come first.
    fn orders(&self, attempts: &[Attempt]) -> Result<Vec<(Mapping, Order)>> {
        engine::ask(&self.levels, attempts, &self.discipline, usize::MAX)
    }

    /// The runs that would come first, and how long all may take.
    fn first_runs(&self, attempts: &[Attempt], budget: Budget) -> Result<String> {
        let orders = self.orders(attempts)?;
        let count = self.levels.first().map_or(0, |level| level.search.space.len());
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

/// What a driver of one's own, or another engine, has told.
pub fn of_drivers(folder: &Path) -> Result<Vec<Attempt>> {
    session::attempts(folder, &[])
}

/// The error where there is nothing to run.
fn no_command() -> Error {
    Error::out_of_range(
        "command",
        "none",
        "the program to run after --, as in -- ./program --threads {p}",
    )
}
