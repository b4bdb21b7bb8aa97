//! What follows from a log, for others: runs.csv, hyperfine's JSON, and a T4 record.

use std::collections::BTreeMap;

use mmgp_base::Mapping;
use mmgp_base::attempt::{Attempt, Status};
use mmgp_base::quantity::Quantity;
use mmgp_base::table::records::Run;
use mmgp_model::statistics::median;
use serde_json::{Value, json};

use crate::engine::mapping;

/// The timed runs of one level that went well, by configuration, then in their order.
pub fn runs(factors: &BTreeMap<String, String>, attempts: &[Attempt]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for attempt in attempts.iter().filter(|it| it.params == *factors && it.repetition > 0) {
        let (Status::Ok, Some(time_s)) = (attempt.status, attempt.time_s) else { continue };
        let (m, p) = (attempt.m, attempt.p);
        let earlier = runs.iter().filter(|run| (run.m, run.p) == (m, p)).count() as u32;
        runs.push(Run { m, p, repetition: earlier + 1, time_s });
    }
    runs.sort_by_key(|run| (run.m, run.p, run.repetition));
    runs
}

/// A log as hyperfine's `--export-json` writes it: a result for each configuration, its repetitions
/// among its times, its parameters as texts. Runs that did not go well have an exit code other than
/// 0 and the time after which they ended.
pub fn hyperfine(attempts: &[Attempt]) -> Value {
    let mut results: BTreeMap<(Mapping, &BTreeMap<String, String>), Vec<&Attempt>> =
        BTreeMap::new();
    let timed = attempts.iter().filter(|it| it.repetition > 0 && it.status != Status::Interrupted);
    for attempt in timed {
        results.entry((mapping(attempt), &attempt.params)).or_default().push(attempt);
    }
    let result =
        |((mapping, params), all): (&(Mapping, &BTreeMap<String, String>), &Vec<&Attempt>)| {
            let times: Vec<f64> = all.iter().filter_map(|it| it.time_s.or(it.wall_s)).collect();
            let code = |it: &&Attempt| match it.status {
                Status::Ok => json!(0),
                _ => json!(it.exit.filter(|&code| code != 0)),
            };
            let memory = |it: &&Attempt| it.max_rss_kb.unwrap_or(0) * 1024;
            let mut parameters =
                json!({ "m": mapping.m().to_string(), "p": mapping.p().to_string() });
            for (name, value) in *params {
                parameters[name] = json!(value);
            }
            let count = times.len().max(1) as f64;
            let mean = times.iter().sum::<f64>() / count;
            let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
            let deviation = (times.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
            json!({
                "command": all[0].argv.join(" "),
                "mean": mean,
                "stddev": deviation,
                "median": median(times.clone()),
                "min": times.iter().copied().reduce(f64::min),
                "max": times.iter().copied().reduce(f64::max),
                "times": times,
                "memory_usage_byte": all.iter().map(memory).collect::<Vec<_>>(),
                "exit_codes": all.iter().map(code).collect::<Vec<_>>(),
                "parameters": parameters,
            })
        };
    // One that could not even be started has no time to show.
    let has_times = |it: &&Attempt| it.time_s.or(it.wall_s).is_some();
    results.values_mut().for_each(|all| all.retain(has_times));
    results.retain(|_, all| !all.is_empty());
    json!({ "results": results.iter().map(result).collect::<Vec<_>>() })
}

/// What was measured of the attempts: what the first has that has no time, else times.
pub fn quantity<'a>(attempts: impl IntoIterator<Item = &'a Attempt>) -> Quantity {
    let other = attempts.into_iter().map(Attempt::quantity).find(|it| !it.is_time());
    other.unwrap_or_default()
}

