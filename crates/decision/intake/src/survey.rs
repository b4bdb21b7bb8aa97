//! What the fields of each column look like, from the first rows of a table.

use std::collections::BTreeSet;

use mmgp_base::error::Result;

use crate::names::{Role, labelled_count};
use crate::outcomes::is_no_time;
use crate::sheet::{Field, Sheet, unended_line};
use crate::units::{Comma, Unit, duration, number, without_error};

/// Rows that are looked at before a table is understood.
const LOOKED_AT: u64 = 4096;

/// Different values that are remembered of a column.
const REMEMBERED: usize = 64;

/// The first rows of a table.
pub(crate) struct Survey {
    pub columns: Vec<Look>,
    /// What a comma in a number is.
    pub comma: Comma,
    /// The first of a number whose comma may be either, where all are such.
    pub unclear_comma: Option<String>,
    /// The units in the first row, where it has no numbers.
    pub unit_row: Option<Vec<Option<Unit>>>,
}

/// What a column looks like.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look {
    /// Fields that are not empty.
    pub filled: u64,
    /// The least and the largest number.
    pub range: Option<(f64, f64)>,
    /// Whole numbers of at least 1.
    pub whole: u64,
    /// Numbers.
    pub numbers: u64,
    /// Durations that say their unit: `1m12s`, `0:01:12`.
    pub durations: u64,
    /// Times with an error behind them: `103.2 \u{b1} 0.5`.
    pub errors: u64,
    /// Texts that say that there is no time.
    pub no_times: u64,
    /// Whole numbers with a word beside them that says what all of them count.
    pub labels: u64,
    /// What these count.
    pub label: Option<Role>,
    /// Two whole numbers with one sign between them: `8x4`.
    pub pairs: u64,
    /// Names of units.
    pub units: u64,
    /// The least and the largest number of decimals, without those of a line that is not ended.
    pub decimals: Option<(usize, usize)>,
    /// The first of a number whose point may stand between thousands, where all are such.
    pub unclear_point: Option<String>,
    /// Whether there are whole numbers of up to three digits.
    pub has_small: bool,
    /// The first values, each once.
    pub values: BTreeSet<String>,
}

impl Look {
    fn add(&mut self, text: &str, comma: Comma) {
        if text.is_empty() {
            return;
        }
        self.filled += 1;
        let value = number(text, comma);
        self.pairs += u64::from(value.is_none() && pair(text).is_some());
        self.units += u64::from(Unit::named(text).is_some());
        match value {
            Some(value) => {
                self.numbers += 1;
                let (least, most) = self.range.unwrap_or((value, value));
                self.range = Some((least.min(value), most.max(value)));
                self.whole += u64::from(is_count(value));
            }
            None if is_no_time(text) => self.no_times += 1,
            None => {
                if let Some((_, role)) = labelled_count(text)
                    && (self.labels == 0 || self.label == Some(role))
                {
                    self.labels += 1;
                    self.label = Some(role);
                }
                let found = duration(text, comma);
                self.durations += u64::from(found.is_some_and(|it| it.has_unit));
                let has_error = found.is_some() && without_error(text) != text;
                self.errors += u64::from(has_error);
            }
        }
        if self.values.len() < REMEMBERED && !self.values.contains(text) {
            self.values.insert(text.to_string());
        }
    }

    /// Counts the decimals of a number.
    fn add_decimals(&mut self, text: &str, comma: Comma) {
        if number(text, comma).is_some() {
            let mark = if comma == Comma::Decimal { ',' } else { '.' };
            let count = text.rsplit_once(mark).map_or(0, |(_, decimals)| decimals.len());
            let (least, most) = self.decimals.unwrap_or((count, count));
            self.decimals = Some((least.min(count), most.max(count)));
        }
    }

    /// Whether nearly all are whole numbers: a row of a sum or of units may stand among them.
    pub fn are_counts(&self) -> bool {
        let whole = self.whole + self.labels;
        whole > 0 && whole + 2 >= self.filled
    }

