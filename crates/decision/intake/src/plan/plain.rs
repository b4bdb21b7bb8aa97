//! Rows of plain numbers, read fast.
//!
//! Millions of timed runs are common, and what is made of them is small. Where each line is a row, no field
//! is quoted and all that is wanted of a row is a number in a column of its own, numbers are read where they
//! stand. A line that has anything else is read as all others are, by itself. So are the numbers of a data frame and
//! a row of it that has anything else.

use mmgp_base::error::Result;
use mmgp_base::table::records::Run;

use super::numbers::Number;
use super::reading::RowReader;
use crate::frame::{Column, Frame};
use crate::outcomes::{Entry, is_failure, is_sign};
use crate::sheet::{Field, Lines, Sheet, complete};
use crate::units::Unit;

/// What is wanted of each column.
#[derive(Clone, Copy, PartialEq)]
enum ColumnUse {
    M,
    P,
    Repetition,
    Time,
    Nothing,
}

/// The columns of plain rows.
pub(super) struct PlainRows {
    wanted: Vec<ColumnUse>,
    unit: Unit,
    is_numbered: bool,
}

/// Powers of ten that are exact in `f64`.
const POWERS_OF_TEN: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Number of digits that always fit a `u32`.
const COUNT_DIGITS: usize = 9;

/// Number of digits that always fit the 53 bits of an `f64`'s significand.
const EXACT_DIGITS: usize = 15;

impl PlainRows {
    /// The columns, where a plan wants nothing of a row but such numbers; in a data frame, what is the same in all
    /// rows may be wanted besides, where it says that no run failed.
    pub fn of(plan: &super::Plan, sheet: &Sheet<'_>) -> Option<Self> {
        let text = |place: usize| sheet.rows.frame().and_then(|frame| frame.only_text(place));
        let is_simple = plan.filter.is_none()
            && plan.only.is_none()
            && plan.spread.is_none()
            && plan.numbering.is_none()
            && plan.watched.iter().all(|&place| text(place).is_some())
            && plan.remarks.iter().all(|&place| text(place).is_some_and(|it| !is_sign(&it)))
            && plan.statistics.iter().all(|&place| Some(place) == plan.repetition)
            && plan.circumstances.is_empty()
            && plan
                .failures
                .iter()
                .all(|(place, role)| text(*place).is_some_and(|it| !is_failure(*role, &it)));
        let (time, unit) = plan.times.plain().filter(|_| is_simple)?;
        let mut wanted = vec![ColumnUse::Nothing; sheet.columns.len()];
        wanted[time] = ColumnUse::Time;
        for (number, of) in [(&plan.m, ColumnUse::M), (&plan.p, ColumnUse::P)] {
            match number {
                Number::Column(place) => wanted[*place] = of,
                Number::One => {}
                _ => return None,
            }
        }
        if let Some(place) = plan.repetition {
            wanted[place] = ColumnUse::Repetition;
        }
        Some(Self { wanted, unit, is_numbered: plan.repetition.is_some() })
    }

    /// Reads all lines.
    pub fn read(
        &self,
        lines: Lines<'_>,
        rows: &mut RowReader<'_>,
        entry: &mut impl FnMut(Entry) -> bool,
    ) -> Result<()> {
        let text = lines.text.as_bytes();
        let mut at = lines.start;
        let mut repetitions = Counters::default();
        while at < text.len() {
            match text[at] {
                b'\n' | b'\r' => {
                    at += 1;
                    continue;
                }
                b'#' => {
                    at = end_of_line(text, at);
                    continue;
                }
                _ => {}
            }
            // What ends without the end of a line may be cut off.
            let is_whole = |(_, end): &(Run, usize)| *end < text.len() || text.ends_with(b"\n");
            let plain = self.row(text, at, lines.separator).filter(is_whole);
            let Some((run, end)) = plain else {
                let end = end_of_line(text, at);
                let mut fields = fields(lines.text, at..end, lines.separator);
                complete(&mut fields, self.wanted.len(), lines.text);
                at = end;
                if rows.is_row(&fields)? {
                    rows.read(&fields, entry, &mut |point| repetitions.next(point))?;
                }
                continue;
            };
            self.take(run, &mut repetitions, rows, entry, |place| {
                fields(lines.text, at..end_of_line(text, at), lines.separator)[place].at
            });
            at = end;
        }
        Ok(())
    }

