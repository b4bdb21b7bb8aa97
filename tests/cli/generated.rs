//! The manual pages and completions in `generated/`, which are what the commands print.
//!
//! `MMGP_REGENERATE=1 cargo test --release --test cli generated` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Folder;

const SHELLS: [(&str, &str); 5] = [
    ("bash", "mmgp.bash"),
    ("zsh", "_mmgp"),
    ("fish", "mmgp.fish"),
    ("elvish", "mmgp.elv"),
    ("powershell", "_mmgp.ps1"),
];

fn stored(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("generated").join(folder)
}

/// Holds a stored file to what a command printed, or writes it.
fn check(path: &Path, printed: &str) {
    if std::env::var_os("MMGP_REGENERATE").is_some() {
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be written");
        return fs::write(path, printed).expect("it can be written");
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == printed,
        "{} is not what the command prints; write it anew with\n\
         MMGP_REGENERATE=1 cargo test --release --test cli generated",
        path.display()
    );
}

#[test]
fn stored_manual_pages_are_what_the_program_prints() {
    let folder = Folder::new();
    folder.succeeds(&["man", "--out", "pages"]);
    let pages = Folder::new();
    pages.succeeds(&["man", "--out", "."]);
    let names = pages.files();
    let mut expected: Vec<String> = mmgp::cli::command()
        .get_subcommands()
        .map(|command| format!("mmgp-{}.1", command.get_name()))
        .chain(["mmgp.1".to_string()])
        .collect();
    expected.sort();
    assert_eq!(names, expected);
    for name in &names {
        let page = pages.read(name);
        assert_eq!(page, folder.read(&format!("pages/{name}")));
        assert!(page.contains("\n.SH EXAMPLES\n.nf\n  mmgp"), "{name}: {page}");
        check(&stored("man").join(name), &page);
    }
    assert_eq!(pages.read("mmgp.1"), folder.succeeds(&["man"]));
    let others = fs::read_dir(stored("man")).expect("it is there").count();
    assert_eq!(others, names.len(), "a page of a command that is gone is still stored");
}

#[test]
fn stored_completions_are_what_the_program_prints() {
    let folder = Folder::new();
    for (shell, name) in SHELLS {
        check(&stored("completions").join(name), &folder.succeeds(&["completions", shell]));
    }
}

#[test]
fn what_is_generated_depends_on_no_terminal() {
    let folder = Folder::new();
    let printed = |columns: &str, arguments: &[&str]| {
        let mut command = folder.command(arguments);
        let command = command.env("COLUMNS", columns).env("CLICOLOR_FORCE", "1");
        command.output().expect("it starts").stdout
    };
    for arguments in [&["man"][..], &["completions", "zsh"]] {
        assert_eq!(printed("40", arguments), printed("200", arguments), "{arguments:?}");
    }
}

#[test]
fn bash_completes_commands_and_flags() {
    let folder = Folder::new();
    folder.write("mmgp.bash", folder.succeeds(&["completions", "bash"]));
    let completed = |words: &str, previous: &str, word: &str| {
        let program = format!(
            "source mmgp.bash; COMP_WORDS=(mmgp {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _mmgp mmgp '{word}' '{previous}'; echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("bash");
        let output = bash.args(["-c", &program]).current_dir(folder.path("")).output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let Some(commands) = completed("pre", "mmgp", "pre") else {
        return eprintln!("there is no bash to test with");
    };
    assert_eq!(commands, "predict");
    assert_eq!(completed("study --mach", "study", "--mach").as_deref(), Some("--machine"));
    let schedulers = completed("emulate --scheduler ''", "--scheduler", "");
    assert_eq!(schedulers.as_deref(), Some("edtlp linux"));
}
