//! Machines, parameter sets and programs with their input, as flags name them.

pub mod programs;
mod runs;
mod subcommands;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command};

use super::choice::one_of;
use super::files::Guard;
use super::output::warn;
use crate::apps::Port;
use crate::apps::phylogeny::alignment::Alignment;
use crate::apps::phylogeny::{Tree, newick, simulate};
use crate::cell::Placement;
use crate::cell::ppe::HostCompiler;
use crate::complexity::Sizes;
use crate::error::{Error, Result};
use crate::lab::transaction;
use crate::machine::{Collectives, Machine};
use crate::measure::Emulated;
use crate::models::Parameters;
use crate::models::parameters::{published, published_names};
use crate::runtime::{Dispatch, Policy};
use crate::schedulers::{policies, policy_named};
use crate::table::{STANDARD_INPUT, Source};

pub use programs::{Size, Way, in_flags};
pub use runs::{ClaimArguments, RunArguments, Values, observations_in, runs_in};
pub use subcommands::{AppArguments, Programs, Tool, Tools, with_program};

/// Alignments that are compiled in.
const SHIPPED: [(&str, &str); 2] = [
    ("sim12", include_str!("../../data/sim12.phy")),
    ("sim24", include_str!("../../data/sim24.phy")),
];

/// An alignment that is made when it is asked for, by a simulation under JC69 with a fixed seed.
struct Simulated {
    name: &'static str,
    taxa: usize,
    sites: usize,
    mean_branch: f64,
    seed: u64,
}

/// Alignments of as many taxa and sites as the data sets of the papers, with branches so long that there are as
/// many distinct patterns: arch107_L10000 of the MMGP paper, which was simulated under JC69 too
/// (9,995 patterns; the paper 9,994), and 42_SC, on which RAxML was measured (228, as published).
const SIMULATED: [Simulated; 2] = [
    Simulated { name: "sim107", taxa: 107, sites: 10_000, mean_branch: 0.034, seed: 107 },
    Simulated { name: "sim42", taxa: 42, sites: 1167, mean_branch: 0.003_065, seed: 42 },
];

/// The machine that is no emulated one: this computer, for programs that run on it.
pub const HOST: &str = "host";

/// Flag of a machine.
#[derive(Args)]
pub struct MachineArguments {
    /// Machine: a built-in name (qs20, qs20-cell, qs22, ps3, roadrunner) or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "qs20")]
    pub machine: String,
}

impl MachineArguments {
    pub fn read(&self) -> Result<Machine> {
        machine(&self.machine)
    }

    /// The guard with the file of the machine, where it has one.
    pub fn guarded(&self, guard: Guard) -> Guard {
        guard.reads("--machine", machine_file(&self.machine))
    }

    /// The machine as a target.
    pub fn target(&self) -> Result<Emulated> {
        Ok(Emulated::new(self.read()?).choosing_from(policy_named))
    }
}

/// Files that were read.
static READ: Mutex<BTreeMap<PathBuf, Arc<Source>>> = Mutex::new(BTreeMap::new());

/// Has files read anew: for a process that asks more than once.
pub fn forget() {
    READ.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// A file that a flag names. It is read once: what is said of it later is of what was used, even where it
/// was a pipe, or has been replaced.
///
/// # Errors
/// [`Error::Read`], [`Error::Input`].
pub fn source(path: &Path) -> Result<Arc<Source>> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.get(path) {
        return Ok(Arc::clone(known));
    }
    let source = Arc::new(Source::read(path)?);
    read.insert(path.into(), Arc::clone(&source));
    Ok(source)
}

/// A machine by name or file.
pub fn machine(name: &str) -> Result<Machine> {
    match machine_file(name) {
        Some(path) => Machine::read(&*source(path)?),
        None => Machine::named(name),
    }
}

/// The file of a machine that is not built in.
pub fn machine_file(name: &str) -> Option<&Path> {
    is_file(name).then_some(Path::new(name))
}

/// A parameter set by name or file.
pub fn parameters(name: &str) -> Result<Parameters> {
    match parameter_file(name) {
        Some(path) => {
            let source = source(path)?;
            warn(Vec::from_iter(transaction::doubt(&source)?).as_slice());
            Parameters::read(&source)
        }
        None => published(name),
    }
}

/// The file of a parameter set that is not a published one.
pub fn parameter_file(name: &str) -> Option<&Path> {
    let is_published = published_names().any(|known| known == name);
    (!is_published && is_file(name)).then_some(Path::new(name))
}

/// Whether an argument means a file rather than something built in.
pub fn is_file(name: &str) -> bool {
    name == STANDARD_INPUT || name.contains(['/', '\\', '.']) || Path::new(name).exists()
}

