//! A folder of runs: what they are of, the log, what runs them, and how a search goes, line by line.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use super::declare::Declaration;
use crate::attempt::{Attempt, Order, Status};
use crate::cli::Answer;
use crate::cli::output::{self, Spinner, Verbosity, spinner};
use crate::cli::signals;
use crate::cli::words::Words;
use crate::error::{Error, Result, Warning, shortened};
use crate::lab::Identity;
use crate::launch::{command_line, quoted};
use crate::native::{self, host};
use crate::table::log::Log;
use crate::table::{self, Source, log};
use crate::tune::derived;
use crate::tune::engine::{
    Budget, Cell, CellObserver, Discipline, Observer, Progress, Timeout, mapping, spent, timed,
};
use crate::units::Seconds;
use crate::{Mapping, Site};

/// The log of all attempts.
pub const LOG: &str = "log.jsonl";

/// What the log is of.
const IDENTITY: &str = "tune.json";

/// The lock that is held by whatever may still run.
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
/// The errors of reading it, and of [`Session::open`].
pub fn attempts(folder: &Path, identity: &[(&str, String)]) -> Result<Vec<Attempt>> {
    let path = folder.join(LOG);
    if !path.exists() {
        return Ok(Vec::new());
    }
    check(folder, identity)?;
    log::parse(&Source::read(&path)?).map_err(repairable)
}

/// The processors of the computer on which the runs of a folder began, where that is known.
pub fn processors(folder: &Path) -> Option<u32> {
    let path = folder.join(IDENTITY);
    let identity = path.exists().then(|| Identity::read(&path).ok()).flatten()?;
    identity.value(PROCESSORS)?.parse().ok()
}

/// The name of that count.
const PROCESSORS: &str = "processors";

/// An error at a line of the log, with what to do.
fn repairable(error: Error) -> Error {
    match error {
        Error::Input { at, found, expected } => Error::Input {
            at,
            found,
            expected: format!("{expected}; --repair takes damaged lines out, and says which"),
        },
        other => other,
    }
}

/// Takes damaged lines out of the log of a folder, and says what is lost.
///
/// # Errors
/// Those of [`Log::repair`].
pub fn repair(folder: &Path) -> Result<()> {
    let path = folder.join(LOG);
    if !path.exists() {
        return Ok(());
    }
    let Some(repair) = Log::repair(&path)? else {
        output::line(&format!("{}: no line is damaged", path.display()));
        return Ok(());
    };
    for (number, text, _) in &repair.lost {
        let text: String = text.chars().map(|it| if it.is_control() { '?' } else { it }).collect();
        output::line(&format!("{}:{number}: lost: {}", path.display(), shortened(&text)));
    }
    output::line(&format!("the log as it was is {}", repair.copy.display()));
    Ok(())
}

/// Refuses a folder whose log is of something else; a caller that runs nothing is of nothing.
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
        Self::with_log(Log::open, folder, identity)
    }

    /// The same for a call that writes a line or none, and waits some seconds for others.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_when_free(folder: &Path) -> Result<Self> {
        Self::with_log(Log::open_when_free, folder, &[])
    }

    fn with_log(
        open: fn(&Path) -> Result<Log>,
        folder: &Path,
        identity: &[(&str, String)],
    ) -> Result<Self> {
        table::create_folder(folder)?;
        let log = open(&folder.join(LOG)).map_err(repairable)?;
        if log.attempts().is_empty() && !identity.is_empty() {
            // Not compared: a search may go on elsewhere.
            let here = [(PROCESSORS, host::cores().to_string())];
            let all: Vec<_> = identity.iter().cloned().chain(here).collect();
            Identity::new(&all).write(&folder.join(IDENTITY))?;
        } else {
            check(folder, identity)?;
        }
        Ok(Self { folder: folder.into(), log })
    }

    /// A file that is held by whatever may still run.
    pub fn running(&self) -> PathBuf {
        self.folder.join(RUNNING)
    }
}

