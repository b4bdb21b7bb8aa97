//! `mmgp emulate synthetic`, `list-ranking` and `sgemm`.

use crate::Folder;

const SYNTHETIC: [&str; 7] =
    ["emulate", "--app", "synthetic", "--offloads", "200", "--format", "json"];

fn synthetic(folder: &Folder, flags: &[&str]) -> serde_json::Value {
    folder.json(&[&SYNTHETIC[..], flags].concat())
}

fn number(run: &serde_json::Value, name: &str) -> f64 {
    run[name].as_f64().expect("a number")
}

#[test]
fn a_run_takes_what_it_is_told_and_says_what_accelerators_were_idle() {
    let flags = ["--streams", "2", "--task-us", "50", "--ppe-us", "20", "--m", "1", "--p", "1"];
    let run = synthetic(&Folder::new(), &flags);
    assert_eq!((&run["app"], &run["offloads"]), (&"synthetic".into(), &400.into()));
    let turn = 1e6 * number(&run, "time_s") / 400.0;
    assert!((70.4..71.0).contains(&turn), "{turn}");
    let idle = number(&run, "apu_idle_per_offload_us");
    assert!((20.2..21.0).contains(&idle), "{idle}");
}

#[test]
fn a_scheduler_decides_how_many_accelerators_are_busy() {
    let folder = Folder::new();
    let idle = |scheduler: &str| {
        let place = ["--streams", "6", "--m", "6", "--p", "1", "--machine", "ps3"];
        let run = synthetic(&folder, &[&place[..], &["--scheduler", scheduler]].concat());
        number(&run, "apu_idle_per_offload_us")
    };
    let [spins, sleeps, yields] = ["linux", "mbox", "ynr"].map(idle);
    assert!(yields < sleeps && sleeps < 0.5 * spins, "{yields} {sleeps} {spins}");
}

#[test]
fn durations_come_from_a_trace() {
    let folder = Folder::with("turns.csv", "turn,ppe_us,task_us\n1,10,30\n2,20,70\n");
    let flags = ["--distribution", "trace:turns.csv", "--streams", "1", "--m", "1", "--p", "1"];
    let turn = 1e6 * number(&synthetic(&folder, &flags), "time_s") / 200.0;
    assert!((65.4..66.0).contains(&turn), "{turn}");

    folder.write("turns.csv", "turn,ppe_us\n1,10\n");
    let missing = [&SYNTHETIC[..], &flags].concat();
    folder.refuses(
        &missing,
        "turns.csv:1:1: found the columns turn, ppe_us, expected a column \"task_us\"",
    );
}

#[test]
fn what_synthetic_is_told_wrongly_is_named_by_its_flag() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&SYNTHETIC[..], &["--m", "1", "--p", "1"], flags].concat(), message);
    };
    check(&["--task-us=-4"], "--task-us: found -0.000004 s, expected 0 to 1000 s");
    check(&["--shared", "2"], "--shared: found 2, expected 0 to 1");
    check(&["--streams", "0"], "--streams times --offloads: found 0, expected 1 to 2^32");
}

#[test]
fn a_study_chooses_where_it_is_fastest() {
    let folder = Folder::new();
    let flags = ["--app", "synthetic", "--machine", "ps3", "--offloads", "50", "--streams", "12"];
    let told = folder.succeeds(&[&["study"], &flags[..], &["--shared", "0.9"]].concat());
    assert!(told.contains("is the fastest of all that ran"), "{told}");
}

const LIST_RANKING: [&str; 7] =
    ["emulate", "--app", "list-ranking", "--format", "json", "--nodes", "3000"];

fn list_ranking(folder: &Folder, flags: &[&str]) -> serde_json::Value {
    folder.json(&[&LIST_RANKING[..], flags].concat())
}

#[test]
fn a_run_tells_its_four_steps_and_that_every_prefix_is_right() {
    let folder = Folder::new();
    for order in ["random", "ordered"] {
        let flags = ["--order", order, "--sublists", "16", "--buffers", "2", "--p", "4"];
        let run = list_ranking(&folder, &flags);
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
    let [spes, host] =
        [&["--p", "8"][..], &["--port", "ppe"]].map(|flags| list_ranking(&folder, flags));
    assert_eq!(spes["checksum"], host["checksum"]);
    assert_eq!(host["offloads"], 0);
}

#[test]
fn a_list_in_a_file_is_ranked_and_its_flaws_are_named_by_their_place() {
    let folder = Folder::new();
    folder.write("list.csv", "node,successor,value\n0,2,5\n1,,7\n2,1,9\n");
    let flags = ["--input", "list.csv", "--operation", "max"];
    let found = list_ranking(&folder, &flags);
    assert_eq!((&found["nodes"], &found["wrong"]), (&3.into(), &0.into()));
    let check = |text: &str, message: &str| {
        folder.write("flawed.txt", text);
        folder.refuses(&[&LIST_RANKING[..], &["--input", "flawed.txt"]].concat(), message);
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
fn what_list_ranking_cannot_do_is_named_by_its_flag() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&LIST_RANKING[..5], flags].concat(), message);
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

const SGEMM: [&str; 5] = ["emulate", "--app", "sgemm", "--format", "json"];

#[test]
fn a_product_tells_how_fast_it_was_and_how_right_it_is() {
    let flags = ["--size", "256", "--m", "1", "--p", "2"];
    let run = Folder::new().json(&[&SGEMM[..], &flags].concat());
    assert_eq!((&run["app"], &run["order"]), (&"sgemm".into(), &256.into()));
    let number = |name: &str| run[name].as_f64().expect("a number");
    let gflops = number("gflops");
    assert!((gflops - 2e-9 * 256.0_f64.powi(3) / number("time_s")).abs() < 1e-9 * gflops);
    // Two SPEs of 25.6 GFLOP/s each.
    assert!((40.0..51.2).contains(&gflops), "{gflops}");
    let error = number("largest_error");
    assert!(0.0 < error && error < 256.0 / f64::from(1 << 23), "{error}");
}

#[test]
fn what_sgemm_cannot_do_is_named_by_its_flag() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&SGEMM[..], flags].concat(), message);
    };
    check(&["--size", "100"], "--size: found 100, expected a multiple of 64 from 64 to 4096");
    check(&["--m", "2"], "--m: found 2, expected 1, which starts all SPEs: p is how many");
    for (flag, value) in [("--input", "sim12"), ("--tree", "x.nwk"), ("--port", "ppe")] {
        let run = folder.mmgp(&[&SGEMM[..], &[flag, value]].concat());
        let expected = format!("error: unexpected argument '{flag}'");
        assert!(run.code == Some(2) && run.stderr.starts_with(&expected), "{}", run.stderr);
    }
}

#[test]
fn a_study_has_nothing_to_choose() {
    let expected = "a program of several processes, or list-ranking; of this one `mmgp complexity` \
                    says what binds it";
    let message = format!("study: found sgemm, expected {expected}");
    Folder::new().refuses(&["study", "--app", "sgemm"], &message);
}
