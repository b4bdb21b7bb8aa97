//! Sweep3D as its users run it.

#![allow(clippy::excessive_precision)] // Digits as the benchmark prints them.

use serde_json::Value;

use crate::Folder;

/// The benchmark's own input of 50 x 50 x 50 cells.
const INPUT_50: &str = "2 3 10 3 16\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";

/// What the benchmark prints for it.
const ERRORS: [f64; 12] = [
    1.0,
    1.775_129_752_629_006_63,
    0.659_083_802_218_004_111,
    0.305_348_671_948_976_524,
    0.141_234_079_272_600_122,
    0.062_789_646_139_528_268_5,
    0.026_695_594_895_493_474_0,
    0.019_956_304_230_268_732_8,
    0.005_687_930_117_967_335_45,
    0.001_854_127_563_340_397_61,
    0.000_681_074_826_574_155_846,
    0.000_261_752_203_210_804_436,
];
const FIX_UPS: [u64; 12] = [0, 0, 0, 0, 0, 0, 0, 12000, 11712, 11664, 11664, 11664];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-10, "{found} instead of {expected}");
}

/// Holds the first iterations of a run to what is printed.
fn check(found: &Value, iterations: usize) {
    assert_eq!(found["errors"].as_array().unwrap().len(), iterations);
    for iteration in 0..iterations {
        near(&found["errors"][iteration], ERRORS[iteration]);
        assert_eq!(found["fixups"][iteration], FIX_UPS[iteration]);
    }
}

#[test]
fn input_50_gives_what_the_benchmark_prints() {
    let folder = Folder::new();
    folder.write("input.50", INPUT_50);
    let common = ["emulate", "--app", "sweep3d", "--input", "input.50", "--format", "json"];
    for processes in ["1x1", "2x3", "5x10"] {
        let plainly = [&common[..], &["--timing", "none", "--processes", processes]].concat();
        let found = json(&folder.succeeds(&plainly));
        check(&found, 12);
        near(&found["absorption"], 3.343_417_464_828_590_37);
        let expected = [0.125_419_419_635_145_5, 0.125_419_419_635_145_5, 0.125_419_421_915_668_1];
        for (axis, expected) in expected.into_iter().enumerate() {
            near(&found["leakage"][axis][0], expected);
            near(&found["leakage"][axis][1], expected);
        }
    }
    // On emulated SPEs as many ranks as the input says, and on several blades; two iterations.
    let short = [&common[..], &["--epsi", "-2"]].concat();
    let found = json(&folder.succeeds(&short));
    assert_eq!((&found["p"], &found["processes"][1]), (&6.into(), &3.into()));
    check(&found, 2);
    let many = [&short[..], &["--machine", "roadrunner", "--processes", "5x10"]].concat();
    check(&json(&folder.succeeds(&many)), 2);
    // What the host hands out lines for has a test of its own (apps::sweep3d::accelerator).
}

#[test]
fn nothing_leaves_over_a_low_boundary_that_reflects() {
    let folder = Folder::new();
    let common = ["emulate", "--app", "sweep3d", "--timing", "none", "--format", "json"];
    let flags = ["--cells", "6", "--epsi", "0.001", "--boundaries", "0,0,1"];
    let found = json(&folder.succeeds(&[&common[..], &flags].concat()));
    assert_eq!((&found["converged"], &found["leakage"][2][0]), (&true.into(), &0.0.into()));
    assert!(found["leakage"][2][1].as_f64().unwrap() > 0.0, "{found}");
    assert!(found["leakage"][0][0].as_f64().unwrap() > 0.0, "{found}");
    let run = folder.mmgp(&["emulate", "--app", "sweep3d", "--boundaries", "0,1"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("expected three numbers as in 1,0,0"), "{}", run.stderr);
}

#[test]
fn what_cannot_be_is_refused_with_its_flag() {
    let folder = Folder::new();
    let refuses = |arguments: &[&str], message: &str| {
        let all = [&["emulate", "--app", "sweep3d", "--cells", "6"], arguments].concat();
        folder.refuses(&all, message);
    };
    refuses(&["--mmi", "4"], "--mmi: found 4, expected a divisor of the 6 angles of an octant");
    refuses(
        &["--processes", "7x1"],
        "--processes: found 7, expected 1 to 6, one for each cell on that axis at most",
    );
    refuses(&["--p", "37"], "--p: found 37, expected a number that can be cut into at most 6 x 6");
    refuses(
        &["--timing", "none", "--trace", "t.json"],
        "--trace: found --timing none, expected --timing cached or exact: without a machine there is no \
         such thing",
    );
    folder.refuses(
        &["emulate", "--timing", "none"],
        "--timing: found none for pbpi, expected cached or exact, or one of the programs that can: \
         sweep3d",
    );
    folder.write("input", "2 3 10\n");
    refuses(
        &["--input", "input"],
        "input:2:1: found the end after 3 of 20 numbers, expected angles of a block, mmi (number 4 of line 1)",
    );
}

#[test]
fn a_study_says_what_to_run_and_holds_itself_to_it() {
    let folder = Folder::new();
    let arguments =
        ["study", "--app", "sweep3d", "--machine", "ps3", "--cells", "12x12x10", "--out", "study"];
    let text = folder.succeeds(&arguments);
    assert!(text.contains(" ranks: --processes "), "{text}");
    let summary = json(&folder.read("study/summary.json"));
    assert!(summary["configurations"].as_u64().unwrap() > 5, "{summary}");
    for file in ["blocks.csv", "messages.csv", "terms.json", "predictions.csv", "choices.svg"] {
        assert!(!folder.read(&format!("study/{file}")).is_empty());
    }
}

#[test]
fn scaling_goes_up_to_the_whole_machine() {
    let folder = Folder::new();
    let arguments = [
        "scaling",
        "--ranks",
        "1,32,97920",
        "--cells-of-rank",
        "2x2x20",
        "--out",
        "scaling",
        "--format",
        "json",
    ];
    let found = json(&folder.succeeds(&arguments));
    let rows = found["rows"].as_array().unwrap();
    assert_eq!((&rows[2]["px"], &rows[2]["py"]), (&306.into(), &320.into()));
    // One rank passes no message; the more there are the longer it takes to fill them.
    near(&rows[0]["efficiency"], 1.0);
    let time = |row: usize| rows[row]["events_s"].as_f64().unwrap();
    assert!(time(0) < time(1) && time(1) < time(2), "{found}");
    assert!(folder.read("scaling/scaling.csv").starts_with("ranks,px,py,it,jt,kt,block_s,"));
    folder.refuses(
        &["scaling", "--ranks", "33"],
        "--ranks: found 33, expected a part of a node's 32 ranks, or a multiple of them",
    );
}
