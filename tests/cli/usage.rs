//! Flags, names, help, what is generated of them, and how a command ends.

use std::process::Command;

use crate::{Folder, Run};

/// The examples below the help of a command: its lines, each of which must be one of the layout.
fn examples(command: &clap::Command, name: &str) -> Vec<String> {
    let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let block = below.split("\n\n").next().and_then(|block| block.strip_prefix("Examples:\n"));
    let Some(block) = block else { panic!("{name} begins not with examples: {below}") };
    // What a shell would read: continued lines are one.
    let joined = block.replace(" \\\n      ", " ");
    let mut found = Vec::new();
    for line in joined.lines() {
        let is_remark = line.starts_with("  # ");
        assert!(is_remark || line.starts_with(&format!("  {name}")), "{name}: {line:?}");
        if !is_remark {
            found.push(line.trim().to_string());
        }
    }
    assert!(block.lines().all(|line| line.chars().count() <= 80), "{name} is too wide: {block}");
    found
}

/// The words of a line of a shell, up to a remark or the file that takes the output.
fn shell_words(line: &str) -> Vec<String> {
    let line = line.split(" > ").next().and_then(|line| line.split(" # ").next());
    let quoted = line.unwrap_or_default().split('\'').enumerate();
    let words = quoted.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(String::from).collect(),
        _ => vec![part.to_string()],
    });
    words.collect()
}

#[test]
fn every_command_says_what_it_does_and_shows_examples_that_can_be_run() {
    let program = mmgp::cli::command();
    let mut commands = vec![("mmgp".to_string(), &program)];
    for command in program.get_subcommands() {
        // The name of a study of this computer is not typed.
        let name = match command.get_name() {
            "on-host" => "mmgp study --machine host".to_string(),
            name => format!("mmgp {name}"),
        };
        for program in command.get_subcommands() {
            let name = format!("{name} {}", program.get_name());
            let tools = program.get_subcommands();
            commands.extend(tools.map(|tool| (format!("{name} {}", tool.get_name()), tool)));
        }
        commands.push((name, command));
    }
    for (name, command) in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(about.len() > 20 && !about.ends_with('.'), "{name}: {about:?}");
        for example in examples(command, &name) {
            let mut words = shell_words(&example);
            if words[1..].starts_with(&["study", "--machine", "host"].map(String::from)) {
                words.splice(1..4, ["on-host".into()]);
            }
            // Where no program is named, it is the usual one.
            let is_named = words.get(2).is_some_and(|word| !word.starts_with('-'));
            let command = words.get(1).and_then(|name| program.find_subcommand(name));
            if command.is_some_and(clap::Command::has_subcommands) && !is_named {
                words.insert(2, "pbpi".into());
            }
            if let Err(error) = program.clone().try_get_matches_from(words) {
                panic!("{example}: {error}");
            }
        }
    }
}

#[test]
fn every_flag_is_explained() {
    for command in mmgp::cli::command().get_subcommands() {
        let programs = || command.get_subcommands();
        let tools = programs().flat_map(clap::Command::get_subcommands);
        for command in [command].into_iter().chain(programs()).chain(tools) {
            for flag in command.get_arguments().filter(|flag| !flag.is_hide_set()) {
                assert!(flag.get_help().is_some(), "{} {}", command.get_name(), flag.get_id());
            }
        }
    }
}

/// A flag of each program that no other has.
const OWN: [(&str, &[&str]); 6] = [
    ("pbpi", &["--chains", "2"]),
    ("raxml", &["--bootstraps", "5"]),
    ("list-ranking", &["--sublists", "8"]),
    ("sweep3d", &["--mk", "5"]),
    ("sgemm", &["--size", "128"]),
    ("synthetic", &["--offloads", "10"]),
];

#[test]
fn a_program_has_its_own_flags_and_no_others() {
    let folder = Folder::new();
    let foreign = OWN.iter().flat_map(|one| OWN.map(|other| (one, other)));
    for ((program, _), (other, flag)) in foreign.filter(|((one, _), (other, _))| one != other) {
        for words in [vec!["emulate", program], vec!["emulate", "--app", program]] {
            let run = folder.mmgp(&[&words[..], flag].concat());
            let expected = format!("error: unexpected argument '{}' found", flag[0]);
            assert!(
                run.code == Some(2) && run.stderr.starts_with(&expected),
                "{program} takes what {other} has: {}",
                run.stderr
            );
        }
    }
    let samples =
        |program: &str| folder.succeeds(&["emulate", program, "-h"]).contains("--samples");
    assert!(samples("pbpi") && !samples("raxml"));
    assert!(!folder.succeeds(&["study", "pbpi", "-h"]).contains("--samples"));
}

