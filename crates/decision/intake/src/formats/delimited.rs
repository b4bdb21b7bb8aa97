//! Texts of lines: CSV, tables between bars or blanks, `key=value`, and what known tools write.
//!
//! Each format is a [`LineFormat`], which stands in [`FORMATS`]; the first that recognises a text
//! has it. A line that begins with `#` is a comment, except one right above the rows that names their
//! columns; empty lines are passed over.

mod blanks;
mod bordered;
mod levels;
mod lines;
mod sentences;
mod separated;
mod tools;

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use super::extrap;
use crate::sheet::{Field, Heading, Rows, Sheet};
pub(super) use lines::headings;
use lines::{Line, LineRows, Text};

/// A format of lines.
struct LineFormat {
    /// What people call it: `CSV with ;`.
    name: &'static str,
    /// The table of a text; `None` where the text is not of the format.
    table: for<'a> fn(&Text<'a>) -> Option<Result<LineTable<'a>>>,
}

/// All formats, from the one that asks for most.
const FORMATS: [LineFormat; 20] = [
    LineFormat { name: "text of Extra-P", table: |text| extrap::table(text.source) },
    levels::TRANSPOSED,
    bordered::JUBE,
    bordered::MARKDOWN,
    tools::JOB_LOG,
    tools::JOB_RESULTS,
    tools::SACCT,
    tools::SACCT_FIXED,
    blanks::FIXED_WIDTH,
    tools::PERFLOG,
    sentences::KEYED,
    sentences::FORMAT,
    tools::HYPERFINE,
    bordered::LATEX,
    levels::FORMAT,
    separated::COMMA,
    separated::SEMICOLON,
    separated::TAB,
    separated::BAR,
    blanks::FORMAT,
];

/// A table of which only the format's name is not said.
pub(super) struct LineTable<'a> {
    pub columns: Vec<Heading>,
    pub rows: Box<dyn Rows + 'a>,
}

impl<'a> LineTable<'a> {
    /// The table of the lines from that byte on, taken apart by a function.
    fn of_lines(
        source: &'a Source,
        columns: Result<Vec<Heading>>,
        start: usize,
        split: impl Fn(Line<'a>, &mut Vec<Field<'a>>) -> Result<()> + 'a,
    ) -> Result<Self> {
        let columns = columns?;
        let width = columns.len();
        Ok(Self { columns, rows: Box::new(LineRows { source, start, width, split }) })
    }
}

/// The table of a text that is not JSON.
///
/// # Errors
/// [`Error::Input`] with the place of what is not as the format asks: an empty file, no names of columns, a
/// name twice; a row with another number of fields than the header where rows are gone through.
pub(crate) fn sheet(source: &Source) -> Result<Sheet<'_>> {
    let text = Text::of(source)?;
    let table = FORMATS.iter().find_map(|format| (format.table)(&text).map(|it| (format, it)));
    let expected = "names of columns with commas between them, and rows below";
    let (format, table) = table.ok_or_else(|| source.error(text.start, "no table", expected))?;
    let LineTable { columns, rows } = table?;
    Ok(Sheet { origin: source.into(), format: format.name.into(), columns, rows })
}

#[cfg(test)]
mod tests;
