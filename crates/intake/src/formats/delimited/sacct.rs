//! What `sacct -P` writes: fields between bars, never quoted. A job has a row of its own, one for its script
//! and one for each of its steps; the steps are what ran.

use mmgp_base::error::Result;

use super::separated::{Dialect, Separated};
use super::{Format, Table};
use crate::sheet::{Field, Rows};

pub(super) const FORMAT: Format = Format {
    name: "sacct -P",
    table: |text| {
        let layout = DIALECT.layout(text);
        let is_of_sacct = |name: &str| FIELDS.split_whitespace().any(|known| known == name);
        let known = layout.names.iter().filter(|name| is_of_sacct(&name.text)).count();
        (layout.names.len() > 1 && known >= 2).then(|| {
            let (columns, rows) = DIALECT.below(text.source, &layout)?;
            let place = |name: &str| columns.iter().position(|column| column.name == name);
            let (job, tasks) = (place("JobID").or(place("JobIDRaw")), place("NTasks"));
            let mut has_steps = false;
            rows.visit(&mut |row| {
                has_steps |= job.is_some_and(|job| is_step(&row[job].text));
                Ok(())
            })?;
            let rows: Box<dyn Rows> = match job.filter(|_| has_steps) {
                Some(job) => Box::new(Steps { rows, job, tasks }),
                None => Box::new(rows),
            };
            Ok(Table { columns, rows })
        })
    },
};

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
    rows: Separated<'a>,
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
