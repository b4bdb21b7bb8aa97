//! Parameter and machine files, and the predictions that follow from them.

use crate::{Folder, shipped};

/// `mmgp predict` refuses the shipped parameters of PBPI after a change, with the message.
fn check_parameters(change: (&str, &str), message: &str) {
    let text = shipped("models/published/pbpi-qs20.toml");
    assert!(text.contains(change.0), "nothing to change: {}", change.0);
    let content = text.replacen(change.0, change.1, 1);
    let folder = Folder::with("p.toml", content);
    folder.refuses(&["predict", "--params", "p.toml", "--out", "predictions.csv"], message);
}

#[test]
fn a_parameter_that_is_missing_negative_misspelt_or_no_number_is_refused() {
    check_parameters(
        ("c_apu_s ", "# c_apu_s "),
        "p.toml:12:1: found no value for \"terms.c_apu_s\", expected c_apu_s = ..",
    );
    check_parameters(
        ("value = 370.0", "value = -370.0"),
        "p.toml:16:25: found the number -370.0 for \"terms.t_apu_s.value\", expected 0 or more",
    );
    check_parameters(
        ("value = 370.0", "value = \"370 s\""),
        "p.toml:16:25: found the text \"370 s\" for \"terms.t_apu_s.value\", expected a finite \
         number, or one for each m",
    );
    check_parameters(
        ("c_apu_s ", "c_apu_ms"),
        "p.toml:18:1: found \"terms.c_apu_ms\", expected one of t_hpu_s, t_apu_s, c_apu_s, \
         offloads, o_offload_s, t_csw_s, g_s, collectives, alpha, o_col_s",
    );
    check_parameters(
        ("m = [1, 2, 3,", "m = [1, 3, 2,"),
        "p.toml:35:5: found [1, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] for \"terms.o_col_s.m\", \
         expected increasing whole numbers, the first at least 1",
    );
    check_parameters(
        ("apus = 16", "apus = 0"),
        "p.toml:10:8: found the number 0 for \"apus\", expected a whole number of at least 1",
    );
    check_parameters(("schema = 1", "schema = 3"), "p.toml:7:10: found schema 3, expected 1 or 2");
}

/// `mmgp study` refuses the shipped QS20 after a change, with the message, and writes nothing.
fn check_machine(change: (&str, &str), message: &str) {
    let text = shipped("models/machines/qs20.toml");
    assert!(text.contains(change.0), "nothing to change: {}", change.0);
    let content = text.replacen(change.0, change.1, 1);
    let folder = Folder::with("my.toml", content);
    folder.refuses(&["study", "--machine", "my.toml", "--out", "results"], message);
}

#[test]
fn a_machine_whose_value_is_missing_negative_or_of_another_unit_is_refused() {
    check_machine(
        ("cells = {", "# cells = {"),
        "my.toml:9:1: found no value for \"layout.cells\", expected a value with unit, source and \
         status",
    );
    check_machine(
        ("core = { value = 3.2e9", "core = { value = -3.2e9"),
        "my.toml:15:18: found -3200000000, expected a number from 1e6 to 1e12",
    );
    check_machine(
        ("value = 3.2e9, unit = \"Hz\"", "value = 3.2, unit = \"GHz\""),
        "my.toml:15:30: found the unit \"GHz\", expected \"Hz\"",
    );
    check_machine(
        ("status = \"documented\"", "status = \"known\""),
        "my.toml:10:47: found the status \"known\", expected documented, measured, calibrated or \
         assumed",
    );
}

/// The published set has so many feasible configurations, of which this is the best.
fn check_best(params: &str, best: (u32, u32)) {
    let folder = Folder::new();
    let predict = |format| folder.succeeds(&["predict", "--params", params, "--format", format]);
    let json: serde_json::Value = serde_json::from_str(&predict("json")).expect("JSON");
    assert_eq!(json["feasible"], 50);
    let configurations = json["configurations"].as_array().expect("a list");
    assert_eq!(configurations.len(), 50);
    assert_eq!(configurations[0]["m"], best.0);
    assert_eq!(configurations[0]["p"], best.1);
    let columns = "rank,m,p,time_s,low_s,high_s,probability_best,speedup,efficiency,\
                   expected_regret_s,regret_95_s,indistinguishable,measured_s,beyond";
    for (index, configuration) in configurations.iter().enumerate() {
        let object = configuration.as_object().expect("an object");
        assert_eq!(object.len(), 14);
        let is_there = |column: &str| object[column].is_number() || column == "measured_s";
        assert!(columns.split(',').all(is_there));
        assert_eq!(configuration["rank"], index + 1);
    }
    let csv = predict("csv");
    // Nothing ran: two columns would say nothing.
    assert_eq!(csv.lines().next(), columns.strip_suffix(",measured_s,beyond"));
    assert_eq!(csv.lines().count(), 51);
    let table = predict("table");
    assert!(table.contains(&format!("Run ({}, {}): it takes about ", best.0, best.1)));
    assert!(table.contains("No run tells how far mmgp is off: by +- 22 %"), "{table}");
    let mut rows = table.lines().skip_while(|line| !line.starts_with("rank"));
    assert_eq!(rows.clone().count(), 51);
    let shown: Vec<&str> = rows.nth(1).expect("a row").split_whitespace().collect();
    let (m, p) = (best.0.to_string(), best.1.to_string());
    assert_eq!(shown[..3], ["1", m.as_str(), p.as_str()]);
    assert!(csv.lines().nth(1).expect("a row").starts_with(&format!("1,{m},{p},")));
}

