//! `mmgp merge`

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::output::Verbosity;
use super::transaction::in_flags;
use super::{Answer, schedulers};
use crate::error::{Error, Result};
use crate::lab::transaction::{Shares, free_folder};
use crate::measure::Shard;

/// Make the whole of the folders that commands with --shard left
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
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

pub fn run(arguments: &Arguments) -> Result<Answer> {
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
    let cli = super::parsed(command, &words)
        .map_err(|error| Error::Program { program: identity.typed(), why: error.to_string() })?;
    super::run(&cli.command, &words)
}
