//! Tables as people have them: `../shared/data/intake`, whose README says what is right of each.

use super::*;
use serde_json::Value;

/// What is right of a file: the choice and its time, by itself or with what a refusal says.
struct Right {
    file: &'static str,
    /// The beginning of the line that a refusal offers, without the command: `--columns 'p=cores/ranks'`.
    line: &'static str,
    choice: (u64, u64),
    time_s: f64,
}

const fn right(file: &'static str, line: &'static str, choice: (u64, u64), time_s: f64) -> Right {
    Right { file, line, choice, time_s }
}

const BEST: ((u64, u64), f64) = ((8, 4), 7.725);

const FILES: [Right; 44] = [
    right("names.csv", "", BEST.0, BEST.1),
    right("pipe.csv", "", BEST.0, BEST.1),
    right("sacct.txt", "", BEST.0, 8.0),
    right("keyed.log", "", BEST.0, BEST.1),
    right("markdown.md", "", BEST.0, BEST.1),
    right("blanks.txt", "", BEST.0, BEST.1),
    right("decimal_comma.csv", "", BEST.0, BEST.1),
    right("latin1.csv", "", BEST.0, BEST.1),
    right("utf16.csv", "", BEST.0, BEST.1),
    right("whole_as_float.csv", "", BEST.0, BEST.1),
    right("config.csv", "--columns m,p=configuration", BEST.0, BEST.1),
    right("cores.csv", "--columns p=cores/ranks", BEST.0, BEST.1),
    right("durations.csv", "", BEST.0, BEST.1),
    right("wide.csv", "", BEST.0, BEST.1),
    right("runs_wide.csv", "", BEST.0, BEST.1),
    right("mean_sd.csv", "", BEST.0, BEST.1),
    right("total_row.csv", "", BEST.0, BEST.1),
    right("unit_glued.csv", "", BEST.0, BEST.1),
    right("unit_middle.csv", "", BEST.0, BEST.1),
    right("unit_milliseconds.csv", "", BEST.0, BEST.1),
    right("unit_minutes.csv", "", BEST.0, BEST.1),
    right("unit_msec.csv", "", BEST.0, BEST.1),
    right("unit_per.csv", "", BEST.0, BEST.1),
    right("unit_upper.csv", "", BEST.0, BEST.1),
    right("unit_usec.csv", "", BEST.0, BEST.1),
    right("rate.csv", "--rate ns/day", BEST.0, 1.0 / 111.8),
    right("failed_exit_code.csv", "", (4, 4), 10.05),
    right("failed_exit.csv", "", (4, 4), 10.05),
    right("failed_success.csv", "", (4, 4), 10.05),
    right("failed_state.csv", "", (4, 4), 10.05),
    right("two_sizes.csv", "--filter N == 1000", (2, 4), 0.525),
    right("two_sizes.csv", "--filter N == 10000", (4, 4), 6.37),
    right("fixed_cores.csv", "", (16, 4), 7.80),
    right("nodes.csv", "", (4, 8), 15.58),
    right("one_dimension.csv", "", (32, 1), 0.78),
    right("bound_to_core.csv", "", BEST.0, 8.85),
    right("copies.csv", "", (1, 4), 2.80),
    right("joblog.tsv", "--columns p=word 5", BEST.0, BEST.1),
    right("records.json", "", BEST.0, BEST.1),
    right("records.jsonl", "", BEST.0, BEST.1),
    right("hyperfine_names.json", "", BEST.0, BEST.1),
    right("kernel_tuner_cache.json", "", BEST.0, BEST.1),
    right("figures_of_merit.json", "", BEST.0, BEST.1),
    right("google_benchmark.json", "", BEST.0, BEST.1),
];

/// The folder of the files; nothing where it is not there.
fn files() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/intake");
    if !folder.is_dir() {
        testing::skipped("../shared/data");
        return None;
    }
    Some(folder)
}

/// The words of the line that a refusal offers and that has that beginning.
fn offered(refusal: &str, beginning: &str) -> Vec<String> {
    let lines = refusal.lines().skip(1).map(|line| line.split("   #").next().unwrap_or(line));
    let words = |line: &str| shlex::split(line).expect("a line of a shell");
    let mut all = lines.map(words);
    let has = |words: &Vec<String>| words.join(" ").contains(beginning);
    all.find(has).unwrap_or_else(|| panic!("no {beginning} in {refusal}"))
}

