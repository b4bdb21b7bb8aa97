//! `--app synthetic`

use super::Folder;

const EMULATE: [&str; 7] =
    ["emulate", "--app", "synthetic", "--offloads", "200", "--format", "json"];

fn run(folder: &Folder, flags: &[&str]) -> serde_json::Value {
    folder.json(&[&EMULATE[..], flags].concat())
}

fn number(run: &serde_json::Value, name: &str) -> f64 {
    run[name].as_f64().expect("a number")
}

#[test]
fn a_run_takes_what_it_is_told_and_says_what_accelerators_were_idle() {
    let flags = ["--streams", "2", "--task-us", "50", "--ppe-us", "20", "--m", "1", "--p", "1"];
    let run = run(&Folder::new(), &flags);
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
        let run = run(&folder, &[&place[..], &["--scheduler", scheduler]].concat());
        number(&run, "apu_idle_per_offload_us")
    };
    let [spins, sleeps, yields] = ["linux", "mbox", "ynr"].map(idle);
    assert!(yields < sleeps && sleeps < 0.5 * spins, "{yields} {sleeps} {spins}");
}

#[test]
fn durations_come_from_a_trace() {
    let folder = Folder::with("turns.csv", "turn,ppe_us,task_us\n1,10,30\n2,20,70\n");
    let flags = ["--distribution", "trace:turns.csv", "--streams", "1", "--m", "1", "--p", "1"];
    let turn = 1e6 * number(&run(&folder, &flags), "time_s") / 200.0;
    assert!((65.4..66.0).contains(&turn), "{turn}");

    folder.write("turns.csv", "turn,ppe_us\n1,10\n");
    let missing = [&EMULATE[..], &flags].concat();
    folder.refuses(
        &missing,
        "turns.csv:1:1: found the columns turn, ppe_us, expected a column \"task_us\"",
    );
}

#[test]
fn what_it_is_told_wrongly_is_named_by_its_flag() {
    let folder = Folder::new();
    let check = |flags: &[&str], message: &str| {
        folder.refuses(&[&EMULATE[..], &["--m", "1", "--p", "1"], flags].concat(), message);
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
