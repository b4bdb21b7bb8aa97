//! The command line: a file for each subcommand or two, flags to library calls, printing.
//!
//! Data goes to standard output or to `--out`, everything else to standard error. Exit code 0:
//! done; 1: the answer is no; 2: bad usage or input; 129, 130 or 143: ended by SIGHUP, SIGINT or
//! SIGTERM.
//!
//! The commands that run programs are there on Unix alone.

#![cfg_attr(not(unix), allow(dead_code))] // Used by these commands alone.

mod bench;
mod check_machine;
mod choice;
mod complexity;
#[cfg(unix)]
mod drivers;
mod emulate;
mod example;
mod exchange;
mod files;
mod fit;
mod input;
pub mod library;
mod look;
mod man;
#[cfg(unix)]
mod measure;
mod objective;
mod output;
mod plot;
mod predict;
#[cfg(unix)]
mod probe;
mod report;
mod scaling;
mod schedulers;
#[cfg(unix)]
mod show;
#[cfg(unix)]
mod signals;
mod spu_timing;
mod study;
#[cfg(target_os = "linux")]
mod study_host;
mod trace;
mod transaction;
#[cfg(unix)]
mod tune;
mod validate;
mod words;

use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use input::Programs;

use crate::error::{Error, Result, shortened};
use crate::table;

/// Your program takes two numbers, as ranks and threads: which two are fastest?
///
/// They are called m and p: ranks and threads of each, processes and GPUs, workers and cores. mmgp runs the
/// program at the few (m, p) that tell most, or reads the times that you have, and says which to take, how
/// sure that is, and why, by the Model of Multi-Grain Parallelism (MMGP). It checks itself by running real
/// kernels on an emulated Cell Broadband Engine.
#[derive(Parser)]
#[command(name = "mmgp", version = crate::VERSION, max_term_width = 100)]
#[command(after_help = HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const HELP: &str = "\
Examples:
  mmgp study
  mmgp predict --params pbpi-qs20 --top 5
  mmgp fit --runs runs.csv --out params.toml

`mmgp study` does everything once and needs no argument. `mmgp <COMMAND> --help` says all about a \
command.

Exit code 0: done; 1: the answer is no; 2: bad usage or input; 130: interrupted; 143: terminated; \
129: hung up, which `nohup` prevents. Colour is for terminals, and never where NO_COLOR is set.";

#[derive(Subcommand)]
enum Command {
    Study(Programs<study::Arguments>),
    #[cfg(target_os = "linux")]
    #[command(hide = true, name = "on-host")]
    StudyHost(Box<study_host::Arguments>),
    #[cfg(unix)]
    Tune(Box<tune::Arguments>),
    #[cfg(unix)]
    Measure(Box<measure::Arguments>),
    #[cfg(unix)]
    Ask(Box<drivers::AskArguments>),
    #[cfg(unix)]
    Tell(drivers::TellArguments),
    #[cfg(unix)]
    Show(show::ShowArguments),
    #[cfg(unix)]
    Compare(show::CompareArguments),
    #[cfg(unix)]
    Probe(probe::Arguments),
    Bench(bench::BenchArguments),
    Profile(Programs<bench::ProfileArguments>),
    ImportProfile(exchange::ImportArguments),
    Look(look::Arguments),
    Fit(Box<fit::Arguments>),
    Predict(predict::Arguments),
    #[command(visible_alias = "run")]
    Emulate(Programs<emulate::Arguments>),
    Complexity(Box<Programs<complexity::Arguments>>),
    Validate(Programs<validate::Arguments>),
    Schedulers(Programs<schedulers::Arguments>),
    Merge(transaction::MergeArguments),
    Scaling(scaling::Arguments),
    Plot(plot::Arguments),
    Report(report::Arguments),
    Export(exchange::ExportArguments),
    CheckMachine(check_machine::Arguments),
    SpuTiming(spu_timing::Arguments),
    Example(example::Arguments),
    Man(man::ManArguments),
    Completions(man::CompletionArguments),
}

/// The commands as help lists them, by what they are for.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Your program", &["tune", "measure", "ask", "tell", "show", "compare", "example", "probe"]),
    ("Your data", &["look", "fit", "predict", "report", "plot", "export", "import-profile"]),
    (
        "The emulated Cell",
        &[
            "study",
            "emulate",
            "bench",
            "profile",
            "validate",
            "schedulers",
            "merge",
            "scaling",
            "complexity",
            "spu-timing",
            "check-machine",
        ],
    ),
    ("mmgp itself", &["man", "completions"]),
];

