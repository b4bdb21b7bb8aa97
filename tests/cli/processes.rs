//! Signals and pipes by system calls: the programs `kill` and `mkfifo` are not everywhere.

use std::path::Path;

pub use nix::sys::signal::Signal;
use nix::sys::signal::kill;
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

/// Sends a signal to a process that is there.
pub fn send(signal: Signal, process: u32) {
    let process = Pid::from_raw(process.try_into().expect("a process has a small number"));
    kill(process, signal).expect("the process is there");
}

/// Makes a pipe that has a name in a folder.
pub fn fifo(path: &Path) {
    mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).expect("the folder can be written");
}
