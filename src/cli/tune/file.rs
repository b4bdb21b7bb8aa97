//! `tune.toml`: what `tune`, `measure` and `ask` are told on the command line, kept in a file in the same
//! words.
//!
//! A key is a flag without its hyphens and a value is what would be typed behind it: a text, a number,
//! `true` for a flag without a value, a list for one that may be given several times. `command` is what
//! stands behind `--`. Flags that are typed beside the file take the place of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Deserialize;

use crate::cli::Invocation;
use crate::error::{Result, suggest};
use crate::table::Source;
use crate::table::toml::Document;

/// Key of the command to run.
pub const COMMAND: &str = "command";

/// Flags of a single call, which are kept in no file.
const OF_ONE_CALL: [&str; 5] = ["save-as", "dry-run", "quiet", "repair", "help"];

/// The flags of a command line: names without hyphens, in the order of the help, and values as they
/// were typed, none for a flag that has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypedFlags(Vec<(String, Vec<String>)>);

impl TypedFlags {
    /// The flags of a command line.
    pub fn typed(invocation: &Invocation) -> Self {
        let subcommand = invocation.subcommand();
        subcommand.map_or_else(Self::default, |(command, matches)| Self::of(command, matches))
    }

    /// The flags that were typed for a subcommand.
    fn of(command: &Command, matches: &ArgMatches) -> Self {
        let is_typed = |argument: &&Arg| {
            let id = argument.get_id().as_str();
            matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let flag = |argument: &Arg| {
            let raw = matches.get_raw(argument.get_id().as_str()).into_iter().flatten();
            let values = raw.map(|value| value.to_string_lossy().into_owned()).collect();
            Some((name(argument)?, if takes_values(argument) { values } else { Vec::new() }))
        };
        Self(command.get_arguments().filter(is_typed).filter_map(flag).collect())
    }

    /// The flags in a file for a subcommand.
    ///
    /// # Errors
    /// [`Error::Read`](crate::Error::Read); [`Error::Input`](crate::Error::Input) at a key that is no
    /// flag, and at a value that it cannot have.
    pub fn read(command: &Command, source: &Source) -> Result<Self> {
        let document = Document::parse(source)?;
        let mut values: BTreeMap<String, FileValue> = document.read()?;
        let known: Vec<(String, &Arg)> =
            command.get_arguments().filter_map(|it| Some((name(it)?, it))).collect();
        let root = document.root();
        if let Some(key) = values.keys().find(|key| !known.iter().any(|(name, _)| name == *key)) {
            let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            let expected = format!("a flag of mmgp {}{}", command.get_name(), suggest(key, &names));
            return Err(root.error(key, format!("{key:?}"), expected));
        }
        let mut flags = Vec::new();
        for (name, argument) in known {
            let Some(value) = values.remove(&name) else { continue };
            let wrong =
                |expected: &str| root.error(&name, format!("another value for {name:?}"), expected);
            let flag = match value {
                FileValue::One(FileWord::Switch(is_on)) if !takes_values(argument) => {
                    is_on.then(Vec::new)
                }
                _ if !takes_values(argument) => return Err(wrong("true or false")),
                FileValue::One(FileWord::Switch(_)) => return Err(wrong("a text or a number")),
                FileValue::One(word) if name == COMMAND => {
                    let words = shlex::split(&word.text());
                    Some(words.ok_or_else(|| wrong("a command, its quotes closed"))?)
                }
                FileValue::One(word) => Some(vec![word.text()]),
                FileValue::Several(words) => {
                    let words: Vec<String> = words.iter().map(FileWord::text).collect();
                    Some(if is_repeated(argument) { words } else { vec![words.join(",")] })
                }
            };
            flags.extend(flag.map(|values| (name, values)));
        }
        Ok(Self(flags))
    }

    /// These flags, and of others those that none of these takes the place of.
    fn instead_of(self, others: Self, command: &Command) -> Self {
        let argument =
            |flag: &str| command.get_arguments().find(|it| name(it).as_deref() == Some(flag));
        let displaced = |flag: &str| {
            self.0.iter().filter_map(|(own, _)| argument(own)).any(|own| {
                let conflicts = command.get_arg_conflicts_with(own);
                [own].into_iter().chain(conflicts).any(|it| name(it).as_deref() == Some(flag))
            })
        };
        let kept: Vec<_> = others.0.into_iter().filter(|(name, _)| !displaced(name)).collect();
        Self(kept.into_iter().chain(self.0).collect())
    }

    /// The flags without some.
    pub fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|(name, _)| !names.contains(&name.as_str()));
        self
    }

    /// The flags with a further one, unless it is there.
    pub fn with(mut self, name: &str, value: String) -> Self {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => self.0.push((name.into(), vec![value])),
        }
        self
    }

    /// Those that another subcommand has, too.
    pub fn known_to(mut self, command: &Command) -> Self {
        let is_known =
            |flag: &str| command.get_arguments().any(|it| name(it).as_deref() == Some(flag));
        self.0.retain(|(flag, _)| is_known(flag));
        self
    }

    /// What was typed behind a flag.
    pub fn values(&self, name: &str) -> &[String] {
        self.0.iter().find(|(known, _)| known == name).map_or(&[], |(_, values)| values)
    }

    /// The words of a command line.
    pub fn words(&self, subcommand: &str) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["mmgp".into(), subcommand.into()];
        for (name, values) in self.0.iter().filter(|(name, _)| name != COMMAND) {
            words.extend(values.is_empty().then(|| format!("--{name}").into()));
            words.extend(values.iter().map(|value| format!("--{name}={value}").into()));
        }
        let command = self.values(COMMAND);
        words.extend((!command.is_empty()).then(|| "--".into()));
        words.extend(command.iter().map(OsString::from));
        words
    }

    /// The file; flags of a single call are not in it.
    pub fn to_toml(&self) -> String {
        let line = |(name, values): &(String, Vec<String>)| {
            let value = match &values[..] {
                [] => "true".to_string(),
                [value] if name != COMMAND => quoted(value),
                values => {
                    let words: Vec<String> = values.iter().map(|it| quoted(it)).collect();
                    format!("[{}]", words.join(", "))
                }
            };
            format!("{name} = {value}\n")
        };
        let kept = self.0.iter().filter(|(name, _)| !OF_ONE_CALL.contains(&name.as_str()));
        "# The flags of `mmgp tune`, in the same words; `mmgp tune FILE` goes by them.\n"
            .to_string()
            + &kept.map(line).collect::<String>()
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).expect("invariant: a text is JSON");
    json.replace('\u{7f}', "\\u007f")
}

