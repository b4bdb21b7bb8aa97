//! A table as a file has it: columns with names and rows of fields, of which nothing is understood yet.

use std::borrow::Cow;

use mmgp_base::error::{Error, Place, Position, Result};
use mmgp_base::table::Source;

use crate::frame::Frame;

/// Where a table is from: a file or a data frame, of which either is asked for by reference.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    /// The text of a file, of which a place is the number of bytes before it.
    Text(&'a Source),
    /// A data frame, of which a place is the number of fields before it, row by row.
    Frame(&'a Frame),
}

impl<'a> From<&'a Source> for Origin<'a> {
    fn from(source: &'a Source) -> Self {
        Self::Text(source)
    }
}

impl<'a> From<&'a Frame> for Origin<'a> {
    fn from(frame: &'a Frame) -> Self {
        Self::Frame(frame)
    }
}

impl<'a> Origin<'a> {
    /// The name of the file, or what the frame is called.
    pub fn name(self) -> &'a str {
        match self {
            Self::Text(source) => &source.name,
            Self::Frame(frame) => frame.name(),
        }
    }

    /// The text, where there is one.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(source) => Some(&source.text),
            Self::Frame(_) => None,
        }
    }

    /// The line and the column, or the row, of a place.
    pub(crate) fn position(self, at: usize) -> Position {
        match self {
            Self::Text(source) => source.position(at),
            Self::Frame(frame) => {
                let row = at / frame.width().max(1);
                Position { file: frame.name().into(), place: Place::Row(row as u64) }
            }
        }
    }
}

/// A table as a file has it.
pub struct Sheet<'a> {
    /// The file or the data frame.
    pub origin: Origin<'a>,
    /// What the file was recognised as, as people call it: `CSV with ;`, `JSON of hyperfine`.
    pub format: String,
    /// The names of the columns, each once. What has no name in the file is called by its number.
    pub columns: Vec<Heading>,
    /// What is below them.
    pub rows: Box<dyn Rows + 'a>,
}

/// The name of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The name, without blanks around it. A unit that a format fixes stands in brackets behind it:
    /// `time [ms]`.
    pub name: String,
    /// Place at which it begins, as its [`Origin`] counts.
    pub at: usize,
}

/// A field of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<'a> {
    /// The text, without blanks around it; empty where the file has nothing.
    pub text: Cow<'a, str>,
    /// Place at which it begins, as its [`Origin`] counts.
    pub at: usize,
}

impl<'a> Field<'a> {
    /// The field of a part of the text, which begins at that byte: without the blanks around it.
    pub(crate) fn of(part: &'a str, at: usize) -> Self {
        let text = part.trim_start();
        Self { at: at + part.len() - text.len(), text: text.trim_end().into() }
    }

    /// Adds the fields of a part of the text, which begins at that byte and has `separator` between them.
    pub(crate) fn split(part: &'a str, mut at: usize, separator: char, fields: &mut Vec<Self>) {
        for field in part.split(separator) {
            fields.push(Self::of(field, at));
            at += field.len() + separator.len_utf8();
        }
    }

    /// The same field, whose text stays where it is.
    pub(crate) fn borrowed(&self) -> Field<'_> {
        Field { text: Cow::Borrowed(self.text.as_ref()), at: self.at }
    }
}

/// The fields of a row with room for so many more.
pub(crate) fn extended<'f>(fields: &'f [Field<'_>], more: usize) -> Vec<Field<'f>> {
    let mut all = Vec::with_capacity(fields.len() + more);
    all.extend(fields.iter().map(Field::borrowed));
    all
}

/// What a column without a name is called, by its place from 0.
pub(crate) fn unnamed(index: usize) -> String {
    format!("field {}", index + 1)
}

/// What a field has that the end of the file cuts off.
pub(crate) const CUT_OFF: &str = "(cut off)";

/// Place at which the last line of a text begins, where it is not ended \[bytes\].
pub(crate) fn unended_line(text: &str) -> Option<usize> {
    (!text.ends_with('\n')).then(|| text.rfind('\n').map_or(0, |end| end + 1))
}

/// Gives the last row of a text the fields that the end of the file cut off.
pub(crate) fn complete<'a>(fields: &mut Vec<Field<'a>>, width: usize, text: &str) {
    let is_last = |at: usize| unended_line(text).is_some_and(|start| start <= at && start > 0);
    if fields.len() < width && fields.first().is_some_and(|field| is_last(field.at)) {
        fields.resize(width, Field { text: CUT_OFF.into(), at: text.len() });
    }
}

