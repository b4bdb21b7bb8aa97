//! `runs.csv` row by row, fast where it is plain.
//!
//! Millions of timed runs are common, and what is made of them is small, so the rows are handed
//! on one by one and never held. Two readers share the work: a plain one that knows only what
//! such a file nearly always looks like, and the general one of [`super::csv`], which knows all
//! of CSV and writes every error. Whatever the plain one does not know, it leaves to the general
//! one, which then reads the file again from its start: a mistake costs a second pass, and each
//! error message is written in one place.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::{Columns, USUAL_TIMES, Unit};
use super::csv::{Reader, Record, Row, Wanted};
use super::failures::{Failures, is_failure, is_success, quoted};
use super::records::Run;
use super::{Source, runs_of};
use crate::error::{Result, Warning};

/// The header that the plain reader knows.
const PLAIN_HEADER: &str = "m,p,repetition,time_s";

/// All runs of a file of any format that is known, in their order.
///
/// # Errors
/// As [`collect`] and [`runs_of`].
pub fn read(source: &Source, columns: &Columns) -> Result<(Vec<Run>, Vec<Warning>)> {
    if let Some(foreign) = runs_of(source, columns)? {
        return Ok(foreign);
    }
    let insert = |(runs, keys): &mut (Vec<Run>, BTreeSet<_>), run: Run| {
        let is_new = keys.insert(run.key());
        runs.push(run);
        is_new
    };
    let ((runs, _), warnings) = collect(source, columns, Default::default, insert)?;
    Ok((runs, warnings))
}

/// Collects all rows of a CSV file, in their order, with `insert`, starting from `empty()`.
///
/// Without a column of repetitions, the rows of a configuration are 1, 2, 3... as they come. The
/// time may be in another unit than seconds, which the end of its column's name tells (`time_ms`).
/// A run that failed is left out, and a warning counts them: its time is empty or one of `nan`,
/// `NA`, `inf`, `failed`, `timeout`, `error` and `OOM`, or a column `status` says other than `ok`,
/// `0`, `success` or `completed`.
///
/// `insert` answers whether the row is new: a second row for the same (m, p, repetition) is an
/// error, as is a file without rows that did not fail. `empty` may be called twice.
///
/// # Errors
/// [`crate::Error::Input`] at whatever is not as described.
pub fn collect<C>(
    source: &Source,
    columns: &Columns,
    empty: impl Fn() -> C,
    mut insert: impl FnMut(&mut C, Run) -> bool,
) -> Result<(C, Vec<Warning>)> {
    if columns.are_usual() {
        let mut collection = empty();
        if let Some(failures) = plain(source, |run| insert(&mut collection, run)) {
            return Ok((collection, failures.warning(&source.name).into_iter().collect()));
        }
    }
    let mut collection = empty();
    let warnings = general(source, columns, |run| insert(&mut collection, run))?;
    Ok((collection, warnings))
}

/// Where the columns of a run stand in the list that is given to the reader.
const M: usize = 0;
const P: usize = 1;
const REPETITION: usize = 2;
const TIME: usize = 3;
const STATUS: usize = 4;

/// Reads all of CSV, and explains what it cannot read.
fn general(
    source: &Source,
    columns: &Columns,
    mut insert: impl FnMut(Run) -> bool,
) -> Result<Vec<Warning>> {
    let mut time = columns.time().unwrap_or(("time_s", Unit::Seconds));
    let mut is_numbered = false;
    let usual = [columns.m(), columns.p(), columns.repetition().unwrap_or("repetition"), time.0];
    let mut reader = Reader::choosing(source, &usual, |names| {
        let has = |name: &str| names.iter().any(|it| it == name);
        if let (None, Some(usual)) = (columns.time(), USUAL_TIMES.into_iter().find(|it| has(it))) {
            time = (usual, Unit::of(usual));
        }
        is_numbered = columns.repetition().is_none() && !has("repetition");
        let repetition = match columns.repetition() {
            Some(name) => Wanted::required(name),
            None => Wanted { name: "repetition", default: Some("") },
        };
        vec![
            Wanted::required(columns.m()),
            Wanted::required(columns.p()),
            repetition,
            Wanted::required(time.0),
            Wanted { name: "status", default: Some("ok") },
        ]
    })?;
    let mut failures = Failures::default();
    let mut repetitions: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut rows = 0_u64;
    while let Some(row) = reader.next_row()? {
        let point = (row.count(M, 1)?, row.count(P, 1)?);
        if let Some(column) = failed(&row) {
            failures.add(point, || (row.position_of(column), row.quoted(column)));
            continue;
        }
        let repetition = if is_numbered {
            let last = repetitions.entry(point).or_insert(0);
            *last += 1;
            *last
        } else {
            row.count(REPETITION, 1)?
        };
        let time_s = row.time(TIME, time.1)?;
        if !insert(Run { m: point.0, p: point.1, repetition, time_s }) {
            return Err(row.repeated(&usual[..TIME]));
        }
        rows += 1;
    }
    match failures.warning(&source.name) {
        Some(_) if rows == 0 => return Err(failures.all()),
        None if rows == 0 => return Err(reader.no_rows()),
        warning => reader.warnings.extend(warning),
    }
    Ok(reader.warnings)
}

