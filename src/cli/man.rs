//! `mmgp man`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;

use super::Answer;
use super::output::data;
use crate::error::Result;
use crate::table;

/// Print the manual page, or write one for each command
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Folder for mmgp.1 and a page for each command: mmgp-study.1...; without it, mmgp.1 goes to
    /// standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  mmgp man --out ~/.local/share/man/man1
  mmgp man > mmgp.1";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let pages = pages();
    let Some(folder) = &arguments.out else {
        data(None, &pages[0].1)?;
        return Ok(Answer::Done);
    };
    table::create_folder(folder)?;
    for (name, page) in pages {
        table::write(&folder.join(name), page)?;
    }
    Ok(Answer::Done)
}

/// The files with their texts, that of the program first. They bear the version without its commit,
/// so that they differ only where the help does.
fn pages() -> Vec<(String, String)> {
    let program = super::command().version(env!("CARGO_PKG_VERSION"));
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let commands: Vec<Command> = program.get_subcommands().cloned().collect();
    [program].into_iter().chain(commands).map(page).collect()
}

/// The manual page of a command: what `clap` knows of it, then the examples and the rest of what
/// stands below its flags.
fn page(command: Command) -> (String, String) {
    let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_commands = command.has_subcommands();
    let source = concat!("mmgp ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source).manual("MMGP");
    let mut text = Vec::new();
    let parts: [fn(&Man, &mut dyn Write) -> io::Result<()>; 5] = [
        |man, out| man.render_title(out),
        |man, out| man.render_name_section(out),
        |man, out| man.render_synopsis_section(out),
        |man, out| man.render_description_section(out),
        |man, out| man.render_options_section(out),
    ];
    let in_memory = "invariant: writing to memory cannot fail";
    parts.iter().for_each(|part| part(&man, &mut text).expect(in_memory));
    if has_commands {
        man.render_subcommands_section(&mut text).expect(in_memory);
    }
    let text = String::from_utf8(text).expect("invariant: help is UTF-8");
    (man.get_filename(), text + &examples_and_notes(&below))
}

/// `Examples:` with its lines as they stand, and the paragraphs behind them.
fn examples_and_notes(below: &str) -> String {
    let (examples, notes) = below.split_once("\n\n").unwrap_or((below, ""));
    let examples = examples.strip_prefix("Examples:\n").unwrap_or(examples);
    let mut text = format!(".SH EXAMPLES\n{}", as_it_stands(examples));
    if !notes.is_empty() {
        text += ".SH NOTES\n";
    }
    for (index, paragraph) in notes.split("\n\n").filter(|it| !it.is_empty()).enumerate() {
        if index > 0 {
            text += ".PP\n";
        }
        // What is indented is a table.
        let is_table = paragraph.contains("\n  ") || paragraph.starts_with("  ");
        text += &if is_table { as_it_stands(paragraph) } else { escaped(paragraph) };
    }
    text
}

fn as_it_stands(lines: &str) -> String {
    format!(".nf\n{}.fi\n", escaped(lines))
}

/// Each line as roff shows it: hyphens can be copied, and nothing is taken for a command.
fn escaped(lines: &str) -> String {
    let escaped = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
        format!("{guard}{line}\n")
    };
    lines.lines().map(escaped).collect()
}
