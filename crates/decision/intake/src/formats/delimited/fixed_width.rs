//! Columns of fixed width, which a line drawn below their names shows: a field may be empty, and a text have
//! blanks.

use mmgp_base::error::Result;

use super::header::headings;
use super::lines::{Line, LineRows, Text, field};
use super::{Format, Table};
use crate::sheet::Field;

pub(super) const FORMAT: Format = Format { name: "table of fixed width", table };

/// The table; `None` where no such line is drawn, or a text reaches over the end of its column.
pub(super) fn table<'a>(text: &Text<'a>) -> Option<Result<Table<'a>>> {
    let lines = text.first_lines();
    let (header, drawn) = (*lines.first()?, *lines.get(1)?);
    let spans = spans(drawn.text)?;
    let is_possible = |line: &Line<'a>| is_drawn(line.text) || cells(*line, &spans).is_some();
    if !lines.iter().all(is_possible) {
        return None;
    }
    let (source, width) = (text.source, spans.len());
    let columns = match headings(source, &cells(header, &spans)?) {
        Ok(columns) => columns,
        Err(error) => return Some(Err(error)),
    };
    let split = move |line: Line<'a>, fields: &mut Vec<Field<'a>>| {
        if !is_drawn(line.text) {
            match cells(line, &spans) {
                Some(cells) => fields.extend(cells),
                // That it is no row of the table is said where it is read.
                None => fields.push(field(line.text, line.at)),
            }
        }
        Ok(())
    };
    let rows = LineRows { source, start: drawn.next, width, split };
    Some(Ok(Table { columns, rows: Box::new(rows) }))
}

fn is_drawn(line: &str) -> bool {
    line.contains("--") && line.chars().all(|it| it == '-' || it.is_whitespace())
}

/// Where the columns begin and end in a line that is drawn \[letters\], at least two.
fn spans(line: &str) -> Option<Vec<(usize, usize)>> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, sign) in line.trim_end().chars().enumerate() {
        match spans.last_mut() {
            _ if sign != '-' => {}
            Some((_, end)) if *end == at => *end += 1,
            _ => spans.push((at, at + 1)),
        }
    }
    (is_drawn(line) && spans.len() > 1).then_some(spans)
}

/// The fields of a line; `None` where a text reaches over the end of its column, but for the last.
fn cells<'a>(line: Line<'a>, spans: &[(usize, usize)]) -> Option<Vec<Field<'a>>> {
    let letters: Vec<usize> = line.text.char_indices().map(|(at, _)| at).collect();
    let byte = |letter: usize| letters.get(letter).copied().unwrap_or(line.text.len());
    let last = spans.len() - 1;
    let mut end_before = 0;
    let mut cells = Vec::with_capacity(spans.len());
    for (place, &(start, end)) in spans.iter().enumerate() {
        let between = &line.text[byte(end_before)..byte(start)];
        if !between.trim().is_empty() {
            return None;
        }
        let end = if place == last { usize::MAX } else { end };
        let (start, stop) = (byte(start), byte(end));
        cells.push(field(&line.text[start..stop.max(start)], line.at + start));
        end_before = end;
    }
    Some(cells)
}