/// The column that says that the run of a row failed.
fn failed(row: &Row<'_>) -> Option<usize> {
    if !is_success(row.text(STATUS)) {
        return Some(STATUS);
    }
    is_failure(row.text(TIME)).then_some(TIME)
}

/// Reads a file of the plain header and rows of `digits,digits,digits,number`; comment lines and
/// empty lines may stand between them, and a run may have failed. `None` where anything else turns
/// up, or no run is left.
fn plain(source: &Source, mut insert: impl FnMut(Run) -> bool) -> Option<Failures> {
    let text = source.text.as_bytes();
    let mut cursor = Cursor { rest: text };
    let mut failures = Failures::default();
    while cursor.skip_comment_or_empty_line() {}
    cursor.rest = cursor.rest.strip_prefix(PLAIN_HEADER.as_bytes())?;
    cursor.end_of_line()?;
    let mut rows = 0_u64;
    loop {
        while cursor.skip_comment_or_empty_line() {}
        if cursor.rest.is_empty() {
            return (rows > 0).then_some(failures);
        }
        let (m, p, repetition) = (cursor.count()?, cursor.count()?, cursor.count()?);
        let at = text.len() - cursor.rest.len();
        let Some(time_s) = cursor.seconds() else {
            let said = cursor.failure()?;
            failures.add((m, p), || (source.position(at), quoted(said, "time_s")));
            continue;
        };
        if !insert(Run { m, p, repetition, time_s }) {
            return None;
        }
        rows += 1;
    }
}

/// What of the text is still to be read.
struct Cursor<'a> {
    rest: &'a [u8],
}

/// Powers of ten that are exact in `f64`, as far as [`Cursor::seconds`] needs them.
const POWERS_OF_TEN: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// So many digits always fit a `u32`.
const COUNT_DIGITS: usize = 9;

/// So many digits always fit the 53 bits of an `f64`'s significand.
const EXACT_DIGITS: usize = 15;

impl<'a> Cursor<'a> {
    /// Skips a line that holds nothing or begins with `#`; answers whether there was one.
    #[inline]
    fn skip_comment_or_empty_line(&mut self) -> bool {
        match self.rest.first() {
            Some(b'#') => {
                let end = self.rest.iter().position(|&byte| byte == b'\n');
                self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
                true
            }
            Some(b'\n' | b'\r') => {
                self.rest = &self.rest[1..];
                true
            }
            _ => false,
        }
    }

    /// The number that the digits at the front make, and how many there are; the number is
    /// meaningless where they are too many to fit.
    #[inline]
    fn digits(&self, from: usize, start: u64) -> (u64, usize) {
        let mut value = start;
        let mut at = from;
        while let Some(&byte) = self.rest.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        (value, at - from)
    }

    /// A whole number of at least 1, and the comma after it.
    #[inline]
    fn count(&mut self) -> Option<u32> {
        let (value, length) = self.digits(0, 0);
        let is_plain = length <= COUNT_DIGITS && value >= 1 && self.rest.get(length) == Some(&b',');
        if !is_plain {
            return None;
        }
        self.rest = &self.rest[length + 1..];
        Some(value as u32)
    }

    /// A finite number that is not negative, and the end of the line after it.
    ///
    /// Up to 15 digits are an exact `f64`, as is the power of ten, so their quotient is the `f64`
    /// nearest to what is written: the same as the standard library's.
    #[inline]
    fn seconds(&mut self) -> Option<f64> {
        let (whole, before) = self.digits(0, 0);
        let (value, after) = match self.rest.get(before) {
            Some(b'.') => self.digits(before + 1, whole),
            _ => (whole, 0),
        };
        let length = before + after + usize::from(self.rest.get(before) == Some(&b'.'));
        let ends = matches!(self.rest.get(length), None | Some(b'\n' | b'\r'));
        if !(ends && before >= 1 && before + after <= EXACT_DIGITS) {
            return self.uncommon_seconds();
        }
        self.rest = &self.rest[length..];
        self.end_of_line()?;
        Some(value as f64 / POWERS_OF_TEN[after])
    }