/// Flags of the alignment and the tree that a program begins with.
#[derive(Args)]
pub struct AlignmentArguments {
    /// Alignment: a PHYLIP or FASTA file, or one that is built in: sim12, sim24, sim42 (42 taxa,
    /// 1,167 sites), sim107 (107 taxa, 10,000 sites) [default: sim107 for pbpi, sim42 for raxml]
    #[arg(long, value_name = "NAME|FILE")]
    pub input: Option<String>,
    /// Tree to start from (Newick); without it, a random one, with RAxML as --start says
    #[arg(long, value_name = "FILE")]
    pub tree: Option<PathBuf>,
}

impl AlignmentArguments {
    /// The alignment, or the given one where none is named.
    fn alignment(&self, default: &str) -> Result<Alignment> {
        alignment(self.input.as_deref().unwrap_or(default))
    }

    /// The tree to start from, or that of another file, for an alignment of these taxa.
    fn tree(&self, other: Option<&Path>, names: &[String]) -> Result<Option<Tree>> {
        let file = self.tree.as_deref().or(other);
        file.map(|path| newick::read(&*source(path)?, names)).transpose()
    }

    /// The files among them, each with its flag.
    fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        vec![("--input", input_file(self.input.as_deref())), ("--tree", self.tree.as_deref())]
    }
}

/// The file that `--input` names, where it is not built in.
fn input_file(input: Option<&str>) -> Option<&Path> {
    input.filter(|name| is_file(name)).map(Path::new)
}

/// Flag of random numbers.
#[derive(Args)]
pub struct SeedArguments {
    /// Seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
}

/// Flag of the placement of data.
#[derive(Args)]
pub struct PlacementArguments {
    /// Memory in which the data of a process lie
    #[arg(long, value_parser = one_of(&PLACEMENTS), default_value = "own-cell")]
    pub placement: Placement,
}

/// Flags of a program's port to the machine.
#[derive(Args)]
pub struct PortArguments {
    /// Port of the functions that can be off-loaded [default: 2006 for raxml, else tuned]
    #[arg(long, value_parser = one_of(&PORTS))]
    pub port: Option<Port>,
    /// Compiler of the code that the functions are on the host
    #[arg(long, value_parser = one_of(&HOST_COMPILERS), default_value = "gcc")]
    pub host_compiler: HostCompiler,
}

/// The memories in which the data of a process may lie.
const PLACEMENTS: [(Placement, &str, &str); 3] = [
    (Placement::OwnCell, "own-cell", "On the Cell of the process"),
    (Placement::Interleaved, "interleaved", "Page by page on all Cells"),
    (Placement::BySpe, "by-spe", "On the Cell of the SPE that works on them"),
];

/// The ports of a program to the machine.
pub const PORTS: [(Port, &str, &str); 4] = [
    (Port::Tuned, "tuned", "On the SPEs, rewritten for them, multiply and add in one instruction"),
    (Port::Unfused, "2006", "The same as compilers had it in 2006: multiply and add apart"),
    (Port::Naive, "naive", "On the SPEs, as first ported"),
    (Port::Ppe, "ppe", "On the host"),
];

/// The compilers of the code that functions are on the host.
pub const HOST_COMPILERS: [(HostCompiler, &str, &str); 3] = [
    (HostCompiler::Gcc, "gcc", "GCC of 2006: each operation waits for the one before"),
    (HostCompiler::Xlc, "xlc", "IBM's XL C: scheduled, and turns of a loop overlap"),
    (HostCompiler::Ideal, "ideal", "Each turn of a loop scheduled, with registers without end"),
];

/// An alignment by name or file.
pub fn alignment(name: &str) -> Result<Alignment> {
    if let Some(simulated) = SIMULATED.iter().find(|simulated| simulated.name == name) {
        let &Simulated { taxa, sites, mean_branch, seed, .. } = simulated;
        let tree = simulate::tree(taxa, mean_branch, seed)?;
        return simulate::alignment(&tree, &simulate::names(taxa), sites, seed);
    }
    match SHIPPED.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Alignment::read(&Source::new(name, text)),
        None if is_file(name) => Alignment::read(&*source(Path::new(name))?),
        None => {
            let shipped = SHIPPED.iter().map(|&(known, _)| known);
            let known = shipped.chain(SIMULATED.iter().map(|known| known.name));
            Err(Error::unknown_name("alignment", name, known))
        }
    }
}

