//! Programs on the emulated machine, Sweep3D among them, and what they are given to read.

#![allow(clippy::excessive_precision)] // Digits as the benchmark prints them.

use serde_json::Value;

use crate::{Folder, shipped};

/// `mmgp emulate` refuses the alignment with the message.
fn check_alignment(text: &str, message: &str) {
    Folder::with("a.phy", text)
        .refuses(&["emulate", "--input", "a.phy", "--out", "run.txt"], message);
}

#[test]
fn an_alignment_keeps_what_its_header_states() {
    check_alignment(
        "4 4\na ACGT\nb ACGT\nc ACGT\n",
        "a.phy:5:1: found the end after 3 of the sequences, expected 4 as in the header",
    );
    check_alignment(
        "3 4\na ACGT\nb ACG\nc ACGT\n",
        "a.phy:3:6: found 3 characters for \"b\", expected 4 as in the header",
    );
    check_alignment(
        "ACGT\nACGT\n",
        "a.phy:1:1: found \"ACGT\", expected a PHYLIP header, the numbers of taxa and of sites, or \
         FASTA",
    );
    check_alignment(
        "",
        "a.phy:1:1: found an empty file, expected an alignment in FASTA or PHYLIP format",
    );
}

#[test]
fn an_alignment_has_known_characters_and_names_that_differ() {
    check_alignment(
        "3 4\na ACGT\nb AC!T\nc ACGT\n",
        "a.phy:3:5: found the character '!', expected a nucleotide",
    );
    check_alignment(
        "3 4\na ACGT\nb ACGT\na ACGT\n",
        "a.phy:4:1: found the name \"a\" a second time, expected a name unlike that of line 2",
    );
    check_alignment(
        "2 4\nlong_nam_aACGT\n          TGCA\n",
        "a.phy:3:1: found an empty name, expected the name of a taxon",
    );
    check_alignment(
        ">a\nACGT\n>\nACGT\n",
        "a.phy:3:2: found an empty name, expected the name of a taxon",
    );
}

#[test]
fn a_configuration_that_the_machine_cannot_hold_is_refused() {
    let folder = Folder::new();
    let too_many = "m = 5, p = 4 needs 20 APUs, but there are 16";
    folder.refuses(&["emulate", "--input", "sim12", "--m", "5", "--p", "4"], too_many);
    folder.refuses(&["predict", "--params", "pbpi-qs20", "--m", "5", "--p", "4"], too_many);
    folder.refuses(
        &["emulate", "--machine", "ps3", "--input", "sim12", "--m", "1", "--p", "7"],
        "m = 1, p = 7 needs 7 APUs, but there are 6",
    );
}

const QUICK: [&str; 5] = ["emulate", "--input", "sim12", "--generations", "3"];

#[test]
fn a_run_as_json_has_the_documented_fields() {
    let folder = Folder::new();
    let run = folder.json(&[&QUICK[..], &["--m", "2", "--p", "4", "--format", "json"]].concat());
    let mut fields: Vec<&str> =
        run.as_object().expect("an object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    let mut documented = vec![
        "app",
        "machine",
        "m",
        "p",
        "scheduler",
        "collectives",
        "host_compiler",
        "seed",
        "time_s",
        "hpu_busy_s",
        "apu_busy_s",
        "offloads",
        "offload_mean_us",
        "hpu_gap_mean_us",
        "context_switches",
        "functions",
        "log_likelihood",
    ];
    documented.extend(["accepted", "chains", "proposals", "swaps"]); // What else PBPI has to say.
    documented.sort_unstable();
    assert_eq!(fields, documented);
    assert_eq!((&run["app"], &run["machine"]), (&"pbpi".into(), &"qs20".into()));
    assert_eq!((&run["m"], &run["p"]), (&2.into(), &4.into()));
    let functions = run["functions"].as_array().expect("a list");
    let calls: u64 =
        functions.iter().map(|function| function["calls"].as_u64().expect("a count")).sum();
    let time = |function: &serde_json::Value| function["apu_time_s"].as_f64().expect("a time");
    assert!(functions.iter().all(|function| function["name"].is_string() && time(function) > 0.0));
    assert!(calls > 0 && run["offloads"].as_u64().expect("a count") >= calls);
    assert!(run["log_likelihood"].as_f64().expect("a number") < 0.0);
}

#[test]
fn where_a_program_runs_does_not_change_what_it_computes() {
    let folder = Folder::new();
    let result = |place: &[&str]| {
        let run = folder.json(&[&QUICK[..], place, &["--format", "json"]].concat());
        (run["log_likelihood"].as_f64().expect("a number"), run["accepted"].clone())
    };
    let (sequential, accepted) = result(&[]);
    for place in [["--m", "4", "--p", "4"], ["--machine", "ps3", "--m", "1"]] {
        let (parallel, accepted_too) = result(&place);
        assert!((parallel / sequential - 1.0).abs() < 1e-9, "{parallel} for {sequential}");
        assert_eq!(accepted_too, accepted);
    }
}

