//! Tables whose names stand in several lines, as pandas prints and writes them: the names of the columns
//! above, in one line for each level, and below these, in a line of their own, those of the index.
//!
//! ```text
//!                time
//! threads     1     2
//! ranks
//! 1       103.2  53.2
//! ```

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use super::blanks::Gap;
use super::lines::{Line, Text, fields_of, headings, is_number, lines};
use super::{LineFormat, LineTable, bordered};
use crate::names::{Role, numbered, role_of};
use crate::outcomes::is_no_time;
use crate::sheet::Field;
use crate::units::{Comma, Measure, duration, measure_of};

pub(super) const FORMAT: LineFormat = LineFormat { name: "table of pandas", table };

/// Lines of names are no more than this.
const MOST_LEVELS: usize = 4;

/// What stands between fields.
#[derive(Clone, Copy)]
enum Between {
    Blanks,
    Sign(u8),
}

impl Between {
    fn split<'a>(self, line: Line<'a>, fields: &mut Vec<Field<'a>>) {
        match self {
            Self::Blanks => Gap::Any.split(line, fields),
            Self::Sign(sign) => Field::split(line.text, line.at, sign.into(), fields),
        }
    }
}

/// The names of a table.
struct Levels<'a> {
    names: Vec<Field<'a>>,
    /// The number of these that are of the index.
    index: usize,
    /// The place at which the rows begin \[bytes\].
    start: usize,
}

fn table<'a>(text: &Text<'a>) -> Option<Result<LineTable<'a>>> {
    let between = [Between::Blanks, Between::Sign(b','), Between::Sign(b';'), Between::Sign(b'\t')];
    let (between, levels) = between.into_iter().find_map(|it| Some((it, Levels::of(text, it)?)))?;
    let source = text.source;
    let Levels { names, index, start } = levels;
    let width = names.len();
    let split = move |line: Line<'a>, fields: &mut Vec<Field<'a>>| {
        if is_below(line) {
            return Ok(());
        }
        between.split(line, fields);
        // Of rows with the same values of the index, only the first has them.
        let missing = width.saturating_sub(fields.len());
        if missing < index {
            fields.splice(0..0, (0..missing).map(|_| Field { text: "".into(), at: line.at }));
        }
        Ok(())
    };
    Some(LineTable::of_lines(source, headings(source, &names), start, split))
}

/// Whether a line below a table says what it is of: `Name: time, dtype: float64`.
fn is_below(line: Line<'_>) -> bool {
    line.text.contains("dtype: ")
}

impl<'a> Levels<'a> {
    /// The names, where the last line of them is of the index alone.
    fn of(text: &Text<'a>, between: Between) -> Option<Self> {
        let lines = text.first_lines();
        let fields = |line: &Line<'a>| fields_of(|fields| between.split(*line, fields));
        let rows: Vec<Vec<Field<'a>>> = lines.iter().take(MOST_LEVELS + 2).map(fields).collect();
        let place = (0..MOST_LEVELS).find(|&place| match between {
            Between::Blanks => is_of_index(&rows, place, text),
            Between::Sign(_) => is_index_line(&rows, place),
        })?;
        let is_named = |it: &&Field<'_>| !it.text.is_empty();
        let index: Vec<Field<'a>> = rows[place].iter().filter(is_named).cloned().collect();
        let columns = rows[place + 1].len() - index.len();
        let ends = ends(&lines[place + 1], &rows[place + 1]);
        let last = place.checked_sub(1).map(|last| &rows[last]);
        // What the numbers in the last level are of stands at its beginning.
        let level = last.filter(|it| it.len() > columns).and_then(|it| it.first());
        let level = level.filter(|it| !it.text.is_empty() && !is_number(&it.text));
        let mut names = index.clone();
        for column in 0..columns {
            let level_of = |(at, (row, line)): (usize, (&Vec<Field<'a>>, &Line<'a>))| match between
            {
                _ if at + 1 == place => row.get(row.len() - columns + column).cloned(),
                Between::Blanks => above(line, row, ends[index.len() + column]),
                Between::Sign(_) => row.get(index.len() + column).cloned(),
            };
            let levels = rows[..place].iter().zip(&lines).enumerate().filter_map(level_of);
            let levels: Vec<Field<'a>> = levels.filter(|it| !it.text.is_empty()).collect();
            names.push(match levels.is_empty() {
                true => of_series(text.source, lines[place].at),
                false => name(&levels, level),
            });
        }
        add_unit(&mut names, &rows[..place]);
        Some(Self { names, index: index.len(), start: lines[place].next })
    }
}

