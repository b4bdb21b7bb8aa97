//! How a command ends that is told to.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::kill;
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

use crate::{Folder, study};
use nix::sys::signal::Signal::{SIGHUP, SIGINT, SIGTERM};

pub use nix::sys::signal::Signal;

/// Asks again and again for up to ten seconds whether something has come to pass.
pub fn wait_for<T>(mut happened: impl FnMut() -> Option<T>) -> Option<T> {
    (0..1000).find_map(|_| {
        let found = happened();
        if found.is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        found
    })
}

/// Starts a command by `env`, which sets what it does about signals, and waits until it obeys
/// signals and itself waits for something.
fn waiting(folder: &Folder, env: &str, arguments: &[&str]) -> Child {
    let mut command = Command::new("env");
    command.current_dir(&folder.0).args([env, env!("CARGO_BIN_EXE_mmgp")]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let is_waiting = || {
        let text = std::fs::read_to_string(&status).expect("it runs");
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        let caught = u64::from_str_radix(caught.trim(), 16).expect("a mask");
        const SIGTERM: u64 = 1 << 14;
        (caught & SIGTERM > 0 && text.contains("State:\tS")).then_some(())
    };
    assert_eq!(wait_for(is_waiting), Some(()), "{arguments:?} does not wait");
    child
}

/// The exit code of a command that ends by itself; none of one that a signal ends.
pub fn code(mut child: Child) -> Option<i32> {
    let status = wait_for(|| child.try_wait().expect("its state"));
    let _ = child.kill();
    status.expect("it ends").code()
}

/// A pipe that nobody reads.
fn pipe() -> Folder {
    let folder = Folder::new();
    fifo(&folder.path("pipe"));
    folder
}

const AS_USUAL: &str = "--default-signal=HUP,INT,TERM";
const PREDICT: [&str; 5] = ["predict", "--params", "pbpi-qs20", "--out", "pipe"];

#[test]
fn the_exit_code_tells_which_signal_it_was_while_a_pipe_waits_for_its_reader() {
    let trace = ["emulate", "--input", "sim12", "--generations", "1", "--trace", "pipe"];
    for arguments in [&PREDICT[..], &trace] {
        for (signal, expected) in [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] {
            let folder = pipe();
            let child = waiting(&folder, AS_USUAL, arguments);
            send(signal, child.id());
            assert_eq!(code(child), Some(expected), "{arguments:?} {signal}");
            assert_eq!(folder.files(), ["pipe"]);
        }
    }
}

#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let folder = pipe();
    let child = waiting(&folder, "--ignore-signal=HUP", &PREDICT);
    // Were it obeyed, it would be so before what is sent after it.
    send(SIGHUP, child.id());
    send(SIGTERM, child.id());
    assert_eq!(code(child), Some(143));
}

/// Interrupts a long study as soon as it has written `file`: it ends at once with 130, and what is
/// there, in the folder of what is not finished, is whole.
fn check_interrupt(file: &str) {
    let folder = Folder::new();
    let arguments = ["study", "--input", "sim24", "--generations", "20000", "--out", "."];
    let mut command = folder.command(&arguments);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    while !folder.path("unfinished").join(file).exists() {
        assert_eq!(child.try_wait().expect("its state"), None, "ended before {file} was written");
        std::thread::sleep(Duration::from_millis(1));
    }
    send(SIGINT, child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    let files = study::files_below(&folder);
    assert!(files.contains(&format!("unfinished/{file}")), "{files:?}");
    for name in &files {
        assert!(name.starts_with("unfinished/"), "{name} was left behind");
        check_whole(&folder, name);
    }
}

fn check_whole(folder: &Folder, name: &str) {
    let text = folder.read(name);
    let is_log = name.ends_with(".jsonl") && text.is_empty();
    assert!(text.ends_with('\n') || is_log, "{name} ends within a line");
    match name.rsplit_once('.') {
        Some((_, "csv")) => {
            let widths: Vec<usize> = text.lines().map(|row| row.split(',').count()).collect();
            assert!(widths.len() > 1 && widths.iter().all(|&width| width == widths[0]), "{name}");
        }
        Some((_, "toml")) => {
            folder.succeeds(&["predict", "--params", name, "--top", "1"]);
        }
        Some((_, "json" | "jsonl")) => {
            let mut values = serde_json::Deserializer::from_str(&text).into_iter();
            assert!(values.all(|it: Result<serde_json::Value, _>| it.is_ok()), "{name}");
        }
        _ => panic!("{name} was left behind"),
    }
}

#[test]
fn whoever_interrupts_a_study_finds_whole_files_only() {
    check_interrupt("alpha.csv");
    check_interrupt("collective.csv");
}

/// A run of minutes, with its trace.
const LONG: [&str; 6] = ["emulate", "--input", "sim24", "--generations", "1000000", "--trace"];

#[test]
fn an_interrupted_run_leaves_no_part_of_a_trace() {
    let folder = Folder::new();
    let arguments = [&LONG[..], &["t.json"]].concat();
    let mut child = folder.command(&arguments).stderr(Stdio::null()).spawn().expect("it starts");
    for _ in 0..1000 {
        let part = folder.files().pop();
        let size = part.and_then(|part| std::fs::metadata(folder.path(&part)).ok());
        if size.is_some_and(|part| part.len() > 0) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let files = folder.files();
    assert!(files.len() == 1 && files[0].ends_with(".part"), "{files:?}");
    send(SIGINT, child.id());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(folder.files(), Vec::<String>::new());
}

/// Sends a signal to a process that is there.
pub fn send(signal: Signal, process: u32) {
    let process = Pid::from_raw(process.try_into().expect("a process has a small number"));
    kill(process, signal).expect("the process is there");
}

/// Makes a pipe that has a name in a folder.
pub fn fifo(path: &Path) {
    mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).expect("the folder can be written");
}
