//! The main job: what it leaves behind, and that the commands can go on from there.

use crate::Folder;

const QUICK: [&str; 5] = ["study", "--input", "sim12", "--generations", "5"];

/// What a study leaves behind, in alphabetical order.
const FILES: [&str; 18] = [
    "all.svg",
    "alpha.csv",
    "collective.csv",
    "context_switch.csv",
    "manifest.json",
    "memory.csv",
    "offload.csv",
    "params.toml",
    "predictions.csv",
    "profile.csv",
    "refined.toml",
    "report.html",
    "split.csv",
    "study.json",
    "summary.json",
    "trace.json",
    "validation.csv",
    "validation.svg",
];

/// The files of these that are measurements.
const MEASURED: [&str; 6] = [
    "alpha.csv",
    "collective.csv",
    "context_switch.csv",
    "memory.csv",
    "offload.csv",
    "profile.csv",
];

/// A folder in which a quick study has just run, with further arguments; and what it printed.
fn study(arguments: &[&str]) -> (Folder, String) {
    let folder = Folder::new();
    let printed = folder.succeeds(&[&QUICK[..], &["--out", "."], arguments].concat());
    (folder, printed)
}

#[test]
fn a_study_leaves_every_file_and_the_same_bytes_on_any_number_of_threads() {
    let (one, printed) = study(&["--threads", "1"]);
    let (two, nothing) = study(&["--threads", "2", "--quiet"]);
    assert_eq!(files_below(&one), FILES);
    assert_eq!(files_below(&two), FILES);
    for file in FILES {
        let bytes = |folder: &Folder| std::fs::read(folder.path(file)).expect("it is there");
        assert!(bytes(&one) == bytes(&two), "{file} depends on the number of threads");
        assert!(!bytes(&one).is_empty(), "{file} is empty");
    }
    assert_eq!(nothing, "");
    assert!(printed.contains(", 50 feasible configurations.\nRun ("), "{printed}");
    check_summary(&one);
    check_splits(&one);
    check_pictures(&one);
    check_commands_go_on(&one);
}

/// The names of all files, those of folders after their folder's.
pub fn files_below(folder: &Folder) -> Vec<String> {
    let inside = |name: String| {
        let Ok(entries) = std::fs::read_dir(folder.path(&name)) else { return vec![name] };
        let path = |entry: std::io::Result<std::fs::DirEntry>| {
            format!("{name}/{}", entry.expect("an entry").file_name().to_string_lossy())
        };
        let mut names: Vec<String> = entries.map(path).collect();
        names.sort();
        names
    };
    folder.files().into_iter().flat_map(inside).collect()
}

fn check_summary(folder: &Folder) {
    let summary = folder.read_json("summary.json");
    assert_eq!(summary["configurations"], 50);
    let model = summary["models"][0].as_object().expect("a model");
    let mut fields: Vec<&str> = model.keys().map(String::as_str).collect();
    fields.sort_unstable();
    let mut documented = [
        "model",
        "mean_error_percent",
        "sd_error_percent",
        "max_error_percent",
        "predicted_best",
        "measured_best",
        "regret_percent",
        "without_inputs",
    ];
    documented.sort_unstable();
    assert_eq!(fields, documented);
    assert_eq!(model["model"], "mmgp");
    let refined = summary["models"][1].as_object().expect("a second model");
    assert_eq!(refined["model"], "refined");
    assert!(model.keys().eq(refined.keys()));
    // The mean of the column of errors, taken here once more.
    let validation = folder.read("validation.csv");
    let errors: Vec<f64> = validation
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(4).expect("a column").parse::<f64>().expect("a number").abs())
        .collect();
    let mean = errors.iter().sum::<f64>() / 50.0;
    let stated = model["mean_error_percent"].as_f64().expect("a number");
    assert!((stated - mean).abs() < 1e-9 * mean, "{stated} for {mean}");
}

/// The parts of each run's time add up to it, and it is the measured one.
fn check_splits(folder: &Folder) {
    let numbers = |file: &str| -> Vec<Vec<f64>> {
        let number = |field: &str| field.parse().expect("a number");
        let rows = folder.read(file);
        rows.lines().skip(1).map(|row| row.split(',').map(number).collect()).collect()
    };
    let (splits, validation) = (numbers("split.csv"), numbers("validation.csv"));
    assert_eq!(splits.len(), 50);
    for (split, row) in splits.iter().zip(&validation) {
        assert_eq!(split[..3], row[..3]);
        let (time, parts) = (split[2], &split[3..]);
        let sum: f64 = parts.iter().sum();
        // Tasks of a few us are timed by whole ticks of 70 ns.
        assert!((sum - time).abs() < 0.03 * time, "{split:?} add up to {sum}");
    }
}

fn check_pictures(folder: &Folder) {
    for file in FILES {
        let bytes = std::fs::read(folder.path(file)).expect("it is there");
        if file.ends_with(".svg") {
            let text = String::from_utf8(bytes).expect("SVG is text");
            roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        }
    }
}

/// Each file of a study is the input of the next command, with the same results.
fn check_commands_go_on(folder: &Folder) {
    let fit: Vec<&str> = "fit --alpha alpha.csv --offload offload.csv --context-switch \
                          context_switch.csv --collective collective.csv --profile profile.csv \
                          --machine qs20 --quiet --out again.toml"
        .split_whitespace()
        .chain(["--name", "pbpi on qs20"])
        .collect();
    folder.succeeds(&fit);
    assert_eq!(folder.read("again.toml"), folder.read("params.toml"));
    let predictions = folder.succeeds(&["predict", "--params", "params.toml", "--format", "csv"]);
    assert_eq!(predictions, folder.read("predictions.csv"));
    folder.succeeds(&["plot", "--study", ".", "--out", "again.svg", "--title", "PBPI on qs20"]);
    assert_eq!(folder.read("again.svg"), folder.read("validation.svg"));
}

#[test]
fn a_quiet_study_prints_nothing_at_all() {
    let folder = Folder::new();
    let run = folder.mmgp(&[&QUICK[..], &["--machine", "ps3", "--quiet"]].concat());
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(folder.files(), ["mmgp-study"]);
}

#[test]
fn the_micro_benchmarks_of_a_study_are_those_of_bench_and_profile() {
    let (folder, _) = study(&["--machine", "ps3"]);
    folder.succeeds(&["bench", "--machine", "ps3", "--out", "bench"]);
    let profile = ["profile", "--machine", "ps3", "--out", "bench/profile.csv"];
    folder.succeeds(&[&profile[..], &QUICK[1..]].concat());
    for file in MEASURED {
        assert_eq!(folder.read(&format!("bench/{file}")), folder.read(file), "{file}");
    }
}

#[test]
fn a_validation_above_its_threshold_answers_no() {
    let (folder, _) = study(&["--machine", "ps3"]);
    let validate = |threshold: &str| {
        let arguments = ["validate", "--params", "refined.toml", "--machine", "ps3", "--out", "v"];
        let limit = ["--fail-above", threshold, "--quiet"];
        folder.mmgp(&[&arguments[..], &limit, &QUICK[1..]].concat())
    };
    let no = validate("0.0001");
    assert_eq!((no.code, no.stdout.as_str(), no.stderr.as_str()), (Some(1), "", ""));
    assert_eq!(validate("1e6").code, Some(0));
    assert_eq!(folder.read("v/validation.csv"), folder.read("validation.csv"));
}
