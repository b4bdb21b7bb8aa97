//! Which SPEs are busy, and for whom they work.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_cell::Blade;
use mmgp_machine::Layout;
use mmgp_sim::{Sim, Watch};

/// Which SPEs are leased; clones refer to the same.
#[derive(Clone)]
pub struct BusyMap {
    /// Whether each SPE is busy, by number.
    busy: Rc<RefCell<Vec<bool>>>,
    spes_per_cell: u32,
    /// How many leases have come to their end, and how many processes.
    returned: Watch<u64>,
}

impl BusyMap {
    /// The SPEs of a machine, all idle.
    pub(crate) fn new(sim: &Sim, layout: Layout) -> Self {
        let busy = Rc::new(RefCell::new(vec![false; layout.spes() as usize]));
        let returned = Watch::new(sim, "an idle SPE", 0);
        Self { busy, spes_per_cell: layout.spes_per_cell, returned }
    }

    /// How many SPEs there are, idle or not.
    pub fn count(&self) -> u32 {
        self.busy.borrow().len() as u32
    }

    /// The numbers of the SPEs that nobody has leased, in ascending order.
    pub fn idle(&self) -> Vec<u32> {
        let busy = self.busy.borrow();
        let idle = busy.iter().zip(0..).filter(|&(&busy, _)| !busy);
        idle.map(|(_, spe)| spe).collect()
    }

    /// Leases these SPEs until the lease is dropped; nothing where there are none, where one is busy
    /// or comes twice, or where the machine has no such SPE.
    pub fn lease(&self, spes: &[u32]) -> Option<Lease> {
        let mut busy = self.busy.borrow_mut();
        let free = |(place, spe): (usize, &u32)| {
            busy.get(*spe as usize) == Some(&false) && !spes[..place].contains(spe)
        };
        if spes.is_empty() || !spes.iter().enumerate().all(free) {
            return None;
        }
        spes.iter().for_each(|&spe| busy[spe as usize] = true);
        Some(Lease { spes: spes.to_vec(), map: self.clone() })
    }

    /// Leases as many idle SPEs as there are within those numbers, of which the first is above 0, to a
    /// process on `cell`; nothing where fewer are idle. First come its `own`, then those of its Cell,
    /// then those of the next.
    pub fn lease_near(
        &self,
        (cell, own): (u32, &[u32]),
        spes: RangeInclusive<u32>,
    ) -> Option<Lease> {
        let mut idle = self.idle();
        let cells = self.count() / self.spes_per_cell;
        let distance = |spe: u32| (spe / self.spes_per_cell + cells - cell) % cells;
        idle.sort_by_key(|spe| (!own.contains(spe), distance(*spe)));
        let (fewest, most) = (*spes.start() as usize, *spes.end() as usize);
        idle.truncate(most);
        if idle.len() < fewest { None } else { self.lease(&idle) }
    }

    /// Counts the leases and processes that have come to their end: whoever waits asks again.
    pub(crate) fn returned(&self) -> &Watch<u64> {
        &self.returned
    }
}

/// SPEs that work for one task, until it is dropped.
#[must_use = "the SPEs are idle again where it is dropped"]
pub struct Lease {
    spes: Vec<u32>,
    map: BusyMap,
}

impl Lease {
    /// Their numbers, by share.
    pub fn spes(&self) -> &[u32] {
        &self.spes
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut busy = self.map.busy.borrow_mut();
        self.spes.iter().for_each(|&spe| busy[spe as usize] = false);
        self.map.returned.update(|returned| *returned += 1);
    }
}