#[test]
fn the_published_optimum_of_pbpi_is_the_best_of_50() {
    check_best("pbpi-qs20", (4, 4));
}

#[test]
fn the_published_optimum_of_raxml_is_the_best_of_50() {
    check_best("raxml-qs20", (16, 1));
}

#[test]
fn one_configuration_is_predicted_as_in_the_ranking() {
    let folder = Folder::new();
    let all = folder.succeeds(&["predict", "--params", "pbpi-qs20", "--format", "csv"]);
    let one = ["predict", "--params", "pbpi-qs20", "--format", "csv", "--m", "2", "--p", "8"];
    let one = folder.succeeds(&one);
    let time = |csv: &str| {
        let row = csv.lines().find(|line| line.contains(",2,8,")).expect("a row of (2, 8)");
        row.split(',').nth(3).map(str::to_string)
    };
    assert_eq!(time(&one), time(&all));
    assert_eq!(one.lines().count(), 2);
}

#[test]
fn parameters_are_exported_with_every_term() {
    let folder = Folder::new();
    let json = folder.json(&["export", "--params", "raxml-qs20", "--to", "json"]);
    assert_eq!(json["decomposition"]["tasks"], 16);
    assert_eq!(json["terms"]["c_apu_s"]["value"], 157.0);
}

#[test]
fn parameters_in_json_are_for_others() {
    let folder = Folder::new();
    folder.succeeds(&["export", "--params", "pbpi-qs20", "--to", "json", "--out", "p.json"]);
    folder.refuses(
        &["predict", "--params", "p.json"],
        "p.json:1:1: found JSON, expected a parameter file in TOML; JSON is written for other tools, and \
         not read",
    );
}

#[test]
fn runs_are_exported_and_read_again_in_every_format() {
    let rows = "m,p,repetition,time_s\n1,1,1,8.5\n1,1,2,8.25\n2,4,1,1.5\n2,4,2,1.75\n";
    let folder = Folder::with("runs.csv", rows);
    let mut before = "runs.csv";
    for (format, file) in [
        ("extra-p", "runs.txt"),
        ("extra-p-json", "runs.json"),
        ("extra-p-jsonl", "runs.jsonl"),
        ("extra-p", "again.txt"),
    ] {
        folder.succeeds(&["export", "--runs", before, "--to", format, "--out", file]);
        before = file;
    }
    assert_eq!(folder.read("again.txt"), folder.read("runs.txt"));
}

#[test]
fn refined_terms_that_are_left_out_are_named() {
    let published = shipped("models/published/pbpi-qs20.toml");
    let refined = "\n[refined]\niterations = 9995\nhardware_contexts = 4\n";
    let folder = Folder::with("refined.toml", format!("{published}{refined}"));
    folder.write("params.toml", published);
    let said = "warning: [refined] is left out, for this is equation 11 alone: iterations, \
                hardware_contexts\n";
    let header = folder.mmgp(&["export", "--to", "c-header", "--params", "refined.toml"]);
    assert_eq!(header.stderr, said);
    assert!(header.stdout.contains("it leaves out iterations, hardware_contexts. */"));
    let json = folder.mmgp(&["export", "--to", "json", "--params", "refined.toml"]);
    assert_eq!(json.stderr, "");
    assert!(json.stdout.contains("\"hardware_contexts\": 4"));
}

/// Predictions rest on the runs that terms were fitted to: whoever changes a term must hear that it would
/// change nothing.
#[test]
fn terms_that_are_no_longer_those_of_their_runs_are_refused() {
    let rows = [(1, 1, 14.5), (1, 2, 9.0), (2, 1, 8.6), (2, 2, 6.0), (1, 4, 7.0), (4, 2, 4.8)];
    let rows = rows.map(|(m, p, time)| format!("{m},{p},1,{time}\n")).concat();
    let folder = Folder::with("runs.csv", format!("m,p,repetition,time_s\n{rows}"));
    folder.succeeds(&["fit", "--runs", "runs.csv", "--apus", "8", "--out", "params.toml"]);
    let text = folder.read("params.toml");
    let value = text.split("t_apu_s = { value = ").nth(1).expect("a term");
    let value = value.split([',', ' ']).next().expect("a number");
    let changed: f64 = 7.6 * value.parse::<f64>().expect("a number");
    let edited = text.replacen(
        &format!("t_apu_s = {{ value = {value}"),
        &format!("t_apu_s = {{ value = {changed}"),
        1,
    );
    folder.write("edited.toml", edited);
    let run = folder.mmgp(&["predict", "--params", "edited.toml"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("found terms that were changed since"), "{}", run.stderr);
    assert!(run.stderr.contains("take [runs] and [before_runs] away"), "{}", run.stderr);
    // What is explained adds up, and no share is beyond all of it.
    let explained =
        folder.json(&["predict", "--params", "params.toml", "--explain", "--format", "json"]);
    let number = |value: &serde_json::Value, key: &str| value[key].as_f64().expect("a number");
    let parts = explained["breakdown"].as_array().expect("a list");
    let sum: f64 = parts.iter().map(|part| number(part, "time_s")).sum();
    assert!((sum / number(&explained, "time_s") - 1.0).abs() < 1e-9);
    let shares = explained["terms"].as_array().expect("a list");
    assert!(shares.iter().all(|term| (0.0..=1.0).contains(&number(term, "variance_share"))));
    assert!((0.0..=1.0).contains(&number(&explained, "misfit_share")));
}
