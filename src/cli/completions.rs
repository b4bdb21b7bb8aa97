//! `mmgp completions`

use clap::Args;
use clap_complete::{Shell, generate};

use super::Answer;
use super::output::data;
use crate::error::Result;

/// Print what makes a shell complete commands and flags
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

const HELP: &str = "\
Examples:
  mmgp completions bash > ~/.local/share/bash-completion/completions/mmgp
  mmgp completions zsh > ~/.zfunc/_mmgp    # a folder of your fpath
  mmgp completions fish > ~/.config/fish/completions/mmgp.fish";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let mut text = Vec::new();
    generate(arguments.shell, &mut super::command(), "mmgp", &mut text);
    data(None, &String::from_utf8_lossy(&text))?;
    Ok(Answer::Done)
}
