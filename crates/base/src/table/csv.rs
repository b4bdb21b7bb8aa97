//! CSV with named columns: headers in any order, `#` comment lines, every error with its place.
//! Fields stand between commas, semicolons or tabs, whichever the header has.

mod header;

use std::collections::BTreeSet;

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::Source;
use crate::error::{Error, Position, Result, Warning};
use header::Header;

/// One row type of a CSV file.
pub trait Record: Sized {
    /// The columns that must be there, in the order in which they are written.
    const COLUMNS: &'static [&'static str];
    /// The columns that identify a row: no two rows may share all of them.
    const KEY_COLUMNS: &'static [&'static str];
    /// The columns that may be missing, with the text that is read instead. Where all
    /// rows have that text, the column is not written.
    const OPTIONAL: &'static [(&'static str, &'static str)] = &[];
    /// The values of [`Self::KEY_COLUMNS`].
    type Key: Ord;

    /// Reads and checks the fields of one row.
    fn read(row: &Row<'_>) -> Result<Self>;
    /// The part of the row that identifies it.
    fn key(&self) -> Self::Key;
    /// The fields in the order of [`Self::COLUMNS`].
    fn write(&self) -> Vec<String>;
}

/// Reads all rows; at least one must be there and no two may share a key.
pub fn read<R: Record>(source: &Source) -> Result<(Vec<R>, Vec<Warning>)> {
    let mut reader = Reader::new(source, R::COLUMNS, R::OPTIONAL)?;
    let mut rows = Vec::new();
    let mut keys = BTreeSet::new();
    while let Some(row) = reader.next_row()? {
        let record = R::read(&row)?;
        if !keys.insert(record.key()) {
            return Err(row.repeated(R::KEY_COLUMNS));
        }
        rows.push(record);
    }
    if rows.is_empty() {
        return Err(reader.no_rows());
    }
    Ok((rows, reader.warnings))
}

/// The text of a CSV file with a header and `rows`.
pub fn write<R: Record>(rows: &[R]) -> String {
    let fields: Vec<Vec<String>> = rows.iter().map(R::write).collect();
    let is_written = |column: &usize| {
        let default = R::OPTIONAL.iter().find(|(name, _)| *name == R::COLUMNS[*column]);
        default.is_none_or(|(_, default)| fields.iter().any(|row| row[*column] != *default))
    };
    let written: Vec<usize> = (0..R::COLUMNS.len()).filter(is_written).collect();
    let header: Vec<&str> = written.iter().map(|&column| R::COLUMNS[column]).collect();
    let kept = |row: Vec<String>| written.iter().map(|&column| row[column].clone()).collect();
    write_fields(&header, fields.into_iter().map(kept))
}

/// The text of a CSV file that is only written: a header, and the fields of each row below it.
pub fn write_fields(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    // A field with the mark of a comment is quoted, or a row that begins with it would be one.
    let mut writer = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(Vec::new());
    let in_memory = "invariant: writing to memory cannot fail";
    writer.write_record(header).expect(in_memory);
    for row in rows {
        writer.write_record(row).expect(in_memory);
    }
    String::from_utf8(writer.into_inner().expect(in_memory)).expect("invariant: fields are text")
}

/// Reads a CSV text row by row, without holding the rows.
pub struct Reader<'a> {
    header: Header<'a>,
    columns: Vec<FileColumn<'a>>,
    reader: csv::Reader<&'a [u8]>,
    record: ByteRecord,
    /// Warnings about the header.
    pub warnings: Vec<Warning>,
}

/// A column that is read.
pub(super) struct FileColumn<'a> {
    /// Name in the file.
    name: &'a str,
    /// Place in a record; beyond the record where it is missing.
    index: usize,
    /// What is read where it is missing; of one that must be there, nothing.
    default: &'static str,
}

/// A column that is sought in a header.
#[derive(Clone, Copy)]
pub(super) struct ColumnRequest<'a> {
    pub name: &'a str,
    /// What is read where it is missing, if it may be.
    pub default: Option<&'static str>,
}

