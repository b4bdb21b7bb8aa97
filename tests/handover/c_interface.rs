//! Programs in C (`tests/c/interface.c`, `tests/c/pool.c`) against the library that `mmgp.h` describes, run plainly
//! and, where it is there, under valgrind.

use std::path::PathBuf;
use std::process::Command;

use super::{Folder, has, output, repository};

/// The library, which `cargo test` builds as an example beside the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.ancestors().nth(2).expect("tests lie in target/PROFILE/deps");
    let extension = if cfg!(target_os = "macos") { "dylib" } else { "so" };
    let library = profile.join("examples").join(format!("libmmgp.{extension}"));
    assert!(library.exists(), "{} is missing: cargo build --example mmgp", library.display());
    library
}

/// A program of `tests/c`, compiled into a folder.
pub(super) fn compiled(folder: &Folder, name: &str, flags: &[&str]) -> Command {
    let library = library();
    let place = library.parent().expect("a file lies in a folder").to_path_buf();
    let program = folder.join(name);
    let cc = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"];
    output(
        Command::new("cc")
            .args(cc)
            .args(flags)
            .arg("-I")
            .arg(repository().join("include"))
            .arg(repository().join("tests/c").join(name).with_extension("c"))
            .arg(format!("-L{}", place.display()))
            .arg(format!("-Wl,-rpath,{}", place.display()))
            .args(["-lmmgp", "-lm", "-o"])
            .arg(&program),
    );
    Command::new(program)
}

fn parameters() -> PathBuf {
    repository().join("models/published/pbpi-qs20.toml")
}

#[test]
fn a_program_in_c_gets_what_the_header_says_and_nothing_is_allocated_after_loading() {
    if !has("cc") {
        return;
    }
    // Counting needs a libc that offers its own functions under a second name.
    let flags: &[&str] = if cfg!(all(target_os = "linux", target_env = "gnu")) {
        &["-DCOUNT_ALLOCATIONS"]
    } else {
        &[]
    };
    let folder = Folder::new("c-plain");
    let text = output(compiled(&folder, "interface", flags).arg(parameters()));
    assert_eq!(text, "the C interface is as mmgp.h says\n");
}

#[test]
fn threads_in_c_share_a_pool() {
    if !has("cc") {
        return;
    }
    let folder = Folder::new("c-pool");
    let text = output(&mut compiled(&folder, "pool", &[]));
    assert!(text.ends_with("the pool is as mmgp.h says\n"), "{text}");
}

/// What a program prints under valgrind, which must find nothing.
fn under_valgrind(program: &Command, arguments: &[PathBuf]) -> String {
    output(
        Command::new("valgrind")
            .args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all"])
            .arg("--errors-for-leak-kinds=all")
            .arg(program.get_program())
            .args(arguments),
    )
}

#[test]
fn valgrind_finds_neither_an_error_nor_a_leak() {
    if !has("cc") || !has("valgrind") {
        return;
    }
    let folder = Folder::new("c-valgrind");
    let text = under_valgrind(&compiled(&folder, "interface", &[]), &[parameters()]);
    assert_eq!(text, "the C interface is as mmgp.h says\n");
    let text = under_valgrind(&compiled(&folder, "pool", &[]), &[]);
    assert!(text.ends_with("the pool is as mmgp.h says\n"), "{text}");
}

#[test]
fn the_header_is_valid_in_c_and_in_cpp() {
    let header = repository().join("include/mmgp.h");
    for (compiler, flags) in
        [("cc", ["-xc", "-std=c99"].as_slice()), ("c++", ["-xc++", "-std=c++11"].as_slice())]
    {
        if has(compiler) {
            let strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
            output(Command::new(compiler).args(flags).args(strict).arg(&header));
        }
    }
}
