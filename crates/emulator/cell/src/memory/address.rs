//! The address map: which effective address names what.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::eib::Eib;
use crate::memory::Memory;
use mmgp_base::units::{Bytes, SimTime};
use mmgp_machine::Layout;
use mmgp_spu::local_store::{LOCAL_STORE_BYTES, LocalAddress};

/// Bytes of a line: what DMA prefers, what lock lines are, and what every allocation is aligned to.
pub(crate) const LINE: u64 = 128;

/// A byte address that every processor and every MFC of a blade understands.
///
/// ```text
/// from                                          to
/// cell << 40                                    (cell + 1) << 40       memory of a Cell
/// 1 << 52                                       2 << 52                memory placed page by page
/// (1 << 56) + (spe << 20)                       + 0x40000              local store of an SPE
/// (1 << 56) + (spe << 20) + 0x40000             + 0x20000              its problem state
/// ```
///
/// The order within the area of an SPE is the hardware's; where the areas begin is this map's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EffectiveAddress(pub u64);

/// What lies at an effective address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A byte of the memory of one Cell.
    Memory {
        /// Whose memory.
        cell: u32,
        /// Bytes from its beginning.
        offset: u64,
    },
    /// A byte of the memory whose pages may lie on different Cells.
    Paged {
        /// Bytes from its beginning.
        offset: u64,
    },
    /// A byte of a local store.
    LocalStore {
        /// Whose local store, counted through all Cells.
        spe: u32,
        /// Address in it.
        address: LocalAddress,
    },
    /// A register that an SPE shows to the outside: mailboxes, signal notification, proxy queue.
    ProblemState {
        /// Whose registers, counted through all Cells.
        spe: u32,
        /// Bytes from the beginning of its problem state area.
        offset: u32,
    },
}

const MEMORY_SHIFT: u32 = 40;
const PAGED_SHIFT: u32 = 52;
const SPES_SHIFT: u32 = 56;
const SPE_SHIFT: u32 = 20;

/// Size of a problem state area \[bytes\].
const PROBLEM_STATE_BYTES: u64 = 0x20000;

impl EffectiveAddress {
    /// A byte of the memory of `cell`.
    pub(crate) const fn memory(cell: u32, offset: u64) -> Self {
        Self(((cell as u64) << MEMORY_SHIFT) + offset)
    }

    /// A byte of the memory that is placed page by page.
    pub(crate) const fn paged(offset: u64) -> Self {
        Self((1 << PAGED_SHIFT) + offset)
    }

    /// A byte of the local store of `spe`.
    pub const fn local_store(spe: u32, address: LocalAddress) -> Self {
        Self((1 << SPES_SHIFT) + ((spe as u64) << SPE_SHIFT) + address.0 as u64)
    }

    /// A register of `spe`, so many bytes into its problem state area.
    pub(crate) const fn problem_state(spe: u32, offset: u32) -> Self {
        Self::local_store(spe, LocalAddress(LOCAL_STORE_BYTES)).offset(offset as u64)
    }

    /// The address so many bytes further on.
    pub const fn offset(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }

    /// What lies there; nothing between the areas. Whether a machine has that much of it is not
    /// asked: see [`Memory::holds`](super::Memory::holds).
    pub(crate) fn place(self) -> Option<Place> {
        let below = |shift: u32| self.0 & ((1 << shift) - 1);
        if self.0 < 1 << PAGED_SHIFT {
            let cell = (self.0 >> MEMORY_SHIFT) as u32;
            return Some(Place::Memory { cell, offset: below(MEMORY_SHIFT) });
        }
        if self.0 < 2 << PAGED_SHIFT {
            return Some(Place::Paged { offset: below(PAGED_SHIFT) });
        }
        if self.0 >> SPES_SHIFT != 1 {
            return None;
        }
        let spe = (below(SPES_SHIFT) >> SPE_SHIFT) as u32;
        let offset = below(SPE_SHIFT);
        if offset < LOCAL_STORE_BYTES as u64 {
            Some(Place::LocalStore { spe, address: LocalAddress(offset as u32) })
        } else if offset < LOCAL_STORE_BYTES as u64 + PROBLEM_STATE_BYTES {
            Some(Place::ProblemState { spe, offset: offset as u32 - LOCAL_STORE_BYTES })
        } else {
            None
        }
    }
}

/// Which of the two registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Signal notification 1.
    One,
    /// Signal notification 2.
    Two,
}

impl Signal {
    /// Both signal registers.
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    /// Offset of the register in the problem state of an SPE, by the Cell Broadband Engine
    /// Architecture.
    const fn offset(self) -> u32 {
        match self {
            Self::One => 0x1400C,
            Self::Two => 0x1C00C,
        }
    }

