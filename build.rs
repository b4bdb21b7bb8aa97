//! Says which commit a build is of: sets `MMGP_VERSION` to `0.1.0 (ab12cd3)`, with `-dirty` behind
//! the commit where the sources differ from it, or to the plain version where nobody knows.
//!
//! A clone asks git, a package from a registry has the commit in `.cargo_vcs_info.json`. It reads
//! only, and runs again only where HEAD moves or a source changes, which build the crate anew anyway.

#![allow(clippy::disallowed_methods)] // It runs before there is a `table` to open files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a build is made of: a change elsewhere, in a test or a notebook, makes no build dirty.
const SOURCES: [&str; 8] =
    ["Cargo.toml", "Cargo.lock", "build.rs", "src", "crates", "models", "data", "include"];

/// Written by `cargo package`.
const PACKAGED: &str = ".cargo_vcs_info.json";

/// Digits of a commit's hash.
const DIGITS: usize = 7;

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let commit = if root.join(".git").exists() { of_clone(&root) } else { of_package(&root) };
    let version = commit.map_or(version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo:rustc-env=MMGP_VERSION={version}");
    for source in SOURCES.iter().chain([&PACKAGED]) {
        watch(&root.join(source));
    }
}

/// The commit of a clone, where git can be asked.
fn of_clone(root: &Path) -> Option<String> {
    watch_head(root);
    let hash = git(root, &["rev-parse", "HEAD"])?;
    let changes = git(root, &[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    short(&hash, !changes.is_empty())
}

/// The commit that a package was made of.
fn of_package(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join(PACKAGED)).ok()?;
    let (_, after) = text.split_once("\"sha1\"")?;
    let hash = after.split('"').nth(1)?;
    short(hash, text.contains("\"dirty\": true"))
}

fn short(hash: &str, is_dirty: bool) -> Option<String> {
    let digits = hash.get(..DIGITS)?;
    let is_hash = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hash.then(|| format!("{digits}{}", if is_dirty { "-dirty" } else { "" }))
}

/// Watches what changes when HEAD moves: HEAD itself, and the branch it names. Where the branch is
/// packed among others, it has no file of its own before the next commit: the log of HEAD has then.
fn watch_head(root: &Path) {
    let place = |name: &str| git(root, &["rev-parse", "--git-path", name]).map(|it| root.join(it));
    let branch = git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    let branch = branch.and_then(|name| place(&name)).filter(|path| path.exists());
    for path in [place("HEAD"), branch.or_else(|| place("logs/HEAD"))].into_iter().flatten() {
        watch(&path);
    }
}

/// A file that is not there would make every build run this again.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}

/// What git says, or nothing where it is not installed or refuses.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // Another repository may be named by the environment, and `status` would refresh the index.
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    let output = command.arg("--no-optional-locks").arg("-C").arg(root).args(arguments).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_string())
}
