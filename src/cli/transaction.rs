//! What commands that leave results in a folder have in common: flags, what the results are of, and
//! where they come from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _};

use super::files::Guard;
use super::input::{self, AppArguments, MachineArguments};
use super::output::{Verbosity, data};
use super::{Answer, Cli, schedulers};
use crate::apps::Application;
use crate::error::{Error, Result, Warning};
use crate::lab::study::Study;
use crate::lab::transaction::{
    Earlier, FOLDER_OF_RESULTS, FOLDER_OF_SHARE, FinishedShard, Shares, free_folder,
};
use crate::lab::{Identity, typed};
use crate::measure::{ApplicationTarget, Shard};
use crate::report::provenance::{InputFile, MachineName, Provenance};

/// What a command is told of its folder.
#[derive(Args)]
pub struct TransactionArguments {
    /// Run a share of the configurations, as 3/8, and leave the rest to others;
    /// merge then makes the whole of the folders
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Discard what is not finished in the folder, or is of another command
    #[arg(long)]
    force: bool,
}

impl TransactionArguments {
    /// A study in the folder that is named, or in the usual one; what `guard` has must not be written
    /// over by these files.
    ///
    /// # Errors
    /// As [`Guard::check`], and those of reading.
    pub fn study(
        &self,
        (out, usual): (Option<&Path>, &str),
        identity: Identity,
        (guard, files): (Guard, &[&str]),
        verbosity: Verbosity,
    ) -> Result<Study> {
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        let earlier = if self.force { Earlier::Discarded } else { Earlier::Kept };
        let folder: PathBuf = match out {
            Some(folder) => folder.into(),
            None if shard.is_whole() => free_folder(usual, &identity, &verbosity)?,
            None => free_folder(&shard.folder(usual), &identity, &verbosity)?,
        };
        guard.writes_into("--out", &folder, files).check()?;
        Ok(Study { shard, earlier, ..Study::new(&folder, identity) })
    }
}

/// Says that a share is finished, and what to do with it.
pub fn finished(share: &FinishedShard, folder: &Path, verbosity: Verbosity) -> Result<Answer> {
    if verbosity == Verbosity::Usual {
        let told = format!(
            "Share {} of `{}` is in {}. `mmgp merge DIR...`, with the folders of all shares, makes the \
             whole of them.\n",
            share.shard(),
            share.identity.typed(),
            folder.display()
        );
        data(None, &told)?;
    }
    Ok(Answer::Done)
}

/// An error of the library about folders of results, by the flags of commands that have them.
pub fn in_flags(error: Error) -> Error {
    match error {
        Error::OutOfRange { name: FOLDER_OF_RESULTS, found, expected } => {
            Error::out_of_range("--out", found, expected.replace("or to ", "or --force to "))
        }
        Error::OutOfRange { name: FOLDER_OF_SHARE, found, expected } => {
            Error::out_of_range("DIR", found, expected)
        }
        other => other,
    }
}

/// Flags of every command that change no result.
const NEVER_ASKED: [&str; 8] =
    ["out", "force", "shard", "threads", "quiet", "help", "help-all", "version"];

