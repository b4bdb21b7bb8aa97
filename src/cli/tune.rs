//! `mmgp tune`

mod answer;
mod captured;
mod declare;
mod doubts;
mod elsewhere;
mod file;
mod folder;
mod job;
mod noise;
mod page;
mod program;
mod requests;
mod sample;
mod session;
mod targets;
mod trace;

use std::path::{Path, PathBuf};

use clap::Args;

use super::objective::{ObjectiveArguments, percent};
use super::output::data;
use super::{Answer, Invocation};
use crate::attempt::Attempt;
use crate::belief::{Levels, Prior};
use crate::error::{Error, Result};
use crate::quantity::Quantity;
use crate::tune::engine::{self, Budget, End, Plan, Timeout};
use crate::tune::{Goal, Search, derived};
use crate::units::Seconds;
use crate::{Mapping, Site};

pub use answer::why;
pub use declare::{Declaration, DeclareArguments};
use elsewhere::ElsewhereArguments;
pub use file::{TypedFlags, expanded};
pub use folder::{SearchReport, answer, declaration, keep_declaration, kept};
pub use job::Job;
use program::ProgramArguments;
pub use program::duration;
pub use requests::{Request, Requests};
pub use sample::{asked as sample_asked, command as sample_command, run as run_sample};
pub use session::{Interrupt, Session, Watch, interrupted, processors, repair};
use targets::{TARGETS, TargetEntry};
pub use trace::first as traced_first;

/// Run your program at the (m, p) that tell most, and say which to take and why
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    runs: RunsArguments,
    /// Trace the first runs, of one process and one inside: where their time goes is where the search begins, and is
    /// kept in DIR/terms.csv (see `mmgp probe`)
    #[arg(long, conflicts_with_all = ["via", "emit", "rate_from", "sample"], help_heading = "Program")]
    probe: bool,
}

/// What is run, how, how often, and by whom.
#[derive(Args)]
pub struct RunsArguments {
    /// A file with all that follows in the same words, as --save-as writes it; flags that are typed
    /// beside it take the place of its own
    #[arg(value_name = "FILE")]
    flags_file: Option<PathBuf>,
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

impl RunsArguments {
    /// The name among several times of a run that --objective is, if it is one.
    fn counted(&self) -> Option<&str> {
        self.program.counted(self.search.best.objective.as_deref())
    }

    /// What is searched: where --objective names one of several times, that is the time.
    fn sought(&self) -> SearchArguments {
        let mut search = self.search.clone();
        if self.counted().is_some() {
            search.best.objective = None;
        }
        search
    }
}

/// How far a search goes.
#[derive(Args, Clone)]
#[command(next_help_heading = "When it stops")]
pub struct BudgetArguments {
    /// Stop once all runs together took so long: 30m, 2h, 90s
    #[arg(long, value_name = "TIME", value_parser = program::duration)]
    budget: Option<Seconds>,
    /// Stop after so many timed runs [default of tune: those of trying everything once and the best three
    /// twice more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
}

impl BudgetArguments {
    /// The budget that the flags say.
    pub fn budget(&self) -> Budget {
        Budget::new(self.runs, self.budget)
    }

    /// A search that ends after so many runs, where the flags say so.
    fn limit(&self, mut plan: Plan) -> Plan {
        plan.search.most_runs = self.runs;
        plan
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
    /// Stop once a further run takes longer than it is expected to save, where the choice will be used so
    /// often: 500, or '500 runs'
    #[arg(long = "for", value_name = "USES", value_parser = uses)]
    #[arg(conflicts_with_all = ["until_expected", "until_regret"], help_heading = "When it stops")]
    uses: Option<f64>,
    #[command(flatten)]
    pub best: ObjectiveArguments,
    /// What you run today (of further factors the first value each): runs among the first, and the answer says how many times as fast the choice
    /// is, where that is sure
    #[arg(long, value_name = "M,P", value_parser = pair, help_heading = "What is best")]
    baseline: Option<Mapping>,
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
        match (self.uses, self.until_regret) {
            (Some(uses), _) => Goal::Uses(uses),
            (None, Some(regret)) => Goal::Sure(regret),
            (None, None) => Goal::Expected(self.until_expected.unwrap_or(USUAL_EXPECTED)),
        }
    }

