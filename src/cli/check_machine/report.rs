//! Published and emulated figures as text.

use crate::cli::output::aligned;
use crate::table::records::MachineFigure;
use crate::validate::machine::{Basis, FIGURES_FOR_A_CONSTANT, MachineCheck, is_met};

/// Columns for a terminal, remarks below.
pub fn table(check: &MachineCheck) -> String {
    let widest = check.figures.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
    let cells: Vec<Vec<String>> = numbered(check)
        .map(|(row, note)| {
            let what = format!("{:<widest$}", row.what);
            let [published, emulated, error] = numbers(row);
            let note = note.map(|number| format!("[{number}]")).unwrap_or_default();
            let met = if is_met(row) { "" } else { "missed" };
            vec![what, published, emulated, row.unit.clone(), error, basis(row), met.into(), note]
        })
        .collect();
    let figure = format!("{:<widest$}", "figure");
    let header = [&figure, "published", "emulated", "unit", "error", "basis", "", ""];
    let mut text = aligned(&header, &cells);
    // What is aligned to the right may end in blanks where a column has nothing to say.
    text = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    text.push('\n');
    for (number, remark) in (1..).zip(remarks(check)) {
        text += &format!("[{number}] {remark}\n");
    }
    text + &summary(check)
}

/// A table of Markdown with the sources, remarks below.
pub fn markdown(check: &MachineCheck) -> String {
    let mut text =
        "| figure | published | emulated | error | basis | source |\n|---|--:|--:|--:|---|---|\n"
            .to_string();
    for (row, note) in numbered(check) {
        let [published, emulated, error] = numbers(row);
        let error = if is_met(row) { error } else { format!("**{error}**") };
        let note = note.map(|number| format!(" [{number}]")).unwrap_or_default();
        let cells = [
            format!("{}{note}", row.what),
            format!("{published} {}", row.unit),
            format!("{emulated} {}", row.unit),
            error,
            basis(row),
            row.source.clone(),
        ];
        text += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text.push('\n');
    for (number, remark) in (1..).zip(remarks(check)) {
        text += &format!("[{number}] {remark}\n\n");
    }
    text + &summary(check)
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

/// Published, emulated and error.
fn numbers(row: &MachineFigure) -> [String; 3] {
    let kept = !row.relation.is_empty() && row.error_percent == 0.0;
    // Not -0.0 %.
    let tenths = (10.0 * row.error_percent).round() / 10.0 + 0.0;
    let error = if kept { "kept".into() } else { format!("{tenths:+.1} %") };
    [format!("{}{}", row.relation, number(row.published)), number(row.emulated), error]
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
        let constant = |it: &crate::validate::machine::CalibratedConstant| {
            let few = if it.figures < FIGURES_FOR_A_CONSTANT { " (too few)" } else { "" };
            format!("{} by {}{few}", it.constant, it.figures)
        };
        let constants: Vec<String> = check.calibrated.iter().map(constant).collect();
        text += &format!("{}.\n", constants.join(", "));
    }
    text
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
