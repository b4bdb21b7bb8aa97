//! What people have: tables, printed numbers and units, understood or refused.
//!
//! Read on at [`Plan`], which reads a table from its first line to its runs.
//!
//! A file becomes a [`sheet::Sheet`], whatever its format, and a data frame ([`Frame`]) as well: columns with names,
//! and rows of texts ([`formats`]). A [`Plan`] says what each column is for and why, by a dictionary of names, one table of
//! units and what the user says ([`Claims`]), and reads the rows by it. What is not understood is refused,
//! with what could be said so that it is: nothing is assumed of a unit, a failure or a further factor.

mod claims;
pub mod formats;
mod frame;
mod names;
mod outcomes;
mod plan;
pub mod sheet;
mod survey;
mod units;

pub use claims::{Claims, Columns};
pub use frame::{Column, Frame};
pub use outcomes::{Entry, Outcome, RunReport};
pub use plan::{CapturedQuantity, Measurand, OF_ALL_RUNS, Part, Plan, Reading, configurations};
pub use units::{Comma, Duration, Measure, Unit, duration, measure_of, number};

use std::collections::BTreeSet;

use mmgp_base::error::{Error, Result, Warning};
use mmgp_base::table::csv::Record as _;
use mmgp_base::table::records::Run;
use sheet::Origin;

/// All runs of a file or a data frame, in their order; of a row that is the mean of several runs, the mean.
///
/// # Errors
/// As [`Plan::of`] and [`Plan::read`].
pub fn runs<'a>(
    origin: impl Into<Origin<'a>>,
    claims: &Claims,
) -> Result<(Vec<Run>, Vec<Warning>)> {
    let sheet = formats::sheet(origin, &claims.columns)?;
    let plan = Plan::of(&sheet, claims)?;
    let (mut runs, mut keys) = (Vec::new(), BTreeSet::new());
    let reading = plan.read(&sheet, &mut |entry: Entry| {
        let is_new = keys.insert(entry.run.key());
        runs.push(entry.run);
        is_new
    })?;
    let line = plan.line(&sheet).map(Warning::Understood);
    Ok((runs, line.into_iter().chain(reading.warnings).collect()))
}

/// What a table says of each run that somebody asked for, in the order of its rows.
///
/// # Errors
/// As [`Plan::of`] and [`Plan::read`]; runs that all failed are none.
pub fn told<'a>(origin: impl Into<Origin<'a>>, claims: &Claims) -> Result<Vec<RunReport>> {
    let sheet = formats::sheet(origin, &claims.columns)?;
    let plan = Plan::of(&sheet, claims)?;
    let mut all = Vec::new();
    plan.read_told(&sheet, &mut |told| all.push(told))?;
    Ok(all)
}

/// Number of values that are taken apart; a column with more measures something.
const MOST_VALUES: usize = 100;

/// The texts that a column has, each once: numbers in their order, then words in theirs.
///
/// # Errors
/// [`Error::UnknownName`] for a column that is not there; [`Error::OutOfRange`] where it has more than 100
/// values; as [`Plan::of`] for what is no table.
pub fn values<'a>(
    origin: impl Into<Origin<'a>>,
    column: &str,
    claims: &Claims,
) -> Result<Vec<String>> {
    let sheet = formats::sheet(origin, &claims.columns)?;
    let place = sheet.named(column)?;
    let mut values = BTreeSet::new();
    sheet.rows.visit(&mut |row| {
        let text = &row[place].text;
        // The names of the columns may stand above each block of rows.
        let is_name = *text == sheet.columns[place].name;
        if !text.is_empty() && !is_name && !values.contains(text.as_ref()) {
            values.insert(text.to_string());
        }
        match values.len() > MOST_VALUES {
            true => Err(Error::out_of_range(
                "by",
                format!("more than {MOST_VALUES} values of {column:?}"),
                "a column that tells programs or inputs apart",
            )),
            false => Ok(()),
        }
    })?;
    Ok(sorted(&values))
}

/// Numbers in their order, then words in theirs.
pub(crate) fn sorted(values: &BTreeSet<String>) -> Vec<String> {
    let mut values: Vec<String> = values.iter().cloned().collect();
    let number = |text: &String| text.parse::<f64>().unwrap_or(f64::INFINITY);
    values.sort_by(|one, other| number(one).total_cmp(&number(other)));
    values
}

/// Whether a word is in a list of words between blanks.
pub(crate) fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}
