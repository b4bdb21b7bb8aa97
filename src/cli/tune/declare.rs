//! What may be run, and what the user calls it.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};

use crate::Mapping;
use crate::cli::choice::ChoiceArguments;
use crate::cli::files::Guard;
use crate::cli::input::Values;
use crate::cli::words::Words;
use crate::error::{Error, Result, Warning};
use crate::models::parameters::Decomposition;
use crate::native::host;

/// What may be run.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "What may be run")]
pub struct DeclareArguments {
    /// Values of m, processes: 1,2,4 or 1..64 or 4..64+4 or 1..64*2 and lists of these [default: 1, or
    /// with --where all up to the cores of this computer; with --p left out too, all with m*p up to
    /// these]
    #[arg(long, value_name = "LIST", conflicts_with = "configurations")]
    m: Option<Values>,
    /// Values of p, threads or accelerators of each process, in the same way
    #[arg(long, value_name = "LIST", conflicts_with = "configurations")]
    p: Option<Values>,
    #[command(flatten)]
    choice: ChoiceArguments,
    /// A further factor, as --param scheme=static,dynamic or --param block=32..256*2, which is chosen with m
    /// and p: one search over all combinations; may be given several times. Of each the first value is
    /// what runs first
    #[arg(long, value_name = "NAME=A,B,...", value_parser = factor)]
    param: Vec<(String, Vec<String>)>,
    /// A node has so many places: a configuration takes ceil(m*p/N) nodes, which {nodes} and
    /// --where know
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_node: Option<u32>,
    /// So many independent tasks are dealt to the processes, none of which is split between them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tasks: Option<u32>,
    /// What m and p are called in answers and placeholders: ranks,threads
    #[arg(long, value_name = "M,P", conflicts_with = "as_kind")]
    names: Option<Words>,
    /// What the program is: sets the names, and for one with OpenMP OMP_NUM_THREADS={p} and --binding
    #[arg(long = "as", id = "as_kind", value_name = "KIND")]
    kind: Option<ProgramKind>,
    #[arg(skip)]
    is_of_sample: bool,
}

/// Cores for which the sample's configurations are listed, at least: on fewer there is little to see.
const CORES_OF_SAMPLE: u32 = 4;

/// Programs of two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgramKind {
    /// Ranks of MPI, each of several threads of OpenMP
    #[value(name = "mpi+openmp")]
    MpiOpenMp,
    /// Ranks of MPI, each of several GPUs
    #[value(name = "mpi+gpu")]
    MpiGpu,
    /// Processes, each of several threads
    #[value(name = "processes+threads")]
    ProcessesThreads,
}

impl ProgramKind {
    fn words(self) -> &'static str {
        match self {
            Self::MpiOpenMp => "ranks,threads",
            Self::MpiGpu => "ranks,gpus",
            Self::ProcessesThreads => "processes,threads",
        }
    }
}

/// What may be run, looked up and checked.
pub struct Declaration {
    /// Configurations by m, then p, at least one.
    pub space: Vec<Mapping>,
    /// Every combination of further factors; one without any where there is none.
    pub levels: Vec<BTreeMap<String, String>>,
    /// Nodes of configurations that take more than one.
    pub nodes: BTreeMap<Mapping, u32>,
    /// How many of m*p a node has places for, where that is said.
    pub per_node: Option<u32>,
    /// What m and p are called.
    pub words: Words,
    /// How the work is divided among processes.
    pub decomposition: Decomposition,
    /// What is set in the environment unless the user does.
    pub env: Vec<(String, String)>,
    /// Whether each rank is to have the cores of its threads.
    pub has_bound_ranks: bool,
}

impl DeclareArguments {
    /// The same of the sample: processes of threads, some on the smallest computer as well.
    #[must_use]
    pub fn of_sample(mut self) -> Self {
        if self.names.is_none() {
            self.kind = self.kind.or(Some(ProgramKind::ProcessesThreads));
        }
        Self { is_of_sample: true, ..self }
    }

    /// Adds the files that are read.
    pub fn guarded(&self, guard: Guard) -> Guard {
        self.choice.guarded(guard)
    }

