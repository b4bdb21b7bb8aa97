//! One belief: `fit`, `predict`, the page and the C interface name the same families, times and choice.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::c_interface::compiled;
use super::{Folder, has, output};

/// What is said of some parameters: the families by their weights, the times, and the choice.
#[derive(Debug, Default, PartialEq)]
struct Said {
    families: Vec<(String, f64)>,
    times: BTreeMap<(u64, u64), f64>,
    choice: Option<(u64, u64)>,
}

fn mmgp(folder: &Folder, arguments: &[&str]) -> String {
    output(Command::new(env!("CARGO_BIN_EXE_mmgp")).current_dir(folder.join("")).args(arguments))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn families(basis: &Value) -> Vec<(String, f64)> {
    let means = basis["means"].as_array().expect("families");
    let family = |it: &Value| (it["mean"].as_str().unwrap().into(), it["weight"].as_f64().unwrap());
    means.iter().map(family).collect()
}

fn mapping(of: &Value) -> (u64, u64) {
    (of["m"].as_u64().expect("m"), of["p"].as_u64().expect("p"))
}

fn by_predict(folder: &Folder) -> Said {
    let answer = mmgp(folder, &["predict", "--params", "p.toml", "--format", "json"]);
    let answer = parsed(&answer);
    let rows = answer["configurations"].as_array().expect("configurations");
    Said {
        families: families(&answer["basis"]),
        times: rows.iter().map(|it| (mapping(it), it["time_s"].as_f64().unwrap())).collect(),
        choice: Some(mapping(&answer["choice"])),
    }
}

fn by_page(folder: &Folder) -> Said {
    mmgp(folder, &["report", "p.toml", "--out", "page.html"]);
    let page = std::fs::read_to_string(folder.join("page.html")).expect("the page is there");
    let data = page.split("id=\"data\">").nth(1).and_then(|it| it.split("</script>").next());
    let data = parsed(data.expect("the page holds its data"));
    let column = |name: &str| data["configurations"][name].as_array().expect("a column").clone();
    let (m, p, time) = (column("m"), column("p"), column("believed_s"));
    let row = |(place, time): (usize, &Value)| {
        let mapping = (m[place].as_u64().unwrap(), p[place].as_u64().unwrap());
        (mapping, time.as_f64().unwrap())
    };
    Said {
        families: families(&data["basis"]),
        times: time.iter().enumerate().map(row).collect(),
        choice: Some((m[0].as_u64().unwrap(), p[0].as_u64().unwrap())),
    }
}

fn by_c(folder: &Folder, program: &mut Command) -> Said {
    let text = output(program.arg(folder.join("p.toml")));
    let mut said = Said::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        let mut next = || words.next().expect("three words");
        let (first, second, third) = (next(), next(), next());
        let number = |word: &str| -> u64 { word.parse().expect("a number") };
        if first == "best" {
            said.choice = Some((number(second), number(third)));
        } else {
            let time_s: f64 = third.parse().expect("a time");
            said.times.insert((number(first), number(second)), time_s);
        }
    }
    said
}

/// Runs of a program whose time equation 11 has (`bent` of 0) or misses, with a noise of 2 %.
fn runs(folder: &Folder, mappings: &[(u32, u32)], bent: f64, repetitions: u32) {
    let mut csv = String::from("m,p,repetition,time_s\n");
    for (place, &(m, p)) in mappings.iter().enumerate() {
        for repetition in 1..=repetitions {
            let (m, p) = (f64::from(m), f64::from(p));
            let full = 1.0 + bent * f64::from(u8::from(m * p > 8.0));
            let time = (3.0 * (1.0 + 0.05 * (m - 1.0)) + 0.4 * p + 100.0 / (m * p)) * full;
            let noise = 0.02 * (7.0 * place as f64 + 5.0 * f64::from(repetition)).sin();
            csv += &format!("{m},{p},{repetition},{}\n", time * (1.0 + noise));
        }
    }
    std::fs::write(folder.join("runs.csv"), csv).expect("a file of runs can be written");
}

/// Fits runs, with further arguments, and holds all to what `fit` says.
fn check(folder: &Folder, program: &Path, arguments: &[&str]) {
    let usual = ["fit", "--runs", "runs.csv", "--out", "p.toml", "--report", "fit.json", "--quiet"];
    mmgp(folder, &[&usual[..], arguments].concat());
    let report = std::fs::read_to_string(folder.join("fit.json")).expect("the report is there");
    let fitted = families(&parsed(&report)["runs"]["basis"]);
    let (predicted, page) = (by_predict(folder), by_page(folder));
    assert_eq!(fitted, predicted.families);
    assert_eq!(page, predicted);
    if program.exists() {
        let in_c = by_c(folder, &mut Command::new(program));
        assert_eq!(in_c.choice, predicted.choice);
        for (mapping, time) in &predicted.times {
            approx::assert_relative_eq!(in_c.times[mapping], *time, max_relative = 1e-9);
        }
    }
}