/// What is called with the fields of each row.
pub type EachRow<'r> = dyn FnMut(&[Field<'_>]) -> Result<()> + 'r;

/// The rows of a table, which are gone through as often as needed and need not be held.
pub trait Rows {
    /// Calls `row` with the fields of each row in their order, as many as the table has columns; ends at
    /// the first error.
    ///
    /// # Errors
    /// [`Error::Input`] for a row that is not as the format asks, and what `row` answers.
    fn visit(&self, row: &mut EachRow<'_>) -> Result<()>;

    /// The rows as lines, where they are.
    fn lines(&self) -> Option<Lines<'_>> {
        None
    }

    /// The data frame whose rows these are, each as it stands there.
    fn frame(&self) -> Option<&Frame> {
        None
    }
}

/// A text each line of which is a row, without quotes; empty lines and those that begin with `#` are none.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    /// The whole text of the file.
    pub text: &'a str,
    /// Place at which the first row begins \[bytes\].
    pub start: usize,
    /// What stands between fields.
    pub separator: u8,
}

/// Rows that are held.
impl Rows for Vec<Vec<Field<'_>>> {
    fn visit(&self, row: &mut EachRow<'_>) -> Result<()> {
        self.iter().try_for_each(|fields| row(fields))
    }
}

/// Rows that are made of others while these are gone through.
pub(crate) fn made_of<'a, F>(rows: Box<dyn Rows + 'a>, visit: F) -> Box<dyn Rows + 'a>
where
    F: Fn(&dyn Rows, &mut EachRow<'_>) -> Result<()> + 'a,
{
    struct Made<'a, F>(Box<dyn Rows + 'a>, F);
    impl<F: Fn(&dyn Rows, &mut EachRow<'_>) -> Result<()>> Rows for Made<'_, F> {
        fn visit(&self, row: &mut EachRow<'_>) -> Result<()> {
            self.1(self.0.as_ref(), row)
        }
    }
    Box::new(Made(rows, visit))
}

impl Sheet<'_> {
    /// Goes through the rows from the first on, as long as `row` answers yes.
    ///
    /// # Errors
    /// As [`Rows::visit`], of the rows that were gone through.
    pub(crate) fn visit_while(&self, row: &mut dyn FnMut(&[Field<'_>]) -> bool) -> Result<()> {
        let mut is_enough = false;
        let outcome = self.rows.visit(&mut |fields| {
            if row(fields) {
                return Ok(());
            }
            is_enough = true;
            // An error is what ends a visit early; this one goes no further.
            Err(self.error(0, "enough", "nothing"))
        });
        if is_enough { Ok(()) } else { outcome }
    }

    /// The error for what stands at a place.
    pub fn error(&self, at: usize, found: impl Into<String>, expected: impl Into<String>) -> Error {
        let (found, expected) = (found.into(), expected.into());
        Error::Input { at: self.origin.position(at), found, expected }
    }

    /// The error for a table without rows that are runs.
    pub(crate) fn no_rows(&self) -> Error {
        match self.origin {
            Origin::Text(source) => {
                source.error(source.text.len(), "no rows", "at least one row below the header")
            }
            Origin::Frame(frame) => Error::too_little(frame.name(), "no rows", "give one at least"),
        }
    }

    /// The format, and what the text was made from where that was not UTF-8: `CSV in UTF-16LE`.
    pub fn described(&self) -> String {
        match self.origin {
            Origin::Text(Source { encoding: Some(encoding), .. }) => {
                format!("{} in {encoding}", self.format)
            }
            _ => self.format.clone(),
        }
    }

    /// The name, and of a file what it was recognised as: `runs.txt, CSV with ;`.
    pub(crate) fn called(&self) -> String {
        match self.origin {
            Origin::Text(source) => format!("{}, {}", source.name, self.described()),
            Origin::Frame(frame) => frame.name().into(),
        }
    }

    /// The place of the column with that name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|heading| heading.name == name)
    }

    /// The place of a column that a user named, in any capitals.
    ///
    /// # Errors
    /// [`Error::UnknownName`], with those that there are.
    pub fn named(&self, name: &str) -> Result<usize> {
        let lower = name.to_lowercase();
        let same = |heading: &Heading| heading.name.to_lowercase() == lower;
        let found = self.column(name).or_else(|| self.columns.iter().position(same));
        let known = || self.columns.iter().map(|heading| heading.name.as_str());
        found.ok_or_else(|| Error::unknown_name("column", name, known()))
    }
}