/// Which signal asked for an end, if one did.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// Calls `stop` at a signal, of which it is the first that counts.
    pub fn then(stop: impl Fn() + Send + 'static) -> Self {
        let interrupt = Self::default();
        let flag = Arc::clone(&interrupt.0);
        signals::take_first(move |signal| {
            flag.store(signal, Ordering::SeqCst);
            stop();
        });
        interrupt
    }

    /// The signal.
    pub fn signal(&self) -> Option<i32> {
        Some(self.0.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }
}

/// Tells of each run on standard error, unless it is to be quiet.
pub struct Watch<'a> {
    words: &'a Words,
    budget: Budget,
    interrupt: Interrupt,
    verbosity: Verbosity,
    /// What is running, on a terminal.
    spinner: Option<Spinner>,
    /// Attempts that were told.
    told: usize,
}

impl<'a> Watch<'a> {
    pub fn new(
        words: &'a Words,
        budget: Budget,
        interrupt: Interrupt,
        verbosity: Verbosity,
    ) -> Self {
        Self { words, budget, interrupt, verbosity, spinner: None, told: usize::MAX }
    }

    /// Whether somebody asked for an end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.signal().is_some()
    }

    /// Tells what ended since it last told, and what is known now.
    pub fn tell(&mut self, attempts: &[Attempt], known: &str) {
        // What a log began with was told before.
        let told = self.told.min(attempts.len());
        self.told = attempts.len();
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        self.spinner = None;
        for attempt in &attempts[told..] {
            output::line(&line(attempt, self.words, known));
        }
    }

    /// Shows what runs now.
    pub fn show(&mut self, what: String) {
        if self.verbosity == Verbosity::Usual && std::io::stderr().is_terminal() {
            self.spinner = Some(spinner(what));
        }
    }

    /// Tells of the last attempt.
    pub fn finish(&mut self, log: &Log) {
        self.tell(log.attempts(), "");
    }
}

impl Observer for Watch<'_> {
    fn begins(&mut self, progress: &Progress<'_>) {
        let best = |site: Site| self.words.of_both(site.mapping, progress.plan.factors(site));
        let known = match (progress.verdict.choice, super::answer::regret(progress.verdict)) {
            (Some(choice), Some(regret)) => format!("; best so far {}, {regret}", best(choice)),
            (Some(choice), None) => format!("; best so far {}", best(choice)),
            (None, _) => String::new(),
        };
        let left = super::answer::left(self.budget.time, progress.spent);
        let left = left.map_or(String::new(), |left| format!("; {left} left"));
        self.tell(progress.attempts, &format!("{known}{left}"));
        let number = progress.runs + 1;
        let of = self.budget.runs.map_or(String::new(), |runs| format!(" of {runs}"));
        let kind = if progress.order.is_warm_up() { "warm-up before run" } else { "run" };
        let next = self.words.of_both(progress.mapping, &progress.order.factors);
        self.show(format!("{kind} {number}{of}: {next}"));
    }

    fn is_interrupted(&self) -> bool {
        Watch::is_interrupted(self)
    }
}

impl CellObserver for Watch<'_> {
    fn begins_cell(&mut self, attempts: &[Attempt], cell: &Cell) {
        let left = super::answer::left(self.budget.time, spent(attempts));
        self.tell(attempts, &left.map_or(String::new(), |left| format!("; {left} left")));
        let number = timed(attempts) + 1;
        self.show(format!("run {number}: {}", self.words.of_both(cell.mapping, &cell.factors)));
    }

    fn is_interrupted(&self) -> bool {
        Watch::is_interrupted(self)
    }
}

