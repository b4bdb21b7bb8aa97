//! What the memories of a blade hold: main memory and the local stores, in one address space.

mod address;
mod lock_lines;

use std::cell::RefCell;
use std::rc::Rc;

use mmgp_base::units::Bytes;
use mmgp_machine::{Layout, Machine};
use mmgp_spu::local_store::{LOCAL_STORE_BYTES, LocalAddress, LocalStore};
use mmgp_spu::register::Quadword;

pub(crate) use address::{BusUnit, LINE, Place};
pub use address::{EffectiveAddress, Homes, Placement, Signal, Traffic};
pub(crate) use lock_lines::{Banks, LockLines, Supplier};

/// The contents of main memory and of all local stores.
pub struct Memory {
    /// The memory of each Cell, then the one that is placed page by page.
    main: Vec<RefCell<Contents>>,
    /// The Cell of each page of the latter.
    homes: RefCell<Vec<u32>>,
    page: u64,
    /// Bytes from one line of a bank to the next.
    bank_period: u64,
    stores: Vec<Rc<RefCell<LocalStore>>>,
    layout: Layout,
    /// What every write has to tell.
    lock_lines: LockLines,
}

/// One of the parts that the contents are kept in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    Main(usize),
    Store(usize),
}

impl Memory {
    /// Nothing allocated on any Cell of `machine`, and local stores full of zeros.
    pub fn new(machine: &Machine) -> Self {
        let layout = machine.layout;
        let stores = (0..layout.spes()).map(|_| Rc::default()).collect();
        let main = (0..=layout.cells).map(|_| RefCell::default()).collect();
        Self {
            main,
            homes: RefCell::default(),
            page: machine.numa.page.0,
            bank_period: u64::from(machine.banks.count) * LINE,
            stores,
            layout,
            lock_lines: LockLines::default(),
        }
    }

    /// Zeroed memory on `cell`, aligned to a cache line.
    pub fn allocate(&self, cell: u32, size: Bytes) -> EffectiveAddress {
        self.allocate_aligned(cell, size, LINE)
    }

    /// Zeroed memory on `cell` that begins with the first bank, as every other array does that is
    /// allocated so: whether two arrays ask for the same bank at once does not depend on which they
    /// are.
    pub(crate) fn allocate_at_first_bank(&self, cell: u32, size: Bytes) -> EffectiveAddress {
        self.allocate_aligned(cell, size, self.bank_period)
    }

    fn allocate_aligned(&self, cell: u32, size: Bytes, alignment: u64) -> EffectiveAddress {
        let mut contents = self.main[cell as usize].borrow_mut();
        let start = (16 * contents.len() as u64).next_multiple_of(alignment);
        contents.grow(((start + size.0.next_multiple_of(LINE)) / 16) as usize);
        EffectiveAddress::memory(cell, start)
    }

    /// Who has lock lines of this memory.
    pub(super) const fn lock_lines(&self) -> &LockLines {
        &self.lock_lines
    }

    /// Zeroed memory from a page's beginning on, each page of it on the Cell that `home` tells for
    /// the first byte of the page, counted within the allocation.
    pub(crate) fn allocate_pages(
        &self,
        size: Bytes,
        home: impl Fn(Bytes) -> u32,
    ) -> EffectiveAddress {
        let (mut homes, pages) = (self.homes.borrow_mut(), size.0.div_ceil(self.page));
        let start = homes.len() as u64;
        homes.extend((0..pages).map(|page| home(Bytes(page * self.page))));
        let quadwords = (start + pages) * self.page / 16;
        self.main[self.layout.cells as usize].borrow_mut().grow(quadwords as usize);
        EffectiveAddress::paged(start * self.page)
    }

    /// All local stores.
    pub(crate) fn local_stores(&self) -> &[Rc<RefCell<LocalStore>>] {
        &self.stores
    }

    /// The local store of an SPE.
    pub(crate) fn local_store(&self, spe: u32) -> &Rc<RefCell<LocalStore>> {
        &self.stores[spe as usize]
    }

