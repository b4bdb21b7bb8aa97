//! Coupled chains of PBPI, their samples and their consensus.

use crate::Folder;

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
