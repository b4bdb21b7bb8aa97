//! Why runs did not go well, in words: what a program said last, or what is known of its kind, with what
//! to do.

use std::collections::BTreeMap;
use std::path::Path;

use mmgp_base::Mapping;
use mmgp_base::attempt::{Attempt, Status};
use mmgp_base::table::Source;
use mmgp_base::units::Seconds;

use crate::supervisor::CommandEnd;

/// Characters of what a program said that are told.
pub(crate) const LONGEST: usize = 200;

/// Lines of the first failure that are shown.
const SHOWN: usize = 5;

/// What many programs say, all of it in one line, and what to do about it.
const KNOWN: [(&[&str], &str); 11] = [
    (
        &["run as root"],
        "as root it wants --env OMPI_ALLOW_RUN_AS_ROOT=1 --env OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    ),
    (
        &["not enough slots"],
        "more ranks than cores: --where 'm <= physical_cores', or mpirun --oversubscribe",
    ),
    (&["binding more processes than cpus"], "--where 'm*p <= physical_cores', or --binding none"),
    (&["omp_num_threads", " not "], "--env OMP_NUM_THREADS={p}, or --as mpi+openmp"),
    (&["omp_num_threads", "unset"], "--env OMP_NUM_THREADS={p}, or --as mpi+openmp"),
    (&["out of memory"], "a --where leaves out what needs too much, as 'm <= 8'"),
    (&["cannot allocate memory"], "a --where leaves out what needs too much, as 'm <= 8'"),
    (&["bad_alloc"], "memory is short: a --where leaves out what needs too much, as 'm <= 8'"),
    (&["error while loading shared libraries"], "load its modules, or --env LD_LIBRARY_PATH=..."),
    (&["no such file or directory"], "paths are seen from where it runs: --workdir DIR"),
    (&["not found"], "names of programs are looked for on the PATH"),
];

/// Signals, what they are called, and what they come from.
const SIGNALS: [(i32, &str); 6] = [
    (6, "aborted"),
    (7, "bus error"),
    (8, "arithmetic error"),
    (9, "killed, as the system does where memory is short: dmesg says so"),
    (11, "segmentation fault"),
    (15, "terminated"),
];

/// Why a command that ended did not end well.
pub(crate) fn failure(ended: &CommandEnd) -> Option<String> {
    if let Some(why) = &ended.not_started {
        return Some(plain(why));
    }
    let said = said(&ended.errors, &ended.output).map_or(String::new(), |it| format!(": {it}"));
    match (ended.exit, ended.signal) {
        (Some(0), _) => None,
        (Some(code), _) => Some(match SIGNALS.iter().find(|(signal, _)| code == 128 + signal) {
            // What a shell makes of it.
            Some((_, name)) => format!("exit status {code} ({name}){said}"),
            None => format!("exit status {code}{said}"),
        }),
        (None, Some(signal)) => Some(match SIGNALS.iter().find(|(known, _)| *known == signal) {
            Some((_, name)) => format!("ended by signal {signal} ({name}){said}"),
            None => format!("ended by signal {signal}{said}"),
        }),
        (None, None) => Some(format!("it ended in an unknown way{said}")),
    }
}

/// Why a command did not end well or in time, with its last words.
pub fn reason(ended: &CommandEnd) -> Option<String> {
    if !ended.is_late {
        return failure(ended);
    }
    let said = said(&ended.errors, &ended.output).map_or(String::new(), |it| format!(": {it}"));
    Some(format!("stopped after {}{said}", Seconds(ended.wall_s)))
}

/// The line that says what went wrong: one that is known, or else the last one with letters, of its errors or
/// else of its output.
fn said(errors: &str, output: &str) -> Option<String> {
    let known = |text: &str| text.lines().find_map(known);
    if let Some((line, _)) = known(errors).or_else(|| known(output)) {
        return Some(line);
    }
    [errors, output].into_iter().find_map(last_words)
}

/// A line and what to do about it.
fn known(line: &str) -> Option<(String, &'static str)> {
    let small = line.to_lowercase();
    let is_there = |(parts, _): &&(&[&str], &str)| parts.iter().all(|part| small.contains(part));
    KNOWN.iter().find(is_there).map(|(_, advice)| (short(line), *advice))
}

/// The last line that has letters.
fn last_words(text: &str) -> Option<String> {
    let lines = text.lines().rev().map(short);
    lines.into_iter().find(|line| line.chars().any(char::is_alphabetic))
}

/// A line as it is told.
pub(crate) fn short(line: &str) -> String {
    plain(line).trim().chars().take(LONGEST).collect()
}

/// A text of a program without what would have a terminal do something: sequences that begin with an
/// escape, and control characters.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            // A control sequence, to the letter that ends it (ECMA-48).
            ('\u{1b}', Some('[')) => {
                letters.next();
                while letters.next().is_some_and(|it| !('@'..='~').contains(&it)) {}
            }
            // A command to the operating system, as a title, to BEL or ESC \.
            ('\u{1b}', Some(']')) => {
                while letters.next_if(|it| !['\u{7}', '\u{1b}'].contains(it)).is_some() {}
            }
            ('\u{1b}', Some(_)) => {
                letters.next();
            }
            ('\t', _) => plain.push(' '),
            (letter, _) if letter.is_control() => {}
            (letter, _) => plain.push(letter),
        }
    }
    plain
}

