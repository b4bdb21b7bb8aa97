//! What is left in the folder, and the answer.

use std::path::Path;

use clap::{Args as _, Command, FromArgMatches as _};

use super::answer::{SearchAnswer, parameters};
use super::declare::Declaration;
use super::program::OUTPUT;
use super::session::processors;
use super::{Arguments, TypedFlags, of_drivers, trace};
use crate::answer::Object;
use crate::attempt::Attempt;
use crate::cli::output::json;
use crate::error::{Error, Result};
use crate::models::Parameters;
use crate::native::first_failure;
use crate::objective::Objective;
use crate::quantity::Quantity;
use crate::report::search;
use crate::table::records::Run;
use crate::table::{self, Source, csv};
use crate::tune::engine::{End, Plan};
use crate::tune::{Verdict, derived};
use crate::units::Seconds;

/// What a report is made of.
pub struct SearchReport<'a> {
    /// What may be run.
    pub declared: &'a Declaration,
    /// The search.
    pub plan: &'a Plan,
    /// The folder of the search.
    pub folder: &'a Path,
    /// The command that was typed, for the page.
    pub command: &'a str,
    /// The reason why there are no more runs.
    pub end: Option<End>,
}

/// The flags of the search.
const FLAGS: &str = "tune.toml";

/// The configurations that may be chosen.
const CONFIGURATIONS: &str = "configurations.csv";

/// Keeps in a folder what is asked there.
///
/// # Errors
/// [`Error::Write`](crate::Error::Write).
pub fn keep_declaration(folder: &Path, flags: &TypedFlags, declared: &Declaration) -> Result<()> {
    let rows = declared.space.iter().map(|it| vec![it.m().to_string(), it.p().to_string()]);
    table::write(&folder.join(CONFIGURATIONS), csv::write_fields(&["m", "p"], rows))?;
    let flags = flags.clone().known_to(&command());
    table::write(&folder.join(FLAGS), flags.to_toml())
}

/// The command whose flags a folder keeps, whatever was asked there.
fn command() -> Command {
    Arguments::augment_args(Command::new("tune"))
}

/// What was asked in a folder, as its files say; `None` where nothing was.
///
/// # Errors
/// Those of [`TypedFlags::read`].
pub fn declaration(folder: &Path) -> Result<Option<Arguments>> {
    let path = folder.join(FLAGS);
    if !path.exists() {
        return Ok(None);
    }
    let command = command();
    let flags = TypedFlags::read(&command, &Source::read(&path)?)?
        .without(&["m", "p", "where", "constant", "configurations", "out"])
        .with("configurations", folder.join(CONFIGURATIONS).display().to_string())
        .with("out", folder.display().to_string());
    let words = flags.words("tune");
    let matches = command.try_get_matches_from(&words[1..]);
    let arguments = matches.and_then(|it| Arguments::from_arg_matches(&it)).map_err(|error| {
        let found = error.to_string();
        let found = found.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Error::out_of_range("tune.toml", found.to_string(), "the flags of a search")
    })?;
    Ok(Some(arguments))
}

/// The search of a folder, which another process may go on with: its declaration and its attempts.
///
/// # Errors
/// [`Error::OutOfRange`] where there is none.
pub fn kept(folder: &Path) -> Result<(Arguments, Vec<Attempt>)> {
    let attempts = of_drivers(folder)?;
    let arguments = declaration(folder)?.ok_or_else(|| {
        Error::out_of_range(
            "DIR",
            format!("{}, in which nothing was searched", folder.display()),
            "the folder of `mmgp tune`, `measure` or `ask` (--out)",
        )
    })?;
    Ok((arguments, attempts))
}

/// The answer.
fn found<'a>(
    report: &SearchReport<'a>,
    verdict: &'a Verdict,
    attempts: &'a [Attempt],
) -> Result<SearchAnswer<'a>> {
    let plan = report.plan;
    let objective = in_unit_of(attempts, &plan.search.objective)?;
    Ok(SearchAnswer {
        plan,
        parameters: of_level(report, verdict.level(), attempts, objective.quantity()),
        objective,
        verdict,
        attempts,
        words: &report.declared.words,
        processors: processors(report.folder),
    })
}

/// The parameters that the runs of a level determine, or why they do not.
fn of_level(
    report: &SearchReport<'_>,
    level: u32,
    attempts: &[Attempt],
    quantity: &Quantity,
) -> std::result::Result<Parameters, String> {
    let program = (&*program_name(attempts), report.declared.decomposition);
    let factors = &report.plan.levels[level as usize];
    // What was traced is of the search's first values.
    let is_traced = level == 0 && quantity.is_time();
    let terms = is_traced.then(|| trace::terms(report.folder)).transpose();
    let terms = terms.map_err(|error| error.to_string())?.flatten();
    parameters((report.plan, factors), (attempts, terms), quantity, program)
}

