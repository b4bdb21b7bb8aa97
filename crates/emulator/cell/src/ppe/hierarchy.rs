//! The caches of a PPE together: two of the first level, one of the second, and memory behind.
//!
//! ```text
//!   thread 0 ---+--- L1 instruction ---+
//!               |                      +--- L2 --- memory
//!   thread 1 ---+--- L1 data ----------+
//! ```
//!
//! Left out: prefetching (a `dcbt` ahead of its use hides what is charged here), what the second
//! level replaced having to be written back, and, here, that several misses can be under way: that is
//! up to whoever loads.

use mmgp_base::units::{Bytes, Cycles};
use mmgp_machine::Machine;

/// Level of the hierarchy at which a line was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// First-level cache.
    First,
    /// Second-level cache.
    Second,
    /// Memory, beyond the caches.
    Memory,
}

/// The caches of one PPE, which its hardware threads share. Addresses are physical.
pub struct Hierarchy {
    data: Cache,
    instruction: Cache,
    second: Cache,
    line: u64,
    /// What a load waits longer than for the first level.
    second_stall: Cycles,
    memory_stall: Cycles,
}

impl Hierarchy {
    /// The empty caches of a machine's PPE.
    pub fn new(machine: &Machine) -> Self {
        let (ppe, cache) = (&machine.ppe, &machine.cache);
        let new = |size: Bytes, ways| Cache::new(size, ppe.line, ways);
        // A load that hits is charged by what counts the operations.
        let longer = |latency: Cycles| Cycles(latency.0.saturating_sub(ppe.load.0));
        Self {
            data: new(ppe.l1_data, cache.l1_data_ways),
            instruction: new(ppe.l1_instruction, cache.l1_instruction_ways),
            second: new(cache.l2, cache.l2_ways),
            line: ppe.line.0.max(1),
            second_stall: longer(cache.l2_hit),
            memory_stall: longer(cache.memory),
        }
    }

    /// Bytes of a line.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Whether the first-level cache has the data at an address.
    pub fn has(&self, address: u64) -> bool {
        self.data.has(address / self.line)
    }

    /// Loads from an address, and finds it where it was.
    pub fn load(&mut self, address: u64) -> Level {
        let line = address / self.line;
        Self::find(&mut self.data, &mut self.second, line)
    }

    /// Loads from an address past the first level, as a walk through the page table does.
    pub fn load_past_first(&mut self, address: u64) -> Level {
        let line = address / self.line;
        if self.second.access(line) { Level::Second } else { Level::Memory }
    }

    /// Fetches the instruction at an address.
    pub fn fetch(&mut self, address: u64) -> Level {
        let line = address / self.line;
        Self::find(&mut self.instruction, &mut self.second, line)
    }

    /// Stores to an address. The first level is written through and takes no line for a store; the
    /// second does. Nobody waits: stores leave through a queue.
    pub fn store(&mut self, address: u64) {
        let line = address / self.line;
        self.data.refresh(line);
        self.second.access(line);
    }

    /// How much longer a load from there takes than one from the first level.
    pub fn stall(&self, level: Level) -> Cycles {
        match level {
            Level::First => Cycles(0),
            Level::Second => self.second_stall,
            Level::Memory => self.memory_stall,
        }
    }

    fn find(first: &mut Cache, second: &mut Cache, line: u64) -> Level {
        if first.access(line) {
            Level::First
        } else if second.access(line) {
            Level::Second
        } else {
            Level::Memory
        }
    }
}

/// A set-associative cache with the least recently used line of a set replaced (LRU). It holds no
/// data: only which lines are there.
pub struct Cache {
    /// Lines of each set, the most recently used first; `EMPTY` where there is none.
    lines: Vec<u64>,
    ways: usize,
    sets: u64,
}

/// No line has this number: addresses are far below.
const EMPTY: u64 = u64::MAX;

impl Cache {
    /// An empty cache of `size` in lines of `line`, `ways` of which share a set. The last set of a
    /// size that is no whole number of sets is left out, but there is at least one.
    pub fn new(size: Bytes, line: Bytes, ways: u32) -> Self {
        let ways = ways.max(1) as usize;
        let sets = (size.0 / line.0.max(1) / ways as u64).max(1);
        Self { lines: vec![EMPTY; sets as usize * ways], ways, sets }
    }

    /// Uses the line with that number and brings it in where it is missing; whether it was there.
    pub fn access(&mut self, line: u64) -> bool {
        let set = self.set(line);
        match set.iter().position(|&held| held == line) {
            Some(age) => {
                set[..=age].rotate_right(1);
                true
            }
            None => {
                set.rotate_right(1);
                set[0] = line;
                false
            }
        }
    }

    /// Whether the line is there; that is no use of it.
    pub fn has(&self, line: u64) -> bool {
        let start = self.start(line);
        self.lines[start..start + self.ways].contains(&line)
    }

