//! Programs that the command line can name: a subcommand each, with flags of its own. A further one is a file in
//! this module, a line `mod` and an entry of [`ENTRIES`].

pub mod list_ranking;
pub mod phylogeny;
mod sgemm;
pub mod sweep3d;
mod synthetic;

/// The toy of CONTRIBUTING.md, compiled and tested with the tests.
#[cfg(test)]
#[path = "../../../examples/toy_program.rs"]
mod toy_program;

use std::ffi::OsString;
use std::path::Path;

use clap::{ArgMatches, Args, Command};

use super::{HOST, PortArguments, Tool};
use crate::Mapping;
use crate::apps::Application;
use crate::cli::emulate::{self, Once, ProgramReport};
use crate::cli::{Answer, study};
use crate::complexity::Sizes;
use crate::error::{Error, Result};

/// A program with the flags that were given to it.
pub trait Program: Send + Sync {
    /// The program with its input, to be run at several mappings.
    fn read(&self) -> Result<Box<dyn Application>>;

    /// The program with an input of these sizes, `n` among them, that is made for it.
    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>>;

    /// The program for a single run, with the files that it streams to and with a report of its findings.
    fn once(&self, arguments: &emulate::Arguments) -> Result<Box<dyn Once>> {
        let _ = arguments;
        Ok(Box::new(self.read()?))
    }

    /// Seed of all random numbers; 1 where it draws none.
    fn seed(&self) -> u64 {
        1
    }

    /// Files that it reads, each with its flag.
    fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        Vec::new()
    }

    /// Whether a user named its input.
    fn has_input(&self) -> bool {
        false
    }

    /// Port of its functions to the machine, where it has several.
    fn port(&self) -> Option<&PortArguments> {
        None
    }

    /// Processes and SPEs of a run, of which neither need be given.
    fn mapping(&self, m: Option<u32>, p: Option<u32>) -> Result<Mapping> {
        Mapping::new(m.unwrap_or(1), p.unwrap_or(1))
    }

    /// Answers `mmgp study` for it.
    fn study(&self, arguments: &study::Arguments, words: &[OsString]) -> Result<Answer> {
        study::by_mapping(arguments, words)
    }

    /// Runs it on this computer; `None` where it has no version for it.
    fn on_host(&self, arguments: &emulate::Arguments) -> Option<Result<ProgramReport>> {
        let _ = arguments;
        None
    }

    /// Computes the same plainly, without a machine; `None` where nothing does.
    fn plainly(&self, arguments: &emulate::Arguments) -> Option<Result<ProgramReport>> {
        let _ = arguments;
        None
    }
}

/// A program on the command line.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// Purpose of the program, in a line.
    pub about: &'static str,
    /// Function that adds its flags to a command.
    pub add: fn(Command) -> Command,
    /// Function that reads its flags.
    pub parse: fn(&ArgMatches) -> std::result::Result<Box<dyn Program>, clap::Error>,
    /// Sizes of its input.
    pub size: Size,
    /// Ways to run it other than on an emulated machine.
    pub runs: &'static [Way],
    /// Subcommands of `emulate` beside a run.
    pub tools: &'static [Tool],
    /// Files that it leaves in the folder of `--out`, where it leaves more than a report.
    pub folder_files: &'static [&'static str],
    /// Names of values in errors of the library, each with the flag that sets it.
    pub flags: &'static [(&'static str, &'static str)],
}

impl Entry {
    /// A program with the flags of a type, which runs on emulated machines and leaves nothing but a report.
    pub const fn of<T: Args + Program + 'static>(
        name: &'static str,
        about: &'static str,
        size: Size,
    ) -> Self {
        Self {
            name,
            about,
            add: T::augment_args,
            parse: |matches| Ok(Box::new(T::from_arg_matches(matches)?)),
            size,
            runs: &[],
            tools: &[],
            folder_files: &[],
            flags: &[],
        }
    }
}

/// A way to run a program other than on an emulated machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// On this computer, to be measured.
    Host,
    /// Plainly, for what it computes.
    Plainly,
}

