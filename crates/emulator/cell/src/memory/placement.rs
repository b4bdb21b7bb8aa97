//! Where the data of a process lie on a machine of several Cells.
//!
//! Who uses the memories and buses of which Cells, and until when what they did can be felt.
//!
//! What an off-load takes depends on all that moves on its Cells meanwhile, and on what moved there
//! just before: banks that are still busy, lines that are still outstanding. A process that is alone
//! on its Cells, and finds them quiet, takes the same time for the same.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::eib::Eib;
use crate::memory::{EffectiveAddress, Memory};
use mmgp_base::units::{Bytes, SimTime};
use mmgp_machine::Layout;

/// A policy of placing memory, as `numactl` has them: each Cell has its own memory, and that of the
/// other is slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// The Cell that the process runs on.
    #[default]
    OwnCell,
    /// Page by page on all Cells in turn, beginning with the process's own.
    Interleaved,
    /// Each page on the Cell of the SPE that works on it, when the SPEs of the process share an
    /// array in equal parts, in their order.
    BySpe,
}

/// The memory of one process: what it allocates follows its placement.
pub struct Homes {
    memory: Rc<Memory>,
    placement: Placement,
    /// Cell of the process, then of each of its SPEs.
    cell: u32,
    spe_cells: Vec<u32>,
}

impl Homes {
    /// Homes for a process on `cell` with SPEs on `spe_cells`.
    pub(crate) fn new(
        memory: &Rc<Memory>,
        placement: Placement,
        cell: u32,
        spe_cells: Vec<u32>,
    ) -> Self {
        Self { memory: Rc::clone(memory), placement, cell, spe_cells }
    }

    /// Zeroed memory for what the SPEs of the process share. Where it would all be on the process's
    /// own Cell, it begins with the first bank; otherwise with a page.
    pub fn allocate(&self, size: Bytes) -> EffectiveAddress {
        let (memory, cells) = (&self.memory, self.memory.layout.cells);
        let shares = self.spe_cells.len() as u64;
        match self.placement {
            Placement::Interleaved if cells > 1 => memory.allocate_pages(size, |first| {
                let page = (first.0 / memory.page) as u32;
                (self.cell + page) % cells
            }),
            Placement::BySpe if self.spe_cells.iter().any(|&cell| cell != self.cell) => memory
                .allocate_pages(size, |first| self.spe_cells[(first.0 * shares / size.0) as usize]),
            _ => self.memory.allocate_at_first_bank(self.cell, size),
        }
    }

    /// Zeroed memory on the process's own Cell, for what it shares out itself.
    pub fn allocate_own(&self, size: Bytes) -> EffectiveAddress {
        self.memory.allocate(self.cell, size)
    }
}

/// The processes that use each Cell.
pub struct Traffic {
    eib: Rc<Eib>,
    layout: Layout,
    users: RefCell<Vec<BTreeSet<u32>>>,
    /// Felt until by Cell: until when it is to be taken for busy, whatever its buses say.
    felt_until: Vec<Cell<SimTime>>,
}

impl Traffic {
    pub(crate) fn new(eib: &Rc<Eib>, layout: Layout) -> Self {
        let cells = layout.cells as usize;
        Self {
            eib: Rc::clone(eib),
            layout,
            users: RefCell::new(vec![BTreeSet::new(); cells]),
            felt_until: vec![Cell::new(SimTime::ZERO); cells],
        }
    }

    /// A host process will use the memory or the SPEs of a Cell.
    pub fn uses(&self, process: u32, cell: u32) {
        self.users.borrow_mut()[cell as usize].insert(process);
    }

    /// Whether a host process that works with these SPEs shares no Cell with another.
    pub fn is_alone(&self, process: u32, spes: &[u32]) -> bool {
        let users = self.users.borrow();
        let uses = |cell: usize| users[cell].contains(&process);
        let own = |spe: &u32| uses((spe / self.layout.spes_per_cell) as usize);
        let alone = |cell: usize| !uses(cell) || users[cell].len() == 1;
        spes.iter().all(own) && (0..users.len()).all(alone)
    }

    /// Instant from which on nothing will be felt of what has moved until now, for the SPEs and the Cells of
    /// a process.
    pub fn quiet_from(&self, process: u32, spes: &[u32]) -> SimTime {
        let users = self.users.borrow();
        let cells = (0..users.len()).filter(|&cell| users[cell].contains(&process));
        let felt = cells.map(|cell| self.felt_until[cell].get().max(self.eib.banks_free(cell)));
        let windows = spes.iter().map(|&spe| self.eib.window_open(spe));
        felt.chain(windows).max().unwrap_or(SimTime::ZERO)
    }

    /// What a process did whose time was known is felt until then.
    pub fn feel_until(&self, process: u32, time: SimTime) {
        for (users, felt) in self.users.borrow().iter().zip(&self.felt_until) {
            if users.contains(&process) {
                felt.set(felt.get().max(time));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mmgp_machine::Machine;

    /// The Cells of the pages of 8 pages that a process on Cell 1 allocates, with SPEs on Cells
    /// 1, 1, 1 and 0.
    fn check(placement: Placement, cells: [u32; 8]) {
        let memory = Rc::new(Memory::new(&Machine::named("qs20").unwrap()));
        let homes = Homes::new(&memory, placement, 1, vec![1, 1, 1, 0]);
        let start = homes.allocate(Bytes(8 * 4096));
        let found = [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|page| memory.cell_of(memory.unit(start.offset(page * 4096))));
        assert_eq!(found, cells, "{placement:?}");
    }

    #[test]
    fn pages_follow_the_placement() {
        check(Placement::OwnCell, [1; 8]);
        check(Placement::Interleaved, [1, 0, 1, 0, 1, 0, 1, 0]);
        check(Placement::BySpe, [1, 1, 1, 1, 1, 1, 0, 0]);
    }
}