#[test]
fn a_program_is_named_before_its_flags_or_by_app_and_is_pbpi_where_nobody_says_it() {
    let folder = Folder::new();
    let synthetic = ["--offloads", "5", "--seed", "3"];
    let [named, by_flag] = [&["emulate", "synthetic"][..], &["emulate", "--app=synthetic"]]
        .map(|words| folder.succeeds(&[words, &synthetic].concat()));
    assert_eq!(named, by_flag);
    let usual = folder.succeeds(&["emulate", "--input", "sim12", "--generations", "1"]);
    assert!(usual.lines().next().is_some_and(|line| line.ends_with(" pbpi")), "{usual}");
    let known = "there is no application \"toy\"; known: pbpi, raxml, list-ranking, sweep3d, sgemm, \
                 synthetic";
    folder.refuses(&["emulate", "toy"], known);
    folder.refuses(&["study", "--app", "toy"], known);
    let two = folder.mmgp(&["emulate", "pbpi", "--app", "raxml"]);
    assert!(two.code == Some(2) && two.stderr.contains("invalid value 'raxml'"), "{}", two.stderr);
}

#[test]
fn the_help_of_a_program_fits_two_screens() {
    let folder = Folder::new();
    let program = mmgp::cli::command();
    for command in program.get_subcommands() {
        for program in command.get_subcommands() {
            for flag in ["-h", "--help"] {
                let words = [command.get_name(), program.get_name(), flag];
                let lines = folder.succeeds(&words).lines().count();
                assert!(lines <= 2 * SCREEN, "{words:?}: {lines} lines");
            }
        }
    }
}

/// Lines of a screen.
const SCREEN: usize = 40;

#[test]
fn help_is_no_wider_than_a_terminal() {
    let folder = Folder::new();
    for command in mmgp::cli::command().get_subcommands() {
        let mut help = folder.command(&["help", command.get_name()]);
        let help = help.env("COLUMNS", "80").output().expect("it starts").stdout;
        let help = String::from_utf8(help).expect("help is UTF-8");
        // A usage line is not wrapped.
        let wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("Usage:");
        let wide: Vec<&str> = help.lines().filter(wide).collect();
        assert!(wide.is_empty(), "{}: {wide:#?}", command.get_name());
    }
}

#[test]
fn a_build_knows_its_commit() {
    let printed = Folder::new().succeeds(&["--version"]);
    assert_eq!(printed, format!("mmgp {}\n", mmgp::VERSION));
    let root = env!("CARGO_MANIFEST_DIR");
    let git = std::process::Command::new("git").args(["-C", root, "rev-parse", "HEAD"]).output();
    let is_clone = std::path::Path::new(root).join(".git").exists();
    match git {
        Ok(git) if is_clone && git.status.success() => {
            let hash = String::from_utf8(git.stdout).expect("a hash is ASCII");
            let commit = format!("{} ({}", env!("CARGO_PKG_VERSION"), &hash[..7]);
            let rest = mmgp::VERSION.strip_prefix(&commit);
            assert!(matches!(rest, Some(")" | "-dirty)")), "{} is not of {commit}", mmgp::VERSION);
        }
        _ => assert!(mmgp::VERSION.starts_with(env!("CARGO_PKG_VERSION"))),
    }
}

