//! List ranking on the command line.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::{AppArguments, Entry, PROCESSORS, PortArgument, Size, is_file, single, source};
use crate::apps::Application;
use crate::apps::list_ranking::{Heads, ListRanking, NAME};
use crate::cli::emulate::ListRankingOnce;
#[cfg(unix)]
use crate::cli::emulate::{self, HostRanking, NativeReport};
use crate::cli::output::warn;
use crate::cli::study;
use crate::complexity::Sizes;
use crate::error::{Error, Result};
use crate::lists::{List, Operation, Order, Values};
#[cfg(unix)]
use crate::native::list_ranking::{Settings, measure};

/// How it is read.
pub const ENTRY: Entry = Entry {
    name: NAME,
    read: |arguments| Ok(Box::new(read(arguments)?)),
    once: |arguments, emulate| {
        emulate.samples().refuse(NAME)?;
        let (order, buffers) =
            (arguments.list_ranking.order(arguments), arguments.list_ranking.buffers);
        Ok(Box::new(ListRankingOnce { ranking: read(arguments)?, order, buffers }))
    },
    size: Size {
        name: "nodes",
        defaults: &[16384, 32768, 65536, 131072],
        processors: &PROCESSORS,
        further: &[SUBLISTS, BUFFERS],
        at: at_size,
    },
    study: study::list_ranking::study,
    #[cfg(unix)]
    native: Some(on_host),
    #[cfg(not(unix))]
    native: None,
    plain: None,
    mapping: single,
    folder_files: &[],
    flags: &[
        ("nodes of the list", "--nodes"),
        ("sublists", "--sublists"),
        ("DMA lists under way", "--buffers"),
        ("sublists in lock step", "--buffers"),
        ("threads that rank", "--p"),
        ("repetitions of the ranking", "--repetitions"),
        ("processes of list-ranking", "--m"),
    ],
};

/// What sublists are called where they are counted as they grow.
const SUBLISTS: &str = "s";
/// The same of DMA lists under way.
const BUFFERS: &str = "b";

/// The program with a list of n nodes, and perhaps so many sublists and DMA lists.
fn at_size(arguments: &AppArguments, sizes: &Sizes) -> Result<Box<dyn Application>> {
    let own = &arguments.list_ranking;
    let of = |name: &str, given: u32| sizes.of(name).map_or(given, |size| size as u32);
    let list = List::generate(of("n", NODES), own.order, own.values, arguments.seed)?;
    let choice = [of(SUBLISTS, own.sublists), of(BUFFERS, own.buffers)];
    Ok(Box::new(of_list(arguments, list, choice)?))
}

/// Nodes of the list where nothing is said of them.
pub const NODES: u32 = 1 << 20;

/// The program with its list.
fn read(arguments: &AppArguments) -> Result<ListRanking> {
    read_of(arguments, NODES)
}

/// The same, of so many nodes where nothing is said of them.
pub fn read_of(arguments: &AppArguments, nodes: u32) -> Result<ListRanking> {
    let own = &arguments.list_ranking;
    of_list(arguments, own.list(arguments, nodes)?, [own.sublists, own.buffers])
}

fn of_list(arguments: &AppArguments, list: List, choice: [u32; 2]) -> Result<ListRanking> {
    let own = &arguments.list_ranking;
    let refuse = |name, found: &str, expected: &str| {
        Err(Error::OutOfRange { name, found: found.into(), expected: expected.into() })
    };
    let order = own.order(arguments);
    let ranking = ListRanking::new(Arc::new(list), order, choice, arguments.seed)?;
    let ranking = ranking.with_operation(own.operation).headed(own.heads);
    let ranking = ranking.placed(arguments.placement.into());
    match arguments.port {
        None | Some(PortArgument::Tuned) => Ok(ranking),
        Some(PortArgument::Ppe) => Ok(ranking.on_host()),
        Some(PortArgument::Unfused) => refuse("--port", "2006", "tuned or ppe"),
        Some(PortArgument::Naive) => refuse("--port", "naive", "tuned or ppe"),
    }
}

