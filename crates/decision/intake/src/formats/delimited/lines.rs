//! The lines of a text, which of them names the columns, and rows that are lines.

use std::collections::BTreeSet;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::{BYTE_ORDER_MARK, Source};

use crate::sheet::{EachRow, Field, Heading, Rows, complete, unnamed};
use crate::units::{Comma, number};

/// Lines from the first on by which formats are recognised.
const LOOKED_AT: usize = 40;

/// Bytes of these lines at most, where they are longer, but the first two in any case.
const LOOKED_AT_BYTES: usize = 1 << 16;

/// A text with at least one line.
pub(super) struct Text<'a> {
    pub source: &'a Source,
    /// Place at which the first line begins \[bytes\].
    pub start: usize,
    /// Place at which the lines end by which formats are recognised \[bytes\].
    pub end: usize,
    /// The comments above the first line, without their `#`.
    pub comments: Vec<Line<'a>>,
}

/// A line that is neither empty nor a comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// The text, without the end of the line.
    pub text: &'a str,
    /// Place at which it begins in the file \[bytes\].
    pub at: usize,
    /// Place at which the next begins \[bytes\].
    pub next: usize,
}

impl<'a> Text<'a> {
    /// The text of a file.
    ///
    /// # Errors
    /// [`Error::Input`] for a file without a line, and for lines that end with CR alone.
    pub fn of(source: &'a Source) -> Result<Self> {
        let text = source.text.as_str();
        let begin = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
        let Some(first) = lines(text, fenced(text, begin)).next() else {
            let expected = "a header with the columns m, p, repetition, time_s";
            return Err(source.error(text.len(), "an empty file", expected));
        };
        if first.text.trim_end().contains('\r') {
            let found = "lines that end with CR alone";
            return Err(source.error(first.at, found, "lines that end with LF"));
        }
        let mut ends = text[first.at..].match_indices('\n').map(|(end, _)| end + 1).enumerate();
        let is_enough = |(index, end): &(usize, usize)| {
            *index + 1 >= LOOKED_AT || (*index >= 1 && *end >= LOOKED_AT_BYTES)
        };
        let end = ends.find(is_enough).map_or(text.len(), |(_, end)| first.at + end);
        let comments = comments(&text[..first.at], begin);
        Ok(Self { source, start: first.at, end, comments })
    }

    /// The first lines.
    pub fn first_lines(&self) -> Vec<Line<'a>> {
        lines(&self.source.text[..self.end], self.start).collect()
    }

    /// The first line.
    pub fn first(&self) -> Line<'a> {
        let mut all = lines(&self.source.text, self.start);
        all.next().expect("invariant: the text has a line")
    }
}

/// Place at which the first part begins that Markdown sets apart, where a text has no table beside such.
fn fenced(text: &str, begin: usize) -> usize {
    let is_table = |line: &str| line.trim_start().starts_with('|');
    let beginning = &text[..text.floor_char_boundary(LOOKED_AT_BYTES)];
    let fence = beginning.find("```").filter(|_| !text.lines().take(LOOKED_AT).any(is_table));
    let is_first_of_line = |at: &usize| *at == begin || text[..*at].ends_with('\n');
    let inner = fence.filter(is_first_of_line).and_then(|at| Some(at + text[at..].find('\n')? + 1));
    inner.unwrap_or(begin)
}

/// The comments in a text, without their `#`.
fn comments(text: &str, begin: usize) -> Vec<Line<'_>> {
    let mut next = begin;
    let mut comments = Vec::new();
    for line in text[begin..].split_inclusive('\n') {
        let at = next;
        next += line.len();
        if let Some(comment) = line.trim_end().strip_prefix('#') {
            comments.push(Line { text: comment, at: at + 1, next });
        }
    }
    comments
}

/// The lines that are neither empty nor comments, from that byte on.
pub(super) fn lines(text: &str, start: usize) -> impl Iterator<Item = Line<'_>> {
    let mut next = start;
    std::iter::from_fn(move || {
        while next < text.len() {
            let at = next;
            let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
            next = (end + 1).min(text.len());
            let line = &text[at..end];
            if !line.starts_with('#') && !line.trim_start().is_empty() && !is_about(line) {
                return Some(Line { text: line.strip_suffix('\r').unwrap_or(line), at, next });
            }
        }
        None
    })
}

