//! Printing: data to standard output, warnings and progress to standard error.

#[cfg(feature = "progress")]
mod progress;
#[cfg(not(feature = "progress"))]
#[path = "output/no_progress.rs"]
mod progress;
mod wrapped;

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use clap::builder::Styles;
use clap::builder::styling::Style;
use serde::Serialize;

#[cfg(unix)]
pub use progress::{Spinner, spinner};
pub use progress::{progress, waiting};
pub use wrapped::wrapped;

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

/// Prints warnings.
pub fn warn(warnings: &[Warning]) {
    for warning in warnings {
        message(Styles::styled().get_invalid(), "warning", warning);
    }
}

/// Prints why a command could not do what it was asked to, as `clap` does for flags.
pub fn error(error: &Error) {
    message(Styles::styled().get_error(), "error", error);
}

/// A line on standard error whose first word is in colour where that is a terminal and neither
/// `NO_COLOR`, `CLICOLOR=0` nor `TERM=dumb` forbids it.
fn message(style: &Style, kind: &str, text: &dyn Display) {
    // Nobody may read it: work goes on.
    let _ = writeln!(anstream::stderr(), "{style}{kind}:{style:#} {text}");
}

/// A line on standard error, for whoever reads it.
pub fn line(text: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
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
