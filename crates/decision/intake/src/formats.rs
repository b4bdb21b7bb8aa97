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
use crate::sheet::Sheet;

/// The table of a file, in whatever format it is; what was said of its columns may be paths in JSON.
///
/// # Errors
/// [`mmgp_base::Error::Input`] with the place of what is not as the format asks.
pub fn sheet<'a>(source: &'a Source, columns: &Columns) -> Result<Sheet<'a>> {
    let paths: Vec<String> = columns.all().map(Into::into).collect();
    let sheet = match json::sheet(source, &paths)? {
        Some(sheet) => sheet,
        None => {
            let sheet = shapes::with_both(delimited::sheet(source)?)?;
            blocks::with_blocks(shapes::with_all_values(sheet)?)?
        }
    };
    shapes::with_commands(shapes::of_time(sheet)?)
}

/// The table as a text, for tests: the format, the names, and the rows in lines, fields between `|`; or the
/// error.
#[cfg(test)]
fn written(sheet: Result<Sheet<'_>>) -> String {
    let written = sheet.and_then(|sheet| {
        let names: Vec<&str> = sheet.columns.iter().map(|heading| heading.name.as_str()).collect();
        let mut lines = vec![sheet.format.clone(), names.join("|")];
        sheet.rows.visit(&mut |row| {
            assert_eq!(row.len(), names.len(), "{}", sheet.source.text);
            lines.push(row.iter().map(|field| field.text.as_ref()).collect::<Vec<_>>().join("|"));
            Ok(())
        })?;
        Ok(lines.join("\n"))
    });
    written.unwrap_or_else(|error| error.to_string())
}
