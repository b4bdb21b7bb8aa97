//! `mmgp show` and `mmgp compare`: what searches found, from their folders alone.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::Answer;
use super::objective::percent;
use super::output::{data, json, warn};
use super::tune::{Declaration, SearchReport, answer, kept};
use super::words::assigned;
use crate::answer::{Object, Table};
use crate::attempt::Attempt;
use crate::error::{Result, Warning};
use crate::quantity::Quantity;
use crate::tune::comparison::{self, Change, Choice, ComparedChoice, Comparison, Tendency};
use crate::tune::derived;
use crate::units::{Percent, Seconds};

/// Print the answer of a search again, also while it goes on
#[derive(Args)]
#[command(after_help = SHOW_HELP)]
pub struct ShowArguments {
    /// Folder of the search
    #[arg(value_name = "DIR", default_value = super::tune::FOLDER)]
    folder: PathBuf,
    /// How the answer is printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: ShownFormat,
}

const SHOW_HELP: &str = "\
Examples:
  mmgp show tune
  mmgp show tune --format json

Writes nothing, and hinders no search. What is said follows from DIR/log.jsonl, tune.toml and \
configurations.csv.";

/// Forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShownFormat {
    /// Sentences, or a table below them, for people.
    Text,
    /// JSON, for programs.
    Json,
}

/// Prints what is known in a folder.
pub fn show(arguments: &ShowArguments) -> Result<Answer> {
    let folder = &arguments.folder;
    let (declaration, attempts) = kept(folder)?;
    let (declared, plan) = declaration.searched(&attempts)?;
    let report = SearchReport { declared: &declared, plan: &plan, folder, command: "", end: None };
    let (text, summary) = answer(&report, &attempts)?;
    let text = match arguments.format {
        ShownFormat::Text => text,
        ShownFormat::Json => json(&summary),
    };
    data(None, &text)?;
    Ok(Answer::Done)
}

/// Say whether the runs of a second folder are faster or slower than those of a first, or cannot be told apart
#[derive(Args)]
#[command(after_help = COMPARE_HELP)]
pub struct CompareArguments {
    /// Folder of the earlier runs
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// Folder of the later runs
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Exit with 1 where the fastest, or all on the average, are surely slower by more than this, or
    /// what ran well fails
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_above: Option<f64>,
    /// How the answer is printed
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: ShownFormat,
}

const COMPARE_HELP: &str = "\
Examples:
  mmgp compare old new
  mmgp compare old new --fail-above 5% --format json

Times are compared configuration by configuration, and the noise of a run is the scatter of repetitions in \
both folders: without any, nothing can be told. Intervals hold with 95 %; those of single configurations, \
for all of them together. What differs between two days on a machine is in no interval.

Exit code 0: done; 1: surely slower than --fail-above allows; 2: nothing to compare.";

/// Compares two folders.
pub fn compare(arguments: &CompareArguments) -> Result<Answer> {
    let ((declaration, old), (_, new)) = (kept(&arguments.old)?, kept(&arguments.new)?);
    let (declared, _) = declaration.searched(&old)?;
    let found = comparison::compare(&old, &new)?;
    warn(&doubts((&arguments.old, &old), (&arguments.new, &new)));
    let fails = arguments.fail_above.is_some_and(|most| {
        let is_slower = |it: &Option<Change>| it.is_some_and(|it| it.is_slower_by(most));
        is_slower(&found.of_best) || is_slower(&found.overall) || !found.broken.is_empty()
    });
    let text = match arguments.format {
        ShownFormat::Text => compared(&found, &declared, &derived::quantity(&old)),
        ShownFormat::Json => json(&object(&found, fails)),
    };
    data(None, &text)?;
    Ok(if fails { Answer::No } else { Answer::Done })
}

/// What makes times of two folders differ that no program does.
fn doubts((old, before): (&Path, &[Attempt]), (new, after): (&Path, &[Attempt])) -> Vec<Warning> {
    let hosts = |attempts: &[Attempt]| -> Vec<String> {
        let mut hosts: Vec<String> =
            attempts.iter().map(|it| it.host.clone()).filter(|it| !it.is_empty()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    };
    let (before, after) = (hosts(before), hosts(after));
    let differ = before != after && !before.is_empty() && !after.is_empty();
    let warning = || {
        let (old, new) = (old.display(), new.display());
        format!("{old} ran on {}, {new} on {}", before.join(", "), after.join(", "))
    };
    differ.then(|| Warning::Note(warning())).into_iter().collect()
}

/// A change in words.
fn changed(change: Option<Change>) -> String {
    let Some(change) = change else {
        return "cannot be told: nothing ran twice, so that the noise is not known".into();
    };
    let part = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    let interval = format!("{} .. {} (95 %)", part(change.interval.0), part(change.interval.1));
    match change.tendency() {
        Tendency::Faster => format!("faster: {} of the time, {interval}", part(change.ratio)),
        Tendency::Slower => format!("slower: {} of the time, {interval}", part(change.ratio)),
        Tendency::CannotTell => format!("cannot be told: {}, {interval}", part(change.ratio)),
    }
}

fn tendency(change: Option<Change>) -> &'static str {
    match change.map(|it| it.tendency()) {
        Some(Tendency::Faster) => "faster",
        Some(Tendency::Slower) => "slower",
        Some(Tendency::CannotTell) | None => "cannot be told",
    }
}

