//! Flags, names, help, and how a command ends.

use crate::{Folder, Run};

const COMMANDS: [&str; 13] = [
    "study",
    "bench",
    "profile",
    "fit",
    "predict",
    "emulate",
    "validate",
    "plot",
    "export",
    "check-machine",
    "likelihood",
    "simulate-alignment",
    "spu-timing",
];

#[test]
fn the_help_of_every_command_shows_an_example() {
    let folder = Folder::new();
    let overview = folder.succeeds(&["--help"]);
    for command in COMMANDS {
        assert!(overview.contains(&format!("\n  {command} ")), "{command} is not in the overview");
        let help = folder.succeeds(&[command, "--help"]);
        let (_, examples) = help.split_once("Example").expect("help has an example");
        assert!(examples.contains(&format!("mmgp {command}")), "{command}: {examples}");
    }
    let (_, listed) = overview.split_once("Commands:\n").expect("a list of commands");
    let listed = listed.lines().take_while(|line| !line.is_empty()).count();
    assert_eq!(listed, COMMANDS.len() + 1, "a command besides `help` is not tested: {overview}");
}

/// Nothing of that name is known, and the message tells what is.
fn check_unknown(arguments: &[&str], message: &str) {
    Folder::new().refuses(arguments, message);
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_and_all_that_are_known() {
    check_unknown(
        &["study", "--machine", "qs2O", "--out", "results"],
        "there is no machine \"qs2O\"; did you mean \"qs20\"? known: ps3, qs20, qs22",
    );
    check_unknown(
        &["study", "--input", "sim13", "--out", "results"],
        "there is no alignment \"sim13\"; did you mean \"sim12\"? known: sim12, sim24, \
         sim107, sim42",
    );
    check_unknown(
        &["emulate", "--app", "pbbi"],
        "there is no application \"pbbi\"; did you mean \"pbpi\"? known: pbpi, raxml",
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