    /// The search over m, p and further factors, of what is measured of each run, on a machine with so many hardware
    /// threads, where that is known.
    ///
    /// # Errors
    /// The errors of [`ObjectiveArguments::objective`], and one for a configuration of which it is no number above 0.
    pub fn plan(
        &self,
        declared: &Declaration,
        quantity: &Quantity,
        cores: Option<u32>,
    ) -> Result<Plan> {
        let objective = self.best.objective(quantity, declared.per_node)?;
        declared.space.iter().try_for_each(|&mapping| objective.check(mapping))?;
        if let Some(baseline) = self.baseline.filter(|it| !declared.space.contains(it)) {
            return Err(Error::out_of_range(
                "--baseline",
                format!("{baseline}, which is not among the configurations"),
                "one of them: --m and --p, or --configurations, say which there are",
            ));
        }
        let values: Vec<Vec<String>> =
            declared.levels.iter().map(|level| level.values().cloned().collect()).collect();
        let prior = Prior::of_runs(declared.decomposition).with_levels(Levels::of(&values));
        let at = |level: u32| declared.space.iter().map(move |&it| Site::new(it, level));
        let search = Search {
            space: (0..declared.levels.len() as u32).flat_map(at).collect(),
            prior: cores.map_or(prior.clone(), |cores| prior.with_cores(cores)),
            objective,
            goal: self.goal(),
            processors: cores,
            baseline: self.baseline.map(Site::from),
            most_runs: None,
            seed: self.seed,
        };
        Ok(Plan { levels: declared.levels.clone(), search })
    }
}

/// Reads a configuration: `8,1`.
fn pair(text: &str) -> std::result::Result<Mapping, String> {
    let count = |text: &str| text.trim().parse::<u32>().ok();
    let pair = text.split_once(',').and_then(|(m, p)| Some((count(m)?, count(p)?)));
    let mapping = pair.and_then(|(m, p)| Mapping::new(m, p).ok());
    mapping.ok_or_else(|| "expected M,P, two counts above 0, as in 8,1".into())
}

/// Reads how often a choice will be used: `500`, `500 runs`.
fn uses(text: &str) -> std::result::Result<f64, String> {
    let count = text.trim().trim_end_matches("runs").trim_end_matches("uses").trim_end();
    let count = count.parse::<u64>().ok().filter(|&count| count > 0);
    count
        .map(|count| count as f64)
        .ok_or_else(|| "expected a count of at least 1, as 500 or '500 runs'".into())
}

/// The expected regret that is good enough where no flag says.
const USUAL_EXPECTED: f64 = 0.05;

/// When a run is stopped that no flag says anything of: what takes so many times as long as another is
/// not the fastest, and may hang.
const USUAL_TIMEOUT: Timeout = Timeout::Times(30.0);

/// The folder unless one is given.
pub const FOLDER: &str = "mmgp-tune";

const HELP: &str = "\
Examples:
  mmgp tune --sample
  mmgp tune --m 1..64*2 --p 1,2,4,8 --where 'm*p <= cores' --as mpi+openmp \\
      --budget 30m --out tune -- mpirun -n {m} ./app
  mmgp tune --time-from 'Total time: +([0-9.]+) s' -- ./app {m} {p}
  mmgp tune --configurations table.csv --timeout 3x --dry-run -- ./app {m} {p}
  mmgp tune tune.toml --budget 1h

It starts with runs at the corners of what the processors hold, and then makes the run that lowers the \
expected regret most for its time, until the choice is expected to cost little enough (or, with \
--until-regret, costs little enough with 95 %, over programs), what is left cannot be told apart at the \
noise of single runs (then the fewest cores are chosen), or the budget is spent. A choice that was \
surprisingly fast runs twice; with --until-regret any does. Until one time is known no run may take \
more than a tenth of the budget, then twice as much; what was stopped is not run again at the same \
limit. Every attempt is a line of DIR/log.jsonl, written as it ends: the same command \
goes on where it stopped, whatever stopped it. A configuration that fails is not chosen; one that is \
stopped is known to take longer.

Leaves in DIR: log.jsonl, tune.toml and configurations.csv (what was asked; `mmgp show DIR` prints the \
answer again, `mmgp compare` compares two folders), runs.csv (for fit and predict), summary.json, hyperfine.json, t4.json, \
params.toml, report.html (the page), output (of runs that went wrong).

Exit code 0: the regret is reached, or nothing can be told apart; 1: the budget was spent first, the answer says what is known; \
2: bad usage; 130, 143: interrupted, and the line to go on is printed.";

pub fn run(arguments: &Arguments, invocation: &Invocation) -> Result<Answer> {
    let Arguments { runs: arguments, probe } = arguments;
    let probe = *probe;
    let mut job = arguments.prepared(invocation)?;
    job.discipline.timeout = arguments.program.timeout(Some(USUAL_TIMEOUT));
    let budget = arguments.budget.budget();
    if !arguments.elsewhere.is_here() {
        let orders = job.orders(&job.attempts()?)?;
        return arguments.elsewhere.hand_over(&job, &orders, arguments.dry_run);
    }
    if arguments.dry_run {
        data(None, &job.first_runs(&job.attempts()?, budget)?)?;
        return Ok(Answer::Done);
    }
    if probe {
        let made = job.trace(budget, arguments.quiet.into())?;
        if let Some(made) = made.filter(|made| made.end == End::Interrupted) {
            return Ok(interrupted(&made.interrupt));
        }
        job.plan = trace::knowing(job.plan, &job.folder)?;
    }
    let Job { plan, discipline, .. } = &job;
    let (end, interrupt) = job.conduct(budget, arguments.quiet.into(), |target, log, watch| {
        engine::tune(target, log, plan, discipline, budget, watch)
    })?;
    match end {
        End::Settled | End::Alike | End::NotWorth => Ok(Answer::Done),
        End::Interrupted => Ok(interrupted(&interrupt)),
        End::Runs | End::Time | End::Exhausted => Ok(Answer::No),
    }
}

impl Arguments {
    /// What was asked in a folder that has these attempts: configurations and the search.
    ///
    /// # Errors
    /// As [`RunsArguments::prepared`].
    pub fn searched(&self, attempts: &[Attempt]) -> Result<(Declaration, Plan)> {
        let RunsArguments { declare, .. } = &self.runs;
        let search = self.runs.sought();
        let declared = declare.declared(&mut Vec::new())?;
        let quantity = match attempts.is_empty() {
            true => search.best.quantity()?,
            false => derived::quantity(attempts),
        };
        let plan = search.plan(&declared, &quantity, processors(&search.out))?;
        let plan = if self.probe { trace::knowing(plan, &search.out)? } else { plan };
        Ok((declared, self.runs.budget.limit(plan)))
    }
}

/// What a driver of one's own, or another engine, has told.
pub fn of_drivers(folder: &Path) -> Result<Vec<Attempt>> {
    session::attempts(folder, &[])
}
