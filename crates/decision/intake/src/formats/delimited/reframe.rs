//! ReFrame's performance logs: fields between bars, never quoted; five columns for each quantity.

use std::borrow::Cow;

use mmgp_base::error::Result;

use super::header::Layout;
use super::lines::Text;
use super::separated::{Dialect, Separated};
use super::{Format, Table};
use crate::sheet::{Field, Heading, Rows};

pub(super) const FORMAT: Format = Format {
    name: "ReFrame's perflog",
    table: |text| {
        let layout = DIALECT.layout(text);
        let is = |name: &Field<'_>, known: &str| name.text == known;
        let is_perflog = layout.names.first().is_some_and(|name| is(name, "result"))
            || layout.names.iter().any(|name| is(name, "job_completion_time"));
        (is_perflog && layout.names.len() > 1).then(|| table(text, &layout))
    },
};

const DIALECT: Dialect = Dialect { separator: b'|', has_quotes: false };

/// What stands behind the name of a quantity in the names of the columns that are left out.
const LEFT_OUT: [&str; 3] = ["_ref", "_lower_thres", "_upper_thres"];

/// A quantity.
struct Quantity {
    name: String,
    /// The column of its values.
    value: usize,
    /// The column of its unit.
    unit: usize,
    /// The unit, while all rows have the same.
    only: Option<String>,
    /// Whether a row has another unit than one before it.
    varies: bool,
}

/// Quantities have their unit in the name: `V [unit]`. Where the unit varies, the columns stay as they are.
fn table<'a>(text: &Text<'a>, layout: &Layout<'a>) -> Result<Table<'a>> {
    let (mut columns, rows) = DIALECT.below(text.source, layout)?;
    let mut quantities = quantities(&columns);
    rows.visit(&mut |row| {
        quantities.iter_mut().for_each(|quantity| quantity.add(&row[quantity.unit].text));
        Ok(())
    })?;
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let is_dropped = |name: &String| {
        quantities.iter().any(|quantity| {
            let rest = name.strip_prefix(&quantity.name);
            rest.is_some_and(|rest| {
                LEFT_OUT.contains(&rest) || (rest == "_unit" && !quantity.varies)
            })
        })
    };
    let places: Vec<usize> = (0..names.len()).filter(|&place| !is_dropped(&names[place])).collect();
    for quantity in quantities.iter().filter(|quantity| !quantity.varies) {
        columns[quantity.value].name = quantity.heading();
    }
    let columns = places.iter().map(|&place| columns[place].clone()).collect();
    Ok(Table { columns, rows: Box::new(SomeColumns { rows, places }) })
}

fn quantities(columns: &[Heading]) -> Vec<Quantity> {
    let quantity = |(value, column): (usize, &Heading)| {
        let name = column.name.strip_suffix("_value")?;
        let unit = columns.iter().position(|it| it.name.strip_suffix("_unit") == Some(name))?;
        Some(Quantity { name: name.into(), value, unit, only: None, varies: false })
    };
    columns.iter().enumerate().filter_map(quantity).collect()
}

impl Quantity {
    fn add(&mut self, unit: &str) {
        match &self.only {
            None => self.only = Some(unit.into()),
            Some(only) => self.varies |= only != unit,
        }
    }

    fn heading(&self) -> String {
        match self.only.as_deref() {
            None | Some("" | "null" | "None") => self.name.clone(),
            Some(unit) => format!("{} [{unit}]", self.name),
        }
    }
}

/// Some columns of a table.
struct SomeColumns<'a> {
    rows: Separated<'a>,
    places: Vec<usize>,
}

impl Rows for SomeColumns<'_> {
    fn visit(&self, row: &mut dyn FnMut(&[Field<'_>]) -> Result<()>) -> Result<()> {
        self.rows.visit(&mut |fields| {
            let field = |&place: &usize| Field {
                text: Cow::Borrowed(fields[place].text.as_ref()),
                at: fields[place].at,
            };
            let some: Vec<Field<'_>> = self.places.iter().map(field).collect();
            row(&some)
        })
    }
}
