//! `--app list-ranking`

use super::Folder;

const EMULATE: [&str; 7] =
    ["emulate", "--app", "list-ranking", "--format", "json", "--nodes", "3000"];

fn run(folder: &Folder, flags: &[&str]) -> serde_json::Value {
    folder.json(&[&EMULATE[..], flags].concat())
}

#[test]
fn a_run_tells_its_four_steps_and_that_every_prefix_is_right() {
    let folder = Folder::new();
    for order in ["random", "ordered"] {
        let flags = ["--order", order, "--sublists", "16", "--buffers", "2", "--p", "4"];
        let run = run(&folder, &flags);
        let steps: Vec<f64> = serde_json::from_value(run["steps_s"].clone()).expect("steps");
        let time = run["time_s"].as_f64().expect("a number");
        let rest = time - steps.iter().sum::<f64>();
        assert!(steps.len() == 4 && steps.iter().all(|&step| step > 0.0), "{steps:?}");
        assert!(rest.abs() < 1e-12, "{order}: {rest} s belong to no step");
        assert_eq!((&run["wrong"], &run["sublists"]), (&0.into(), &16.into()));
        let load: Vec<u64> = serde_json::from_value(run["load"].clone()).expect("loads");
        assert_eq!((load.len(), load.iter().sum::<u64>()), (4, 3000));
    }
}

#[test]
fn the_host_alone_ranks_the_same_list() {
    let folder = Folder::new();
    let [spes, host] = [&["--p", "8"][..], &["--port", "ppe"]].map(|flags| run(&folder, flags));
    assert_eq!(spes["checksum"], host["checksum"]);
    assert_eq!(host["offloads"], 0);
}

#[test]
fn a_list_in_a_file_is_ranked_and_its_flaws_are_named_by_their_place() {
    let folder = Folder::new();
    folder.write("list.csv", "node,successor,value\n0,2,5\n1,,7\n2,1,9\n");
    let flags = ["--input", "list.csv", "--operation", "max"];
    let found = run(&folder, &flags);
    assert_eq!((&found["nodes"], &found["wrong"]), (&3.into(), &0.into()));
    let check = |text: &str, message: &str| {
        folder.write("flawed.txt", text);
        folder.refuses(&[&EMULATE[..], &["--input", "flawed.txt"]].concat(), message);
    };
    check(
        "1\n2\n0\n",
        "flawed.txt:3:1: found node 2 leading back to node 0, and no last node, expected one node \
         with -1 or nothing for its successor",
    );
    check(
        "1\n-1\n3\n-1\n",
        "flawed.txt:3:1: found a second head: node 2, like node 0, is nobody's successor, expected \
         one list, with one head and one end",
    );
    check(
        "1\n1\n-1\n",
        "flawed.txt:2:1: found node 1 after node 1, and after node 0, expected every node after one \
         other at most",
    );
    check(
        "1\n9\n-1\n",
        "flawed.txt:2:1: found successor 9, expected a node from 0 to 2, or -1 or nothing for the end",
    );
}

#[test]
fn what_it_cannot_do_is_named_by_its_flag() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&EMULATE[..5], flags].concat(), message);
    };
    check(&["--sublists", "0"], "--sublists: found 0, expected 1 to 512");
    check(&["--buffers", "17"], "--buffers: found 17, expected 1 to 16");
    check(&["--m", "2"], "--m: found 2, expected 1: one process follows the heads of the sublists");
    check(&["--nodes", "0"], "--nodes: found 0, expected 1 to 2^30");
    check(&["--port", "naive"], "--port: found naive, expected tuned or ppe");
}

#[test]
fn a_study_chooses_what_runs_nearly_as_fast_as_anything() {
    let folder = Folder::new();
    let nodes = if testing::share() < 1.0 { "20000" } else { "60000" };
    let study = ["study", "--app", "list-ranking", "--machine", "ps3", "--nodes", nodes];
    let answer = folder.succeeds(&[&study[..], &["--out", "choices"]].concat());
    assert!(answer.contains("Run p = ") && answer.contains("--sublists "), "{answer}");
    let summary = folder.read_json("choices/summary.json");
    let model = &summary["models"][0];
    assert_eq!((&model["model"], &summary["configurations"]), (&"threads".into(), &105.into()));
    let regret = model["regret_percent"].as_f64().expect("a number");
    assert!((0.0..2.0).contains(&regret), "{regret} %");
    let error = model["mean_error_percent"].as_f64().expect("a number");
    assert!(error < 20.0, "{error} %");
    assert!(folder.read("choices/choices.svg").contains("by the formula alone"));
    assert!(folder.read("choices/threads.csv").starts_with("heads,p,sublists,buffers,nodes,"));
}

#[test]
fn columns_of_any_table_are_drawn_as_curves() {
    let folder = Folder::new();
    folder.write("t.csv", "kind,n,time_s,errors\na,1,2e-3,4\na,2,1e-3,3\nb,1,5e-3,2\nb,2,4e-3,1\n");
    let plot = ["plot", "--kind", "curves", "--table", "t.csv", "--out", "t.svg"];
    let columns = ["--x", "n", "--y", "time_s,errors", "--by", "kind"];
    folder.succeeds(&[&plot[..], &columns].concat());
    let picture = folder.read("t.svg");
    assert!(picture.contains("time [ms]") && picture.contains(">errors<"), "{picture}");
    let refused = [&plot[..], &["--x", "n"]].concat();
    folder.refuses(
        &refused,
        "plot --kind curves: no --y; give --table FILE, --x COLUMN and --y COLUMN",
    );
    let unknown = [&plot[..], &["--x", "m", "--y", "time_s"]].concat();
    let columns = "found the columns kind, n, time_s, errors, expected a column \"m\"";
    folder.refuses(&unknown, &format!("t.csv:1:1: {columns}"));
}
