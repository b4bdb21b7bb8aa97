//! `mmgp export`

use std::path::PathBuf;

use clap::Args;

use super::Answer;
use super::files::Guard;
use super::input::{parameter_file, parameters};
use super::output::{Verbosity, data, line, waiting, warn};
use crate::error::{Result, Warning};
use crate::export::Target;
use crate::export::runs::RunsTarget;
use crate::intake::{self, Claims};
use crate::models::Parameters;
use crate::table::Source;

/// Hand parameters or timed runs over to other tools
#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Parameters: a TOML file or a published set (pbpi-qs20, raxml-qs20)
    #[arg(long, value_name = "NAME|FILE", group = "what")]
    params: Option<String>,
    /// Timed runs, as fit --runs reads them
    #[arg(long, value_name = "FILE", group = "what")]
    runs: Option<PathBuf>,
    /// Format. Parameters: json, csv, c-header, rust, python, markdown, latex, starpu, simgrid,
    /// loggopsim; runs: extra-p, extra-p-json, extra-p-jsonl
    #[arg(long, value_name = "FORMAT")]
    to: String,
    /// File to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

const HELP: &str = "\
Examples:
  mmgp export --params pbpi-qs20 --to c-header --out pbpi.h
  mmgp export --params params.toml --to json
  mmgp export --runs runs.csv --to extra-p --out runs.txt";

pub fn run(arguments: &Arguments) -> Result<Answer> {
    Guard::default()
        .reads("--params", arguments.params.as_deref().and_then(parameter_file))
        .reads("--runs", arguments.runs.as_deref())
        .writes("--out", arguments.out.as_deref())
        .check()?;
    if let Some(name) = &arguments.params {
        let target: Target = arguments.to.parse()?;
        let parameters = parameters(name)?;
        if target != Target::Json {
            warn(parameters.refined_left_out().as_slice());
        }
        warn(of_others(&parameters, target).as_slice());
        data(arguments.out.as_deref(), &target.write(&parameters))?;
    }
    if let Some(path) = &arguments.runs {
        let target: RunsTarget = arguments.to.parse()?;
        let progress = waiting("reading", Verbosity::Usual);
        let (runs, warnings) = intake::runs(&Source::read_any(path)?, &Claims::default())?;
        let text = target.write(&runs)?;
        progress.finish_and_clear();
        warn(&warnings);
        data(arguments.out.as_deref(), &text)?;
        let file = arguments.out.as_ref().map_or("FILE".into(), |out| out.display().to_string());
        line(&format!("to fit a model with Extra-P:\n{}", target.command(&file)));
    }
    Ok(Answer::Done)
}

/// What a format does not say of what is no time.
fn of_others(parameters: &Parameters, target: Target) -> Option<Warning> {
    let quantity = &parameters.quantity;
    let said = quantity.said_of_terms().filter(|_| target != Target::Json)?;
    Some(Warning::Note(format!("runs are {quantity}: every time in {} is {said}", target.name())))
}