impl<'a> Reader<'a> {
    /// Reads the header and finds `columns` in it; one of `optional` may be missing and then reads
    /// as the text beside it.
    pub fn new(
        source: &'a Source,
        columns: &[&'a str],
        optional: &[(&'static str, &'static str)],
    ) -> Result<Self> {
        let default = |name| optional.iter().find(|it| it.0 == name).map(|it| it.1);
        let wanted: Vec<ColumnRequest<'a>> =
            columns.iter().map(|&name| ColumnRequest { name, default: default(name) }).collect();
        let separator = header::separator(&source.text);
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .comment(Some(b'#'))
            .delimiter(separator as u8)
            .from_reader(source.text.as_bytes());
        let mut record = ByteRecord::new();
        if !read_record(&mut reader, source, &mut record) {
            let expected = format!("a header with the columns {}", columns.join(", "));
            return Err(source.error(source.text.len(), "an empty file", expected));
        }
        let header = Header::new(source, separator, record);
        let columns = header.columns(&wanted)?;
        let warnings = header.warnings(&wanted)?;
        Ok(Self { header, columns, reader, record: ByteRecord::new(), warnings })
    }

    /// The next row, or `None` at the end. A row with more or fewer fields than the header is an
    /// error.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>> {
        if !read_record(&mut self.reader, self.header.source, &mut self.record) {
            return Ok(None);
        }
        let row = Row { header: &self.header, columns: &self.columns, record: &self.record };
        let width = self.header.names.len();
        if self.record.len() != width {
            let found = match self.record.len() {
                1 => "1 field".into(),
                count => format!("{count} fields"),
            };
            return Err(row.error(0, found, &format!("{width} as in the header")));
        }
        Ok(Some(row))
    }

    /// The error for a file that has a header and nothing else.
    pub fn no_rows(&self) -> Error {
        let source = self.header.source;
        source.error(source.text.len(), "no rows", "at least one row below the header")
    }
}

/// Reads the next record; false where nothing but comments and empty lines is left.
fn read_record(reader: &mut csv::Reader<&[u8]>, source: &Source, record: &mut ByteRecord) -> bool {
    let more = reader.read_byte_record(record).expect("invariant: reading from memory cannot fail");
    // A comment that the end of the file cuts off comes out of the reader as a record.
    more && header::start(source, record) < source.text.len()
}

/// One row, its fields addressed by the index of their column in the list given to the reader.
pub struct Row<'a> {
    header: &'a Header<'a>,
    columns: &'a [FileColumn<'a>],
    record: &'a ByteRecord,
}