/// `fit` of a file, as it stands or with the line that the refusal offers; what it says of it.
fn fitted(folder: &Folder, path: &str, right: &Right) -> Run {
    let fit = ["fit", "--runs", path, "--out", "p.toml"];
    let run = folder.mmgp(&fit);
    if right.line.is_empty() {
        assert_eq!(run.code, Some(0), "{}: {}", right.file, run.stderr);
        return run;
    }
    assert_eq!(run.code, Some(2), "{}: {}", right.file, run.stderr);
    let words = offered(&run.stderr, right.line);
    let again = folder.mmgp(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(again.code, Some(0), "{}: {}", right.file, again.stderr);
    again
}

#[test]
fn every_file_that_people_have_is_read_rightly_or_refused_with_what_reads_it() {
    let Some(files) = files() else { return };
    for right in &FILES {
        let folder = Folder::new();
        let path = files.join(right.file);
        let path = path.to_str().expect("a path is text");
        fitted(&folder, path, right);
        let answer = folder.json(&["predict", "--params", "p.toml", "--format", "json"]);
        let choice = &answer["choice"];
        let found = (choice["m"].as_u64(), choice["p"].as_u64());
        assert_eq!(found, (Some(right.choice.0), Some(right.choice.1)), "{}", right.file);
        let first = &answer["configurations"][0];
        let time_s = first["time_s"].as_f64().or(first["rate"].as_f64().map(|rate| 1.0 / rate));
        let time_s = time_s.unwrap_or_else(|| panic!("{}: {first}", right.file));
        let error = (time_s / right.time_s - 1.0).abs();
        assert!(error < 0.012, "{}: {time_s} for {}", right.file, right.time_s);
    }
}

#[test]
fn look_says_of_every_file_what_fit_takes() {
    let Some(files) = files() else { return };
    for right in FILES.iter().filter(|right| right.line.is_empty()) {
        let folder = Folder::new();
        let path = files.join(right.file);
        let path = path.to_str().expect("a path is text");
        let look = folder.json(&["look", path, "--format", "json"]);
        let roles: Vec<&str> = look["parts"]
            .as_array()
            .expect("parts")
            .iter()
            .filter_map(|it| it["role"].as_str())
            .collect();
        assert!(roles.contains(&"time"), "{}: {roles:?}", right.file);
        assert!(look["runs"].as_u64().expect("a count") >= 5, "{}", right.file);
        assert!(look["first"][0]["time_s"].as_f64().expect("a time") > 0.0, "{}", right.file);
        let people = folder.succeeds(&["look", path]);
        assert!(people.contains(" configurations"), "{people}");
    }
}

#[test]
fn what_does_nothing_is_said() {
    let Some(files) = files() else { return };
    for (file, said) in [
        ("bound_to_core.csv", "change nothing at m = 1, 2, and help from m = 3"),
        ("copies.csv", "more processes change nothing"),
    ] {
        let folder = Folder::new();
        let path = files.join(file);
        let fit = ["fit", "--runs", path.to_str().expect("text"), "--out", "p.toml", "--verbose"];
        let run = folder.mmgp(&fit);
        assert!(run.stderr.contains(said), "{file}: {}", run.stderr);
    }
}

#[test]
fn an_answer_for_each_value_has_files_of_its_own() {
    let mut text = String::from("N,m,p,time_s\n");
    for (m, p) in [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2), (4, 4)] {
        for (n, work) in [("1e3", 1.0), ("big one", 100.0)] {
            let time = 0.1 * f64::from(m) + work / f64::from(m * p);
            text += &format!("{n},{m},{p},{time}\n");
        }
    }
    let folder = Folder::with("runs.csv", text);
    let run = folder.mmgp(&["fit", "--runs", "runs.csv"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("mmgp fit --runs runs.csv --by N "), "{}", run.stderr);
    let refusal = folder.mmgp(&["fit", "--runs", "runs.csv", "--by", "N"]).stderr;
    assert!(refusal.contains("--out FILE"), "{refusal}");
    let all = ["fit", "--runs", "runs.csv", "--by", "N", "--out", "p.toml", "--report", "r.json"];
    assert_eq!(folder.mmgp(&all).code, Some(0));
    assert_eq!(
        folder.files(),
        ["p-N-1e3.toml", "p-N-big_one.toml", "r-N-1e3.json", "r-N-big_one.json", "runs.csv"]
    );
    let choice =
        |file| folder.succeeds(&["predict", "--params", file]).lines().next().map(String::from);
    assert!(choice("p-N-1e3.toml").expect("a line").starts_with("Run (2, 4)"));
    assert!(choice("p-N-big_one.toml").expect("a line").starts_with("Run (4, 4)"));
    // Other commands offer what they have.
    let predict = folder.mmgp(&["predict", "--params", "p-N-1e3.toml", "--runs", "runs.csv"]);
    assert!(!predict.stderr.contains("--by"), "{}", predict.stderr);
    assert!(predict.stderr.contains("--filter 'N == \"big one\"'"), "{}", predict.stderr);
}

#[test]
fn files_are_in_place_before_anything_is_printed() {
    let text = "m,p,time_s\n1,1,9\n1,2,5\n2,1,5\n2,2,3\n4,2,2\n";
    for _ in 0..10 {
        let folder = Folder::with("runs.csv", text);
        let script = format!(
            "{} fit --runs runs.csv --out p.toml --verbose 2>&1 | head -1 > /dev/null",
            env!("CARGO_BIN_EXE_mmgp")
        );
        let mut shell = Command::new("sh");
        let ended = shell.args(["-c", &script]).current_dir(&folder.0).status().expect("a shell");
        assert!(ended.success());
        assert_eq!(folder.files(), ["p.toml", "runs.csv"]);
    }
}
