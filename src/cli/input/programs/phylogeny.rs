//! PBPI and RAxML on the command line.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::{Entry, Program, Size};
use crate::apps::pbpi::{self, Acceptance, Coupling, Pbpi, Sampling};
use crate::apps::phylogeny::alignment::Alignment;
use crate::apps::phylogeny::{Patterns, Tree};
use crate::apps::raxml::search::{Effort, Rates, Settings, Start};
use crate::apps::raxml::{self, Columns, HostVersion, Modules, Raxml, Tasks};
use crate::apps::{Application, Port};
use crate::cli::choice::one_of;
use crate::cli::emulate::{
    self, LIKELIHOOD, Once, PbpiOnce, RAXML_FILES, RaxmlOnce, SIMULATE_ALIGNMENT,
};
use crate::cli::input::{
    AlignmentArguments, PlacementArguments, PortArguments, SeedArguments, simulated_at,
};
use crate::complexity::Sizes;
use crate::error::Result;
use crate::runtime::Teams;

/// The port where nothing is said of it.
const PBPI_PORT: Port = Port::Tuned;

/// PBPI on the command line.
pub const PBPI: Entry = Entry {
    flags: &[
        ("the number of chains", "--chains"),
        ("the step of the temperatures", "--heating"),
        ("generations between two swaps", "--swap-every"),
        ("rows of processes", "--rows"),
        ("generations between two samples", "--sample-every"),
        ("the share of the burn-in", "--burn-in"),
    ],
    ..Entry::of::<PbpiArguments>(
        pbpi::NAME,
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
        let port = self.port.port.unwrap_or(PBPI_PORT);
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
            pbpi::NAME => SamplingArguments::augment_args(command),
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

/// Searches where nothing is said of them, when a program is profiled and run at every
/// configuration: as many as the largest machine of the papers has SPEs.
const STUDY: Tasks = Tasks { inferences: 0, bootstraps: 16 };
/// Searches where nothing is said of them and it runs once: a tree with supports.
const ONCE: Tasks = Tasks { inferences: 1, bootstraps: 3 };
/// Searches where nothing is said of them and it is counted at many sizes.
const COUNTED: Tasks = Tasks { inferences: 0, bootstraps: 1 };

/// The port where nothing is said of it: as the papers measured it.
const RAXML_PORT: Port = Port::Unfused;

/// RAxML on the command line.
pub const RAXML: Entry = Entry {
    tools: &[LIKELIHOOD, SIMULATE_ALIGNMENT],
    folder_files: &RAXML_FILES,
    ..Entry::of::<RaxmlArguments>(
        raxml::NAME,
        "Trees of maximum likelihood: searches from several starts, and bootstraps",
        Size::new("sites", &[250, 500, 1000, 2000]),
    )
};

/// Flags of RAxML.
#[derive(Args)]
pub struct RaxmlArguments {
    #[command(flatten)]
    given: AlignmentArguments,
    /// Variation of rates over sites, under GTR with empirical frequencies
    #[arg(long, value_parser = one_of(&RATES), default_value = "gamma")]
    pub model: Rates,
    /// Searches from different starts [default: 1 for emulate, else 0]
    #[arg(long, value_name = "N")]
    pub inferences: Option<u32>,
    /// Searches on resampled columns [default: 3 for emulate, else 16]
    #[arg(long, value_name = "N")]
    pub bootstraps: Option<u32>,
    /// Start of a search: parsimony, random, or a tree (Newick), as --tree has it
    #[arg(long, value_name = "parsimony|random|FILE", default_value = "parsimony")]
    pub start: String,
    /// Starter of the SPEs that share the loops of a function
    #[arg(long, value_parser = one_of(&TEAMS), default_value = "master")]
    pub loops: Teams,
    /// Modules in which the code of the functions comes to an SPE
    #[arg(long, value_parser = one_of(&MODULES), default_value = "one")]
    pub modules: Modules,
    /// Length of a search
    #[arg(long, value_parser = one_of(&EFFORTS), default_value = "short")]
    pub search: Effort,
    /// Columns that a bootstrap computes
    #[arg(long, value_name = "all|drawn", value_parser = one_of(&COLUMNS), default_value = "all")]
    pub bootstrap_columns: Columns,
    /// The host has the functions, too, for schedulers that test which side is faster
    #[arg(long)]
    pub host_version: bool,
    #[command(flatten)]
    seed: SeedArguments,
    #[command(flatten)]
    placement: PlacementArguments,
    #[command(flatten)]
    port: PortArguments,
}

impl Program for RaxmlArguments {
    fn seed(&self) -> u64 {
        self.seed.seed
    }

    fn read(&self) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.with_names(STUDY)?.0))
    }

    fn once(&self, _: &emulate::Arguments) -> Result<Box<dyn Once>> {
        let (raxml, names) = self.with_names(ONCE)?;
        Ok(Box::new(RaxmlOnce::new(raxml, names, self)))
    }

    /// One bootstrap on so many sites, for as many taxa as the papers' data set has.
    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.of(&simulated_at(42, sizes)?, COUNTED)?))
    }

    fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        let mut files = self.given.files();
        files.push(("--start", self.tree()));
        files
    }

    fn has_input(&self) -> bool {
        self.given.input.is_some()
    }

    fn port(&self) -> Option<&PortArguments> {
        Some(&self.port)
    }
}

