//! Printing: data to standard output, warnings and progress to standard error.

#[cfg(feature = "progress")]
mod progress;
#[cfg(not(feature = "progress"))]
#[path = "output/no_progress.rs"]
mod progress;

use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;
use clap::builder::Styles;
use clap::builder::styling::Style;
use serde::Serialize;

use crate::answer::Table;
use crate::error::{Answer, Error, Result, Warning};
use crate::lab::{Observer, Step};
use crate::table;
use crate::units::Seconds;

pub use crate::table::json;
#[cfg(unix)]
pub use progress::{Spinner, spinner};
pub use progress::{progress, waiting};

/// How to print data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// JSON.
    Json,
}

/// Writes data to `out`, or to standard output.
pub fn data(out: Option<&Path>, text: &str) -> Result<()> {
    match out {
        Some(path) => table::write(path, text),
        None => std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|source| Error::Write { file: "standard output".into(), source }),
    }
}

/// What a command says: a table with words above it for people, its rows for CSV, and all of it for
/// readers of JSON.
pub struct Reply<R, J> {
    /// Stands above the table, for people.
    pub above: String,
    pub table: Table<R>,
    pub json: J,
}

impl<R, J: Serialize> Reply<R, J> {
    /// The text in a format.
    pub fn text(&self, format: Format) -> String {
        match format {
            Format::Table => self.above.clone() + &self.table.text(),
            Format::Csv => self.table.csv(),
            Format::Json => json(&self.json),
        }
    }
}

/// Both ends of an interval for people; a dash where nothing lies between them.
pub fn interval(low: Seconds, high: Seconds) -> String {
    if low < high { format!("{low} .. {high}") } else { "-".into() }
}

thread_local! {
    /// Warnings of a caller that is a program, while it listens.
    static HEARD: RefCell<Option<Vec<Warning>>> = const { RefCell::new(None) };
}

/// What `work` gives, and the warnings that it would have printed.
pub fn heard<T>(work: impl FnOnce() -> T) -> (T, Vec<Warning>) {
    HEARD.set(Some(Vec::new()));
    let result = work();
    (result, HEARD.take().unwrap_or_default())
}

/// Prints warnings, unless somebody [listens](heard).
pub fn warn(warnings: &[Warning]) {
    let is_heard = HEARD.with_borrow_mut(|heard| {
        heard.as_mut().map(|heard| heard.extend_from_slice(warnings)).is_some()
    });
    if is_heard {
        return;
    }
    for warning in warnings {
        let kind = if matches!(warning, Warning::Understood(_)) { "read" } else { "warning" };
        message(Styles::styled().get_invalid(), kind, warning);
    }
}

/// Prints why a command could not do what it was asked to, as `clap` does for flags.
pub fn error(error: &dyn Display) {
    message(Styles::styled().get_error(), "error", error);
}

/// Flags one of which takes the place of another.
const INSTEAD: [&[&str]; 3] =
    [&["columns"], &["time-from", "rate-from", "time-json"], &["objective", "rate"]];

/// The commands that would be understood: as these words have it, with one of the answers.
pub fn answers(answers: &[Answer], words: &[OsString], cli: &clap::Command) -> String {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = words.get(1).and_then(|name| cli.find_subcommand(name));
    let takes = |key: &str| {
        command
            .is_some_and(|it| it.get_arguments().any(|argument| argument.get_long() == Some(key)))
    };
    let typed = |Answer { key, value, meaning }: &Answer| {
        let flag = format!("--{key}");
        let mut all = words.clone();
        let takes_place = |word: &String| {
            let name = word.split('=').next().unwrap_or_default();
            INSTEAD.iter().any(|flags| {
                flags.contains(key) && flags.iter().any(|it| name == format!("--{it}"))
            })
        };
        if let Some(place) = all.iter().position(takes_place) {
            let is_one_word = all[place].contains('=');
            all.drain(place..(place + 2 - usize::from(is_one_word)).min(words.len()));
        }
        let before = all.iter().position(|word| word == "--").unwrap_or(all.len());
        all.splice(before..before, [flag, value.clone()]);
        let quoted = all.iter().map(|word| shlex::try_quote(word).unwrap_or_default());
        let meaning = if meaning.is_empty() { String::new() } else { format!("   # {meaning}") };
        format!("  {}{meaning}", quoted.collect::<Vec<_>>().join(" "))
    };
    let lines = answers.iter().filter(|answer| takes(answer.key)).map(typed);
    lines.collect::<Vec<_>>().join("\n")
}

/// A line on standard error whose first word is in colour where that is a terminal and neither
/// `NO_COLOR`, `CLICOLOR=0` nor `TERM=dumb` forbids it.
fn message(style: &Style, kind: &str, text: &dyn Display) {
    // Nobody may read it: work goes on.
    let _ = writeln!(anstream::stderr(), "{style}{kind}:{style:#} {text}");
}

/// A line on standard error, for whoever reads it.
pub fn line(text: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether to tell how things go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Errors and warnings only.
    Quiet,
    /// Progress too.
    Usual,
}

impl From<bool> for Verbosity {
    /// The verbosity that the flag `--quiet` asks for.
    fn from(quiet: bool) -> Self {
        if quiet { Self::Quiet } else { Self::Usual }
    }
}

impl Observer for Verbosity {
    fn begin(&self, work: &'static str, steps: u64) -> Step {
        let line = progress(work, steps, *self);
        Arc::new(move || line.inc(1))
    }

    fn warn(&self, warning: &Warning) {
        warn(std::slice::from_ref(warning));
    }
}

/// Lines broken between words so that none is wider, as far as words allow; what continues a line is
/// set in by two columns more.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let mut rest = line;
        let mut first = true;
        loop {
            let set_in = if first { 0 } else { indent + 2 };
            let room = width.saturating_sub(set_in).max(1);
            let cut = place_to_cut(rest, room);
            let (head, tail) = rest.split_at(cut);
            lines.push(format!("{}{}", " ".repeat(set_in), head.trim_end()));
            rest = tail.trim_start();
            first = false;
            if rest.is_empty() {
                break;
            }
        }
    }
    lines.join("\n")
}

/// The place after the last word that has room, or after the first where none has.
fn place_to_cut(text: &str, room: usize) -> usize {
    if text.chars().count() <= room {
        return text.len();
    }
    let begins = text.len() - text.trim_start().len();
    // A per cent sign stays with its number.
    let is_space = |at: usize| at > begins && !text[at + 1..].starts_with('%');
    let spaces = text.char_indices().enumerate();
    let spaces = spaces.filter(|(_, (at, c))| *c == ' ' && is_space(*at));
    let mut cut = None;
    for (column, (at, _)) in spaces {
        if column > room && cut.is_some() {
            break;
        }
        cut = Some(at);
        if column > room {
            break;
        }
    }
    cut.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_set_in() {
        let check = |text: &str, width: usize, expected: &str| {
            assert_eq!(wrapped(text, width), expected);
        };
        check("one two three", 13, "one two three");
        check("one two three", 9, "one two\n  three");
        check("  one two three\nfour", 10, "  one two\n    three\nfour");
        check("off by 44 % of", 10, "off by\n  44 % of");
        check("unbreakable word", 4, "unbreakable\n  word");
    }
}
