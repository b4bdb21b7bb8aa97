//! Long tables, in which a row has the name of a quantity and its value: of several, the time counts.

use std::collections::BTreeSet;

use mmgp_base::error::Result;

use crate::sheet::{Field, Rows, Sheet};
use crate::units::{Measure, measure_of};

/// What the columns of names and values are called, in small letters.
const NAMES: [(&str, &str); 5] = [
    ("metric", "value"),
    ("variable", "value"),
    ("quantity", "value"),
    ("perf_var", "perf_value"),
    ("check_perf_var", "check_perf_value"),
];

/// A table with more quantities than these is none of quantities.
const MOST: usize = 100;

/// The rows of the time, whose column is called as the quantity; the table as it is where it is not long,
/// or has no time or several.
pub(super) fn of_time(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let place = |name: &str| sheet.columns.iter().position(|it| it.name.to_lowercase() == name);
    let found = NAMES.iter().find_map(|(name, value)| Some((place(name)?, place(value)?)));
    let Some((name, value)) = found else { return Ok(sheet) };
    let mut names = BTreeSet::new();
    sheet.rows.visit(&mut |row| {
        if names.len() <= MOST && !names.contains(row[name].text.as_ref()) {
            names.insert(row[name].text.to_string());
        }
        Ok(())
    })?;
    let is_time = |name: &&String| matches!(measure_of(name), Measure::Time(_));
    let times: Vec<&String> = names.iter().filter(is_time).collect();
    let time = match times[..] {
        [only] => Some(only),
        _ => times.into_iter().find(|name| name.eq_ignore_ascii_case("time")),
    };
    let Some(time) = time.filter(|_| names.len() <= MOST).cloned() else { return Ok(sheet) };
    let Sheet { source, format, mut columns, rows } = sheet;
    if !columns.iter().any(|column| column.name == time) {
        columns[value].name.clone_from(&time);
    }
    Ok(Sheet { source, format, columns, rows: Box::new(Only { rows, name, time }) })
}

/// Rows with that text in a column.
struct Only<'a> {
    rows: Box<dyn Rows + 'a>,
    name: usize,
    time: String,
}

impl Rows for Only<'_> {
    fn visit(&self, row: &mut dyn FnMut(&[Field<'_>]) -> Result<()>) -> Result<()> {
        self.rows.visit(&mut |fields| match fields[self.name].text == self.time {
            true => row(fields),
            false => Ok(()),
        })
    }
}
