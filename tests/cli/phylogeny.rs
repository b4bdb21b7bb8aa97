//! PBPI and RAxML: chains and their samples, searches and their trees, likelihoods.

use crate::{Folder, shipped};

/// Two chains on two rows of processes, sampled ten times.
const CHAINS: [&str; 17] = [
    "emulate",
    "--input",
    "sim12",
    "--generations",
    "50",
    "--m",
    "2",
    "--chains",
    "2",
    "--rows",
    "2",
    "--sample-every",
    "5",
    "--samples",
    "s.csv",
    "--consensus",
    "c.nwk",
];

#[test]
fn samples_and_consensus_are_written_and_printed() {
    let folder = Folder::new();
    let run = folder.json(&[&CHAINS[..], &["--format", "json"]].concat());
    let rows: Vec<String> = folder.read("s.csv").lines().map(String::from).collect();
    assert_eq!(rows[0], "generation,log_likelihood,tree");
    assert_eq!(rows.len(), 11);
    for (row, number) in rows[1..].iter().zip(1..) {
        let (fields, tree) = row.split_once(",\"").expect("a tree in quotes");
        let (generation, log_likelihood) = fields.split_once(',').expect("two fields");
        assert_eq!(generation, (5 * number).to_string());
        assert!(log_likelihood.parse::<f64>().expect("a number") < 0.0);
        assert!(tree.starts_with('(') && tree.ends_with(";\"") && tree.contains("t12:"), "{tree}");
    }
    assert_eq!(run["samples"], 10);
    // A quarter of 50 generations is burnt, so the samples after 15, 20... 50 are left.
    assert_eq!(run["consensus"]["samples"], 8.0);
    assert_eq!(run["consensus"]["tree"], folder.read("c.nwk").trim_end());
    let chains = run["chains"].as_array().expect("a list");
    let mut places: Vec<u64> =
        chains.iter().map(|chain| chain["place"].as_u64().expect("a place")).collect();
    places.sort_unstable();
    assert_eq!(places, [0, 1]);
    let cold = chains.iter().find(|chain| chain["place"] == 0).expect("one is cold");
    assert_eq!(cold["log_likelihood"], run["log_likelihood"]);
    assert_eq!(run["swaps"]["tried"], 10);
    let proposals = run["proposals"].as_array().expect("a list");
    let tried: u64 = proposals.iter().map(|sort| sort["tried"].as_u64().expect("a count")).sum();
    assert_eq!((proposals.len(), tried), (4, 100));
    let splits = run["consensus"]["splits"].as_array().expect("a list");
    assert!(!splits.is_empty());
    for split in splits {
        let probability = split["probability"].as_f64().expect("a share");
        assert!(probability > 0.5 && probability <= 1.0);
        let taxa = split["taxa"].as_array().expect("a list");
        assert!(taxa.len() >= 2 && !taxa.contains(&"t01".into()));
    }
}

#[test]
fn a_table_shows_swaps_proposals_and_the_consensus() {
    let folder = Folder::new();
    let text = folder.succeeds(&CHAINS);
    for part in ["chains            2\n", "swaps_tried       10\n", "tree_bisection", "consensus ("]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.ends_with(&folder.read("c.nwk")), "{text}");
}

#[test]
fn the_grid_changes_neither_samples_nor_consensus() {
    let folder = Folder::new();
    folder.succeeds(&CHAINS);
    let trees = |text: String| -> Vec<String> {
        text.lines().map(|row| row.split(",\"").last().expect("a tree").to_string()).collect()
    };
    let (samples, consensus) = (trees(folder.read("s.csv")), folder.read("c.nwk"));
    folder.succeeds(&[&CHAINS[..5], &["--m", "3", "--chains", "2"], &CHAINS[11..]].concat());
    assert_eq!(trees(folder.read("s.csv")), samples);
    assert_eq!(folder.read("c.nwk"), consensus);
}

#[test]
fn chains_that_do_not_fit_the_grid_or_the_program_are_refused() {
    let folder = Folder::new();
    let quick = ["emulate", "--input", "sim12", "--generations", "5"];
    let refused = |more: &[&str], message: &str| {
        folder.refuses(&[&quick[..], more].concat(), message);
    };
    refused(
        &["--m", "3", "--chains", "2", "--rows", "2", "--samples", "s.csv", "--sample-every", "1"],
        "--rows: found 2, expected a divisor of m = 3, so that rows are equally long",
    );
    refused(&["--rows", "2"], "--rows: found 2, expected from 1 to the number of chains, 1");
    refused(
        &["--consensus", "c.nwk"],
        "--sample-every: found 10 for 5 generations, expected a sample after the burn-in",
    );
    refused(
        &["--samples", "s.csv", "--sample-every", "1", "--burn-in", "1"],
        "--burn-in: found 1, expected a fraction of at least 0 and below 1",
    );
    let other = folder.mmgp(&["emulate", "raxml", "--samples", "s.csv"]);
    assert!(other.stderr.starts_with("error: unexpected argument '--samples'"), "{}", other.stderr);
}

