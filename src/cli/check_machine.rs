//! `mmgp check-machine`

mod report;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::input::{ThreadArguments, machine};
use super::output::{Verbosity, data, json, progress};
use super::plot::write_picture;
use super::{Answer, validate};
use crate::error::Result;
use crate::machine::figures;
use crate::measure::messages::{SIZES, times};
use crate::plot::{Kind, Picture};
use crate::table::records::MessageTime;
use crate::table::{self, csv};
use crate::validate::machine::{MachineCheck, check};

/// Hold the emulated machine against what has been published about the real one
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Machine: a built-in name (qs20, qs22, ps3, roadrunner) or a TOML file, whose `name` says which figures
    /// are its own
    #[arg(value_name = "NAME|FILE", default_value = "qs20")]
    machine: String,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Folder for the files; without it, none is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fail where the error of an independent figure is above this [%]
    #[arg(long, value_name = "PERCENT", value_parser = validate::percentage)]
    fail_above: Option<f64>,
    #[command(flatten)]
    threads: ThreadArguments,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

const HELP: &str = "\
Examples:
  mmgp check-machine
  mmgp check-machine qs20 --out checked --fail-above 10
  mmgp check-machine --format markdown
  mmgp check-machine roadrunner --out paths

Prints each published figure beside what the emulated machine shows when a program measures it. \
A figure is an `input` where a constant of the machine's file was taken from it or from another \
on the same subject in the same document, `calibrated` where one was chosen to meet it, and \
`independent` otherwise: only those tell how far the machine can be trusted. Figures of one fact, \
which follow from one another, count once.

Of a machine with a network it also says what messages among SPEs take on each path, by size.

With --out it also writes machine.csv, machine.json, machine.md, machine.svg and machine.png; with \
a network messages.csv, messages.svg and messages.png. \
Exit code 1 where an independent figure is missed by more than the threshold; figures that are \
unconfirmed or disputed do not count.";

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// Comma-separated values with a header
    Csv,
    /// JSON
    Json,
    /// Markdown, as in docs/emulator/figures.md
    Markdown,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let machine = machine(&arguments.machine)?;
    let count = figures::published(&machine.name)?.len() as u64;
    if let Some(folder) = &arguments.out {
        table::create_folder(folder)?;
    }
    let bar = progress("measuring figures", count, Verbosity::from(arguments.quiet));
    let outcome = check(&machine, arguments.threads.count(), &|| bar.inc(1));
    bar.finish_and_clear();
    let outcome = outcome?;
    let paths = match machine.network {
        Some(_) => times(&machine, &SIZES, arguments.threads.count())?,
        None => Vec::new(),
    };
    if let Some(folder) = &arguments.out {
        write_all(folder, &outcome)?;
        report::write_messages(folder, &machine.name, &paths)?;
    }
    let text = match arguments.format {
        Format::Table if paths.is_empty() => report::text(&outcome),
        Format::Table => format!(
            "{}\nMessages among SPEs on the emulated machine:\n{}",
            report::text(&outcome),
            report::messages(&paths).text()
        ),
        Format::Csv => csv::write(&outcome.figures),
        Format::Json => json(&Checked { check: &outcome, messages: &paths }),
        Format::Markdown if paths.is_empty() => report::markdown(&outcome),
        Format::Markdown => {
            format!("{}\n{}", report::markdown(&outcome), report::messages(&paths).markdown())
        }
    };
    data(None, &text)?;
    match arguments.fail_above {
        Some(most) if outcome.largest_error_percent() > most => Ok(Answer::No),
        _ => Ok(Answer::Done),
    }
}

/// The figures, and of a machine with a network what messages take.
#[derive(Serialize)]
struct Checked<'a> {
    #[serde(flatten)]
    check: &'a MachineCheck,
    #[serde(skip_serializing_if = "<[MessageTime]>::is_empty")]
    messages: &'a [MessageTime],
}

fn write_all(folder: &Path, outcome: &MachineCheck) -> Result<()> {
    table::write(&folder.join("machine.csv"), csv::write(&outcome.figures))?;
    table::write(&folder.join("machine.json"), json(outcome))?;
    table::write(&folder.join("machine.md"), report::markdown(outcome))?;
    // A bound has no place in the picture.
    if outcome.figures.iter().all(|figure| !figure.relation.is_empty()) {
        return Ok(());
    }
    let title = format!("Emulated over published: {}", outcome.machine);
    let kind = Kind::Machine(&outcome.figures);
    write_picture(folder, "machine", &Picture { title: &title, kind })
}
