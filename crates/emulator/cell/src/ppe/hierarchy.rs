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

use super::cache::Cache;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_machine::Machine;

/// Where a line was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// In the first-level cache.
    First,
    /// In the second-level cache.
    Second,
    /// In no cache.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
