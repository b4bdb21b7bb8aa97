//! Tables of LaTeX: fields between `&`, rows that end with `\\`.

use mmgp_base::error::Result;

use super::header::headings;
use super::lines::{Line, LineRows, Text, field};
use super::{Format, Table};
use crate::sheet::Field;

pub(super) const FORMAT: Format = Format {
    name: "table of LaTeX",
    table: |text| {
        let lines = text.first_lines();
        let mut rows = lines.iter().filter(|line| is_row(line.text));
        let (header, _) = (*rows.next()?, rows.next()?);
        Some(table(text, header))
    },
};

fn is_row(line: &str) -> bool {
    line.contains('&') && line.contains("\\\\")
}

fn table<'a>(text: &Text<'a>, header: Line<'a>) -> Result<Table<'a>> {
    let source = text.source;
    let split = |line: Line<'a>, fields: &mut Vec<Field<'a>>| {
        if !is_row(line.text) {
            return Ok(());
        }
        let row = line.text.split("\\\\").next().unwrap_or_default();
        let mut at = line.at;
        for part in row.split('&') {
            fields.push(plain(field(part, at)));
            at += part.len() + 1;
        }
        Ok(())
    };
    let mut names = Vec::new();
    split(header, &mut names)?;
    let columns = headings(source, &names)?;
    let (start, width) = (header.next, columns.len());
    Ok(Table { columns, rows: Box::new(LineRows { source, start, width, split }) })
}

/// A field without commands before and around it, and without the signs of formulas: `\hline \textbf{8}`, `$8$`.
fn plain(field: Field<'_>) -> Field<'_> {
    let mut text = field.text.as_ref();
    while let Some(rest) = text.strip_prefix('\\') {
        let name = rest.find(|it: char| !it.is_alphabetic()).unwrap_or(rest.len());
        let inner = rest[name..].trim_start();
        text = match inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
            Some(inner) => inner.trim(),
            None if inner.len() < rest.len() - name || inner.starts_with('\\') => inner,
            None => break,
        };
    }
    let text = text.strip_prefix('$').and_then(|text| text.strip_suffix('$')).unwrap_or(text);
    Field { text: text.trim().to_string().into(), at: field.at }
}