/// What came of an attempt.
fn line(attempt: &Attempt, words: &Words, known: &str) -> String {
    let of = words.of_both(mapping(attempt), &attempt.params);
    let found = match (attempt.status, attempt.time_s) {
        (Status::Ok, Some(time)) => derived::quantity([attempt]).shown(Seconds(time)),
        (status, _) => status.to_string(),
    };
    let kind = if attempt.repetition == 0 { " (warm-up)" } else { "" };
    let reason = attempt.reason.as_ref().map_or(String::new(), |it| format!(" ({it})"));
    format!("{}. {of}{kind}: {found}{reason}{known}", attempt.order)
}

/// Warnings about the declaration of runs.
pub fn doubts(settings: &native::Settings, declared: &Declaration) -> Vec<Warning> {
    let command = &settings.command;
    let (of_m, of_p) = declared.words.pair();
    let mut known: Vec<String> = ["m", "p", "nodes", "rep", "dir"].map(String::from).to_vec();
    known.extend([of_m.clone(), of_p.clone()]);
    known.extend(declared.levels.iter().flat_map(|level| level.keys().cloned()));
    let mut warnings = Vec::new();
    for (name, word) in [("m", &of_m), ("p", &of_p)] {
        let varies = |of: fn(&Mapping) -> u32| {
            declared.space.iter().any(|it| of(it) != of(&declared.space[0]))
        };
        let varies = if name == "m" { varies(|it| it.m()) } else { varies(|it| it.p()) };
        // A launcher says how many to start.
        let variables = [name, word.as_str()].map(|it| format!("MMGP_{}", it.to_ascii_uppercase()));
        let reads = |word: &String| variables.iter().any(|it| word.contains(it.as_str()));
        let is_told = settings.launcher.is_some() || command.argv.iter().any(reads);
        if varies && !is_told && !command.names(name) && !command.names(word) {
            let variable = name.to_ascii_uppercase();
            warnings.push(Warning::Note(format!(
                "neither the command nor its environment has {{{name}}}: the program must read \
                 MMGP_{variable}"
            )));
        }
    }
    let unknown = command.unknown(&known);
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|it| format!("{{{it}}}")).collect();
        let known: Vec<String> = known.iter().map(|it| format!("{{{it}}}")).collect();
        warnings.push(Warning::Note(format!(
            "{} is left as it is: placeholders are {}",
            names.join(", "),
            known.join(" ")
        )));
    }
    warnings
}

/// The commands of orders, as a shell reads them.
pub fn commands(settings: &native::Settings, orders: &[(Mapping, Order)]) -> String {
    let line = |(mapping, order): &(Mapping, Order)| {
        let (argv, env) = settings.filled(order, *mapping);
        let own = env.iter().filter(|(name, _)| !name.starts_with("MMGP_"));
        let own: String = own.map(|(name, value)| format!("{name}={} ", quoted(value))).collect();
        format!("{own}{}\n", command_line(&argv))
    };
    orders.iter().map(line).collect()
}

/// How long so many runs may take together.
pub fn most_time(
    discipline: &Discipline,
    runs: Option<u64>,
    budget: Budget,
    attempts: &[Attempt],
) -> String {
    let mut text = String::new();
    if timed(attempts) > 0 {
        text += &format!("So far {} runs took {}.\n", timed(attempts), spent(attempts));
    }
    let limit = match discipline.timeout {
        Some(Timeout::After(limit)) => runs.map(|runs| Seconds(runs as f64 * limit.0)),
        _ => None,
    };
    let most = [limit, budget.time].into_iter().flatten();
    text + &match most.reduce(|one, other| Seconds(one.0.min(other.0))) {
        Some(most) => format!("All runs take at most {most}.\n"),
        None => "How long they take is not known before they ran; --budget sets a limit.\n".into(),
    }
}

/// Says how to go on.
pub fn interrupted(interrupt: &Interrupt) -> Answer {
    let words = std::env::args_os().map(|word| quoted(&word.to_string_lossy()));
    let words: Vec<String> = words.collect();
    output::line(&format!("interrupted; to go on:\n  {}", words.join(" ")));
    Answer::Signal(interrupt.signal().unwrap_or(0))
}