#[test]
fn a_run_as_csv_is_a_header_and_a_row() {
    let text = Folder::new().succeeds(&[&QUICK[..], &["--format", "csv"]].concat());
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].len(), lines[1].len());
    assert_eq!(lines[0][..4], ["app", "machine", "m", "p"]);
}

#[test]
fn an_alignment_file_is_read_as_the_built_in_one() {
    let folder = Folder::with("sim12.copy.phy", shipped("data/sim12.phy"));
    let run = |input| folder.succeeds(&["emulate", "--input", input, "--generations", "2"]);
    assert_eq!(run("sim12.copy.phy"), run("sim12"));
}

#[test]
fn a_simulated_alignment_can_be_evaluated_along_its_tree() {
    let folder = Folder::new();
    let simulate = ["simulate-alignment", "--taxa", "5", "--sites", "40", "--seed", "3"];
    let files = ["--out", "a.phy", "--tree-out", "a.nwk"];
    folder.succeeds(&[&["emulate", "raxml"], &simulate[..], &files].concat());
    let evaluate = ["likelihood", "--alignment", "a.phy", "--tree", "a.nwk", "--format", "json"];
    let text = folder.succeeds(&[&["emulate", "raxml"], &evaluate[..]].concat());
    // As commands of their own they had these names, too.
    assert_eq!(folder.succeeds(&evaluate), text);
    assert_eq!(folder.succeeds(&simulate), folder.read("a.phy"));
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&value["taxa"], &value["sites"]), (&5.into(), &40.into()));
    // No site is less likely than if all its letters were drawn alone: 40 * ln(4^-5).
    let log_likelihood = value["log_likelihood"].as_f64().expect("a number");
    assert!((-278.0..0.0).contains(&log_likelihood), "{log_likelihood}");
}

#[test]
fn placement_and_scheduler_change_the_time_and_not_the_result() {
    let folder = Folder::new();
    let run = |flags: &[&str]| {
        let common = ["emulate", "--input", "sim12", "--generations", "2", "--format", "json"];
        let arguments: Vec<&str> = common.iter().chain(flags).copied().collect();
        let report = folder.json(&arguments);
        (report["time_s"].as_f64().expect("a time"), report["log_likelihood"].clone())
    };
    let (own, result) = run(&["--m", "1", "--p", "16"]);
    let (by_spe, same) = run(&["--m", "1", "--p", "16", "--placement", "by-spe"]);
    assert!(own != by_spe && result == same, "{own} {by_spe}");
    // Eight processes on four hardware threads: who spins leaves the SPEs of the others idle.
    let (edtlp, result) = run(&["--m", "8", "--p", "1"]);
    let (linux, same) = run(&["--m", "8", "--p", "1", "--scheduler", "linux"]);
    assert!(linux > edtlp && result == same, "{linux} {edtlp}");
}

#[test]
fn the_order_of_dispatch_and_the_collectives_change_the_time_and_not_the_result() {
    let folder = Folder::new();
    let run = |flags: &[&str]| {
        let common = ["--m", "8", "--p", "1", "--format", "json"];
        let report = folder.json(&[&QUICK[..], &common, flags].concat());
        let time = report["time_s"].as_f64().expect("a time");
        let told = ["scheduler", "collectives"].map(|name| report[name].to_string());
        (time, told.join(" "), report["log_likelihood"].clone())
    };
    let runs = [
        run(&[]),
        run(&["--dispatch", "ready"]),
        run(&["--dispatch", "yield"]),
        run(&["--collectives", "table"]),
    ];
    let told = runs.each_ref().map(|(_, told, _)| told.as_str());
    let expected = [
        r#""edtlp" "messages""#,
        r#""edtlp:ready" "messages""#,
        r#""edtlp:yield" "messages""#,
        r#""edtlp" "table (input)""#,
    ];
    assert_eq!(told, expected);
    for (index, (time, _, result)) in runs.iter().enumerate() {
        assert_eq!(*result, runs[0].2);
        assert!(runs[..index].iter().all(|(other, ..)| other != time), "{runs:?}");
    }
    // Eight ranks take 265 us by the table for each of 4 collectives.
    assert!(runs[3].0 > runs[0].0 + 4.0 * 100e-6, "{runs:?}");
    let flags = ["--scheduler", "linux", "--dispatch", "yield"];
    folder.refuses(
        &[&QUICK[..], &flags].concat(),
        "there is no scheduler with variants \"linux\"; known: edtlp, edtlp-llp, sled",
    );
}

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

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < 1e-10, "{found} instead of {expected}");
}

