//! `mmgp look`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Answer;
use super::files::Guard;
use super::objective::{Fields, column};
use super::output::{Format, aligned, data, json, warn};
use crate::error::{Error, Result, Warning};
use crate::intake::sheet::Sheet;
use crate::intake::{Entry, Part, Plan, formats};
use crate::quantity::Quantity;
use crate::table::Source;
use crate::table::csv::Record as _;
use crate::units::Seconds;

/// Show how a table of timed runs is understood
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The table; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What is measured, where that is no time: a column, or an expression over columns, time, m and p:
    /// joules, work/time, 'max score'
    #[arg(long, value_name = "WHAT")]
    objective: Option<String>,
    #[command(flatten)]
    claims: super::input::ClaimArguments,
    /// How to print it
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

const HELP: &str = "\
Examples:
  mmgp look jobs.csv
  mmgp look jobs.csv --columns m=ranks,p=cores/ranks
  mmgp look results.json --filter 'N == 10000'

It prints the format, which column is what and why, the unit of the time, the rows that are left out \
and why, and the first runs as they were understood. `fit`, `predict`, `plot` and `report` read a table \
in the same way.";

/// Runs that are shown.
const SHOWN: usize = 8;

/// How a table is understood.
#[derive(Serialize)]
struct Look {
    file: String,
    format: String,
    parts: Vec<Told>,
    /// What was measured, where that is no time.
    #[serde(skip_serializing_if = "Quantity::is_time")]
    objective: Quantity,
    runs: u64,
    configurations: usize,
    warnings: Vec<String>,
    first: Vec<Fields>,
}

/// What a part of a run is read from.
#[derive(Serialize)]
struct Told {
    role: &'static str,
    from: String,
    why: String,
}

impl Told {
    fn of(Part { role, from, why }: &Part) -> Self {
        Self { role, from: from.clone(), why: why.clone() }
    }
}

/// A run as it was understood: m, p, repetition and what was measured, then what a mean is of.
fn row(Entry { run, mean_of }: &Entry, quantity: &Quantity) -> Fields {
    let fields = Fields::default()
        .with("m", run.m)
        .with("p", run.p)
        .with("repetition", run.repetition)
        .with(column(quantity), quantity.number(Seconds(run.time_s)));
    match mean_of {
        Some((runs, deviation_s)) if quantity.is_time() => {
            fields.with("runs", *runs).with("deviation_s", *deviation_s)
        }
        Some((runs, _)) => fields.with("runs", *runs),
        None => fields,
    }
}

/// So many fields of a row are shown to people.
const SHOWN_OF_ROW: usize = 4;

fn cells(row: &Fields) -> Vec<String> {
    row.texts().into_iter().take(SHOWN_OF_ROW).collect()
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    Guard::default().reads("FILE", Some(arguments.file.as_path())).check()?;
    let source = Source::read_any(&arguments.file)?;
    let mut claims = arguments.claims.claims();
    claims.objective = arguments.objective.clone();
    let sheet = formats::sheet(&source, &claims.columns)?;
    // What is refused is shown as far as it was understood.
    let shown = |error: Error, head: String| -> Result<Answer> {
        if matches!(arguments.format, Format::Table) {
            data(None, &head)?;
        }
        Err(error)
    };
    let plan = match Plan::of(&sheet, &claims) {
        Ok(plan) => plan,
        Err(error) => {
            let names: Vec<&str> = sheet.columns.iter().map(|it| it.name.as_str()).collect();
            let head = format!("{}  columns  {}\n", head(&sheet), names.join(", "));
            return shown(error, head);
        }
    };
    let quantity = plan.quantity();
    let (mut first, mut keys) = (Vec::new(), BTreeSet::new());
    let reading = plan.read(&sheet, &mut |entry: Entry| {
        if first.len() < SHOWN {
            first.push(row(&entry, &quantity));
        }
        keys.insert(entry.run.key())
    });
    let factors = plan.factors(&sheet);
    let parts: Vec<Told> = plan.parts.iter().chain(&factors).map(Told::of).collect();
    let reading = match reading {
        Ok(reading) => reading,
        Err(error) => return shown(error, head(&sheet) + &lines(&parts)),
    };
    let configurations: BTreeSet<(u32, u32)> = keys.iter().map(|&(m, p, _)| (m, p)).collect();
    let look = Look {
        file: source.name.clone(),
        format: sheet.described(),
        parts,
        objective: quantity,
        runs: reading.runs,
        configurations: configurations.len(),
        warnings: reading.warnings.iter().map(Warning::to_string).collect(),
        first,
    };
    match arguments.format {
        Format::Json => data(None, &json(&look))?,
        Format::Csv => data(None, &csv(&look))?,
        Format::Table => {
            data(None, &(head(&sheet) + &text(&look)))?;
            warn(&reading.warnings);
        }
    }
    Ok(Answer::Done)
}

/// The file and its format.
fn head(sheet: &Sheet<'_>) -> String {
    format!("{}: {}\n", sheet.source.name, sheet.described())
}

/// What each part is read from.
fn lines(parts: &[Told]) -> String {
    let width = parts.iter().map(|part| part.role.len()).max().unwrap_or(0);
    let line = |Told { role, from, why }: &Told| {
        let why = if why.is_empty() { String::new() } else { format!("  ({why})") };
        format!("  {role:<width$}  {from}{why}\n")
    };
    parts.iter().map(line).collect()
}

/// The names of the columns, of times or of what was measured.
fn columns(look: &Look) -> [&'static str; 4] {
    ["m", "p", "repetition", column(&look.objective)]
}

fn csv(look: &Look) -> String {
    crate::table::csv::write_fields(&columns(look), look.first.iter().map(cells))
}

fn text(look: &Look) -> String {
    let rows: Vec<Vec<String>> = look.first.iter().map(cells).collect();
    let more = if look.runs > look.first.len() as u64 { ", the first" } else { "" };
    format!(
        "{}{} runs of {} configurations{more}:\n{}",
        lines(&look.parts),
        look.runs,
        look.configurations,
        aligned(&columns(look), &rows)
    )
}