    /// Reads all rows of a data frame.
    pub fn read_frame(
        &self,
        frame: &Frame,
        rows: &mut RowReader<'_>,
        entry: &mut impl FnMut(Entry) -> bool,
    ) -> Result<()> {
        let place = |of| self.wanted.iter().position(|wanted| *wanted == of);
        let column = |of| place(of).map(|place| frame.values(place));
        let [m, p, repetition] = [ColumnUse::M, ColumnUse::P, ColumnUse::Repetition].map(column);
        let time = column(ColumnUse::Time).expect("invariant: a plan has a time");
        let count = |column: Option<&Column>, row| column.map_or(Some(1), |it| it.count(row));
        let run = |row| {
            let time_s = self.seconds(time.amount(row)?)?;
            let (m, p) = (count(m, row)?, count(p, row)?);
            Some(Run { m, p, repetition: count(repetition, row)?, time_s })
        };
        let mut repetitions = Counters::default();
        for row in 0..frame.rows() {
            let Some(run) = run(row) else {
                let next = &mut |point| repetitions.next(point);
                frame.visit(row..row + 1, &mut |fields| rows.read(fields, entry, next))?;
                continue;
            };
            let at = |place| row * frame.width() + place;
            self.take(run, &mut repetitions, rows, entry, at);
        }
        Ok(())
    }

    /// Hands on a run, numbered where its row has no number; one that was there before is noted by the place of the
    /// field in the column that is asked for.
    #[inline]
    fn take(
        &self,
        mut run: Run,
        repetitions: &mut Counters,
        rows: &mut RowReader<'_>,
        entry: &mut impl FnMut(Entry) -> bool,
        field: impl FnOnce(usize) -> usize,
    ) {
        if !self.is_numbered {
            run.repetition = repetitions.next((run.m, run.p));
        }
        let (m, p, repetition) = (run.m, run.p, run.repetition);
        rows.count();
        if !entry(Entry { run, mean_of: None }) {
            rows.repeated(field(rows.plan.m.place()), (m, p), repetition);
        }
    }

    /// The run of the line at that place, and where the line ends.
    #[inline]
    fn row(&self, text: &[u8], mut at: usize, separator: u8) -> Option<(Run, usize)> {
        let mut run = Run { m: 1, p: 1, repetition: 1, time_s: 0.0 };
        let last = self.wanted.len() - 1;
        for (column, wanted) in self.wanted.iter().enumerate() {
            match wanted {
                ColumnUse::Time => (run.time_s, at) = self.time(text, at)?,
                ColumnUse::Nothing => {
                    while at < text.len() && text[at] != separator && text[at] != b'\n' {
                        at += 1;
                    }
                }
                _ => {
                    let (count, end) = count(text, at)?;
                    at = end;
                    match wanted {
                        ColumnUse::M => run.m = count,
                        ColumnUse::P => run.p = count,
                        _ => run.repetition = count,
                    }
                }
            }
            if column < last {
                if text.get(at) != Some(&separator) {
                    return None;
                }
                at += 1;
            }
        }
        match text[at..] {
            [] => Some((run, at)),
            [b'\n', ..] => Some((run, at + 1)),
            [b'\r', b'\n', ..] => Some((run, at + 2)),
            _ => None,
        }
    }

    /// A number of the time's unit in seconds, where these are finite.
    #[inline]
    fn seconds(&self, value: f64) -> Option<f64> {
        Some(self.unit.seconds(value)).filter(|it| it.is_finite())
    }

    /// A number that is not negative, in seconds, and where it ends.
    ///
    /// Up to 15 digits are an exact `f64`, as is the power of ten, so their quotient is the `f64`
    /// nearest to what is written: the same as the standard library's, which reads what has more digits or
    /// an exponent.
    #[inline]
    fn time(&self, text: &[u8], at: usize) -> Option<(f64, usize)> {
        let (whole, before) = digits(text, at, 0);
        let point = at + before;
        let (value, after) = match text.get(point) {
            Some(b'.') => digits(text, point + 1, whole),
            _ => (whole, 0),
        };
        let end = point + after + usize::from(text.get(point) == Some(&b'.'));
        if before == 0 {
            return None;
        }
        let end_of_all = end + exponent(&text[end..]);
        let value = if end_of_all == end && before + after <= EXACT_DIGITS {
            value as f64 / POWERS_OF_TEN[after]
        } else {
            std::str::from_utf8(&text[at..end_of_all]).ok()?.parse().ok()?
        };
        Some((self.seconds(value)?, end_of_all))
    }
}