#[test]
fn fit_and_predict_and_the_page_and_c_name_one_family_one_time_and_one_choice() {
    let folder = Folder::new("one-verdict");
    let program = match has("cc") {
        true => compiled(&folder, "times", &[]).get_program().into(),
        false => folder.join("none"),
    };
    let grid: Vec<(u32, u32)> =
        [1, 2, 4, 8].into_iter().flat_map(|m| [1, 2, 4].map(|p| (m, p))).collect();
    for (bent, repetitions) in [(0.0, 3), (0.4, 3), (0.4, 1)] {
        runs(&folder, &grid, bent, repetitions);
        check(&folder, &program, &[]);
        check(&folder, &program, &["--apus", "16"]);
        check(&folder, &program, &["--decomposition", "task", "--tasks", "24"]);
    }
    // A line of the plane, one dimension, and two totals.
    for mappings in [
        vec![(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)],
        vec![(1, 1), (2, 1), (3, 1), (5, 1), (9, 1)],
        vec![(1, 1), (4, 2)],
    ] {
        runs(&folder, &mappings, 0.2, 2);
        check(&folder, &program, &[]);
    }
    // Times that do not depend on what runs: all print the same.
    let flat = grid.iter().map(|(m, p)| format!("{m},{p},1,50\n{m},{p},2,50\n"));
    let flat = format!("m,p,repetition,time_s\n{}", flat.collect::<String>());
    std::fs::write(folder.join("runs.csv"), flat).expect("a file of runs can be written");
    check(&folder, &program, &[]);
    check(&folder, &program, &["--apus", "16"]);
}

#[test]
fn of_traced_runs_predict_and_the_page_and_c_name_one_time_and_one_choice() {
    let folder = Folder::new("one-verdict-traced");
    // As many processors as there are threads; fewer; fewer, and asked for a machine of more.
    for (there, asked) in [(16, vec![]), (4, vec![]), (4, vec!["--apus", "16"])] {
        check_traced(&folder, there, &asked);
    }
}

/// The host's part and the work of each rank of 1 + 0.6/m + 8/(m p), computed on so many processors, and the messages of a rank
/// that has nobody but itself \[s\].
fn parts(m: u32, p: u32, processors: u32) -> [f64; 3] {
    let stretch = |threads: u32| (f64::from(threads) / f64::from(processors)).max(1.0);
    let (of_ranks, of_threads) = (stretch(m), stretch(m * p));
    [
        (1.0 + 0.6 / f64::from(m)) * of_ranks,
        8.0 / f64::from(m) * of_threads,
        if m == 1 { 0.9 } else { 0.0 },
    ]
}

fn check_traced(folder: &Folder, processors: u32, asked: &[&str]) {
    let mut terms = String::from("run,m,p,rank,phase,term,value,std_error,unit\n");
    for (run, m, p) in [(1, 1_u32, 1_u32), (2, 4, 4)] {
        terms += &format!("{run},{m},{p},,,processors,{processors},,1\n");
        let [host, work, messages] = parts(m, p, processors);
        let time = host + work / f64::from(p) + messages;
        for rank in 0..m {
            let parts = [("t_hpu", host), ("t_apu", work), ("p2p", messages)];
            for (term, value) in [("time", time), ("cpu", time)].into_iter().chain(parts) {
                terms += &format!("{run},{m},{p},{rank},,{term},{value},,s\n");
            }
        }
    }
    std::fs::write(folder.join("terms.csv"), terms).expect("terms can be written");
    let fit = ["fit", "--terms", "terms.csv", "--out", "p.toml", "--quiet"];
    mmgp(folder, &[&fit, asked].concat());
    let predicted = by_predict(folder);
    // What is asked of them besides moves a time far less than processors do.
    let there = if asked.is_empty() { processors } else { 16 };
    for (&(m, p), time) in &predicted.times {
        let [host, work, messages] = parts(m as u32, p as u32, there);
        let truth = host + work / p as f64 + messages;
        approx::assert_relative_eq!(*time, truth, max_relative = 0.2);
    }
    assert_eq!(by_page(folder), predicted);
    assert!(predicted.families.iter().all(|(name, _)| name.starts_with("traced")), "{predicted:?}");
    if has("cc") {
        let in_c = by_c(folder, &mut compiled(folder, "times", &[]));
        assert_eq!(in_c.choice, predicted.choice);
        for (mapping, time) in &predicted.times {
            approx::assert_relative_eq!(in_c.times[mapping], *time, max_relative = 1e-9);
        }
    }
}

#[test]
fn without_runs_ties_go_to_the_fewest_cores_in_c_as_in_predict() {
    if !has("cc") {
        return;
    }
    let folder = Folder::new("one-verdict-ties");
    let mut times = compiled(&folder, "times", &[]);
    // Of the host's 100 s the accelerators' share changes the fifth digit at most.
    let text = "schema = 1\nname = \"host\"\ndecomposition = \"data\"\napus = 16\n[terms]\nt_hpu_s = 100.0\n\
                t_apu_s = 0.06\nc_apu_s = 0.0\noffloads = 1\no_offload_s = 0.0\nt_csw_s = 0.0\ng_s = 0.0\n\
                alpha = 1.0\no_col_s = 0.0\n";
    std::fs::write(folder.join("p.toml"), text).expect("parameters can be written");
    for said in [by_predict(&folder), by_c(&folder, &mut times)] {
        assert_eq!(said.choice, Some((1, 2)));
    }
}