/// The size of a program's input, where it is counted as that grows.
pub struct Size {
    /// Things that are counted, in the plural.
    pub name: &'static str,
    /// Sizes at which a few runs take seconds.
    pub defaults: &'static [u64],
    /// Numbers of SPEs of a process that divide its work evenly.
    pub processors: &'static [u32],
    /// Further sizes that it has, by the names that [`Program::at_size`] knows.
    pub further: &'static [&'static str],
}

impl Size {
    /// A size that is the only one, of work that any number of SPEs divides evenly.
    pub const fn new(name: &'static str, defaults: &'static [u64]) -> Self {
        Self { name, defaults, processors: &[1, 2, 4, 8], further: &[] }
    }
}

/// All programs, as help lists them.
pub(super) const ENTRIES: &[Entry] = &[
    phylogeny::PBPI,
    phylogeny::RAXML,
    list_ranking::ENTRY,
    sweep3d::ENTRY,
    sgemm::ENTRY,
    synthetic::ENTRY,
];

/// Program that runs where none is named.
pub(super) const USUAL: &str = phylogeny::PBPI.name;

/// The program of that name, where there is one.
pub(super) fn known(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The program of that name.
///
/// # Errors
/// [`Error::UnknownName`] with the names that there are.
pub(super) fn entry(name: &str) -> Result<&'static Entry> {
    known(name).ok_or_else(|| {
        Error::unknown_name("application", name, ENTRIES.iter().map(|entry| entry.name))
    })
}

/// The error for a program that cannot run so, with those that can.
pub(super) fn without(name: &str, way: Way) -> Error {
    let (flag, value, otherwise) = match way {
        Way::Host => ("--machine", HOST, "an emulated machine"),
        Way::Plainly => ("--timing", "none", "cached or exact"),
    };
    let can = ENTRIES.iter().filter(|entry| entry.runs.contains(&way)).map(|entry| entry.name);
    let expected = match can.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => otherwise.to_string(),
        names => format!("{otherwise}, or one of the programs that can: {names}"),
    };
    Error::out_of_range(flag, format!("{value} for {name}"), expected)
}

/// An error of the library in the words of the command line: by the flag that sets what was refused.
pub fn in_flags(error: Error) -> Error {
    let flag = |name: &str| {
        let mut flags = ENTRIES.iter().flat_map(|entry| entry.flags);
        flags.find(|(of_library, _)| *of_library == name).map(|&(_, flag)| flag)
    };
    error.renamed(|name| flag(name).unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::pbpi::{Coupling, Pbpi, Sampling};
    use crate::apps::phylogeny::{Patterns, simulate};
    use crate::cell::KernelTiming;
    use crate::machine::Machine;

    #[test]
    fn what_the_library_refuses_is_named_by_its_flag() {
        let tree = simulate::tree(4, 0.1, 1).unwrap();
        let alignment = simulate::alignment(&tree, &simulate::names(4), 40, 1).unwrap();
        let pbpi = Pbpi::new(Patterns::compress(&alignment), None, 1, 1).unwrap();
        let rows = Coupling::new(2, 0.1, 5).and_then(|coupling| coupling.on_rows(2)).unwrap();
        let ps3 = Machine::named("ps3").unwrap();
        let on_rows = |pbpi: Pbpi| {
            let run =
                pbpi.coupled(rows).emulate(&ps3, Mapping::of(3, 1), KernelTiming::Cached, 0.0);
            run.unwrap_err()
        };
        let check = |error: Error, flag: &str| {
            assert!(!error.to_string().contains("--"), "{error}");
            let said = in_flags(error).to_string();
            assert!(said.starts_with(&format!("{flag}: found ")), "{said}");
        };
        check(Coupling::new(0, 0.1, 5).unwrap_err(), "--chains");
        check(Coupling::new(2, -0.1, 5).unwrap_err(), "--heating");
        check(Coupling::new(2, 0.1, 0).unwrap_err(), "--swap-every");
        check(Coupling::SINGLE.on_rows(2).unwrap_err(), "--rows");
        check(on_rows(pbpi.clone()), "--rows");
        check(Sampling::new(0, 0.25).unwrap_err(), "--sample-every");
        check(Sampling::new(1, 1.0).unwrap_err(), "--burn-in");
        check(pbpi.sampled(Sampling::new(9, 0.25).unwrap()).unwrap_err(), "--sample-every");
    }
}