    /// Uses the line where it is there, and leaves the cache as it is where it is not.
    pub fn refresh(&mut self, line: u64) -> bool {
        let set = self.set(line);
        let age = set.iter().position(|&held| held == line);
        if let Some(age) = age {
            set[..=age].rotate_right(1);
        }
        age.is_some()
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let start = self.start(line);
        &mut self.lines[start..start + self.ways]
    }

    /// Index at which the set of a line begins.
    fn start(&self, line: u64) -> usize {
        // Nearly every cache has a power of two of sets, and a division takes long.
        let mask = self.sets - 1;
        let set = if self.sets & mask == 0 { line & mask } else { line % self.sets };
        set as usize * self.ways
    }
}

/// Two buffers of translations for data: a small one (ERAT) and a large one behind it (TLB). What
/// neither holds is looked up in the page table, which is in memory and goes through the second-level
/// cache: a group of eight entries is a line, and by its hash every page has a group of its own.
///
/// Left out: that another process may have displaced them, and a page table so full that a second
/// group is looked at.
pub(super) struct Translations {
    first: Cache,
    second: Cache,
    page: u64,
    /// What a page costs that the first buffer does not hold.
    refill: Cycles,
}

/// Address of the page table: beyond all data.
const PAGE_TABLE: u64 = 1 << 50;

impl Translations {
    /// Translations of a machine's core, which has none yet.
    pub fn new(machine: &Machine) -> Self {
        let cache = &machine.cache;
        let buffer = |pages: u32, ways| Cache::new(Bytes(u64::from(pages)), Bytes(1), ways);
        Self {
            first: buffer(cache.erat, cache.erat_ways),
            second: buffer(cache.tlb, cache.tlb_ways),
            page: cache.page.0,
            refill: cache.translation,
        }
    }

    /// Translates an address; what is waited for it.
    pub fn translate(&mut self, caches: &mut Hierarchy, address: u64) -> Cycles {
        let page = address / self.page;
        if self.first.access(page) {
            return Cycles(0);
        }
        if self.second.access(page) {
            return self.refill;
        }
        let group = PAGE_TABLE + page * caches.line();
        let level = caches.load_past_first(group);
        self.refill + caches.stall(level)
    }
}

/// A stretch of a process's data that a function walks through once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Offset among the process's data.
    pub offset: u64,
    /// How long it is.
    pub bytes: Bytes,
    /// Whether it is read or written.
    pub kind: AccessKind,
}

/// Walks through several stretches side by side, each as fast as to end with the longest one, and
/// adds up what is waited for each line.
///
/// Left out: that a line which is loaded before the one waited for is used may be under way with it.
pub(super) fn stall(caches: &mut Hierarchy, base: u64, stretches: &[Stretch]) -> Cycles {
    let line = caches.line();
    let lines = |stretch: &Stretch| {
        let first = (base + stretch.offset) / line;
        first..(base + stretch.offset + stretch.bytes.0).div_ceil(line).max(first)
    };
    let longest = stretches.iter().map(|stretch| lines(stretch).count() as u64).max();
    let steps = longest.unwrap_or(0);
    let mut stall = Cycles(0);
    for step in 0..steps {
        for stretch in stretches {
            let lines = lines(stretch);
            let count = lines.end - lines.start;
            for line_number in count * step / steps..count * (step + 1) / steps {
                let address = (lines.start + line_number) * line;
                match stretch.kind {
                    AccessKind::Load => {
                        let level = caches.load(address);
                        stall += caches.stall(level);
                    }
                    AccessKind::Store => caches.store(address),
                }
            }
        }
    }
    stall
}

