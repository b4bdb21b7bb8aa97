//! `mmgp emulate --trace` and `--check-hazards`: files that a viewer of traces can read, and what becomes of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Folder, Run};

const QUICK: [&str; 9] =
    ["emulate", "--input", "sim12", "--generations", "2", "--m", "5", "--p", "3"];

/// A run with a trace: its events and its report.
fn traced() -> (Vec<Value>, Value) {
    let folder = Folder::new();
    let run = folder.mmgp(
        &[&QUICK[..], &["--format", "json", "--trace", "t.json", "--trace-detail", "all"]].concat(),
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(folder.files(), ["t.json"]);
    let trace = folder.read_json("t.json");
    let Value::Array(events) = trace["traceEvents"].clone() else { panic!("no list of events") };
    assert_eq!(run.stderr, format!("{} events written to t.json\n", events.len()));
    // The report is that of a run without a trace.
    let untraced = folder.succeeds(&[&QUICK[..], &["--format", "json"]].concat());
    assert_eq!(run.stdout, untraced);
    (events, serde_json::from_str(&run.stdout).expect("JSON"))
}

fn number(event: &Value, field: &str) -> f64 {
    let number = event[field].as_f64().unwrap_or_else(|| panic!("{event} has no {field}"));
    assert!(number.is_finite() && number >= 0.0, "{event}");
    number
}

/// Process and thread.
fn track(event: &Value) -> (u64, u64) {
    let number = |field: &str| event[field].as_u64().unwrap_or_else(|| panic!("{event}"));
    (number("pid"), number("tid"))
}

/// Femtoseconds, in which times are exact.
fn ticks(microseconds: f64) -> u64 {
    (microseconds * 1e9).round() as u64
}

fn of_phase<'a>(events: &'a [Value], phase: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["ph"] == phase)
}

fn of_category<'a>(events: &'a [Value], category: &'a str) -> impl Iterator<Item = &'a Value> {
    of_phase(events, "X").filter(move |event| event["cat"] == category)
}

#[test]
fn every_event_has_the_fields_of_its_phase() {
    let (events, _) = traced();
    let mut named: Vec<(u64, u64)> = Vec::new();
    for event in &events {
        let track = track(event);
        assert!(event["name"].is_string(), "{event}");
        match event["ph"].as_str().expect("a phase") {
            "M" => {
                let arguments = &event["args"];
                assert!(arguments["name"].is_string() || arguments["sort_index"].is_u64());
                if event["name"] == "thread_name" {
                    assert!(!named.contains(&track), "{event} comes twice");
                    named.push(track);
                }
            }
            "X" => {
                assert!(event["cat"].is_string() && number(event, "dur") > 0.0, "{event}");
                number(event, "ts");
                assert!(named.contains(&track), "{event} is on a track without a name");
            }
            "s" | "f" => {
                assert!(event["id"].is_u64() && event["cat"].is_string(), "{event}");
                number(event, "ts");
            }
            other => panic!("a phase {other}: {event}"),
        }
    }
    let thread_names: Vec<&str> = of_phase(&events, "M")
        .filter(|event| event["name"] == "thread_name")
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    for name in ["rank 0", "rank 4", "PPE thread 0", "PPE thread 1", "SPE 0", "SPE 0 DMA"] {
        assert!(thread_names.contains(&name), "{name} is not in {thread_names:?}");
    }
}

#[test]
fn spans_of_a_track_nest_or_do_not_overlap() {
    let (events, _) = traced();
    let mut tracks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for event in of_phase(&events, "X") {
        let start = ticks(number(event, "ts"));
        tracks.entry(track(event)).or_default().push((start, start + ticks(number(event, "dur"))));
    }
    for (track, mut spans) in tracks {
        // The longer one of two that begin together is around the other.
        spans.sort_by_key(|&(start, end)| (start, std::cmp::Reverse(end)));
        let mut around: Vec<u64> = Vec::new();
        for (start, end) in spans {
            around.retain(|&outer| outer > start);
            assert!(around.iter().all(|&outer| end <= outer), "{track:?}: {start} to {end}");
            around.push(end);
        }
    }
}