/// Ranks the list on this computer.
#[cfg(unix)]
fn on_host(
    arguments: &AppArguments,
    emulate: &emulate::Arguments,
) -> Result<Box<dyn NativeReport>> {
    emulate.samples().refuse(NAME)?;
    if emulate.m() > 1 {
        return Err(Error::OutOfRange {
            name: "--m",
            found: emulate.m().to_string(),
            expected: "1: the threads of one process rank the list, and --p is how many".into(),
        });
    }
    let own = &arguments.list_ranking;
    let list = own.list(arguments, NODES)?;
    let settings = Settings {
        order: own.order(arguments),
        operation: own.operation,
        sublists: own.sublists,
        in_flight: own.buffers,
        threads: emulate.p(),
        seed: arguments.seed,
    };
    let measured = measure(&list, settings, emulate.repetitions())?;
    Ok(Box::new(HostRanking::new(NAME, &settings, &measured)))
}

/// Its list, and how it is ranked.
#[derive(Args)]
pub struct ListRankingArguments {
    /// Nodes of the list [default: 1048576; 262144 for a study]; --input FILE reads a list:
    /// node,successor[,value], or the successor of one node a line
    #[arg(long, value_name = "N")]
    pub nodes: Option<u32>,
    /// How the nodes lie in their array
    #[arg(long, value_name = "ORDER", default_value = "random", value_parser = named(&Order::ALL, Order::name))]
    pub order: Order,
    /// Where the sublists of an ordered list begin: at equal distances (aligned), or each with the next
    /// bank of the memory (staggered)
    #[arg(long, value_name = "HEADS", default_value = "staggered", value_parser = named(&[Heads::Staggered, Heads::Aligned], heads_name))]
    pub heads: Heads,
    /// What nodes have for values: 1, whose sums are ranks; random; or zero but for a few
    #[arg(long, value_name = "VALUES", default_value = "ones", value_parser = named(&Values::ALL, Values::name))]
    pub values: Values,
    /// Whose prefixes are computed
    #[arg(long, value_name = "OPERATION", default_value = "sum", value_parser = named(&Operation::ALL, Operation::name))]
    pub operation: Operation,
    /// Sublists of all SPEs together, 1 to 512; with --machine host of all threads, as many as nodes
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub sublists: u32,
    /// DMA lists of each SPE that are under way at once, 1 to 16; with --machine host sublists that
    /// each thread follows at once, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub buffers: u32,
}

fn heads_name(heads: Heads) -> &'static str {
    match heads {
        Heads::Staggered => "staggered",
        Heads::Aligned => "aligned",
    }
}

/// Parses names of values.
fn named<T>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl clap::builder::TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = all.iter().map(|&each| name(each));
    PossibleValuesParser::new(names).map(move |text| {
        let found = all.iter().copied().find(|&each| name(each) == text);
        found.expect("invariant: the text is one of the names")
    })
}

impl ListRankingArguments {
    /// How heads are chosen: what a file holds may have any order.
    pub fn order(&self, arguments: &AppArguments) -> Order {
        if arguments.input.is_some() { Order::Random } else { self.order }
    }

    /// The list, from a file where one is named.
    pub fn list(&self, arguments: &AppArguments, nodes: u32) -> Result<List> {
        let nodes = self.nodes.unwrap_or(nodes);
        let Some(name) = &arguments.input else {
            return List::generate(nodes, self.order, self.values, arguments.seed);
        };
        if !is_file(name) {
            return Err(Error::OutOfRange {
                name: "--input",
                found: name.clone(),
                expected: "the file of a list: node,successor[,value]".into(),
            });
        }
        let (list, warnings) = List::read(&*source(Path::new(name))?)?;
        warn(&warnings);
        Ok(list)
    }
}