    /// Whether all are seconds or milliseconds since 1970: an instant, and no time that anything took.
    pub fn are_instants(&self) -> bool {
        let is_within = |(least, most): (f64, f64)| {
            [1.0, 1e3, 1e6, 1e9].iter().any(|unit| least > 9e8 * unit && most < 4e9 * unit)
        };
        self.numbers > 0 && self.numbers == self.filled && self.range.is_some_and(is_within)
    }

    /// Whether nearly all are times, or say that there is none.
    pub fn are_times(&self) -> bool {
        let times = self.numbers + self.durations + self.errors;
        times > 0 && times + self.no_times + 2 >= self.filled
    }
}

/// Whether a number counts something.
pub(crate) fn is_count(value: f64) -> bool {
    value >= 1.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0
}

/// The two whole numbers of a text that has no more, as in `8x4`, `(8, 4)`, `mpi8_omp4`, `8 ranks x 4 threads`.
pub(crate) fn pair(text: &str) -> Option<(u32, u32)> {
    let mut groups = text.split(|it: char| !it.is_ascii_digit()).filter(|group| !group.is_empty());
    let count = |text: &str| text.parse::<u32>().ok().filter(|count| *count >= 1);
    let (one, other) = (groups.next()?, groups.next()?);
    let is_decimal = text.contains(&format!("{one}.{other}"));
    let both = (count(one)?, count(other)?);
    // Slurm ends what it cuts off with a sign.
    let is_whole = !is_decimal && !text.ends_with('+');
    (groups.next().is_none() && is_whole).then_some(both)
}

impl Survey {
    pub fn of(sheet: &Sheet<'_>) -> Result<Self> {
        let mut of_columns = vec![Commas::default(); sheet.columns.len()];
        let mut unit_row = None;
        each(sheet, |row| {
            of_columns.iter_mut().zip(row).for_each(|(it, field)| it.add(&field.text))
        })?;
        let commas = Commas::of_all(&of_columns);
        let comma = commas.meaning(&sheet.format);
        let mut columns = vec![Look::default(); sheet.columns.len()];
        for (look, commas) in columns.iter_mut().zip(&of_columns) {
            look.unclear_point = commas.either_point.clone().filter(|_| !commas.has_point);
            look.has_small = commas.has_small;
        }
        let unended = sheet.origin.text().and_then(unended_line).unwrap_or(usize::MAX);
        let mut is_first = true;
        each(sheet, |row| {
            if std::mem::take(&mut is_first)
                && row.iter().all(|it| number(&it.text, comma).is_none())
            {
                let unit =
                    |field: &Field<'_>| Unit::named(field.text.trim_matches(['[', ']', '(', ')']));
                unit_row = Some(row.iter().map(unit).collect());
            }
            for (look, field) in columns.iter_mut().zip(row) {
                look.add(&field.text, comma);
                if field.at < unended {
                    look.add_decimals(&field.text, comma);
                }
            }
        })?;
        let unclear_comma = commas.unclear(&sheet.format);
        Ok(Self { columns, comma, unclear_comma, unit_row })
    }
}

/// Calls `look` with the first rows.
fn each(sheet: &Sheet<'_>, mut look: impl FnMut(&[Field<'_>])) -> Result<()> {
    let mut rows = 0;
    sheet.visit_while(&mut |row| {
        // The names of the columns may stand above each block of rows.
        if !row.iter().zip(&sheet.columns).all(|(field, it)| field.text == it.name) {
            look(row);
        }
        rows += 1;
        rows < LOOKED_AT
    })
}

/// Commas in numbers: before decimals, or between thousands.
#[derive(Default, Clone)]
struct Commas {
    decimal: bool,
    thousands: bool,
    either: Option<String>,
    /// Whether units stand behind numbers.
    has_units: bool,
    /// Whether there are whole numbers of three digits without a comma.
    has_hundreds: bool,
    /// Whether there are whole numbers of up to three digits.
    has_small: bool,
    /// Whether there are points that can only stand before decimals.
    has_point: bool,
    /// The first number with three digits behind a point, and up to three before it.
    either_point: Option<String>,
}

