//! What tools that run programs write in lines: GNU parallel, hyperfine, ReFrame, Slurm.

use mmgp_base::error::Result;

use super::blanks::fixed_width;
use super::lines::{Layout, Line, Text, fields_of, headings};
use super::separated::{self, Dialect};
use super::{LineFormat, LineTable};
use crate::is_in;
use crate::sheet::{Field, Heading, Rows as _, made_of};

/// Fields between bars, never quoted.
const BARS: Dialect = Dialect { separator: b'|', has_quotes: false };

/// A job log of GNU parallel. What varies among the jobs stands in their commands.
pub(super) const JOB_LOG: LineFormat = LineFormat {
    name: "job log of GNU parallel",
    table: |text| {
        let names = fields_of(|fields| split_job(text.first(), fields));
        let is_log = names.iter().map(|name| name.text.as_ref()).eq(JOB_COLUMNS);
        is_log.then(|| job_log(text, &names))
    },
};

const JOB_COLUMNS: [&str; 9] =
    ["Seq", "Host", "Starttime", "JobRuntime", "Send", "Receive", "Exitval", "Signal", "Command"];

fn job_log<'a>(text: &Text<'a>, names: &[Field<'a>]) -> Result<LineTable<'a>> {
    let columns = headings(text.source, names).map(timed);
    LineTable::of_lines(text.source, columns, text.first().next, |line, fields| {
        split_job(line, fields);
        Ok(())
    })
}

/// What `--results` writes into a file of CSV: the columns of a job log, arguments, and what was printed.
pub(super) const JOB_RESULTS: LineFormat = LineFormat {
    name: "results of GNU parallel",
    table: |text| {
        if !text.first().text.trim_start_matches('"').starts_with(JOB_COLUMNS[0]) {
            return None;
        }
        let LineTable { columns, rows } = separated::any(text)?.ok()?;
        let names = columns.iter().map(|column| column.name.as_str());
        let are_results =
            columns.len() > JOB_COLUMNS.len() && names.take(JOB_COLUMNS.len()).eq(JOB_COLUMNS);
        are_results.then(|| Ok(LineTable { columns: timed(columns), rows }))
    },
};

/// The fields of a line between tabs; the command is the rest.
fn split_job<'a>(line: Line<'a>, fields: &mut Vec<Field<'a>>) {
    let mut at = line.at;
    for part in line.text.splitn(JOB_COLUMNS.len(), '\t') {
        fields.push(Field::of(part, at));
        at += part.len() + 1;
    }
}

/// The table whose name of the time has its unit.
fn timed(mut columns: Vec<Heading>) -> Vec<Heading> {
    for column in columns.iter_mut().filter(|column| column.name == "JobRuntime") {
        column.name += " [s]";
    }
    columns
}

/// What `hyperfine --export-csv` writes: a row for each command, times in seconds, which it does not say.
pub(super) const HYPERFINE: LineFormat = LineFormat {
    name: "CSV of hyperfine",
    table: |text| {
        if !text.first().text.starts_with(HYPERFINE_COLUMNS) {
            return None;
        }
        let table = separated::any(text)?;
        Some(table.map(|LineTable { mut columns, rows }| {
            for column in &mut columns[1..HYPERFINE_COLUMNS.split(',').count()] {
                column.name += " [s]";
            }
            LineTable { columns, rows }
        }))
    },
};

/// Parameters and their values stand behind these.
const HYPERFINE_COLUMNS: &str = "command,mean,stddev,median,user,system,min,max";

/// What `sacct -P` writes: fields between bars, never quoted. A job has a row of its own, one for its script
/// and one for each of its steps; the steps are what ran.
pub(super) const SACCT: LineFormat = LineFormat {
    name: "sacct -P",
    table: |text| {
        let layout = BARS.layout(text);
        let is_of_sacct = is_of_sacct(layout.names.iter().map(|name| name.text.as_ref()));
        is_of_sacct.then(|| {
            let (columns, rows) = BARS.below(text.source, &layout)?;
            steps(LineTable { columns, rows: Box::new(rows) })
        })
    },
};

