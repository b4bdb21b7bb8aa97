//! The pages whose translations a core has at hand.

use super::cache::Cache;
use super::hierarchy::Hierarchy;
use mmgp_base::units::{Bytes, Cycles};
use mmgp_machine::Machine;

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

/// Where the page table begins: beyond all data.
const PAGE_TABLE: u64 = 1 << 50;

impl Translations {
    /// Those of a machine's core, which has none yet.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
