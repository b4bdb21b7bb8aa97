//! The flags of RAxML.

use std::path::Path;

use clap::{Args, ValueEnum};

use crate::apps::phylogeny::{Patterns, Tree};
use crate::apps::raxml::search::{Effort, Rates, Settings, Start};
use crate::apps::raxml::{Port, Raxml, Tasks};
use crate::error::Result;

/// What is searched where nothing is said of it, when a program is profiled and run at every
/// configuration: as many as the largest machine of the papers has SPEs.
pub const STUDY: Tasks = Tasks { inferences: 0, bootstraps: 16 };
/// The same when it is run once: a tree with supports.
pub const ONCE: Tasks = Tasks { inferences: 1, bootstraps: 3 };

/// What RAxML is to do.
#[derive(Args)]
pub struct RaxmlArguments {
    /// How rates vary over sites, under GTR with empirical frequencies
    #[arg(long, value_enum, default_value = "gamma")]
    pub model: Variation,
    /// Searches from different starts [default: 1 for emulate, else 0]
    #[arg(long, value_name = "N")]
    pub inferences: Option<u32>,
    /// Searches on resampled columns [default: 3 for emulate, else 16]
    #[arg(long, value_name = "N")]
    pub bootstraps: Option<u32>,
    /// How the functions of RAxML run
    #[arg(long, value_enum, default_value = "tuned")]
    pub port: PortArgument,
    /// Where a search begins: parsimony, random, or a tree (Newick), as --tree has it
    #[arg(long, value_name = "parsimony|random|FILE", default_value = "parsimony")]
    pub start: String,
    /// How much is searched
    #[arg(long, value_enum, default_value = "short")]
    pub search: Search,
}

/// [`Rates`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Variation {
    /// Each pattern is a mixture of four rates
    Gamma,
    /// Each pattern has one of at most 25 rates
    Cat,
}

/// [`Port`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PortArgument {
    /// On the SPEs, rewritten for them
    Tuned,
    /// On the SPEs, as first ported
    Naive,
    /// On the host
    Ppe,
}

/// [`Effort`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Search {
    /// The beginning of each phase, for a study of the machine
    Short,
    /// Until nothing is gained
    Whole,
}

impl RaxmlArguments {
    /// The file of the tree that a search begins at, where it does not make one.
    pub fn tree(&self) -> Option<&Path> {
        let made = ["parsimony", "random"].contains(&self.start.as_str());
        (!made).then(|| Path::new(&self.start))
    }

    /// RAxML with its input; of `tasks` the number of each kind of which nothing is said.
    pub fn read(
        &self,
        patterns: Patterns,
        tree: Option<Tree>,
        (seed, tasks): (u64, Tasks),
    ) -> Result<Raxml> {
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
        let port = match self.port {
            PortArgument::Tuned => Port::Tuned,
            PortArgument::Naive => Port::Naive,
            PortArgument::Ppe => Port::Ppe,
        };
        Raxml::new(patterns, Settings { seed, rates, start, effort }, tasks, port)
    }
}
