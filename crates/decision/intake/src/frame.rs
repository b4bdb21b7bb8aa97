//! A data frame: columns in memory, which are read as those of a file are.
//!
//! ```
//! use mmgp_intake::{Claims, Column, Frame, runs};
//!
//! let ranks = Column::Integers(vec![4, 8]);
//! let wall = Column::Floats(vec![1500.0, f64::NAN]);
//! let frame = Frame::new("the frame", vec![("ranks".into(), ranks), ("wall [ms]".into(), wall)])?;
//! let (runs, warnings) = runs(&frame, &Claims::default())?;
//! assert_eq!((runs.len(), runs[0].m, runs[0].time_s), (1, 4, 1.5));
//! let failed = "the frame: 1 run failed and was left out, in row 1 (from 0), of (8, 1): \"\" in column \"wall [ms]\"";
//! assert_eq!(warnings.last().unwrap().to_string(), failed);
//! # Ok::<(), mmgp_base::Error>(())
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use mmgp_base::error::{Error, Place, Position, Result, Warning};
use mmgp_base::table::Source;
use mmgp_base::table::csv::{self, Record};

use crate::sheet::{EachRow, Field, Heading, Origin, Rows, Sheet, unnamed};

/// A table in memory, of columns with names.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    name: String,
    columns: Vec<FrameColumn>,
    rows: usize,
}

/// The values of a column, one for each row.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Whole numbers. Where some are missing, they are [`Self::Floats`], or [`Self::Texts`] beyond 2^53.
    Integers(Vec<i64>),
    /// Numbers; what is not a number (NaN) is missing. Where all that are there are whole, they are whole numbers,
    /// as tables have those among which some are missing.
    Floats(Vec<f64>),
    /// Texts; `None` and those of blanks alone are missing.
    Texts(Vec<Option<String>>),
    /// Texts of which many rows have the same.
    Categories {
        /// The place in `texts` of each row's; negative where it is missing.
        codes: Vec<i32>,
        /// The texts.
        texts: Vec<String>,
    },
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
struct FrameColumn {
    name: String,
    values: Column,
    /// Whether it has numbers, all of which are whole.
    is_whole: bool,
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Texts(values) => values.len(),
            Self::Categories { codes, .. } => codes.len(),
        }
    }

    /// Whether all numbers are whole.
    fn is_whole(&self) -> bool {
        match self {
            Self::Integers(_) => true,
            Self::Floats(values) => values.iter().all(|it| it.fract() == 0.0 || it.is_nan()),
            Self::Texts(_) | Self::Categories { .. } => false,
        }
    }

    /// Whether all rows have the value of the first.
    fn has_one_value(&self) -> bool {
        fn is_one<T: PartialEq>(values: &[T]) -> bool {
            values.iter().all(|value| *value == values[0])
        }
        match self {
            Self::Integers(values) => is_one(values),
            Self::Floats(values) => is_one(values) || values.iter().all(|value| value.is_nan()),
            Self::Texts(values) => is_one(values),
            Self::Categories { codes, .. } => is_one(codes),
        }
    }

    /// A category that is none of its texts.
    fn unknown_code(&self) -> Option<i32> {
        let Self::Categories { codes, texts } = self else { return None };
        let is_unknown = |&code: &i32| usize::try_from(code).is_ok_and(|it| it >= texts.len());
        codes.iter().copied().find(is_unknown)
    }

    /// The whole number of a row where it counts something, from 1 on; `None` of all else.
    #[inline]
    pub(crate) fn count(&self, row: usize) -> Option<u32> {
        match self {
            Self::Integers(values) => u32::try_from(values[row]).ok().filter(|it| *it >= 1),
            Self::Floats(values) => {
                let value = values[row];
                let is_count = value >= 1.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0;
                is_count.then_some(value as u32)
            }
            Self::Texts(_) | Self::Categories { .. } => None,
        }
    }

    /// The number of a row where it may be a time: finite and not negative; `None` of all else.
    #[inline]
    pub(crate) fn amount(&self, row: usize) -> Option<f64> {
        match self {
            Self::Integers(values) => (values[row] >= 0).then_some(values[row] as f64),
            Self::Floats(values) => {
                Some(values[row]).filter(|it| it.is_finite() && it.is_sign_positive())
            }
            Self::Texts(_) | Self::Categories { .. } => None,
        }
    }
}

impl FrameColumn {
    /// The text of a row, without blanks around it; a number is written into `buffer`, in the fewest digits from which
    /// the same is read.
    fn text<'t>(&'t self, row: usize, buffer: &'t mut String) -> &'t str {
        let text = match &self.values {
            Column::Texts(values) => values[row].as_deref(),
            Column::Categories { codes, texts } => {
                usize::try_from(codes[row]).ok().map(|code| texts[code].as_str())
            }
            Column::Integers(values) => {
                buffer.clear();
                write!(buffer, "{}", values[row]).expect("invariant: a text grows");
                Some(buffer.as_str())
            }
            Column::Floats(values) => {
                buffer.clear();
                let value = values[row];
                let written = match (value.is_nan(), self.is_whole) {
                    (true, _) => Ok(()),
                    (_, true) => write!(buffer, "{value}"),
                    // With a point or an exponent, so that 1.0 beside 1.234 tells what the point is.
                    (_, false) => write!(buffer, "{value:?}"),
                };
                written.expect("invariant: a text grows");
                Some(buffer.as_str())
            }
        };
        text.unwrap_or_default().trim()
    }
}

