//! `mmgp likelihood`

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::output::{Format, data, json};
use super::{Answer, input};
use crate::apps::App;
use crate::apps::pbpi::Pbpi;
use crate::apps::phylogeny::newick;
use crate::apps::phylogeny::patterns::Patterns;
use crate::cell::KernelTiming;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::table::Source;

/// Log-likelihood of a tree, through the SPU kernels
#[derive(Args)]
#[command(after_help = "Example: mmgp likelihood --alignment a.phy --tree a.nwk --model JC69")]
pub struct Arguments {
    /// Alignment: a PHYLIP or FASTA file, or a built-in one (sim12, sim24, sim107)
    #[arg(long, value_name = "NAME|FILE")]
    alignment: String,
    /// Tree with branch lengths (Newick)
    #[arg(long, value_name = "FILE")]
    tree: PathBuf,
    /// Model of substitution; JC69 is the only one so far
    #[arg(long, value_name = "MODEL", default_value = JC69)]
    model: String,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

const JC69: &str = "JC69";

#[derive(Serialize)]
struct Report {
    model: &'static str,
    taxa: usize,
    sites: usize,
    patterns: usize,
    log_likelihood: f64,
}

pub fn run(arguments: &Arguments) -> Result<Answer> {
    if !arguments.model.eq_ignore_ascii_case(JC69) {
        let (name, known) = (arguments.model.clone(), vec![JC69.to_string()]);
        return Err(Error::UnknownName { kind: "model of substitution", name, known });
    }
    let alignment = input::alignment(&arguments.alignment)?;
    let tree = newick::read(&Source::read(&arguments.tree)?, &alignment.names)?;
    let patterns = Patterns::compress(&alignment);
    let (taxa, sites, distinct) = (alignment.taxa(), alignment.sites(), patterns.len());
    // A chain of no generations evaluates its first tree.
    let app = App::Pbpi(Pbpi::new(patterns, Some(tree), 0, 0)?);
    let outcome = app.emulate(&Machine::named("qs20")?, (1, 1), KernelTiming::Cached, 0.0)?;
    let log_likelihood = outcome.log_likelihood;
    let report = Report { model: JC69, taxa, sites, patterns: distinct, log_likelihood };
    let text = match arguments.format {
        Format::Json => json(&report),
        Format::Csv => format!("log_likelihood\n{log_likelihood}\n"),
        Format::Table => format!(
            "{taxa} taxa, {sites} sites, {distinct} patterns\nln likelihood {log_likelihood} \
             under {JC69}\n"
        ),
    };
    data(None, &text)?;
    Ok(Answer::Done)
}
