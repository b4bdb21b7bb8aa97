//! `mmgp example`

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::output::data;
use crate::error::{Error, Result};
use crate::table;

/// Write a sample to start from, or list those there are
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Which one; without it, all are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Folder for its files; without it, one of the sample's name
    #[arg(long, value_name = "DIR", requires = "name")]
    out: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  mmgp example
  mmgp example estimate
  mmgp example hybrid --out hybrid

A file that is there already is never replaced.";

/// Files to start from.
struct Example {
    name: &'static str,
    about: &'static str,
    /// Each way to run one of the files, and what that does.
    runs: &'static [(&'static str, &'static str)],
    files: &'static [(&'static str, &'static str)],
}

/// The named files of a folder below `data/examples`, as they are.
macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../data/examples/", $folder, "/", $name)))),*]
    };
}

static EXAMPLES: [Example; 2] = [
    Example {
        name: "hybrid",
        about: "a program to tune: heat in a plate, by processes of several threads each; C, no MPI needed",
        runs: &[("tune.sh --dry-run", "what would run"), ("tune.sh", "tune it")],
        files: files!("hybrid": "hybrid.c" "tune.sh" "README.md"),
    },
    Example {
        name: "estimate",
        about: "tables to estimate from: micro-benchmarks and a profile, to (m, p) without a timed run",
        runs: &[
            ("estimate.sh", "the terms, and the choice"),
            ("measure.sh", "measure all of it anew"),
        ],
        files: files!(
            "estimate": "alpha.csv" "offload.csv" "context_switch.csv" "collective.csv" "profile.csv"
                "estimate.sh" "measure.sh" "README.md"
        ),
    },
];

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let Some(name) = &arguments.name else {
        let list =
            EXAMPLES.iter().map(|example| format!("{:8}  {}\n", example.name, example.about));
        data(None, &list.collect::<String>())?;
        return Ok(Answer::Done);
    };
    let example = named(name)?;
    let folder = arguments.out.as_deref().unwrap_or_else(|| Path::new(example.name));
    write(example, folder)?;
    data(None, &what_to_run(example, folder))?;
    Ok(Answer::Done)
}

fn named(name: &str) -> Result<&'static Example> {
    EXAMPLES.iter().find(|example| example.name == name).ok_or_else(|| {
        Error::unknown_name("sample", name, EXAMPLES.iter().map(|example| example.name))
    })
}

/// All files or none: what the user may have changed is not touched.
fn write(example: &Example, folder: &Path) -> Result<()> {
    let files = example.files.iter().map(|(name, text)| (folder.join(name), text));
    let files: Vec<_> = files.collect();
    if let Some((file, _)) = files.iter().find(|(file, _)| file.exists()) {
        let source =
            io::Error::new(io::ErrorKind::AlreadyExists, "it exists; --out names a folder");
        return Err(Error::Write { file: file.clone(), source });
    }
    table::create_folder(folder)?;
    files.iter().try_for_each(|(file, text)| table::write(file, text))
}

fn what_to_run(example: &Example, folder: &Path) -> String {
    let runs = example.runs.iter().map(|(run, does)| {
        let line = format!("sh {}", folder.join(run).display());
        format!("  {line:36}  # {does}\n")
    });
    format!(
        "Written to {}. Try:\n{}{} says what to look at.\n",
        folder.display(),
        runs.collect::<String>(),
        folder.join("README.md").display()
    )
}