/// Runs that did not go well: each reason with the configurations, named by `listed`, those of which the
/// reasons differ in numbers alone together. What is known comes with what to do.
pub fn failure_notes(attempts: &[Attempt], listed: &dyn Fn(&[Mapping]) -> String) -> Vec<String> {
    let mut groups: BTreeMap<String, (String, Vec<Mapping>)> = BTreeMap::new();
    for attempt in attempts.iter().filter(|it| is_bad(it)) {
        let reason = plain(attempt.reason.as_deref().unwrap_or("no reason is known"));
        // A log of an earlier version may have it in the reason.
        let advice = known(&reason).map(|(_, advice)| advice);
        let advice = advice.filter(|it| attempt.status == Status::Failed && !reason.contains(it));
        let advice = advice.map_or(String::new(), |it| format!(" ({it})"));
        let said = format!("{}: {reason}{advice}", attempt.status);
        let (_, of_reason) = groups.entry(without_numbers(&said)).or_insert((said, Vec::new()));
        let mapping = Mapping::of(attempt.m, attempt.p);
        if !of_reason.contains(&mapping) {
            of_reason.push(mapping);
        }
    }
    groups.into_values().map(|(said, mappings)| format!("{said}: {}", listed(&mappings))).collect()
}

/// What the first run that did not go well said at its end, where `outputs` keeps that, and the place of all
/// of it; `name` is what a configuration is called.
pub fn first_failure(
    attempts: &[Attempt],
    outputs: &Path,
    name: &dyn Fn(Mapping) -> String,
) -> Vec<String> {
    let Some(first) = attempts.iter().find(|it| is_bad(it)) else { return Vec::new() };
    let kept = ["err", "out"].iter().find_map(|end| {
        let file = outputs.join(format!("{}.{end}", first.id));
        let text = Source::read(&file).ok()?.text;
        let lines = text.lines().map(short).filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then_some((file, lines))
    });
    let Some((file, lines)) = kept else { return Vec::new() };
    let name = Mapping::new(first.m, first.p).map_or_else(|_| String::new(), name);
    let mut told =
        vec![format!("The first to fail, {name}, said last (all of it: {}):", file.display())];
    let from = lines.len().saturating_sub(SHOWN);
    told.extend(lines[from..].iter().map(|line| format!("  {line}")));
    told
}

fn is_bad(attempt: &Attempt) -> bool {
    matches!(attempt.status, Status::Failed | Status::Wrong | Status::Timeout)
}

