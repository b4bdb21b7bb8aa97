//! Shapes of tables that are made plain before anything is understood: headers of two lines, long tables,
//! values that stand only in the first of their rows, and commands, of which options, assignments and numbers become
//! columns where nothing else says m or p.

use std::borrow::Cow;
use std::collections::BTreeSet;

use mmgp_base::error::Result;

use crate::names::{Role, role_of};
use crate::sheet::{Field, Heading, Rows, Sheet, extended, made_of};
use crate::units::{Measure, measure_of};

/// The table with the names that two lines of a header make, what the columns are for and below it the
/// number of each; as it is where the header has one line.
///
/// ```text
/// |       | threads |      |
/// | ranks |       1 |    2 |
/// ```
pub(super) fn with_both(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let names = |row: &[Field<'_>]| -> Option<Vec<String>> {
        let (first, others) = row.split_first()?;
        let mut named = sheet.columns[1..].iter().filter(|heading| !is_unnamed(heading));
        let (Some(label), None) = (named.next(), named.next()) else { return None };
        let is_count = |field: &Field<'_>| field.text.parse::<u32>().is_ok_and(|count| count > 0);
        let are_known = role_of(&first.text).is_some() && role_of(&label.name).is_some();
        let is_header = are_known && others.len() > 1 && others.iter().all(is_count);
        let numbered = others.iter().map(|field| format!("{} {}", label.name, field.text));
        is_header.then(|| std::iter::once(first.text.to_string()).chain(numbered).collect())
    };
    let mut found = None;
    // What is wrong with a row is said when it is read.
    let _ = sheet.visit_while(&mut |row| {
        found = names(row);
        false
    });
    let Some(found) = found else { return Ok(sheet) };
    let Sheet { origin, format, mut columns, rows } = sheet;
    columns.iter_mut().zip(found).for_each(|(heading, name)| heading.name = name);
    let rows = made_of(rows, |rows, row| {
        let mut is_first = true;
        rows.visit(&mut |fields| match std::mem::take(&mut is_first) {
            true => Ok(()),
            false => row(fields),
        })
    });
    Ok(Sheet { origin, format, columns, rows })
}

/// Whether a column has no name in the file.
fn is_unnamed(heading: &Heading) -> bool {
    heading.name.strip_prefix("field ").is_some_and(|number| number.parse::<usize>().is_ok())
}

/// What the columns of names and values are called, in small letters.
const NAMES: [(&str, &str); 5] = [
    ("metric", "value"),
    ("variable", "value"),
    ("quantity", "value"),
    ("perf_var", "perf_value"),
    ("check_perf_var", "check_perf_value"),
];

/// A table with more quantities than these is none of quantities.
const MOST: usize = 100;

/// The rows of the time of a long table, in which a row has the name of a quantity and its value; its
/// column is called as the quantity. The table as it is where it is not long, or has no time or several.
pub(super) fn of_time(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let place = |name: &str| sheet.columns.iter().position(|it| it.name.to_lowercase() == name);
    let found = NAMES.iter().find_map(|(name, value)| Some((place(name)?, place(value)?)));
    let Some((name, value)) = found else { return Ok(sheet) };
    let mut names = BTreeSet::new();
    sheet.rows.visit(&mut |row| {
        if names.len() <= MOST && !names.contains(row[name].text.as_ref()) {
            names.insert(row[name].text.to_string());
        }
        Ok(())
    })?;
    let is_time = |name: &&String| matches!(measure_of(name), Measure::Time(_));
    let times: Vec<&String> = names.iter().filter(is_time).collect();
    let time = match times[..] {
        [only] => Some(only),
        _ => times.into_iter().find(|name| name.eq_ignore_ascii_case("time")),
    };
    let Some(time) = time.filter(|_| names.len() <= MOST).cloned() else { return Ok(sheet) };
    let Sheet { origin, format, mut columns, rows } = sheet;
    if !columns.iter().any(|column| column.name == time) {
        columns[value].name.clone_from(&time);
    }
    let rows = made_of(rows, move |rows, row| {
        rows.visit(&mut |fields| if fields[name].text == time { row(fields) } else { Ok(()) })
    });
    Ok(Sheet { origin, format, columns, rows })
}

/// Number of rows that are looked at.
const LOOKED_AT: u64 = 4096;