    /// As [`Self::seconds`], for numbers of many digits or with an exponent.
    #[cold]
    fn uncommon_seconds(&mut self) -> Option<f64> {
        let (field, rest) = self.last_field()?;
        let time: f64 = field.parse().ok()?;
        if !(time.is_finite() && time >= 0.0) {
            return None;
        }
        self.rest = rest;
        self.end_of_line()?;
        Some(time)
    }

    /// What says that a run failed, where [`Self::seconds`] found no time.
    #[cold]
    fn failure(&mut self) -> Option<&'a str> {
        let (field, rest) = self.last_field()?;
        self.rest = rest;
        self.end_of_line()?;
        is_failure(field).then_some(field)
    }

    /// The rest of the line, and what follows it.
    fn last_field(&self) -> Option<(&'a str, &'a [u8])> {
        let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (field, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        Some((std::str::from_utf8(field).ok()?, rest))
    }

    /// The end of a line or of the text.
    #[inline]
    fn end_of_line(&mut self) -> Option<()> {
        self.rest = match self.rest {
            [] => self.rest,
            [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => rest,
            _ => return None,
        };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::csv;
    use super::*;

    type Rows = (Vec<Run>, BTreeSet<(u32, u32, u32)>);

    fn insert((rows, keys): &mut Rows, run: Run) -> bool {
        let is_new = keys.insert(run.key());
        rows.push(run);
        is_new
    }

    fn with_header(rows: &str) -> Source {
        Source::new("runs.csv", &format!("{PLAIN_HEADER}\n{rows}"))
    }

    fn collected(source: &Source) -> Result<(Vec<Run>, Vec<Warning>)> {
        let collected = collect(source, &Columns::default(), Rows::default, insert);
        collected.map(|((rows, _), warnings)| (rows, warnings))
    }

    /// What is read, and every message, is what the general reader gives; rows are those that the
    /// reader of all tables gives, where it reads them.
    fn check(source: &Source) {
        let mut rows = Rows::default();
        let general = general(source, &Columns::default(), |run| insert(&mut rows, run));
        match (collected(source), general) {
            (Ok(found), Ok(warnings)) => assert_eq!(found, (rows.0, warnings)),
            (Err(found), Err(expected)) => assert_eq!(found.to_string(), expected.to_string()),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
        if let Ok((expected, _)) = csv::read::<Run>(source) {
            assert_eq!(collected(source).unwrap().0, expected);
        }
    }

    /// Whether the plain reader answers by itself.
    fn is_plain(source: &Source) -> bool {
        plain(source, |_| true).is_some()
    }

    #[test]
    fn plain_files_are_read_alike_and_by_the_plain_reader() {
        for rows in [
            "1,1,1,3.5\n2,1,1,2\n",
            "1,1,1,3.5\r\n2,1,1,2",
            "# a comment, 1\n1,1,1,0.000001\n\n\r\n# another\n16,16,4294967,123456789.012345\n",
            "1,1,1,0.1\n1,1,2,0.30000000000000004\n1,1,3,1e-5\n1,1,4,2E+3\n1,1,5,.5\n1,1,6,7.\n",
            "007,1,1,00.10\n1,1,999999999,999999999999999\n1,1,2,1234567890123456789\n",
            "1,1,1,3\n# the end\n",
            "1,1,1,3\n# not ended",
        ] {
            check(&with_header(rows));
            assert!(is_plain(&with_header(rows)), "{rows}");
        }
    }

    #[test]
    fn unusual_files_are_read_alike_by_the_general_reader() {
        for rows in
            ["1, 1,1,3.5\n", "\"1\",1,1,3.5\n", "+1,1,1,3\n", "1,1,4294967295,3\n", "1,1,1,3 \n"]
        {
            check(&with_header(rows));
            assert!(!is_plain(&with_header(rows)), "{rows}");
        }
        for text in [
            "time_s,m,p,repetition\n3,1,1,1\n",
            "m,p,repetition,time_s,host\n1,1,1,3,a\n",
            "\u{feff}m,p,repetition,time_s\n1,1,1,3\n",
        ] {
            check(&Source::new("runs.csv", text));
        }
    }

    #[test]
    fn bad_rows_are_refused_in_the_same_words() {
        for row in [
            "1,1,1,fast",
            "1,1,1,-3",
            "1,1,1,-inf",
            "1,1,1,infinity",
            "0,1,1,NaN",
            "0,1,1,3",
            "1,0,1,3",
            "1,1,0,3",
            "1,1,1",
            "1,1,1,3,4",
            "1,1,1,3\u{0}",
            "99999999999999999999,1,1,3",
            "1,1,2,4",
            ",,,",
            "1,1,1,-0.5",
            "1,1,1,1e999",
            "1,1,1,.",
            "1;1;1;3",
            "1,1,1,\u{b5}",
            "1.5,1,1,3",
            "4294967296,1,1,3",
        ] {
            let rows = format!("# comment\n1,1,2,3\n{row}\n3,1,1,3\n");
            let source = with_header(&rows);
            check(&source);
            let error = collected(&source).unwrap_err().to_string();
            assert!(error.starts_with("runs.csv:4:"), "{row}: {error}");
        }
    }

    /// (m, p, repetition, time).
    type Row = (u32, u32, u32, f64);

    /// The rows and the warnings, of columns under these names.
    fn read_as(columns: &str, text: &str) -> (Vec<Row>, Vec<String>) {
        let columns = match columns {
            "" => Columns::default(),
            columns => columns.parse().expect("good columns"),
        };
        let (runs, warnings) = read(&Source::new("runs.csv", text), &columns).expect("good runs");
        let runs = runs.iter().map(|run| (run.m, run.p, run.repetition, run.time_s)).collect();
        (runs, warnings.iter().map(Warning::to_string).collect())
    }

    #[test]
    fn runs_that_failed_are_left_out_and_counted_by_both_readers() {
        for failure in ["", "nan", "NA", "Inf", "failed", "TIMEOUT", "error", "OOM"] {
            let rows = format!("1,1,1,3\n# why\n2,4,1,{failure}\n2,4,2,{failure}\r\n2,4,3,5\n");
            let source = with_header(&rows);
            assert!(is_plain(&source), "{failure:?}");
            check(&source);
            let expected = format!(
                "runs.csv: 2 runs failed and were left out, the first in line 4, of (2, 4): \
                 {failure:?} in column \"time_s\""
            );
            let (rows, warnings) = read_as("", &source.text);
            assert_eq!(rows, [(1, 1, 1, 3.0), (2, 4, 3, 5.0)]);
            assert_eq!(warnings, [expected]);
        }
    }

    #[test]
    fn a_run_that_failed_may_be_repeated_under_its_number() {
        let source = with_header("1,1,1,timeout\n1,1,1,3\n");
        check(&source);
        assert_eq!(read_as("", &source.text).0, [(1, 1, 1, 3.0)]);
    }

    #[test]
    fn a_status_other_than_success_is_a_failure() {
        let text = "m,p,time_s,status\n1,1,3,OK\n1,1,9,1\n2,1,4,0\n2,1,4,Completed\n4,1,8,\n";
        let (rows, warnings) = read_as("", text);
        assert_eq!(rows, [(1, 1, 1, 3.0), (2, 1, 1, 4.0), (2, 1, 2, 4.0)]);
        let expected = "runs.csv: 2 runs failed and were left out, the first in line 3, of (1, 1): \
                        \"1\" in column \"status\"";
        assert_eq!(warnings, [expected]);
    }

    #[test]
    fn a_file_of_failures_alone_is_refused_at_the_first() {
        let source = with_header("1,1,1,OOM\n2,1,1,OOM\n");
        check(&source);
        assert_eq!(
            collected(&source).unwrap_err().to_string(),
            "runs.csv:2:7: found \"OOM\" in column \"time_s\", and no run that did not fail, \
             expected at least one time"
        );
    }

    #[test]
    fn columns_are_read_under_the_names_that_are_chosen() {
        let text = "host,threads,ranks,elapsed_ms,m\na,2,4,1500,x\nb,2,4,1250,y\n";
        let (rows, warnings) = read_as("m=ranks,p=threads,time=elapsed_ms", text);
        assert_eq!(rows, [(4, 2, 1, 1.5), (4, 2, 2, 1.25)]);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        let numbered = "m=m,repetition=n";
        assert_eq!(read_as(numbered, "m,p,n,time_s\n1,1,7,3\n").0, [(1, 1, 7, 3.0)]);
    }

    #[test]
    fn a_chosen_column_that_is_not_there_is_named_with_those_that_are() {
        let refused = |columns: &str, text: &str| {
            let columns = columns.parse().expect("good columns");
            read(&Source::new("x.csv", text), &columns).unwrap_err().to_string()
        };
        assert_eq!(
            refused("m=rank", "ranks,p,time_s\n1,1,3\n"),
            "x.csv:1:1: found the columns ranks, p, time_s, expected a column \"rank\"; did you \
             mean that by \"ranks\"?"
        );
        assert_eq!(
            refused("time=wall", "m,p,time_s\n1,1,3\n"),
            "x.csv:1:1: found the columns m, p, time_s, expected a column \"wall\""
        );
        assert_eq!(
            refused("m=a", "a;p;time_s\n1;1;3\n2;1;x\n"),
            "x.csv:3:5: found \"x\" in column \"time_s\", expected a finite time of 0 s or more"
        );
    }

    #[test]
    fn a_time_is_read_in_the_unit_of_its_column() {
        for (unit, time_s) in
            [("s", 250.0), ("ms", 0.25), ("us", 0.000_25), ("ns", 2.5e-7), ("min", 15e3)]
        {
            let text = format!("time_{unit},m,p\n250,1,1\n");
            assert_eq!(read_as("", &text), (vec![(1, 1, 1, time_s)], Vec::new()));
        }
    }

    #[test]
    fn semicolons_and_tabs_separate_as_commas_do() {
        for separator in [";", "\t"] {
            let text = "# a, b\n\nm,p,time_s,note\n1,1,3,\n2,1,4,\n".replace(',', separator);
            let (rows, warnings) = read_as("", &text);
            assert_eq!(rows, [(1, 1, 1, 3.0), (2, 1, 1, 4.0)]);
            assert_eq!(warnings, ["runs.csv:3:12: column \"note\" is not known and was ignored"]);
            let source = Source::new("runs.csv", &text.replace('4', "x"));
            let error = collected(&source).unwrap_err().to_string();
            assert!(error.starts_with("runs.csv:5:5: found \"x\""), "{error}");
        }
    }

    #[test]
    fn a_comma_before_decimals_is_refused_and_not_guessed() {
        let source = Source::new("runs.csv", "m;p;time_s\n1;1;1,5\n");
        assert_eq!(
            collected(&source).unwrap_err().to_string(),
            "runs.csv:2:5: found \"1,5\" in column \"time_s\", expected a finite time of 0 s or \
             more, with a point before its decimals, not a comma"
        );
    }

    #[test]
    fn repetitions_are_numbered_where_no_column_does() {
        let (rows, _) = read_as("", "m,p,time_s\n1,1,3\n2,1,4\n1,1,5\n");
        assert_eq!(rows, [(1, 1, 1, 3.0), (2, 1, 1, 4.0), (1, 1, 2, 5.0)]);
    }

    #[test]
    fn a_misspelt_optional_column_of_runs_is_refused() {
        for (column, right) in
            [("Repetition", "repetition"), ("repitition", "repetition"), ("Status", "status")]
        {
            let text = format!("m,p,{column},time_s\n1,1,1,3\n");
            let error = collected(&Source::new("runs.csv", &text)).unwrap_err().to_string();
            let expected = format!("runs.csv:1:5: found the column {column:?}, expected {right:?}");
            assert!(error.starts_with(&expected), "{error}");
        }
        let error = collected(&Source::new("runs.csv", "m,p,time_S\n1,1,3\n")).unwrap_err();
        assert!(error.to_string().ends_with("\"time_s\"; did you mean that by \"time_S\"?"));
    }

    #[test]
    fn files_without_rows_or_columns_are_refused_in_the_same_words() {
        for text in [
            "",
            "\n",
            "# only\n",
            "# only",
            "m,p,repetition,time_s",
            "m,repetition,time_s\n1,1,2\n",
            "m,p,m,p\n",
        ] {
            let source = Source::new("runs.csv", text);
            check(&source);
            assert!(collected(&source).is_err());
        }
    }

    #[test]
    fn times_are_the_nearest_numbers_to_what_is_written() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let mut rows = String::new();
        for repetition in 1..5000 {
            let length = random.random_range(1..18);
            let digits = random.random_range(0..10_u64.pow(length));
            let decimals = random.random_range(0..16);
            let time = digits as f64 / 10_f64.powi(decimals);
            rows += &format!("1,1,{repetition},{time:.*}\n", decimals as usize);
        }
        check(&with_header(&rows));
    }
}
