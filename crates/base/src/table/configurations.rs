//! A table of configurations that may be chosen.

use super::Source;
use super::columns::{Columns, USUAL_TIMES};
use super::csv::{Reader, Wanted};
use crate::Mapping;
use crate::error::{Result, Warning};

/// The configurations of a CSV file with the columns m and p, or what `columns` calls them, each
/// once, in their order. A table of timed runs is one, too: what it says beyond m and p, and how
/// often, is passed over.
///
/// ```
/// use mmgp_base::table::{Columns, Source, configurations};
///
/// let source = Source::new("allowed.csv", "ranks,threads\n8,1\n4,2\n");
/// let (allowed, _) = configurations(&source, &"m=ranks,p=threads".parse::<Columns>()?)?;
/// assert_eq!((allowed[1].m(), allowed[1].p()), (4, 2));
/// # Ok::<(), mmgp_base::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Input`] at whatever is not as described, and for a file without rows.
pub fn configurations(source: &Source, columns: &Columns) -> Result<(Vec<Mapping>, Vec<Warning>)> {
    let of_runs = [columns.repetition().unwrap_or("repetition"), "status"];
    let of_runs = of_runs.into_iter().chain(columns.time().map(|(name, _)| name));
    let mut reader = Reader::choosing(source, &[columns.m(), columns.p()], |names| {
        let is_there = |wanted: &&str| names.iter().any(|name| name == wanted);
        let passed_over = of_runs.chain(USUAL_TIMES).filter(is_there);
        let passed_over = passed_over.map(|name| Wanted { name, default: Some("") });
        [columns.m(), columns.p()].map(Wanted::required).into_iter().chain(passed_over).collect()
    })?;
    let mut allowed = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    while let Some(row) = reader.next_row()? {
        let mapping = Mapping::new(row.count(0, 1)?, row.count(1, 1)?)?;
        if seen.insert(mapping) {
            allowed.push(mapping);
        }
    }
    if allowed.is_empty() {
        return Err(reader.no_rows());
    }
    Ok((allowed, reader.warnings))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = (Vec<(u32, u32)>, Vec<String>);

    fn read(columns: &Columns, text: &str) -> Result<Read> {
        let (allowed, warnings) = configurations(&Source::new("x.csv", text), columns)?;
        let allowed = allowed.iter().map(|mapping| (mapping.m(), mapping.p())).collect();
        Ok((allowed, warnings.iter().map(Warning::to_string).collect()))
    }

    #[test]
    fn each_configuration_is_allowed_once_whatever_else_a_row_says() {
        let usual = Columns::default();
        let (allowed, warnings) =
            read(&usual, "# big\nm;p;gpus;time_ms;repetition\n8;1;4;x;1\n2;4;4;x;1\n8;1;4;x;2\n")
                .unwrap();
        assert_eq!(allowed, [(8, 1), (2, 4)]);
        assert_eq!(warnings, ["x.csv:2:5: column \"gpus\" is not known and was ignored"]);
        let chosen = "m=ranks,p=threads,time=wall".parse().expect("good columns");
        let runs = "threads,ranks,wall\n1,8,3.5\n";
        assert_eq!(read(&chosen, runs).unwrap(), (vec![(8, 1)], Vec::new()));
    }

    #[test]
    fn a_table_of_nothing_or_of_something_else_is_refused_at_its_place() {
        let refused = |text: &str| read(&Columns::default(), text).unwrap_err().to_string();
        assert_eq!(
            refused("m,p\n"),
            "x.csv:2:1: found no rows, expected at least one row below the header"
        );
        assert_eq!(
            refused("m,p\n4,0\n"),
            "x.csv:2:3: found \"0\" in column \"p\", expected a whole number from 1 to 4294967295"
        );
        assert_eq!(
            refused(""),
            "x.csv:1:1: found an empty file, expected a header with the columns m, p"
        );
    }
}
