//! Times of call paths, of which those within MPI say what messages and collectives take.

use std::collections::BTreeMap;

use super::Terms;

/// Collective operations of MPI, without `MPI_`, the `I` of those that do not block, and `Neighbor_`.
const COLLECTIVES: &str = "barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall \
    alltoallv alltoallw reduce allreduce reduce_scatter reduce_scatter_block scan exscan";

/// Operations point to point, among them the waiting for any that does not block.
const MESSAGES: &str = "send bsend ssend rsend isend ibsend issend irsend recv irecv sendrecv \
    sendrecv_replace isendrecv probe iprobe mprobe improbe mrecv imrecv start startall wait waitall \
    waitany waitsome test testall testany testsome";

/// What an operation of MPI is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Collective,
    Message,
}

/// A tree of calls, whose first node is the run; a node stands behind its parent.
pub(super) struct Calls {
    /// Names, and places of the parents.
    nodes: Vec<(String, usize)>,
    /// Time in each node and beneath it, of each rank, or a mean over all \[s\].
    inclusive: Vec<Vec<f64>>,
    /// Whether it is a mean over the ranks.
    is_mean: bool,
}

impl Calls {
    /// A tree without times, of so many ranks or of their mean. The names have their parents beside them,
    /// which stand before them.
    pub fn new(calls: Vec<(String, Option<usize>)>, ranks: Option<u32>) -> Self {
        let below = |(name, parent): (String, Option<usize>)| (name, parent.map_or(0, |it| it + 1));
        let mut nodes = vec![(String::new(), 0)];
        nodes.extend(calls.into_iter().map(below));
        let inclusive = vec![vec![0.0; nodes.len()]; ranks.unwrap_or(1) as usize];
        Self { nodes, inclusive, is_mean: ranks.is_none() }
    }

    /// Adds time to a call, or to the run beside all calls \[s\]; all above a call last as much longer where
    /// it is its own time.
    pub fn add(&mut self, rank: usize, call: Option<usize>, is_inclusive: bool, time: f64) {
        let mut node = call.map_or(0, |call| call + 1);
        self.inclusive[rank][node] += time;
        while node > 0 && (!is_inclusive || self.nodes[node].1 == 0) {
            node = self.nodes[node].1;
            self.inclusive[rank][node] += time;
        }
    }

    /// Some of the ranks, or of whatever times are of.
    pub fn of(&self, places: &[usize]) -> Self {
        let inclusive = places.iter().map(|&place| self.inclusive[place].clone()).collect();
        Self { nodes: self.nodes.clone(), inclusive, is_mean: self.is_mean }
    }

    /// Time in a call and beneath it \[s\].
    pub fn time(&self, rank: usize, call: usize) -> f64 {
        self.inclusive[rank][call + 1]
    }

    /// Names of a call and all above it, with `/` between.
    fn path(&self, node: usize) -> String {
        let above = std::iter::successors(Some(node), |&node| Some(self.nodes[node].1));
        let names = above.take_while(|&node| node > 0).map(|node| self.nodes[node].0.as_str());
        let mut names: Vec<&str> = names.collect();
        names.reverse();
        names.join("/")
    }

    /// Adds the rows: times of the run and of its calls, and what MPI takes.
    pub fn write(&self, terms: &mut Terms) {
        let rank = |index: usize| (!self.is_mean).then_some(index as u32);
        let mut operations: BTreeMap<String, (Kind, Vec<f64>)> = BTreeMap::new();
        let mut paths: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let none = || vec![0.0; self.inclusive.len()];
        let mut within = vec![false; self.nodes.len()];
        for node in 0..self.nodes.len() {
            within[node] = within[self.nodes[node].1];
            if within[node] {
                continue;
            }
            if let Some((kind, name)) = operation(&self.nodes[node].0) {
                within[node] = true;
                if kind == Kind::Collective && name.starts_with('i') {
                    terms.note("waiting for collectives that do not block is in p2p");
                }
                let (_, times) = operations.entry(name).or_insert_with(|| (kind, none()));
                times.iter_mut().zip(&self.inclusive).for_each(|(time, of)| *time += of[node]);
                continue;
            }
            // Calls with other parameters have one path.
            let times = paths.entry(self.path(node)).or_insert_with(none);
            times.iter_mut().zip(&self.inclusive).for_each(|(time, of)| *time += of[node]);
        }
        for (path, times) in paths {
            for (index, time) in times.into_iter().enumerate() {
                if path.is_empty() || time > 0.0 {
                    terms.add(rank(index), &path, "time", time);
                }
            }
        }
        for kind in [Kind::Collective, Kind::Message] {
            let of_kind = || operations.iter().filter(move |(_, (it, _))| *it == kind);
            let mut sums = none();
            of_kind().for_each(|(_, (_, times))| {
                sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
            });
            let phases = of_kind().map(|(name, (_, times))| (name.as_str(), times));
            let phases: Vec<_> = phases.chain([("", &sums)]).collect();
            match kind {
                _ if phases.len() == 1 => {}
                Kind::Message => {
                    for (phase, times) in phases {
                        for (index, &time) in times.iter().enumerate() {
                            terms.add(rank(index), phase, "p2p", time);
                        }
                    }
                }
                Kind::Collective if self.is_mean && terms.m > 1 => terms.note(
                    "a mean over the ranks does not tell collectives from waiting for others: what they \
                     take is in no term",
                ),
                Kind::Collective => self.collectives(terms, &phases),
            }
        }
    }

    /// Adds how often each rank calls collectives, where what was added were calls.
    pub fn write_collectives(&self, terms: &mut Terms) {
        for (rank, calls) in (0..).zip(&self.inclusive) {
            let mut phases: BTreeMap<String, f64> = BTreeMap::new();
            for ((name, _), calls) in self.nodes.iter().zip(calls) {
                if let Some((Kind::Collective, name)) = operation(name) {
                    *phases.entry(name).or_default() += calls;
                    *phases.entry(String::new()).or_default() += calls;
                }
            }
            for (phase, calls) in phases {
                terms.add(Some(rank), &phase, "collectives", calls);
            }
        }
    }

    /// The rows of collectives: the least time of all ranks is theirs, the rest is waiting. Of several
    /// operations both are sums.
    fn collectives(&self, terms: &mut Terms, phases: &[(&str, &Vec<f64>)]) {
        let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
        let (last, each) = phases.split_last().expect("invariant: the sum stands behind them");
        let whole: f64 = each.iter().map(|(_, times)| least(times)).sum();
        let all = each.iter().map(|(phase, times)| (*phase, least(times), *times));
        for (phase, time, times) in all.chain([(last.0, whole, last.1)]) {
            terms.add(None, phase, "t_col", time);
            for (index, of_rank) in times.iter().enumerate() {
                terms.add(Some(index as u32), phase, "wait", (of_rank - time).max(0.0));
            }
        }
    }
}

/// Whether a function is one of MPI.
pub(super) fn is_mpi(function: &str) -> bool {
    function.starts_with("MPI_")
}

/// The operation of MPI that a function is, in lower case as `collective.csv` has it.
fn operation(function: &str) -> Option<(Kind, String)> {
    let name = function.strip_prefix("MPI_")?.to_lowercase();
    let is_in = |list: &str, name: &str| list.split(' ').any(|it| it == name);
    let blocking = name.strip_prefix('i').unwrap_or(&name);
    let plain = blocking.strip_prefix("neighbor_").unwrap_or(blocking);
    if is_in(COLLECTIVES, plain) {
        return Some((Kind::Collective, name));
    }
    is_in(MESSAGES, &name).then_some((Kind::Message, name))
}
