//! Fields between commas, semicolons, tabs or bars, quoted as in CSV.

use csv::{ByteRecord, ReaderBuilder, Terminator};
use mmgp_base::error::Result;
use mmgp_base::table::{BYTE_ORDER_MARK, Source};

use super::lines::{
    Layout, Record, Text, fields_of, headings, is_remark, lines, unquoted, wrong_width,
};
use super::{LineFormat, LineTable, blanks};
use crate::sheet::{EachRow, Field, Heading, Lines, Rows, complete};

pub(super) const COMMA: LineFormat = LineFormat { name: "CSV", table: |text| chosen(text, b',') };
pub(super) const SEMICOLON: LineFormat =
    LineFormat { name: "CSV with ;", table: |text| chosen(text, b';') };
pub(super) const TAB: LineFormat =
    LineFormat { name: "CSV with tabs", table: |text| chosen(text, b'\t') };
pub(super) const BAR: LineFormat =
    LineFormat { name: "CSV with |", table: |text| chosen(text, b'|') };

/// What may stand between fields; of those that come equally often, the first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// What stands between fields, and whether these may be in quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub separator: u8,
    pub has_quotes: bool,
}

/// Rows with separators between their fields.
pub(super) struct SeparatedRows<'a> {
    source: &'a Source,
    /// Place at which the first may begin \[bytes\].
    start: usize,
    dialect: Dialect,
    /// How many fields each has.
    width: usize,
    /// How many of these, from the first, are columns.
    kept: usize,
}

/// The table, where that separator is the one that the text has.
fn chosen<'a>(text: &Text<'a>, separator: u8) -> Option<Result<LineTable<'a>>> {
    (best(text)? == separator).then(|| table(text, separator))
}

/// The table by the separator that the text has, whichever that is.
pub(super) fn any<'a>(text: &Text<'a>) -> Option<Result<LineTable<'a>>> {
    best(text).map(|separator| table(text, separator))
}

fn table<'a>(text: &Text<'a>, separator: u8) -> Result<LineTable<'a>> {
    let has_quotes = text.source.text.as_bytes().contains(&b'"');
    let dialect = Dialect { separator, has_quotes };
    let layout = dialect.layout(text);
    layout.check_names(text.source)?;
    let (columns, rows) = dialect.below(text.source, &layout)?;
    Ok(LineTable { columns, rows: Box::new(rows) })
}

/// The separator that makes the most fields of the header and as many of the rows, or that the header has
/// most of; `None` where blanks separate.
fn best(text: &Text<'_>) -> Option<u8> {
    let has_quotes = text.source.text[..text.end].contains('"');
    let layouts =
        SEPARATORS.map(|separator| (separator, Dialect { separator, has_quotes }.layout(text)));
    // Where one separator splits the first line as well, it is no title.
    let has_whole = layouts.iter().any(|(_, layout)| layout.is_even() && !layout.has_title);
    let even = || {
        let is_whole = move |layout: &Layout<'_>| !has_whole || !layout.has_title;
        layouts.iter().filter(move |(_, layout)| layout.is_even() && is_whole(layout))
    };
    if let Some((separator, _)) = even().find(|(it, layout)| *it != b',' && has_decimals(layout)) {
        return Some(*separator);
    }
    if blanks::are_between_decimals(text) {
        return None;
    }
    // Of equal ones, `max_by_key` takes the last.
    if let Some((separator, _)) = even().rev().max_by_key(|(_, layout)| layout.names.len()) {
        return Some(*separator);
    }
    let most = layouts.iter().rev().max_by_key(|(_, layout)| layout.names.len());
    let (separator, layout) = most.expect("invariant: there are separators");
    if blanks::are_between(text, (layout.names.len() > 1).then_some(*separator)) {
        return None;
    }
    Some(*separator)
}

