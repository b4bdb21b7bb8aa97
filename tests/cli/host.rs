//! `mmgp run --machine host`

use super::Folder;

const RUN: [&str; 5] = ["run", "--app", "list-ranking", "--nodes", "5000"];
const ON_HOST: [&str; 4] = ["--machine", "host", "--format", "json"];

fn json(flags: &[&[&str]]) -> serde_json::Value {
    Folder::new().json(&flags.concat())
}

#[test]
fn this_computer_finds_the_prefixes_of_the_emulated_one() {
    for flags in [
        ["--order", "random", "--operation", "last", "--values", "sparse"],
        ["--order", "ordered", "--operation", "sum", "--values", "random"],
    ] {
        let threads = ["--p", "2", "--sublists", "16", "--buffers", "4", "--repetitions", "3"];
        let host = json(&[&RUN, &flags, &ON_HOST, &threads]);
        let emulated = json(&[&RUN, &flags, &["--p", "2", "--format", "json"]]);
        assert_eq!((&host["machine"], &host["wrong"]), (&"host".into(), &0.into()));
        assert_eq!(host["checksum"], emulated["checksum"]);
        assert_eq!((&host["nodes"], &host["repetitions"]), (&5000.into(), &3.into()));
        let time = |name: &str| host[name].as_f64().expect("a time");
        assert!(0.0 < time("time_least_s") && time("time_least_s") <= time("time_s"));
        assert!(time("time_s") <= time("time_most_s") && time("sequential_s") > 0.0);
        assert_eq!(host["steps_s"].as_array().map(Vec::len), Some(4));
        let load = host["load"].as_array().expect("a load for each thread");
        let nodes: u64 = load.iter().map(|load| load.as_u64().expect("a count")).sum();
        assert_eq!((load.len(), nodes), (2, 5000));
    }
}

#[test]
fn what_runs_on_this_computer_prints_a_table_and_a_file_of_values() {
    let folder = Folder::new();
    let run = [&RUN[..], &["--machine", "host"]].concat();
    let table = folder.succeeds(&run);
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert!(lines.any(|words| words == ["wrong", "0"]), "{table}");
    folder.succeeds(&[&run[..], &["--format", "csv", "--out", "x.csv"]].concat());
    let csv = folder.read("x.csv");
    let names = csv.lines().next().expect("a header");
    assert!(names.starts_with("app,machine,m,p,seed,nodes,order,"), "{names}");
    assert_eq!(csv.lines().count(), 2);
}

#[test]
fn what_this_computer_cannot_do_is_named_by_its_flag() {
    let check = |flags: &[&[&str]], message: &str| Folder::new().refuses(&flags.concat(), message);
    check(
        &[&["run", "--app", "sgemm"], &ON_HOST],
        "--machine: found host for sgemm, expected an emulated machine, or one of the \
         programs that can: list-ranking",
    );
    check(
        &[&RUN, &ON_HOST, &["--m", "2"]],
        "--m: found 2, expected 1: the threads of one process rank the list, and --p is how many",
    );
    check(&[&RUN, &ON_HOST, &["--p", "1025"]], "--p: found 1025, expected 1 to 1024");
    check(&[&RUN, &ON_HOST, &["--buffers", "65"]], "--buffers: found 65, expected 1 to 64");
    check(
        &[&RUN, &ON_HOST, &["--check-hazards"]],
        "--check-hazards: found --machine host, expected an emulated machine, which has such a thing",
    );
    check(
        &[&RUN, &["--repetitions", "3"]],
        "--repetitions: found --machine qs20, expected --machine host; on an emulated machine every \
         run takes the same time",
    );
}