#[test]
fn each_arrow_goes_from_a_span_to_a_later_one() {
    let (events, report) = traced();
    let ends = |phase: &str| -> BTreeMap<u64, Value> {
        let end = |event: &Value| (event["id"].as_u64().expect("a number"), event.clone());
        of_phase(&events, phase).map(end).collect()
    };
    let (from, to) = (ends("s"), ends("f"));
    // To each SPE of each off-load and back.
    let offloads = report["offloads"].as_u64().expect("a count");
    assert_eq!(of_phase(&events, "s").count() as u64, offloads * 3 * 2);
    assert!(from.keys().eq(to.keys()) && from.len() as u64 == offloads * 3 * 2);
    let mut spans: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for span in of_phase(&events, "X") {
        let start = number(span, "ts");
        spans.entry(track(span)).or_default().push((start, start + number(span, "dur")));
    }
    let mut check_end = |event: &Value| {
        let at = number(event, "ts");
        let around = |&(start, end): &(f64, f64)| start < at && at < end;
        assert!(spans.entry(track(event)).or_default().iter().any(around), "{event}");
    };
    for (id, start) in &from {
        let end = &to[id];
        assert_eq!((&start["name"], &start["cat"]), (&end["name"], &end["cat"]));
        assert_eq!(end["bp"], "e");
        assert!(number(start, "ts") < number(end, "ts"), "{start} {end}");
        check_end(start);
        check_end(end);
    }
}

#[test]
fn spans_add_up_to_the_report() {
    let (events, report) = traced();
    let total = |category: &str| -> f64 {
        of_category(&events, category).map(|event| 1e-6 * number(event, "dur")).sum()
    };
    let count = |category: &str| of_category(&events, category).count() as u64;
    let reported = |field: &str| report[field].as_f64().expect("a number");
    assert!((total("ppe") / reported("hpu_busy_s") - 1.0).abs() < 1e-9);
    assert_eq!(Value::from(count("switch")), report["context_switches"]);
    assert_eq!(Value::from(count("offload")), report["offloads"]);
    // The program times its SPEs by a timebase of 14.318 MHz: half a tick off on average or less.
    assert!((total("call") - reported("apu_busy_s")).abs() < 0.5 * count("call") as f64 / 14.318e6);
    assert!(total("kernel") < total("call"));
    for function in report["functions"].as_array().expect("a list") {
        let calls = of_category(&events, "call").filter(|event| event["name"] == function["name"]);
        assert_eq!(Value::from(calls.count() as u64 / 3), function["calls"], "{function}");
    }
    let last = of_phase(&events, "X")
        .map(|event| 1e-6 * (number(event, "ts") + number(event, "dur")))
        .fold(0.0, f64::max);
    // Loading the programs of the SPEs is in the trace and not in the time that is reported.
    let first = of_category(&events, "run").map(|event| 1e-6 * number(event, "ts"));
    let first = first.fold(f64::INFINITY, f64::min);
    assert!(((last - first) / reported("time_s") - 1.0).abs() < 1e-9);
}

#[test]
fn an_outline_has_the_off_loads_of_the_whole_trace_and_little_else() {
    let (whole, _) = traced();
    let folder = Folder::new();
    let trace = folder.json(&[&QUICK[..], &["--trace", "-"]].concat());
    let Value::Array(events) = &trace["traceEvents"] else { panic!("no list of events") };
    assert!(4 * events.len() < whole.len(), "{} of {}", events.len(), whole.len());
    for category in ["run", "switch", "ppe", "offload", "call", "mpi"] {
        let of = |events| of_category(events, category).cloned().collect::<Vec<Value>>();
        assert_eq!(of(events), of(&whole), "{category}");
    }
}