/// Whether there are numbers with a comma before their decimals.
pub(super) fn has_decimals(layout: &Layout<'_>) -> bool {
    let is_decimal = |field: &Field<'_>| {
        let text = field.text.trim_start_matches(['-', '+']);
        text.split_once(',').is_some_and(|(before, after)| are_digits(before) && are_digits(after))
    };
    layout.rows.iter().flatten().any(is_decimal)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Dialect {
    /// The header and the first rows.
    pub fn layout<'a>(self, text: &Text<'a>) -> Layout<'a> {
        let mut records = Vec::new();
        let first = &text.source.text[..text.end];
        let outcome = self.records(first, text.start, &mut |fields, end| {
            records.push(Record { fields: fields.to_vec(), end });
            Ok(())
        });
        outcome.expect("invariant: nothing is refused");
        if self.has_quotes && text.end < text.source.text.len() && records.len() > 2 {
            // It may be cut off.
            records.pop();
        }
        Layout::of(text, records, |line| {
            fields_of(|fields| Field::split(line.text, line.at, self.separator.into(), fields))
        })
    }

    /// The columns and the rows of a table with that header.
    pub fn below<'a>(
        self,
        source: &'a Source,
        layout: &Layout<'a>,
    ) -> Result<(Vec<Heading>, SeparatedRows<'a>)> {
        let rows = SeparatedRows::new(source, layout, self);
        Ok((headings(source, &layout.names[..rows.kept])?, rows))
    }

    /// Calls `row` with the fields of each record from that byte on, and where the next begins.
    pub(super) fn records<'a>(
        self,
        text: &'a str,
        start: usize,
        row: &mut dyn FnMut(&[Field<'a>], usize) -> Result<()>,
    ) -> Result<()> {
        let mut fields = Vec::new();
        if !self.has_quotes {
            return lines(text, start).try_for_each(|line| {
                fields.clear();
                Field::split(line.text, line.at, self.separator.into(), &mut fields);
                row(&fields, line.next)
            });
        }
        // The reader would pass over such a mark, and count from behind it.
        let rest = text[start..].trim_start_matches(BYTE_ORDER_MARK);
        let start = text.len() - rest.len();
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .delimiter(self.separator)
            .terminator(Terminator::Any(b'\n'))
            .from_reader(rest.as_bytes());
        let mut record = ByteRecord::new();
        while reader
            .read_byte_record(&mut record)
            .expect("invariant: reading from memory cannot fail")
        {
            let begin = start + record.position().map_or(0, |position| position.byte() as usize);
            let Some(begin) = beyond_comments(text, begin) else { break };
            fields.clear();
            self.locate(text, begin, &record, &mut fields);
            if fields.len() > 1 || fields.iter().any(|field| !field.text.is_empty()) {
                row(&fields, start + reader.position().byte() as usize)?;
            }
        }
        Ok(())
    }

    /// The fields of a record that begins at that byte, each where its quote or its text begins.
    fn locate<'a>(
        self,
        text: &'a str,
        begin: usize,
        record: &ByteRecord,
        fields: &mut Vec<Field<'a>>,
    ) {
        let mut at = begin;
        for content in record {
            if text.as_bytes().get(at) != Some(&b'"') {
                let end = at + content.len();
                let is_last = matches!(text.as_bytes().get(end), None | Some(b'\n'));
                let part = &text[at..end];
                let part = if is_last { part.trim_end_matches('\r') } else { part };
                fields.push(unquoted(part, at));
                at = end + 1;
                continue;
            }
            let inner = at + 1..at + 1 + content.len();
            let text_of = match text.as_bytes().get(inner.clone()) {
                Some(same) if same == content => text[inner].trim().into(),
                _ => String::from_utf8_lossy(content).trim().to_string().into(),
            };
            fields.push(Field { text: text_of, at });
            let close = at + behind_quotes(&text[at..]);
            let is_end = |letter: char| letter == char::from(self.separator) || letter == '\n';
            at = text[close..].find(is_end).map_or(text.len(), |length| close + length) + 1;
        }
    }
}

/// The first byte from `at` on that belongs to no comment or empty line; `None` where the text ends.
///
/// A record's own position is where the one before it ended, and a comment that the end of the file cuts
/// off comes out of the reader as a record.
fn beyond_comments(text: &str, mut at: usize) -> Option<usize> {
    loop {
        match text.as_bytes().get(at)? {
            b'\n' => at += 1,
            b'#' => at += text[at..].find('\n')?,
            _ => return Some(at),
        }
    }
}

/// How long the quoted part is that a text begins with \[bytes\].
fn behind_quotes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(length) = text[at..].find('"') {
        at += length + 1;
        if bytes.get(at) != Some(&b'"') {
            return at;
        }
        at += 1;
    }
    text.len()
}

impl<'a> SeparatedRows<'a> {
    /// The rows below a header. Names that are empty at its end are no columns where no row has a text
    /// there.
    fn new(source: &'a Source, layout: &Layout<'a>, dialect: Dialect) -> Self {
        let width = layout.names.len();
        let is_named = |name: &Field<'_>| !name.text.is_empty();
        let named = layout.names.iter().rposition(is_named).map_or(width, |last| last + 1);
        let all = Self { source, start: layout.rows_at, dialect, width, kept: width };
        let mut are_empty = true;
        if named < width {
            let outcome = all.visit(&mut |row| {
                are_empty &= row[named..].iter().all(|field| field.text.is_empty());
                Ok(())
            });
            are_empty &= outcome.is_ok();
        }
        Self { kept: if are_empty { named } else { width }, ..all }
    }

    /// What may be wrong with a row of too many fields, behind what is expected.
    fn advice(&self, fields: &[Field<'_>]) -> &'static str {
        let are_whole = |pair: &[Field<'_>]| pair.iter().all(|field| are_digits(&field.text));
        let may_be_decimals = self.dialect.separator == b','
            && fields.len() > self.width
            && fields.windows(2).any(are_whole);
        if may_be_decimals { "; write decimals with a point, or separate columns by ;" } else { "" }
    }
}

impl Rows for SeparatedRows<'_> {
    fn visit(&self, row: &mut EachRow<'_>) -> Result<()> {
        self.dialect.records(&self.source.text, self.start, &mut |fields, _| {
            if is_remark(fields, self.width) {
                return Ok(());
            }
            if fields.len() != self.width {
                let mut fields = fields.to_vec();
                complete(&mut fields, self.width, &self.source.text);
                if fields.len() == self.width {
                    return row(&fields[..self.kept]);
                }
                return Err(wrong_width(self.source, &fields, self.width, self.advice(&fields)));
            }
            row(&fields[..self.kept])
        })
    }

    fn lines(&self) -> Option<Lines<'_>> {
        let are_rows = !self.dialect.has_quotes && self.kept == self.width;
        let Dialect { separator, .. } = self.dialect;
        are_rows.then_some(Lines { text: &self.source.text, start: self.start, separator })
    }
}
