//! `mmgp man` and `mmgp completions`: what other programs are told of the command line.

use std::io;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use super::Answer;
use super::output::data;
use crate::error::Result;
use crate::table;

/// Print the manual page, or write one for each command
#[derive(Args)]
#[command(after_help = MAN_HELP)]
pub struct ManArguments {
    /// Folder for mmgp.1 and a page for each command: mmgp-study.1...; without it, mmgp.1 goes to
    /// standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const MAN_HELP: &str = "\
Examples:
  mmgp man --out ~/.local/share/man/man1
  mmgp man > mmgp.1";

/// Prints or writes manual pages.
pub fn man(arguments: &ManArguments) -> Result<Answer> {
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
    let mut pages = Vec::new();
    let mut commands = vec![&program];
    while let Some(command) = commands.pop() {
        pages.push(page(command.clone()));
        commands.extend(command.get_subcommands());
    }
    pages
}

/// The manual page of a command: what `clap` knows of it, then the examples and the rest of what
/// stands below its flags.
fn page(command: Command) -> (String, String) {
    let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let commands = if command.has_subcommands() { Commands::Listed } else { Commands::None };
    let source = concat!("mmgp ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source).manual("MMGP");
    let text = render(&man, commands).expect("invariant: writing to memory cannot fail");
    let text = String::from_utf8(text).expect("invariant: help is UTF-8");
    // Every part begins with these lines, of which a page needs one copy.
    let text = format!("{QUOTES}{}", text.replace(QUOTES, ""));
    (man.get_filename(), text + &examples_and_notes(&below))
}

/// Whether a page lists commands: that of the program does.
#[derive(PartialEq)]
enum Commands {
    Listed,
    None,
}

/// The page but for what stands below the flags, which `clap_mangen` would run together.
fn render(man: &Man, commands: Commands) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if commands == Commands::Listed {
        man.render_subcommands_section(&mut text)?;
    }
    Ok(text)
}

/// What defines a straight quote for roff.
const QUOTES: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n";

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

/// Print what makes a shell complete commands and flags
#[derive(Args)]
#[command(after_help = COMPLETION_HELP)]
pub struct CompletionArguments {
    /// Shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

const COMPLETION_HELP: &str = "\
Examples:
  mmgp completions bash > ~/.local/share/bash-completion/completions/mmgp
  mmgp completions zsh > ~/.zfunc/_mmgp    # a folder of your fpath
  mmgp completions fish > ~/.config/fish/completions/mmgp.fish";

/// Prints completions for a shell.
pub fn completions(arguments: &CompletionArguments) -> Result<Answer> {
    let mut text = Vec::new();
    generate(arguments.shell, &mut super::command(), "mmgp", &mut text);
    data(None, &String::from_utf8_lossy(&text))?;
    Ok(Answer::Done)
}
