//! `mmgp export`

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::input::parameters;
use super::output::data;
use crate::error::Result;
use crate::export::Target;

/// Hand parameters over to other tools
#[derive(Args)]
#[command(after_help = "Example: mmgp export --params pbpi-qs20 --to csv --out pbpi.csv")]
pub struct Arguments {
    /// Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)
    #[arg(long, value_name = "NAME|FILE")]
    params: String,
    /// Format: json or csv
    #[arg(long, value_name = "FORMAT")]
    to: String,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    let target: Target = arguments.to.parse()?;
    let parameters = parameters(&arguments.params)?;
    data(arguments.out.as_deref(), &target.write(&parameters))?;
    Ok(Answer::Done)
}