/// Whether a line between blanks has the names of the index: those of the columns end above what is below.
fn is_of_index(rows: &[Vec<Field<'_>>], place: usize, text: &Text<'_>) -> bool {
    let Some([index, first]) = rows.get(place..place + 2) else { return false };
    let are_words = index.iter().all(|field| !is_number(&field.text));
    let columns = first.len().saturating_sub(index.len());
    if index.is_empty() || !are_words || columns == 0 || !is_number(&first[0].text) {
        return false;
    }
    let Some(above) = place.checked_sub(1).map(|above| &rows[above]) else {
        return columns == 1 && text.source.text.contains("dtype: ");
    };
    let lines = text.first_lines();
    let (labels, fields) = (ends(&lines[place - 1], above), ends(&lines[place + 1], first));
    let Some(level) = above.len().checked_sub(columns).filter(|level| *level <= 1) else {
        return false;
    };
    let are_numbers = level == 1 && above[1..].iter().all(|label| is_number(&label.text));
    are_numbers || labels[level..] == fields[index.len()..]
}

/// Whether a line between signs has names and, behind them, nothing, as wide as those around it.
fn is_index_line(rows: &[Vec<Field<'_>>], place: usize) -> bool {
    let Some([above, index, first]) = place.checked_sub(1).and_then(|it| rows.get(it..it + 3))
    else {
        return false;
    };
    let named = index.iter().take_while(|it| !it.text.is_empty()).count();
    let is_even = above.len() == index.len() && first.len() == index.len();
    is_even
        && (1..index.len()).contains(&named)
        && index[..named].iter().all(|it| !is_number(&it.text))
        && index[named..].iter().all(|it| it.text.is_empty())
        && above[named..].iter().all(|it| !it.text.is_empty())
        && first.iter().all(|it| !it.text.is_empty())
}

/// The ends of the fields of a line \[letters\].
fn ends(line: &Line<'_>, fields: &[Field<'_>]) -> Vec<usize> {
    let end = |field: &Field<'_>| {
        let end = (field.at - line.at + field.text.len()).min(line.text.len());
        line.text[..line.text.floor_char_boundary(end)].chars().count()
    };
    fields.iter().map(end).collect()
}

/// The label of a level that is above a column which ends there: the last that begins before.
fn above<'a>(line: &Line<'a>, labels: &[Field<'a>], end: usize) -> Option<Field<'a>> {
    let ends = ends(line, labels);
    let begins =
        |(label, its_end): &(&Field<'a>, &usize)| **its_end - label.text.chars().count() < end;
    labels.iter().zip(&ends).take_while(begins).last().map(|(label, _)| label.clone())
}

/// The name of a column: its labels, the last of which is a number of what that level is called.
fn name<'a>(levels: &[Field<'a>], level: Option<&Field<'a>>) -> Field<'a> {
    let last = levels.last().expect("invariant: a column has labels");
    let all = levels.iter().map(|it| it.text.as_ref());
    let text = match level.filter(|_| is_number(&last.text)) {
        Some(level) => {
            let before = levels.len() - 1;
            let is_time = |it: &Field<'_>| matches!(measure_of(&it.text), Measure::Time(_));
            let kept = levels[..before].iter().filter(|it| !is_time(it) && it.text != level.text);
            let words = kept.map(|it| it.text.as_ref());
            words.chain([level.text.as_ref(), last.text.as_ref()]).collect::<Vec<_>>().join(" ")
        }
        None => all.collect::<Vec<_>>().join(" "),
    };
    Field { text: text.into(), at: last.at }
}

/// The name of the only column of a series, which stands below it: `Name: time, dtype: float64`.
fn of_series(source: &Source, at: usize) -> Field<'_> {
    let below = source.text.rsplit_once("Name: ").map(|(_, below)| below);
    let name = below.and_then(|below| below.split_once(',')).map_or("value", |(name, _)| name);
    Field { text: name.into(), at }
}

/// Writes the unit of the level of times behind the first name, where a column for each number follows.
fn add_unit(names: &mut [Field<'_>], levels: &[Vec<Field<'_>>]) {
    let unit = levels.iter().flatten().find_map(|label| match measure_of(&label.text) {
        Measure::Time(unit) => unit,
        _ => None,
    });
    let are_numbered = names.last().is_some_and(|name| numbered(&name.text).is_some());
    if let (Some(unit), true) = (unit, are_numbered) {
        names[0].text = format!("{} ({})", names[0].text, unit.symbol()).into();
    }
}

/// Tables with a line for each quantity and a column for each run, as JUBE and spreadsheets have them.
pub(super) const TRANSPOSED: LineFormat =
    LineFormat { name: "table with a line for each quantity", table: transposed };

/// A table with more lines has one for each run.
const MOST_QUANTITIES: usize = 64;

type Split = for<'a> fn(Line<'a>, &mut Vec<Field<'a>>);

/// What may stand between fields.
const SPLITS: [Split; 6] = [
    |line, fields| fields.extend(bordered::fields(line)),
    |line, fields| Field::split(line.text, line.at, ',', fields),
    |line, fields| Field::split(line.text, line.at, ';', fields),
    |line, fields| Field::split(line.text, line.at, '\t', fields),
    |line, fields| Gap::Wide.split(line, fields),
    |line, fields| Gap::Any.split(line, fields),
];

fn transposed<'a>(text: &Text<'a>) -> Option<Result<LineTable<'a>>> {
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
