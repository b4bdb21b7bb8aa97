//! `mmgp merge`

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use super::identity::{Identity, typed};
use super::transaction::{self, FinishedShard, KeptLines};
use super::{Answer, schedulers};
use crate::error::{Error, Result};
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

/// A folder with the share that it has.
type Part<'f> = (&'f Path, FinishedShard);

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let read = |folder: &'_ PathBuf| FinishedShard::read(folder);
    let parts: Vec<Part<'_>> = arguments
        .folders
        .iter()
        .map(|folder| Ok((folder.as_path(), read(folder)?)))
        .collect::<Result<_>>()?;
    let identity = same_identity(&parts)?;
    check_all_there(&parts, identity)?;
    let folders: Vec<&Path> = parts.iter().map(|(folder, _)| *folder).collect();
    let is_of_rows = identity.command.first().is_some_and(|it| it == schedulers::COMMAND);
    let words = |out: &Path| -> Vec<OsString> {
        let mut words = vec![OsString::from("mmgp")];
        words.extend(identity.command.iter().map(OsString::from));
        words.extend([OsString::from("--out"), out.into()]);
        if let Some(threads) = arguments.threads {
            words.extend([OsString::from("--threads"), threads.to_string().into()]);
        }
        words.extend(arguments.quiet.then(|| OsString::from("--quiet")));
        words
    };
    let out = match (&arguments.out, is_of_rows) {
        (Some(out), _) => out.clone(),
        (None, true) => schedulers::FOLDER.into(),
        (None, false) => transaction::free_folder(super::study::FOLDER, identity)?,
    };
    if is_of_rows {
        schedulers::merge(&folders, &out, identity)?;
    } else {
        let mut kept = KeptLines::new();
        for folder in &folders {
            add(&mut kept, folder)?;
        }
        transaction::lay_down(&out, identity, &kept)?;
    }
    let command = super::command();
    let words = super::input::with_program(words(&out), &command)?;
    let cli = super::parsed(command, &words).map_err(|error| Error::Program {
        program: typed(&identity.command),
        why: error.to_string(),
    })?;
    super::run(&cli.command, &words)
}

/// Results of a folder, beside those of others.
fn add(kept: &mut KeptLines, folder: &Path) -> Result<()> {
    for (of, is) in transaction::kept_in(folder)? {
        match kept.get(&of) {
            Some(known) if *known != is => {
                return Err(Error::out_of_range(
                    "DIR",
                    format!("{}, which has another result of {of}", folder.display()),
                    "the same from all that have it",
                ));
            }
            _ => kept.insert(of, is),
        };
    }
    Ok(())
}

/// What all parts are of.
fn same_identity<'p>(parts: &'p [Part<'_>]) -> Result<&'p Identity> {
    let (first, rest) = parts.split_first().expect("invariant: a folder is required");
    for (folder, part) in rest {
        let of_first = &first.1.identity;
        let difference = part.identity.difference(of_first).or_else(|| {
            let [own, other] = [&part.identity, of_first].map(Identity::typed);
            (own != other).then(|| format!("the command was `{other}`, and is `{own}`"))
        });
        if let Some(difference) = difference {
            return Err(Error::out_of_range(
                "DIR",
                format!(
                    "{}, whose share is of something else than that of {}: {difference}",
                    folder.display(),
                    first.0.display()
                ),
                "shares of the same",
            ));
        }
    }
    Ok(&first.1.identity)
}

/// Refuses parts that are not all, or of different numbers of shares.
fn check_all_there(parts: &[Part<'_>], identity: &Identity) -> Result<()> {
    let shards: Vec<Shard> = parts.iter().map(|(_, part)| part.shard()).collect();
    if let Some(other) = shards.iter().find(|it| !it.is_beside(shards[0])) {
        return Err(Error::out_of_range(
            "DIR",
            format!("the shares {} and {other}", shards[0]),
            "shares of one number",
        ));
    }
    let missing: Vec<String> =
        Shard::missing_among(&shards).iter().map(ToString::to_string).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::out_of_range(
            "DIR",
            format!("no folder with share {}", missing.join(", ")),
            format!("that of `{} --shard {first}`", identity.typed()),
        )),
    }
}
