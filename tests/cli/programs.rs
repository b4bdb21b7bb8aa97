//! Programs on the emulated machine, and what they are given to read.

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