    /// The unit on the bus that answers for the byte at `at`, which the machine must have.
    pub(crate) fn unit(&self, at: EffectiveAddress) -> BusUnit {
        match at.place() {
            Some(Place::Memory { cell, .. }) => BusUnit::Memory { cell },
            Some(Place::Paged { offset }) => {
                BusUnit::Memory { cell: self.homes.borrow()[(offset / self.page) as usize] }
            }
            None => panic!("invariant: a unit is asked for what is mapped"),
            Some(Place::LocalStore { spe, .. } | Place::ProblemState { spe, .. }) => {
                BusUnit::Spe { spe }
            }
        }
    }

    /// All of an effective address that the time of a transfer depends on, given how long it is: of
    /// memory that lies on one Cell, the Cell and the bank with the offset in its line.
    pub fn phase(&self, at: EffectiveAddress) -> u64 {
        match at.place() {
            Some(Place::Memory { offset, .. }) => at.0 - offset + offset % self.bank_period,
            _ => at.0,
        }
    }

    /// How many of the `bytes` from `at` on are on the same unit as the first.
    pub(crate) fn at_home(&self, at: EffectiveAddress, bytes: Bytes) -> Bytes {
        let Some(Place::Paged { offset }) = at.place() else { return bytes };
        let homes = self.homes.borrow();
        let first = (offset / self.page) as usize;
        let same = homes[first..].iter().take_while(|&&home| home == homes[first]).count() as u64;
        bytes.min(Bytes((first as u64 + same) * self.page - offset))
    }

    /// The Cell that a unit is on.
    pub(crate) fn cell_of(&self, unit: BusUnit) -> u32 {
        match unit {
            BusUnit::Spe { spe } => spe / self.layout.spes_per_cell,
            BusUnit::Memory { cell } => cell,
        }
    }

    /// Whether `bytes` from `at` on can be read and written: main memory that has been allocated,
    /// or a local store. Problem state holds no data.
    pub(crate) fn holds(&self, at: EffectiveAddress, bytes: Bytes) -> bool {
        self.area(at).is_some_and(|(area, offset)| {
            let end = offset + bytes.0;
            match area {
                Area::Main(index) => end.div_ceil(16) <= self.main[index].borrow().len() as u64,
                Area::Store(_) => end <= u64::from(LOCAL_STORE_BYTES),
            }
        })
    }

    /// Writes from a 16-byte boundary on, as the host does with ordinary stores.
    ///
    /// # Panics
    /// Where the memory does not hold the address, as every access below does.
    pub fn write(&self, at: EffectiveAddress, quadwords: impl IntoIterator<Item = Quadword>) {
        let mut written = 0;
        match self.held(at) {
            (Area::Main(cell), first) => {
                let mut contents = self.main[cell].borrow_mut();
                for (index, quadword) in (first..).zip(quadwords) {
                    *contents.place(index) = quadword;
                    written += 16;
                }
            }
            (Area::Store(spe), first) => {
                let mut store = self.stores[spe].borrow_mut();
                for (place, quadword) in whole(&mut store)[first..].iter_mut().zip(quadwords) {
                    *place = quadword;
                    written += 16;
                }
            }
        }
        self.lock_lines.written(at, Bytes(written));
    }

    /// The quadword that holds the byte at `at`.
    pub fn read(&self, at: EffectiveAddress) -> Quadword {
        match self.held(at) {
            (Area::Main(cell), index) => self.main[cell].borrow().read(index),
            (Area::Store(spe), index) => {
                self.stores[spe].borrow().load(LocalAddress(16 * index as u32))
            }
        }
    }