/// A text with one sign for each number in it, hexadecimal ones included.
fn without_numbers(text: &str) -> String {
    let mut without = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
        without.push_str(&rest[..start]);
        without.push('#');
        rest = &rest[start..];
        let is_hexadecimal = rest.starts_with("0x");
        let is_in = |it: char| match is_hexadecimal {
            true => it.is_ascii_hexdigit() || it == 'x',
            false => it.is_ascii_digit() || it == '.',
        };
        let end = rest.find(|it| !is_in(it)).unwrap_or(rest.len());
        rest = &rest[end..];
    }
    without + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(exit: i32, errors: &str, output: &str) -> Option<String> {
        failure(&CommandEnd {
            exit: Some(exit),
            errors: errors.into(),
            output: output.into(),
            ..CommandEnd::default()
        })
    }

    #[test]
    fn a_failure_is_told_by_the_last_line_with_letters() {
        let check = |errors: &str, output: &str, told: &str| {
            let reason = format!("exit status 3{told}");
            assert_eq!(ended(3, errors, output), Some(reason));
        };
        check("first\nthe mesh is empty\n-------\n\n 12 %\n", "well\n", ": the mesh is empty");
        check("\n---\n", "Total: none\n===\n", ": Total: none");
        check("", "", "");
        assert_eq!(ended(0, "an error", ""), None);
        assert_eq!(ended(139, "", ""), Some("exit status 139 (segmentation fault)".into()));
        let killed = failure(&CommandEnd { signal: Some(9), ..CommandEnd::default() });
        assert!(
            killed.is_some_and(|it| it.starts_with("ended by signal 9 (killed, as the system"))
        );
    }

    #[test]
    fn what_is_known_comes_with_what_to_do() {
        for (said, advice) in [
            (
                "----\nmpirun has detected an attempt to run as root.\n\nYou can override\n---\n",
                "ALLOW_RUN_AS_ROOT",
            ),
            (
                "There are not enough slots available in the system to satisfy the 4\nslots\n",
                "--oversubscribe",
            ),
            ("would result in binding more processes than cpus on a resource:\n", "--binding none"),
            ("OMP_NUM_THREADS is not set\nabort\n", "--env OMP_NUM_THREADS={p}"),
            ("cannot open in.dat: No such file or directory\nMPI_ABORT was invoked\n", "--workdir"),
            ("sh: 1: gmx: not found\n", "on the PATH"),
            ("bash: line 1: gmx: command not found\n", "on the PATH"),
            (
                "terminate called after throwing an instance of 'std::bad_alloc'\n",
                "memory is short",
            ),
            ("CUDA error: Out of memory\nat line 3\n", "--where"),
            (
                "./a: error while loading shared libraries: libx.so: cannot open\n",
                "LD_LIBRARY_PATH",
            ),
        ] {
            let reason = ended(1, said, "").expect("it failed");
            assert!(!reason.contains(advice), "{reason}");
            let mut attempt = Attempt::new(1, 2, 1, Status::Failed);
            let listed = |_: &[Mapping]| "(2, 1)".to_string();
            attempt.reason = Some(reason);
            let told = failure_notes(std::slice::from_ref(&attempt), &listed).remove(0);
            assert!(told.contains(advice) && told.ends_with("): (2, 1)"), "{told}");
            // Once is enough, and what is wrong of a program that ran well is another matter.
            let reason = told.trim_start_matches("failed: ").trim_end_matches(": (2, 1)");
            attempt.reason = Some(reason.into());
            assert_eq!(failure_notes(std::slice::from_ref(&attempt), &listed), [told]);
            attempt.status = Status::Wrong;
            attempt.reason = Some(format!("its output does not match {said:?}"));
            assert!(!failure_notes(&[attempt], &listed)[0].contains(advice));
        }
    }

    #[test]
    fn nothing_that_a_program_says_moves_a_terminal() {
        let check = |text: &str, left: &str| assert_eq!(plain(text), left, "{text:?}");
        check("\u{1b}[1;31merror\u{1b}[0m: no", "error: no");
        check("\u{1b}]0;title\u{7}text\u{1b}]8;;x\u{1b}\\link", "textlink");
        check("a\rb\u{8}\u{7}c\u{9b}d\te", "abcd e");
        check("\u{1b}", "");
        check("\u{1b}cµ", "µ");
        let told = ended(1, "\u{1b}[2Jgone\u{1b}[H\n", "").expect("it failed");
        assert_eq!(told, "exit status 1: gone");
    }

    #[test]
    fn reasons_that_differ_in_numbers_are_one() {
        let attempt = |id: u64, p: u32, reason: &str| {
            let mut attempt = Attempt::new(id, 2, p, Status::Failed);
            attempt.reason = Some(reason.into());
            attempt
        };
        let attempts = [
            attempt(1, 1, "exit status 1: rank 3 of 4 died at 0x7ffe12ab after 1.5 s"),
            attempt(2, 2, "exit status 1: rank 11 of 16 died at 0x7ffe0 after 20 s"),
            attempt(3, 3, "exit status 1: no rank died"),
        ];
        let listed = |all: &[Mapping]| all.iter().map(ToString::to_string).collect::<String>();
        let notes = failure_notes(&attempts, &listed);
        assert_eq!(notes.len(), 2);
        let first =
            "failed: exit status 1: rank 3 of 4 died at 0x7ffe12ab after 1.5 s: (2, 1)(2, 2)";
        assert!(notes.contains(&first.to_string()), "{notes:?}");
    }
}