impl Frame {
    /// The frame that errors call `name`, of columns with names in their order. A column without a name is called by
    /// its number, as in a file; lengths of time stand under a name with their unit, `time [s]`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for columns of different lengths, a name that is there twice, and a category that
    /// has no text.
    pub fn new(name: impl Into<String>, columns: Vec<(String, Column)>) -> Result<Self> {
        let refuse = |found: String, expected| Err(Error::out_of_range("columns", found, expected));
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        let mut known = BTreeSet::new();
        let mut held = Vec::with_capacity(columns.len());
        for (index, (name, values)) in columns.into_iter().enumerate() {
            let name = match name.trim() {
                "" => unnamed(index),
                name => name.to_string(),
            };
            if values.len() != rows {
                let found = format!("{} values of {name:?} beside {rows}", values.len());
                return refuse(found, "as many in each column");
            }
            if let Some(code) = values.unknown_code() {
                return refuse(format!("category {code} of {name:?}"), "one that has a text");
            }
            if !known.insert(name.clone()) {
                return refuse(format!("a second column {name:?}"), "only one");
            }
            let is_whole = values.is_whole();
            held.push(FrameColumn { name, values, is_whole });
        }
        Ok(Self { name: name.into(), columns: held, rows })
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The values of the column at that place.
    pub(crate) fn values(&self, place: usize) -> &Column {
        &self.columns[place].values
    }

    /// The text that all rows of the column at that place have; `None` where they differ or are none.
    pub(crate) fn only_text(&self, place: usize) -> Option<String> {
        let column = &self.columns[place];
        let is_same = self.rows > 0 && column.values.has_one_value();
        is_same.then(|| column.text(0, &mut String::new()).to_string())
    }

    /// Calls `row` with the fields of each of these rows.
    ///
    /// # Errors
    /// What `row` answers.
    pub(crate) fn visit(&self, rows: Range<usize>, row: &mut EachRow<'_>) -> Result<()> {
        let mut buffers = vec![String::new(); self.width()];
        for index in rows {
            let at = index * self.width();
            let mut fields = Vec::with_capacity(self.width());
            for (place, (column, buffer)) in self.columns.iter().zip(&mut buffers).enumerate() {
                let text = Cow::Borrowed(column.text(index, buffer));
                fields.push(Field { text, at: at + place });
            }
            row(&fields)?;
        }
        Ok(())
    }

    /// The table as it stands.
    pub(crate) fn sheet(&self) -> Sheet<'_> {
        let heading =
            |(at, column): (usize, &FrameColumn)| Heading { name: column.name.clone(), at };
        Sheet {
            origin: Origin::Frame(self),
            format: "frame".into(),
            columns: self.columns.iter().enumerate().map(heading).collect(),
            rows: Box::new(self),
        }
    }

    /// The rows of a table of few rows whose columns are called as mmgp calls them, read as those of a CSV file.
    ///
    /// # Errors
    /// As [`csv::read`], with the row in the place of the line.
    pub fn records<R: Record>(&self) -> Result<(Vec<R>, Vec<Warning>)> {
        let FrameText { source, starts } = self.text();
        let at_row = |at: Position| {
            let Place::Text { line, .. } = at.place else { return at };
            let above = starts.partition_point(|start| *start <= line);
            let place = above.checked_sub(1).map_or(Place::Names, |row| Place::Row(row as u64));
            Position { place, ..at }
        };
        let (rows, warnings) = csv::read(&source).map_err(|error| match error {
            Error::Input { at, found, expected } => {
                Error::Input { at: at_row(at), found, expected }
            }
            other => other,
        })?;
        let warning = |warning| match warning {
            Warning::UnknownColumn { at, name, missing } => {
                Warning::UnknownColumn { at: at_row(at), name, missing }
            }
            other => other,
        };
        Ok((rows, warnings.into_iter().map(warning).collect()))
    }

    /// The text of a CSV file of the same columns.
    fn text(&self) -> FrameText {
        let breaks = |text: &str| text.matches('\n').count() as u64;
        let header: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut next = 2 + header.iter().map(|name| breaks(name)).sum::<u64>();
        let mut starts = Vec::with_capacity(self.rows);
        let mut buffer = String::new();
        let row = |index: usize| {
            let text = |column: &FrameColumn| column.text(index, &mut buffer).to_string();
            let fields: Vec<String> = self.columns.iter().map(text).collect();
            starts.push(next);
            next += 1 + fields.iter().map(|field| breaks(field)).sum::<u64>();
            fields
        };
        let text = csv::write_fields(&header, (0..self.rows).map(row));
        FrameText { source: Source::new(&self.name, &text), starts }
    }
}

/// A data frame as the text of a CSV file.
struct FrameText {
    source: Source,
    /// The line in which each row begins, from 1.
    starts: Vec<u64>,
}

impl Rows for &Frame {
    fn visit(&self, row: &mut EachRow<'_>) -> Result<()> {
        Frame::visit(self, 0..self.rows, row)
    }

    fn frame(&self) -> Option<&Frame> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
