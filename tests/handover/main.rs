//! What goes to other programs and comes from them: exported code is compiled and run, exported JSON
//! is held to its schema, and the C interface is used from C. Readers are fuzzed by the crate `fuzz`.

#![allow(clippy::disallowed_methods)] // Programs and files for other tools are made here.

mod c_interface;
mod generated;
mod one_verdict;
mod schema;

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder for one test, removed when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mmgp-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        Self(folder)
    }

    fn join(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a program is installed here; without it the caller skips.
fn has(program: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    let found = output.is_ok_and(|output| output.status.success());
    if !found {
        testing::skipped(program);
    }
    found
}

/// Runs a command that must succeed, and gives what it prints.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("the program is there");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}\n{err}", output.status);
    out
}

/// The top folder of the repository.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
