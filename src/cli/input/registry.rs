//! The programs that can be named: for each, how its arguments are read. A program that is added is
//! added here.

use std::ffi::OsString;

use super::{AppArguments, HOST, list_ranking, pbpi, raxml, sgemm, sweep3d, synthetic};
use crate::Mapping;
use crate::apps::Application;
use crate::cli::emulate::{self, NativeReport, Once};
use crate::cli::{Answer, study};
use crate::complexity::Sizes;
use crate::error::{Error, Result};

/// Runs a program on this computer.
pub type Native = fn(&AppArguments, &emulate::Arguments) -> Result<Box<dyn NativeReport>>;

/// A program on the command line.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// The program with its input, for whatever runs it at several mappings.
    pub read: fn(&AppArguments) -> Result<Box<dyn Application>>,
    /// The same for a single run, with what that streams to files and prints.
    pub once: fn(&AppArguments, &emulate::Arguments) -> Result<Box<dyn Once>>,
    /// What its input is measured by.
    pub size: Size,
    /// What answers `mmgp study` for it.
    pub study: fn(&study::Arguments, &[OsString]) -> Result<Answer>,
    /// How it runs on this computer, where it has a version for it.
    pub native: Option<Native>,
    /// What computes the same plainly, without a machine, where it has that.
    pub plain: Option<Native>,
    /// The processes and SPEs of a run of which perhaps one of them is named.
    pub mapping: fn(&AppArguments, Option<u32>, Option<u32>) -> Result<Mapping>,
    /// What it leaves in the folder of `--out`, where it leaves more than a report.
    pub folder_files: &'static [&'static str],
    /// What the library calls what its flags set, and the flags.
    pub flags: &'static [(&'static str, &'static str)],
}

/// One process with one SPE, where nobody says more.
pub fn single(_: &AppArguments, m: Option<u32>, p: Option<u32>) -> Result<Mapping> {
    Mapping::new(m.unwrap_or(1), p.unwrap_or(1))
}

/// Numbers of SPEs for a program that any of them suits.
pub const PROCESSORS: [u32; 4] = [1, 2, 4, 8];

/// The size of a program's input, where it is counted as that grows.
pub struct Size {
    /// What is counted, in the plural.
    pub name: &'static str,
    /// Sizes at which a few runs take seconds.
    pub defaults: &'static [u64],
    /// Numbers of SPEs of a process that divide its work evenly.
    pub processors: &'static [u32],
    /// Further sizes that it has, by the names that [`Size::at`] knows.
    pub further: &'static [&'static str],
    /// The program with an input of these sizes, `n` among them, that is made for it.
    pub at: fn(&AppArguments, &Sizes) -> Result<Box<dyn Application>>,
}

const ENTRIES: [Entry; 6] = [
    pbpi::ENTRY,
    raxml::ENTRY,
    list_ranking::ENTRY,
    sweep3d::ENTRY,
    sgemm::ENTRY,
    synthetic::ENTRY,
];

/// The program of that name.
///
/// # Errors
/// [`Error::UnknownName`] with the names that there are.
pub fn entry(name: &str) -> Result<&'static Entry> {
    const { &ENTRIES }.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known = ENTRIES.iter().map(|entry| entry.name.to_string()).collect();
        Error::UnknownName { kind: "application", name: name.into(), known }
    })
}

/// How the program of that name runs on this computer.
///
/// # Errors
/// [`Error::UnknownName`] as [`entry`], and [`Error::OutOfRange`] with the names of those that can.
pub fn native(name: &str) -> Result<Native> {
    let has = |entry: &Entry| entry.native;
    one_that_can(name, has, ["--machine", HOST, "an emulated machine"])
}

/// How what the program of that name computes is computed plainly.
///
/// # Errors
/// As [`native`].
pub fn plain(name: &str) -> Result<Native> {
    let has = |entry: &Entry| entry.plain;
    one_that_can(name, has, ["--timing", "none", "cached or exact"])
}

/// What the program has of something that not all of them have, which was asked for by a flag and
/// its value; `otherwise` is what any program can do.
fn one_that_can(
    name: &str,
    has: impl Fn(&Entry) -> Option<Native>,
    [flag, value, otherwise]: [&'static str; 3],
) -> Result<Native> {
    has(entry(name)?).ok_or_else(|| {
        let can = ENTRIES.iter().filter(|entry| has(entry).is_some()).map(|entry| entry.name);
        let expected = match can.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => otherwise.to_string(),
            names => format!("{otherwise}, or one of the programs that can: {names}"),
        };
        Error::OutOfRange { name: flag, found: format!("{value} for --app {name}"), expected }
    })
}

/// An error of the library in the words of the command line: by the flag that sets what was refused.
pub fn in_flags(error: Error) -> Error {
    let flag = |name: &str| {
        let mut flags = ENTRIES.iter().flat_map(|entry| entry.flags);
        flags.find(|(of_library, _)| *of_library == name).map(|&(_, flag)| flag)
    };
    match error {
        Error::OutOfRange { name, found, expected } => {
            Error::OutOfRange { name: flag(name).unwrap_or(name), found, expected }
        }
        other => other,
    }
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
