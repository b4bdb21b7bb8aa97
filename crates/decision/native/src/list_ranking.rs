//! List ranking on this computer: the program of the emulated machine (`mmgp_apps::list_ranking`), with
//! threads of the host in place of SPEs and loads in place of DMA.
//!
//! ```text
//! step 1   all threads   the head: every node but it is somebody's successor, so a sum tells
//!          one thread    heads of sublists are chosen and marked
//! step 2   all threads   each ranks its part of the sublists, several in lock step
//! step 3   one thread    the sublists' totals in the order of the list
//! step 4   all threads   what comes before a sublist is put in front of each of its prefixes
//! ```
//!
//! # How many loads are under way
//! Who follows one list waits for each node before it knows the next. A thread therefore follows b
//! sublists at once: in a turn it reads the node of each, which was asked for in the turn before, and
//! then ranks all of them. A prefetch instruction would need `unsafe` code; the b loads of a turn do
//! not depend on one another, and a core that executes out of order starts them all before the first
//! has come. How far that holds is up to the core: to read a node takes a handful of instructions, so
//! 16 of them fit any reorder buffer of today, but a core keeps track of no more than a dozen or so
//! misses of its first cache, and of fewer translations that its TLB does not hold. A core that
//! executes in order gains nothing.

mod sublists;
#[cfg(test)]
mod tests;

use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;
use mmgp_lists::{List, Operation, Order, checksum, choose_heads, imbalance, rank_sequentially};

use crate::clock::Stopwatch;
use sublists::{Array, Part, Record, rank_part};

/// Most sublists that a thread follows in lock step.
pub const MOST_IN_FLIGHT: u32 = 64;

/// Most threads, and most repetitions.
const MOST: u32 = 1024;

/// How a list is ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How heads are chosen: as suits a list of that order.
    pub order: Order,
    /// Whose prefixes are computed.
    pub operation: Operation,
    /// Sublists of all threads together; a list has no more than nodes.
    pub sublists: u32,
    /// Sublists that a thread follows in lock step, 1 to [`MOST_IN_FLIGHT`].
    pub in_flight: u32,
    /// Threads, 1 to 1024.
    pub threads: u32,
    /// Seed from which heads are drawn.
    pub seed: u64,
}

impl Settings {
    fn check(&self, repetitions: u32) -> Result<()> {
        let within = |name, found: u32, most: u32| {
            if (1..=most).contains(&found) {
                return Ok(());
            }
            let (found, expected) = (found.to_string(), format!("1 to {most}"));
            Err(Error::out_of_range(name, found, expected))
        };
        within("sublists", self.sublists, u32::MAX)?;
        within("sublists in lock step", self.in_flight, MOST_IN_FLIGHT)?;
        within("threads that rank", self.threads, MOST)?;
        within("repetitions of the ranking", repetitions, MOST)
    }
}

/// Ranks a list that often, and follows it from its head as often with one thread, turn about. One run
/// of both before these is not counted: memory is given away when it is touched first.
///
/// ```
/// use mmgp_lists::{List, Operation, Order, Values};
/// use mmgp_native::list_ranking::{Settings, measure};
///
/// let list = List::generate(1000, Order::Random, Values::Ones, 1)?;
/// let (order, operation) = (Order::Random, Operation::Sum);
/// let settings = Settings { order, operation, sublists: 16, in_flight: 4, threads: 2, seed: 1 };
/// let measured = measure(&list, settings, 3)?;
/// assert_eq!((measured.wrong, measured.prefixes[list.head() as usize]), (0, 1));
/// assert_eq!(measured.loads.iter().sum::<u64>(), 1000);
/// # Ok::<(), mmgp_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] where settings or repetitions are none, or too many.
pub fn measure(list: &List, settings: Settings, repetitions: u32) -> Result<RankingTimes> {
    settings.check(repetitions)?;
    // Each operation has code of its own, without a choice at every node.
    Ok(match settings.operation {
        Operation::Sum => repeat(list, settings, repetitions, |a, b| Operation::Sum.apply(a, b)),
        Operation::Min => repeat(list, settings, repetitions, |a, b| Operation::Min.apply(a, b)),
        Operation::Max => repeat(list, settings, repetitions, |a, b| Operation::Max.apply(a, b)),
        Operation::Xor => repeat(list, settings, repetitions, |a, b| Operation::Xor.apply(a, b)),
        Operation::Last => repeat(list, settings, repetitions, |a, b| Operation::Last.apply(a, b)),
    })
}

