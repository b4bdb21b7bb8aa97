//! Tables as people have them: `../shared/data/intake`, whose README says what is right of each; and timed runs.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Folder, Run};

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

/// Times of a program with 10 s on the host and 60 s on one APU, for (m, p) up to (4, 4), each
/// twice, with a scatter of some per mille.
fn times() -> Vec<((u32, u32), f64)> {
    let grid = [1, 2, 4].into_iter().flat_map(|m| [1, 2, 4].map(|p| (m, p)));
    let twice = grid.flat_map(|point| [(point, 1.001), (point, 0.999)]);
    let time = |(m, p): (u32, u32)| (10.0 + 60.0 / f64::from(p)) / f64::from(m);
    twice.map(|(point, scatter)| (point, time(point) * scatter)).collect()
}

/// The usual table of these.
fn usual() -> String {
    let row = |(index, ((m, p), time))| format!("{m},{p},{},{time:.9}\n", index % 2 + 1);
    let rows: String = times().into_iter().enumerate().map(row).collect();
    format!("m,p,repetition,time_s\n{rows}")
}

/// A table as a job script writes it: other names and order, tabs, milliseconds, a failed run.
fn of_jobs() -> String {
    let row = |((m, p), time)| format!("{:.6}\t{p}\t{m}\n", 1e3 * time);
    let rows: String = times().into_iter().map(row).collect();
    format!("elapsed_ms\tthreads\tranks\n{rows}TIMEOUT\t8\t8\n")
}

const COLUMNS: &str = "m=ranks,p=threads,time=elapsed_ms";

/// A text that was wrapped for a terminal.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn other_columns_and_units_make_the_same_parameters() {
    let folder = Folder::with("runs.csv", usual());
    folder.write("jobs.tsv", of_jobs());
    let fit = ["fit", "--apus", "16", "--quiet", "--runs"];
    let expected = folder.succeeds(&[&fit[..], &["runs.csv"]].concat());
    let run = folder.mmgp(&[&fit[..], &["jobs.tsv", "--columns", COLUMNS]].concat());
    assert_eq!(run.stdout.replace("jobs.tsv", "runs.csv"), expected);
    let failed = "jobs.tsv: 1 run failed and was left out, in line 20, of (8, 8): \"TIMEOUT\" in column \
                  \"elapsed_ms\"";
    assert!(in_one_line(&run.stderr).contains(failed), "{}", run.stderr);
}

#[test]
fn a_dash_is_standard_input_once() {
    let folder = Folder::with("runs.csv", usual());
    let expected = folder.succeeds(&["fit", "--quiet", "--runs", "runs.csv"]);
    let piped = |arguments: &[&str]| {
        let file = File::open(folder.path("runs.csv")).expect("it is there");
        folder.command(arguments).stdin(file).output().expect("it can be started")
    };
    let output = piped(&["fit", "--quiet", "--runs", "-"]);
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(stdout.replace("standard input", "runs.csv"), expected);
    let output = piped(&["fit", "--runs", "-", "--profile", "-"]);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
}

#[test]
fn a_warm_up_is_left_out_unless_it_is_kept() {
    let mut text = "m,p,repetition,time_s\n".to_string();
    for (index, ((m, p), time)) in times().into_iter().enumerate() {
        // Of each configuration, the first is cold and two are not.
        let warm = time * (1.0 + 1e-4 * (index * 7 % 5) as f64);
        match index % 2 {
            0 => text += &format!("{m},{p},1,{}\n{m},{p},2,{time}\n", 1.2 * time),
            _ => text += &format!("{m},{p},3,{warm}\n"),
        }
    }
    let folder = Folder::with("runs.csv", text);
    let stderr = |more: &[&str]| {
        let run = folder.mmgp(&[&["fit", "--quiet", "--runs", "runs.csv"], more].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        in_one_line(&run.stderr)
    };
    let left_out = stderr(&[]);
    assert!(left_out.contains("were left out; --keep-warm-up keeps them"), "{left_out}");
    let kept = stderr(&["--keep-warm-up"]);
    assert!(kept.contains("run it once before the clock starts"), "{kept}");
}

#[test]
fn a_column_that_cannot_be_is_refused_by_its_flag() {
    let folder = Folder::with("runs.csv", usual());
    let columns =
        |columns| folder.mmgp(&["fit", "--runs", "runs.csv", "--columns", columns]).stderr;
    let expected = "there is no key of columns \"t\"; known: m, p, time, repetition";
    assert!(columns("t=time_s").contains(expected), "{}", columns("t=time_s"));
    folder.refuses(
        &["fit", "--runs", "runs.csv", "--columns", "time=wall_s"],
        "there is no column \"wall_s\"; known: m, p, repetition, time_s",
    );
}

#[test]
fn predict_doubts_what_fit_doubts_of_the_same_runs() {
    let folder = Folder::with("runs.csv", usual());
    folder.succeeds(&["fit", "--runs", "runs.csv", "--out", "p.toml", "--quiet"]);
    let all = usual();
    let others = all.lines().filter(|it| !it.starts_with("4,4,"));
    // One is far below all others; processes each do the whole job.
    folder.write("far.csv", others.collect::<Vec<_>>().join("\n") + "\n4,4,1,0.01\n");
    let copies =
        times().into_iter().map(|((m, p), _)| format!("{m},{p},{}\n", 10.0 + 60.0 / f64::from(p)));
    folder.write("copies.csv", format!("m,p,time_s\n{}", copies.collect::<String>()));
    let doubts = [
        (
            "far.csv",
            "(4, 4) took 10.00 ms, less than a fifth of the core time of any smaller configuration",
        ),
        ("copies.csv", "more processes change nothing at any p"),
    ];
    for (file, doubt) in doubts {
        for command in [&["fit", "--quiet"][..], &["predict", "--params", "p.toml"]] {
            let run = folder.mmgp(&[command, &["--runs", file]].concat());
            let said = in_one_line(&run.stderr);
            assert!(run.code == Some(0) && said.contains(doubt), "{command:?} {said}");
        }
    }
}
