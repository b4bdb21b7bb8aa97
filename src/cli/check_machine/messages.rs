//! What messages among SPEs take, path by path.

use std::path::Path;

use crate::cli::output::aligned;
use crate::cli::plot::write_picture;
use crate::error::Result;
use crate::plot::{CurvePanel, Curves, Kind, Picture};
use crate::table::records::MessageTime;
use crate::table::{self, csv};

/// What a number of bytes takes on a path: half a round trip, and a rate.
const HEADER: [&str; 4] = ["path", "bytes", "half_round_trip_us", "rate_mb_per_s"];

/// Columns for a terminal; nothing where nothing was measured.
pub fn table(rows: &[MessageTime]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let cells: Vec<Vec<String>> = rows.iter().map(|row| cells(row).to_vec()).collect();
    format!("\nMessages among SPEs on the emulated machine:\n{}", aligned(&HEADER, &cells))
}

/// A table of Markdown.
pub fn markdown(rows: &[MessageTime]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let lines: String =
        rows.iter().map(|row| format!("| {} |\n", cells(row).join(" | "))).collect();
    format!("\n| {} |\n|---|--:|--:|--:|\n{lines}", HEADER.join(" | "))
}

fn cells(row: &MessageTime) -> [String; 4] {
    let rate = row.rate_bytes_per_s.0.map(|rate| format!("{:.1}", 1e-6 * rate));
    let time = format!("{:.3}", 1e6 * row.half_round_trip_s);
    [row.link.clone(), row.bytes.to_string(), time, rate.unwrap_or_default()]
}

/// The table, and a picture of it.
pub fn write_all(folder: &Path, machine: &str, rows: &[MessageTime]) -> Result<()> {
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
