//! Where the files of a folder come from.

use std::path::Path;

use super::input::{self, AppArguments, MachineArguments};
use crate::apps::Application;
use crate::error::{Result, Warning};
use crate::measure::ApplicationTarget;
use crate::report::provenance::{InputFile, MachineName, Provenance};
use crate::table::Source;

/// What a page says of it.
pub fn provenance(
    (app_arguments, machine): (&AppArguments, &MachineArguments),
    app: &dyn Application,
    target: &ApplicationTarget,
    warnings: &[Warning],
) -> Result<Provenance> {
    let files = [
        (app_arguments.input.as_deref().filter(|name| input::is_file(name)), "alignment"),
        (Some(machine.machine.as_str()).filter(|name| input::is_file(name)), "machine"),
    ];
    let described = |(name, role): (Option<&str>, &str)| {
        let source = name.map(|name| Source::read(Path::new(name)));
        Ok(source.transpose()?.map(|source| InputFile::new(&source, role)))
    };
    let inputs: Vec<Option<InputFile>> = files.into_iter().map(described).collect::<Result<_>>()?;
    Ok(Provenance {
        command: Some(command(std::env::args().skip(1))),
        version: Some(crate::VERSION.into()),
        seed: Some(app_arguments.seed),
        application: Some(app.name().into()),
        machine: Some(MachineName {
            name: target.name().into(),
            description: target.description().into(),
        }),
        inputs: inputs.into_iter().flatten().collect(),
        warnings: warnings.iter().map(ToString::to_string).collect(),
    })
}

/// A command as somebody would type it again: without what changes no result.
fn command(arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["mmgp".to_string()];
    let mut arguments = arguments.peekable();
    while let Some(word) = arguments.next() {
        let flag = word.split('=').next().unwrap_or_default();
        match flag {
            "--quiet" | "--force" => {}
            "--out" | "--threads" if word == flag => drop(arguments.next()),
            "--out" | "--threads" => {}
            _ if word
                .contains(|letter: char| letter.is_whitespace() || "'\"$\\".contains(letter)) =>
            {
                words.push(format!("'{}'", word.replace('\'', "'\\''")));
            }
            _ => words.push(word),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: &str) {
        assert_eq!(command(arguments.iter().map(ToString::to_string)), expected);
    }

    #[test]
    fn a_command_is_kept_without_what_changes_no_result() {
        check(
            &["study", "--threads", "1", "--app=raxml", "--out=x", "--quiet", "--seed", "3"],
            "mmgp study --app=raxml --seed 3",
        );
        check(&["study", "--input", "my file's"], "mmgp study --input 'my file'\\''s'");
        check(&["schedulers", "--force", "--tasks=4"], "mmgp schedulers --tasks=4");
    }
}
