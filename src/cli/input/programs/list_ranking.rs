//! List ranking on the command line.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::{Entry, Program, Size, Way};
use crate::apps::list_ranking::{Heads, ListRanking, NAME};
use crate::apps::{Application, Port};
use crate::cli::choice::name_of;
use crate::cli::emulate::{self, ListRankingOnce, Once};
#[cfg(unix)]
use crate::cli::emulate::{ProgramReport, host_ranking};
use crate::cli::input::{
    PORTS, PlacementArguments, PortArguments, SeedArguments, input_file, is_file, source,
};
use crate::cli::output::warn;
use crate::cli::{Answer, study};
use crate::complexity::Sizes;
use crate::error::{Error, Result};
use crate::lab::study::ThreadChoices;
use crate::lists::{List, Operation, Order, Values};
#[cfg(unix)]
use crate::native::list_ranking::{Settings, measure};

/// The program on the command line.
pub const ENTRY: Entry = Entry {
    runs: if cfg!(unix) { &[Way::Host] } else { &[] },
    flags: &[
        ("nodes of the list", "--nodes"),
        ("sublists", "--sublists"),
        ("DMA lists under way", "--buffers"),
        ("sublists in lock step", "--buffers"),
        ("threads that rank", "--p"),
        ("repetitions of the ranking", "--repetitions"),
        ("processes of list-ranking", "--m"),
    ],
    ..Entry::of::<ListRankingArguments>(
        NAME,
        "Prefixes along a linked list: short scattered transfers",
        Size {
            further: &[SUBLISTS, BUFFERS],
            ..Size::new("nodes", &[16384, 32768, 65536, 131072])
        },
    )
};

/// Name of the number of sublists among growing sizes.
const SUBLISTS: &str = "s";
/// Name of the number of DMA lists under way among growing sizes.
const BUFFERS: &str = "b";

/// Nodes of the list where nothing is said of them.
const NODES: u32 = 1 << 20;
/// The same of a study.
const NODES_OF_STUDY: u32 = 1 << 18;

impl Program for ListRankingArguments {
    fn seed(&self) -> u64 {
        self.seed.seed
    }

    fn read(&self) -> Result<Box<dyn Application>> {
        Ok(Box::new(self.ranking(NODES)?))
    }

    fn once(&self, _: &emulate::Arguments) -> Result<Box<dyn Once>> {
        let (order, buffers) = (self.order(), self.buffers);
        Ok(Box::new(ListRankingOnce { ranking: self.ranking(NODES)?, order, buffers }))
    }

    /// The program with a list of n nodes, and perhaps so many sublists and DMA lists.
    fn at_size(&self, sizes: &Sizes) -> Result<Box<dyn Application>> {
        let of = |name: &str, given: u32| sizes.of(name).map_or(given, |size| size as u32);
        let list = List::generate(of("n", NODES), self.order, self.values, self.seed.seed)?;
        let choice = [of(SUBLISTS, self.sublists), of(BUFFERS, self.buffers)];
        Ok(Box::new(self.of_list(list, choice)?))
    }

    fn files(&self) -> Vec<(&'static str, Option<&Path>)> {
        vec![("--input", input_file(self.input.as_deref()))]
    }

    fn has_input(&self) -> bool {
        self.input.is_some()
    }

    fn port(&self) -> Option<&PortArguments> {
        Some(&self.port)
    }

    fn study(&self, arguments: &study::Arguments, words: &[OsString]) -> Result<Answer> {
        let target = arguments.target()?;
        let (ranking, order) = (&self.ranking(NODES_OF_STUDY)?, self.order());
        study::threads(&ThreadChoices { ranking, order, target: &target }, arguments, words)
    }

    /// Ranks the list on this computer.
    #[cfg(unix)]
    fn on_host(&self, emulate: &emulate::Arguments) -> Option<Result<ProgramReport>> {
        Some(self.measured(emulate))
    }
}

