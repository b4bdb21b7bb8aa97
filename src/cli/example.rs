//! `mmgp example`

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Answer;
use super::output::data;
use crate::error::{Error, Result};
use crate::table;

/// Write a sample program to tune, or list those there are
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
  mmgp example hybrid --out hybrid

A file that is there already is never replaced.";

/// A program with what is needed to tune it.
struct Example {
    name: &'static str,
    about: &'static str,
    files: &'static [(&'static str, &'static str)],
}

static EXAMPLES: [Example; 1] = [Example {
    name: "hybrid",
    about: "heat in a plate, by processes of several threads each: C, no MPI needed",
    files: &[
        ("hybrid.c", include_str!("../../data/examples/hybrid/hybrid.c")),
        ("tune.sh", include_str!("../../data/examples/hybrid/tune.sh")),
        ("README.md", include_str!("../../data/examples/hybrid/README.md")),
    ],
}];

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let Some(name) = &arguments.name else {
        let list = EXAMPLES.iter().map(|example| format!("{}  {}\n", example.name, example.about));
        data(None, &list.collect::<String>())?;
        return Ok(Answer::Done);
    };
    let example = named(name)?;
    let folder = arguments.out.as_deref().unwrap_or_else(|| Path::new(example.name));
    write(example, folder)?;
    data(None, &what_to_run(folder))?;
    Ok(Answer::Done)
}

fn named(name: &str) -> Result<&'static Example> {
    EXAMPLES.iter().find(|example| example.name == name).ok_or_else(|| Error::UnknownName {
        kind: "sample program",
        name: name.into(),
        known: EXAMPLES.iter().map(|example| example.name.into()).collect(),
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

fn what_to_run(folder: &Path) -> String {
    let tune = folder.join("tune.sh");
    let readme = folder.join("README.md");
    format!(
        "Written to {}. To see what would run, then to tune:\n  sh {} --dry-run\n  sh {}\n{} says \
         what to look at.\n",
        folder.display(),
        tune.display(),
        tune.display(),
        readme.display()
    )
}
