//! List ranking by sublists (Helman and JaJa), with software-managed threads on the SPEs (Bader,
//! Agarwal and Madduri, IPDPS 2007): irregular work, whose transfers are short and scattered.
//!
//! ```text
//! step  who    what
//! 1     SPEs   stream through the nodes for the sum of successors, which tells the head of the list
//!       host   chooses the heads of sublists and marks them
//! 2     SPEs   each ranks its part of the sublists, on b DMA lists that are under way at once
//! 3     host   ranks the heads, sublist after sublist
//! 4     SPEs   stream through the ranked records, and put what comes before a sublist in front
//! ```
//!
//! A list that is ordered has its heads at equal distances but for a few lines ([`Heads`]), so that all
//! sublists are as long; of another one they are drawn at random. An SPE's part are consecutive sublists. What comes out of
//! step 2 is contiguous in memory, a buffer of records of one sublist after another, in an area of its
//! own for each SPE; step 4 shares all of them out anew, in equal parts.
//!
//! # What is left out
//! Which SPE does which part of steps 1 and 4 is not published, nor how long the local buffers are:
//! here as long as find room, at most 32 records. A host that has pages of memory to give away only
//! as they are touched is taken for granted: each SPE's area could hold the whole list.

mod host;
mod spe_program;

use std::rc::Rc;
use std::sync::Arc;

use crate::application::{Application, Division, Fingerprint, Ran};
use crate::layout::Room;
use crate::run::{Run, alone, require};
use host::{LoneHost, RankingHost};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Seconds};
use mmgp_cell::{EffectiveAddress, Placement};
use mmgp_kernels::list_ranking::NODE_BYTES;
use mmgp_lists::{List, Operation, Order, checksum, imbalance, part};
use mmgp_runtime::{Runtime, Signalling};
use mmgp_spu::LocalAddress;
use spe_program::{FUNCTIONS, ListProgram};

/// The name of the program.
pub const NAME: &str = "list-ranking";

/// Most sublists.
pub const MOST_SUBLISTS: u32 = 512;

/// Most DMA lists of an SPE that are under way at once: as many as its queue of commands holds.
pub const MOST_BUFFERS: u32 = 16;

/// Nodes of a step of progress.
const NODES_PER_STEP: u64 = 4096;

/// The beginnings of the sublists of an ordered list, which are all as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heads {
    /// Each with the next bank of the memory: where all begin with the same one, which they do if
    /// their length is a multiple of 128 nodes, threads that go on together wait for it together.
    Staggered,
    /// Heads at equal distances.
    Aligned,
}

/// The program with its input.
#[derive(Debug, Clone)]
pub struct ListRanking {
    list: Arc<List>,
    order: Order,
    operation: Operation,
    sublists: u32,
    buffers: u32,
    placement: Placement,
    heads: Heads,
    /// Everything runs on the host.
    on_host: bool,
    seed: u64,
}

impl ListRanking {
    /// Ranks a list by so many sublists, each SPE with so many DMA lists under way at once. Heads are
    /// chosen as for that order, by the seed.
    ///
    /// # Errors
    /// [`Error::OutOfRange`](mmgp_base::Error::OutOfRange) where there are none of them, or too many.
    pub fn new(
        list: Arc<List>,
        order: Order,
        [sublists, buffers]: [u32; 2],
        seed: u64,
    ) -> Result<Self> {
        for (name, found, most) in
            [("sublists", sublists, MOST_SUBLISTS), ("DMA lists under way", buffers, MOST_BUFFERS)]
        {
            require((1..=most).contains(&found), name, found, format!("1 to {most}"))?;
        }
        Ok(Self {
            list,
            order,
            operation: Operation::Sum,
            sublists,
            buffers,
            placement: Placement::default(),
            heads: Heads::Staggered,
            on_host: false,
            seed,
        })
    }

    /// The same with the prefixes of another operation than the sum.
    pub fn with_operation(self, operation: Operation) -> Self {
        Self { operation, ..self }
    }

    /// The same with its data elsewhere.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The same with heads of an ordered list elsewhere.
    pub fn headed(self, heads: Heads) -> Self {
        Self { heads, ..self }
    }

    /// The same without SPEs: the host follows the list from its head.
    pub fn on_host(self) -> Self {
        Self { on_host: true, ..self }
    }

