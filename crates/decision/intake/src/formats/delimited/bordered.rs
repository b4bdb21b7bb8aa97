//! Tables with bars between their fields and lines drawn between their rows, as of Markdown, JUBE and
//! consoles; and tables of LaTeX.

use std::borrow::Cow;

use mmgp_base::error::Result;

use super::lines::{Line, Text, headings, lines, unquoted};
use super::{LineFormat, LineTable};
use crate::is_in;
use crate::names::{Role, role_of};
use crate::sheet::Field;

pub(super) const MARKDOWN: LineFormat = LineFormat {
    name: "Markdown table",
    table: |text| match text.first_lines()[..] {
        ref lines if below_prose(lines).is_some() => {
            below_prose(lines).map(|header| table(text, header.at, plain))
        }
        [first, second, ..] => {
            let is_bordered = begins(first) && begins(second);
            let is_drawn = is_above_header(first) || is_below_header(second);
            (is_bordered || is_drawn).then(|| table(text, text.start, plain))
        }
        [only] => (begins(only) && only.text.trim_end().ends_with(BARS))
            .then(|| table(text, text.start, plain)),
        [] => None,
    },
};

/// A line `NAME:` stands above the table.
pub(super) const JUBE: LineFormat = LineFormat {
    name: "JUBE's table",
    table: |text| match text.first_lines()[..] {
        [name, header, ..] if name.text.trim_end().ends_with(':') && begins(header) => {
            Some(table(text, header.at, |field| field))
        }
        _ => None,
    },
};

/// The header of a table below lines that are none of it.
fn below_prose<'a>(lines: &[Line<'a>]) -> Option<Line<'a>> {
    let is_header = |pair: &&[Line<'a>]| begins(pair[0]) && begins(pair[1]) && is_drawn(pair[1]);
    let headers = || lines.windows(2).filter(is_header).map(|pair| pair[0]);
    // Of several tables, one of runs.
    let is_of_runs = |header: &Line<'a>| {
        let mut names = fields(*header).into_iter().map(|name| role_of(&name.text));
        names.any(|role| matches!(role, Some(Role::Processes | Role::Threads)))
    };
    let header = headers().find(is_of_runs).or_else(|| headers().next())?;
    (header.at > lines[0].at).then_some(header)
}

/// What stands between fields.
const BARS: [char; 5] = ['|', '\u{2502}', '\u{2503}', '\u{2551}', '\u{2506}'];

/// What polars writes below the names, of the types of columns.
const TYPES: &str = "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 str bool cat date";

fn begins(line: Line<'_>) -> bool {
    line.text.trim_start().starts_with(BARS)
}

/// Whether a sign is one of those that boxes are drawn with, and stands between no fields.
fn is_of_box(sign: char) -> bool {
    ('\u{2500}'..='\u{257f}').contains(&sign) && !BARS.contains(&sign)
}

/// Whether a line is drawn between rows; one with single signs, such as `| - |`, is a row.
fn is_drawn(line: Line<'_>) -> bool {
    let text = line.text.trim();
    let has_line = text.contains("--") || text.contains("==") || text.contains(is_of_box);
    has_line && text.chars().all(|it| "|+-=: ".contains(it) || BARS.contains(&it) || is_of_box(it))
}

/// Whether a line is drawn above a table that has borders.
fn is_above_header(line: Line<'_>) -> bool {
    let is_crossing = |it: char| it == '+' || BARS.contains(&it) || is_of_box(it);
    is_drawn(line) && line.text.contains(is_crossing)
}

/// Whether the second line of a table without borders is drawn, which may be with single signs.
fn is_below_header(line: Line<'_>) -> bool {
    let text = line.text.trim();
    let has_bar = text.contains(['|', '+']);
    has_bar
        && (is_drawn(line) || (text.contains('-') && text.chars().all(|it| "|-: ".contains(it))))
}