    /// Copies `bytes` from one place to another, at least one of which is a local store: a multiple
    /// of 16 between multiples of 16, or less within one quadword and at the same offset in it on
    /// both sides. The rest of a quadword is left as it is.
    pub fn copy(&self, from: EffectiveAddress, to: EffectiveAddress, bytes: Bytes) {
        if bytes.0 < 16 {
            let (start, source) = ((to.0 % 16) as usize, self.read(from).bytes());
            let mut target = self.read(to).bytes();
            let end = start + bytes.0 as usize;
            target[start..end].copy_from_slice(&source[start..end]);
            return self.write(to, [Quadword::from_bytes(target)]);
        }
        self.lock_lines.written(to, bytes);
        let count = (bytes.0 / 16) as usize;
        let store = |spe: usize| self.stores[spe].borrow_mut();
        match (self.held(from), self.held(to)) {
            ((Area::Main(cell), source), (Area::Store(spe), first)) => {
                let target = &mut store(spe);
                self.main[cell].borrow().load(source, &mut whole(target)[first..first + count]);
            }
            ((Area::Store(spe), source), (Area::Main(cell), first)) => {
                let from = &mut store(spe);
                self.main[cell].borrow_mut().store(first, &whole(from)[source..source + count]);
            }
            ((Area::Store(spe), source), (Area::Store(other), first)) if spe == other => {
                whole(&mut store(spe)).copy_within(source..source + count, first);
            }
            ((Area::Store(spe), source), (Area::Store(other), first)) => {
                let (from, to) = (&mut store(spe), &mut store(other));
                let source = &whole(from)[source..source + count];
                whole(to)[first..first + count].copy_from_slice(source);
            }
            ((Area::Main(_), _), (Area::Main(_), _)) => {
                unreachable!("invariant: an MFC moves data to or from a local store")
            }
        }
    }

    /// Area of the contents at an address that is mapped, and the index of its quadword.
    fn held(&self, at: EffectiveAddress) -> (Area, usize) {
        let (area, offset) = self.area(at).expect("invariant: an access is to what is mapped");
        (area, (offset / 16) as usize)
    }

    /// Area of the contents at an address, and the bytes from its beginning.
    fn area(&self, at: EffectiveAddress) -> Option<(Area, u64)> {
        match at.place()? {
            Place::Memory { cell, offset } => {
                (cell < self.layout.cells).then_some((Area::Main(cell as usize), offset))
            }
            Place::LocalStore { spe, address } => (spe < self.layout.spes())
                .then_some((Area::Store(spe as usize), u64::from(address.0))),
            Place::Paged { offset } => Some((Area::Main(self.layout.cells as usize), offset)),
            Place::ProblemState { .. } => None,
        }
    }
}

/// All of a local store.
fn whole(store: &mut LocalStore) -> &mut [Quadword] {
    store.slice_mut(LocalAddress(0), Bytes(u64::from(LOCAL_STORE_BYTES)))
}

/// Quadwords in a piece that is kept as a whole: 64 KiB.
const PIECE: usize = 4096;

/// Memory that is zero where nobody has written, and takes room of the host's only where somebody
/// has. Indices count quadwords.
#[derive(Default)]
struct Contents {
    len: usize,
    pieces: Vec<Option<Box<[Quadword]>>>,
}

impl Contents {
    /// Quadwords that there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Adds quadwords up to `len`.
    pub fn grow(&mut self, len: usize) {
        self.len = self.len.max(len);
        let pieces = self.len.div_ceil(PIECE);
        self.pieces.resize_with(pieces, || None);
    }

    /// The quadword at an index.
    pub fn read(&self, index: usize) -> Quadword {
        self.pieces[index / PIECE].as_ref().map_or(Quadword::ZERO, |piece| piece[index % PIECE])
    }

    /// Copies what begins at an index.
    pub fn load(&self, mut index: usize, mut to: &mut [Quadword]) {
        while !to.is_empty() {
            let (place, count) = (index % PIECE, to.len().min(PIECE - index % PIECE));
            let (now, later) = to.split_at_mut(count);
            match &self.pieces[index / PIECE] {
                Some(piece) => now.copy_from_slice(&piece[place..place + count]),
                None => now.fill(Quadword::ZERO),
            }
            (index, to) = (index + count, later);
        }
    }

    /// Writes from an index on.
    pub fn store(&mut self, mut index: usize, mut from: &[Quadword]) {
        while !from.is_empty() {
            let (place, count) = (index % PIECE, from.len().min(PIECE - index % PIECE));
            self.piece(index)[place..place + count].copy_from_slice(&from[..count]);
            (index, from) = (index + count, &from[count..]);
        }
    }

    /// The quadword at an index, to be written.
    pub fn place(&mut self, index: usize) -> &mut Quadword {
        &mut self.piece(index)[index % PIECE]
    }

