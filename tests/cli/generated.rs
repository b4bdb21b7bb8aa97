//! The manual pages and completions that the program prints.

use std::process::Command;

use crate::Folder;

#[test]
fn every_command_has_a_manual_page_with_examples() {
    let pages = Folder::new();
    pages.succeeds(&["man", "--out", "."]);
    let names = pages.files();
    let mut expected = vec!["mmgp.1".to_string()];
    for command in mmgp::cli::command().get_subcommands() {
        let name = command.get_name();
        expected.push(format!("mmgp-{name}.1"));
        for program in command.get_subcommands() {
            let name = format!("{name}-{}", program.get_name());
            let tools = program.get_subcommands().map(clap::Command::get_name);
            expected.extend(tools.map(|tool| format!("mmgp-{name}-{tool}.1")));
            expected.push(format!("mmgp-{name}.1"));
        }
    }
    expected.sort();
    assert_eq!(names, expected);
    for name in &names {
        let page = pages.read(name);
        assert!(page.starts_with(".ie"), "{name}: {page}");
        assert!(page.contains("\n.SH EXAMPLES\n.nf\n  mmgp"), "{name}: {page}");
    }
    assert_eq!(pages.read("mmgp.1"), pages.succeeds(&["man"]));
}

#[test]
fn every_shell_has_completions_of_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = folder.succeeds(&["completions", shell]);
        for command in mmgp::cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(completions.contains(name), "{shell} does not know {name}");
        }
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
        return testing::skipped("bash");
    };
    assert_eq!(commands, "predict");
    assert_eq!(completed("study pbpi --mach", "pbpi", "--mach").as_deref(), Some("--machine"));
    let schedulers = completed("emulate pbpi --scheduler ''", "--scheduler", "");
    let all =
        "edtlp llp edtlp-llp oracle mgps linux ynr sled work-stealing mbox callback mmgp-guided";
    assert_eq!(schedulers.as_deref(), Some(all));
}