const SHORT: [&str; 8] =
    ["emulate", "--app", "raxml", "--input", "sim12", "--inferences", "1", "--bootstraps"];

fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_run_as_json_says_what_each_task_found() {
    let place = ["2", "--m", "2", "--p", "2", "--format", "json"];
    let run = parsed(&Folder::new().succeeds(&[&SHORT[..], &place].concat()));
    let names: Vec<&str> = run["functions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|function| function["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["newview", "makenewz", "evaluate"]);
    let tasks = run["tasks"].as_array().expect("a list");
    let kinds: Vec<&str> =
        tasks.iter().map(|task| task["kind"].as_str().expect("a name")).collect();
    assert_eq!(kinds, ["inference", "bootstrap", "bootstrap"]);
    assert_eq!(tasks[0]["log_likelihood"], run["log_likelihood"]);
    assert_eq!((&run["model"], &run["port"]), (&"GTRGAMMA".into(), &"2006".into()));
    let tree = run["tree"].as_str().expect("a tree");
    assert!(tree.ends_with(";") && tree.matches(',').count() == 11, "{tree}");
}

#[test]
fn the_ports_and_places_find_the_same_trees() {
    let folder = Folder::new();
    folder.succeeds(&["simulate-alignment", "--taxa=8", "--sites=200", "--out=small.phy"]);
    let search = ["emulate", "--app", "raxml", "--input", "small.phy", "--inferences", "1"];
    let found = |place: &[&str]| {
        let rest = ["--bootstraps", "0", "--format", "json"];
        let text = folder.succeeds(&[&search[..], &rest, place].concat());
        parsed(&text)["log_likelihood"].as_f64().expect("a number")
    };
    let of_2006 = found(&["--m", "1", "--p", "3"]);
    for port in ["naive", "2006", "tuned", "ppe"] {
        let other = found(&["--port", port]);
        assert!((other / of_2006 - 1.0).abs() < 1e-9, "{port}: {other} for {of_2006}");
    }
}

#[test]
fn code_of_another_compiler_runs_faster_on_the_host_and_is_gccs_where_nothing_is_said() {
    let time = |compiler: &[&str]| {
        let host = ["0", "--format", "json", "--port", "ppe"];
        let text = Folder::new().succeeds(&[&SHORT[..], &host, compiler].concat());
        parsed(&text)["time_s"].as_f64().expect("a number")
    };
    let [gcc, ideal, xlc] =
        ["gcc", "ideal", "xlc"].map(|compiler| time(&["--host-compiler", compiler]));
    assert!(gcc > ideal && ideal > xlc, "{gcc} {ideal} {xlc}");
    assert_eq!(gcc, time(&[]));
}

#[test]
fn a_bootstrap_takes_longer_with_the_columns_that_it_did_not_draw() {
    let time = |columns: &[&str]| {
        let alone = ["emulate", "--app", "raxml", "--input", "sim12", "--inferences", "0"];
        let rest = ["--bootstraps", "1", "--format", "json"];
        let run = parsed(&Folder::new().succeeds(&[&alone[..], &rest, columns].concat()));
        run["time_s"].as_f64().expect("a number")
    };
    let [all, drawn] = ["all", "drawn"].map(|it| time(&["--bootstrap-columns", it]));
    assert!(all > 1.1 * drawn, "{all} {drawn}");
    assert_eq!(time(&[]), all, "as the papers");
}

#[test]
fn trees_go_to_a_folder_and_one_of_them_can_be_the_start() {
    let folder = Folder::new();
    folder.succeeds(&[&SHORT[..], &["1", "--out", "trees"]].concat());
    for file in ["info.txt", "best_tree.nwk", "inferences.nwk", "bootstraps.nwk"] {
        assert!(!folder.read(&format!("trees/{file}")).is_empty(), "{file}");
    }
    folder.succeeds(&[&SHORT[..], &["0", "--start", "trees/best_tree.nwk"]].concat());
}

#[test]
fn no_task_is_refused() {
    let message = "tasks: found no inference and no bootstrap, expected at least one of either";
    let none = ["emulate", "--app", "raxml", "--inferences", "0", "--bootstraps", "0"];
    Folder::new().refuses(&none, message);
}

