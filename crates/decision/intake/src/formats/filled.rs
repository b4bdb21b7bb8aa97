//! Tables in which a value stands only in the first of the rows that have it, as in merged cells of a
//! spreadsheet, and as pandas prints the index.

use std::borrow::Cow;

use mmgp_base::error::Result;

use crate::names::{Role, role_of};
use crate::sheet::{Field, Rows, Sheet};
use crate::units::{Measure, measure_of};

/// So many rows are looked at.
const LOOKED_AT: u64 = 4096;

/// The table with all values; as it is where the first columns have them already.
pub(super) fn with_all_values(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let mut columns: Vec<Column> = sheet
        .columns
        .iter()
        .take_while(|heading| may_be_grouped(&heading.name))
        .map(|_| Column::default())
        .collect();
    let mut rows = 0_u64;
    // What is wrong with a row is said when it is read.
    let _ = sheet.visit_while(&mut |row| {
        if row.iter().all(|field| field.text.is_empty()) {
            return true;
        }
        let mut is_new = rows == 0;
        for (column, field) in columns.iter_mut().zip(row) {
            is_new |= column.add(&field.text, is_new);
        }
        rows += 1;
        rows < LOOKED_AT
    });
    let count = columns.iter().take_while(|column| column.is_grouped(rows)).count();
    if count == 0 {
        return Ok(sheet);
    }
    let Sheet { source, format, columns, rows } = sheet;
    Ok(Sheet { source, format, columns, rows: Box::new(Filled { rows, count }) })
}

/// Whether a column of that name may have a value for several rows: it says neither what came of a run nor
/// anything about it alone.
fn may_be_grouped(name: &str) -> bool {
    let is_of_configuration = matches!(
        role_of(name),
        None | Some(
            Role::Processes
                | Role::Threads
                | Role::Cores
                | Role::AllCores
                | Role::Nodes
                | Role::ProcessesPerNode
        )
    );
    is_of_configuration && matches!(measure_of(name), Measure::Other(_))
}

/// The values of a column.
#[derive(Default)]
struct Column {
    last: String,
    empty: u64,
    /// Whether the first row has none, or a value stands twice where once would do.
    is_plain: bool,
}

impl Column {
    /// Adds the value of a row, in which a column before has a new value or not; whether this one has.
    fn add(&mut self, text: &str, is_new: bool) -> bool {
        if text.is_empty() {
            self.is_plain |= is_new;
            self.empty += 1;
            return false;
        }
        self.is_plain |= text == self.last && !is_new;
        self.last = text.into();
        true
    }

    /// Whether about half of the rows and more have the value of a row above.
    fn is_grouped(&self, rows: u64) -> bool {
        self.empty > 0 && 2 * self.empty + 1 >= rows && !self.is_plain
    }
}

/// Rows in which the first columns have what stands above, where they have nothing.
struct Filled<'a> {
    rows: Box<dyn Rows + 'a>,
    count: usize,
}

impl Rows for Filled<'_> {
    fn visit(&self, row: &mut dyn FnMut(&[Field<'_>]) -> Result<()>) -> Result<()> {
        let mut above = vec![String::new(); self.count];
        self.rows.visit(&mut |fields| {
            if fields.iter().all(|field| field.text.is_empty()) {
                return row(fields);
            }
            let mut all: Vec<Field<'_>> = Vec::with_capacity(fields.len());
            for (above, field) in above.iter_mut().zip(fields).filter(|(_, it)| !it.text.is_empty())
            {
                above.clear();
                above.push_str(&field.text);
            }
            for (place, field) in fields.iter().enumerate() {
                let text = above.get(place).map_or(field.text.as_ref(), String::as_str);
                all.push(Field { text: Cow::Borrowed(text), at: field.at });
            }
            row(&all)
        })
    }
}