impl Commas {
    /// The commas of all columns. Beside hundreds, a comma before three digits stands between thousands: before
    /// decimals, these would have them as well.
    fn of_all(columns: &[Self]) -> Self {
        let mut all = Self::default();
        for column in columns {
            all.decimal |= column.decimal;
            all.thousands |= column.thousands
                || (column.either.is_some() && column.has_hundreds && !column.decimal);
            all.has_units |= column.has_units;
            all.either = all.either.take().or_else(|| column.either.clone());
        }
        all
    }

    fn add(&mut self, text: &str) {
        let number: &str = text.trim_end_matches(|it: char| it.is_alphabetic() || it == ' ');
        let is_of_number =
            |it: char| it.is_ascii_digit() || matches!(it, ',' | '.' | '-' | '+' | ' ');
        self.add_point(number);
        self.has_hundreds |= number.len() == 3 && number.bytes().all(|it| it.is_ascii_digit());
        if !number.contains(',') || !number.chars().all(is_of_number) {
            return;
        }
        self.has_units |= number.len() < text.trim_end().len();
        let (before, after) = number.rsplit_once(',').unwrap_or_default();
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
        if after.contains('.') || before.contains(',') {
            self.thousands = true;
        } else if before.contains('.') || digits(after) != 3 || digits(before) > 3 || before == "0"
        {
            self.decimal = true;
        } else if self.either.is_none() {
            self.either = Some(text.into());
        }
    }

    fn add_point(&mut self, number: &str) {
        let are_digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
        let Some((before, after)) = number.split_once('.') else {
            self.has_small |= matches!(number.len(), 1..=3) && are_digits(number);
            return;
        };
        let is_either = after.len() == 3
            && matches!(before.len(), 1..=3)
            && !before.starts_with('0')
            && are_digits(before)
            && are_digits(after);
        match is_either {
            true if self.either_point.is_none() => self.either_point = Some(number.into()),
            true => {}
            false => self.has_point = true,
        }
    }

    fn meaning(&self, format: &str) -> Comma {
        // Where fields stand between semicolons, it is because commas stand before decimals.
        let has_commas = self.thousands || self.either.is_some();
        let is_decimal =
            self.decimal || (has_commas && !self.thousands && format.ends_with("with ;"));
        if is_decimal && !self.thousands { Comma::Decimal } else { Comma::Thousands }
    }

    fn unclear(&self, format: &str) -> Option<String> {
        let is_usual = format.ends_with("with ;") && !self.has_units;
        let is_clear = self.decimal != self.thousands || is_usual;
        let contradicts = self.decimal && self.thousands;
        let first = self.either.clone().filter(|_| !is_clear);
        first.or_else(|| contradicts.then(|| "numbers with commas of both kinds".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commas(texts: &[&str], format: &str) -> (Comma, bool) {
        let mut commas = Commas::default();
        texts.iter().for_each(|text| commas.add(text));
        let commas = Commas::of_all(&[commas]);
        (commas.meaning(format), commas.unclear(format).is_some())
    }

    #[test]
    fn a_comma_is_known_by_its_neighbours() {
        assert_eq!(commas(&["103,2", "28,400"], "CSV with |"), (Comma::Decimal, false));
        assert_eq!(commas(&["1,234.5 ms", "28,400"], "CSV with |"), (Comma::Thousands, false));
        assert_eq!(commas(&["28,400", "15,900"], "CSV with |"), (Comma::Thousands, true));
        assert_eq!(commas(&["28,400", "15,900"], "CSV with ;"), (Comma::Decimal, false));
        assert_eq!(commas(&["10,320", "772"], "CSV with ;"), (Comma::Thousands, false));
        assert_eq!(commas(&["a,b", "8,4,x"], "CSV with |"), (Comma::Thousands, false));
    }

    #[test]
    fn a_pair_is_two_numbers_and_a_sign() {
        for text in ["8x4", "8 x 4", "8*4", "8\u{d7}4", "8-4"] {
            assert_eq!(pair(text), Some((8, 4)), "{text}");
        }
        for text in ["8", "8.5", "x4", "0x4", "8x4x2", "2026-01-01"] {
            assert_eq!(pair(text), None, "{text}");
        }
    }
}