/// A value in a file.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "another kind of value, expected a text, a number, true, or a list of texts"
)]
enum FileValue {
    One(FileWord),
    Several(Vec<FileWord>),
}

/// What stands for a word.
#[derive(Deserialize)]
#[serde(untagged)]
enum FileWord {
    Switch(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl FileWord {
    fn text(&self) -> String {
        match self {
            Self::Switch(is_on) => is_on.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The name of a flag in a file; `None` for what is no flag.
fn name(argument: &Arg) -> Option<String> {
    if argument.is_last_set() {
        return Some(COMMAND.into());
    }
    argument.get_long().map(String::from)
}

fn takes_values(argument: &Arg) -> bool {
    argument.get_action().takes_values()
}

/// Whether a flag may be given several times.
fn is_repeated(argument: &Arg) -> bool {
    argument.is_last_set() || matches!(argument.get_action(), ArgAction::Append)
}

/// Words in which the flags of a file stand in its place; `None` where no file of flags is named.
///
/// # Errors
/// Those of [`TypedFlags::read`].
pub fn expanded(invocation: &Invocation) -> Result<Option<Vec<OsString>>> {
    const FILE: &str = "flags_file";
    let Some((command, matches)) = invocation.subcommand() else { return Ok(None) };
    let is_file = |it: &Arg| it.get_id() == FILE && it.is_positional();
    let has_file = command.get_arguments().any(is_file);
    let file = has_file.then(|| matches.get_raw(FILE)).flatten().and_then(|mut it| it.next());
    let Some(file) = file else { return Ok(None) };
    let of_file = TypedFlags::read(command, &Source::read(Path::new(file))?)?;
    let flags = TypedFlags::of(command, matches).instead_of(of_file, command);
    Ok(Some(flags.words(command.get_name())))
}
