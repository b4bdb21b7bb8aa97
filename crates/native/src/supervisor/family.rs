//! All processes that descend from this one, and their end.
//!
//! This process is the one that children without a parent are given to (`prctl(2)`,
//! `PR_SET_CHILD_SUBREAPER`), so that whatever a command starts stays among its descendants, also what
//! has left the command's process group.

use std::path::PathBuf;

use mmgp_base::table::{self, Source};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Takes in what loses its parent. Only Linux can.
pub(crate) fn adopt() {
    #[cfg(target_os = "linux")]
    // Without it, what leaves its group is not found; nothing else changes.
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Asks a process group to end.
pub(super) fn ask(group: u32) {
    let _ = killpg(pid(group), Signal::SIGTERM);
}

/// Ends a process group at once, and whatever else descends from this process.
pub(super) fn end(group: u32) {
    let _ = killpg(pid(group), Signal::SIGKILL);
    for descendant in descendants() {
        let _ = kill(descendant, Signal::SIGKILL);
    }
}

/// Ends and buries everything that is left; how many processes that were.
pub(super) fn bury() -> u64 {
    let mut count = 0;
    loop {
        for descendant in descendants() {
            let _ = kill(descendant, Signal::SIGKILL);
        }
        // What is killed is waited for; then its children are ours, if it had any.
        match waitpid(None::<Pid>, Some(WaitPidFlag::empty())) {
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => count += 1,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return count,
        }
    }
}

/// Whether anything is left.
pub(super) fn is_left() -> bool {
    !matches!(waitpid(None::<Pid>, Some(WaitPidFlag::WNOHANG)), Err(Errno::ECHILD))
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(id.cast_signed())
}

/// All descendants of this process, as Linux lists them.
fn descendants() -> Vec<Pid> {
    let mut found = Vec::new();
    let mut parents = vec![Pid::this()];
    while let Some(parent) = parents.pop() {
        for child in children(parent) {
            found.push(child);
            parents.push(child);
        }
    }
    found
}

/// The children of all threads of a process.
fn children(parent: Pid) -> Vec<Pid> {
    let tasks = PathBuf::from(format!("/proc/{parent}/task"));
    let of_task = |task: String| {
        let file = tasks.join(task).join("children");
        let text = Source::read(&file).map(|it| it.text).unwrap_or_default();
        let ids = text.split_whitespace().filter_map(|id| id.parse().ok());
        ids.map(Pid::from_raw).collect::<Vec<_>>()
    };
    table::names_in(&tasks).into_iter().flat_map(of_task).collect()
}