    /// The same with another number of sublists, and of DMA lists under way.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn with_choice(&self, choice: [u32; 2]) -> Result<Self> {
        let other = Self::new(Arc::clone(&self.list), self.order, choice, self.seed)?;
        Ok(Self { sublists: other.sublists, buffers: other.buffers, ..self.clone() })
    }

    /// The list.
    pub fn list(&self) -> &List {
        &self.list
    }

    /// Whose prefixes are computed.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The areas of all SPEs, each of which could hold the whole list, are reached by DMA lists, whose
    /// elements have 32 bits of an address in common.
    fn fits(&self, spes: u32) -> Result<()> {
        let nodes = u64::from(self.list.nodes());
        let most = (1 << 28) / u64::from(spes + 2);
        let expected = format!("at most {most} on {spes} SPEs: a DMA list reaches 4 GB");
        require(nodes <= most, "nodes of the list", nodes, expected)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Findings {
    /// The time of each of the four steps; on the host alone, of the search for the head and of the
    /// chase.
    pub steps: [Seconds; 4],
    /// The prefix of every node.
    pub prefixes: Vec<u32>,
    /// Sublists that there were; none on the host alone.
    pub sublists: u32,
    /// Nodes that each SPE ranked in step 2.
    pub loads: Vec<u64>,
    /// Records of a local buffer.
    pub records: u32,
}

impl Findings {
    /// Nodes that the SPE with the most ranked, over the mean; 1 where all have as many.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.loads)
    }

    /// The checksum of all prefixes, in the order of the nodes.
    pub fn checksum(&self) -> u32 {
        checksum(&self.prefixes)
    }
}

impl Application for ListRanking {
    fn name(&self) -> &'static str {
        NAME
    }

    fn division(&self) -> Division {
        Division::Data
    }

    fn steps(&self) -> u64 {
        u64::from(self.list.nodes()) / NODES_PER_STEP
    }

    fn run(&self, on: &Runtime, mapping: Mapping) -> Result<Ran> {
        require(
            mapping.m() == 1,
            "processes of list-ranking",
            mapping.m(),
            "1: one process follows the heads of the sublists",
        )?;
        let blade = on.blade();
        let own = on.assign(mapping)?.swap_remove(0);
        let findings = if self.on_host {
            let host = LoneHost::new(self, blade);
            let process = blade.host_process(0);
            alone(blade, async move { host.rank(process).await })?
        } else {
            let program = Rc::new(ListProgram::new(self.operation, blade.progress.clone()));
            on.load(&program, Signalling::Memory);
            let homes = blade.homes(self.placement, 0, &own);
            let process = on.process(0, own);
            self.fits(process.most_spes())?;
            alone(blade, RankingHost::new(self, blade, &homes, process).rank())?
        };
        let run = Run::collect(on, mapping, if self.on_host { &[] } else { &FUNCTIONS });
        let fingerprint = Fingerprint::default()
            .counting("nodes", findings.prefixes.len() as u64)
            .counting("checksum of the prefixes", findings.checksum().into());
        Ok(Ran::new(run, fingerprint, findings))
    }
}

/// The arguments of a call.
const ARGUMENTS_BYTES: Bytes = Bytes(64);

arguments! {
    /// The arguments of all three functions.
    pub struct RankingArguments {
        /// The nodes.
        pub nodes: EffectiveAddress,
        /// The states of the threads by sublist at first; afterwards what comes before each sublist.
        pub sublists: EffectiveAddress,
        /// The outcomes by sublist.
        pub outcomes: EffectiveAddress,
        /// What each SPE has to say at its end, a line for each.
        pub reports: EffectiveAddress,
        /// The area of the records of the first SPE.
        pub areas: EffectiveAddress,
        /// Bytes from one SPE's area to that of the next.
        pub area_bytes: u64,
        /// How many nodes there are.
        pub node_count: u32,
        /// How many sublists there are.
        pub sublist_count: u32,
        /// DMA lists under way at once.
        pub buffers: u32,
        /// SPEs that have ranked sublists.
        pub areas_count: u32,
    }
}

impl RankingArguments {
    /// The area of the records of an SPE.
    pub fn area(&self, share: u32) -> EffectiveAddress {
        self.areas.offset(u64::from(share) * self.area_bytes)
    }

    /// The address where an SPE reports.
    pub fn report(&self, share: u32) -> EffectiveAddress {
        self.reports.offset(REPORT_BYTES * u64::from(share))
    }
}

/// Bytes from one SPE's report to the next: a line.
const REPORT_BYTES: u64 = 128;

