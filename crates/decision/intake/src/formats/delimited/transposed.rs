//! Tables with a line for each quantity and a column for each run, as JUBE and spreadsheets have them.

use mmgp_base::error::Result;

use super::blanks::Gap;
use super::bordered;
use super::lines::{Line, Text, fields_of, headings, is_number, lines, split as split_at};
use super::{LineFormat, LineTable};
use crate::names::{Role, role_of};
use crate::outcomes::is_no_time;
use crate::sheet::Field;
use crate::units::{Comma, Measure, duration, measure_of};

pub(super) const FORMAT: LineFormat =
    LineFormat { name: "table with a line for each quantity", table };

/// A table with more lines has one for each run.
const MOST_QUANTITIES: usize = 64;

type Split = for<'a> fn(Line<'a>, &mut Vec<Field<'a>>);

/// What may stand between fields.
const SPLITS: [Split; 6] = [
    |line, fields| fields.extend(bordered::fields(line)),
    |line, fields| split_at(line, b',', fields),
    |line, fields| split_at(line, b';', fields),
    |line, fields| split_at(line, b'\t', fields),
    |line, fields| Gap::Wide.split(line, fields),
    |line, fields| Gap::Any.split(line, fields),
];

fn table<'a>(text: &Text<'a>) -> Option<Result<LineTable<'a>>> {
    if text.first_lines().len() > MOST_QUANTITIES || text.end < text.source.text.len() {
        return None;
    }
    let mut quantities = SPLITS.into_iter().find_map(|split| quantities(text, split))?;
    quantities.retain(|quantity| !is_numbering(quantity));
    let names: Vec<Field<'a>> = quantities.iter().map(|quantity| quantity[0].clone()).collect();
    let row = |run: usize| quantities.iter().map(|quantity| quantity[run].clone()).collect();
    let rows: Vec<Vec<Field<'a>>> = (1..quantities[0].len()).map(row).collect();
    Some(headings(text.source, &names).map(|columns| LineTable { columns, rows: Box::new(rows) }))
}

/// The lines, where each begins with a name, at least one of which is of processes or threads, and one of a
/// time.
fn quantities<'a>(text: &Text<'a>, split: Split) -> Option<Vec<Vec<Field<'a>>>> {
    let fields = |line: Line<'a>| fields_of(|fields| split(line, fields));
    let mut all: Vec<Vec<Field<'a>>> = lines(&text.source.text, text.start).map(fields).collect();
    // Lines that are drawn have no fields, a title has one.
    all.retain(|fields| fields.len() > 1);
    let width = all.first()?.len();
    let are = |fields: &Vec<Field<'a>>, is: fn(&str) -> bool| {
        fields[1..].iter().all(|field| is(&field.text))
    };
    let is_number_of = |fields: &Vec<Field<'a>>| {
        let is_count = |text: &str| text.parse::<u32>().is_ok_and(|count| count > 0);
        let role = role_of(&fields[0].text);
        matches!(role, Some(Role::Processes | Role::Threads)) && are(fields, is_count)
    };
    let is_time_of = |fields: &Vec<Field<'a>>| {
        let is_time = |text: &str| duration(text, Comma::Thousands).is_some() || is_no_time(text);
        matches!(measure_of(&fields[0].text), Measure::Time(_)) && are(fields, is_time)
    };
    let is_even =
        all.iter().all(|it| it.len() == width && !it[0].text.is_empty() && !is_number(&it[0].text));
    let is_transposed =
        is_even && width > 2 && all.iter().any(is_number_of) && all.iter().any(is_time_of);
    is_transposed.then_some(all)
}

/// Whether a line numbers the runs.
fn is_numbering(fields: &[Field<'_>]) -> bool {
    let numbers: Option<Vec<u32>> = fields[1..].iter().map(|it| it.text.parse().ok()).collect();
    role_of(&fields[0].text).is_none()
        && numbers.is_some_and(|it| it[0] <= 1 && it.windows(2).all(|pair| pair[1] == pair[0] + 1))
}
