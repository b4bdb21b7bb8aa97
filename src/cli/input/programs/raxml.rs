//! RAxML on the command line.

use std::path::Path;

use clap::{Args, ValueEnum};

use super::{Entry, Program, Size};
use crate::apps::phylogeny::alignment::Alignment;
use crate::apps::phylogeny::{Patterns, Tree};
use crate::apps::raxml::search::{Effort, Rates, Settings, Start};
use crate::apps::raxml::{Columns, HostVersion, NAME, Raxml, Tasks};
use crate::apps::{Application, Port};
use crate::cli::emulate::{self, LIKELIHOOD, Once, RAXML_FILES, RaxmlOnce, SIMULATE_ALIGNMENT};
use crate::cli::input::{
    AlignmentArguments, HostCompilerArgument, PlacementArguments, PortArgument, PortArguments,
    SeedArguments, simulated_at,
};
use crate::complexity::Sizes;
use crate::error::Result;
use crate::runtime::Teams;

/// Searches where nothing is said of them, when a program is profiled and run at every
/// configuration: as many as the largest machine of the papers has SPEs.
const STUDY: Tasks = Tasks { inferences: 0, bootstraps: 16 };
/// Searches where nothing is said of them and it runs once: a tree with supports.
const ONCE: Tasks = Tasks { inferences: 1, bootstraps: 3 };
/// Searches where nothing is said of them and it is counted at many sizes.
const COUNTED: Tasks = Tasks { inferences: 0, bootstraps: 1 };

/// The port where nothing is said of it: as the papers measured it.
const PORT: PortArgument = PortArgument::Unfused;

/// The program on the command line.
pub const ENTRY: Entry = Entry {
    tools: &[LIKELIHOOD, SIMULATE_ALIGNMENT],
    folder_files: &RAXML_FILES,
    ..Entry::of::<RaxmlArguments>(
        NAME,
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
    #[arg(long, value_enum, default_value = "gamma")]
    pub model: Variation,
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
    #[arg(long, value_enum, default_value = "master")]
    pub loops: Loops,
    /// Length of a search
    #[arg(long, value_enum, default_value = "short")]
    pub search: Search,
    /// Columns that a bootstrap computes
    #[arg(long, value_name = "all|drawn", value_enum, default_value = "all")]
    pub bootstrap_columns: ColumnsArgument,
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

    fn port(&self) -> Option<PortArgument> {
        self.port.port
    }

    fn host_compiler(&self) -> HostCompilerArgument {
        self.port.host_compiler
    }
}

/// [`Teams`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Loops {
    /// One of them, the master, which does all but the loops (PPoPP 2007)
    Master,
    /// The host, each of them, which then all compute the tables of a branch
    Host,
}

impl From<Loops> for Teams {
    fn from(loops: Loops) -> Self {
        match loops {
            Loops::Master => Self::ByMaster,
            Loops::Host => Self::ByHost,
        }
    }
}

/// [`Rates`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Variation {
    /// Each pattern is a mixture of four rates
    Gamma,
    /// Each pattern has one of at most 25 rates
    Cat,
}

/// [`Effort`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Search {
    /// The beginning of each phase, for a study of the machine
    Short,
    /// Until nothing is gained
    Whole,
}

/// [`Columns`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ColumnsArgument {
    /// All of the alignment, as the papers' program does
    All,
    /// Those that were drawn
    Drawn,
}

impl RaxmlArguments {
    /// Port of its functions to the machine.
    pub fn usual_port(&self) -> PortArgument {
        self.port.port.unwrap_or(PORT)
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
        let raxml = raxml.compiled_by(self.port.host_compiler.into());
        let raxml = raxml.placed(self.placement.placement.into()).teamed(self.loops.into());
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
        let port = Port::from(self.usual_port());
        let rates = match self.model {
            Variation::Gamma => Rates::Gamma,
            Variation::Cat => Rates::Cat,
        };
        let start = match (tree, self.start.as_str()) {
            (Some(tree), _) => Start::Given(tree),
            (None, "random") => Start::Random,
            (None, _) => Start::Parsimony,
        };
        let effort = match self.search {
            Search::Short => Effort::SHORT,
            Search::Whole => Effort::WHOLE,
        };
        let tasks = Tasks {
            inferences: self.inferences.unwrap_or(tasks.inferences),
            bootstraps: self.bootstraps.unwrap_or(tasks.bootstraps),
        };
        let columns = match self.bootstrap_columns {
            ColumnsArgument::All => Columns::All,
            ColumnsArgument::Drawn => Columns::Drawn,
        };
        let settings = Settings::new(self.seed.seed, rates).starting_at(start).with_effort(effort);
        let settings = settings.with_columns(columns);
        Raxml::new(patterns, settings, tasks, port)
    }
}
