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
fn a_program_in_c_is_told_the_unit_of_rates_and_gets_the_rates_of_predict() {
    if !has("cc") {
        return;
    }
    let folder = Folder::new("c-rates");
    let grid = [1, 2, 4].into_iter().flat_map(|m| [1, 2, 4].map(|p| (m, p)));
    let rows = grid.map(|(m, p)| {
        format!("{m},{p},{}\n", 864.0 / (3.0 + 0.2 * f64::from(m) + 100.0 / f64::from(m * p)))
    });
    let csv = format!("m,p,ns/day\n{}", rows.collect::<String>());
    std::fs::write(folder.join("rates.csv"), csv).expect("a file of rates can be written");
    let mmgp = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mmgp"));
        output(command.current_dir(folder.join("")).args(arguments))
    };
    let fit = ["fit", "--runs", "rates.csv", "--rate", "ns/day", "--out", "p.toml", "--quiet"];
    mmgp(&fit);
    let text = output(compiled(&folder, "times", &[]).arg(folder.join("p.toml")));
    let predicted = mmgp(&["predict", "--params", "p.toml", "--format", "csv"]);
    // rank,m,p,rate,...: the first is the choice.
    let rows: Vec<Vec<&str>> =
        predicted.lines().skip(1).map(|it| it.split(',').collect()).collect();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("unit 1/(ns/day)"));
    assert_eq!(lines.next(), Some(format!("best {} {}", rows[0][1], rows[0][2]).as_str()));
    for row in rows {
        let begin = format!("{} {} ", row[1], row[2]);
        let line = text.lines().find(|it| it.starts_with(&begin)).expect("it is there");
        let [found, expected] = [&line[begin.len()..], row[3]].map(|it| it.parse::<f64>().unwrap());
        assert!((found / expected - 1.0).abs() < 1e-6, "{line} {expected}");
    }
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
