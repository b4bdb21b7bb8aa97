//! Tables within an object, with what stands beside them.

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use super::node::Node;
use super::records::Records;
use super::sheet_of;
use super::table::free_name;
use crate::formats::blocks::with_column;
use crate::names::{Role, role_of};
use crate::sheet::{Field, Heading, Rows, Sheet};

/// Tables that lie deeper are not looked for.
const MOST_NESTED: usize = 3;

/// An array of objects, or several of the same keys, and what stands around: it is of all rows.
pub(super) struct InnerTable<'a> {
    items: Vec<Node<'a>>,
    around: Vec<(String, Node<'a>)>,
    /// Where each of several arrays begins \[bytes\], and its key.
    starts: Vec<(usize, String)>,
}

/// What the column of the keys of several arrays is called.
const KEYS: &str = "key";

/// The array of objects within an object, or those that have the same keys; `None` of none and of others.
pub(super) fn only_table(root: Node<'_>) -> Result<Option<InnerTable<'_>>> {
    let (mut tables, mut around) = (Vec::new(), Vec::new());
    find(root, "", 0, &mut tables, &mut around)?;
    let mut keys = Vec::new();
    for (_, items) in &tables {
        let first = items[0].object()?;
        keys.push(first.entries().map(|(key, _)| key.to_string()).collect::<Vec<_>>());
    }
    if tables.is_empty() || keys.windows(2).any(|pair| pair[0] != pair[1]) {
        return Ok(None);
    }
    let start = |(path, items): &(String, Vec<Node<'_>>)| (items[0].at(), path.clone());
    let starts = if tables.len() > 1 { tables.iter().map(start).collect() } else { Vec::new() };
    let items = tables.into_iter().flat_map(|(_, items)| items).collect();
    Ok(Some(InnerTable { items, around, starts }))
}

/// Adds the arrays of objects, and the plain values that are its own or count processes or threads.
fn find<'a>(
    node: Node<'a>,
    path: &str,
    depth: usize,
    tables: &mut Vec<(String, Vec<Node<'a>>)>,
    around: &mut Vec<(String, Node<'a>)>,
) -> Result<()> {
    if depth > MOST_NESTED {
        return Ok(());
    }
    if node.is_array() {
        let items = node.array()?;
        let is_table = items.first().is_some_and(Node::is_object);
        tables.extend(is_table.then(|| (path.trim_end_matches('.').to_string(), items)));
    } else if node.is_object() {
        for (name, value) in node.object()?.entries() {
            let is_count =
                || matches!(role_of(name), Some(Role::Processes | Role::Threads | Role::Nodes));
            if value.is_plain() && (depth == 0 || is_count()) {
                around.push((format!("{path}{name}"), value));
            }
            find(value, &format!("{path}{name}."), depth + 1, tables, around)?;
        }
    }
    Ok(())
}

impl<'a> InnerTable<'a> {
    pub fn sheet(self, source: &'a Source) -> Result<Sheet<'a>> {
        let first = self.items[0].object()?;
        let records = Records::of_items(source, self.items)?;
        let mut sheet = sheet_of(records, &first, "JSON of records")?;
        let mut texts = Vec::new();
        for (name, value) in &self.around {
            if sheet.column(name).is_none() {
                let Field { text, at } = value.field()?;
                sheet.columns.push(Heading { name: name.clone(), at });
                texts.push(Field { text, at });
            }
        }
        let Sheet { source, format, columns, rows } = sheet;
        let sheet = Sheet { source, format, columns, rows: Box::new(Around { rows, texts }) };
        let name = free_name(KEYS, 0, |name| sheet.column(name).is_some());
        Ok(if self.starts.is_empty() { sheet } else { with_column(sheet, name, self.starts) })
    }
}

/// Rows with what stands around them.
struct Around<'a> {
    rows: Box<dyn Rows + 'a>,
    texts: Vec<Field<'a>>,
}

impl Rows for Around<'_> {
    fn visit(&self, row: &mut dyn FnMut(&[Field<'_>]) -> Result<()>) -> Result<()> {
        self.rows.visit(&mut |fields| {
            let at = fields.first().map_or(0, |field| field.at);
            let mut all: Vec<Field<'_>> = Vec::with_capacity(fields.len() + self.texts.len());
            all.extend(fields.iter().map(Field::borrowed));
            all.extend(self.texts.iter().map(|field| Field { at, ..field.borrowed() }));
            row(&all)
        })
    }
}
