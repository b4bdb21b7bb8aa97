//! Commands in a table, of which options, assignments and numbers become columns where nothing else says m
//! or p.

use mmgp_base::error::Result;

use crate::names::{Role, role_of};
use crate::sheet::{Field, Heading, Rows, Sheet, extended, made_of};

/// What a column of commands is called, in small letters.
const NAMES: [&str; 5] = ["command", "cmd", "cmdline", "commandline", "command line"];

/// Programs that start others, of which `-n` and `-np` are processes.
const LAUNCHERS: [&str; 7] =
    ["mpirun", "mpiexec", "srun", "aprun", "jsrun", "prun", "mpiexec.hydra"];

/// The table with a column for each option or assignment that all commands have, and for each number in
/// them that varies; as it is where it has m or p, or no commands.
pub(super) fn with_commands(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let is_command = |it: &Heading| NAMES.contains(&it.name.to_lowercase().as_str());
    let is_known = |role: Role| sheet.columns.iter().any(|it| role_of(&it.name) == Some(role));
    let (has_processes, has_threads) = (is_known(Role::Processes), is_known(Role::Threads));
    let Some(command) = sheet.columns.iter().position(is_command) else { return Ok(sheet) };
    if has_processes && has_threads {
        return Ok(sheet);
    }
    let Sheet { source, format, mut columns, rows } = sheet;
    let Common { mut parts, has_launcher } = common(command, rows.as_ref())?;
    // Beside one of them, the commands say the other alone.
    parts.retain(|part| {
        let is_of_launcher = |name: &str| has_launcher && (name == "-n" || name == "np");
        let role = match part {
            CommandPart::Option(name) if is_of_launcher(name) => Some(Role::Processes),
            CommandPart::Option(name) => role_of(name),
            CommandPart::Word(_) => None,
        };
        match role {
            Some(Role::Processes) => !has_processes,
            Some(Role::Threads) => !has_threads,
            _ => !has_processes && !has_threads,
        }
    });
    for part in &parts {
        let name = match part {
            CommandPart::Option(name) if has_launcher && (name == "-n" || name == "np") => {
                "np".to_string()
            }
            CommandPart::Option(name) => name.clone(),
            CommandPart::Word(number) => format!("word {number}"),
        };
        let is_taken = columns.iter().any(|column| column.name == name);
        let name = if is_taken { format!("{name} of the command") } else { name };
        columns.push(Heading { name, at: columns[command].at });
    }
    let rows = made_of(rows, move |rows, row| {
        rows.visit(&mut |fields| {
            let command = &fields[command];
            let pieces = pieces(&command.text);
            let is_verbatim = source.text[command.at..].starts_with(command.text.as_ref());
            let mut all = extended(fields, parts.len());
            for part in &parts {
                let piece = pieces.iter().find(|piece| piece.part == *part);
                let text = piece.map_or("", |piece| piece.text);
                let offset = piece.filter(|_| is_verbatim).map_or(0, |piece| piece.at);
                all.push(Field { text: text.into(), at: command.at + offset });
            }
            row(&all)
        })
    });
    Ok(Sheet { source, format, columns, rows })
}

/// What of a command is a column.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CommandPart {
    /// An option or an assignment: its name.
    Option(String),
    /// A number that belongs to none: which word it is, from 1.
    Word(usize),
}

/// What all commands have.
struct Common {
    parts: Vec<CommandPart>,
    /// Whether a launcher starts each.
    has_launcher: bool,
}

fn common(command: usize, rows: &dyn Rows) -> Result<Common> {
    let mut has_launcher = true;
    // With the text of the first command, and whether another has another.
    let mut common: Option<Vec<(CommandPart, String, bool)>> = None;
    rows.visit(&mut |row| {
        let text = &row[command].text;
        has_launcher &= text.split_whitespace().any(|word| LAUNCHERS.contains(&word));
        let found = pieces(text);
        let Some(common) = &mut common else {
            let part = |it: Piece<'_>| (it.part, it.text.to_string(), false);
            common = Some(found.into_iter().map(part).collect());
            return Ok(());
        };
        common.retain_mut(|(part, first, varies)| {
            let same = found.iter().find(|piece| piece.part == *part);
            *varies |= same.is_some_and(|piece| piece.text != *first);
            same.is_some()
        });
        Ok(())
    })?;
    let all = common.unwrap_or_default().into_iter();
    let is_told = |(part, _, varies): &(CommandPart, String, bool)| {
        *varies || matches!(part, CommandPart::Option(_))
    };
    Ok(Common { parts: all.filter(is_told).map(|(part, ..)| part).collect(), has_launcher })
}

/// A part of a command with its text.
struct Piece<'a> {
    part: CommandPart,
    text: &'a str,
    /// Place at which the text begins in the command \[bytes\].
    at: usize,
}

/// The options, assignments and numbers of a command, each with a text. What names a run to mmgp is left
/// out.
fn pieces(command: &str) -> Vec<Piece<'_>> {
    let start = command.as_ptr() as usize;
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut next = 0;
    while let Some(&word) = words.get(next) {
        next += 1;
        let follower = words.get(next).copied().filter(|it| named(it).is_none());
        let (part, text) = match named(word) {
            Some((name, Some(value))) => (CommandPart::Option(free(name, &pieces)), value),
            Some((name, None)) => {
                let Some(value) = follower else { continue };
                next += 1;
                (CommandPart::Option(free(name, &pieces)), value)
            }
            None if word.bytes().all(|it| it.is_ascii_digit()) => (CommandPart::Word(next), word),
            None => continue,
        };
        let text = text.trim_matches(['"', '\'']);
        if !text.is_empty() && part != CommandPart::Option("MMGP_ID".into()) {
            pieces.push(Piece { part, text, at: text.as_ptr() as usize - start });
        }
    }
    pieces
}

/// The name of an option or of an assignment, and the value in the same word, if there is one.
fn named(word: &str) -> Option<(String, Option<&str>)> {
    let bare = word.trim_start_matches('-');
    let is_option = bare.len() < word.len() && bare.starts_with(char::is_alphabetic);
    let called = |name: &str| {
        if is_option && name.chars().count() == 1 { format!("-{name}") } else { name.to_string() }
    };
    let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    let begins = |name: &str| name.starts_with(|it: char| it.is_alphabetic() || it == '_');
    if let Some((name, value)) = bare.split_once('=') {
        let is_name = begins(name) && name.chars().all(is_of_name);
        return is_name.then(|| (called(name), Some(value)));
    }
    // As in `-n4`.
    let letter = bare.chars().next().map_or(0, char::len_utf8);
    let digits = &bare[letter..];
    if is_option && !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) {
        return Some((called(&bare[..letter]), Some(digits)));
    }
    is_option.then(|| (called(bare), None))
}

/// The name, or where the command has it already, the name with a number.
fn free(name: String, pieces: &[Piece<'_>]) -> String {
    let is_taken = |name: &str| pieces.iter().any(|it| it.part == CommandPart::Option(name.into()));
    if !is_taken(&name) {
        return name;
    }
    let mut others = (2..).map(|count| format!("{name} {count}"));
    others.find(|other| !is_taken(other)).expect("invariant: not all numbers are taken")
}