/// What `sacct` writes without `-P`: columns of fixed width, from which longer texts are cut off.
pub(super) const SACCT_FIXED: LineFormat = LineFormat {
    name: "sacct",
    table: |text| match fixed_width(text)? {
        Ok(table) => {
            let names = table.columns.iter().map(|column| column.name.as_str());
            is_of_sacct(names).then(|| steps(table))
        }
        Err(error) => Some(Err(error)),
    },
};

/// Whether at least two of the names of columns are of the fields of sacct.
fn is_of_sacct<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let is_known = |name: &&str| is_in(SACCT_FIELDS, name);
    names.filter(is_known).count() >= 2
}

/// The table of steps, where a job has such.
fn steps(table: LineTable<'_>) -> Result<LineTable<'_>> {
    let LineTable { columns, rows } = table;
    let place = |name: &str| columns.iter().position(|column| column.name == name);
    let (job, tasks) = (place("JobID").or(place("JobIDRaw")), place("NTasks"));
    let mut has_steps = false;
    rows.visit(&mut |row| {
        has_steps |= job.is_some_and(|job| is_step(&row[job].text));
        Ok(())
    })?;
    let Some(job) = job.filter(|_| has_steps) else { return Ok(LineTable { columns, rows }) };
    let rows = made_of(rows, move |rows, row| {
        rows.visit(&mut |fields| {
            let has_tasks = tasks.is_none_or(|tasks| !fields[tasks].text.is_empty());
            if is_step(&fields[job].text) && has_tasks { row(fields) } else { Ok(()) }
        })
    });
    Ok(LineTable { columns, rows })
}

/// Names of fields by which tables of sacct are recognised, of which at least two are there.
const SACCT_FIELDS: &str = "JobID JobIDRaw JobName State NTasks NCPUS NNodes AllocCPUS AllocNodes ReqCPUS \
    ReqNodes Elapsed ElapsedRaw ExitCode DerivedExitCode Partition Account NodeList MaxRSS";

/// Whether an id is of a step: `4711.0`.
fn is_step(id: &str) -> bool {
    id.rsplit_once('.').is_some_and(|(_, step)| step.parse::<u32>().is_ok())
}

/// ReFrame's performance logs: fields between bars, never quoted; five columns for each quantity.
pub(super) const PERFLOG: LineFormat = LineFormat {
    name: "ReFrame's perflog",
    table: |text| {
        let layout = BARS.layout(text);
        let is = |name: &Field<'_>, known: &str| name.text == known;
        let is_perflog = layout.names.first().is_some_and(|name| is(name, "result"))
            || layout.names.iter().any(|name| is(name, "job_completion_time"));
        (is_perflog && layout.names.len() > 1).then(|| perflog(text, &layout))
    },
};

/// What stands behind the name of a quantity in the names of the columns that are left out.
const LEFT_OUT: [&str; 3] = ["_ref", "_lower_thres", "_upper_thres"];

/// A quantity.
struct LoggedQuantity {
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
fn perflog<'a>(text: &Text<'a>, layout: &Layout<'a>) -> Result<LineTable<'a>> {
    let (mut columns, rows) = BARS.below(text.source, layout)?;
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
    let rows = made_of(Box::new(rows), move |rows, row| {
        rows.visit(&mut |fields| {
            let some: Vec<Field<'_>> = places.iter().map(|&it| fields[it].borrowed()).collect();
            row(&some)
        })
    });
    Ok(LineTable { columns, rows })
}

fn quantities(columns: &[Heading]) -> Vec<LoggedQuantity> {
    let quantity = |(value, column): (usize, &Heading)| {
        let name = column.name.strip_suffix("_value")?;
        let unit = columns.iter().position(|it| it.name.strip_suffix("_unit") == Some(name))?;
        Some(LoggedQuantity { name: name.into(), value, unit, only: None, varies: false })
    };
    columns.iter().enumerate().filter_map(quantity).collect()
}

impl LoggedQuantity {
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
