//! `runs.csv` row by row, fast where it is plain.
//!
//! Millions of timed runs are common, and what is made of them is small, so the rows are handed
//! on one by one and never held. Two readers share the work: a plain one that knows only what
//! such a file nearly always looks like, and the general one of [`super::csv`], which knows all
//! of CSV and writes every error. Whatever the plain one does not know, it leaves to the general
//! one, which then reads the file again from its start: a mistake costs a second pass, and each
//! error message is written in one place.

use super::Source;
use super::csv::{Reader, Record};
use super::records::Run;
use crate::error::{Result, Warning};

/// The header that the plain reader knows.
const PLAIN_HEADER: &str = "m,p,repetition,time_s";

/// Collects all rows of `source`, in their order, with `insert`, starting from `empty()`.
///
/// `insert` answers whether the row is new: a second row for the same (m, p, repetition) is an
/// error, as is a file without rows. `empty` may be called twice.
pub fn collect<C>(
    source: &Source,
    empty: impl Fn() -> C,
    mut insert: impl FnMut(&mut C, Run) -> bool,
) -> Result<(C, Vec<Warning>)> {
    let mut collection = empty();
    if plain(source.text.as_bytes(), |run| insert(&mut collection, run)).is_some() {
        return Ok((collection, Vec::new()));
    }
    let mut collection = empty();
    let warnings = general(source, |run| insert(&mut collection, run))?;
    Ok((collection, warnings))
}

/// Reads all of CSV, and explains what it cannot read.
fn general(source: &Source, mut insert: impl FnMut(Run) -> bool) -> Result<Vec<Warning>> {
    let mut reader = Reader::new(source, Run::COLUMNS)?;
    let mut rows = 0_u64;
    while let Some(row) = reader.next_row()? {
        let run = Run::read(&row)?;
        if !insert(run) {
            return Err(row.repeated(Run::KEY_COLUMNS));
        }
        rows += 1;
    }
    if rows == 0 {
        return Err(reader.no_rows());
    }
    Ok(reader.warnings)
}

/// Reads a file of the plain header and rows of `digits,digits,digits,number`; comment lines and
/// empty lines may stand between them. `None` where anything else turns up.
fn plain(text: &[u8], mut insert: impl FnMut(Run) -> bool) -> Option<()> {
    let mut cursor = Cursor { rest: text };
    while cursor.skip_comment_or_empty_line() {}
    cursor.rest = cursor.rest.strip_prefix(PLAIN_HEADER.as_bytes())?;
    cursor.end_of_line()?;
    let mut rows = 0_u64;
    loop {
        while cursor.skip_comment_or_empty_line() {}
        if cursor.rest.is_empty() {
            return (rows > 0).then_some(());
        }
        let run = Run {
            m: cursor.count()?,
            p: cursor.count()?,
            repetition: cursor.count()?,
            time_s: cursor.seconds()?,
        };
        if !insert(run) {
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

impl Cursor<'_> {
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
        let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (field, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let time: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
        self.rest = rest;
        self.end_of_line()?;
        (time.is_finite() && time >= 0.0).then_some(time)
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

    /// What is read, and every message, is what the general reader of tables gives.
    fn check(source: &Source) {
        let found = collect(source, Rows::default, insert);
        let found = found.map(|((rows, _), warnings)| (rows, warnings));
        match (found, csv::read::<Run>(source)) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert_eq!(found.to_string(), expected.to_string()),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    /// Whether the plain reader answers by itself.
    fn is_plain(source: &Source) -> bool {
        plain(source.text.as_bytes(), |_| true).is_some()
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
            "1,1,1,NaN",
            "1,1,1,inf",
            "0,1,1,3",
            "1,0,1,3",
            "1,1,0,3",
            "1,1,1",
            "1,1,1,3,4",
            "1,1,1,3\u{0}",
            "99999999999999999999,1,1,3",
            "1,1,2,4",
            ",,,",
            "1,1,1,",
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
            let error = collect(&source, Rows::default, insert).unwrap_err().to_string();
            assert!(error.starts_with("runs.csv:4:"), "{row}: {error}");
        }
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
            assert!(collect(&source, Rows::default, insert).is_err());
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
