//! The origin of the files of a folder.

use std::ffi::OsString;
use std::path::Path;

use super::input::{self, AppArguments, MachineArguments};
use super::transaction::plain_words;
use crate::apps::Application;
use crate::error::{Result, Warning};
use crate::lab::typed;
use crate::measure::ApplicationTarget;
use crate::report::provenance::{InputFile, MachineName, Provenance};

/// What a page says of it.
pub fn provenance(
    (app_arguments, machine, words): (&AppArguments, &MachineArguments, &[OsString]),
    app: &dyn Application,
    target: &ApplicationTarget,
    warnings: &[Warning],
) -> Result<Provenance> {
    let mut files = app_arguments.files().to_vec();
    files.push(("--machine", input::machine_file(&machine.machine)));
    let described = |(flag, path): (&str, Option<&Path>)| {
        let path = path?;
        let role = flag.trim_start_matches("--");
        Some(input::source(path).map(|source| InputFile::new(&source, role)))
    };
    let inputs = files.into_iter().filter_map(described).collect::<Result<_>>()?;
    Ok(Provenance {
        command: Some(typed(&plain_words(words))),
        version: Some(crate::VERSION.into()),
        seed: Some(app_arguments.seed()),
        application: Some(app.name().into()),
        machine: Some(MachineName {
            name: target.name().into(),
            description: target.description().into(),
        }),
        inputs,
        warnings: warnings.iter().map(ToString::to_string).collect(),
    })
}
