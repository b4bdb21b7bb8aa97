//! A table that is the only one within an object, with what stands beside it.

use std::borrow::Cow;

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use super::node::Node;
use super::records::Records;
use super::sheet_of;
use crate::names::{Role, role_of};
use crate::sheet::{Field, Heading, Rows, Sheet};

/// Tables that lie deeper are not looked for.
const MOST_NESTED: usize = 3;

/// An array of objects, and what stands around it: it is of all its rows.
pub(super) struct InnerTable<'a> {
    items: Vec<Node<'a>>,
    around: Vec<(String, Node<'a>)>,
}

/// The only array of objects within an object; `None` of none and of several.
pub(super) fn only_table(root: Node<'_>) -> Result<Option<InnerTable<'_>>> {
    let (mut tables, mut around) = (Vec::new(), Vec::new());
    find(root, "", 0, &mut tables, &mut around)?;
    let items = if tables.len() == 1 { tables.pop() } else { None };
    Ok(items.map(|items| InnerTable { items, around }))
}

/// Adds the arrays of objects, and the plain values that are its own or count processes or threads.
fn find<'a>(
    node: Node<'a>,
    path: &str,
    depth: usize,
    tables: &mut Vec<Vec<Node<'a>>>,
    around: &mut Vec<(String, Node<'a>)>,
) -> Result<()> {
    if depth > MOST_NESTED {
        return Ok(());
    }
    if node.is_array() {
        let items = node.array()?;
        let is_table = items.first().is_some_and(Node::is_object);
        tables.extend(is_table.then_some(items));
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
        Ok(Sheet { source, format, columns, rows: Box::new(Around { rows, texts }) })
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
            let all: Vec<Field<'_>> = fields
                .iter()
                .chain(&self.texts)
                .map(|field| Field { text: Cow::Borrowed(field.text.as_ref()), at: field.at })
                .collect();
            row(&all)
        })
    }
}
