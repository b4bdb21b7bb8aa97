//! Commands with a subcommand for each program, whose flags are those of the command and of that program.

use std::ffi::OsString;
use std::ops::Deref;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::programs::{ENTRIES, Entry, Program, Size, USUAL, Way, entry, known, without};
use crate::cli::Answer;
use crate::cli::emulate::{self, ProgramReport};
use crate::cli::files::Guard;
use crate::error::Result;

/// Flag that names the program where no subcommand does, without its hyphens.
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
    /// Name on the command line.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Whether it is the one that runs where none is named.
    pub fn is_usual(&self) -> bool {
        self.entry.name == USUAL
    }

    /// Sizes of its input.
    pub fn size(&self) -> &'static Size {
        &self.entry.size
    }

    /// Files that it leaves in the folder of `--out`, where it leaves more than a report.
    pub fn folder_files(&self) -> &'static [&'static str] {
        self.entry.folder_files
    }

    /// The guard with the files that the program reads.
    pub fn guarded(&self, guard: Guard) -> Guard {
        self.files().iter().fold(guard, |guard, (flag, path)| guard.reads(flag, *path))
    }

    /// Runs it other than on an emulated machine.
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

/// A subcommand of a program in the place of a run, as in `emulate raxml likelihood`.
pub struct Tool {
    /// Name on the command line.
    pub name: &'static str,
    /// Function that adds its flags to a command.
    pub add: fn(Command) -> Command,
    /// Function that runs it.
    pub run: fn(&ArgMatches) -> Result<Answer>,
}

/// The tool that was asked for in the place of a run, if one was.
pub struct Tools(Option<(&'static Tool, ArgMatches)>);

impl Tools {
    /// Answers the tool.
    pub fn run(&self) -> Option<Result<Answer>> {
        self.0.as_ref().map(|(tool, matches)| (tool.run)(matches))
    }
}

impl Args for Tools {
    fn augment_args(command: Command) -> Command {
        let tools = known(command.get_name()).map_or(&[][..], |entry| entry.tools);
        if tools.is_empty() {
            return command;
        }
        command
            .subcommands(tools.iter().map(|tool| (tool.add)(Command::new(tool.name))))
            .args_conflicts_with_subcommands(true)
            .disable_help_subcommand(true)
            .subcommand_help_heading("In the place of a run")
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Tools {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let asked = matches.subcommand().and_then(|(name, own)| {
            let tool = named_in(matches)?.tools.iter().find(|tool| tool.name == name)?;
            Some((tool, own.clone()))
        });
        Ok(Self(asked))
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A command that has a subcommand for each program.
pub struct Programs<T>(pub T);

impl<T: Args> Args for Programs<T> {
    fn augment_args(command: Command) -> Command {
        // The texts of a command stand beside its flags.
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

/// Commands that have become subcommands of a program, by the names that they had.
const ALIASES: [(&str, [&str; 3]); 2] = [
    ("likelihood", ["emulate", "raxml", "likelihood"]),
    ("simulate-alignment", ["emulate", "raxml", "simulate-alignment"]),
];

/// A study of this computer has the user's program in the place of those that are here: it is a command of its own.
fn of_this_computer(words: &mut Vec<OsString>) {
    if !cfg!(target_os = "linux") || words.get(1).is_none_or(|word| word != "study") {
        return;
    }
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let flags = &words[..end];
    let apart = flags.windows(2).position(|pair| pair[0] == "--machine" && pair[1] == "host");
    let joined = flags.iter().position(|word| word == "--machine=host");
    let Some(place) = apart.or(joined) else { return };
    words.drain(place..place + if apart.is_some() { 2 } else { 1 });
    words[1] = "on-host".into();
}

/// Words with the program as the subcommand that it is: `--app NAME` names it as well, and where nothing
/// does, it is the usual one.
///
/// # Errors
/// [`Error::UnknownName`] for a program that there is not.
pub fn with_program(mut words: Vec<OsString>, cli: &Command) -> Result<Vec<OsString>> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let alias = ALIASES.iter().find(|(name, _)| words.get(1).is_some_and(|word| word == name));
    if let Some((_, now)) = alias {
        words.splice(1..2, now.map(OsString::from));
    }
    of_this_computer(&mut words);
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