#[test]
fn either_number_of_tasks_has_its_default_without_the_other() {
    let folder = Folder::new();
    let counts = |given: [&str; 2]| {
        let run = ["emulate", "--app", "raxml", "--input", "sim12", "--format", "json"];
        let run = parsed(&folder.succeeds(&[&run[..], &given].concat()));
        ["inferences", "bootstraps"].map(|kind| run[kind].as_u64().expect("a number"))
    };
    assert_eq!(counts(["--bootstraps", "1"]), [1, 1]);
    assert_eq!(counts(["--inferences", "2"]), [2, 3]);
}

#[test]
fn bootstraps_alone_have_no_best_tree() {
    let folder = Folder::new();
    let run = "emulate --app raxml --input sim12 --inferences 0 --bootstraps 1";
    let run =
        |more: &[&str]| folder.succeeds(&[&run.split(' ').collect::<Vec<_>>(), more].concat());
    let text = run(&["--out", "trees"]);
    assert!(text.contains("\nno best tree: ") && !text.contains("log_likelihood"), "{text}");
    assert!(!folder.path("trees/best_tree.nwk").exists());
    assert_eq!(folder.read("trees/bootstraps.nwk").lines().count(), 1);
    let report = parsed(&run(&["--format", "json"]));
    for field in ["tree", "log_likelihood"] {
        assert_eq!(report.get(field), Some(&serde_json::Value::Null), "{field}");
    }
    let csv = run(&["--format", "csv"]);
    let (names, values) = csv.split_once('\n').expect("two lines");
    let column = names.split(',').position(|name| name == "log_likelihood").expect("a column");
    assert_eq!(values.split(',').nth(column), Some(""));
}

const ALIGNMENT: &str = "4 6\na ACGTAC\nb ACG-AT\nc ATGRAT\nd CTG-GT\n";
const TREE: &str = "((a:0.1,b:0.2):0.05,c:0.3,d:0.4);\n";

/// A folder with an alignment `a.phy` and a tree `a.nwk`.
fn inputs(alignment: &str, tree: &str) -> Folder {
    let folder = Folder::with("a.phy", alignment);
    folder.write("a.nwk", tree);
    folder
}

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let likelihood = ["emulate", "raxml", "likelihood", "--alignment", "a.phy", "--tree", "a.nwk"];
    [&likelihood, more].concat()
}

fn log_likelihood(folder: &Folder, model: &str) -> f64 {
    let report = folder.json(&arguments(&["--model", model, "--format", "json"]));
    assert_eq!(report["model"], model);
    report["log_likelihood"].as_f64().expect("a number")
}

/// One value of each model and each program that `data/README.md` tells of.
#[test]
fn a_shipped_tree_is_as_likely_as_other_programs_say() {
    let folder = inputs(&shipped("data/sim12.phy"), &shipped("data/sim12.nwk"));
    let table = shipped("data/reference_lnl.csv");
    let rows = csv::Reader::from_reader(table.as_bytes())
        .deserialize()
        .collect::<Result<Vec<(String, String, String, f64)>, _>>()
        .expect("a table of reference values");
    let own = |row: &&(String, String, String, f64)| row.0 == "sim12" && row.2.starts_with("PhyML");
    assert_eq!(rows.iter().filter(own).count(), 6);
    for (_, model, _, expected) in rows.iter().filter(own) {
        let found = log_likelihood(&folder, model);
        assert!((found / expected - 1.0).abs() < 1e-9, "{model}: {found}, {expected}");
    }
}

#[test]
fn the_root_has_no_meaning() {
    let model = "GTR{1.2,3.5,0.8,0.9,4.1,1.0}+F{0.30,0.22,0.18,0.30}+G4{0.5}";
    let unrooted = log_likelihood(&inputs(ALIGNMENT, TREE), model);
    for tree in [
        "(((a:0.1,b:0.2):0.05,c:0.3):0.1,d:0.3);",
        "(a:0.04,(b:0.2,(c:0.3,d:0.4):0.05):0.06);",
        "(c:0.3,(b:0.2,a:0.1)0.9:5e-2[a comment],'d':0.4):0.7;",
    ] {
        let found = log_likelihood(&inputs(ALIGNMENT, tree), model);
        assert!((found / unrooted - 1.0).abs() < 1e-13, "{tree}: {found}, {unrooted}");
    }
}