#[test]
fn a_mistyped_command_or_flag_is_answered_with_the_nearest() {
    let folder = Folder::new();
    let advice = |arguments: &[&str]| {
        let run = folder.mmgp(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        run.stderr
    };
    assert!(advice(&["studdy"]).contains("a similar subcommand exists: 'study'"));
    assert!(
        advice(&["study", "--machin", "ps3"]).contains("a similar argument exists: '--machine'")
    );
    let text = advice(&["emulate", "--scheduler", "linus"]);
    assert!(text.contains("a similar value exists: 'linux'"), "{text}");
    assert!(advice(&[]).contains("Usage: mmgp <COMMAND>"));
}

#[test]
fn a_folder_that_is_a_file_costs_nothing() {
    let folder = Folder::with("results", "mine");
    for command in [
        &["study", "--out", "results"][..],
        &["bench", "--out", "results"],
        &["validate", "--params", "pbpi-qs20", "--out", "results"],
        &["check-machine", "--out", "results"],
        &["man", "--out", "results"],
    ] {
        folder.refuses(command, "cannot write results: File exists (os error 17)");
    }
    assert_eq!(folder.read("results"), "mine");
}

/// Nothing of that name is known, and the message tells what is.
fn check_unknown(arguments: &[&str], message: &str) {
    Folder::new().refuses(arguments, message);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_and_all_that_are_known() {
    check_unknown(
        &["study", "--machine", "qs2O", "--out", "results"],
        "there is no machine \"qs2O\"; did you mean \"qs20\"? known: ps3, qs20, qs20-cell, qs22, roadrunner",
    );
    check_unknown(
        &["study", "--input", "sim13", "--out", "results"],
        "there is no alignment \"sim13\"; did you mean \"sim12\"? known: sim12, sim24, \
         sim107, sim42",
    );
    check_unknown(
        &["emulate", "--app", "pbbi"],
        "there is no application \"pbbi\"; did you mean \"pbpi\"? known: pbpi, raxml, \
         list-ranking, sweep3d, sgemm, synthetic",
    );
    check_unknown(
        &["predict", "--params", "pbpi-qs21"],
        "there is no parameter set \"pbpi-qs21\"; did you mean \"pbpi-qs20\"? known: pbpi-qs20, \
         raxml-qs20",
    );
    check_unknown(
        &["export", "--params", "pbpi-qs20", "--to", "jsn"],
        "there is no export target \"jsn\"; did you mean \"json\"? known: json, csv, c-header, \
         rust, python, markdown, latex, starpu, simgrid, loggopsim",
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let no_such = "No such file or directory (os error 2)";
    check_unknown(
        &["study", "--input", "none.phy", "--out", "results"],
        &format!("cannot read none.phy: {no_such}"),
    );
    check_unknown(
        &["study", "--machine", "none.toml", "--out", "results"],
        &format!("cannot read none.toml: {no_such}"),
    );
    check_unknown(
        &["predict", "--params", "none.toml"],
        &format!("cannot read none.toml: {no_such}"),
    );
    check_unknown(
        &["export", "--params", "pbpi-qs20", "--to", "csv", "--out", "none/a.csv"],
        &format!("cannot write none/a.csv: {no_such}"),
    );
}

/// A value that the flag does not take.
fn check_flag(arguments: &[&str], message: &str) {
    let run = Folder::new().mmgp(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
    assert_eq!(run.stderr.lines().next(), Some(format!("error: {message}").as_str()));
}

#[test]
fn a_count_is_at_least_one() {
    let range = "0 is not in 1..=4294967295";
    for arguments in [
        ["predict", "--params", "pbpi-qs20", "--apus", "0"],
        ["fit", "--runs", "runs.csv", "--apus", "0"],
    ] {
        check_flag(&arguments, &format!("invalid value '0' for '--apus <N>': {range}"));
    }
    check_flag(&["emulate", "--m", "0"], &format!("invalid value '0' for '--m <M>': {range}"));
    check_flag(
        &["bench", "--out", "results", "--repetitions", "0"],
        &format!("invalid value '0' for '--repetitions <N>': {range}"),
    );
    check_flag(
        &["fit", "--decomposition", "task", "--tasks", "0"],
        &format!("invalid value '0' for '--tasks <B>': {range}"),
    );
}

#[test]
fn a_flag_that_needs_another_says_so() {
    check_flag(
        &["predict", "--params", "pbpi-qs20", "--m", "4"],
        "the following required arguments were not provided:",
    );
    check_flag(
        &["predict", "--params", "pbpi-qs20", "--machine", "ps3", "--apus", "6"],
        "the argument '--machine <NAME|FILE>' cannot be used with '--apus <N>'",
    );
}

#[test]
fn a_closed_pipe_is_success() {
    let folder = Folder::new();
    // More than a pipe holds, so that the command is still writing when the reader goes.
    let arguments = ["predict", "--params", "pbpi-qs20", "--apus", "2000", "--format", "json"];
    let Run { code, stdout: first, stderr } = folder.left_after_a_line(&arguments);
    assert_eq!(first, "{\n");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(!stderr.lines().any(|line| line.starts_with("error")), "{stderr}");
}

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