/// The arguments of the call: four quadwords.
const ARGUMENTS: LocalAddress = LocalAddress(0x80);
/// What goes to the host: a quadword.
const REPORT: LocalAddress = LocalAddress(0xC0);
/// The reports of all SPEs, a line each.
const REPORTS: LocalAddress = LocalAddress(0x100);
/// What follows depends on the call.
const FREE: u32 = 0x1000;
/// The end of what may be used: the program's code and its stack lie behind it.
const END: u32 = 192 << 10;

/// Most records of a buffer.
const MOST_RECORDS: u32 = 32;
/// Fewest: a line of memory.
const FEWEST_RECORDS: u32 = 8;

/// The threads of an SPE, grouped on DMA lists, and where their things lie.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ThreadMap {
    /// Threads of each list.
    pub lists: Vec<Group>,
    /// Records of a buffer.
    pub records: u32,
    /// The outcome of the SPE's first sublist; the others follow.
    pub outcomes: LocalAddress,
}

/// The threads of a DMA list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    /// The first of them, among those of the SPE.
    pub first: u32,
    /// How many they are.
    pub threads: u32,
    /// Their states.
    pub states: LocalAddress,
    /// The nodes that are fetched for them.
    pub fetched: LocalAddress,
    /// The list that fetches them.
    pub gets: LocalAddress,
    /// The list by which records go to main memory.
    pub puts: LocalAddress,
    /// How many more records find room in each buffer.
    pub room: LocalAddress,
    /// Both sets of buffers, one for each thread behind one another.
    pub buffers: [LocalAddress; 2],
}

impl ThreadMap {
    /// The map for so many threads, one or more, on so many lists; fewer where there are fewer threads.
    pub fn new(threads: u32, lists: u32) -> Self {
        let mut records = MOST_RECORDS;
        loop {
            let (map, end) = Self::with_records(threads, lists, records);
            if end <= END || records == FEWEST_RECORDS {
                assert!(end <= END, "invariant: there are not so many sublists");
                return map;
            }
            records /= 2;
        }
    }

    /// The map with buffers of so many records, and where it ends.
    fn with_records(threads: u32, lists: u32, records: u32) -> (Self, u32) {
        let nodes = |count: u32| Bytes(NODE_BYTES.0 * u64::from(count));
        let elements = |count: u32| Bytes(8 * u64::from(count));
        let lists = lists.min(threads);
        let mut room = Room::of_quadwords(FREE);
        let outcomes = room.take(nodes(threads));
        let group = |list| {
            let own = part(threads, list, lists);
            // Elements of lists come in pairs.
            let (count, places) = (own.len() as u32, own.len().next_multiple_of(2) as u32);
            Group {
                first: own.start,
                threads: count,
                states: room.take(nodes(places)),
                fetched: room.take(nodes(places)),
                gets: room.take(elements(places)),
                puts: room.take(elements(places)),
                room: room.take(NODE_BYTES),
                buffers: [0; 2].map(|_| room.take(nodes(records * count))),
            }
        };
        let lists = (0..lists).map(group).collect();
        (Self { lists, records, outcomes }, room.end())
    }
}

#[cfg(test)]
mod places_tests {
    use super::*;

