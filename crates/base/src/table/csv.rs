//! CSV with named columns: headers in any order, `#` comment lines, every error with its place.

use std::collections::BTreeSet;

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::{BYTE_ORDER_MARK, Source};
use crate::error::{Error, Position, Result, Warning, is_in_another_unit, nearest, shortened};

/// One row type of a CSV file.
pub trait Record: Sized {
    /// The columns that must be there, in the order in which they are written.
    const COLUMNS: &'static [&'static str];
    /// Those of the columns that identify a row: no two rows may share all of them.
    const KEY_COLUMNS: &'static [&'static str];
    /// Those of the columns that may be missing, with the text that is read instead. Where all
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
    let mut reader = Reader::with_optional(source, R::COLUMNS, R::OPTIONAL)?;
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
    let mut writer = csv::Writer::from_writer(Vec::new());
    let in_memory = "invariant: writing to memory cannot fail";
    writer.write_record(header).expect(in_memory);
    for row in rows {
        writer.write_record(row).expect(in_memory);
    }
    String::from_utf8(writer.into_inner().expect(in_memory)).expect("invariant: fields are text")
}

/// Reads a CSV text row by row, without holding the rows.
pub struct Reader<'a> {
    source: &'a Source,
    columns: &'static [&'static str],
    reader: csv::Reader<&'a [u8]>,
    record: ByteRecord,
    width: usize,
    /// For each of `columns`, where it stands in a record; beyond it where it is missing.
    indices: Vec<usize>,
    optional: &'static [(&'static str, &'static str)],
    /// Warnings about the header.
    pub warnings: Vec<Warning>,
}

impl<'a> Reader<'a> {
    /// Reads the header and finds `columns` in it.
    pub fn new(source: &'a Source, columns: &'static [&'static str]) -> Result<Self> {
        Self::with_optional(source, columns, &[])
    }

    /// As [`Self::new`], but a column of `optional` may be missing and then reads as the text
    /// beside it.
    pub fn with_optional(
        source: &'a Source,
        columns: &'static [&'static str],
        optional: &'static [(&'static str, &'static str)],
    ) -> Result<Self> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .comment(Some(b'#'))
            .from_reader(source.text.as_bytes());
        let mut header = ByteRecord::new();
        if !read_record(&mut reader, source, &mut header) {
            return Err(Error::Input {
                at: source.position(source.text.len()),
                found: "an empty file".into(),
                expected: format!("a header with the columns {}", columns.join(", ")),
            });
        }
        let row = Row { source, columns, indices: &[], optional, record: &header };
        let names: Vec<String> =
            header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let mut indices = Vec::with_capacity(columns.len());
        for wanted in columns {
            let mut places = (0..names.len()).filter(|&index| names[index] == *wanted);
            let is_optional = optional.iter().any(|(name, _)| name == wanted);
            let Some(first) = places.next().or(is_optional.then_some(names.len())) else {
                return Err(row.missing(&names, wanted));
            };
            if let Some(second) = places.next() {
                return Err(row.error(second, format!("a second column {wanted:?}"), "only one"));
            }
            indices.push(first);
        }
        let absent = |&(name, _): &(&'static str, _)| !names.iter().any(|it| it == name);
        let missing: Vec<&'static str> =
            optional.iter().filter(|it| absent(it)).map(|&(name, _)| name).collect();
        let unknown: Vec<usize> =
            (0..names.len()).filter(|index| !indices.contains(index)).collect();
        let warnings = row
            .positions(&unknown)
            .zip(&unknown)
            .map(|(at, &index)| Warning::UnknownColumn {
                at,
                name: names[index].clone(),
                missing: missing.clone(),
            })
            .collect();
        let width = names.len();
        let record = ByteRecord::new();
        Ok(Self { source, columns, reader, record, width, indices, optional, warnings })
    }

    /// The next row, or `None` at the end. A row with more or fewer fields than the header is an
    /// error.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>> {
        if !read_record(&mut self.reader, self.source, &mut self.record) {
            return Ok(None);
        }
        let row = Row {
            source: self.source,
            columns: self.columns,
            indices: &self.indices,
            optional: self.optional,
            record: &self.record,
        };
        if self.record.len() != self.width {
            let found = match self.record.len() {
                1 => "1 field".into(),
                count => format!("{count} fields"),
            };
            return Err(row.error(0, found, &format!("{} as in the header", self.width)));
        }
        Ok(Some(row))
    }

    /// The error for a file that has a header and nothing else.
    pub fn no_rows(&self) -> Error {
        Error::Input {
            at: self.source.position(self.source.text.len()),
            found: "no rows".into(),
            expected: "at least one row below the header".into(),
        }
    }
}

/// Reads the next record; false where nothing but comments and empty lines is left.
fn read_record(reader: &mut csv::Reader<&[u8]>, source: &Source, record: &mut ByteRecord) -> bool {
    let more = reader.read_byte_record(record).expect("invariant: reading from memory cannot fail");
    // A comment that the end of the file cuts off comes out of the reader as a record.
    more && start(source, record) < source.text.len()
}

/// The byte at which a record begins: its own position is where the one before it ended, ahead of
/// the comments and empty lines between them.
fn start(source: &Source, record: &ByteRecord) -> usize {
    let mut start = record.position().map_or(0, |position| position.byte() as usize);
    loop {
        let rest = &source.text[start..];
        start += match rest.chars().next() {
            Some('#') => rest.find('\n').map_or(rest.len(), |newline| newline + 1),
            Some(skipped @ ('\n' | '\r' | BYTE_ORDER_MARK)) => skipped.len_utf8(),
            _ => return start,
        };
    }
}