/// An alignment of as many sites as `n` says, along a tree with branches as long as those of sim107:
/// few columns are alike.
pub fn simulated_at(taxa: usize, sizes: &Sizes) -> Result<Alignment> {
    let [Simulated { mean_branch, seed, .. }, _] = SIMULATED;
    let sites = sizes.of("n").map_or(0, |n| n as usize);
    let tree = simulate::tree(taxa, mean_branch, seed)?;
    simulate::alignment(&tree, &simulate::names(taxa), sites, seed)
}

/// Flag of the threads of this computer.
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

/// Flags of the scheduler and of collectives.
#[derive(Args)]
pub struct SchedulerArguments {
    /// Scheduler of the host processes; some have variants, as edtlp:ready, or sled:kernel-10, whose scans are 10
    /// passes long
    #[arg(
        id = "scheduler",
        long = "scheduler",
        value_name = "SCHEDULER",
        value_parser = SchedulerParser,
        default_value = "edtlp"
    )]
    name: String,
    /// Order in which EDTLP gives hardware threads to processes
    #[arg(long, value_name = "ORDER", value_parser = orders())]
    dispatch: Option<String>,
    /// Cost of a collective operation of MPI
    #[arg(long, value_parser = one_of(&COLLECTIVES), default_value = "messages")]
    collectives: Collectives,
}

/// What a collective may cost.
const COLLECTIVES: [(Collectives, &str, &str); 3] = [
    (Collectives::Messages, "messages", "Its messages, by recursive doubling (MPICH 1.2.7)"),
    (
        Collectives::ReduceAndBroadcast,
        "reduce-and-broadcast",
        "Its messages, to one rank and from there to all, as MPICHs before",
    ),
    (
        Collectives::Table,
        "table",
        "Times that were measured for so many ranks: an input, which comes out again",
    ),
];

impl SchedulerArguments {
    /// The scheduler and, where one was chosen, its order, as [`policy_named`] reads them.
    pub fn name(&self) -> String {
        match &self.dispatch {
            Some(order) => format!("{}:{order}", self.name),
            None => self.name.clone(),
        }
    }

    /// The machine as a target under the scheduler.
    ///
    /// # Errors
    /// [`UnknownName`](crate::Error::UnknownName) where the scheduler has no orders to choose from.
    pub fn target(&self, machine: &MachineArguments) -> Result<Emulated> {
        Emulated::new(self.read(machine)?).choosing_from(policy_named).under(&self.name())
    }

    /// The machine, its collectives as chosen.
    pub fn read(&self, machine: &MachineArguments) -> Result<Machine> {
        let mut machine = machine.read()?;
        machine.mpi.collectives = self.collectives;
        Ok(machine)
    }

    /// Cost of a collective, as a report names it.
    pub fn collectives(&self) -> &'static str {
        match self.collectives {
            Collectives::Messages => "messages",
            Collectives::ReduceAndBroadcast => "messages (reduce and broadcast)",
            Collectives::Table => "table (input)",
        }
    }

    /// A policy for one run.
    ///
    /// # Errors
    /// [`UnknownName`](crate::Error::UnknownName) where the scheduler has no orders to choose from.
    pub fn policy(&self) -> Result<Box<dyn Policy>> {
        policy_named(&self.name())
    }
}

/// A scheduler as the help lists it.
fn possible_value(policy: Box<dyn Policy>) -> PossibleValue {
    PossibleValue::new(policy.name()).help(policy.summary())
}

/// The name of a scheduler, or of a variant of one, as [`policy_named`] reads them.
#[derive(Clone)]
struct SchedulerParser;

impl TypedValueParser for SchedulerParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> std::result::Result<String, clap::Error> {
        let variant = value.to_str().filter(|name| name.contains(':'));
        match variant.map(|name| (name, policy_named(name))) {
            Some((name, Ok(_))) => Ok(name.into()),
            Some((name, Err(Error::UnknownName { known, .. }))) => {
                let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
                if let Some(argument) = argument {
                    let argument = ContextValue::String(argument.to_string());
                    error.insert(ContextKind::InvalidArg, argument);
                }
                error.insert(ContextKind::InvalidValue, ContextValue::String(name.into()));
                error.insert(ContextKind::ValidValue, ContextValue::Strings(known));
                Err(error)
            }
            _ => {
                let plain = PossibleValuesParser::new(policies().into_iter().map(possible_value));
                plain.parse_ref(command, argument, value)
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(policies().into_iter().map(possible_value)))
    }
}

fn orders() -> PossibleValuesParser {
    let value = |order: Dispatch| PossibleValue::new(order.name()).help(order.summary());
    PossibleValuesParser::new(Dispatch::ALL.map(value))
}