    fn piece(&mut self, index: usize) -> &mut [Quadword] {
        let new = || vec![Quadword::ZERO; PIECE].into_boxed_slice();
        self.pieces[index / PIECE].get_or_insert_with(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(&Machine::named("qs20").unwrap())
    }

    #[test]
    fn an_address_tells_the_cell_that_it_was_allocated_on() {
        let memory = memory();
        let (near, far) = (memory.allocate(0, Bytes(1)), memory.allocate(1, Bytes(200)));
        assert_eq!(memory.unit(near), BusUnit::Memory { cell: 0 });
        assert_eq!(memory.unit(far), BusUnit::Memory { cell: 1 });
        assert_eq!(memory.allocate(1, Bytes(1)).0 - far.0, 256);
        memory.write(far.offset(16), [Quadword::splat(3)]);
        assert_eq!(memory.read(far.offset(20)), Quadword::splat(3));
        assert!(memory.holds(far, Bytes(384)) && !memory.holds(far, Bytes(385)));
    }

    /// Copies between two places; what else lies in the last quadword stays.
    fn check_copy(from: impl Fn(&Memory) -> EffectiveAddress, to: EffectiveAddress) {
        let memory = memory();
        let from = from(&memory);
        memory.write(from, (1..=4).map(Quadword::splat));
        memory.copy(from.offset(16), to, Bytes(32));
        assert_eq!(
            [0, 16].map(|offset| memory.read(to.offset(offset))),
            [2, 3].map(Quadword::splat)
        );
        memory.copy(from.offset(48 + 4), to.offset(4), Bytes(4));
        assert_eq!(memory.read(to), Quadword::from_words([2, 4, 2, 2]));
    }

    #[test]
    fn each_page_lies_on_the_cell_that_it_was_placed_on() {
        let memory = memory();
        memory.allocate_pages(Bytes(1), |_| 1);
        // Pages of 4096 bytes, the last one begun: on Cells 1, 0, 0.
        let start = memory.allocate_pages(Bytes(8200), |first| u32::from(first.0 == 0));
        let at = |offset| start.offset(offset);
        let cells = [0, 4095, 4096, 12287].map(|offset| memory.cell_of(memory.unit(at(offset))));
        assert_eq!(cells, [1, 1, 0, 0]);
        assert!(memory.holds(start, Bytes(12288)) && !memory.holds(start, Bytes(12289)));
        assert_eq!(memory.at_home(at(4000), Bytes(200)), Bytes(96));
        assert_eq!(memory.at_home(at(4100), Bytes(5000)), Bytes(5000));
        memory.write(at(4080), [1, 2].map(Quadword::splat));
        assert_eq!(memory.read(at(4096)), Quadword::splat(2));
    }

    #[test]
    fn contents_go_between_memory_and_local_stores_to_the_byte() {
        let store = |spe, address| EffectiveAddress::local_store(spe, LocalAddress(address));
        check_copy(|memory| memory.allocate(1, Bytes(64)), store(3, 0x3FFE0));
        check_copy(|_| store(3, 64), store(15, 0));
        check_copy(|_| store(3, 64), store(3, 128));
    }

    #[test]
    fn what_a_machine_does_not_have_is_not_held() {
        let memory = memory();
        let store = |spe| EffectiveAddress::local_store(spe, LocalAddress(0));
        assert!(
            memory.holds(store(15), Bytes(262_144)) && !memory.holds(store(15), Bytes(262_145))
        );
        assert!(!memory.holds(store(16), Bytes(1)));
        assert!(!memory.holds(EffectiveAddress::memory(2, 0), Bytes(1)));
        assert!(!memory.holds(EffectiveAddress::problem_state(0, 0), Bytes(4)));
    }

    #[test]
    fn what_is_written_across_pieces_is_read_back_and_the_rest_is_zero() {
        let mut contents = Contents::default();
        contents.grow(3 * PIECE);
        let written: Vec<Quadword> = (1..=100).map(Quadword::splat).collect();
        contents.store(2 * PIECE - 60, &written);
        let mut read = vec![Quadword::splat(7); 102];
        contents.load(2 * PIECE - 61, &mut read);
        assert_eq!(read[1..101], written);
        assert_eq!((read[0], read[101]), (Quadword::ZERO, Quadword::ZERO));
        assert_eq!(contents.read(2 * PIECE), Quadword::splat(61));
        assert!(contents.pieces[0].is_none(), "nobody has written there");
    }
}
