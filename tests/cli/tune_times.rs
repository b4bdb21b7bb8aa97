//! Several times of one run: one counts, all are kept.

use serde_json::Value;

use crate::tune::{log, run, words};
use crate::{Folder, Run};

/// The total falls with p, and what of it is input and output, in milliseconds, grows with it.
const SCRIPT: &str =
    "echo Total: $((20 - 4 * MMGP_P)) s; echo I/O: $((250 * MMGP_P)) ms; echo t=total=5";

const TIMES: &str = "--time-from total=Total:.([0-9]+) --time-from io=I/O:.([0-9]+)";

fn search(folder: &Folder, more: &str) -> Run {
    run(folder, &format!("tune --m 1 --p 1,2,3 --out out {more}"), SCRIPT)
}

#[track_caller]
fn check_best(folder: &Folder, p: u64) -> Value {
    let summary = folder.read_json("out/summary.json");
    assert_eq!(summary["best"], serde_json::json!([1, p]), "{summary}");
    summary
}

#[test]
fn the_first_of_several_times_counts_and_all_are_kept_and_shown() {
    let folder = Folder::new();
    let found = search(&folder, TIMES);
    let summary = check_best(&folder, 3);
    assert_eq!(summary["captured"], serde_json::json!({ "io_s": 0.75 }));
    assert!(found.stdout.contains("Beside it, at (1, 3): io 750"), "{}", found.stdout);
    for attempt in log(&folder, "out") {
        let p = attempt["p"].as_f64().expect("p");
        assert_eq!(attempt["time_s"], 20.0 - 4.0 * p);
        let captured = serde_json::json!({ "io_s": 0.25 * p, "total_s": 20.0 - 4.0 * p });
        assert_eq!(attempt["captured"], captured);
    }
    let page = folder.read("out/report.html");
    assert!(page.contains("<th scope=\"col\">io [s]</th>"), "{page}");
    assert!(!page.contains("<th scope=\"col\">total [s]</th>"), "{page}");
    // What another command says of the folder.
    let shown = folder.succeeds(&["show", "out"]);
    assert!(shown.contains("Beside it, at (1, 3): io 750"), "{shown}");
}

#[test]
fn the_objective_says_which_of_several_times_counts() {
    let folder = Folder::new();
    let found = search(&folder, &format!("{TIMES} --objective io"));
    let summary = check_best(&folder, 1);
    assert!(summary["time_s"].as_f64().is_some_and(|it| (0.2..0.3).contains(&it)), "{summary}");
    assert_eq!(summary["captured"]["total_s"], 16.0);
    assert!(found.stdout.contains("Beside it, at (1, 1): total 16"), "{}", found.stdout);
    assert!(folder.succeeds(&["show", "out"]).starts_with("(1, 1): 25"));
    // They are no runs of another objective.
    assert!(search(&folder, TIMES).stderr.contains("--objective was \"io\""));
    // An expression knows all: 16.25, 12.5, 8.75.
    let folder = Folder::new();
    search(&folder, &format!("{TIMES} --objective total+io"));
    let summary = check_best(&folder, 3);
    assert_eq!((&summary["unit"], summary["amount"].is_number()), (&"total+io".into(), true));
}

#[test]
fn one_time_alone_is_an_expression_as_a_whole() {
    let folder = Folder::new();
    search(&folder, "--time-from t=total=([0-9]+) --runs 1");
    let attempts = log(&folder, "out");
    assert_eq!((&attempts[0]["time_s"], &attempts[0]["captured"]), (&5.0.into(), &Value::Null));
    // Of several each has its name.
    let refused = |flags: &str, expected: &str| {
        let declared = format!("tune --m 1 --p 1 --dry-run {flags}");
        let run = folder.mmgp(&words(&declared, "true"));
        assert_eq!(run.code, Some(2), "{flags}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    };
    let one = "--time-from a=(.)";
    refused(&format!("{one} --time-from (.)"), "expected NAME=REGEX for each");
    refused(&format!("{one} --time-from a=b(.)"), "--time-from: found a_s twice");
    refused(&format!("{one} --time-from i/o=(.)"), "--time-from: found \"i/o\"");
    refused(&format!("{one} --time-from b=c"), "--time-from: found \"c\" without a group");
    refused(&format!("{one} --time-from b=hpcg"), "expected a program that prints its time");
}

#[test]
fn a_file_of_flags_keeps_several_times() {
    let folder = Folder::new();
    search(&folder, &format!("{TIMES} --runs 2 --save-as kept.toml"));
    let list = "time-from = [\"total=Total:.([0-9]+)\", \"io=I/O:.([0-9]+)\"]\n";
    assert!(folder.read("kept.toml").contains(list), "{}", folder.read("kept.toml"));
    folder.mmgp(&["tune", "kept.toml", "--out", "again"]);
    assert!(log(&folder, "again")[1]["captured"]["io_s"].is_number());
}