/// What comes before, and a value: both combined.
trait Combine: Fn(u32, u32) -> u32 + Copy + Sync {}

impl<F: Fn(u32, u32) -> u32 + Copy + Sync> Combine for F {}

fn repeat(
    list: &List,
    settings: Settings,
    repetitions: u32,
    combine: impl Combine,
) -> RankingTimes {
    let mut ranking = Ranking { list, settings, array: Array::new(list), parts: Vec::new() };
    let mut followed = Vec::with_capacity(list.nodes() as usize);
    let (mut steps, mut sequential) = (Vec::new(), Vec::new());
    for repetition in 0..=repetitions {
        let times = ranking.run(combine);
        let clock = Stopwatch::start();
        ranking.array.follow(list.head(), settings.operation.identity(), combine, &mut followed);
        let time = clock.elapsed();
        if repetition > 0 {
            steps.push(times);
            sequential.push(time);
        }
    }
    let expected = rank_sequentially(list, settings.operation);
    let mut prefixes = vec![0; expected.len()];
    let mut wrong = 0;
    for of_all in [&mut followed.iter(), &mut ranking.records() as &mut dyn Iterator<Item = _>] {
        // Each node comes once, so that one that is missing stands for another that comes twice.
        let mut is_there = vec![false; expected.len()];
        for &Record { node, prefix } in of_all {
            let place = node as usize;
            (is_there[place], prefixes[place]) = (true, prefix);
            wrong += usize::from(prefix != expected[place]);
        }
        wrong += is_there.iter().filter(|is_there| !**is_there).count();
    }
    let loads = ranking.loads();
    let sublists = ranking.parts.len() as u32;
    RankingTimes { steps, sequential, prefixes, wrong, loads, sublists }
}

/// A list at hand, and what is kept from one run for the next.
struct Ranking<'l> {
    list: &'l List,
    settings: Settings,
    array: Array,
    /// What became of each sublist, and the memory for it.
    parts: Vec<Part>,
}

impl Ranking<'_> {
    /// Ranks the list; the times of the four steps.
    fn run(&mut self, combine: impl Combine) -> [Seconds; 4] {
        let Settings { order, operation, sublists, threads, seed, .. } = self.settings;
        let clock = Stopwatch::start();
        let head = self.array.head(threads as usize);
        assert_eq!(head, self.list.head(), "invariant: one node is nobody's successor");
        let heads = choose_heads(self.list, sublists, order, seed);
        self.array.mark(&heads);
        let marked = clock.elapsed();

        self.parts.resize_with(heads.len(), Part::default);
        let in_flight = self.settings.in_flight as usize;
        let share = self.share();
        let of_threads = self.parts.chunks_mut(share).zip(heads.chunks(share)).zip(0..);
        let (array, start) = (&self.array, operation.identity());
        on_threads(of_threads, |((parts, heads), number)| {
            let first = number * share as u32;
            rank_part(array, (heads, first), parts, in_flight, (start, combine));
        });
        let ranked = clock.elapsed();

        let mut before = start;
        let mut next = Some(0);
        while let Some(sublist) = next {
            let part: &mut Part = &mut self.parts[sublist as usize];
            part.before = before;
            before = combine(before, part.total);
            next = part.next;
        }
        let followed = clock.elapsed();

        on_threads(self.equal_shares(threads as usize).into_iter(), |share| {
            for (records, before) in share {
                records.iter_mut().for_each(|it| it.prefix = combine(before, it.prefix));
            }
        });
        let added = clock.elapsed();
        let since = |end: Seconds, start: Seconds| Seconds(end.0 - start.0);
        [marked, since(ranked, marked), since(followed, ranked), since(added, followed)]
    }

    /// Sublists of a thread; of the last one less.
    fn share(&self) -> usize {
        self.parts.len().div_ceil(self.settings.threads as usize).max(1)
    }

    /// All records in as many shares, equal but for a record, with what comes before them.
    fn equal_shares(&mut self, shares: usize) -> Vec<Vec<(&mut [Record], u32)>> {
        let most = (self.list.nodes() as usize).div_ceil(shares);
        let mut all = vec![Vec::new()];
        let mut room = most;
        for part in &mut self.parts {
            let mut rest = &mut part.records[..];
            while !rest.is_empty() {
                if room == 0 {
                    all.push(Vec::new());
                    room = most;
                }
                let (now, later) = rest.split_at_mut(room.min(rest.len()));
                room -= now.len();
                all.last_mut().expect("invariant: there is a first share").push((now, part.before));
                rest = later;
            }
        }
        all
    }

    /// All records, sublist after sublist.
    fn records(&self) -> impl Iterator<Item = &Record> {
        self.parts.iter().flat_map(|part| &part.records)
    }

    /// Nodes that each thread has ranked.
    fn loads(&self) -> Vec<u64> {
        let nodes = |parts: &[Part]| parts.iter().map(|part| part.records.len() as u64).sum();
        self.parts.chunks(self.share()).map(nodes).collect()
    }
}