/// The answer for people and for programs, from the attempts alone.
///
/// # Errors
/// Those of [`Search::judge`](crate::tune::Search::judge).
pub fn answer(report: &SearchReport<'_>, attempts: &[Attempt]) -> Result<(String, Object)> {
    let verdict = report.plan.judge(attempts)?;
    Ok(said(report, &found(report, &verdict, attempts)?, attempts))
}

/// What the first run that failed said last.
fn failure(report: &SearchReport<'_>, attempts: &[Attempt]) -> String {
    let name = |of| report.declared.words.of(of);
    let lines = first_failure(attempts, &report.folder.join(OUTPUT), &name);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The answer in words, and for programs.
fn said(
    report: &SearchReport<'_>,
    found: &SearchAnswer<'_>,
    attempts: &[Attempt],
) -> (String, Object) {
    let text = format!("{}\n{}", found.sentence(), found.details());
    (text + &failure(report, attempts), found.summary(report.end))
}

/// Writes all that follows from the attempts, and returns the answer.
///
/// # Errors
/// The errors of writing.
pub fn write(report: &SearchReport<'_>, attempts: &[Attempt]) -> Result<String> {
    let folder = report.folder;
    let verdict = report.plan.judge(attempts)?;
    let found = found(report, &verdict, attempts)?;
    let name = program_name(attempts);
    let (text, summary) = said(report, &found, attempts);
    let mut absent = Vec::new();
    for (level, factors) in (0..).zip(&report.plan.levels) {
        let pair = |(name, value): (&String, &String)| format!("-{name}={}", plain(value));
        let suffix: String = factors.iter().map(pair).collect();
        let rows = derived::runs(factors, attempts);
        let quantity = found.objective.quantity();
        if !rows.is_empty() {
            let text = runs_csv(&rows, quantity);
            table::write(&folder.join(format!("runs{suffix}.csv")), text)?;
        }
        let file = format!("params{suffix}.toml");
        let is_chosen = level == verdict.level();
        let of_other = (!is_chosen).then(|| of_level(report, level, attempts, quantity));
        match of_other.as_ref().unwrap_or(&found.parameters) {
            Ok(parameters) => table::write(&folder.join(&file), parameters.to_toml())?,
            Err(why) if is_chosen => absent.push(format!("{file} is not here: {why}.")),
            Err(_) => {}
        }
    }
    let page = search::page(&name, &found.page(report.command, absent)?)?;
    table::write(&folder.join("report.html"), page)?;
    // These formats are of times.
    if derived::quantity(attempts).is_time() {
        table::write(&folder.join("hyperfine.json"), json(&derived::hyperfine(attempts)))?;
        table::write(&folder.join("t4.json"), json(&derived::t4(attempts)))?;
    }
    table::write(&folder.join("summary.json"), json(&summary))?;
    Ok(format!("{text}Everything is in {}.\n", folder.display()))
}

/// The objective in the unit of what the attempts printed.
fn in_unit_of(attempts: &[Attempt], objective: &Objective) -> Result<Objective> {
    match derived::quantity(attempts) {
        Quantity::Time => Ok(objective.clone()),
        other => objective.of_quantity(&other),
    }
}

/// The runs as a table that all commands read; rates and amounts as such.
fn runs_csv(rows: &[Run], quantity: &Quantity) -> String {
    let Some(unit) = quantity.unit() else { return csv::write(rows) };
    let name = format!("{} [{unit}]", quantity.name());
    let fields = |run: &Run| {
        let counts = [run.m, run.p, run.repetition].map(|count| count.to_string());
        counts.into_iter().chain([quantity.number(Seconds(run.time_s)).to_string()]).collect()
    };
    csv::write_fields(&["m", "p", "repetition", &name], rows.iter().map(fields))
}

/// What the program is called: of a script of a shell, its first word.
fn program_name(attempts: &[Attempt]) -> String {
    let argv = attempts.iter().map(|it| &it.argv[..]).find(|argv| !argv.is_empty());
    let name = match argv {
        Some([shell, flag, script, ..]) if shell == "sh" && flag == "-c" => {
            script.split_whitespace().next().unwrap_or(shell)
        }
        Some([program, ..]) => program,
        _ => "program",
    };
    name.into()
}

/// A value as a part of a file's name.
fn plain(value: &str) -> String {
    let kept = |it: char| if it.is_ascii_alphanumeric() || "._-".contains(it) { it } else { '_' };
    value.chars().map(kept).collect()
}
