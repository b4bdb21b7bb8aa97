//! A table of configurations that may be chosen.

use mmgp_base::Mapping;
use mmgp_base::error::{Result, Warning};
use mmgp_base::table::Source;

use super::{Plan, Planner};
use crate::claims::Claims;
use crate::columns::Columns;
use crate::formats;
use crate::survey::Survey;

/// The configurations of a table, each once, in their order. A table of timed runs is one, too: what it says
/// beyond m and p, and how often, is passed over.
///
/// ```
/// use mmgp_base::table::Source;
/// use mmgp_intake::{Columns, configurations};
///
/// let source = Source::new("allowed.csv", "ranks,threads\n8,1\n4,2\n");
/// let (allowed, _) = configurations(&source, &Columns::default())?;
/// assert_eq!((allowed[1].m(), allowed[1].p()), (4, 2));
/// # Ok::<(), mmgp_base::Error>(())
/// ```
///
/// # Errors
/// As [`Plan::of`] and [`Plan::read`], but that no time need be there.
pub fn configurations(source: &Source, columns: &Columns) -> Result<(Vec<Mapping>, Vec<Warning>)> {
    let sheet = formats::sheet(source, columns)?;
    let survey = Survey::of(&sheet)?;
    let claims = Claims { columns: columns.clone(), ..Claims::default() };
    let mut planner = Planner::new(&sheet, &survey, &claims);
    let (m, p) = planner.configuration(&None)?;
    let mut allowed = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    sheet.rows.visit(&mut |row| {
        let mut counts = [1; 2];
        for (number, count) in [&m, &p].into_iter().zip(&mut counts) {
            *count = number.of(row, None, survey.comma).ok_or_else(|| {
                let (field, name) = (&row[number.place()], &sheet.columns[number.place()].name);
                let expected = format!("a whole number from 1 to {}", u32::MAX);
                sheet.error(field.at, format!("{:?} in column {name:?}", field.text), expected)
            })?;
        }
        let mapping = Mapping::new(counts[0], counts[1])?;
        if seen.insert(mapping) {
            allowed.push(mapping);
        }
        Ok(())
    })?;
    if allowed.is_empty() {
        return Err(sheet.error(source.text.len(), "no rows", "at least one row below the header"));
    }
    let line = Plan::line_of(&planner.parts, &sheet).map(Warning::Understood);
    Ok((allowed, line.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = (Vec<(u32, u32)>, Vec<String>);

    fn read(columns: &str, text: &str) -> Result<Read> {
        let columns = if columns.is_empty() { Columns::default() } else { columns.parse()? };
        let (allowed, warnings) = configurations(&Source::new("x.csv", text), &columns)?;
        let allowed = allowed.iter().map(|mapping| (mapping.m(), mapping.p())).collect();
        Ok((allowed, warnings.iter().map(Warning::to_string).collect()))
    }

    #[test]
    fn each_configuration_is_allowed_once_whatever_else_a_row_says() {
        let text = "# big\nm;p;gpus;time_ms;repetition\n8;1;4;x;1\n2;4;4;x;1\n8;1;4;x;2\n";
        assert_eq!(read("", text).unwrap(), (vec![(8, 1), (2, 4)], Vec::new()));
        let chosen = read("m=a,p=b", "b,a,wall\n1,8,3.5\n").unwrap();
        assert_eq!(chosen.0, [(8, 1)]);
        assert_eq!(chosen.1, ["x.csv, CSV: m is \"a\"; p is \"b\""]);
    }

    #[test]
    fn a_table_of_nothing_or_of_something_else_is_refused_at_its_place() {
        let refused = |text: &str| read("", text).unwrap_err().to_string();
        assert_eq!(
            refused("m,p\n"),
            "x.csv:2:1: found no rows, expected at least one row below the header"
        );
        assert_eq!(
            refused("m,p\n4,0\n"),
            "x.csv:2:3: found \"0\" in column \"p\", expected a whole number from 1 to 4294967295"
        );
    }
}