    #[test]
    fn all_threads_find_room_and_nothing_overlaps() {
        for threads in [1, 2, 3, 7, 8, 64, 100, 511, 512] {
            for lists in 1..=16 {
                let map = ThreadMap::new(threads, lists);
                assert_eq!(map.lists.len() as u32, lists.min(threads));
                let each = map.lists.iter().map(|group| group.threads);
                assert_eq!(each.sum::<u32>(), threads);
                let mut pieces = vec![(map.outcomes.0, 16 * threads)];
                for group in &map.lists {
                    let count = group.threads;
                    let at = [group.states, group.fetched, group.room];
                    let sizes = [16 * count, 16 * count, 16];
                    pieces.extend(at.iter().map(|at| at.0).zip(sizes));
                    let elements = 16 * count.div_ceil(2);
                    pieces.extend([(group.gets.0, elements), (group.puts.0, elements)]);
                    let bytes = 16 * map.records * count;
                    pieces.extend(group.buffers.map(|at| (at.0, bytes)));
                }
                pieces.sort_unstable();
                let apart = |pair: &[(u32, u32)]| pair[0].0 + pair[0].1 <= pair[1].0;
                assert!(pieces.windows(2).all(apart), "{threads} {lists}");
                let last = pieces.last().unwrap();
                assert!(pieces[0].0 >= FREE && last.0 + last.1 <= END);
            }
        }
        assert_eq!(ThreadMap::new(64, 16).records, 32);
        assert_eq!(ThreadMap::new(512, 1).records, 8);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mmgp_base::Mapping;
    use mmgp_cell::{Blade, KernelTiming};
    use mmgp_lists::{List, Operation, Order, Values, rank_sequentially};
    use mmgp_machine::Machine;
    use mmgp_runtime::{Edtlp, Runtime};

    use super::*;

    fn list(nodes: u32, order: Order) -> Arc<List> {
        Arc::new(List::generate(nodes, order, Values::Random, 5).unwrap())
    }

    fn run(ranking: &ListRanking, p: u32) -> Ran {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        ranking.run(&on, Mapping::of(1, p)).unwrap()
    }

    fn findings(ran: &Ran) -> &Findings {
        ran.findings().unwrap()
    }

    /// Ranks a list and looks at every prefix.
    fn check(
        nodes: u32,
        order: Order,
        [sublists, buffers]: [u32; 2],
        p: u32,
        operation: Operation,
    ) {
        let list = list(nodes, order);
        let ranking = ListRanking::new(Arc::clone(&list), order, [sublists, buffers], 3).unwrap();
        let ran = run(&ranking.with_operation(operation), p);
        let found = findings(&ran);
        let expected = rank_sequentially(&list, operation);
        let case = format!("{nodes} nodes, {order}, s {sublists}, b {buffers}, p {p}, {operation}");
        assert!(found.prefixes == expected, "{case}");
        assert_eq!(found.loads.iter().sum::<u64>(), u64::from(nodes), "{case}");
        assert_eq!(found.loads.len() as u32, p, "{case}");
    }

    #[test]
    fn every_prefix_is_the_sequential_one() {
        for order in Order::ALL {
            for nodes in [1, 2, 3, 7, 8, 9, 63, 64, 100, 1000, 4097] {
                for choice in [[1, 1], [2, 1], [8, 2], [33, 3], [64, 8], [512, 16], [511, 1]] {
                    for p in [1, 3, 8, 16] {
                        let operation = Operation::ALL[(nodes + choice[0] + p) as usize % 5];
                        check(nodes, order, choice, p, operation);
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_list_is_ranked_right_in_both_orders() {
        let nodes = if testing::share() < 1.0 { 100_000 } else { 1_000_000 };
        for order in Order::ALL {
            check(nodes, order, [64, 8], 8, Operation::Last);
        }
    }

    #[test]
    fn more_lists_under_way_hide_more_of_the_latency_and_one_thread_none() {
        // A thread on each list, on one SPE; sublists of 4000 nodes each or more.
        let list = list(64_000, Order::Ordered);
        let step_2 = |under_way| {
            let choice = [under_way, under_way];
            let ranking = ListRanking::new(Arc::clone(&list), Order::Ordered, choice, 3).unwrap();
            findings(&run(&ranking, 1)).steps[1].0 / 64_000.0 * 3.2e9
        };
        let [one, two, four, sixteen] = [1, 2, 4, 16].map(step_2);
        // A blocking get of a line takes 350 cycles, and nothing overlaps with it.
        assert!((350.0..450.0).contains(&one), "{one}");
        assert!((1.95..2.01).contains(&(one / two)) && (3.9..4.02).contains(&(one / four)));
        // Enough of them: an SPE does little else but compute.
        assert!((30.0..60.0).contains(&sixteen), "{sixteen}");
    }

    #[test]
    fn sublists_that_begin_with_the_same_bank_wait_for_it_together() {
        let list = list(1 << 16, Order::Ordered);
        let step_2 = |heads| {
            let ranking = ListRanking::new(Arc::clone(&list), Order::Ordered, [64, 8], 3).unwrap();
            findings(&run(&ranking.headed(heads), 2)).steps[1].0
        };
        let [staggered, aligned] = [Heads::Staggered, Heads::Aligned].map(step_2);
        assert!(aligned > 1.5 * staggered, "{aligned} against {staggered}");
    }

    #[test]
    fn no_transfer_is_touched_while_it_is_under_way() {
        let list = list(5000, Order::Random);
        let ranking = ListRanking::new(list, Order::Random, [40, 3], 3).unwrap();
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Exact, 0.0);
        blade.set_hazards(mmgp_cell::mfc::Hazards::Checked);
        let on = Runtime::new(blade, Box::new(Edtlp::default()));
        ranking.run(&on, Mapping::of(1, 3)).unwrap();
    }
}
