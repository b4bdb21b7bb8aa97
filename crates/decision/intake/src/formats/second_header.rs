//! Tables whose header has two lines: what the columns are for, and below it the number of each.
//!
//! ```text
//! |       | threads |      |
//! | ranks |       1 |    2 |
//! ```

use mmgp_base::error::Result;

use crate::names::role_of;
use crate::sheet::{Field, Heading, Rows, Sheet};

/// The table with the names that both lines make; as it is where it has one.
pub(super) fn with_both(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let names = |row: &[Field<'_>]| -> Option<Vec<String>> {
        let (first, others) = row.split_first()?;
        let mut named = sheet.columns[1..].iter().filter(|heading| !is_unnamed(heading));
        let (Some(label), None) = (named.next(), named.next()) else { return None };
        let is_count = |field: &Field<'_>| field.text.parse::<u32>().is_ok_and(|count| count > 0);
        let are_known = role_of(&first.text).is_some() && role_of(&label.name).is_some();
        let is_header = are_known && others.len() > 1 && others.iter().all(is_count);
        let numbered = others.iter().map(|field| format!("{} {}", label.name, field.text));
        is_header.then(|| std::iter::once(first.text.to_string()).chain(numbered).collect())
    };
    let mut found = None;
    // What is wrong with a row is said when it is read.
    let _ = sheet.visit_while(&mut |row| {
        found = names(row);
        false
    });
    let Some(found) = found else { return Ok(sheet) };
    let Sheet { source, format, columns, rows } = sheet;
    let columns =
        columns.into_iter().zip(found).map(|(it, name)| Heading { name, at: it.at }).collect();
    Ok(Sheet { source, format, columns, rows: Box::new(Below { rows }) })
}

/// Whether a column has no name in the file.
fn is_unnamed(heading: &Heading) -> bool {
    heading.name.strip_prefix("field ").is_some_and(|number| number.parse::<usize>().is_ok())
}

/// All rows but the first.
struct Below<'a> {
    rows: Box<dyn Rows + 'a>,
}

impl Rows for Below<'_> {
    fn visit(&self, row: &mut dyn FnMut(&[Field<'_>]) -> Result<()>) -> Result<()> {
        let mut is_first = true;
        self.rows.visit(&mut |fields| match std::mem::take(&mut is_first) {
            true => Ok(()),
            false => row(fields),
        })
    }
}