/// The fields of a line between bars; none of one that is drawn or has no border.
pub(super) fn fields(line: Line<'_>) -> Vec<Field<'_>> {
    if is_drawn(line) || !begins(line) {
        return Vec::new();
    }
    cells(without_borders(line)).into_iter().map(plain).collect()
}

/// The table of the lines from that byte on; `plain` is what is made of each field.
fn table<'a>(
    text: &Text<'a>,
    start: usize,
    plain: impl Fn(Field<'a>) -> Field<'a> + 'a,
) -> Result<LineTable<'a>> {
    let source = text.source;
    let mut all = lines(&source.text, start).filter(|line| !is_drawn(*line));
    let header = all.next().unwrap_or(text.first());
    let below = lines(&source.text, header.at).nth(1).filter(|line| is_below_header(*line));
    let rows_at = below.unwrap_or(header);
    let has_borders = begins(header);
    let split = move |line: Line<'a>, fields: &mut Vec<Field<'a>>| {
        if !is_drawn(line) {
            let inner = if has_borders { without_borders(line) } else { line };
            fields.extend(cells(inner).into_iter().map(&plain));
            if fields.iter().all(|it| is_in(TYPES, &it.text)) {
                fields.clear();
            }
        }
        Ok(())
    };
    let mut names = Vec::new();
    split(header, &mut names)?;
    LineTable::of_lines(source, headings(source, &names), rows_at.next, split)
}

/// The part of a line between its first and its last bar.
fn without_borders(line: Line<'_>) -> Line<'_> {
    let whole = line.text.trim();
    let inner = whole.strip_prefix(BARS).unwrap_or(whole);
    let at = line.at + line.text.trim_end().len() - inner.len();
    Line { text: inner.strip_suffix(BARS).unwrap_or(inner), at, ..line }
}

/// The fields of a line between bars; a bar behind `\` is part of a field.
fn cells(line: Line<'_>) -> Vec<Field<'_>> {
    let Line { text: mut inner, mut at, .. } = line;
    let mut cells = Vec::new();
    let is_bar = |(at, _): &(usize, &str), text: &str| !text[..*at].ends_with('\\');
    while let Some((length, bar)) = inner.match_indices(BARS).find(|found| is_bar(found, inner)) {
        cells.push(unquoted(&inner[..length], at));
        at += length + bar.len();
        inner = &inner[length + bar.len()..];
    }
    cells.push(unquoted(inner, at));
    for cell in &mut cells {
        if cell.text.contains("\\|") {
            cell.text = cell.text.replace("\\|", "|").into();
        }
    }
    cells
}

/// A field without the signs of Markdown around it.
fn plain(field: Field<'_>) -> Field<'_> {
    let Cow::Borrowed(mut text) = field.text else { return field };
    let mut at = field.at;
    for mark in ["**", "__", "`"] {
        let inner = text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            at += mark.len() + inner.len() - inner.trim_start().len();
            text = inner.trim();
        }
    }
    Field { text: text.into(), at }
}

/// Tables of LaTeX: fields between `&`, rows that end with `\\`.
pub(super) const LATEX: LineFormat = LineFormat {
    name: "table of LaTeX",
    table: |text| {
        let lines = text.first_lines();
        let mut rows = lines.iter().filter(|line| is_latex_row(line.text));
        let (header, _) = (*rows.next()?, rows.next()?);
        Some(latex(text, header))
    },
};

fn is_latex_row(line: &str) -> bool {
    line.contains('&') && line.contains("\\\\")
}

fn latex<'a>(text: &Text<'a>, header: Line<'a>) -> Result<LineTable<'a>> {
    let source = text.source;
    let split = |line: Line<'a>, fields: &mut Vec<Field<'a>>| {
        if !is_latex_row(line.text) {
            return Ok(());
        }
        let row = line.text.split("\\\\").next().unwrap_or_default();
        let mut at = line.at;
        for part in row.split('&') {
            fields.push(without_commands(Field::of(part, at)));
            at += part.len() + 1;
        }
        Ok(())
    };
    let mut names = Vec::new();
    split(header, &mut names)?;
    LineTable::of_lines(source, headings(source, &names), header.next, split)
}

/// A field without commands before and around it, and without the signs of formulas: `\hline \textbf{8}`, `$8$`.
fn without_commands(field: Field<'_>) -> Field<'_> {
    let mut text = field.text.as_ref();
    while let Some(rest) = text.strip_prefix('\\') {
        let name = rest.find(|it: char| !it.is_alphabetic()).unwrap_or(rest.len());
        let inner = rest[name..].trim_start();
        text = match inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            Some(inner) => inner.trim(),
            None if inner.len() < rest.len() - name || inner.starts_with('\\') => inner,
            None => break,
        };
    }
    let text = text.strip_prefix('$').and_then(|text| text.strip_suffix('$')).unwrap_or(text);
    Field { text: text.trim().to_string().into(), at: field.at }
}
