//! `mmgp look`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Answer;
use super::files::Guard;
use super::output::{Format, aligned, data, json, warn};
use crate::error::{Error, Result, Warning};
use crate::intake::sheet::Sheet;
use crate::intake::{Entry, Part, Plan, formats};
use crate::table::Source;
use crate::table::csv::Record as _;

/// Show how a table of timed runs is understood
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The table; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
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
    /// The unit of rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<String>,
    runs: u64,
    configurations: usize,
    warnings: Vec<String>,
    first: Vec<Row>,
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

/// A run as it was understood.
#[derive(Serialize)]
struct Row {
    m: u32,
    p: u32,
    repetition: u32,
    #[serde(flatten)]
    amount: Amount,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation_s: Option<f64>,
}

/// What was measured of a run.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Amount {
    TimeS(f64),
    Rate(f64),
}

impl Row {
    fn of(Entry { run, mean_of }: &Entry, rate: Option<&str>) -> Self {
        let (runs, deviation_s) = mean_of.unzip();
        let deviation_s = deviation_s.filter(|_| rate.is_none());
        let amount = match rate {
            None => Amount::TimeS(run.time_s),
            Some(_) => Amount::Rate(1.0 / run.time_s),
        };
        Self { m: run.m, p: run.p, repetition: run.repetition, amount, runs, deviation_s }
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.m.to_string(),
            self.p.to_string(),
            self.repetition.to_string(),
            match self.amount {
                Amount::TimeS(number) | Amount::Rate(number) => number.to_string(),
            },
        ]
    }
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    Guard::default().reads("FILE", Some(arguments.file.as_path())).check()?;
    let source = Source::read_any(&arguments.file)?;
    let claims = arguments.claims.claims();
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
    let (mut first, mut keys) = (Vec::new(), BTreeSet::new());
    let reading = plan.read(&sheet, &mut |entry: Entry| {
        if first.len() < SHOWN {
            first.push(Row::of(&entry, plan.rate()));
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
        rate: plan.rate().map(str::to_string),
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

/// The names of the columns, of times or of rates.
fn columns(look: &Look) -> [&'static str; 4] {
    let is_rate = look.rate.is_some();
    ["m", "p", "repetition", if is_rate { "rate" } else { "time_s" }]
}

fn csv(look: &Look) -> String {
    crate::table::csv::write_fields(&columns(look), look.first.iter().map(Row::cells))
}

fn text(look: &Look) -> String {
    let rows: Vec<Vec<String>> = look.first.iter().map(Row::cells).collect();
    let more = if look.runs > look.first.len() as u64 { ", the first" } else { "" };
    format!(
        "{}{} runs of {} configurations{more}:\n{}",
        lines(&look.parts),
        look.runs,
        look.configurations,
        aligned(&columns(look), &rows)
    )
}
