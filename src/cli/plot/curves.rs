//! `mmgp plot --kind curves`: columns of any table.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Result};
use crate::plot::{CurvePanel, Curves};
use crate::table::Source;
use crate::table::csv::Reader;

/// What is drawn of a table.
#[derive(Args)]
pub struct CurveArguments {
    /// Table for --kind curves: a CSV file
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Column of counts
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
    /// Columns of values, a panel for each; names that end with _s are times
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    y: Vec<String>,
    /// Column with a curve for each of its values
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Column with a panel for each of its values
    #[arg(long, value_name = "COLUMN")]
    panel: Option<String>,
}

/// A row: panel, curve, count and values.
struct CurveRow {
    panel: String,
    curve: String,
    count: u32,
    values: Vec<f64>,
}

impl CurveArguments {
    /// The curves.
    pub fn read(&self) -> Result<Curves> {
        let needed = |flag: &str| {
            Error::too_little(
                "plot --kind curves",
                format!("no {flag}"),
                "give --table FILE, --x COLUMN and --y COLUMN",
            )
        };
        let table = self.table.as_ref().ok_or_else(|| needed("--table"))?;
        let x = self.x.as_ref().ok_or_else(|| needed("--x"))?;
        if self.y.is_empty() {
            return Err(needed("--y"));
        }
        let rows = self.rows(&Source::read(table)?, x)?;
        let distinct = |of: fn(&CurveRow) -> &String| {
            let mut names: Vec<&String> = Vec::new();
            rows.iter().map(of).for_each(|name| {
                if !names.contains(&name) {
                    names.push(name);
                }
            });
            names
        };
        let (names, panels) = (distinct(|row| &row.curve), distinct(|row| &row.panel));
        let panel = |(value, quantity): (usize, &String), name: &String| {
            let series = names.iter().map(|curve| {
                let here = rows.iter().filter(|row| row.panel == *name && row.curve == **curve);
                let mut points: Vec<(u32, f64)> =
                    here.map(|row| (row.count, row.values[value])).collect();
                points.sort_by_key(|point| point.0);
                points
            });
            let series = series.collect();
            let caption = match &self.panel {
                Some(column) => format!("{column} = {name}"),
                None => quantity.trim_end_matches("_s").replace('_', " "),
            };
            CurvePanel { caption, quantity: quantity.clone(), series }
        };
        let quantities = self.y.iter().enumerate();
        let panels = quantities.flat_map(|own| panels.iter().map(move |name| panel(own, name)));
        Ok(Curves {
            panels: panels.collect(),
            names: names.into_iter().cloned().collect(),
            x_title: x.replace('_', " "),
        })
    }

    /// The rows of the table.
    fn rows(&self, source: &Source, x: &str) -> Result<Vec<CurveRow>> {
        let named = [self.by.as_deref(), self.panel.as_deref()];
        let columns: Vec<&str> = std::iter::once(x)
            .chain(self.y.iter().map(String::as_str))
            .chain(named.into_iter().flatten())
            .collect();
        let mut reader = Reader::new(source, &columns, &[])?;
        let first_name = 1 + self.y.len();
        let place = |wanted: usize| {
            let before = named[..wanted].iter().flatten().count();
            named[wanted].map(|_| first_name + before)
        };
        let [curve, panel] = [place(0), place(1)];
        let mut rows = Vec::new();
        while let Some(row) = reader.next_row()? {
            let word = |column: Option<usize>| {
                column.map_or_else(String::new, |column| row.text(column).to_string())
            };
            let values = (1..first_name).map(|column| row.number(column));
            rows.push(CurveRow {
                count: row.count(0, 1)?,
                values: values.collect::<Result<_>>()?,
                curve: word(curve),
                panel: word(panel),
            });
        }
        if rows.is_empty() { Err(reader.no_rows()) } else { Ok(rows) }
    }
}
