//! All processes that descend from this one, and their end.
//!
//! This process is the one that children without a parent are given to (`prctl(2)`,
//! `PR_SET_CHILD_SUBREAPER`), so that whatever a command starts stays among its descendants, also what
//! has left the command's process group. What outlived a supervisor that was killed is found by a
//! variable in its environment.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mmgp_base::table::{self, Source};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::clock::Stopwatch;

/// How long what was asked to end may take before it is ended, and how long that may take: a launcher
/// that ends its processes on other computers needs some seconds.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// How long what a command left behind may take to end by itself.
const LINGERING: Duration = Duration::from_millis(20);

/// Time between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(1);

/// Takes in what loses its parent. Only Linux can.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    // Without it, what leaves its group is not found; nothing else changes.
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Asks a process group to end.
pub(super) fn ask(group: u32) {
    let group = Pid::from_raw(group.cast_signed());
    let _ = killpg(group, Signal::SIGTERM);
    // What is stopped does not hear.
    let _ = killpg(group, Signal::SIGCONT);
}

/// Ends a process group at once, and whatever else descends from this process.
pub(super) fn end(group: u32) {
    let _ = killpg(Pid::from_raw(group.cast_signed()), Signal::SIGKILL);
    send(&descendants(), Signal::SIGKILL);
}

/// Sees to it that nothing is left: waits a moment for what ends by itself, asks the rest to end and
/// gives it so long, and ends it. How many processes had to be asked.
pub(super) fn wind_up(grace: Duration) -> u64 {
    if !is_left_after(LINGERING) {
        return 0;
    }
    let left = descendants();
    send(&left, Signal::SIGTERM);
    send(&left, Signal::SIGCONT);
    if is_left_after(grace) {
        bury();
    }
    left.len() as u64
}

/// Ends and buries everything that is left, but for what does not let itself be ended.
pub(super) fn bury() {
    let watch = Stopwatch::start();
    loop {
        // Children of what ended since the last look are ours by now.
        send(&descendants(), Signal::SIGKILL);
        if !is_left() || watch.left_of(GRACE).is_zero() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits so long for the end of all; whether anything is left.
fn is_left_after(most: Duration) -> bool {
    let watch = Stopwatch::start();
    while is_left() {
        if watch.left_of(most).is_zero() {
            return true;
        }
        std::thread::sleep(PAUSE);
    }
    false
}

/// Buries what has ended; whether anything is left.
fn is_left() -> bool {
    loop {
        match waitpid(None::<Pid>, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

fn send(to: &[Pid], signal: Signal) {
    for &process in to {
        let _ = kill(process, signal);
    }
}

/// All descendants of this process.
pub(super) fn descendants() -> Vec<Pid> {
    let this = Pid::this();
    // Not every Linux lists the children of a process.
    let lists = format!("/proc/{this}/task/{this}/children");
    if Path::new(&lists).exists() {
        below(this, listed_children)
    } else {
        let all = parents();
        let of = |parent| all.iter().filter(move |it| it.1 == parent).map(|it| it.0).collect();
        below(this, of)
    }
}

fn below(ancestor: Pid, children: impl Fn(Pid) -> Vec<Pid>) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        let children = children(parent);
        found.extend(&children);
        parents.extend(children);
    }
    found
}

/// The children of all threads of a process, as Linux lists them.
fn listed_children(parent: Pid) -> Vec<Pid> {
    let tasks = PathBuf::from(format!("/proc/{parent}/task"));
    let of_task = |task: String| {
        let file = tasks.join(task).join("children");
        let text = Source::read(&file).map(|it| it.text).unwrap_or_default();
        let ids = text.split_whitespace().filter_map(|id| id.parse().ok());
        ids.map(Pid::from_raw).collect::<Vec<_>>()
    };
    table::names_in(&tasks).into_iter().flat_map(of_task).collect()
}

/// All processes of this computer that can be seen.
fn processes() -> impl Iterator<Item = Pid> {
    let names = table::names_in(Path::new("/proc")).into_iter();
    names.filter_map(|name| name.parse().ok()).map(Pid::from_raw)
}

/// What a file of `/proc` holds, which need not be UTF-8; nothing where the process has ended.
fn bytes(process: Pid, name: &str) -> Vec<u8> {
    // What could not be read to its end is as good as gone.
    table::bytes(Path::new(&format!("/proc/{process}/{name}"))).unwrap_or_default()
}

/// Every process with its parent.
fn parents() -> Vec<(Pid, Pid)> {
    let with_parent = |process| {
        let line = bytes(process, "stat");
        Some((process, parent_in(&String::from_utf8_lossy(&line))?))
    };
    processes().filter_map(with_parent).collect()
}

/// The parent in a line as `7 (a name) S 1 ...`; the name may hold anything.
fn parent_in(stat: &str) -> Option<Pid> {
    let after_name = stat.rsplit_once(')')?.1;
    after_name.split_whitespace().nth(1)?.parse().ok().map(Pid::from_raw)
}

/// Ends all processes in whose environment a variable has this value: what an earlier supervisor
/// started, and was killed before it could end it.
pub(super) fn end_marked(name: &str, value: &OsStr) {
    let mark = [name.as_bytes(), b"=", value.as_bytes()].concat();
    let watch = Stopwatch::start();
    let mut signal = Signal::SIGTERM;
    loop {
        let left: Vec<Pid> = processes().filter(|&it| has_in_environment(it, &mark)).collect();
        if left.is_empty() || watch.left_of(2 * GRACE).is_zero() {
            return;
        }
        send(&left, signal);
        send(&left, Signal::SIGCONT);
        if watch.left_of(GRACE).is_zero() {
            signal = Signal::SIGKILL;
        }
        std::thread::sleep(10 * PAUSE);
    }
}

/// Whether a process was started with this in its environment; not, once it has ended.
fn has_in_environment(process: Pid, mark: &[u8]) -> bool {
    process != Pid::this() && bytes(process, "environ").split(|&it| it == 0).any(|it| it == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_found_whatever_a_process_is_called() {
        assert_eq!(parent_in("7 (a) b (c)) S 12 7 7 0"), Some(Pid::from_raw(12)));
        assert_eq!(parent_in("7 (sh"), None);
        let all = parents();
        let of = |child: Pid| all.iter().find(|it| it.0 == child).map(|it| it.1);
        assert_eq!(of(Pid::this()), Some(Pid::parent()));
    }

    #[test]
    fn both_ways_to_find_children_find_the_same() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("it starts");
        let id = Pid::from_raw(child.id().cast_signed());
        let all = parents();
        let of = |parent| all.iter().filter(move |it| it.1 == parent).map(|it| it.0).collect();
        assert!(below(Pid::this(), of).contains(&id));
        assert!(below(Pid::this(), listed_children).contains(&id));
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }
}