/// The help of the program with its commands in groups.
fn grouped(command: clap::Command) -> clap::Command {
    let mut list = String::new();
    let width = command.get_subcommands().map(|it| it.get_name().len()).max().unwrap_or(0);
    for (group, names) in GROUPS {
        list += &format!("{group}:\n");
        for found in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            list += &format!("  {:width$}  {about}\n", found.get_name());
        }
        list.push('\n');
    }
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n";
    command.help_template(format!("{template}{list}Options:\n{{options}}{{after-help}}"))
}

/// Answer of a command that ran to its end.
#[derive(PartialEq, Eq)]
enum Answer {
    /// Yes, or what was asked for.
    Done,
    /// No: a threshold that the user set was not met.
    No,
    /// None: a signal ended it, after it had wound up.
    #[cfg(unix)]
    Signal(i32),
}

/// Says of a command that it is for Unix alone.
#[cfg(not(unix))]
fn is_for_unix(command: String) -> Option<Error> {
    let run_programs = ["tune", "measure", "ask", "tell", "show", "compare", "probe"];
    run_programs.contains(&command.as_str()).then(|| {
        Error::out_of_range(
            "command",
            command,
            "another: those that run programs are for Unix alone",
        )
    })
}

/// All commands with their flags and help, to be documented or completed.
pub fn command() -> clap::Command {
    grouped(Cli::command())
}

/// A command line, and what it says.
struct Invocation {
    words: Vec<OsString>,
    command: clap::Command,
    matches: clap::ArgMatches,
}

impl Invocation {
    /// Parses these words by [`command`], which takes a while to build.
    fn new(
        words: Vec<OsString>,
        mut command: clap::Command,
    ) -> std::result::Result<Self, clap::Error> {
        let matches = command.try_get_matches_from_mut(&words)?;
        Ok(Self { words, command, matches })
    }

    /// The command and its flags.
    fn cli(&self) -> std::result::Result<Cli, clap::Error> {
        Cli::from_arg_matches(&self.matches)
    }

    /// The subcommand with what was typed for it.
    fn subcommand(&self) -> Option<(&clap::Command, &clap::ArgMatches)> {
        let (name, matches) = self.matches.subcommand()?;
        Some((self.command.find_subcommand(name)?, matches))
    }
}

/// Runs the program that the arguments of the process ask for.
pub fn main() -> ExitCode {
    #[cfg(unix)]
    if let Some(lock) = signals::supervised() {
        return signals::supervise(&lock)
            .map_or_else(|error| failed(&error, &[]), |()| ExitCode::SUCCESS);
    }
    #[cfg(unix)]
    if let Some((mapping, number)) = tune::sample_asked() {
        return tune::run_sample(mapping, number)
            .map_or_else(|error| failed(&error, &[]), |()| ExitCode::SUCCESS);
    }
    #[cfg(not(unix))]
    if let Some(error) = std::env::args().nth(1).and_then(is_for_unix) {
        return failed(&error, &[]);
    }
    let command = command();
    let words = match input::with_program(std::env::args_os().collect(), &command) {
        Ok(words) => words,
        Err(error) => return failed(&error, &[]),
    };
    let invocation = Invocation::new(words, command).unwrap_or_else(|error| refused(error));
    #[cfg(unix)]
    let invocation = match tune::expanded(&invocation) {
        Ok(None) => invocation,
        Ok(Some(words)) => {
            Invocation::new(words, invocation.command).unwrap_or_else(|error| refused(error))
        }
        Err(error) => return failed(&error, &[]),
    };
    let cli = invocation.cli().unwrap_or_else(|error| refused(error));
    #[cfg(unix)]
    signals::obey();
    let result = run(&cli.command, &invocation);
    output::warn(&table::notes());
    match result {
        Ok(Answer::Done) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        #[cfg(unix)]
        Ok(Answer::Signal(signal)) => ExitCode::from(128 + signal as u8),
        Err(error) => failed(&input::in_flags(error), &invocation.words),
    }
}