    /// The effective address of this register of an SPE.
    pub const fn address(self, spe: u32) -> EffectiveAddress {
        EffectiveAddress::problem_state(spe, self.offset())
    }

    /// The SPE and the register at an address, if it is one.
    pub(crate) fn at(address: EffectiveAddress) -> Option<(u32, Self)> {
        let Some(Place::ProblemState { spe, offset }) = address.place() else { return None };
        Self::ALL.into_iter().find(|signal| signal.offset() == offset).map(|signal| (spe, signal))
    }
}

/// A unit that can be the source or the destination of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BusUnit {
    /// The local store, or the registers, of an SPE.
    Spe {
        /// Number, counted through all Cells.
        spe: u32,
    },
    /// The memory of a Cell.
    Memory {
        /// Which Cell.
        cell: u32,
    },
}

// Where the data of a process lie on a machine of several Cells.
//
// Who uses the memories and buses of which Cells, and until when what they did can be felt.
//
// What an off-load takes depends on all that moves on its Cells meanwhile, and on what moved there
// just before: banks that are still busy, lines that are still outstanding. A process that is alone
// on its Cells, and finds them quiet, takes the same time for the same.

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

    /// Whether nothing is felt, by what a process asks for from `now` on, of what has moved until now on
    /// its SPEs and its Cells: a transfer that is asked for moves a latency later.
    pub fn is_quiet(&self, process: u32, spes: &[u32], now: SimTime) -> bool {
        self.quiet_from(process, spes) <= now + self.eib.least_latency()
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
    use crate::eib::Transfer;
    use mmgp_base::units::SimSpan;
    use mmgp_machine::Machine;
    use mmgp_sim::Sim;

    #[test]
    fn an_address_gives_back_the_place_that_it_was_made_for() {
        let local = LocalAddress(0x3FFFF);
        for (address, place) in [
            (EffectiveAddress::memory(3, 5), Place::Memory { cell: 3, offset: 5 }),
            (EffectiveAddress::paged(7), Place::Paged { offset: 7 }),
            (
                EffectiveAddress::local_store(1023, local),
                Place::LocalStore { spe: 1023, address: local },
            ),
            (
                EffectiveAddress::problem_state(2, 0x1400C),
                Place::ProblemState { spe: 2, offset: 0x1400C },
            ),
        ] {
            assert_eq!(address.place(), Some(place));
        }
    }

    #[test]
    fn nothing_lies_between_the_areas() {
        for hole in [2 << 52, 2 << 56, (1 << 56) + 0x60000, u64::MAX] {
            assert_eq!(EffectiveAddress(hole).place(), None, "{hole:#x}");
        }
    }

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

    /// How long a transfer takes that is asked for so long after the first byte of another one came to the
    /// same SPE, and whether the machine is quiet then, at once and for what is asked for.
    fn after_another(gap: SimSpan) -> (SimSpan, [bool; 2]) {
        let machine = Machine::named("qs20").unwrap();
        let (sim, memory) = (Sim::new(), Rc::new(Memory::new(&machine)));
        let eib = Rc::new(Eib::new(&sim, &machine, &memory));
        let traffic = Traffic::new(&eib, machine.layout);
        traffic.uses(0, 0);
        let from = memory.allocate(0, Bytes(2048));
        let to = EffectiveAddress::local_store(0, LocalAddress(0));
        let transfer = Transfer { spe: 0, from, to, bytes: Bytes(2048) };
        let (first, other) = (Rc::clone(&eib), transfer);
        sim.spawn("first", async move { first.carry(&other).await });
        let (own, found) = (sim.clone(), Rc::new(Cell::default()));
        let outcome = Rc::clone(&found);
        sim.spawn("second", async move {
            own.sleep(gap).await;
            let asked = own.now();
            let quiet = [traffic.quiet_from(0, &[0]) <= asked, traffic.is_quiet(0, &[0], asked)];
            own.sleep(eib.latency(from, to)).await;
            eib.carry(&transfer).await;
            outcome.set((own.now().since(asked), quiet));
        });
        sim.run().unwrap();
        found.get()
    }

    #[test]
    fn nothing_is_felt_of_another_transfer_where_it_is_quiet() {
        let nanoseconds = |count: u64| SimSpan::from_ticks(1_000_000 * count);
        let (alone, _) = after_another(nanoseconds(10_000));
        let all: Vec<_> = (0..500).map(|gap| after_another(nanoseconds(gap))).collect();
        for (gap, (time, [_, quiet])) in all.iter().enumerate() {
            assert!(!quiet || *time == alone, "after {gap} ns");
        }
        assert!(all.iter().any(|(time, _)| *time > alone), "they are in one another's way");
        // What is asked for moves a latency later, so quiet it is earlier.
        assert!(all.iter().any(|(_, quiet)| *quiet == [false, true]));
    }
}
