//! Published and emulated figures, and what messages among SPEs take, as tables and pictures.

use std::path::Path;

use crate::answer::{Style, Table};
use crate::cli::plot::write_picture;
use crate::error::Result;
use crate::plot::{CurvePanel, Curves, Kind, Picture};
use crate::table::records::{MachineFigure, MessageTime};
use crate::table::{self, csv};
use crate::validate::machine::{
    Basis, CalibratedConstant, FIGURES_FOR_A_CONSTANT, MachineCheck, is_met,
};

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
pub fn messages(rows: &[MessageTime]) -> Table<&MessageTime> {
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
