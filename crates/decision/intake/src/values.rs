//! The values of a column that tells programs apart.

use std::collections::BTreeSet;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

use crate::claims::Claims;
use crate::formats;

/// So many values are taken apart; a column with more measures something.
const MOST: usize = 100;

/// The texts that a column has, each once: numbers in their order, then words in theirs.
///
/// # Errors
/// [`Error::UnknownName`] for a column that is not there; [`Error::OutOfRange`] where it has more than 100
/// values; as [`crate::Plan::of`] for what is no table.
pub fn values(source: &Source, column: &str, claims: &Claims) -> Result<Vec<String>> {
    let sheet = formats::sheet(source, &claims.columns)?;
    let place = sheet.named(column)?;
    let mut values = BTreeSet::new();
    sheet.rows.visit(&mut |row| {
        let text = &row[place].text;
        // The names of the columns may stand above each block of rows.
        let is_name = *text == sheet.columns[place].name;
        if !text.is_empty() && !is_name && !values.contains(text.as_ref()) {
            values.insert(text.to_string());
        }
        match values.len() > MOST {
            true => Err(Error::out_of_range(
                "by",
                format!("more than {MOST} values of {column:?}"),
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