/// An access of a program to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Physical address.
    pub address: u64,
    /// Whether it loads or stores.
    pub kind: AccessKind,
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// Load.
    Load,
    /// Store.
    Store,
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_machine::Machine;

    #[test]
    fn a_line_is_found_in_memory_first_then_in_l1_and_in_l2_once_l1_has_lost_it() {
        let mut caches = Hierarchy::new(&Machine::named("qs20").unwrap());
        assert_eq!([caches.load(0), caches.load(127)], [Level::Memory, Level::First]);
        // L1 has 64 sets of 4 lines: four more lines 8 KB apart push the first one out.
        (1..=4).for_each(|way| assert_eq!(caches.load(way * 8192), Level::Memory));
        assert_eq!(caches.load(0), Level::Second);
        // Load to use is 36 cycles instead of 5 from L2, 500 from memory.
        assert_eq!(caches.stall(Level::Second), Cycles(31));
        assert_eq!(caches.stall(Level::Memory), Cycles(495));
    }

    #[test]
    fn code_and_data_meet_in_the_second_level_only() {
        let mut caches = Hierarchy::new(&Machine::named("qs20").unwrap());
        assert_eq!([caches.fetch(0), caches.fetch(0)], [Level::Memory, Level::First]);
        assert_eq!(caches.load(0), Level::Second);
    }

    #[test]
    fn a_store_takes_no_line_of_the_first_level() {
        let mut caches = Hierarchy::new(&Machine::named("qs20").unwrap());
        caches.store(0);
        assert_eq!(caches.load(0), Level::Second);
    }

    /// Which of the accesses hit, in a cache of two sets of two lines of 128 bytes.
    fn hits(lines: &[u64]) -> Vec<bool> {
        let mut cache = Cache::new(Bytes(512), Bytes(128), 2);
        lines.iter().map(|&line| cache.access(line)).collect()
    }

    #[test]
    fn the_least_recently_used_line_of_a_set_is_replaced() {
        // 0, 2 and 4 share set 0. 0 is used again before 4 comes, so 4 replaces 2; line 1 lies in
        // the other set and disturbs nobody.
        assert_eq!(
            hits(&[0, 2, 0, 1, 4, 0, 2, 1]),
            [false, false, true, false, false, true, false, true]
        );
    }

    #[test]
    fn a_walk_through_more_lines_than_fit_never_hits() {
        // The line that is needed next is always the one replaced last.
        assert!(hits(&[0, 2, 4, 0, 2, 4, 0, 2, 4]).iter().all(|hit| !hit));
    }

    #[test]
    fn a_refresh_brings_nothing_in() {
        let mut cache = Cache::new(Bytes(256), Bytes(128), 2);
        assert!(!cache.refresh(7) && !cache.access(7) && cache.refresh(7));
        // 8 comes, 7 is refreshed, so 9 replaces 8.
        cache.access(8);
        cache.refresh(7);
        cache.access(9);
        assert!(cache.refresh(7) && !cache.refresh(8));
    }

    #[test]
    fn a_page_is_found_in_the_page_table_first_then_in_the_erat_and_in_the_tlb_once_that_lost_it() {
        let machine = Machine::named("qs20").unwrap();
        let (mut caches, mut pages) = (Hierarchy::new(&machine), Translations::new(&machine));
        let mut translate = |page: u64| pages.translate(&mut caches, 4096 * page + 8).0;
        // A line of the page table from memory, 500 cycles less the 5 of a hit, and the refill.
        assert_eq!([translate(0), translate(0)], [495 + 60, 0]);
        // 32 sets of two: two more pages 32 apart push the first one out of the ERAT.
        assert_eq!([translate(32), translate(64)], [555, 555]);
        assert_eq!(translate(0), 60);
        // 256 sets of four: five pages 256 apart do so in the TLB. The line is in the second level.
        (1..=4).for_each(|way| assert_eq!(translate(256 * way), 555));
        assert_eq!(translate(0), 60 + 31);
    }

    fn stretch(offset: u64, bytes: u64, kind: AccessKind) -> Stretch {
        Stretch { offset, bytes: Bytes(bytes), kind }
    }

    #[test]
    fn each_line_is_waited_for_where_it_is_found_and_stores_are_not() {
        let mut caches = Hierarchy::new(&Machine::named("qs20").unwrap());
        // 256 lines fit the first level; from memory each takes 495 cycles longer.
        let vector = stretch(64, 100 * 128, AccessKind::Load);
        let other = stretch(1 << 20, 50 * 128, AccessKind::Load);
        // The first one touches 101 lines, for it begins in the middle of one.
        assert_eq!(stall(&mut caches, 0, &[vector, other]), Cycles(151 * 495));
        assert_eq!(stall(&mut caches, 0, &[vector, other]), Cycles(0));
        let out = stretch(1 << 21, 64 * 128, AccessKind::Store);
        assert_eq!(stall(&mut caches, 0, &[out]), Cycles(0));
        // What was stored is in the second level only.
        let again = Stretch { kind: AccessKind::Load, ..out };
        assert_eq!(stall(&mut caches, 0, &[again]), Cycles(64 * 31));
        assert_eq!(stall(&mut caches, 0, &[]), Cycles(0));
    }

    #[test]
    fn vectors_beyond_the_second_level_come_from_memory_again_and_again() {
        let mut caches = Hierarchy::new(&Machine::named("qs20").unwrap());
        let vectors = |count: u64| (0..count).map(|i| stretch(i * 29184, 29184, AccessKind::Load));
        let mut walk = |count| {
            vectors(count).map(|one| stall(&mut caches, 0, &[one]).0).sum::<u64>();
            vectors(count).map(|one| stall(&mut caches, 0, &[one]).0).sum::<u64>()
        };
        // 228 lines each: ten have 292 KB and stay in L2, forty have 1.2 MB.
        assert_eq!(walk(10), 2280 * 31);
        assert_eq!(walk(40), 9120 * 495);
    }
}
