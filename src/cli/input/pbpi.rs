//! PBPI on the command line.

use std::path::PathBuf;

use clap::Args;

use super::{AppArguments, Entry, PROCESSORS, PortArgument, Size, simulated_at, single};
use crate::apps::Application;
use crate::apps::pbpi::{Acceptance, Coupling, NAME, Pbpi, Sampling};
use crate::apps::phylogeny::Patterns;
use crate::apps::phylogeny::alignment::Alignment;
use crate::cli::emulate::PbpiOnce;
use crate::cli::study;
use crate::complexity::Sizes;
use crate::error::{Error, Result};

/// The port where nothing is said of it.
const PORT: PortArgument = PortArgument::Tuned;

/// How it is read.
pub const ENTRY: Entry = Entry {
    name: NAME,
    read: |arguments| Ok(Box::new(read(arguments)?.0)),
    once: |arguments, emulate| {
        let (pbpi, names) = read(arguments)?;
        Ok(Box::new(PbpiOnce::new(pbpi, names, emulate.samples())?))
    },
    size: Size {
        name: "sites",
        defaults: &[1000, 2000, 4000, 8000],
        processors: &PROCESSORS,
        further: &[],
        at: at_size,
    },
    study: study::by_mapping,
    native: None,
    plain: None,
    mapping: single,
    folder_files: &[],
    flags: &[
        ("the number of chains", "--chains"),
        ("the step of the temperatures", "--heating"),
        ("generations between two swaps", "--swap-every"),
        ("rows of processes", "--rows"),
        ("generations between two samples", "--sample-every"),
        ("the share of the burn-in", "--burn-in"),
    ],
};

/// Generations, where nothing is said of them.
const GENERATIONS: u32 = 100;
/// The same where it runs at many sizes.
const FEW_GENERATIONS: u32 = 3;

/// The program with its input, and what its taxa are called.
fn read(arguments: &AppArguments) -> Result<(Pbpi, Vec<String>)> {
    of_alignment(arguments, arguments.alignment("sim107")?, GENERATIONS)
}

/// The program on so many sites, for as many taxa as the papers' data set has.
fn at_size(arguments: &AppArguments, sizes: &Sizes) -> Result<Box<dyn Application>> {
    let alignment = simulated_at(107, sizes)?;
    Ok(Box::new(of_alignment(arguments, alignment, FEW_GENERATIONS)?.0))
}

fn of_alignment(
    arguments: &AppArguments,
    alignment: Alignment,
    generations: u32,
) -> Result<(Pbpi, Vec<String>)> {
    let generations = arguments.generations.unwrap_or(generations);
    let patterns = Patterns::compress(&alignment);
    let tree = arguments.tree(None, &alignment.names)?;
    let pbpi = Pbpi::new(patterns, tree, arguments.seed, generations)?;
    let pbpi = pbpi.named(alignment.names.clone())?;
    let pbpi =
        pbpi.placed(arguments.placement.into()).ported(arguments.port.unwrap_or(PORT).into());
    let pbpi = pbpi.compiled_by(arguments.host_compiler.into());
    Ok((arguments.pbpi.apply(pbpi)?, alignment.names))
}

/// Its chains.
#[derive(Args)]
pub struct PbpiArguments {
    /// Chains at different temperatures, which swap them (Metropolis coupling)
    #[arg(long, value_name = "N", default_value_t = 1)]
    chains: u32,
    /// Rows of host processes, which share the chains; must divide m
    #[arg(long, value_name = "R", default_value_t = 1)]
    rows: u32,
    /// Step of the ladder of temperatures: 1 / (1 + i * X) for i = 0, 1...
    #[arg(long, value_name = "X", default_value_t = Coupling::HEATING)]
    heating: f64,
    /// Generations between two attempts to swap
    #[arg(long, value_name = "N", default_value_t = Coupling::SWAP_EVERY)]
    swap_every: u32,
    /// Accept by the likelihood alone, as the original PBPI does; what this samples is not the
    /// posterior
    #[arg(long)]
    original_acceptance: bool,
}

impl PbpiArguments {
    /// The program with these chains.
    pub fn apply(&self, pbpi: Pbpi) -> Result<Pbpi> {
        let coupling = Coupling::new(self.chains, self.heating, self.swap_every)?;
        let acceptance = match self.original_acceptance {
            true => Acceptance::Original,
            false => Acceptance::MetropolisHastings,
        };
        Ok(pbpi.coupled(coupling.on_rows(self.rows)?).accepting(acceptance))
    }
}

/// What is kept of the states of its cold chain.
#[derive(Args)]
pub struct SamplingArguments {
    /// Sample the cold chain after every N-th generation [default: 10 with --samples or
    /// --consensus, else never]
    #[arg(long, value_name = "N")]
    sample_every: Option<u32>,
    /// File for the samples (CSV): generation, ln likelihood, tree
    #[arg(long, value_name = "FILE")]
    pub samples: Option<PathBuf>,
    /// Share of the generations that comes before those that count for the consensus
    #[arg(long, value_name = "FRACTION", default_value_t = 0.25)]
    burn_in: f64,
    /// File for the majority-rule consensus of the samples, with posterior probabilities (Newick)
    #[arg(long, value_name = "FILE")]
    pub consensus: Option<PathBuf>,
}

impl SamplingArguments {
    /// Generations between two samples where only a file is asked for.
    const EVERY: u32 = 10;

    /// The program with its samples, where any are asked for.
    pub fn apply(&self, pbpi: Pbpi) -> Result<Pbpi> {
        match self.every() {
            Some(every) => pbpi.sampled(Sampling::new(every, self.burn_in)?),
            None => Ok(pbpi),
        }
    }

    /// Refuses samples of another program.
    pub fn refuse(&self, app: &str) -> Result<()> {
        match self.every() {
            None => Ok(()),
            Some(_) => Err(Error::OutOfRange {
                name: "--sample-every, --samples and --consensus",
                found: format!("--app {app}"),
                expected: "--app pbpi, which has samples".into(),
            }),
        }
    }

    fn every(&self) -> Option<u32> {
        let wants_file = self.samples.is_some() || self.consensus.is_some();
        self.sample_every.or(wants_file.then_some(Self::EVERY))
    }
}
