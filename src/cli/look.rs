//! `mmgp look`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::objective::{column, measured};
use super::output::{Format, Reply, data, warn};
use crate::answer::{Object, Style, Table};
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
        let is_new = keys.insert(entry.run.key());
        if first.len() < SHOWN {
            first.push(entry);
        }
        is_new
    });
    let factors = plan.factors(&sheet);
    let parts: Vec<&Part> = plan.parts.iter().chain(&factors).collect();
    let reading = match reading {
        Ok(reading) => reading,
        Err(error) => return shown(error, head(&sheet) + &lines(&parts)),
    };
    let configurations: BTreeSet<(u32, u32)> = keys.iter().map(|&(m, p, _)| (m, p)).collect();
    let (runs, configurations) = (reading.runs, configurations.len());
    let more = if runs > first.len() as u64 { ", the first" } else { "" };
    let above = format!(
        "{}{}{runs} runs of {configurations} configurations{more}:\n",
        head(&sheet),
        lines(&parts)
    );
    let table = Table::of(&first)
        .column("m", Style::Plain, |it| it.run.m)
        .column("p", Style::Plain, |it| it.run.p)
        .column("repetition", Style::Plain, |it| it.run.repetition)
        .column(column(&quantity), Style::Plain, |it| quantity.number(Seconds(it.run.time_s)));
    let part = |Part { role, from, why }: &&Part| {
        Object::new().with("role", *role).with("from", from).with("why", why)
    };
    let warnings = reading.warnings.iter().map(Warning::to_string).collect::<Vec<_>>();
    let json = Object::new()
        .with("file", &source.name)
        .with("format", sheet.described())
        .with("parts", parts.iter().map(part).collect::<Vec<_>>())
        .with_some("objective", measured(&quantity))
        .with("runs", runs)
        .with("configurations", configurations)
        .with("warnings", warnings)
        .with("first", with_means(table.objects(), &first, &quantity));
    let reply = Reply { above, table, json };
    data(None, &reply.text(arguments.format))?;
    if arguments.format == Format::Table {
        warn(&reading.warnings);
    }
    Ok(Answer::Done)
}

/// Rows with what their means are of: so many runs, and how far these are apart.
fn with_means(rows: Vec<Object>, entries: &[Entry], quantity: &Quantity) -> Vec<Object> {
    let with = |(row, entry): (Object, &Entry)| match entry.mean_of {
        Some((runs, deviation_s)) => row
            .with("runs", runs)
            .with_some("deviation_s", quantity.is_time().then_some(deviation_s)),
        None => row,
    };
    rows.into_iter().zip(entries).map(with).collect()
}

/// The file and its format.
fn head(sheet: &Sheet<'_>) -> String {
    format!("{}: {}\n", sheet.origin.name(), sheet.described())
}

/// What each part is read from.
fn lines(parts: &[&Part]) -> String {
    let width = parts.iter().map(|part| part.role.len()).max().unwrap_or(0);
    let line = |Part { role, from, why }: &&Part| {
        let why = if why.is_empty() { String::new() } else { format!("  ({why})") };
        format!("  {role:<width$}  {from}{why}\n")
    };
    parts.iter().map(line).collect()
}