/// A log in the T4 results format of the autotuning methodology, version 1.0.0 (`results-schema.json`
/// of Kernel Tuner): a result for each timed run.
pub fn t4(attempts: &[Attempt]) -> Value {
    let result = |it: &Attempt| {
        let (invalidity, correctness) = match it.status {
            Status::Ok | Status::Interrupted => ("correct", 1.0),
            Status::Failed => ("runtime", 0.0),
            Status::Timeout => ("timeout", 0.0),
            Status::Wrong => ("correctness", 0.0),
        };
        let mut configuration = json!({ "m": it.m, "p": it.p });
        for (name, value) in &it.params {
            configuration[name] = json!(value);
        }
        let wall: Vec<f64> = it.wall_s.into_iter().collect();
        let time = it.time_s.map(|time| json!({ "name": "time", "value": time, "unit": "s" }));
        json!({
            "timestamp": it.start,
            "configuration": configuration,
            "objectives": ["time"],
            "times": {
                "compilation_time": 0.0,
                "runtimes": wall,
                "framework": 0.0,
                "search_algorithm": 0.0,
                "validation": 0.0,
            },
            "invalidity": invalidity,
            "correctness": correctness,
            "measurements": time.into_iter().collect::<Vec<_>>(),
        })
    };
    let counts = |it: &&Attempt| it.repetition > 0 && it.status != Status::Interrupted;
    let results: Vec<Value> = attempts.iter().filter(counts).map(result).collect();
    json!({ "schema_version": "1.0.0", "results": results })
}

#[cfg(test)]
mod tests {
    use mmgp_base::table::Source;
    use mmgp_base::table::log::parse;
    use mmgp_intake::{Claims, runs as read};

    use super::*;

    fn attempts() -> Vec<Attempt> {
        let lines = [
            r#"{"id":1,"m":4,"p":1,"repetition":0,"status":"ok","wall_s":9,"time_s":9}"#,
            r#"{"id":2,"m":4,"p":1,"repetition":1,"status":"ok","wall_s":3,"time_s":2.5,"argv":["a"]}"#,
            r#"{"id":3,"m":2,"p":1,"repetition":1,"status":"timeout","wall_s":8}"#,
            r#"{"id":4,"m":2,"p":2,"repetition":1,"status":"interrupted","wall_s":1}"#,
            r#"{"id":5,"m":4,"p":1,"repetition":2,"status":"ok","wall_s":3,"time_s":3.5}"#,
            r#"{"id":6,"m":1,"p":1,"repetition":1,"status":"failed","exit":3,"wall_s":0.1}"#,
        ];
        parse(&Source::new("log.jsonl", &lines.join("\n"))).expect("a log")
    }

    #[test]
    fn what_went_well_is_a_run_and_nothing_else_is() {
        let runs = runs(&BTreeMap::new(), &attempts());
        let rows: Vec<_> = runs.iter().map(|it| (it.m, it.p, it.repetition, it.time_s)).collect();
        assert_eq!(rows, [(4, 1, 1, 2.5), (4, 1, 2, 3.5)]);
    }

    #[test]
    fn what_is_written_for_hyperfines_readers_reads_back_as_the_same_runs() {
        let text = hyperfine(&attempts()).to_string();
        let (read, _) = read(&Source::new("x.json", &text), &Claims::default()).unwrap();
        assert_eq!(read, runs(&BTreeMap::new(), &attempts()));
        assert!(text.contains(r#""exit_codes":[3]"#) && text.contains(r#""exit_codes":[null]"#));
    }

    #[test]
    fn a_t4_record_says_why_a_run_is_invalid() {
        let record = t4(&attempts());
        let of = |key: &str| -> Vec<String> {
            let results = record["results"].as_array().expect("results");
            results.iter().map(|it| it[key].to_string()).collect()
        };
        assert_eq!(
            of("invalidity"),
            ["correct", "timeout", "correct", "runtime"].map(|it| format!("{it:?}"))
        );
        assert_eq!(of("correctness"), ["1.0", "0.0", "1.0", "0.0"]);
        assert_eq!(record["results"][0]["measurements"][0]["value"], 2.5);
    }
}