/// Runs the command that these words ask for.
fn run(command: &Command, invocation: &Invocation) -> Result<Answer> {
    let words = &invocation.words[..];
    match command {
        Command::Study(arguments) => study::run(&arguments.0, words),
        #[cfg(target_os = "linux")]
        Command::StudyHost(arguments) => study_host::run(arguments),
        #[cfg(unix)]
        Command::Tune(arguments) => tune::run(arguments, invocation),
        #[cfg(unix)]
        Command::Measure(arguments) => measure::run(arguments, invocation),
        #[cfg(unix)]
        Command::Probe(arguments) => probe::run(arguments),
        #[cfg(unix)]
        Command::Ask(arguments) => drivers::ask(arguments, invocation),
        #[cfg(unix)]
        Command::Tell(arguments) => drivers::tell(arguments),
        #[cfg(unix)]
        Command::Show(arguments) => show::show(arguments),
        #[cfg(unix)]
        Command::Compare(arguments) => show::compare(arguments),
        Command::Bench(arguments) => bench::bench(arguments),
        Command::Profile(arguments) => bench::profile(&arguments.0),
        Command::ImportProfile(arguments) => exchange::import_profile(arguments),
        Command::Look(arguments) => look::run(arguments),
        Command::Fit(arguments) => fit::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Emulate(arguments) => emulate::run(&arguments.0),
        Command::Complexity(arguments) => complexity::run(&arguments.0),
        Command::Validate(arguments) => validate::run(&arguments.0, words),
        Command::Merge(arguments) => transaction::merge(arguments),
        Command::Schedulers(arguments) => schedulers::run(&arguments.0, words),
        Command::Scaling(arguments) => scaling::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Export(arguments) => exchange::export(arguments),
        Command::CheckMachine(arguments) => check_machine::run(arguments),
        Command::SpuTiming(arguments) => spu_timing::run(arguments),
        Command::Example(arguments) => example::run(arguments),
        Command::Man(arguments) => man::man(arguments),
        Command::Completions(arguments) => man::completions(arguments),
    }
}

/// Says what is wrong with a command line, and ends.
fn refused(error: clap::Error) -> ! {
    without_length(error).exit()
}

/// The error with arguments that are too long for a message cut as texts of files are.
fn without_length(mut error: clap::Error) -> clap::Error {
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidSubcommand, ContextKind::InvalidValue]
    {
        if let Some(ContextValue::String(text)) = error.get(kind)
            && let Cow::Owned(short) = shortened(text)
        {
            error.insert(kind, ContextValue::String(short));
            // Advice on how to pass it all the same would repeat it.
            error.remove(ContextKind::Suggested);
        }
    }
    error
}

fn failed(error: &Error, words: &[OsString]) -> ExitCode {
    match error {
        // The reader of the output has seen enough.
        Error::Write { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Error::Ambiguous { file, found, answers } => {
            let lines = output::answers(answers, words, &Cli::command());
            match lines.is_empty() {
                true => output::error(&format!("{file}: {found}")),
                false => output::error(&format!("{file}: {found}; type\n{lines}")),
            }
            ExitCode::from(2)
        }
        _ => {
            output::error(error);
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message for these arguments, which must be refused.
    fn refused(arguments: &[&str]) -> String {
        let all = ["mmgp"].into_iter().chain(arguments.iter().copied());
        let error = Cli::try_parse_from(all).err().expect("must be refused");
        without_length(error).to_string()
    }

    #[cfg(unix)]
    #[test]
    fn every_command_stands_in_one_group_of_the_help() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.sort_unstable();
        let command = Cli::command();
        // What is hidden is typed in other words.
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        let mut all: Vec<&str> = shown.map(clap::Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn long_arguments_are_quoted_in_part() {
        let long = "µ".repeat(50_000);
        for arguments in [
            ["fit", "--seed", &long],
            ["fit", "--quiet", &long],
            ["fit", &format!("--{long}"), ""],
            ["predict", "--scale", &format!("t_apu_s={long}")],
            ["predict", "--top", &long],
            [&long, "", ""],
        ] {
            let message = refused(&arguments);
            assert!(message.contains("µµ[... 49"), "{message}");
            assert!(message.chars().count() < 600, "{message}");
        }
        assert!(refused(&["fit", "--seed", "none"]).contains("'none' for '--seed <SEED>'"));
    }
}