#[test]
fn a_trace_that_gets_too_long_ends_with_a_word() {
    let folder = Folder::new();
    let long = ["emulate", "--input", "sim24", "--m", "4", "--p", "4", "--quiet", "--trace"];
    let limited = ["t.json", "--trace-detail", "all", "--trace-limit", "1"];
    let run = folder.mmgp(&[&long[..], &limited].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("warning: the trace ends at "), "{}", run.stderr);
    assert!(run.stderr.contains("--trace-limit"), "{}", run.stderr);
    let text = folder.read("t.json");
    assert!((1_000_000..1_100_000).contains(&text.len()), "{}", text.len());
    serde_json::from_str::<Value>(&text).expect("JSON to its end");
}

#[test]
fn a_trace_on_standard_output_stands_there_alone() {
    let folder = Folder::new();
    let on_output = [&QUICK[..], &["--trace", "-"]].concat();
    let text = folder.succeeds(&on_output);
    let trace: Value = serde_json::from_str(&text).expect("JSON and nothing else");
    assert!(trace["traceEvents"].is_array());
    let with_report = [&on_output[..], &["--out", "run.txt"]].concat();
    assert_eq!(folder.succeeds(&with_report), text, "the same run has another trace");
    assert!(folder.read("run.txt").starts_with("app "));
}

#[test]
fn a_run_that_fails_leaves_no_trace() {
    let folder = Folder::new();
    let too_many = ["emulate", "--input", "sim12", "--m", "5", "--p", "4", "--trace", "t.json"];
    folder.refuses(&too_many, "m = 5, p = 4 needs 20 APUs, but there are 16");
    let nowhere = [&QUICK[..], &["--trace", "none/t.json"]].concat();
    let no_such = "No such file or directory (os error 2)";
    folder.refuses(&nowhere, &format!("cannot write none/t.json: {no_such}"));
}

#[test]
fn a_reader_that_has_seen_enough_of_a_trace_is_no_failure() {
    let folder = Folder::new();
    let arguments =
        ["emulate", "--input", "sim24", "--generations", "20", "--m", "2", "--trace", "-"];
    let Run { code, stdout: first, stderr } = folder.left_after_a_line(&arguments);
    assert!(first.starts_with("{\"displayTimeUnit\""), "{first}");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

/// Runs a program under every scheduler in all its variants.
fn has_none(program: &[&str]) {
    has_none_in(&Folder::new(), program);
}

fn has_none_in(folder: &Folder, program: &[&str]) {
    for policy in mmgp::schedulers::policies() {
        let variants = policy.variants().into_iter().map(|it| it.replace('N', "2"));
        let variants = variants.map(|it| format!("{}:{it}", policy.name()));
        for scheduler in variants.chain([policy.name().to_string()]) {
            let flags = ["emulate", "--quiet", "--check-hazards", "--scheduler", &scheduler];
            folder.succeeds(&[&flags, program].concat());
        }
    }
}

#[test]
fn of_pbpi() {
    has_none(&["--app=pbpi", "--m=2", "--p=3", "--input=sim12", "--generations=3"]);
}

#[test]
fn of_raxml() {
    let folder = Folder::new();
    folder.succeeds(&["simulate-alignment", "--taxa=6", "--sites=100", "--out=small.phy"]);
    let searches = ["--bootstraps=1", "--inferences=0", "--model=cat"];
    let program = ["--app=raxml", "--m=2", "--p=3", "--input=small.phy"];
    has_none_in(&folder, &[&program, &searches[..]].concat());
}

#[test]
fn of_list_ranking() {
    let program = ["--app=list-ranking", "--p=4", "--nodes=2000"];
    has_none(&program);
    // A thread on each DMA list, whose elements are written in pairs.
    has_none(&[&program[..], &["--sublists=8", "--buffers=8"]].concat());
}

#[test]
fn of_sweep3d() {
    let problem = ["--app=sweep3d", "--cells=6", "--mk=3", "--epsi=-1"];
    has_none(&problem);
    has_none(&[&problem[..], &["--programming=accelerator"]].concat());
}

#[test]
fn of_sgemm() {
    has_none(&["--app=sgemm", "--p=4", "--size=128"]);
}

#[test]
fn of_off_loads_of_given_times() {
    has_none(&["--app=synthetic", "--m=4", "--p=2", "--offloads=50", "--shared=0.8"]);
}
