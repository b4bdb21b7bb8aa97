//! Loads that missed the first-level cache: how many can be under way, and when each line is there.

use super::hierarchy::{Hierarchy, Level};
use mmgp_machine::Machine;

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

/// What becomes of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// Its line is in the first-level cache.
    Hits,
    /// It misses, and so many cycles after it would have been there, its datum is there.
    Misses(u64),
    /// It would miss and finds the queue full; a place becomes free in that cycle.
    Waits(u64),
}

/// The caches of a core, and the queue of its loads that missed. Both threads share both.
///
/// A load goes on as soon as it is in the queue; who needs its datum waits. A load from a line that
/// is under way takes a place of its own, and its datum comes with that line.
///
/// Left out: that the caches hand over a line in pieces, and the bandwidth of the second level and
/// of memory: eight lines in 500 cycles are a quarter of what memory can do.
pub(super) struct Loads {
    caches: Hierarchy,
    places: usize,
    /// The lines that the queued loads wait for, and the cycle in which each is there.
    queue: Vec<(u64, u64)>,
}

impl Loads {
    /// Idle, with these caches.
    pub(super) fn new(machine: &Machine, caches: Hierarchy) -> Self {
        let places = (machine.cache.misses as usize).max(1);
        Self { caches, places, queue: Vec::with_capacity(places) }
    }

    /// Loads in cycle `now`.
    pub(super) fn load(&mut self, now: u64, address: u64) -> Load {
        self.queue.retain(|&(_, until)| until > now);
        let line = address / self.caches.line();
        let coming = self.queue.iter().find(|&&(queued, _)| queued == line).map(|entry| entry.1);
        let hits = coming.is_none() && self.caches.has(address);
        if !hits && self.queue.len() == self.places {
            let free = self.queue.iter().map(|&(_, until)| until).min();
            return Load::Waits(free.unwrap_or(now + 1));
        }
        let level = self.caches.load(address);
        let until = match (coming, level) {
            (Some(until), _) => until,
            (None, Level::First) => return Load::Hits,
            (None, level) => now + self.caches.stall(level).0,
        };
        self.queue.push((line, until));
        Load::Misses(until - now)
    }

    /// Accesses memory without anybody's waiting for it.
    pub(super) fn touch(&mut self, access: Access) {
        match access.kind {
            AccessKind::Load => {
                self.caches.load(access.address);
            }
            AccessKind::Store => self.caches.store(access.address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle() -> Loads {
        let machine = Machine::named("qs20").unwrap();
        assert_eq!(machine.cache.misses, 8);
        Loads::new(&machine, Hierarchy::new(&machine))
    }

    #[test]
    fn eight_loads_are_under_way_and_the_ninth_waits_for_the_first_one() {
        let mut loads = idle();
        for index in 0..8 {
            assert_eq!(loads.load(index, 128 * index), Load::Misses(495));
        }
        // The first line is there at 495, the second at 496.
        assert_eq!(loads.load(8, 1 << 20), Load::Waits(495));
        assert_eq!(loads.load(494, 1 << 20), Load::Waits(495));
        assert_eq!(loads.load(495, 1 << 20), Load::Misses(495));
        assert_eq!(loads.load(495, 1 << 21), Load::Waits(496));
        // What is there is loaded though the queue is full.
        assert_eq!(loads.load(495, 8), Load::Hits);
    }

    #[test]
    fn loads_from_a_line_that_comes_have_it_together_and_a_place_each() {
        let mut loads = idle();
        assert_eq!(loads.load(0, 0), Load::Misses(495));
        for index in 1..8 {
            assert_eq!(loads.load(index, 8 * index), Load::Misses(495 - index));
        }
        assert_eq!(loads.load(8, 64), Load::Waits(495));
        assert_eq!(loads.load(495, 64), Load::Hits);
    }
}