#[test]
fn every_site_has_a_row_and_those_of_gaps_no_pattern() {
    let alignment = ALIGNMENT.replace(['G', 'R'], "-");
    let folder = inputs(&alignment, TREE);
    let csv = folder.succeeds(&arguments(&["--per-site", "--format", "csv"]));
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["site", "pattern", "weight", "log_likelihood"]);
    assert_eq!(rows.len(), 7);
    assert_eq!(rows[3], ["3", "", "", "0"]);
    assert_eq!(rows[1][..3], ["1", "1", "1"]);
    assert_eq!(rows[4][1], "3");
    let sum: f64 = rows[1..].iter().map(|row| row[3].parse::<f64>().expect("a number")).sum();
    assert!((sum - log_likelihood(&folder, "JC69")).abs() < 1e-12);
    let table = folder.succeeds(&arguments(&["--per-site"]));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "4 taxa, 6 sites, 5 patterns");
    assert_eq!(lines.len(), 4 + 6);
    let cells: Vec<&str> = lines[6].split_whitespace().collect();
    assert_eq!(cells, ["3", "-", "-", "0"]);
    let report = folder.json(&arguments(&["--per-site", "--format", "json"]));
    assert!(report["per_site"][2]["pattern"].is_null());
    assert_eq!(report["per_site"][5]["site"], 6);
}

#[test]
fn sequences_of_gaps_or_ambiguous_residues_add_no_information() {
    let pair = |third: &str| format!("3 4\na ACGT\nb ACGA\nc {third}\n");
    let tree = "(a:0.1,b:0.2,c:0.3);";
    let of = |third: &str| log_likelihood(&inputs(&pair(third), tree), "JC69");
    assert_eq!(of("----"), of("NNNN"));
    // The longer the branch to it, the less the third sequence says.
    let lone = "(a:0.1,b:0.2,c:500);";
    let far = log_likelihood(&inputs(&pair("ACGT"), lone), "JC69");
    assert!((far - (of("----") + 4.0 * 0.25_f64.ln())).abs() < 1e-9);
}

#[test]
fn branches_that_cannot_be_told_from_the_shortest_and_longest_are_warned_of() {
    let folder = inputs("3 4\na ACGT\nb ACGT\nc ACGT\n", "(a:0,b:1e-300,c:1e9);");
    let run = folder.mmgp(&arguments(&[]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(
        run.stderr,
        "warning: 2 branches shorter than 1e-10 taken as 1e-10\n\
         warning: 1 branch longer than 6.9e2 taken as 6.9e2\n"
    );
}

fn check_refused(alignment: &str, tree: &str, model: &str, message: &str) {
    inputs(alignment, tree).refuses(&arguments(&["--model", model]), message);
}

#[test]
fn a_tree_that_does_not_fit_is_refused() {
    let check = |tree: &str, message: &str| check_refused(ALIGNMENT, tree, "JC69", message);
    check(
        "((a:0.1,x:0.2):0.05,c:0.3,d:0.4);",
        "a.nwk:1:9: found the tip \"x\", expected a name of the alignment",
    );
    check(
        "(a:0.1,b:0.2,c:0.3);\n",
        "a.nwk:1:21: found the end of the tree, expected a tip \"d\" as in the alignment",
    );
    check(
        "((a:0.1,b):0.05,c:0.3,d:0.4);",
        "a.nwk:1:10: found no branch length, expected `:` and a length",
    );
    check(
        "((a:0.1,b:-0.2):0.05,\nc:0.3,d:0.4);",
        "a.nwk:1:11: found \"-0.2\", expected a finite length of 0 or more",
    );
    check(
        "(\n(a:0.1,b:0.2,c:0.3):0.1,d:0.4);",
        "a.nwk:2:1: found a node with 3 branches below it, expected 2",
    );
    check("((a:0.1,b:0.2):0.05,c:0.3,d:0.4;", "a.nwk:1:32: found ';', expected `,` or `)`");
    check("", "a.nwk:1:1: found the end of the text, expected a tree: `(`");
}

#[test]
fn an_alignment_without_a_character_is_refused() {
    check_refused(
        "3 2\na --\nb ??\nc NN\n",
        "(a:0.1,b:0.2,c:0.3);",
        "JC69",
        "the alignment: found no column with a determined character, expected one",
    );
}

#[test]
fn a_model_that_is_none_is_refused() {
    let check = |model: &str, message: &str| check_refused(ALIGNMENT, TREE, model, message);
    check("WAG", "--model:1:1: found \"WAG\", expected JC69, HKY85 or GTR");
    check("JC69+G4{-1}", "--model:1:9: found \"-1\", expected a positive number");
    check(
        "GTR{1,2,3}",
        "--model:1:10: found 3 numbers in braces, expected 6 exchangeabilities (AC, AG, AT, CG, \
         CT, GT)",
    );
    check(
        "HKY{2}+F{0.3,0.3,0.3,0.3}",
        "--model:1:9: found frequencies of sum 1.2, expected a sum of 1",
    );
}
