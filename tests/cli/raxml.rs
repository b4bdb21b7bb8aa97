//! `mmgp emulate --app raxml`

use super::Folder;

const SHORT: [&str; 8] =
    ["emulate", "--app", "raxml", "--input", "sim12", "--inferences", "1", "--bootstraps"];

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_run_as_json_says_what_each_task_found() {
    let place = ["2", "--m", "2", "--p", "2", "--format", "json"];
    let run = json(&Folder::new().succeeds(&[&SHORT[..], &place].concat()));
    let names: Vec<&str> = run["functions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|function| function["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["newview", "makenewz", "evaluate"]);
    let tasks = run["tasks"].as_array().expect("a list");
    let kinds: Vec<&str> =
        tasks.iter().map(|task| task["kind"].as_str().expect("a name")).collect();
    assert_eq!(kinds, ["inference", "bootstrap", "bootstrap"]);
    assert_eq!(tasks[0]["log_likelihood"], run["log_likelihood"]);
    assert_eq!((&run["model"], &run["port"]), (&"GTRGAMMA".into(), &"2006".into()));
    let tree = run["tree"].as_str().expect("a tree");
    assert!(tree.ends_with(";") && tree.matches(',').count() == 11, "{tree}");
}

#[test]
fn the_ports_and_places_find_the_same_trees() {
    let folder = Folder::new();
    folder.succeeds(&["simulate-alignment", "--taxa=8", "--sites=200", "--out=small.phy"]);
    let search = ["emulate", "--app", "raxml", "--input", "small.phy", "--inferences", "1"];
    let found = |place: &[&str]| {
        let rest = ["--bootstraps", "0", "--format", "json"];
        let text = folder.succeeds(&[&search[..], &rest, place].concat());
        json(&text)["log_likelihood"].as_f64().expect("a number")
    };
    let of_2006 = found(&["--m", "1", "--p", "3"]);
    for port in ["naive", "2006", "tuned", "ppe"] {
        let other = found(&["--port", port]);
        assert!((other / of_2006 - 1.0).abs() < 1e-9, "{port}: {other} for {of_2006}");
    }
}

#[test]
fn code_of_another_compiler_runs_faster_on_the_host_and_is_gccs_where_nothing_is_said() {
    let time = |compiler: &[&str]| {
        let host = ["0", "--format", "json", "--port", "ppe"];
        let text = Folder::new().succeeds(&[&SHORT[..], &host, compiler].concat());
        json(&text)["time_s"].as_f64().expect("a number")
    };
    let [gcc, ideal, xlc] =
        ["gcc", "ideal", "xlc"].map(|compiler| time(&["--host-compiler", compiler]));
    assert!(gcc > ideal && ideal > xlc, "{gcc} {ideal} {xlc}");
    assert_eq!(gcc, time(&[]));
}

#[test]
fn a_bootstrap_takes_longer_with_the_columns_that_it_did_not_draw() {
    let time = |columns: &[&str]| {
        let alone = ["emulate", "--app", "raxml", "--input", "sim12", "--inferences", "0"];
        let rest = ["--bootstraps", "1", "--format", "json"];
        let run = json(&Folder::new().succeeds(&[&alone[..], &rest, columns].concat()));
        run["time_s"].as_f64().expect("a number")
    };
    let [all, drawn] = ["all", "drawn"].map(|it| time(&["--bootstrap-columns", it]));
    assert!(all > 1.1 * drawn, "{all} {drawn}");
    assert_eq!(time(&[]), all, "as the papers");
}

#[test]
fn trees_go_to_a_folder_and_one_of_them_can_be_the_start() {
    let folder = Folder::new();
    folder.succeeds(&[&SHORT[..], &["1", "--out", "trees"]].concat());
    for file in ["info.txt", "best_tree.nwk", "inferences.nwk", "bootstraps.nwk"] {
        assert!(!folder.read(&format!("trees/{file}")).is_empty(), "{file}");
    }
    folder.succeeds(&[&SHORT[..], &["0", "--start", "trees/best_tree.nwk"]].concat());
}

#[test]
fn no_task_is_refused() {
    let message = "tasks: found no inference and no bootstrap, expected at least one of either";
    let none = ["emulate", "--app", "raxml", "--inferences", "0", "--bootstraps", "0"];
    Folder::new().refuses(&none, message);
}

#[test]
fn either_number_of_tasks_has_its_default_without_the_other() {
    let folder = Folder::new();
    let counts = |given: [&str; 2]| {
        let run = ["emulate", "--app", "raxml", "--input", "sim12", "--format", "json"];
        let run = json(&folder.succeeds(&[&run[..], &given].concat()));
        ["inferences", "bootstraps"].map(|kind| run[kind].as_u64().expect("a number"))
    };
    assert_eq!(counts(["--bootstraps", "1"]), [1, 1]);
    assert_eq!(counts(["--inferences", "2"]), [2, 3]);
}

#[test]
fn bootstraps_alone_have_no_best_tree() {
    let folder = Folder::new();
    let run = "emulate --app raxml --input sim12 --inferences 0 --bootstraps 1";
    let run =
        |more: &[&str]| folder.succeeds(&[&run.split(' ').collect::<Vec<_>>(), more].concat());
    let text = run(&["--out", "trees"]);
    assert!(text.contains("\nno best tree: ") && !text.contains("log_likelihood"), "{text}");
    assert!(!folder.path("trees/best_tree.nwk").exists());
    assert_eq!(folder.read("trees/bootstraps.nwk").lines().count(), 1);
    let report = json(&run(&["--format", "json"]));
    for field in ["tree", "log_likelihood"] {
        assert_eq!(report.get(field), Some(&serde_json::Value::Null), "{field}");
    }
    let csv = run(&["--format", "csv"]);
    let (names, values) = csv.split_once('\n').expect("two lines");
    let column = names.split(',').position(|name| name == "log_likelihood").expect("a column");
    assert_eq!(values.split(',').nth(column), Some(""));
}
