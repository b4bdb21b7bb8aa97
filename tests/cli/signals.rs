//! How a command ends that is told to.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Folder;

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

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill can be run").success());
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
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status();
    assert!(made.expect("mkfifo can be run").success());
    folder
}

const AS_USUAL: &str = "--default-signal=HUP,INT,TERM";
const PREDICT: [&str; 5] = ["predict", "--params", "pbpi-qs20", "--out", "pipe"];

#[test]
fn the_exit_code_tells_which_signal_it_was_while_a_pipe_waits_for_its_reader() {
    let trace = ["emulate", "--input", "sim12", "--generations", "1", "--trace", "pipe"];
    for arguments in [&PREDICT[..], &trace] {
        for (signal, expected) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
            let folder = pipe();
            let child = waiting(&folder, AS_USUAL, arguments);
            send(&child, signal);
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
    send(&child, "-HUP");
    send(&child, "-TERM");
    assert_eq!(code(child), Some(143));
}
