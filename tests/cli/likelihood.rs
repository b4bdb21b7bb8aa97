//! `mmgp emulate raxml likelihood`: values, tables of sites, and what it refuses.

use crate::{Folder, shipped};

const ALIGNMENT: &str = "4 6\na ACGTAC\nb ACG-AT\nc ATGRAT\nd CTG-GT\n";
const TREE: &str = "((a:0.1,b:0.2):0.05,c:0.3,d:0.4);\n";

/// A folder with an alignment `a.phy` and a tree `a.nwk`.
fn folder(alignment: &str, tree: &str) -> Folder {
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
    let folder = folder(&shipped("data/sim12.phy"), &shipped("data/sim12.nwk"));
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
    let unrooted = log_likelihood(&folder(ALIGNMENT, TREE), model);
    for tree in [
        "(((a:0.1,b:0.2):0.05,c:0.3):0.1,d:0.3);",
        "(a:0.04,(b:0.2,(c:0.3,d:0.4):0.05):0.06);",
        "(c:0.3,(b:0.2,a:0.1)0.9:5e-2[a comment],'d':0.4):0.7;",
    ] {
        let found = log_likelihood(&folder(ALIGNMENT, tree), model);
        assert!((found / unrooted - 1.0).abs() < 1e-13, "{tree}: {found}, {unrooted}");
    }
}

#[test]
fn every_site_has_a_row_and_those_of_gaps_no_pattern() {
    let alignment = ALIGNMENT.replace(['G', 'R'], "-");
    let folder = folder(&alignment, TREE);
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
    let of = |third: &str| log_likelihood(&folder(&pair(third), tree), "JC69");
    assert_eq!(of("----"), of("NNNN"));
    // The longer the branch to it, the less the third sequence says.
    let lone = "(a:0.1,b:0.2,c:500);";
    let far = log_likelihood(&folder(&pair("ACGT"), lone), "JC69");
    assert!((far - (of("----") + 4.0 * 0.25_f64.ln())).abs() < 1e-9);
}

#[test]
fn branches_that_cannot_be_told_from_the_shortest_and_longest_are_warned_of() {
    let folder = folder("3 4\na ACGT\nb ACGT\nc ACGT\n", "(a:0,b:1e-300,c:1e9);");
    let run = folder.mmgp(&arguments(&[]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(
        run.stderr,
        "warning: 2 branches shorter than 1e-10 taken as 1e-10\n\
         warning: 1 branch longer than 6.9e2 taken as 6.9e2\n"
    );
}

fn check_refused(alignment: &str, tree: &str, model: &str, message: &str) {
    folder(alignment, tree).refuses(&arguments(&["--model", model]), message);
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