/// Holds the first iterations of a run to what is printed.
fn check_sweep(found: &Value, iterations: usize) {
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
        let found = parsed(&folder.succeeds(&plainly));
        check_sweep(&found, 12);
        near(&found["absorption"], 3.343_417_464_828_590_37);
        let expected = [0.125_419_419_635_145_5, 0.125_419_419_635_145_5, 0.125_419_421_915_668_1];
        for (axis, expected) in expected.into_iter().enumerate() {
            near(&found["leakage"][axis][0], expected);
            near(&found["leakage"][axis][1], expected);
        }
    }
    // On emulated SPEs as many ranks as the input says, and on several blades; two iterations.
    let short = [&common[..], &["--epsi", "-2"]].concat();
    let found = parsed(&folder.succeeds(&short));
    assert_eq!((&found["p"], &found["processes"][1]), (&6.into(), &3.into()));
    check_sweep(&found, 2);
    let many = [&short[..], &["--machine", "roadrunner", "--processes", "5x10"]].concat();
    check_sweep(&parsed(&folder.succeeds(&many)), 2);
    // What the host hands out lines for has a test of its own (apps::sweep3d::accelerator).
}

#[test]
fn nothing_leaves_over_a_low_boundary_that_reflects() {
    let folder = Folder::new();
    let common = ["emulate", "--app", "sweep3d", "--timing", "none", "--format", "json"];
    let flags = ["--cells", "6", "--epsi", "0.001", "--boundaries", "0,0,1"];
    let found = parsed(&folder.succeeds(&[&common[..], &flags].concat()));
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
    let summary = parsed(&folder.read("study/summary.json"));
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
    let found = parsed(&folder.succeeds(&arguments));
    let rows = found["rows"].as_array().unwrap();
    assert_eq!((&rows[2]["px"], &rows[2]["py"]), (&306.into(), &320.into()));
    // One rank passes no message; the more there are the longer it takes to fill them.
    near(&rows[0]["efficiency"], 1.0);
    let time = |row: usize| rows[row]["events_s"].as_f64().unwrap();
    assert!(time(0) < time(1) && time(1) < time(2), "{found}");
    assert!(folder.read("scaling/scaling.csv").starts_with("ranks,px,py,it,jt,kt,block_s,"));
    // Of a whole node and more, the hosts alone: 25 operations a cell and angle at 3.6 Gflop/s at least.
    let hosts = |row: usize| rows[row]["hosts_s"].as_f64();
    assert_eq!((hosts(0), found["host_cell_is"].as_str()), (None, Some("least at peak rate")));
    near(&found["host_cell_s"], 25.0 / 3.6e9);
    let compute = 8.0 * 6.0 * (4.0 * 8.0 * 20.0) * 25.0 / 3.6e9;
    assert!(compute < hosts(1).unwrap() && hosts(1) < hosts(2), "{found}");
    let given = ["scaling", "--ranks", "32", "--cells-of-rank", "2x2x20", "--host-ns", "100"];
    let said = folder.succeeds(&given);
    assert!(said.contains("100.0 ns for a cell and angle on each core, as given"), "{said}");
    folder.refuses(
        &["scaling", "--ranks", "32", "--host-ns", "5"],
        "--host-ns: found 5.000 ns, expected at least 6.944 ns, which its peak rate allows",
    );
    folder.refuses(
        &["scaling", "--machine", "qs22", "--host-ns", "50"],
        "--host-ns: found the machine qs22, expected a machine of nodes with hosts, such as roadrunner",
    );
    folder.refuses(
        &["scaling", "--ranks", "33"],
        "--ranks: found 33, expected a part of a node's 32 ranks, or a multiple of them",
    );
}

#[test]
fn on_two_nodes_of_one_process_the_time_is_that_of_two_cells() {
    let folder = Folder::new();
    let run = ["--generations", "10", "--quiet", "--out"];
    folder.succeeds(&[&["study", "pbpi", "--machine", "qs20-cell"], &run[..], &["cell"]].concat());
    let rank = ["predict", "--params", "cell/params.toml", "--nodes", "2", "--top", "100"];
    let predicted = |step: &str, p: u64| {
        let cost = ["--node-collective", step, "--format", "json"];
        let ranked = parsed(&folder.succeeds(&[&rank[..], &cost[..]].concat()));
        let all = ranked["configurations"].as_array().unwrap().clone();
        let own = all
            .iter()
            .find(|it| (&it["n"], &it["m"], &it["p"]) == (&2.into(), &1.into(), &p.into()));
        own.expect("two nodes have room for it")["time_s"].as_f64().unwrap()
    };
    for p in [1, 4, 8] {
        // Two processes of a QS20 have a Cell each, and a sum of both takes 6.4 us.
        let mapping = ["--machine", "qs20", "--m", "2", "--p", &p.to_string()].map(String::from);
        let mapping = mapping.each_ref().map(String::as_str);
        let flags = ["--generations", "10", "--format", "json"];
        let ran = folder.succeeds(&[&["emulate", "pbpi"], &mapping[..], &flags[..]].concat());
        let ran = parsed(&ran)["time_s"].as_f64().unwrap();
        let off = predicted("6.4e-6", p) / ran - 1.0;
        assert!(off.abs() < 0.03, "{p}: {off}");
        // Collectives, one a generation, that cost a fiftieth of the run each are seen.
        let dear = predicted(&(ran / 50.0).to_string(), p) / ran - 1.0;
        assert!(dear > 0.1, "{p}: {dear}");
    }
}
