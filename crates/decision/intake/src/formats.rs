//! The formats that tables come in.

mod blocks;
mod delimited;
mod extrap;
mod json;
mod shapes;

pub(crate) use blocks::TITLES;
pub use json::{Node, Object};
use mmgp_base::error::Result;
use mmgp_base::table::Source;

use crate::claims::Columns;
use crate::sheet::{Origin, Sheet};

/// The table of a file, in whatever format it is, or of a data frame; what was said of the columns of a file
/// may be paths in JSON.
///
/// # Errors
/// [`mmgp_base::Error::Input`] with the place of what is not as the format asks.
pub fn sheet<'a>(origin: impl Into<Origin<'a>>, columns: &Columns) -> Result<Sheet<'a>> {
    let sheet = match origin.into() {
        Origin::Text(source) => of_file(source, columns)?,
        Origin::Frame(frame) => shapes::with_all_values(frame.sheet())?,
    };
    shapes::with_commands(shapes::of_time(sheet)?)
}

fn of_file<'a>(source: &'a Source, columns: &Columns) -> Result<Sheet<'a>> {
    let paths: Vec<String> = columns.all().map(Into::into).collect();
    if let Some(sheet) = json::sheet(source, &paths)? {
        return Ok(sheet);
    }
    let sheet = shapes::with_both(delimited::sheet(source)?)?;
    blocks::with_blocks(shapes::with_all_values(sheet)?)
}

/// The table as a text, for tests: the format, the names, and the rows in lines, fields between `|`; or the
/// error.
#[cfg(test)]
fn written(sheet: Result<Sheet<'_>>) -> String {
    let written = sheet.and_then(|sheet| {
        let names: Vec<&str> = sheet.columns.iter().map(|heading| heading.name.as_str()).collect();
        let mut lines = vec![sheet.format.clone(), names.join("|")];
        sheet.rows.visit(&mut |row| {
            assert_eq!(row.len(), names.len(), "{names:?}");
            lines.push(row.iter().map(|field| field.text.as_ref()).collect::<Vec<_>>().join("|"));
            Ok(())
        })?;
        Ok(lines.join("\n"))
    });
    written.unwrap_or_else(|error| error.to_string())
}