impl Row<'_> {
    fn bytes(&self, column: usize) -> &[u8] {
        let FileColumn { index, default, .. } = self.columns[column];
        self.record.get(index).unwrap_or(default.as_bytes())
    }

    /// The field as it stands.
    pub fn text(&self, column: usize) -> &str {
        std::str::from_utf8(self.bytes(column)).expect("invariant: the source is UTF-8")
    }

    /// The field of a column of that name; empty where none was asked for.
    pub fn text_of(&self, name: &str) -> &str {
        let column = self.columns.iter().position(|column| column.name == name);
        column.map_or("", |column| self.text(column))
    }

    /// A whole number of at least `least`.
    #[inline]
    pub fn count(&self, column: usize, least: u32) -> Result<u32> {
        match self.text(column).parse::<u32>() {
            Ok(count) if count >= least => Ok(count),
            _ => {
                Err(self
                    .field_error(column, &format!("a whole number from {least} to {}", u32::MAX)))
            }
        }
    }

    /// A whole number of at least `least`, up to 2^64 - 1.
    pub fn large_count(&self, column: usize, least: u64) -> Result<u64> {
        match self.text(column).parse::<u64>() {
            Ok(count) if count >= least => Ok(count),
            _ => Err(self.field_error(column, &format!("a whole number of at least {least}"))),
        }
    }

    /// A finite time of zero or more \[s\].
    #[inline]
    pub fn seconds(&self, column: usize) -> Result<f64> {
        match self.text(column).parse::<f64>() {
            Ok(time) if time.is_finite() && time >= 0.0 => Ok(time),
            _ => Err(self.number_error(column, "a finite time of 0 s or more")),
        }
    }

    /// A finite number.
    pub fn number(&self, column: usize) -> Result<f64> {
        match self.text(column).parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.number_error(column, "a finite number")),
        }
    }

    /// A finite number of zero or more.
    pub fn amount(&self, column: usize) -> Result<f64> {
        match self.text(column).parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(self.number_error(column, "a finite number of 0 or more")),
        }
    }

    /// A word that is not empty.
    pub fn word(&self, column: usize) -> Result<String> {
        match self.text(column) {
            "" => Err(self.field_error(column, "a name")),
            word => Ok(word.to_string()),
        }
    }

    /// Any text, also none.
    pub fn phrase(&self, column: usize) -> Result<String> {
        Ok(self.text(column).to_string())
    }

    /// The error for a field that is not the number that was expected; it may have the comma of another language.
    fn number_error(&self, column: usize, expected: &str) -> Error {
        let (before, after) = self.text(column).split_once(',').unwrap_or_default();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !after.is_empty() && is_number(before.trim_start_matches('-')) && is_number(after) {
            let expected = format!("{expected}, with a point before its decimals, not a comma");
            return self.field_error(column, &expected);
        }
        self.field_error(column, expected)
    }

    /// The error for a field that is not `expected`.
    pub fn field_error(&self, column: usize, expected: &str) -> Error {
        let FileColumn { name, index, .. } = self.columns[column];
        self.error(index, format!("{:?} in column {name:?}", self.text(column)), expected)
    }

    /// An error at the field with that index in the file.
    pub fn error(&self, index: usize, found: String, expected: &str) -> Error {
        Error::Input { at: self.position(index), found, expected: expected.into() }
    }

    /// The error for a row that has the same values in `key_columns` as an earlier one.
    pub fn repeated(&self, key_columns: &[&str]) -> Error {
        let columns: Vec<usize> = (0..self.columns.len())
            .filter(|&column| key_columns.contains(&self.columns[column].name))
            .filter(|&column| self.columns[column].index < self.record.len())
            .collect();
        let values: Vec<String> = columns
            .iter()
            .map(|&column| format!("{} = {}", self.columns[column].name, self.text(column)))
            .collect();
        let first = columns.first().map_or(0, |&column| self.columns[column].index);
        self.error(first, format!("a second row for {}", values.join(", ")), "one row for each")
    }

    /// The place at which the field with that index in the file begins.
    fn position(&self, index: usize) -> Position {
        self.header.positions(self.record, &[index]).next().expect("invariant: each has a place")
    }

    /// The place at which the field of a column begins.
    pub fn position_of(&self, column: usize) -> Position {
        self.position(self.columns[column].index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::{Offload, Run};
    use super::*;
    use crate::error::Place;

    /// Below the header `m,p,repetition,time_s`.
    fn check(rows: &str, message: &str) {
        let source = Source::new("runs.csv", &format!("m,p,repetition,time_s\n{rows}"));
        assert_eq!(read::<Run>(&source).expect_err("must be refused").to_string(), message);
    }

    const TEXT: &str = "found \"x\" in column \"time_s\", expected a finite time of 0 s or more";

    #[test]
    fn a_mistake_is_reported_at_its_own_line_whatever_stands_above_it() {
        check("1,1,1,x\n", &format!("runs.csv:2:7: {TEXT}"));
        check("# why\n1,1,1,x\n", &format!("runs.csv:3:7: {TEXT}"));
        check("1,1,1,3\n\n# why\n\r\n# how\n2,1,1,x", &format!("runs.csv:7:7: {TEXT}"));
        check("1,1,1,3\r\n\r\n2,1,1,x\r\n", &format!("runs.csv:4:7: {TEXT}"));
    }

    #[test]
    fn a_column_counts_quotes_and_blanks_as_an_editor_does() {
        check("\"1\", 1,1,x\n", &format!("runs.csv:2:10: {TEXT}"));
        check("1,1,1,  x\n", &format!("runs.csv:2:9: {TEXT}"));
        check(
            "\"1,\n2\",1,1,3",
            "runs.csv:2:1: found \"1,\\n2\" in column \"m\", expected a whole number from 1 to \
             4294967295",
        );
    }

    #[test]
    fn a_field_that_is_empty_is_reported_where_it_would_stand() {
        check(
            "1,,1,3\n",
            "runs.csv:2:3: found \"\" in column \"p\", expected a whole number from 1 to 4294967295",
        );
        for rows in ["1,1,1,\n2,1,1,3\n", "1,1,1,\r\n", "1,1,1,"] {
            let message = "runs.csv:2:7: found \"\" in column \"time_s\", expected a finite time";
            check(rows, &format!("{message} of 0 s or more"));
        }
    }

    #[test]
    fn a_second_row_is_named_by_its_key() {
        check(
            "1,1,1,3\n2,1,1,3\n1,1,1,4\n",
            "runs.csv:4:1: found a second row for m = 1, p = 1, repetition = 1, expected one row \
             for each",
        );
        let source = Source::new("runs.csv", "time_s,m,p,repetition\n3,1,1,1\n44,1,1,1\n");
        let error = read::<Run>(&source).expect_err("must be refused").to_string();
        assert!(error.starts_with("runs.csv:3:4: found a second row for m = 1, "), "{error}");
    }

    #[test]
    fn a_last_line_may_be_a_comment_without_an_end() {
        let source = Source::new("runs.csv", "m,p,repetition,time_s\n1,1,1,3\n# end");
        assert_eq!(read::<Run>(&source).expect("a good file").0.len(), 1);
        check("# end", "runs.csv:2:6: found no rows, expected at least one row below the header");
        check("1,1,1,3\n1", "runs.csv:3:1: found 1 field, expected 4 as in the header");
    }

    #[test]
    fn a_row_that_begins_with_the_mark_of_a_comment_is_none() {
        let text = "heads,p\n\"#1\",2\n";
        assert_eq!(
            write_fields(&["heads", "p"], [vec!["#1".into(), "2".into()]].into_iter()),
            text
        );
        let source = Source::new("t.csv", text);
        let mut reader = Reader::new(&source, &["heads", "p"], &[]).expect("a header");
        let row = reader.next_row().expect("a row").expect("one");
        assert_eq!([row.text(0), row.text(1)], ["#1", "2"]);
    }

    #[test]
    fn each_unknown_column_has_its_place_however_many_there_are() {
        let names: Vec<String> = (0..100_000).map(|index| format!("c{index:05}")).collect();
        let header = format!("m,\"a,\n µ\",p,repetition, time_s,{}", names.join(","));
        let row = format!("1,,1,1,3{}", ",".repeat(names.len()));
        let text = format!("\u{feff}# why\n{header}\n{row}\n");
        let (_, warnings) = read::<Run>(&Source::new("runs.csv", &text)).expect("it is read");
        let place = |warning: &Warning| match warning {
            Warning::UnknownColumn { at, .. } => at.place,
            _ => Place::Names,
        };
        let places: Vec<Place> = warnings.iter().map(place).collect();
        let text = |line, column| Place::Text { line, column };
        assert_eq!(places[..3], [text(2, 3), text(3, 26), text(3, 33)]);
        assert_eq!(places[100_000], text(3, 26 + 7 * 99_999));
    }

    #[test]
    fn a_header_of_many_columns_without_one_that_is_needed_is_refused_in_a_short_message() {
        let names: Vec<String> = (0..100_000).map(|index| format!("c{index:05}")).collect();
        let text = format!("m,p,repetition,times_s,{}\n", names.join(","));
        let error = read::<Run>(&Source::new("runs.csv", &text)).expect_err("must be refused");
        let found = "found the columns m, p, repetition, times_s, c00000, c00001, c0000[...";
        let message = error.to_string();
        assert!(message.starts_with(&format!("runs.csv:1:16: {found} ")), "{message}");
        let advice = "expected a column \"time_s\"; did you mean that by \"times_s\"?";
        assert!(message.ends_with(advice), "{message}");
    }

    #[test]
    fn a_field_of_megabytes_is_quoted_in_part() {
        let field = "x".repeat(5_000_000);
        let text = format!("m,p,repetition,time_s\n1,1,1,{field}\n");
        let error = read::<Run>(&Source::new("runs.csv", &text)).expect_err("must be refused");
        let (begin, end) = ("x".repeat(59), "x".repeat(60 - "\" in column \"time_s\"".len()));
        assert_eq!(
            error.to_string(),
            format!(
                "runs.csv:2:7: found \"{begin}[... 4999901 characters ...]{end}\" in column \
                 \"time_s\", expected a finite time of 0 s or more"
            )
        );
        let name = format!("time_s{}", "µ".repeat(5_000_000));
        let text = format!("m,p,repetition,{name}\n");
        let error = read::<Run>(&Source::new("runs.csv", &text)).expect_err("must be refused");
        assert!(error.to_string().chars().count() < 500, "{}", error.to_string().len());
    }

    /// The header of a file of runs without a column that it needs.
    fn check_header(header: &str, message: &str) {
        let source = Source::new("runs.csv", &format!("{header}\n1,1,1,3\n"));
        let error = read::<Run>(&source).expect_err("must be refused");
        assert_eq!(error.to_string(), format!("runs.csv:1:{message}"));
    }

    #[test]
    fn a_misspelt_column_is_pointed_at() {
        check_header(
            "m,p,repetition,times_s",
            "16: found the columns m, p, repetition, times_s, expected a column \"time_s\"; did you \
             mean that by \"times_s\"?",
        );
        check_header(
            "m,p,repitition,time_s",
            "5: found the columns m, p, repitition, time_s, expected a column \"repetition\"; did \
             you mean that by \"repitition\"?",
        );
        check_header(
            "m,q,repetition,time_s",
            "1: found the columns m, q, repetition, time_s, expected a column \"p\"",
        );
    }

    #[test]
    fn a_column_in_another_unit_is_not_one_to_rename() {
        check_header(
            "m,p,repetition,time_ms",
            "16: found the columns m, p, repetition, time_ms, expected a column \"time_s\"; \
             \"time_ms\" would be in another unit",
        );
    }

    #[test]
    fn a_misspelt_column_that_may_be_missing_is_refused_and_another_a_warning() {
        let header = "bytes,repetition,round_trips,time_s";
        let read = |column: &str| {
            let text = format!("{header},{column}\n8,1,1000,1e-3,pingpong\n");
            read::<Offload>(&Source::new("offload.csv", &text))
        };
        for column in ["Mode", "moed", "modes", "MODE"] {
            assert_eq!(
                read(column).unwrap_err().to_string(),
                format!(
                    "offload.csv:1:37: found the column {column:?}, expected \"mode\" if that is \
                     meant, else a name less like it"
                )
            );
        }
        let warnings = |column: &str| {
            let (_, warnings) = read(column).unwrap();
            warnings.iter().map(Warning::to_string).collect::<Vec<_>>()
        };
        assert!(warnings("mode").is_empty());
        let ignored = "is not known and was ignored";
        assert_eq!(
            warnings("mo"),
            [format!("offload.csv:1:37: column \"mo\" {ignored}; did you mean \"mode\"?")]
        );
        assert_eq!(warnings("host"), [format!("offload.csv:1:37: column \"host\" {ignored}")]);
    }
}