/// Does something with each of the shares, which are no more than there are threads: with the first on
/// this thread, with each of the others on one of its own.
fn on_threads<S: Send>(mut shares: impl Iterator<Item = S>, work: impl Fn(S) + Sync) {
    std::thread::scope(|scope| {
        let first = shares.next();
        for share in shares {
            let work = &work;
            scope.spawn(move || work(share));
        }
        first.map(&work);
    });
}

/// Times of several runs, and what they computed.
#[derive(Debug, Clone)]
pub struct RankingTimes {
    /// Times of the four steps of each run: heads, sublists, sublists' totals, adding.
    pub steps: Vec<[Seconds; 4]>,
    /// Times of each run of one thread that follows the list from its head.
    pub sequential: Vec<Seconds>,
    /// The prefix of each node.
    pub prefixes: Vec<u32>,
    /// Prefixes that are missing, or differ from those of another sequential program.
    pub wrong: usize,
    /// Nodes that each thread ranked.
    pub loads: Vec<u64>,
    /// Number of sublists that there were: no more than nodes.
    pub sublists: u32,
}

/// The middle of several times, and their limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Half of the times are no longer, half no shorter.
    pub median: Seconds,
    /// The shortest.
    pub least: Seconds,
    /// The longest.
    pub most: Seconds,
}

impl Spread {
    /// The spread of these times, at least one.
    fn of(times: impl Iterator<Item = Seconds>) -> Self {
        let mut times: Vec<f64> = times.map(|time| time.0).collect();
        times.sort_by(f64::total_cmp);
        let (last, middle) = (times.len() - 1, times.len() / 2);
        let median = 0.5 * (times[last / 2] + times[middle]);
        Self { median: Seconds(median), least: Seconds(times[0]), most: Seconds(times[last]) }
    }
}

impl RankingTimes {
    /// The most nodes of a thread over the mean.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.loads)
    }

    /// The checksum of all prefixes, in the order of the nodes, as that of the emulated program.
    pub fn checksum(&self) -> u32 {
        checksum(&self.prefixes)
    }

    /// The time of all steps.
    pub fn time(&self) -> Spread {
        Spread::of(self.steps.iter().map(|steps| steps.iter().copied().sum()))
    }

    /// The times of the four steps.
    pub fn of_steps(&self) -> [Spread; 4] {
        [0, 1, 2, 3].map(|step| Spread::of(self.steps.iter().map(|steps| steps[step])))
    }

    /// The time of one thread that follows the list from its head.
    pub fn of_sequential(&self) -> Spread {
        Spread::of(self.sequential.iter().copied())
    }
}
