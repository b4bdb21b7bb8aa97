//! Timed runs as people have them.

use std::fs::File;

use crate::Folder;

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
