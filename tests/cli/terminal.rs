//! What a command shows on a terminal only: colour and progress.

use std::process::{Command, Stdio};

use testing::skipped;

use crate::Folder;

const ESCAPE: char = '\u{1b}';

/// What a command prints, standard error included, on a terminal that `script` plays; `None` where
/// there is no `script`.
fn on_a_terminal(folder: &Folder, line: &str, environment: &[(&str, &str)]) -> Option<String> {
    let mut script = Command::new("script");
    script.args(["-qec", &format!("{} {line}", env!("CARGO_BIN_EXE_mmgp")), "/dev/null"]);
    script.current_dir(folder.path("")).stdin(Stdio::null());
    script.env("TERM", "xterm");
    // Some machines that run checks say CI and show colour even where TERM is dumb.
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        script.env_remove(name);
    }
    let output = script.envs(environment.iter().copied()).output().ok()?;
    Some(String::from_utf8(output.stdout).expect("the command prints UTF-8"))
}

/// How an error and a warning look in a pipe.
fn in_a_pipe(environment: &[(&str, &str)]) -> String {
    let folder = Folder::new();
    let printed = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        let output = command.envs(environment.iter().copied()).output().expect("it starts");
        String::from_utf8(output.stderr).expect("the command prints UTF-8")
    };
    let warning = printed(&["predict", "--params", "pbpi-qs20", "--top", "1"]);
    assert!(warning.contains("warning"), "{warning}");
    printed(&["predict", "--params", "nobody"]) + &warning + &printed(&["predict"])
}

#[test]
fn a_pipe_gets_no_colour_unless_it_is_forced() {
    let plain = in_a_pipe(&[]);
    assert!(plain.starts_with("error: ") && !plain.contains(ESCAPE), "{plain:?}");
    let forced = in_a_pipe(&[("CLICOLOR_FORCE", "1")]);
    assert!(forced.starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m there"), "{forced:?}");
    assert!(forced.contains("\u{1b}[33mwarning:\u{1b}[0m "), "{forced:?}");
}

#[test]
fn a_terminal_gets_colour_unless_it_or_its_user_wants_none() {
    let folder = Folder::new();
    for mistake in ["predict --params nobody", "predict"] {
        let shown = |environment: &[(&str, &str)]| on_a_terminal(&folder, mistake, environment);
        let Some(usual) = shown(&[]) else { return skipped("script") };
        assert!(usual.contains("\u{1b}[31merror:"), "{usual:?}");
        for refusal in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
            let plain = shown(&[refusal]).expect("it was there before");
            assert!(plain.contains("error:") && !plain.contains(ESCAPE), "{refusal:?}: {plain:?}");
        }
    }
}

#[test]
fn progress_shows_on_a_terminal_what_is_done_and_how_long_it_takes_yet() {
    let folder = Folder::new();
    let Some(shown) = on_a_terminal(&folder, "bench --out measured", &[("NO_COLOR", "1")]) else {
        return skipped("script");
    };
    assert!(shown.contains("micro-benchmarks") && shown.contains("/600  "), "{shown:?}");
    assert!(shown.contains("s left"), "{shown:?}");
    // Lines are moved over and cleared, and nothing is coloured.
    assert!(!shown.contains("\u{1b}[3") && !shown.contains("\u{1b}[1m"), "{shown:?}");
    let quiet = on_a_terminal(&folder, "bench --out measured --quiet", &[]);
    assert_eq!(quiet.as_deref(), Some(""));
}

#[test]
fn what_is_done_at_once_shows_no_progress() {
    let folder = Folder::new();
    let Some(shown) = on_a_terminal(&folder, "export --params pbpi-qs20 --to csv", &[]) else {
        return skipped("script");
    };
    assert!(shown.contains("t_hpu_s") && !shown.contains(ESCAPE), "{shown:?}");
}

#[test]
fn a_pipe_gets_no_progress() {
    let folder = Folder::new();
    let run = folder.mmgp(&["bench", "--repetitions", "2", "--out", "measured"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}