/// The field of a part of the text as [`Field::of`] has it, without the quotes within the blanks.
pub(super) fn unquoted(part: &str, at: usize) -> Field<'_> {
    let field = Field::of(part, at);
    let text = part.trim();
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner.filter(|inner| !inner.contains('"')) {
        Some(inner) => Field { text: inner.trim().into(), ..field },
        None => field,
    }
}

/// The fields that a function adds.
pub(super) fn fields_of<'a>(add: impl FnOnce(&mut Vec<Field<'a>>)) -> Vec<Field<'a>> {
    let mut fields = Vec::new();
    add(&mut fields);
    fields
}

/// The error of a row with another number of fields than the header; `advice` follows what is expected.
pub(super) fn wrong_width(
    source: &Source,
    fields: &[Field<'_>],
    width: usize,
    advice: &str,
) -> Error {
    let found = match fields.len() {
        1 => "1 field".to_string(),
        count => format!("{count} fields"),
    };
    let at = fields.first().map_or(0, |field| field.at);
    source.error(at, found, format!("{width} as in the header{advice}"))
}

/// Rows that are lines, taken apart by a function that leaves lines out by giving no fields.
pub(super) struct LineRows<'a, Split> {
    pub source: &'a Source,
    /// Place at which the first may begin \[bytes\].
    pub start: usize,
    /// How many columns there are.
    pub width: usize,
    /// Adds the fields of a line.
    pub split: Split,
}

impl<'a, Split> Rows for LineRows<'a, Split>
where
    Split: Fn(Line<'a>, &mut Vec<Field<'a>>) -> Result<()>,
{
    fn visit(&self, row: &mut EachRow<'_>) -> Result<()> {
        let mut fields = Vec::with_capacity(self.width);
        for line in lines(&self.source.text, self.start) {
            fields.clear();
            (self.split)(line, &mut fields)?;
            if fields.is_empty() {
                continue;
            }
            let is_aside = line.text.trim().starts_with('(') && fields.len() < self.width;
            if is_aside || is_remark(&fields, self.width) {
                continue;
            }
            if fields.len() < self.width {
                complete(&mut fields, self.width, &self.source.text);
            }
            if fields.len() != self.width {
                return Err(wrong_width(self.source, &fields, self.width, ""));
            }
            row(&fields)?;
        }
        Ok(())
    }
}

/// Whether a line is about the table and none of it: how large it is (`[12 rows x 3 columns]`, `shape: (12, 3)`),
/// of which types its columns are (`<int> <dbl>`), or where it begins and ends in Markdown.
fn is_about(line: &str) -> bool {
    let text = line.trim();
    match text.as_bytes().first() {
        Some(b'[') => text.ends_with(']') && text.contains(" rows"),
        Some(b's') => text.starts_with("shape: ("),
        Some(b'`') => text.starts_with("```"),
        Some(b'<') => text.split_whitespace().all(is_type),
        _ => false,
    }
}

/// Whether a word is the type of a column, as tables of R have below their names: `<dbl>`, `<int64>`.
fn is_type(word: &str) -> bool {
    let name = word.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    let name = name.map(|it| it.trim_end_matches(|it: char| it.is_ascii_digit()));
    name.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphabetic()))
}

/// Whether a line among rows of several fields is a remark: one field of words, as in `(12 rows)`.
pub(super) fn is_remark(fields: &[Field<'_>], width: usize) -> bool {
    let [only] = fields else { return false };
    let is_word = |word: &str| word.chars().filter(|it| it.is_alphabetic()).count() > 2;
    width > 1 && only.text.split(|it: char| !it.is_alphanumeric()).any(is_word)
}

/// A row with the place at which the next may begin.
pub(super) struct Record<'a> {
    pub fields: Vec<Field<'a>>,
    /// Place in the file \[bytes\].
    pub end: usize,
}

/// The header of a table and its first rows.
pub(super) struct Layout<'a> {
    pub names: Vec<Field<'a>>,
    /// Place at which the first row may begin \[bytes\].
    pub rows_at: usize,
    pub rows: Vec<Vec<Field<'a>>>,
    /// Whether what stands above the header was taken for a title.
    pub has_title: bool,
}