/// The numbers of the p SPEs of each of m processes; see [`Runtime::assign`](crate::Runtime::assign).
pub(crate) fn assign(blade: &Blade, mapping: Mapping) -> Result<Vec<Vec<u32>>> {
    let (m, p) = (mapping.m(), mapping.p());
    let layout = blade.machine.layout;
    if mapping.apus() > u64::from(layout.spes()) {
        return Err(Error::Infeasible { m, p, apus: layout.spes() });
    }
    let mut free: Vec<Vec<u32>> = (0..layout.cells)
        .map(|cell| (0..layout.spes_per_cell).map(|k| cell * layout.spes_per_cell + k).collect())
        .collect();
    let mut assigned = vec![Vec::new(); m as usize];
    // First whoever fits on one Cell, so that the remainders are left to those who must spread.
    for rank in 0..m {
        let own = &mut free[blade.cell_of(rank) as usize];
        if own.len() >= p as usize {
            assigned[rank as usize] = own.drain(..p as usize).collect();
        }
    }
    for rank in (0..m).filter(|&rank| assigned[rank as usize].is_empty()).collect::<Vec<_>>() {
        let first = blade.cell_of(rank);
        for cell in (0..layout.cells).map(|step| (first + step) % layout.cells) {
            let missing = p as usize - assigned[rank as usize].len();
            let own = &mut free[cell as usize];
            let taken = missing.min(own.len());
            assigned[rank as usize].extend(own.drain(..taken));
        }
    }
    Ok(assigned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_cell::KernelTiming;
    use mmgp_machine::Machine;

    fn map() -> BusyMap {
        BusyMap::new(&Sim::new(), Layout { cells: 2, spes_per_cell: 2, threads_per_ppe: 2 })
    }

    #[test]
    fn a_lease_holds_its_spes_until_it_is_dropped() {
        let map = map();
        let lease = map.lease(&[2, 0]).unwrap();
        assert_eq!((lease.spes(), map.idle()), (&[2, 0][..], vec![1, 3]));
        let other = map.lease(&[3]).unwrap();
        assert_eq!((map.idle(), map.returned().read(|&count| count)), (vec![1], 0));
        drop(lease);
        assert_eq!((map.idle(), map.returned().read(|&count| count)), (vec![0, 1, 2], 1));
        drop(other);
    }

    #[test]
    fn what_cannot_be_leased_leaves_the_map_as_it_was() {
        let map = map();
        let _lease = map.lease(&[1]).unwrap();
        for refused in [&[0, 1][..], &[2, 2], &[4], &[]] {
            assert!(map.lease(refused).is_none(), "{refused:?}");
            assert_eq!(map.idle(), [0, 2, 3], "{refused:?}");
        }
    }

    #[test]
    fn what_is_near_comes_first() {
        let map = map();
        let near = |own: &[u32], cell, spes| {
            map.lease_near((cell, own), spes..=spes).map(|lease| lease.spes().to_vec())
        };
        assert_eq!(near(&[], 0, 3), Some(vec![0, 1, 2]));
        assert_eq!(near(&[], 1, 3), Some(vec![2, 3, 0]));
        assert_eq!(near(&[1], 1, 4), Some(vec![1, 2, 3, 0]));
        let _lease = map.lease(&[2]).unwrap();
        assert_eq!(
            (near(&[2], 1, 2), near(&[], 0, 4), near(&[], 0, 0)),
            (Some(vec![3, 0]), None, None)
        );
    }

    fn assigned(m: u32, p: u32) -> Vec<Vec<u32>> {
        let blade = Blade::new(&Machine::named("qs20").unwrap(), KernelTiming::Cached, 0.0);
        assign(&blade, Mapping::of(m, p)).unwrap()
    }

    #[test]
    fn a_process_has_its_spes_on_its_own_cell_where_they_fit() {
        assert_eq!(assigned(2, 2), [[0, 1], [8, 9]]);
        assert_eq!(assigned(3, 4), [[0, 1, 2, 3], [8, 9, 10, 11], [4, 5, 6, 7]]);
    }

    #[test]
    fn a_process_that_does_not_fit_takes_what_is_left_on_both_cells() {
        assert_eq!(assigned(1, 16), [(0..16).collect::<Vec<u32>>()]);
        // Five on each Cell, and the third takes the three and two that are left there.
        assert_eq!(assigned(3, 5)[2], [5, 6, 7, 13, 14]);
    }

    #[test]
    fn every_feasible_configuration_gets_distinct_spes() {
        for m in 1..=16 {
            for p in 1..=16 / m {
                let mut all: Vec<u32> = assigned(m, p).into_iter().flatten().collect();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), (m * p) as usize, "m = {m}, p = {p}");
            }
        }
    }
}
