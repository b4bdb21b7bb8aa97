//! What came of runs that somebody else started, in any format that [`crate::emit`] leads to.

use mmgp_base::quantity::Quantity;
use mmgp_base::table::csv::Reader;
use mmgp_base::table::{BYTE_ORDER_MARK, Source};
use mmgp_base::{Mapping, Result};
use mmgp_intake::formats::{Node, Object};
use mmgp_intake::{Claims, Outcome, RunReport};

/// Reads what another engine wrote of the runs of [`crate::emit`], a job log of GNU parallel or the tasks
/// of HyperQueue as JSON, or any table that [`mmgp_intake`] understands, recognised by their content. What
/// has not ended is left out.
///
/// # Errors
/// [`mmgp_base::Error::Input`] with the place of what is not as the format asks; as
/// [`mmgp_intake::Plan::of`] for a table.
pub fn read(source: &Source, claims: &Claims) -> Result<Vec<RunReport>> {
    let text = source.text.trim_start_matches(BYTE_ORDER_MARK).trim_start();
    if is_hyperqueue(text) {
        return hyperqueue(source);
    }
    if text.starts_with("Seq\t") && text.contains("MMGP_ID=") {
        return job_log(source);
    }
    mmgp_intake::told(source, claims)
}

fn job_log(source: &Source) -> Result<Vec<RunReport>> {
    const COLUMNS: [&str; 4] = ["JobRuntime", "Exitval", "Signal", "Command"];
    let mut reader = Reader::new(source, &COLUMNS, &[])?;
    let mut all = Vec::new();
    while let Some(row) = reader.next_row()? {
        let command = row.text(3);
        let variable = |name: &str| {
            let mut words = command.split_whitespace();
            words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let Some(id) = variable("MMGP_ID").and_then(|id| id.parse().ok()) else {
            return Err(row.error(0, format!("the command {command}"), "one that sets MMGP_ID"));
        };
        let number = |name| variable(name)?.parse::<u32>().ok();
        let mapping = number("MMGP_M").zip(number("MMGP_P"));
        let time_s = row.seconds(0)?;
        let limit_s = variable("MMGP_LIMIT").and_then(|it| it.parse::<f64>().ok());
        let outcome = match (limit_s, row.count(1, 0)?, row.count(2, 0)?) {
            (Some(limit_s), 1.., _) if time_s >= limit_s => Outcome::Longer(limit_s),
            (_, 0, 0) => Outcome::Time(time_s),
            (_, exit, 0) => Outcome::Failed {
                why: format!("exit status {exit}"),
                exit: i32::try_from(exit).ok(),
            },
            (_, _, signal) => {
                Outcome::Failed { why: format!("ended by signal {signal}"), exit: None }
            }
        };
        all.push(RunReport {
            id: Some(id),
            mapping: mapping.map(|(m, p)| Mapping::new(m, p)).transpose()?,
            repetition: number("MMGP_REP"),
            outcome,
            quantity: Quantity::Time,
        });
    }
    Ok(all)
}

/// Whether a text has tasks of HyperQueue: JSON whose objects have a state and an id.
fn is_hyperqueue(text: &str) -> bool {
    text.starts_with(['[', '{']) && text.contains("\"state\"") && text.contains("\"id\"")
}

/// Tasks of HyperQueue, as `hq --output-mode=json` prints them: `task list JOB` an object of a
/// list for each job, `job info JOB` a list of jobs with `tasks`, `task info` a list of tasks.
///
/// The format may change with its version
/// (<https://it4innovations.github.io/hyperqueue/stable/cli/output-mode/>); what is read is what its
/// source writes (`client/output/json.rs`), and further keys are passed over.
fn hyperqueue(source: &Source) -> Result<Vec<RunReport>> {
    let root = Node::of_file(source)?;
    let lists = if root.is_array() {
        vec![root]
    } else {
        root.object()?.entries().map(|(_, list)| list).collect()
    };
    let mut all = Vec::new();
    for list in lists {
        for item in list.array()? {
            let item = item.object()?;
            match item.get("tasks") {
                Some(tasks) => {
                    for task in tasks.array()? {
                        all.extend(task_told(&task.object()?)?);
                    }
                }
                None => all.extend(task_told(&item)?),
            }
        }
    }
    Ok(all)
}

/// What came of a task; nothing where it has not ended or was cancelled.
fn task_told(task: &Object<'_>) -> Result<Option<RunReport>> {
    let state = task.required("state")?;
    let outcome = match state.plain_text()?.as_ref() {
        "finished" => Outcome::Time(duration(task)?),
        "failed" => {
            let error =
                task.get("error").map(|it| it.plain_text()).transpose()?.unwrap_or_default();
            if error.to_lowercase().contains("time limit") {
                Outcome::Longer(duration(task)?)
            } else {
                let exit = error.split("exit code ").nth(1);
                let exit = exit.and_then(|it| it.split_whitespace().next()?.parse::<i32>().ok());
                let why = exit.map_or("it failed".into(), |exit| format!("exit status {exit}"));
                Outcome::Failed { why, exit }
            }
        }
        "waiting" | "running" | "canceled" => return Ok(None),
        _ => {
            let expected = "finished, failed, canceled, running or waiting";
            return Err(state.error(state.describe(), expected));
        }
    };
    let id = task.required("id")?;
    let number = id.plain_text()?.parse::<u64>();
    let number = number.map_err(|_| id.error(id.describe(), "a whole number"))?;
    let id = Some(number);
    Ok(Some(RunReport { id, mapping: None, repetition: None, outcome, quantity: Quantity::Time }))
}

/// Time from its start to its end \[s\].
fn duration(task: &Object<'_>) -> Result<f64> {
    let instant = |key: &str| {
        let value = task.required(key)?;
        let text = value.plain_text()?.replace("+00:00", "Z");
        humantime::parse_rfc3339(&text).map_err(|_| {
            value.error(value.describe(), "a date and time as in 2021-12-20T08:56:16.438Z")
        })
    };
    let (start, end) = (instant("started_at")?, instant("finished_at")?);
    Ok(end.duration_since(start).unwrap_or_default().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of each id, as text.
    fn read_all(text: &str) -> String {
        let told = read(&Source::new("r", text), &Claims::default());
        let told = told.unwrap_or_else(|error| panic!("{error}"));
        let line = |it: &RunReport| match (&it.outcome, it.id.unwrap_or(0)) {
            (Outcome::Time(time_s), id) => format!("{id} {time_s:.6}"),
            (Outcome::Longer(time_s), id) => format!("{id} >{time_s:.6}"),
            (Outcome::Failed { why, exit }, id) => format!("{id} {exit:?} {why}"),
        };
        told.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    fn refused(text: &str) -> String {
        read(&Source::new("r", text), &Claims::default()).expect_err("must be refused").to_string()
    }

    #[test]
    fn a_table_needs_neither_ids_nor_exit_status() {
        assert_eq!(read_all("m,p,time_s\n4,2,1.5\n"), "0 1.500000");
        let full = "id,m,p,nodes,repetition,time_s,exit\n3,4,2,1,1,1.5,0\n4,1,1,1,2,,137\n\
                    5,1,2,1,1,60,timeout\n";
        assert_eq!(
            read_all(full),
            "3 1.500000; 4 Some(137) \"137\" in column \"exit\"; 5 >60.000000"
        );
        assert_eq!(
            read_all("np;Zeit [ms];rc\n4;1500;0\n8;20;1\n"),
            "0 1.500000; 0 Some(1) \"1\" in \
             column \"rc\""
        );
    }

    #[test]
    fn a_job_log_has_ids_in_its_commands() {
        let log = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n\
                   1\t:\t1703001234.123\t     1.250\t0\t5\t0\t0\tenv MMGP_ID=12 MMGP_M=4 ./app\n\
                   2\t:\t1703001236.123\t     0.250\t0\t5\t0\t9\tenv MMGP_ID=13 ./app\n";
        assert_eq!(read_all(log), "12 1.250000; 13 None ended by signal 9");
        assert_eq!(
            refused(&log.replace("MMGP_ID=13", "A=1")),
            "r:3:1: found the command env A=1 ./app, expected one that sets MMGP_ID"
        );
    }

    #[test]
    fn tasks_of_hyperqueue_are_read_from_lists_and_from_jobs() {
        // An hour, a leap day and New Year lie between some of the instants.
        let tasks = r#"[
            {"id": 1, "state": "finished", "started_at": "2021-12-20T08:59:59.900000000Z",
             "finished_at": "2021-12-20T09:00:01.150Z", "worker": 1},
            {"id": 2, "state": "finished", "started_at": "2024-02-28T23:59:59Z",
             "finished_at": "2024-03-01T00:00:00Z"},
            {"id": 3, "state": "finished", "started_at": "2023-12-31T23:59:59.5Z",
             "finished_at": "2024-01-01T00:00:00Z"},
            {"id": 4, "state": "failed", "error": "Error: Program terminated with exit code 3",
             "started_at": "2024-01-01T00:00:00Z", "finished_at": "2024-01-01T00:00:00Z"},
            {"id": 5, "state": "failed", "error": "Error: Time limit reached",
             "started_at": "2024-01-01T00:00:00Z", "finished_at": "2024-01-01T00:00:02Z"},
            {"id": 6, "state": "running", "started_at": "2024-01-01T00:00:00Z"},
            {"id": 7, "state": "waiting"}, {"id": 8, "state": "canceled"}]"#;
        let expected =
            "1 1.250000; 2 86401.000000; 3 0.500000; 4 Some(3) exit status 3; 5 >2.000000";
        assert_eq!(read_all(tasks), expected);
        assert_eq!(read_all(&format!("{{\"1\": {tasks}}}")), expected);
        assert_eq!(read_all(&format!("[{{\"info\": {{}}, \"tasks\": {tasks}}}]")), expected);
        assert_eq!(
            refused(r#"[{"id": 1, "state": "finished", "started_at": "soon"}]"#),
            "r:1:47: found the text \"soon\", expected a date and time as in \
             2021-12-20T08:56:16.438Z"
        );
    }
}