/// Flags of list ranking.
#[derive(Args)]
pub struct ListRankingArguments {
    /// A file with a list: node,successor[,value], or the successor of one node a line
    #[arg(long, value_name = "FILE")]
    input: Option<String>,
    /// Nodes of the list [default: 1048576; 262144 for a study]
    #[arg(long, value_name = "N")]
    pub nodes: Option<u32>,
    /// Order of the nodes in their array
    #[arg(long, value_name = "ORDER", default_value = "random", value_parser = named(&Order::ALL, Order::name))]
    pub order: Order,
    /// Heads of the sublists of an ordered list: at equal distances (aligned), or each with the next
    /// bank of the memory (staggered)
    #[arg(long, value_name = "HEADS", default_value = "staggered", value_parser = named(&[Heads::Staggered, Heads::Aligned], heads_name))]
    pub heads: Heads,
    /// Values of the nodes: 1, whose sums are ranks; random; or zero but for a few
    #[arg(long, value_name = "VALUES", default_value = "ones", value_parser = named(&Values::ALL, Values::name))]
    pub values: Values,
    /// Operation whose prefixes are computed
    #[arg(long, value_name = "OPERATION", default_value = "sum", value_parser = named(&Operation::ALL, Operation::name))]
    pub operation: Operation,
    /// Sublists of all SPEs together, 1 to 512; with --machine host of all threads, as many as nodes
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub sublists: u32,
    /// DMA lists of each SPE that are under way at once, 1 to 16; with --machine host sublists that
    /// each thread follows at once, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub buffers: u32,
    #[command(flatten)]
    seed: SeedArguments,
    #[command(flatten)]
    placement: PlacementArguments,
    #[command(flatten)]
    port: PortArguments,
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
    /// Order by which heads are chosen: a list of a file may have any.
    pub fn order(&self) -> Order {
        if self.input.is_some() { Order::Random } else { self.order }
    }

    /// The program with its list, of so many nodes where nothing is said of them.
    pub fn ranking(&self, nodes: u32) -> Result<ListRanking> {
        self.of_list(self.list(nodes)?, [self.sublists, self.buffers])
    }

    fn of_list(&self, list: List, choice: [u32; 2]) -> Result<ListRanking> {
        let ranking = ListRanking::new(Arc::new(list), self.order(), choice, self.seed.seed)?;
        let ranking = ranking.with_operation(self.operation).headed(self.heads);
        let ranking = ranking.placed(self.placement.placement);
        match self.port.port {
            None | Some(Port::Tuned) => Ok(ranking),
            Some(Port::Ppe) => Ok(ranking.on_host()),
            Some(port) => {
                Err(Error::out_of_range("--port", name_of(&PORTS, &port), "tuned or ppe"))
            }
        }
    }

    /// The list, from a file where one is named.
    fn list(&self, nodes: u32) -> Result<List> {
        let nodes = self.nodes.unwrap_or(nodes);
        let Some(name) = &self.input else {
            return List::generate(nodes, self.order, self.values, self.seed.seed);
        };
        if !is_file(name) {
            let expected = "the file of a list: node,successor[,value]";
            return Err(Error::out_of_range("--input", name.clone(), expected));
        }
        let (list, warnings) = List::read(&*source(Path::new(name))?)?;
        warn(&warnings);
        Ok(list)
    }

    #[cfg(unix)]
    fn measured(&self, emulate: &emulate::Arguments) -> Result<ProgramReport> {
        if emulate.m() > 1 {
            let expected = "1: the threads of one process rank the list, and --p is how many";
            return Err(Error::out_of_range("--m", emulate.m().to_string(), expected));
        }
        let settings = Settings {
            order: self.order(),
            operation: self.operation,
            sublists: self.sublists,
            in_flight: self.buffers,
            threads: emulate.p(),
            seed: self.seed.seed,
        };
        let measured = measure(&self.list(NODES)?, settings, emulate.repetitions())?;
        Ok(host_ranking(NAME, &settings, &measured))
    }
}