/// The answer for people.
fn compared(found: &Comparison, declared: &Declaration, quantity: &Quantity) -> String {
    let named = |choice: &Choice| declared.words.of_both(choice.0, &choice.1);
    let shown = |time_s: f64| quantity.shown(Seconds(time_s));
    let (old, new) = &found.best;
    let time = |choice: &Choice, of: fn(&ComparedChoice) -> f64| {
        let row = found.choices.iter().find(|it| it.choice == *choice);
        row.map_or(String::new(), |row| shown(of(row)))
    };
    let mut text = format!(
        "The fastest: {}. {} takes {}; before, {} took {}.\n",
        changed(found.of_best),
        named(new),
        time(new, |it| it.times_s.1),
        named(old),
        time(old, |it| it.times_s.0)
    );
    if found.choices.len() > 1 {
        text += &format!(
            "All {} configurations on the average: {}.\n",
            found.choices.len(),
            changed(found.overall)
        );
    }
    let (of_m, of_p) = declared.words.pair();
    let has_factors = found.choices.iter().any(|it| !it.choice.1.is_empty());
    let mut table = Table::of(found.choices.iter().cloned())
        .people(&of_m, |row| row.choice.0.m().to_string())
        .people(&of_p, |row| row.choice.0.p().to_string());
    if has_factors {
        table = table.people("with", |row| assigned(&row.choice.1)).left();
    }
    let part = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
    text += "\n";
    text += &table
        .people("runs", |row| format!("{}, {}", row.runs.0, row.runs.1))
        .people("before", |row| shown(row.times_s.0))
        .people("now", |row| shown(row.times_s.1))
        .people("change", |row| part(row.times_s.1 / row.times_s.0))
        .people("95 %", |row| {
            let change = row.change.map(|it| it.interval);
            change.map_or("-".into(), |(low, high)| format!("{} .. {}", part(low), part(high)))
        })
        .people("", |row| tendency(row.change).to_string())
        .left()
        .text();
    let broken: Vec<String> = found.broken.iter().map(named).collect();
    if !broken.is_empty() {
        text += &format!("Ran well before, and fails now: {}.\n", broken.join("; "));
    }
    match found.alone {
        (0, 0) => {}
        (old, new) => {
            text += &format!("In one folder alone: {old} of the first, {new} of the second.\n")
        }
    }
    if let Some((noise, freedom)) = found.noise {
        text += &format!("A run scatters by {}, from {freedom} repetitions.\n", Percent(noise));
    }
    text
}

/// The answer for programs.
fn object(found: &Comparison, fails: bool) -> Object {
    let change = |change: Option<Change>| {
        Object::new()
            .with("verdict", tendency(change))
            .with_some("ratio", change.map(|it| it.ratio))
            .with_some("low", change.map(|it| it.interval.0))
            .with_some("high", change.map(|it| it.interval.1))
    };
    let params =
        |(_, factors): &Choice| (!factors.is_empty()).then(|| Object::from_iter(factors.clone()));
    let choice = |of: &Choice| {
        Object::new().with("m", of.0.m()).with("p", of.0.p()).with_some("params", params(of))
    };
    let row = |row: &ComparedChoice| {
        choice(&row.choice)
            .with("runs", [row.runs.0 as u64, row.runs.1 as u64])
            .with("old_s", row.times_s.0)
            .with("new_s", row.times_s.1)
            .followed_by(change(row.change))
    };
    Object::new()
        .with("best", change(found.of_best))
        .with("old_best", choice(&found.best.0))
        .with("new_best", choice(&found.best.1))
        .with("overall", change(found.overall))
        .with("noise", found.noise.map(|it| it.0))
        .with("broken", found.broken.iter().map(choice).collect::<Vec<_>>())
        .with("configurations", found.choices.iter().map(row).collect::<Vec<_>>())
        .with("fails", fails)
}
