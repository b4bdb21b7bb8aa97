//! The commands as a user runs them: what they print, what they leave behind, how they end.

#![allow(clippy::disallowed_methods)] // Tests make the files that the commands read.

#[cfg(target_os = "linux")]
mod binding;
mod complexity;
mod decisions;
#[cfg(target_os = "linux")]
mod drivers;
#[cfg(unix)]
mod example;
#[cfg(unix)]
mod host;
mod import_profile;
mod import_terms;
mod intake;
mod machine;
mod objective;
mod parameters;
mod phylogeny;
#[cfg(target_os = "linux")]
mod probe;
mod programs;
mod report;
mod schedulers;
#[cfg(target_os = "linux")]
mod signals;
mod study;
mod tables;
mod terminal;
mod trace;
mod transactions;
#[cfg(target_os = "linux")]
mod tune;
#[cfg(target_os = "linux")]
mod tune_ends;
#[cfg(unix)]
mod tune_times;
mod usage;
mod workloads;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A folder of its own for each test, removed when the test is over. Commands run inside it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mmgp-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("the folder for temporary files can be written");
        Self(path)
    }

    /// A folder with one file in it.
    fn with(file: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(file, content);
        folder
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(file), content).expect("the file can be written");
    }

    fn read(&self, file: &str) -> String {
        let path = self.path(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The names of all files, in alphabetical order.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder can be read");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.expect("an entry").file_name().into_string().expect("file names are UTF-8")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// A command that is about to run.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mmgp"));
        command.current_dir(&self.0).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    fn mmgp(&self, arguments: &[&str]) -> Run {
        Run::of(&mut self.command(arguments))
    }

    /// Runs a command whose reader goes after the first line.
    fn left_after_a_line(&self, arguments: &[&str]) -> Run {
        let mut command = self.command(arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stdout = String::new();
        let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
        reader.read_line(&mut stdout).expect("a first line");
        drop(reader);
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Run { code: output.status.code(), stdout, stderr }
    }

    /// Runs a command that must succeed; gives what it printed.
    fn succeeds(&self, arguments: &[&str]) -> String {
        let run = self.mmgp(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        run.stdout
    }

    /// Runs a command that must succeed and prints JSON.
    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.succeeds(arguments)).expect("it prints JSON and nothing else")
    }

    /// A file of JSON.
    fn read_json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).expect("the file is JSON")
    }

    /// Runs a command that must end as bad usage or input with exactly this message, print no
    /// data and leave the folder as it was.
    fn refuses(&self, arguments: &[&str], message: &str) {
        let before = self.files();
        let run = self.mmgp(arguments);
        assert_eq!(run.stderr, format!("error: {message}\n"), "{arguments:?}");
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert_eq!(self.files(), before, "{arguments:?} has written");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a command ended.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Runs a command to its end.
    fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the command can be started");
        let text = |bytes| String::from_utf8(bytes).expect("the command prints UTF-8");
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert!(!stderr.contains("panicked"), "{command:?}: {stderr}");
        Self { code: output.status.code(), stdout, stderr }
    }
}

/// A file of the repository.
fn shipped(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it is shipped")
}