/// What a command asks, by the value of every flag that may change a result, the content of the files
/// that are read for a flag, and the program's version. `not_asked` are further flags that choose
/// among results, or say what is done with them.
///
/// # Errors
/// [`Error::Read`].
pub fn identity(
    words: &[OsString],
    files: &[(&'static str, Option<&Path>)],
    not_asked: &[&str],
) -> Result<Identity> {
    let mut of = vec![("version".to_string(), crate::VERSION.to_string())];
    let command = Cli::command();
    let matches = command.clone().try_get_matches_from(words);
    let matches = matches.expect("invariant: the arguments were understood before");
    let (mut command, mut matches) = (&command, &matches);
    // A program is a subcommand of a command.
    while let Some((name, inner)) = matches.subcommand() {
        command = command.find_subcommand(name).expect("invariant: it has a name");
        matches = inner;
    }
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if NEVER_ASKED.contains(&id) || not_asked.contains(&id) {
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        let values: Vec<String> = values.map(|it| it.to_string_lossy().into_owned()).collect();
        of.push((format!("--{}", argument.get_long().unwrap_or(id)), values.join(",")));
    }
    for (flag, path) in files {
        let Some(path) = path else { continue };
        let file = InputFile::new(&*input::source(path)?, flag);
        of.push((format!("the file of {flag}"), file.sha256));
    }
    Ok(Identity::new(&of).asked_by(plain_words(words)))
}

/// The words of a command after the program's name, without what changes no result.
pub fn plain_words(words: &[OsString]) -> Vec<String> {
    let mut plain = Vec::new();
    let mut words = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = words.next() {
        let flag = word.split('=').next().unwrap_or_default();
        match flag {
            "--quiet" | "--force" => {}
            "--out" | "--threads" | "--shard" if word == flag => drop(words.next()),
            "--out" | "--threads" | "--shard" => {}
            _ => plain.push(word),
        }
    }
    plain
}

/// What a page says of the origin of its files.
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

/// Make the whole of the folders that commands with --shard left
#[derive(Args)]
#[command(after_help = HELP)]
pub struct MergeArguments {
    /// The folders, each of one share; together they have all shares
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Folder for the files; without it, that of the command
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads of this computer to use; without it, all
    #[arg(long, value_name = "N")]
    threads: Option<std::num::NonZeroUsize>,
    /// No progress, no summary
    #[arg(long)]
    quiet: bool,
}

const HELP: &str = "\
Examples:
  mmgp merge mmgp-study-shard-1-of-2 mmgp-study-shard-2-of-2
  mmgp merge part-1 part-2 part-3 --out whole

The shares of a study, a validation or a comparison of schedulers may be run on as many computers, by \
any batch system, as `mmgp study --shard 1/2` on one and `mmgp study --shard 2/2` on another. In an \
array of jobs of Slurm, each is $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT.

What comes out is what the command without --shard makes, to the byte: it runs again here, with all \
results that the folders have. The files that it reads must be at hand and the same.";

pub fn merge(arguments: &MergeArguments) -> Result<Answer> {
    let shares = Shares::read(&arguments.folders).map_err(in_flags)?;
    let (identity, missing) = (shares.identity(), shares.missing());
    if let Some(first) = missing.first() {
        let missing: Vec<String> = missing.iter().map(Shard::to_string).collect();
        let found = format!("no folder with share {}", missing.join(", "));
        let expected = format!("that of `{} --shard {first}`", identity.typed());
        return Err(Error::out_of_range("DIR", found, expected));
    }
    let is_of_rows = identity.command.first().is_some_and(|it| it == schedulers::COMMAND);
    let verbosity = Verbosity::from(arguments.quiet);
    let out = match (&arguments.out, is_of_rows) {
        (Some(out), _) => out.clone(),
        (None, true) => schedulers::FOLDER.into(),
        (None, false) => free_folder(super::study::FOLDER, identity, &verbosity)?,
    };
    if is_of_rows {
        schedulers::merge(&shares, &out)?;
    } else {
        shares.lay_down(&out, &verbosity).map_err(in_flags)?;
    }
    let mut words = vec![OsString::from("mmgp")];
    words.extend(identity.command.iter().map(OsString::from));
    words.extend([OsString::from("--out"), out.into()]);
    if let Some(threads) = arguments.threads {
        words.extend([OsString::from("--threads"), threads.to_string().into()]);
    }
    words.extend(arguments.quiet.then(|| OsString::from("--quiet")));
    let command = super::command();
    let words = super::input::with_program(words, &command)?;
    let invocation = super::Invocation::new(words, command);
    let parsed = invocation.and_then(|it| Ok((it.cli()?, it)));
    let (cli, invocation) = parsed
        .map_err(|error| Error::Program { program: identity.typed(), why: error.to_string() })?;
    super::run(&cli.command, &invocation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> Vec<OsString> {
        ["mmgp"].iter().chain(arguments).map(OsString::from).collect()
    }

    fn asked(arguments: &[&str]) -> Identity {
        let all = words(&[&["schedulers"], arguments].concat());
        identity(&all, &[], &["workers", "tasks"]).unwrap()
    }

    #[test]
    fn results_are_of_every_flag_that_may_change_one_however_it_is_written() {
        let of = asked(&["synthetic", "--seed", "3"]);
        let of = |name: &str| of.value(name);
        assert_eq!(of("version"), Some(crate::VERSION));
        assert_eq!((of("--app"), of("--seed")), (Some("synthetic"), Some("3")));
        // What is given by default, and nothing of programs that do not run.
        assert_eq!((of("--machine"), of("--task-us")), (Some("qs20"), Some("96")));
        assert_eq!((of("--spes-per-task"), of("--tree")), (Some("1"), None));
        let same = ["synthetic", "--seed=3", "--machine", "qs20", "--force", "--workers=2"];
        let with_others =
            [&same[..], &["--out", "x", "--quiet", "--threads=1", "--tasks=4"]].concat();
        assert_eq!(asked(&with_others).difference(&asked(&["synthetic", "--seed", "3"])), None);
        let (one, other) = (asked(&["pbpi", "--seed", "3"]), asked(&["pbpi", "--seed", "4"]));
        assert!(one.difference(&other).is_some());
    }

    #[test]
    fn a_command_is_kept_without_what_changes_no_result() {
        let check = |arguments: &[&str], expected: &str| {
            assert_eq!(typed(&plain_words(&words(arguments))), expected);
        };
        check(
            &["study", "raxml", "--threads", "1", "--out=x", "--quiet", "--seed", "3"],
            "mmgp study raxml --seed 3",
        );
        check(&["study", "--input", "my file's"], "mmgp study --input 'my file'\\''s'");
        check(&["schedulers", "--force", "--tasks=4"], "mmgp schedulers --tasks=4");
        check(&["validate", "--shard=1/2", "--params", "x"], "mmgp validate --params x");
    }
}
