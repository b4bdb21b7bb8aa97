//! JSON: records, lines, and what known tools write, recognised by their content.
//!
//! Each format of a tool is an [`ObjectFormat`], which stands in [`FORMATS`], or with a
//! [`RecordFormat`] in [`RECORD_FORMATS`]. What is none of them and no table either is read by [`paths`].

mod benchmarks;
mod extrap;
mod node;
mod paths;
mod records;
mod tables;
mod tuners;

use mmgp_base::error::{Error, Result};
use mmgp_base::table::{BYTE_ORDER_MARK, Source};

use crate::sheet::Sheet;
use node::first_value;
pub use node::{Node, Object};
use records::Records;
use tables::Table;

/// A format of a tool whose file is one object.
struct ObjectFormat {
    /// What people call it: `JSON of hyperfine`.
    name: &'static str,
    /// What it is recognised by, for the error at a file that is none of the formats.
    sign: &'static str,
    /// Whether the object of the whole file is of that format.
    recognises: fn(&Object<'_>) -> bool,
    /// The table, from the object of the whole file.
    table: for<'a> fn(&Object<'a>) -> Result<Table<'a>>,
}

/// All formats of tools, from the one that asks for most.
const FORMATS: [ObjectFormat; 10] = [
    tuners::CACHE,
    tuners::T4,
    benchmarks::HYPERFINE,
    extrap::FORMAT,
    benchmarks::RAMBLE,
    benchmarks::GOOGLE_BENCHMARK,
    benchmarks::REFRAME,
    tables::SPLIT,
    tables::KEYED,
    tables::COLUMNS,
];

/// A format of a tool whose file is objects in lines or in an array.
struct RecordFormat {
    /// Whether the first of the objects is of that format.
    recognises: fn(&Object<'_>) -> bool,
    /// The table, from all objects.
    sheet: for<'a> fn(Records<'a>) -> Result<Sheet<'a>>,
}

/// All formats of tools that write objects in lines.
const RECORD_FORMATS: [RecordFormat; 3] = [extrap::LINES, tuners::LOG, tuners::RESULTS];

/// The table of a file of JSON; `None` of a text that does not begin with `{` or `[`. What was said of its
/// columns may be paths: `results[*].mean`.
///
/// # Errors
/// [`Error::Input`] with the place of what is not as the format asks, or where the format is none that is
/// known and no paths are given.
pub(crate) fn sheet<'a>(source: &'a Source, paths: &[String]) -> Result<Option<Sheet<'a>>> {
    let text = source.text.trim_start_matches(BYTE_ORDER_MARK).trim_start();
    if !text.starts_with(['{', '[']) {
        return Ok(None);
    }
    let (first, rest) = match first_value(source, text) {
        Ok(found) => found,
        Err(error) => return tuners::open(source, text).unwrap_or(Err(error)).map(Some),
    };
    let document = match rest {
        "" => Document::One(first),
        _ if rest.starts_with('{') && first.is_object() => Document::Several(first, text),
        _ => {
            let found = "something behind the end of the first value";
            let at = source.text.len() - rest.len();
            return Err(source.error(at, found, "one array or object, or objects"));
        }
    };
    let recognised = document.sheet(source);
    let leading: Vec<&String> = paths.iter().filter(|path| paths::leads(path, &document)).collect();
    let is_enough = match &recognised {
        Ok(Some(sheet)) => leading.iter().all(|path| sheet.column(paths::name(path)).is_some()),
        Ok(None) => paths.is_empty(),
        Err(_) => leading.is_empty(),
    };
    match recognised {
        _ if !is_enough => paths::sheet(source, &document, paths).map(Some),
        Ok(None) => Err(document.unknown()),
        recognised => recognised,
    }
}

/// What a file holds.
enum Document<'a> {
    /// One value.
    One(Node<'a>),
    /// Objects one behind the other, most often one a line: the first, and the text of all.
    Several(Node<'a>, &'a str),
}

impl<'a> Document<'a> {
    /// The table that the content is recognised as; `None` where it is none.
    fn sheet(&self, source: &'a Source) -> Result<Option<Sheet<'a>>> {
        let root = match *self {
            Self::Several(first, text) => {
                let records = Records::of_lines(source, first, text)?;
                return sheet_of(records, &first.object()?, "JSON Lines").map(Some);
            }
            Self::One(root) => root,
        };
        if root.is_array() {
            let items = root.array()?;
            let Some(first) = items.first().copied() else {
                return Err(root.error("an empty array", "at least one object"));
            };
            if !first.is_object() {
                return Ok(None);
            }
            let records = Records::of_items(source, items)?;
            return sheet_of(records, &first.object()?, "JSON of records").map(Some);
        }
        let object = root.object()?;
        if let Some(format) = FORMATS.iter().find(|format| (format.recognises)(&object)) {
            return Ok(Some((format.table)(&object)?.sheet(source, format.name)));
        }
        // A line may be the only one.
        if record_format(&object).is_some() || is_record(&object) {
            let records = Records::of_items(source, vec![root])?;
            return sheet_of(records, &object, "JSON Lines").map(Some);
        }
        if let Some(inner) = tables::only_table(root)? {
            return inner.sheet(source).map(Some);
        }
        Ok(None)
    }

    /// The error that the file is none of the formats.
    fn unknown(&self) -> Error {
        let (Self::One(root) | Self::Several(root, _)) = self;
        let signs: Vec<&str> = FORMATS.iter().map(|format| format.sign).collect();
        let advice = match paths::example(*root) {
            Some(path) => format!("; or columns given by paths, such as {path}"),
            None => String::new(),
        };
        let kind =
            if root.is_array() { "an array of no objects" } else { "an object of no known format" };
        root.error(kind, format!("an array of objects, {}{advice}", signs.join(", ")))
    }
}

/// Whether an object can be a row: it has values of its own, and holds no table.
fn is_record(object: &Object<'_>) -> bool {
    object.entries().any(|(_, value)| value.is_plain()) && !holds_table(object.node, 0)
}

/// Whether there is an array of objects anywhere inside.
fn holds_table(node: Node<'_>, depth: usize) -> bool {
    if depth >= records::MOST_NESTED {
        return false;
    }
    if node.is_array() {
        let first = node.array().ok().and_then(|items| items.first().copied());
        return first.is_some_and(|first| first.is_object() || holds_table(first, depth + 1));
    }
    let object = if node.is_object() { node.object().ok() } else { None };
    object.is_some_and(|object| object.entries().any(|(_, value)| holds_table(value, depth + 1)))
}

/// The format of a tool that writes such objects in lines.
fn record_format(first: &Object<'_>) -> Option<&'static RecordFormat> {
    RECORD_FORMATS.iter().find(|format| (format.recognises)(first))
}

/// The table of records, as a tool means them or as they are.
fn sheet_of<'a>(mut records: Records<'a>, first: &Object<'_>, plain: &str) -> Result<Sheet<'a>> {
    match record_format(first) {
        Some(format) => (format.sheet)(records),
        None => {
            records.spread_times();
            Ok(records.sheet(plain))
        }
    }
}

#[cfg(test)]
mod tests;