/// One row, its fields addressed by the index of their column in the list given to the reader.
pub struct Row<'a> {
    source: &'a Source,
    columns: &'static [&'static str],
    indices: &'a [usize],
    optional: &'static [(&'static str, &'static str)],
    record: &'a ByteRecord,
}

impl Row<'_> {
    fn bytes(&self, column: usize) -> &[u8] {
        self.record.get(self.indices[column]).unwrap_or_else(|| {
            let missing = self.optional.iter().find(|(name, _)| *name == self.columns[column]);
            missing.expect("invariant: only an optional column is missing").1.as_bytes()
        })
    }

    /// The field as it stands.
    pub fn text(&self, column: usize) -> &str {
        std::str::from_utf8(self.bytes(column)).expect("invariant: the source is UTF-8")
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
            _ => Err(self.field_error(column, "a finite time of 0 s or more")),
        }
    }

    /// A finite number.
    pub fn number(&self, column: usize) -> Result<f64> {
        match self.text(column).parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.field_error(column, "a finite number")),
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

    /// The error for a field that is not `expected`.
    pub(super) fn field_error(&self, column: usize, expected: &str) -> Error {
        let found = format!("{:?} in column {:?}", self.text(column), self.columns[column]);
        self.error(self.indices[column], found, expected)
    }

    /// An error at the field with that index in the file.
    pub fn error(&self, index: usize, found: String, expected: &str) -> Error {
        Error::Input { at: self.position(index), found, expected: expected.into() }
    }

    /// The error for a header without the column `wanted`, at the one that could have been meant.
    fn missing(&self, names: &[String], wanted: &str) -> Error {
        let found = format!("the columns {}", names.join(", "));
        let unknown: Vec<&String> =
            names.iter().filter(|name| !self.columns.contains(&name.as_str())).collect();
        let place = |name: &str| names.iter().position(|it| it == name).unwrap_or(0);
        if let Some(other) = unknown.iter().find(|name| is_in_another_unit(name, wanted)) {
            let advice = format!("a column {wanted:?}; {other:?} would be in another unit");
            return self.error(place(other), found, &advice);
        }
        let Some(near) = nearest(wanted, &unknown) else {
            return self.error(0, found, &format!("a column {wanted:?}"));
        };
        let advice = format!("a column {wanted:?}; did you mean that by {:?}?", shortened(near));
        self.error(place(near), found, &advice)
    }

    /// The error for a row that has the same values in `key_columns` as an earlier one.
    pub fn repeated(&self, key_columns: &[&str]) -> Error {
        let columns: Vec<usize> = (0..self.columns.len())
            .filter(|&column| key_columns.contains(&self.columns[column]))
            .filter(|&column| self.indices[column] < self.record.len())
            .collect();
        let values: Vec<String> = columns
            .iter()
            .map(|&column| format!("{} = {}", self.columns[column], self.text(column)))
            .collect();
        let first = columns.first().map_or(0, |&column| self.indices[column]);
        self.error(first, format!("a second row for {}", values.join(", ")), "one row for each")
    }

    /// Where the field with that index in the file begins.
    fn position(&self, index: usize) -> Position {
        self.positions(&[index]).next().expect("invariant: each field has a place")
    }

    /// Where the fields with those indices in the file, which ascend, begin. Each is sought from
    /// the one before it, so that all together take one pass over the row.
    fn positions(&self, indices: &[usize]) -> impl Iterator<Item = Position> {
        let mut offset = start(self.source, self.record);
        let mut at = self.source.position(offset);
        let mut commas = 0;
        let mut quoted = false;
        indices.iter().map(move |&index| {
            let rest = &self.source.text[offset..];
            let field = rest.find(|letter: char| {
                if commas == index && !matches!(letter, ' ' | '\t') {
                    return true;
                }
                quoted ^= letter == '"';
                commas += usize::from(letter == ',' && !quoted);
                (at.line, at.column) =
                    if letter == '\n' { (at.line + 1, 1) } else { (at.line, at.column + 1) };
                false
            });
            offset += field.unwrap_or(rest.len());
            at.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::{Offload, Run};
    use super::*;

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
    fn each_unknown_column_has_its_place_however_many_there_are() {
        let names: Vec<String> = (0..100_000).map(|index| format!("c{index:05}")).collect();
        let header = format!("m,\"a,\n µ\",p,repetition, time_s,{}", names.join(","));
        let row = format!("1,,1,1,3{}", ",".repeat(names.len()));
        let text = format!("\u{feff}# why\n{header}\n{row}\n");
        let (_, warnings) = read::<Run>(&Source::new("runs.csv", &text)).expect("it is read");
        let place = |warning: &Warning| match warning {
            Warning::UnknownColumn { at, .. } => (at.line, at.column),
            _ => (0, 0),
        };
        let places: Vec<(u64, u64)> = warnings.iter().map(place).collect();
        assert_eq!(places[..3], [(2, 3), (3, 26), (3, 33)]);
        assert_eq!(places[100_000], (3, 26 + 7 * 99_999));
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
    fn a_misspelt_column_that_may_be_missing_raises_a_warning() {
        let header = "bytes,repetition,round_trips,time_s";
        let warnings = |column: &str| {
            let text = format!("{header},{column}\n8,1,1000,1e-3,stream\n");
            let (_, warnings) = read::<Offload>(&Source::new("offload.csv", &text)).unwrap();
            warnings.iter().map(Warning::to_string).collect::<Vec<_>>()
        };
        assert!(warnings("mode").is_empty());
        let ignored = "is not known and was ignored";
        let meant = "; did you mean \"mode\"?";
        assert_eq!(
            warnings("moed"),
            [format!("offload.csv:1:37: column \"moed\" {ignored}{meant}")]
        );
        assert_eq!(warnings("host"), [format!("offload.csv:1:37: column \"host\" {ignored}")]);
    }
}
