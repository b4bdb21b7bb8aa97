//! Printing: data to standard output, doubts and progress to standard error.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::error::{Error, Result, Warning};
use crate::table;

/// How to print data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// Comma-separated values with a header.
    Csv,
    /// JSON.
    Json,
}

/// Writes data to `out`, or to standard output.
pub fn data(out: Option<&Path>, text: &str) -> Result<()> {
    match out {
        Some(path) => table::write(path, text),
        None => std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|source| Error::Write { file: "standard output".into(), source }),
    }
}

/// A value as JSON with a newline at its end.
pub fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("invariant: what is printed has string keys only") + "\n"
}

/// Prints doubts.
pub fn warnings(warnings: &[Warning]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}

/// A table for people: columns of numbers, aligned to the right under their headers.
pub fn aligned(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded: Vec<String> =
            cells.zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
        padded.join("  ") + "\n"
    };
    let mut text = line(&mut header.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// A line with a bar for each step of a long job, on a terminal only; nothing where `quiet`.
pub fn progress(what: &'static str, steps: u64, verbosity: Verbosity) -> ProgressBar {
    if verbosity == Verbosity::Quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:<22} {bar:30} {pos}/{len}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps).with_style(style).with_message(what)
}

/// A line that moves while a job runs whose steps cannot be counted, on a terminal only.
pub fn waiting(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what);
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    bar
}

/// Whether to tell how things go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Errors and warnings only.
    Quiet,
    /// Progress too.
    Usual,
}

impl From<bool> for Verbosity {
    /// From the flag `--quiet`.
    fn from(quiet: bool) -> Self {
        if quiet { Self::Quiet } else { Self::Usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let text = aligned(&["m", "time"], &[vec!["16".into(), "1".into()]]);
        assert_eq!(text, " m  time\n16     1\n");
    }
}
