//! How a search ends that is told to, killed, or left alone, and how it goes on.

use std::process::{Child, Stdio};
use std::time::Duration;

use crate::Folder;
use crate::signals::Signal::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
use crate::signals::send;
use crate::signals::{code, wait_for};
use crate::tune::{log, run, words};

const ONE: &str = "tune --m 1 --p 1 --out out";

/// Ends at once where there is a file `fast`; tells its process before it waits.
const SCRIPT: &str = "[ -e fast ] || { echo $$ > pid.part; mv pid.part pid; sleep 60 & wait; }";

/// A search whose program waits, and that program's process.
fn waiting(folder: &Folder, script: &str) -> (Child, u32) {
    let _ = std::fs::remove_file(folder.path("pid"));
    let mut command = folder.command(&words(ONE, script));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let pid = wait_for(|| std::fs::read_to_string(folder.path("pid")).ok());
    (child, process(&pid.expect("the program runs")))
}

fn process(number: &str) -> u32 {
    number.trim().parse().expect("the number of a process")
}

/// Whether a process, zombies apart, is there.
fn runs(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    status.is_ok_and(|it| !it.contains("State:\tZ"))
}

/// What a search that ends said on standard error, and its exit code.
fn said(mut child: Child) -> (Option<i32>, String) {
    let stderr = child.stderr.take().expect("it is piped");
    let code = code(child);
    (code, std::io::read_to_string(stderr).expect("it is UTF-8"))
}

/// The search goes on where it was; these are the states of all attempts then.
fn goes_on(folder: &Folder, script: &str, expected: &[&str]) {
    folder.write("fast", "");
    let again = run(folder, ONE, script);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let log = log(folder, "out");
    let states: Vec<_> = log.iter().map(|it| it["status"].as_str().expect("a text")).collect();
    assert_eq!(states, expected);
    assert_eq!(folder.read("out/runs.csv").lines().count(), 2);
}

#[test]
fn a_search_that_is_interrupted_says_how_to_go_on_and_leaves_no_process() {
    for (signal, expected) in [(SIGINT, 130), (SIGTERM, 143)] {
        let folder = Folder::new();
        let (search, program) = waiting(&folder, SCRIPT);
        send(signal, search.id());
        let (code, stderr) = said(search);
        assert_eq!(code, Some(expected));
        let line = "interrupted; to go on:\n  ";
        assert!(stderr.contains(line) && stderr.contains(" tune --m 1 --p 1 "), "{stderr}");
        assert!(!runs(program));
        goes_on(&folder, SCRIPT, &["interrupted", "ok"]);
    }
}

#[test]
fn a_program_that_is_ended_together_with_its_search_did_not_fail() {
    let folder = Folder::new();
    let (search, program) = waiting(&folder, SCRIPT);
    send(SIGTERM, program);
    std::thread::sleep(Duration::from_millis(20));
    send(SIGTERM, search.id());
    assert_eq!(said(search).0, Some(143));
    goes_on(&folder, SCRIPT, &["interrupted", "ok"]);
}

#[test]
fn what_concludes_a_run_also_concludes_one_that_is_interrupted() {
    let folder = Folder::new();
    let arguments = format!("{ONE} --conclude");
    let command = |flags: &[&str]| {
        let mut all: Vec<String> = arguments.split(' ').map(Into::into).collect();
        all.extend(flags.iter().map(ToString::to_string));
        all
    };
    let all = command(&["touch concluded", "--", "sh", "-c", SCRIPT]);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut started = folder.command(&all);
    let search = started.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
    wait_for(|| folder.path("pid").exists().then_some(())).expect("the program runs");
    send(SIGINT, search.id());
    assert_eq!(said(search).0, Some(130));
    assert!(folder.path("concluded").exists());
    assert_eq!(log(&folder, "out")[0]["status"], "interrupted");
}

#[test]
fn a_search_that_is_killed_leaves_no_process_and_goes_on() {
    let folder = Folder::new();
    // It writes after it was asked to end.
    let script = format!("trap 'echo asked > asked; exit 1' TERM; {SCRIPT}");
    let (mut search, program) = waiting(&folder, &script);
    search.kill().expect("it runs");
    search.wait().expect("it ends");
    wait_for(|| (!runs(program)).then_some(())).expect("its end");
    assert_eq!(folder.read("asked"), "asked\n");
    goes_on(&folder, &script, &["ok"]);
}

/// The process that runs the commands of a search.
fn supervisor(search: &Child) -> u32 {
    let id = search.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    process(children.expect("Linux lists children").split_whitespace().next().expect("one"))
}

#[test]
fn a_supervisor_that_is_killed_ends_the_search_and_its_program() {
    let folder = Folder::new();
    let (search, program) = waiting(&folder, SCRIPT);
    send(SIGKILL, supervisor(&search));
    let (code, stderr) = said(search);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("error: the process that runs commands: it has ended"), "{stderr}");
    assert!(!runs(program));
    goes_on(&folder, SCRIPT, &["ok"]);
}

#[test]
fn what_outlives_both_is_ended_by_the_next_search_before_its_first_run() {
    let folder = Folder::new();
    let script = format!("! grep -qs State:.[RSDT] /proc/$(cat pid)/status || exit 9; {SCRIPT}");
    let (mut search, program) = waiting(&folder, &script);
    send(SIGKILL, supervisor(&search));
    send(SIGKILL, search.id());
    search.wait().expect("it ends");
    assert!(runs(program));
    goes_on(&folder, &script, &["ok"]);
    assert!(!runs(program));
}

#[test]
fn signals_to_the_supervisor_alone_change_nothing() {
    let folder = Folder::new();
    let (search, program) = waiting(&folder, SCRIPT);
    let supervisor = supervisor(&search);
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        send(signal, supervisor);
    }
    std::thread::sleep(Duration::from_millis(50));
    assert!(runs(supervisor) && runs(program));
    send(SIGINT, search.id());
    assert_eq!(said(search).0, Some(130));
}

#[test]
fn a_folder_is_of_one_search_at_a_time_and_of_one_program() {
    let folder = Folder::new();
    let (search, _) = waiting(&folder, SCRIPT);
    let second = run(&folder, ONE, SCRIPT);
    assert_eq!(second.code, Some(2));
    assert!(second.stderr.contains("out/log.jsonl"), "{}", second.stderr);
    let told = folder.mmgp(&["tell", "--out", "out", "--m", "1", "--p", "1", "--time", "1"]);
    assert_eq!((told.code, &told.stderr), (Some(2), &second.stderr));
    send(SIGINT, search.id());
    said(search);
    let before = folder.read("out/log.jsonl");
    for (arguments, script, flag) in [
        (ONE.to_string(), "true", "command was"),
        (format!("{ONE} --env A=1"), SCRIPT, "--env was none"),
        (format!("{ONE} --check a"), SCRIPT, "--check was none"),
    ] {
        let other = run(&folder, &arguments, script);
        assert_eq!(other.code, Some(2));
        assert!(other.stderr.contains("of another program") && other.stderr.contains(flag));
    }
    assert_eq!(folder.read("out/log.jsonl"), before);
}

#[test]
fn a_search_whose_messages_nobody_reads_goes_on() {
    let folder = Folder::new();
    let arguments = "measure --m 1,2 --p 1 --out out -- true".split(' ').collect::<Vec<_>>();
    let mut child =
        folder.command(&arguments).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(code(child), Some(0));
    assert_eq!(log(&folder, "out").len(), 6);
}
