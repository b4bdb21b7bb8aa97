//! `mmgp check-machine`

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::input::{ThreadArguments, machine};
use super::output::{Verbosity, data, json, progress};
use super::plot::write_picture;
use super::{Answer, validate};
use crate::answer::{Style, Table};
use crate::error::Result;
use crate::machine::figures;
use crate::measure::messages::{SIZES, times};
use crate::plot::{CurvePanel, Curves, Kind, Picture};
use crate::table::records::{MachineFigure, MessageTime};
use crate::table::{self, csv};
use crate::validate::machine::{
    Basis, CalibratedConstant, FIGURES_FOR_A_CONSTANT, MachineCheck, check, is_independent, is_met,
};

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
    format: CheckFormat,
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
enum CheckFormat {
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
        write_messages(folder, &machine.name, &paths)?;
    }
    let text = match arguments.format {
        CheckFormat::Table if paths.is_empty() => text(&outcome),
        CheckFormat::Table => format!(
            "{}\nMessages among SPEs on the emulated machine:\n{}",
            text(&outcome),
            messages_table(&paths).text()
        ),
        CheckFormat::Csv => csv::write(&outcome.figures),
        CheckFormat::Json => json(&CheckWithMessages { check: &outcome, messages: &paths }),
        CheckFormat::Markdown if paths.is_empty() => markdown(&outcome),
        CheckFormat::Markdown => {
            format!("{}\n{}", markdown(&outcome), messages_table(&paths).markdown())
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
struct CheckWithMessages<'a> {
    #[serde(flatten)]
    check: &'a MachineCheck,
    #[serde(skip_serializing_if = "<[MessageTime]>::is_empty")]
    messages: &'a [MessageTime],
}

fn write_all(folder: &Path, outcome: &MachineCheck) -> Result<()> {
    table::write(&folder.join("machine.csv"), csv::write(&outcome.figures))?;
    table::write(&folder.join("machine.json"), json(outcome))?;
    table::write(&folder.join("machine.md"), markdown(outcome))?;
    // A bound has no place in the picture.
    if outcome.figures.iter().all(|figure| !figure.relation.is_empty()) {
        return Ok(());
    }
    let title = format!("Emulated over published: {}", outcome.machine);
    let kind = Kind::Machine(&outcome.figures);
    write_picture(folder, "machine", &Picture { title: &title, kind })
}

/// The figures for a terminal, remarks below.
pub fn text(check: &MachineCheck) -> String {
    let table = Table::of(numbered(check))
        .people("figure", |(row, _)| row.what.clone())
        .left()
        .people("published", |(row, _)| published(row))
        .people("emulated", |(row, _)| number(row.emulated))
        .people("unit", |(row, _)| row.unit.clone())
        .people("error", |(row, _)| error(row))
        .people("basis", |(row, _)| basis(row))
        .people("", |(row, _)| if is_met(row) { String::new() } else { "missed".into() })
        .people("", |(_, note)| note.map(|number| format!("[{number}]")).unwrap_or_default());
    table.text() + "\n" + &remarks_text(check, "\n") + &summary(check)
}

/// The figures in Markdown with the sources, remarks below.
pub fn markdown(check: &MachineCheck) -> String {
    let note = |note: Option<usize>| note.map(|number| format!(" [{number}]")).unwrap_or_default();
    let table = Table::of(numbered(check))
        .people("figure", |(row, number)| format!("{}{}", row.what, note(*number)))
        .left()
        .people("published", |(row, _)| format!("{} {}", published(row), row.unit))
        .people("emulated", |(row, _)| format!("{} {}", number(row.emulated), row.unit))
        .people(
            "error",
            |(row, _)| {
                if is_met(row) { error(row) } else { format!("**{}**", error(row)) }
            },
        )
        .people("basis", |(row, _)| basis(row))
        .left()
        .people("source", |(row, _)| row.source.clone())
        .left();
    table.markdown() + "\n" + &remarks_text(check, "\n\n") + &summary(check)
}

/// The remarks with their numbers, each with what ends it.
fn remarks_text(check: &MachineCheck, end: &str) -> String {
    let remarks = (1..).zip(remarks(check));
    remarks.map(|(number, remark)| format!("[{number}] {remark}{end}")).collect()
}

/// Each row with the number of its remark.
fn numbered(check: &MachineCheck) -> impl Iterator<Item = (&MachineFigure, Option<usize>)> {
    let remarks = remarks(check);
    check.figures.iter().map(move |row| {
        let number = remarks.iter().position(|remark| *remark == row.remark);
        (row, number.map(|index| index + 1))
    })
}

/// The remarks in the order in which they are first made.
fn remarks(check: &MachineCheck) -> Vec<&str> {
    let mut remarks = Vec::new();
    for row in check.figures.iter().filter(|row| !row.remark.is_empty()) {
        if !remarks.contains(&row.remark.as_str()) {
            remarks.push(&row.remark);
        }
    }
    remarks
}

/// A published figure, with its relation where it is a bound.
fn published(row: &MachineFigure) -> String {
    format!("{}{}", row.relation, number(row.published))
}

/// The error of an emulated figure.
fn error(row: &MachineFigure) -> String {
    if !row.relation.is_empty() && row.error_percent == 0.0 {
        return "kept".into();
    }
    // Not -0.0 %.
    let tenths = (10.0 * row.error_percent).round() / 10.0 + 0.0;
    format!("{tenths:+.1} %")
}

/// What a figure rests on, and whether it is sure to have been published so.
fn basis(row: &MachineFigure) -> String {
    match row.confirmed.as_str() {
        "no" => format!("{}, unconfirmed", row.basis),
        "disputed" => format!("{}, disputed", row.basis),
        _ => row.basis.clone(),
    }
}

/// Four significant digits, and no zeros at the end.
fn number(value: f64) -> String {
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// An error that is near what still counts as met \[%\].
const BARELY: f64 = 7.5;

fn named(row: &MachineFigure) -> String {
    format!("{} ({:+.1} %)", row.what, row.error_percent)
}

/// How many figures are met, and which constants were calibrated by how many.
fn summary(check: &MachineCheck) -> String {
    let (independent, met) = check.independent();
    let rows = check.with_basis(Basis::Independent);
    let (inputs, calibrated) =
        (check.with_basis(Basis::Input), check.with_basis(Basis::Calibrated));
    let mut text = format!(
        "{met} of {independent} distinct independent facts are met (the SPU's within 1 %, others \
         within 10 %, each by all of its figures, {rows} together). {inputs} figures are inputs, \
         {calibrated} were calibrated on.\n"
    );
    let barely = |row: &&MachineFigure| {
        is_independent(row) && row.error_percent.abs() > BARELY && is_met(row)
    };
    let barely: Vec<String> = check.figures.iter().filter(barely).map(named).collect();
    if !barely.is_empty() {
        text += &format!("Of these barely, by more than {BARELY} %: {}.\n", barely.join("; "));
    }
    if !check.calibrated.is_empty() {
        text += "Constants that were calibrated, and by how many published figures: ";
        let constant = |it: &CalibratedConstant| {
            let few = if it.figures < FIGURES_FOR_A_CONSTANT { " (too few)" } else { "" };
            format!("{} by {}{few}", it.constant, it.figures)
        };
        let constants: Vec<String> = check.calibrated.iter().map(constant).collect();
        text += &format!("{}.\n", constants.join(", "));
    }
    text
}

/// What messages take, by path and size: half a round trip, and a rate.
pub fn messages_table(rows: &[MessageTime]) -> Table<&MessageTime> {
    Table::of(rows)
        .people("path", |row| row.link.clone())
        .left()
        .people("bytes", |row| row.bytes.to_string())
        .people("half_round_trip_us", |row| {
            Style::Times(1e6, 3).shown(&row.half_round_trip_s.into())
        })
        .people("rate_mb_per_s", |row| {
            row.rate_bytes_per_s.0.map_or_else(String::new, |rate| format!("{:.1}", 1e-6 * rate))
        })
}

/// The table, and a picture of it.
pub fn write_messages(folder: &Path, machine: &str, rows: &[MessageTime]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    table::write(&folder.join("messages.csv"), csv::write(rows))?;
    let curves = curves(rows);
    let title = format!("Messages among SPEs of {machine}, emulated");
    write_picture(folder, "messages", &Picture { title: &title, kind: Kind::Curves(&curves) })
}

/// Time and rate by size, a curve for each path.
fn curves(rows: &[MessageTime]) -> Curves {
    let mut names: Vec<String> = rows.iter().map(|row| row.link.clone()).collect();
    names.dedup();
    let series = |value: fn(&MessageTime) -> Option<f64>| {
        let of_path = |name: &String| {
            let own = rows.iter().filter(|row| row.link == *name && row.bytes > 0);
            own.filter_map(|row| Some((row.bytes as u32, value(row)?))).collect()
        };
        names.iter().map(of_path).collect()
    };
    let panel = |caption: &str, quantity: &str, series| CurvePanel {
        caption: caption.into(),
        quantity: quantity.into(),
        series,
    };
    Curves {
        panels: vec![
            panel("half a round trip", "time_s", series(|row| Some(row.half_round_trip_s))),
            panel(
                "messages that follow one another",
                "rate [MB/s]",
                series(|row| row.rate_bytes_per_s.0.map(|rate| 1e-6 * rate)),
            ),
        ],
        names,
        x_title: "bytes".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_four_digits_that_count() {
        let cases = [(25.571_43, "25.57"), (8.0, "8"), (842.01, "842"), (0.0312, "0.0312")];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
        assert_eq!(number(12_345.6), "12346");
    }
}