/// The table with all values, where one stands only in the first of the rows that have it, as in merged
/// cells of a spreadsheet and as pandas prints the index; as it is where the first columns have them already.
pub(super) fn with_all_values(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let mut columns: Vec<GroupedColumn> = sheet
        .columns
        .iter()
        .take_while(|heading| may_be_grouped(&heading.name))
        .map(|_| GroupedColumn::default())
        .collect();
    let mut rows = 0_u64;
    // What is wrong with a row is said when it is read.
    let _ = sheet.visit_while(&mut |row| {
        if row.iter().all(|field| field.text.is_empty()) {
            return true;
        }
        let mut is_new = rows == 0;
        for (column, field) in columns.iter_mut().zip(row) {
            is_new |= column.add(&field.text, is_new);
        }
        rows += 1;
        rows < LOOKED_AT
    });
    let count = columns.iter().take_while(|column| column.is_grouped(rows)).count();
    if count == 0 {
        return Ok(sheet);
    }
    let Sheet { origin, format, columns, rows } = sheet;
    let rows = made_of(rows, move |rows, row| {
        let mut above = vec![String::new(); count];
        rows.visit(&mut |fields| {
            if fields.iter().all(|field| field.text.is_empty()) {
                return row(fields);
            }
            for (above, field) in above.iter_mut().zip(fields).filter(|(_, it)| !it.text.is_empty())
            {
                above.clear();
                above.push_str(&field.text);
            }
            let mut all = extended(fields, 0);
            for (field, above) in all.iter_mut().zip(&above) {
                field.text = Cow::Borrowed(above);
            }
            row(&all)
        })
    });
    Ok(Sheet { origin, format, columns, rows })
}

/// Whether a column of that name may have a value for several rows: it says neither what came of a run nor
/// anything about it alone.
fn may_be_grouped(name: &str) -> bool {
    let is_of_configuration = matches!(
        role_of(name),
        None | Some(
            Role::Processes
                | Role::Threads
                | Role::Cores
                | Role::AllCores
                | Role::Nodes
                | Role::ProcessesPerNode
        )
    );
    is_of_configuration && matches!(measure_of(name), Measure::Other(_))
}

/// The values of a column.
#[derive(Default)]
struct GroupedColumn {
    last: String,
    empty: u64,
    /// Whether the first row has none, or a value stands twice where once would do.
    is_plain: bool,
}

impl GroupedColumn {
    /// Adds the value of a row, in which a column before has a new value or not; whether this one has.
    fn add(&mut self, text: &str, is_new: bool) -> bool {
        if text.is_empty() {
            self.is_plain |= is_new;
            self.empty += 1;
            return false;
        }
        self.is_plain |= text == self.last && !is_new;
        self.last = text.into();
        true
    }

    /// Whether about half of the rows and more have the value of a row above.
    fn is_grouped(&self, rows: u64) -> bool {
        self.empty > 0 && 2 * self.empty + 1 >= rows && !self.is_plain
    }
}

/// What a column of commands is called, in small letters.
const COMMANDS: [&str; 5] = ["command", "cmd", "cmdline", "commandline", "command line"];

/// Programs that start others, of which `-n` and `-np` are processes.
const LAUNCHERS: [&str; 7] =
    ["mpirun", "mpiexec", "srun", "aprun", "jsrun", "prun", "mpiexec.hydra"];

/// The table with a column for each option or assignment that all commands have, and for each number in
/// them that varies; as it is where it has m or p, or no commands.
pub(super) fn with_commands(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    let is_command = |it: &Heading| COMMANDS.contains(&it.name.to_lowercase().as_str());
    let is_known = |role: Role| sheet.columns.iter().any(|it| role_of(&it.name) == Some(role));
    let (has_processes, has_threads) = (is_known(Role::Processes), is_known(Role::Threads));
    let Some(command) = sheet.columns.iter().position(is_command) else { return Ok(sheet) };
    if has_processes && has_threads {
        return Ok(sheet);
    }
    let Sheet { origin, format, mut columns, rows } = sheet;
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
            let below = origin.text().and_then(|text| text.get(command.at..));
            let is_verbatim = below.is_some_and(|it| it.starts_with(command.text.as_ref()));
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
    Ok(Sheet { origin, format, columns, rows })
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
