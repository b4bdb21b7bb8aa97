//! What the flags name: machines, parameter sets, programs with their input.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::apps::App;
use crate::apps::pbpi::Pbpi;
use crate::apps::phylogeny::alignment::Alignment;
use crate::apps::phylogeny::patterns::Patterns;
use crate::apps::phylogeny::{newick, simulate};
use crate::cell::Placement;
use crate::error::{Error, Result};
use crate::machine::Machine;
use crate::model::Parameters;
use crate::model::published::{published, published_names};
use crate::table::Source;

/// Alignments that are compiled in.
const SHIPPED: [(&str, &str); 2] = [
    ("sim12", include_str!("../../data/sim12.phy")),
    ("sim24", include_str!("../../data/sim24.phy")),
];

/// The alignment of the default study, made when it is asked for: as many taxa and sites as the
/// data set arch107_L10000 of the MMGP paper, which was simulated under JC69 too; the branches are
/// so long that it has as many distinct patterns within 0.1 % (9,995; the paper 9,994).
const SIM107: &str = "sim107";
const SIM107_TAXA: usize = 107;
const SIM107_SITES: usize = 10_000;
const SIM107_MEAN_BRANCH: f64 = 0.034;
const SIM107_SEED: u64 = 107;

/// Which machine.
#[derive(Args)]
pub struct MachineArguments {
    /// Machine: a built-in name (qs20, qs22, ps3) or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "qs20")]
    pub machine: String,
}

impl MachineArguments {
    pub fn read(&self) -> Result<Machine> {
        machine(&self.machine)
    }
}

/// A machine by name or file.
pub fn machine(name: &str) -> Result<Machine> {
    if is_file(name) {
        Machine::read(&Source::read(Path::new(name))?)
    } else {
        Machine::named(name)
    }
}

/// A parameter set by name or file.
pub fn parameters(name: &str) -> Result<Parameters> {
    if published_names().any(|known| known == name) || !is_file(name) {
        return published(name);
    }
    Parameters::read(&Source::read(Path::new(name))?)
}

/// Whether an argument means a file rather than something built in.
fn is_file(name: &str) -> bool {
    name.contains(['/', '\\', '.']) || Path::new(name).exists()
}

/// Which program, on which input.
#[derive(Args)]
pub struct AppArguments {
    /// Application
    #[arg(long, value_name = "NAME", default_value = "pbpi")]
    pub app: String,
    /// Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim107 (107 taxa,
    /// 10,000 sites)
    #[arg(long, value_name = "NAME|FILE", default_value = SIM107)]
    pub input: String,
    /// Tree to start from (Newick); without it, a random one
    #[arg(long, value_name = "FILE")]
    pub tree: Option<PathBuf>,
    /// Generations of the Markov chain
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub generations: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Where the data of a process lie
    #[arg(long, value_enum, default_value = "own-cell")]
    pub placement: PlacementArgument,
}

/// [`Placement`] on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum PlacementArgument {
    /// On the Cell of the process
    OwnCell,
    /// Page by page on all Cells
    Interleaved,
    /// On the Cell of the SPE that works on them
    BySpe,
}

impl AppArguments {
    /// The program with its input.
    pub fn read(&self) -> Result<App> {
        App::check_name(&self.app)?;
        let alignment = alignment(&self.input)?;
        let tree = match &self.tree {
            Some(path) => Some(newick::read(&Source::read(path)?, &alignment.names)?),
            None => None,
        };
        let patterns = Patterns::compress(&alignment);
        let placement = match self.placement {
            PlacementArgument::OwnCell => Placement::OwnCell,
            PlacementArgument::Interleaved => Placement::Interleaved,
            PlacementArgument::BySpe => Placement::BySpe,
        };
        let pbpi = Pbpi::new(patterns, tree, self.seed, self.generations)?;
        Ok(App::Pbpi(pbpi.placed(placement)))
    }
}

/// An alignment by name or file.
pub fn alignment(name: &str) -> Result<Alignment> {
    if name == SIM107 {
        let tree = simulate::tree(SIM107_TAXA, SIM107_MEAN_BRANCH, SIM107_SEED)?;
        return simulate::alignment(
            &tree,
            &simulate::names(SIM107_TAXA),
            SIM107_SITES,
            SIM107_SEED,
        );
    }
    match SHIPPED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Alignment::read(&Source::new(name, text)),
        None if is_file(name) => Alignment::read(&Source::read(Path::new(name))?),
        None => {
            let shipped = SHIPPED.iter().map(|&(known, _)| known);
            let known = shipped.chain([SIM107]).map(String::from).collect();
            Err(Error::UnknownName { kind: "alignment", name: name.into(), known })
        }
    }
}

/// How many threads of this computer to use.
#[derive(Args)]
pub struct ThreadArguments {
    /// Threads of this computer to use; without it, all
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
}

impl ThreadArguments {
    pub fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }
}