    /// What may be run.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where nothing may.
    pub fn declared(&self, warnings: &mut Vec<Warning>) -> Result<Declaration> {
        let nodes = |mapping: Mapping| {
            let of = |places: u32| mapping.apus().div_ceil(u64::from(places));
            self.per_node.map_or(1, |places| u32::try_from(of(places)).unwrap_or(u32::MAX))
        };
        let listed = (!self.choice.has_table()).then(|| self.grid());
        let space = self.choice.of(listed, &nodes, warnings)?;
        if space.is_empty() {
            return Err(Error::out_of_range(
                "--where",
                "a condition that no configuration meets",
                format!(
                    "one that leaves something to run; here are {} cores and {} GPUs, which \
                     --constant may change",
                    host::cores(),
                    host::gpus()
                ),
            ));
        }
        let nodes = space.iter().map(|&it| (it, nodes(it))).filter(|(_, nodes)| *nodes > 1);
        let words = match (&self.names, self.kind) {
            (Some(words), _) => words.clone(),
            (None, Some(kind)) => kind.words().parse().expect("invariant: two words"),
            (None, None) => Words::default(),
        };
        let with_openmp = self.kind == Some(ProgramKind::MpiOpenMp);
        let openmp = with_openmp.then(|| ("OMP_NUM_THREADS".to_string(), "{p}".to_string()));
        Ok(Declaration {
            nodes: nodes.collect(),
            per_node: self.per_node,
            space,
            levels: self.levels(),
            words,
            decomposition: match self.tasks {
                Some(tasks) => Decomposition::Task { tasks },
                None => Decomposition::Data,
            },
            env: openmp.into_iter().collect(),
            has_bound_ranks: with_openmp,
        })
    }

    /// All combinations of m and p. A list that the user wrote is never cut but by a condition.
    fn grid(&self) -> Vec<Mapping> {
        let mut cores = u32::try_from(host::cores()).unwrap_or(u32::MAX);
        if self.is_of_sample {
            cores = cores.max(CORES_OF_SAMPLE);
        }
        let is_free = self.m.is_none() && self.p.is_none();
        // Beside a list the other count is 1, unless a condition says which go together.
        let most = if is_free || self.choice.has_condition() { cores } else { 1 };
        let of = |values: &Option<Values>| match values {
            Some(values) => values.0.clone(),
            None => (1..=most).collect(),
        };
        let (ms, ps) = (of(&self.m), of(&self.p));
        let fits =
            |it: &Mapping| !is_free || self.choice.has_condition() || it.apus() <= u64::from(cores);
        ms.iter().flat_map(|&m| ps.iter().map(move |&p| Mapping::of(m, p))).filter(fits).collect()
    }

    fn levels(&self) -> Vec<BTreeMap<String, String>> {
        let mut levels = vec![BTreeMap::new()];
        for (name, values) in &self.param {
            let with = |level: &BTreeMap<String, String>, value: &String| {
                let mut level = level.clone();
                level.insert(name.clone(), value.clone());
                level
            };
            levels = levels
                .iter()
                .flat_map(|it| values.iter().map(move |value| with(it, value)))
                .collect();
        }
        levels
    }
}

/// The values of a part of a list: a range of counts, as in `32..256*2`, or the text itself.
fn listed(text: &str) -> std::result::Result<Vec<String>, String> {
    let is_range = text.split_once("..").is_some_and(|(first, rest)| {
        let is_count = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        is_count(first) && rest.split(['*', '+']).all(is_count)
    });
    if !is_range {
        return Ok(vec![text.to_string()]);
    }
    let values: Values = text.parse()?;
    Ok(values.0.iter().map(u32::to_string).collect())
}

fn factor(text: &str) -> std::result::Result<(String, Vec<String>), String> {
    let expected = "expected NAME=A,B,... with a name of letters, digits, - and _";
    let (name, values) = text.split_once('=').ok_or(expected)?;
    let is_name = !name.is_empty()
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-');
    if !is_name || ["m", "p", "nodes", "rep", "dir"].contains(&name) {
        return Err(format!("{expected}, other than m, p, nodes, rep, dir"));
    }
    let values =
        values.split(',').map(listed).collect::<std::result::Result<Vec<_>, _>>()?.concat();
    let is_again = |(index, value): (usize, &String)| values[..index].contains(value);
    if values.iter().any(String::is_empty) || values.iter().enumerate().any(is_again) {
        return Err(format!("{expected}: each value once, none empty"));
    }
    Ok((name.into(), values))
}
