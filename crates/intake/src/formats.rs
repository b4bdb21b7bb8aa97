//! The formats that tables come in.

mod commands;
mod delimited;
mod extrap;
mod json;
mod long;

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use crate::columns::Columns;
use crate::sheet::Sheet;

/// The table of a file, in whatever format it is; what was said of its columns may be paths in JSON.
///
/// # Errors
/// [`mmgp_base::Error::Input`] with the place of what is not as the format asks.
pub fn sheet<'a>(source: &'a Source, columns: &Columns) -> Result<Sheet<'a>> {
    let paths: Vec<String> = columns.all().map(Into::into).collect();
    let sheet = match json::sheet(source, &paths)? {
        Some(sheet) => sheet,
        None => delimited::sheet(source)?,
    };
    commands::with_commands(long::of_time(sheet)?)
}
