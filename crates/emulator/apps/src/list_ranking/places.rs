//! What lies where: the arguments of calls in main memory, and what the program keeps in local store
//! while it ranks sublists.

use crate::layout::Room;
use mmgp_base::units::Bytes;
use mmgp_cell::EffectiveAddress;
use mmgp_kernels::list_ranking::NODE_BYTES;
use mmgp_lists::part;
use mmgp_spu::LocalAddress;

/// The arguments of a call.
pub const ARGUMENTS_BYTES: Bytes = Bytes(64);

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
pub const REPORT_BYTES: u64 = 128;

/// The arguments of the call: four quadwords.
pub const ARGUMENTS: LocalAddress = LocalAddress(0x80);
/// What goes to the host: a quadword.
pub const REPORT: LocalAddress = LocalAddress(0xC0);
/// The reports of all SPEs, a line each.
pub const REPORTS: LocalAddress = LocalAddress(0x100);
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
pub struct ThreadMap {
    /// Threads of each list.
    pub lists: Vec<Group>,
    /// Records of a buffer.
    pub records: u32,
    /// The outcome of the SPE's first sublist; the others follow.
    pub outcomes: LocalAddress,
}

/// The threads of a DMA list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
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
mod tests {
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