/// The number that the digits at a place make, and how many there are; the number is meaningless where they
/// are too many to fit.
#[inline]
fn digits(text: &[u8], from: usize, start: u64) -> (u64, usize) {
    let mut value = start;
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (value, at - from)
}

/// The length of the exponent that a text begins with; 0 where it begins with none.
#[inline]
fn exponent(text: &[u8]) -> usize {
    let start = match text {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => return 0,
    };
    let (_, length) = digits(text, start, 0);
    if length > 0 { start + length } else { 0 }
}

/// A whole number of at least 1, and where it ends.
#[inline]
fn count(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let (value, length) = digits(text, at, 0);
    (value >= 1 && length <= COUNT_DIGITS).then_some((value as u32, at + length))
}

/// The place behind the line that begins at a place.
fn end_of_line(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |length| at + length + 1)
}

/// The fields of a line without quotes.
fn fields(text: &str, line: std::ops::Range<usize>, separator: u8) -> Vec<Field<'_>> {
    let (start, mut fields) = (line.start, Vec::new());
    let whole = text[line].trim_end_matches(['\n', '\r']);
    Field::split(whole, start, separator.into(), &mut fields);
    fields
}

/// How often each configuration was there; the small ones are found by their index.
#[derive(Default)]
pub(super) struct Counters {
    small: Vec<u32>,
    large: std::collections::BTreeMap<(u32, u32), u32>,
}

/// Up to this m and p, a counter is found by its index alone.
const SMALL: u32 = 64;

impl Counters {
    /// The number of a further run of a configuration, from 1.
    #[inline]
    pub fn next(&mut self, (m, p): (u32, u32)) -> u32 {
        let counter = if m <= SMALL && p <= SMALL {
            if self.small.is_empty() {
                self.small = vec![0; (SMALL * SMALL) as usize];
            }
            &mut self.small[((m - 1) * SMALL + p - 1) as usize]
        } else {
            self.large.entry((m, p)).or_insert(0)
        };
        *counter += 1;
        *counter
    }
}

#[cfg(test)]
mod tests {
    use mmgp_base::table::Source;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use crate::{Claims, runs};

    /// The bits of the time of a run that takes `time` of that unit; or the error. Rows are read one by one where
    /// there is a filter.
    fn read(time: &str, unit: &str, filter: Option<&str>) -> Result<u64, String> {
        let source = Source::new("t.csv", &format!("m,p,time_{unit}\n1,1,{time}\n1,1,1.5\n"));
        let claims = Claims { filter: filter.map(Into::into), ..Claims::default() };
        let read = runs(&source, &claims).map_err(|error| error.to_string())?;
        Ok(read.0[0].time_s.to_bits())
    }

    /// Reads a time in either way, which must come to the same.
    fn check(time: &str) -> Result<u64, String> {
        for unit in ["h", "ns"] {
            assert_eq!(read(time, unit, None), read(time, unit, Some("m > 0")), "{time} {unit}");
        }
        let plain = read(time, "s", None);
        assert_eq!(plain, read(time, "s", Some("m > 0")), "{time} s");
        plain
    }

    #[test]
    fn a_number_of_many_digits_or_with_an_exponent_keeps_its_bits() {
        for text in
            ["0.30000000000000004", "1e-07", "1.5E+3", "2e3", "7.", "123456789012345678901.5"]
        {
            let value: f64 = text.parse().expect("a number");
            assert_eq!(check(text), Ok(value.to_bits()), "{text}");
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
        for _ in 0..2000 {
            let mut digits = |most| -> String {
                let count = random.random_range(1..most);
                (0..count).map(|_| char::from(b'0' + random.random_range(0..10_u8))).collect()
            };
            let mut text = format!("{}.{}", digits(12), digits(25));
            if random.random_range(0..3) == 0 {
                text += &format!("e{}", random.random_range(-330..290));
            }
            let value: f64 = text.parse().expect("a number");
            assert_eq!(check(&text), Ok(value.to_bits()), "{text}");
        }
    }

    #[test]
    fn what_only_begins_as_a_number_is_read_as_elsewhere() {
        for text in
            ["1e", "1e+", "1e999", "1.5e3s", "2.5 s", "1.5e308", "0x10", "1_000", "1..2", "e5"]
        {
            let _ = check(text);
        }
        assert_eq!(check("1.5 min"), Ok(90_f64.to_bits()));
    }
}
