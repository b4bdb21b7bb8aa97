//! Columns between blanks: what is aligned, and what gnuplot and R read.

use std::borrow::Cow;

use mmgp_base::error::Result;

use super::lines::{Layout, Line, Record, Text, fields_of, headings, is_number};
use super::separated::has_decimals;
use super::{LineFormat, LineTable};
use crate::sheet::{Field, Heading, unnamed};

pub(super) const FORMAT: LineFormat = LineFormat { name: "table with blanks", table };

/// What separates columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// A tab, or two blanks and more.
    Wide,
    Any,
}

/// Whether blanks separate the columns of a text; `sign` is what else may, of which the header has some.
pub(super) fn are_between(text: &Text<'_>, sign: Option<u8>) -> bool {
    let mut rows = text.first_lines().into_iter().skip(1);
    let Some((gap, _)) = gap(text) else { return false };
    match sign {
        None => true,
        Some(b'\t') => gap == Gap::Wide,
        Some(sign) => !rows.any(|row| row.text.as_bytes().contains(&sign)),
    }
}

/// Whether blanks separate numbers, commas of which stand before decimals.
pub(super) fn are_between_decimals(text: &Text<'_>) -> bool {
    gap(text).is_some_and(|(_, layout)| {
        let are_numbers = layout.rows.iter().flatten().all(|field| is_number(&field.text));
        layout.is_even() && are_numbers && has_decimals(&layout)
    })
}

fn table<'a>(text: &Text<'a>) -> Option<Result<LineTable<'a>>> {
    let (gap, layout) = gap(text)?;
    let source = text.source;
    let columns = layout.check_names(source).and_then(|()| {
        let mut columns = headings(source, &layout.names)?;
        if has_index(&layout) {
            columns.insert(0, Heading { name: unnamed(0), at: text.first().at });
        }
        Ok(columns)
    });
    Some(LineTable::of_lines(source, columns, layout.rows_at, move |line, fields| {
        gap.split(line, fields);
        Ok(())
    }))
}

/// What separates the columns, if blanks do, and the first lines by it: all of the rows have as many fields
/// as the header, or at least half of them.
fn gap<'a>(text: &Text<'a>) -> Option<(Gap, Layout<'a>)> {
    let is_possible = |(gap, layout): &(Gap, Layout<'a>)| {
        *gap == Gap::Any || !layout.rows.iter().flatten().any(is_of_numbers)
    };
    let layouts = [Gap::Wide, Gap::Any].map(|gap| (gap, gap.layout(text)));
    let mut possible: Vec<_> = layouts.into_iter().filter(is_possible).collect();
    let even = possible.iter().position(|(_, layout)| layout.is_even() || has_index(layout));
    let half = || possible.iter().position(|(_, layout)| is_even_in_half(layout));
    even.or_else(half).map(|place| possible.swap_remove(place))
}

fn is_even_in_half(layout: &Layout<'_>) -> bool {
    let width = layout.names.len();
    let even = layout.rows.iter().filter(|row| row.len() == width).count();
    width > 1 && even >= 1 && 2 * even >= layout.rows.len()
}

/// Whether a field has several numbers with blanks between them.
fn is_of_numbers(field: &Field<'_>) -> bool {
    let mut words = field.text.split_whitespace();
    words.clone().count() > 1 && words.all(is_number)
}

/// Whether rows have one field more than the header, the first, which numbers them, as pandas and R
/// print them.
fn has_index(layout: &Layout<'_>) -> bool {
    let width = layout.names.len() + 1;
    let number =
        |row: &Vec<Field<'_>>| row.first().and_then(|field| field.text.parse::<usize>().ok());
    let Some(first @ (0 | 1)) = layout.rows.first().and_then(number) else { return false };
    let is_next = |(index, row): (usize, &Vec<Field<'_>>)| {
        row.len() == width && number(row) == Some(first + index)
    };
    layout.rows.len() > 1 && layout.rows.iter().enumerate().all(is_next)
}

impl Gap {
    fn layout<'a>(self, text: &Text<'a>) -> Layout<'a> {
        let fields = |line: Line<'a>| fields_of(|fields| self.split(line, fields));
        let record = |line: Line<'a>| Record { fields: fields(line), end: line.next };
        let records = text.first_lines().into_iter().map(record);
        Layout::of(text, records.filter(|record| !record.fields.is_empty()).collect(), fields)
    }

    /// The fields of a line; none of a line that is drawn below a header.
    pub fn split<'a>(self, line: Line<'a>, fields: &mut Vec<Field<'a>>) {
        let text = line.text;
        let has_line = text.contains("--") || text.contains("==");
        if has_line && text.chars().all(|it| matches!(it, '-' | '=' | '+' | ' ' | '\t')) {
            return;
        }
        let (mut begin, mut rest) = (0, text);
        while let Some(length) = rest.find(|it: char| !it.is_whitespace()) {
            begin += length;
            let end = begin + self.end(&text[begin..]);
            fields.push(without_quotes(Field::of(&text[begin..end], line.at + begin)));
            (begin, rest) = (end, &text[end..]);
        }
    }

    /// Place at which the field ends that a text begins with.
    fn end(self, text: &str) -> usize {
        let ends = match self {
            Self::Any => text.find(char::is_whitespace),
            Self::Wide => [text.find('\t'), text.find("  ")].into_iter().flatten().min(),
        };
        ends.unwrap_or(text.len())
    }
}

fn without_quotes(field: Field<'_>) -> Field<'_> {
    let Field { text: Cow::Borrowed(text), at } = field else { return field };
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    Field { text: inner.unwrap_or(text).into(), at }
}

/// Columns of fixed width, which a line drawn below their names shows: a field may be empty, and a text have
/// blanks.
pub(super) const FIXED_WIDTH: LineFormat =
    LineFormat { name: "table of fixed width", table: fixed_width };

/// The table of fixed width; `None` where no such line is drawn, or a text reaches over the end of its column.
pub(super) fn fixed_width<'a>(text: &Text<'a>) -> Option<Result<LineTable<'a>>> {
    let lines = text.first_lines();
    let (header, drawn) = (*lines.first()?, *lines.get(1)?);
    let spans = spans(drawn.text)?;
    let is_possible = |line: &Line<'a>| is_drawn(line.text) || cells(*line, &spans).is_some();
    if !lines.iter().all(is_possible) {
        return None;
    }
    let columns = headings(text.source, &cells(header, &spans)?);
    Some(LineTable::of_lines(text.source, columns, drawn.next, move |line, fields| {
        if !is_drawn(line.text) {
            match cells(line, &spans) {
                Some(cells) => fields.extend(cells),
                // That it is no row of the table is said where it is read.
                None => fields.push(Field::of(line.text, line.at)),
            }
        }
        Ok(())
    }))
}

fn is_drawn(line: &str) -> bool {
    line.contains("--") && line.chars().all(|it| it == '-' || it.is_whitespace())
}

/// Places at which the columns begin and end in a line that is drawn \[letters\], at least two.
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
        cells.push(Field::of(&line.text[start..stop.max(start)], line.at + start));
        end_before = end;
    }
    Some(cells)
}
