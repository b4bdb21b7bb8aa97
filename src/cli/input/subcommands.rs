//! Commands with a subcommand for each program, whose flags are those of the command and of that program.

use std::ffi::OsString;
use std::ops::Deref;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::programs::{ENTRIES, Entry, Program, Size, USUAL, Way, entry, known, without};
use crate::cli::emulate::{self, ProgramReport};
use crate::cli::files::Guard;
use crate::error::Result;

/// What the name of the program is called, where it is no subcommand.
const APP: &str = "app";

/// A program and its flags, in a command that has the program's name.
pub struct AppArguments {
    entry: &'static Entry,
    program: Box<dyn Program>,
}

impl Args for AppArguments {
    fn augment_args(command: Command) -> Command {
        let Some(entry) = known(command.get_name()) else { return command };
        let name = Arg::new(APP).long(APP).hide(true);
        let name = name.value_parser([entry.name]).default_value(entry.name);
        let command = command.next_help_heading("The program").arg(name);
        (entry.add)(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AppArguments {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let entry = named_in(matches).expect("invariant: a command with flags of a program is one");
        Ok(Self { entry, program: (entry.parse)(matches)? })
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn named_in(matches: &ArgMatches) -> Option<&'static Entry> {
    matches.get_one::<String>(APP).and_then(|name| known(name))
}

impl Deref for AppArguments {
    type Target = dyn Program;

    fn deref(&self) -> &(dyn Program + 'static) {
        &*self.program
    }
}

impl AppArguments {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Whether it is the one where none is named.
    pub fn is_usual(&self) -> bool {
        self.entry.name == USUAL
    }

    /// What its input is measured by.
    pub fn size(&self) -> &'static Size {
        &self.entry.size
    }

    /// What the program leaves in the folder of `--out`, where it leaves more than a report.
    pub fn folder_files(&self) -> &'static [&'static str] {
        self.entry.folder_files
    }

    /// With the files that the program is made of.
    pub fn guarded(&self, guard: Guard) -> Guard {
        self.files().iter().fold(guard, |guard, (flag, path)| guard.reads(flag, *path))
    }

    /// Runs it otherwise than on an emulated machine.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where it has nothing for that, and what it refuses itself.
    pub fn otherwise(&self, way: Way, arguments: &emulate::Arguments) -> Result<ProgramReport> {
        let found = match way {
            Way::Host => self.on_host(arguments),
            Way::Plainly => self.plainly(arguments),
        };
        found.unwrap_or_else(|| Err(without(self.entry.name, way)))
    }
}

/// A command that has a subcommand for each program.
pub struct Programs<T>(pub T);

impl<T: Args> Args for Programs<T> {
    fn augment_args(command: Command) -> Command {
        // What is said of the command stands beside its flags.
        let about = T::augment_args(Command::new(""));
        let name = command.get_name().to_string();
        let program = |entry: &Entry| {
            T::augment_args(Command::new(entry.name))
                .about(entry.about)
                .long_about(None::<&str>)
                .after_help(format!("Examples:\n  mmgp {name} --help"))
                .disable_help_flag(true)
                .args(help_flags())
        };
        let programs: Vec<Command> = ENTRIES.iter().map(program).collect();
        let text = |text: Option<&StyledStr>| text.cloned().unwrap_or_default();
        command
            .about(text(about.get_about()))
            .long_about(text(about.get_long_about().or(about.get_about())))
            .after_help(text(about.get_after_help()))
            .subcommand_required(true)
            .disable_help_subcommand(true)
            .subcommand_value_name("PROGRAM")
            .subcommand_help_heading("Programs (PROGRAM --help has its flags)")
            .subcommands(programs)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Help in two lengths: the usual one has all flags on two screens.
fn help_flags() -> [Arg; 2] {
    let flag = |name: &'static str| Arg::new(name).long(name).help_heading("Help");
    [
        flag("help").short('h').action(ArgAction::HelpShort).help("Print help"),
        flag(HELP_ALL).action(ArgAction::HelpLong).help("Print help with what each value means"),
    ]
}

/// The flag for the longer help.
const HELP_ALL: &str = "help-all";

impl<T: Args> FromArgMatches for Programs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let (_, matches) = matches.subcommand().expect("invariant: a program is required");
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The words with the program as the subcommand that it is: `--app NAME` says it as well, and where nothing
/// does, it is the usual one.
///
/// # Errors
/// [`Error::UnknownName`] for a program that there is not.
pub fn with_program(mut words: Vec<OsString>, cli: &Command) -> Result<Vec<OsString>> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let command = words.get(1).and_then(|word| cli.find_subcommand(word));
    let has_programs = command.is_some_and(Command::has_subcommands);
    if !has_programs || words.get(2).is_some_and(|word| known(&text(word)).is_some()) {
        return Ok(words);
    }
    let flag = format!("--{APP}");
    let is_app = |word: &OsString| text(word).split('=').next() == Some(&flag);
    let name = match words.iter().position(is_app) {
        Some(place) => {
            let word = text(&words.remove(place));
            let value = word.split_once('=').map(|(_, value)| value.to_string());
            match value {
                Some(value) => value,
                None if place < words.len() => text(&words.remove(place)),
                None => String::new(),
            }
        }
        None if words.iter().any(|word| word == "--help" || word == "-h") => return Ok(words),
        // Programs are all that these commands have beside flags.
        None => match words.get(2).map(text).filter(|word| !word.starts_with('-')) {
            Some(name) => return entry(&name).map(|_| words),
            None => USUAL.into(),
        },
    };
    words.insert(2, entry(&name)?.name.into());
    Ok(words)
}
