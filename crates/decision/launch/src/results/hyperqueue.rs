//! Tasks of HyperQueue, as `hq --output-mode=json` prints them: `task list JOB` an object of a
//! list for each job, `job info JOB` a list of jobs with `tasks`, `task info` a list of tasks.
//!
//! The format may change with its version
//! (<https://it4innovations.github.io/hyperqueue/stable/cli/output-mode/>); what is read is what its
//! source writes (`client/output/json.rs`), and further keys are passed over.

use mmgp_base::Result;
use mmgp_base::quantity::Quantity;
use mmgp_base::table::Source;
use mmgp_base::table::json::{Object, Value};
use mmgp_intake::Outcome;

use super::Told;

/// Whether a text is such: JSON whose objects have a state and an id.
pub(super) fn is_it(text: &str) -> bool {
    text.starts_with(['[', '{']) && text.contains("\"state\"") && text.contains("\"id\"")
}

pub(super) fn read(source: &Source) -> Result<Vec<Told>> {
    let root = Value::parse(source)?;
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
                        all.extend(told(&task.object()?)?);
                    }
                }
                None => all.extend(told(&item)?),
            }
        }
    }
    Ok(all)
}

/// What came of a task; nothing where it has not ended or was cancelled.
fn told(task: &Object<'_>) -> Result<Option<Told>> {
    let state = task.required("state")?;
    let outcome = match state.text()?.as_str() {
        "finished" => Outcome::Time(duration(task)?),
        "failed" => {
            let error = task.get("error").map(|it| it.text()).transpose()?.unwrap_or_default();
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
        _ => return Err(state.error("finished, failed, canceled, running or waiting")),
    };
    let id = Some(u64::from(task.required("id")?.count(0)?));
    Ok(Some(Told { id, mapping: None, repetition: None, outcome, quantity: Quantity::Time }))
}

/// From its start to its end \[s\].
fn duration(task: &Object<'_>) -> Result<f64> {
    let instant = |key: &str| {
        let value = task.required(key)?;
        since_1970(&value.text()?)
            .ok_or_else(|| value.error("a date and time as in 2021-12-20T08:56:16.438Z"))
    };
    let (start, end) = (instant("started_at")?, instant("finished_at")?);
    let time_s = (end.0 - start.0) as f64 + (end.1 - start.1);
    Ok(time_s.max(0.0))
}

/// Whole seconds since 1970 and the rest of one, of a date and time in UTC (RFC 3339).
fn since_1970(text: &str) -> Option<(i64, f64)> {
    let (date, time) = text.strip_suffix('Z').or(text.strip_suffix("+00:00"))?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.splitn(3, ':');
    let (hour, minute) = (time.next()?.parse::<i64>().ok()?, time.next()?.parse::<i64>().ok()?);
    let second: f64 = time.next()?.parse().ok()?;
    // Years begin in March, so that a leap day is a year's last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    let days = days - 719_469;
    Some((((days * 24 + hour) * 60 + minute) * 60, second))
}
