//! PBPI on the command line.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::{Entry, Program, Size};
use crate::apps::{Application, Port};
use crate::apps::pbpi::{Acceptance, Coupling, NAME, Pbpi, Sampling};
use crate::apps::phylogeny::Patterns;
use crate::apps::phylogeny::alignment::Alignment;
use crate::cli::emulate::{self, Once, PbpiOnce};
use crate::cli::input::{
    AlignmentArguments, PlacementArguments, PortArguments,
    SeedArguments, simulated_at,
};
use crate::complexity::Sizes;
use crate::error::Result;

/// The port where nothing is said of it.
const PORT: Port = Port::Tuned;

/// The program on the command line.
pub const ENTRY: Entry = Entry {
    flags: &[
        ("the number of chains", "--chains"),
        ("the step of the temperatures", "--heating"),
        ("generations between two swaps", "--swap-every"),
        ("rows of processes", "--rows"),
        ("generations between two samples", "--sample-every"),
        ("the share of the burn-in", "--burn-in"),
    ],
    ..Entry::of::<PbpiArguments>(
        NAME,
        "Trees by Bayesian inference: Metropolis-coupled Markov chains",
        Size::new("sites", &[1000, 2000, 4000, 8000]),
    )
};

/// Generations, where nothing is said of them.
const GENERATIONS: u32 = 100;
/// Generations where it runs at many sizes, and nothing is said of them.
const FEW_GENERATIONS: u32 = 3;

/// Flags of PBPI.
#[derive(Args)]
pub struct PbpiArguments {
    #[command(flatten)]
    given: AlignmentArguments,
    /// Generations of the Markov chain [default: 100; 3 where it is counted at many sizes]
    #[arg(long, value_name = "N")]
    generations: Option<u32>,
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
    #[command(flatten)]
    seed: SeedArguments,
    #[command(flatten)]
    placement: PlacementArguments,
    #[command(flatten)]
    port: PortArguments,
}

impl Program for PbpiArguments {
    fn seed(&self) -> u64 {
        self.seed.seed
    }

    fn read(&self) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.with_names()?.0))
    }

    fn once(&self, arguments: &emulate::Arguments) -> Result<Box<dyn Once>> {
        let (pbpi, names) = self.with_names()?;
        let samples = arguments.samples().expect("invariant: PBPI has samples");
        Ok(Box::new(PbpiOnce::new(pbpi, names, samples)?))
    }

    /// The program on so many sites, for as many taxa as the papers' data set has.
    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.of(&simulated_at(107, sizes)?, FEW_GENERATIONS)?))
    }

    fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        self.given.files()
    }

    fn has_input(&self) -> bool {
        self.given.input.is_some()
    }

    fn port(&self) -> Option<&PortArguments> {
        Some(&self.port)
    }
}

impl PbpiArguments {
    /// The program with its input, and the names of its taxa.
    fn with_names(&self) -> Result<(Pbpi, Vec<String>)> {
        let alignment = self.given.alignment("sim107")?;
        Ok((self.of(&alignment, GENERATIONS)?, alignment.names))
    }

    fn of(&self, alignment: &Alignment, generations: u32) -> Result<Pbpi> {
        let patterns = Patterns::compress(alignment);
        let tree = self.given.tree(None, &alignment.names)?;
        let generations = self.generations.unwrap_or(generations);
        let pbpi = Pbpi::new(patterns, tree, self.seed.seed, generations)?;
        let pbpi = pbpi.named(alignment.names.clone())?;
        let port = self.port.port.unwrap_or(PORT);
        let pbpi = pbpi.placed(self.placement.placement).ported(port);
        self.with_chains(pbpi.compiled_by(self.port.host_compiler))
    }

    fn with_chains(&self, pbpi: Pbpi) -> Result<Pbpi> {
        let coupling = Coupling::new(self.chains, self.heating, self.swap_every)?;
        let acceptance = match self.original_acceptance {
            true => Acceptance::Original,
            false => Acceptance::MetropolisHastings,
        };
        Ok(pbpi.coupled(coupling.on_rows(self.rows)?).accepting(acceptance))
    }
}

/// Flags of the samples of its cold chain.
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

/// Samples of PBPI among the flags of a run; none of another program.
pub struct Samples(pub Option<SamplingArguments>);

impl Args for Samples {
    fn augment_args(command: Command) -> Command {
        match command.get_name() {
            NAME => SamplingArguments::augment_args(command),
            _ => command,
        }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Samples {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        // It has a value wherever there is such a flag.
        let is_its = matches!(matches.try_get_one::<f64>("burn_in"), Ok(Some(_)));
        is_its.then(|| SamplingArguments::from_arg_matches(matches)).transpose().map(Self)
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
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

    fn every(&self) -> Option<u32> {
        let wants_file = self.samples.is_some() || self.consensus.is_some();
        self.sample_every.or(wants_file.then_some(Self::EVERY))
    }
}
