//! What `sacct` writes: fields between bars, never quoted, or of fixed width. A job has a row of its own,
//! one for its script and one for each of its steps; the steps are what ran.

use mmgp_base::error::Result;

use super::separated::Dialect;
use super::{Format, Table, fixed_width};
use crate::sheet::{Field, Rows};

pub(super) const FORMAT: Format = Format {
    name: "sacct -P",
    table: |text| {
        let layout = DIALECT.layout(text);
        let is_of_sacct = is_of_sacct(layout.names.iter().map(|name| name.text.as_ref()));
        is_of_sacct.then(|| {
            let (columns, rows) = DIALECT.below(text.source, &layout)?;
            steps(Table { columns, rows: Box::new(rows) })
        })
    },
};

/// What it writes without `-P`: columns of fixed width, from which longer texts are cut off.
pub(super) const FIXED: Format = Format {
    name: "sacct",
    table: |text| match fixed_width::table(text)? {
        Ok(table) => {
            let names = table.columns.iter().map(|column| column.name.as_str());
            is_of_sacct(names).then(|| steps(table))
        }
        Err(error) => Some(Err(error)),
    },
};

/// Whether at least two of the names of columns are of its fields.
fn is_of_sacct<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let is_known = |name: &&str| FIELDS.split_whitespace().any(|known| known == *name);
    names.filter(is_known).count() >= 2
}

/// The table of steps, where a job has such.
fn steps(table: Table<'_>) -> Result<Table<'_>> {
    let Table { columns, rows } = table;
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let (job, tasks) = (place("JobID").or(place("JobIDRaw")), place("NTasks"));
    let mut has_steps = false;
    rows.visit(&mut |row| {
        has_steps |= job.is_some_and(|job| is_step(&row[job].text));
        Ok(())
    })?;
    let rows: Box<dyn Rows + '_> = match job.filter(|_| has_steps) {
        Some(job) => Box::new(Steps { rows, job, tasks }),
        None => rows,
    };
    Ok(Table { columns, rows })
}

const DIALECT: Dialect = Dialect { separator: b'|', has_quotes: false };

/// Names of fields by which its tables are recognised, of which at least two are there.
const FIELDS: &str = "JobID JobIDRaw JobName State NTasks NCPUS NNodes AllocCPUS AllocNodes ReqCPUS \
    ReqNodes Elapsed ElapsedRaw ExitCode DerivedExitCode Partition Account NodeList MaxRSS";

/// Whether an id is of a step: `4711.0`.
fn is_step(id: &str) -> bool {
    id.rsplit_once('.').is_some_and(|(_, step)| step.parse::<u32>().is_ok())
}

/// The rows of steps.
struct Steps<'a> {
    rows: Box<dyn Rows + 'a>,
    job: usize,
    tasks: Option<usize>,
}

impl Rows for Steps<'_> {
    fn visit(&self, row: &mut dyn FnMut(&[Field<'_>]) -> Result<()>) -> Result<()> {
        self.rows.visit(&mut |fields| {
            let has_tasks = self.tasks.is_none_or(|tasks| !fields[tasks].text.is_empty());
            match is_step(&fields[self.job].text) && has_tasks {
                true => row(fields),
                false => Ok(()),
            }
        })
    }
}