impl<'a> Layout<'a> {
    /// The first record is the header, unless a comment above it has a name for each of its fields.
    pub fn of(
        text: &Text<'a>,
        records: Vec<Record<'a>>,
        split: impl Fn(Line<'a>) -> Vec<Field<'a>>,
    ) -> Self {
        let all = records.len();
        let records = without_preamble(records);
        let has_title = records.len() < all;
        let ends: Vec<usize> = records.iter().map(|record| record.end).collect();
        let mut rows: Vec<Vec<Field<'a>>> = records.into_iter().map(|it| it.fields).collect();
        let are_names = |names: &Vec<Field<'a>>| {
            names.len() > 1
                && rows.iter().all(|row| row.len() == names.len())
                && names.iter().all(|name| !name.text.is_empty() && !is_number(&name.text))
        };
        if rows.first().is_some_and(|row| row.iter().any(|field| is_number(&field.text)))
            && continues(&rows)
            && let Some(names) = text.comments.iter().rev().map(|line| split(*line)).find(are_names)
        {
            return Self { names, rows_at: text.start, rows, has_title };
        }
        let names = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
        Self { names, rows_at: ends.first().copied().unwrap_or(text.start), rows, has_title }
    }

    /// Whether there are several columns, and each row has a field for each.
    pub fn is_even(&self) -> bool {
        self.names.len() > 1 && self.rows.iter().all(|row| row.len() == self.names.len())
    }

    /// Refuses a first row that is one of numbers, where names are missing.
    pub fn check_names(&self, source: &Source) -> Result<()> {
        let is_number = |field: &Field<'_>| is_number(&field.text);
        let Some(first) = self.names.first() else { return Ok(()) };
        let is_row = || {
            let mut rows: Vec<&[Field<'_>]> = vec![&self.names];
            rows.extend(self.rows.first().map(Vec::as_slice));
            is_number(first) && rows.len() > 1 && continues(&rows)
        };
        if self.names.iter().all(is_number) || is_row() {
            let expected = "names of the columns in the first line";
            return Err(source.error(first.at, format!("{:?}, a number", first.text), expected));
        }
        Ok(())
    }
}

/// The records from the header on: what stands alone in its line above a table of several columns is a title.
fn without_preamble(mut records: Vec<Record<'_>>) -> Vec<Record<'_>> {
    let width = |record: &Record<'_>| record.fields.len();
    let Some(start) = records.iter().position(|record| width(record) > 1) else { return records };
    let is_table =
        records[start..].windows(2).take(2).all(|pair| width(&pair[0]) == width(&pair[1]));
    let is_title = |record: &Record<'_>| record.fields.iter().all(|it| !is_number(&it.text));
    if is_table && records.len() > start + 1 && records[..start].iter().all(is_title) {
        records.drain(..start);
    }
    records
}

/// Whether the first row has numbers wherever the second has, as a header would not.
fn continues<'a, Row: AsRef<[Field<'a>]>>(rows: &[Row]) -> bool {
    let [first, second, ..] = rows else { return true };
    let mut pairs = first.as_ref().iter().zip(second.as_ref());
    pairs.all(|(one, other)| is_number(&one.text) || !is_number(&other.text))
}

/// Whether a text is a number in any language.
pub(super) fn is_number(text: &str) -> bool {
    number(text, Comma::Thousands).or_else(|| number(text, Comma::Decimal)).is_some()
}

/// The headings of names; a column without a name is called by its number.
///
/// # Errors
/// [`Error::Input`] for a name that is there twice.
pub(in crate::formats) fn headings(source: &Source, names: &[Field<'_>]) -> Result<Vec<Heading>> {
    let heading = |(index, name): (usize, &Field<'_>)| match name.text.as_ref() {
        "" => Heading { name: unnamed(index), at: name.at },
        text => Heading { name: text.to_string(), at: name.at },
    };
    let headings: Vec<Heading> = names.iter().enumerate().map(heading).collect();
    let mut known = BTreeSet::new();
    match headings.iter().find(|heading| !known.insert(heading.name.as_str())) {
        None => Ok(headings),
        Some(Heading { name, at }) => {
            Err(source.error(*at, format!("a second column {name:?}"), "only one"))
        }
    }
}
