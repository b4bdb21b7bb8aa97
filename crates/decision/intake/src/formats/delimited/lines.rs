//! The lines of a text, and rows that are lines.

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

use crate::sheet::{Field, Rows, complete};

/// What some editors put before a text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Lines from the first on by which formats are recognised.
const LOOKED_AT: usize = 40;

/// Where they are longer, as many as have so many bytes, but the first two in any case.
const LOOKED_AT_BYTES: usize = 1 << 16;

/// A text with at least one line.
pub(super) struct Text<'a> {
    pub source: &'a Source,
    /// Where the first line begins \[bytes\].
    pub start: usize,
    /// Where the lines end by which formats are recognised \[bytes\].
    pub end: usize,
    /// The comments above the first line, without their `#`.
    pub comments: Vec<Line<'a>>,
}

/// A line that is neither empty nor a comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// The text, without the end of the line.
    pub text: &'a str,
    /// Where it begins in the file \[bytes\].
    pub at: usize,
    /// Where the next begins \[bytes\].
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
        let refused = |at: usize, found: &str, expected: &str| Error::Input {
            at: source.position(at),
            found: found.into(),
            expected: expected.into(),
        };
        let Some(first) = lines(text, fenced(text, begin)).next() else {
            let expected = "a header with the columns m, p, repetition, time_s";
            return Err(refused(text.len(), "an empty file", expected));
        };
        if first.text.trim_end().contains('\r') {
            return Err(refused(
                first.at,
                "lines that end with CR alone",
                "lines that end with LF",
            ));
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

/// Where the first part begins that Markdown sets apart, where a text has no table beside such.
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

/// The field of a part of the text, which begins at that byte: without the blanks around it.
pub(super) fn field(part: &str, at: usize) -> Field<'_> {
    let text = part.trim_start();
    Field { at: at + part.len() - text.len(), text: text.trim_end().into() }
}

/// As [`field`], without the quotes within the blanks.
pub(super) fn unquoted(part: &str, at: usize) -> Field<'_> {
    let field = field(part, at);
    let text = part.trim();
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner.filter(|inner| !inner.contains('"')) {
        Some(inner) => Field { text: inner.trim().into(), ..field },
        None => field,
    }
}

/// The fields of a line between separators.
pub(super) fn split<'a>(line: Line<'a>, separator: u8, fields: &mut Vec<Field<'a>>) {
    let mut at = line.at;
    for part in line.text.split(char::from(separator)) {
        fields.push(field(part, at));
        at += part.len() + 1;
    }
}

/// The error of a row with another number of fields than the header; `advice` follows what is expected.
pub(super) fn wrong_width(
    source: &Source,
    fields: &[Field<'_>],
    width: usize,
    advice: &str,
) -> Error {
    let found = match fields.len() {
        1 => "1 field".into(),
        count => format!("{count} fields"),
    };
    let at = source.position(fields.first().map_or(0, |field| field.at));
    Error::Input { at, found, expected: format!("{width} as in the header{advice}") }
}

/// Rows that are lines, taken apart by a function that leaves lines out by giving no fields.
pub(super) struct LineRows<'a, Split> {
    pub source: &'a Source,
    /// Where the first may begin \[bytes\].
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
    fn visit(&self, row: &mut dyn FnMut(&[Field<'_>]) -> Result<()>) -> Result<()> {
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
        Some(b'<') => text.split_whitespace().all(|it| it.starts_with('<') && it.ends_with('>')),
        _ => false,
    }
}

/// Whether a line among rows of several fields is a remark: one field of words, as in `(12 rows)`.
pub(super) fn is_remark(fields: &[Field<'_>], width: usize) -> bool {
    let [only] = fields else { return false };
    let is_word = |word: &str| word.chars().filter(|it| it.is_alphabetic()).count() > 2;
    width > 1 && only.text.split(|it: char| !it.is_alphanumeric()).any(is_word)
}
