//! What tuners write: the caches of Kernel Tuner, which it leaves open while it works, results in the T4
//! format, and the `log.jsonl` of `mmgp tune`.

use mmgp_base::error::Result;
use mmgp_base::table::Source;

use super::node::{Node, Object};
use super::records::Records;
use super::tables::{Row, Table};
use super::{ObjectFormat, RecordFormat};
use crate::sheet::{Field, Sheet};

pub(super) const CACHE: ObjectFormat = ObjectFormat {
    name: "cache of Kernel Tuner",
    sign: "\"cache\" of Kernel Tuner",
    recognises: |root| root.get("cache").is_some_and(|cache| cache.is_object()),
    table: cache,
};

pub(super) const T4: ObjectFormat = ObjectFormat {
    name: "T4 results",
    sign: "\"results\" with \"configuration\" (T4)",
    recognises: |root| {
        let first = root.first_of("results");
        first.is_some_and(|first| first.any("configuration").is_some())
    },
    table: t4,
};

/// Results as `tune_kernel` returns them, dumped as they are; an object for each configuration.
pub(super) const RESULTS: RecordFormat = RecordFormat {
    recognises: |first| {
        let is_there = |key: &&&str| first.any(key).is_some();
        OVERHEADS.iter().filter(is_there).count() >= 2
            && (first.any("time").is_some() || first.any("times").is_some())
    },
    sheet: results,
};

/// Times of what is not the kernel.
const OVERHEADS: [&str; 5] =
    ["compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"];

/// The configurations, and for each of their `times` or for their `time` a row; in milliseconds, as in a
/// cache.
fn results(mut records: Records<'_>) -> Result<Sheet<'_>> {
    OVERHEADS.iter().for_each(|key| records.pass_over(key));
    let is_each = records.has("times");
    if is_each {
        records.pass_over("time");
        records.spread("times");
    }
    records.rename(if is_each { "times" } else { "time" }, "time_ms");
    Ok(records.sheet("results of Kernel Tuner"))
}

/// The table of a cache that was left open: after its last entry there is a comma, and no end. `None` of
/// what is no such cache.
pub(super) fn open<'a>(source: &'a Source, text: &str) -> Option<Result<Sheet<'a>>> {
    if !text.contains("\"cache\"") {
        return None;
    }
    let end = source.text.trim_end();
    let closed = format!("{}}}}}", end.strip_suffix(',').unwrap_or(end));
    let root = Node::of_changed(source, &closed)?.object().ok()?;
    let table = (CACHE.recognises)(&root).then(|| cache(&root).map(Table::into_owned))?;
    Some(table.map(|table| table.sheet(source, CACHE.name)))
}

/// A row for each of the `times` of a configuration, or for its `time`: the tuning parameters and
/// `time [ms]`, which for a configuration that failed is a text such as `InvalidConfig`.
fn cache<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let keys = root.required("tune_params_keys")?.array()?;
    let keys: Vec<_> = keys.iter().map(Node::plain_text).collect::<Result<_>>()?;
    let cache = root.required("cache")?;
    let mut table = Table::default();
    for (_, configuration) in cache.object()?.entries() {
        let configuration = configuration.object()?;
        let mut common = Row::at(configuration.node.at());
        for key in &keys {
            common.add(key, configuration.required(key)?.field()?);
        }
        let times = configuration.get("times").filter(Node::is_array);
        let times = times.map(|times| times.array()).transpose()?.unwrap_or_default();
        let times = match configuration.get("__error__") {
            Some(failure) => vec![failure],
            None if times.is_empty() => vec![configuration.required("time")?],
            None => times,
        };
        for time in times {
            let mut row = common.clone();
            row.add("time [ms]", time.field()?);
            table.push(row);
        }
    }
    table.filled(cache, "configurations")
}

/// A row for each result: its configuration, `status`, and its measurements with their units. Times of
/// compilation and the like are passed over.
fn t4<'a>(root: &Object<'a>) -> Result<Table<'a>> {
    let mut table = Table::default();
    for result in root.required("results")?.array()? {
        let result = result.object()?;
        let mut row = Row::at(result.node.at());
        row.add_all(result.required("configuration")?.object()?.entries())?;
        if let Some(invalidity) = result.get("invalidity") {
            let found = invalidity.field()?;
            let is_good = matches!(found.text.as_ref(), "" | "correct");
            let text = if is_good { "ok".into() } else { found.text };
            row.add("status", Field { text, at: found.at });
        }
        let measurements = result.get("measurements").map(|it| it.array()).transpose()?;
        for measurement in measurements.unwrap_or_default() {
            let measurement = measurement.object()?;
            let value = measurement.any("value").unwrap_or(measurement.node);
            if value.is_plain() || value.is_null() {
                row.add(&with_unit(&measurement, "unit")?, value.field()?);
            }
        }
        table.push(row);
    }
    Ok(table)
}

/// The `name` of an object, and behind it in brackets the unit that it has by that key.
pub(super) fn with_unit(object: &Object<'_>, key: &str) -> Result<String> {
    let name = object.required("name")?.plain_text()?;
    let unit = object.get(key).map(|unit| unit.plain_text()).transpose()?.unwrap_or_default();
    Ok(if unit.is_empty() { name.into_owned() } else { format!("{name} [{unit}]") })
}

/// The log of `mmgp tune`: an attempt in each line ([`mmgp_base::attempt::Attempt`]).
pub(super) const LOG: RecordFormat = RecordFormat {
    recognises: |line| {
        ["id", "m", "p", "repetition", "status"].iter().all(|key| line.any(key).is_some())
    },
    sheet: log,
};

/// The table of attempts; further factors and what was captured are columns by their names. A warm-up,
/// repetition 0, does not count. What stands for the time of a rate or an amount is none, and what was seen
/// of processes while they ran is no size.
fn log(mut records: Records<'_>) -> Result<Sheet<'_>> {
    records.without("env.");
    records.without("placement.");
    records.without("limit_s");
    if records.has("rate_unit") || records.has("amount_unit") {
        records.without("time_s");
    }
    records.rename("order", "seq");
    records.rename_inner("params.");
    records.rename_inner("captured.");
    records.leave_out("repetition", "0");
    Ok(records.sheet("log of mmgp"))
}