/// Who starts the SPEs that share a loop.
const TEAMS: [(Teams, &str, &str); 2] = [
    (
        Teams::ByMaster,
        "master",
        "One of them, the master, which does all but the loops (PPoPP 2007)",
    ),
    (
        Teams::ByHost,
        "host",
        "The host, each of them, which then all compute the tables of a branch",
    ),
];

/// What an SPE holds of the code.
const MODULES: [(Modules, &str, &str); 2] = [
    (Modules::One, "one", "One of 117 KB has all functions and stays (PPoPP 2007)"),
    (
        Modules::ByFunction,
        "by-function",
        "Each is as large, and fetched by an SPE that held another function (nobody reports it)",
    ),
];

/// How rates vary over sites.
pub const RATES: [(Rates, &str, &str); 2] = [
    (Rates::Gamma, "gamma", "Each pattern is a mixture of four rates"),
    (Rates::Cat, "cat", "Each pattern has one of at most 25 rates"),
];

/// How much is searched.
pub const EFFORTS: [(Effort, &str, &str); 2] = [
    (Effort::SHORT, "short", "The beginning of each phase, for a study of the machine"),
    (Effort::WHOLE, "whole", "Until nothing is gained"),
];

/// The columns that a bootstrap may compute.
const COLUMNS: [(Columns, &str, &str); 2] = [
    (Columns::All, "all", "All of the alignment, as the papers' program does"),
    (Columns::Drawn, "drawn", "Those that were drawn"),
];

impl RaxmlArguments {
    /// Port of its functions to the machine.
    pub fn usual_port(&self) -> Port {
        self.port.port.unwrap_or(RAXML_PORT)
    }

    /// The program with its input, and the names of its taxa; with the searches of `tasks` of which
    /// nothing is said.
    fn with_names(&self, tasks: Tasks) -> Result<(Raxml, Vec<String>)> {
        let alignment = self.given.alignment("sim42")?;
        Ok((self.of(&alignment, tasks)?, alignment.names))
    }

    fn of(&self, alignment: &Alignment, tasks: Tasks) -> Result<Raxml> {
        let patterns = Patterns::compress(alignment);
        let tree = self.given.tree(self.tree(), &alignment.names)?;
        let raxml = self.searching(patterns, tree, tasks)?;
        let raxml = raxml.compiled_by(self.port.host_compiler);
        let raxml = raxml.placed(self.placement.placement).teamed(self.loops);
        let raxml = raxml.in_modules(self.modules);
        Ok(raxml.with_host_version(match self.host_version {
            true => HostVersion::Present,
            false => HostVersion::None,
        }))
    }

    /// The file of the tree that a search begins at, where it does not make one.
    pub fn tree(&self) -> Option<&Path> {
        let made = ["parsimony", "random"].contains(&self.start.as_str());
        (!made).then(|| Path::new(&self.start))
    }

    /// RAxML with its input; of `tasks` the number of each kind of which nothing is said.
    fn searching(&self, patterns: Patterns, tree: Option<Tree>, tasks: Tasks) -> Result<Raxml> {
        let start = match (tree, self.start.as_str()) {
            (Some(tree), _) => Start::Given(tree),
            (None, "random") => Start::Random,
            (None, _) => Start::Parsimony,
        };
        let tasks = Tasks {
            inferences: self.inferences.unwrap_or(tasks.inferences),
            bootstraps: self.bootstraps.unwrap_or(tasks.bootstraps),
        };
        let settings = Settings::new(self.seed.seed, self.model).starting_at(start);
        let settings = settings.with_effort(self.search).with_columns(self.bootstrap_columns);
        Raxml::new(patterns, settings, tasks, self.usual_port())
    }
}
