//! Main memory: what it holds, and the bandwidth that all its users share.

use std::cell::RefCell;

use crate::machine::Machine;
use crate::sim::{ProcessorSharing, Sim};
use crate::spu::local_store::LocalStore;
use crate::spu::register::Quadword;
use crate::units::{Bytes, BytesPerSecond, Seconds, SimSpan};

use super::mfc::{Command, Direction};

/// A byte address in main memory; the Cells of a blade share one address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EffectiveAddress(pub u64);

/// Each Cell's memory begins at a multiple of this, so an address tells its home.
const HOME_SHIFT: u32 = 40;

/// What DMA prefers, and what every allocation is aligned to.
const LINE: u64 = 128;

impl EffectiveAddress {
    /// The address so many bytes further on.
    pub const fn offset(self, bytes: u64) -> Self {
        Self(self.0 + bytes)
    }

    /// The Cell whose memory holds this byte.
    pub const fn home(self) -> u32 {
        (self.0 >> HOME_SHIFT) as u32
    }

    const fn quadword(self) -> usize {
        ((self.0 & ((1 << HOME_SHIFT) - 1)) / 16) as usize
    }
}

/// The memory of all Cells, with their controllers and the link between them.
pub struct Memory {
    contents: RefCell<Vec<Vec<Quadword>>>,
    /// For each Cell, seconds of its controller's time.
    controllers: Vec<ProcessorSharing>,
    /// Seconds of the link's time, one for each direction: to the Cell with that number.
    links: Vec<ProcessorSharing>,
    read: BytesPerSecond,
    write: BytesPerSecond,
    link: BytesPerSecond,
    link_latency: SimSpan,
}

impl Memory {
    /// Empty memory for each Cell of `machine`.
    pub fn new(sim: &Sim, machine: &Machine) -> Self {
        let cells = 0..machine.layout.cells;
        let own_share = machine.mfc.stream.0 / machine.memory.read.0;
        let link_share = machine.flexio.stream.0 / machine.flexio.rate.0;
        let shared = |name: &str, cell: u32, own_share: f64| {
            let name = format!("{name} of Cell {cell}");
            ProcessorSharing::new(sim, &name, move |streams| own_share.min(1.0 / streams as f64))
        };
        Self {
            contents: RefCell::new(vec![Vec::new(); machine.layout.cells as usize]),
            controllers: cells.clone().map(|cell| shared("memory", cell, own_share)).collect(),
            links: cells.map(|cell| shared("link", cell, link_share)).collect(),
            read: machine.memory.read,
            write: machine.memory.write,
            link: machine.flexio.rate,
            link_latency: SimSpan::from_seconds(machine.flexio.latency),
        }
    }

    /// Zeroed memory on `cell`, aligned to a cache line.
    pub fn allocate(&self, cell: u32, size: Bytes) -> EffectiveAddress {
        let quadwords = &mut self.contents.borrow_mut()[cell as usize];
        let start = quadwords.len();
        let lines = size.0.div_ceil(LINE) as usize;
        quadwords.resize(start + lines * (LINE / 16) as usize, Quadword::ZERO);
        EffectiveAddress((u64::from(cell) << HOME_SHIFT) + 16 * start as u64)
    }

    /// Writes from a 16-byte boundary on, as the host does with ordinary stores.
    pub fn write(&self, at: EffectiveAddress, quadwords: impl IntoIterator<Item = Quadword>) {
        let contents = &mut self.contents.borrow_mut()[at.home() as usize];
        for (place, quadword) in contents[at.quadword()..].iter_mut().zip(quadwords) {
            *place = quadword;
        }
    }

    /// The quadword that holds the byte at `at`.
    pub fn read(&self, at: EffectiveAddress) -> Quadword {
        self.contents.borrow()[at.home() as usize][at.quadword()]
    }

    /// Whether `bytes` from `at` on have been allocated.
    pub(super) fn holds(&self, at: EffectiveAddress, bytes: Bytes) -> bool {
        let end = at.quadword() + bytes.0.div_ceil(16) as usize;
        self.contents.borrow().get(at.home() as usize).is_some_and(|own| end <= own.len())
    }

    /// What a transfer between `cell` and the memory at `at` takes longer to its first byte than
    /// one within a Cell.
    pub(super) fn extra_latency(&self, cell: u32, at: EffectiveAddress) -> SimSpan {
        if at.home() == cell { SimSpan::ZERO } else { self.link_latency }
    }

    /// Takes a command's share of the controller's time.
    pub(super) async fn occupy_controller(&self, command: &Command) {
        let rate = match command.direction {
            Direction::Get => self.read,
            Direction::Put => self.write,
        };
        let time = Seconds(command.bytes.0 as f64 / rate.0);
        self.controllers[command.effective.home() as usize].serve(time.0).await;
    }

    /// Takes a command's share of the time of the link into the Cell that receives the data.
    pub(super) async fn occupy_link(&self, cell: u32, command: &Command) {
        let receiver = match command.direction {
            Direction::Get => cell,
            Direction::Put => command.effective.home(),
        };
        self.links[receiver as usize].serve(command.bytes.0 as f64 / self.link.0).await;
    }

    /// Moves the data of a command.
    pub(super) fn transfer(&self, command: &Command, store: &mut LocalStore) {
        let mut contents = self.contents.borrow_mut();
        let first = command.effective.quadword();
        let local = store.slice_mut(command.local, command.bytes);
        let main = &mut contents[command.effective.home() as usize][first..first + local.len()];
        match command.direction {
            Direction::Get => local.copy_from_slice(main),
            Direction::Put => main.copy_from_slice(local),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_the_cell_that_it_was_allocated_on() {
        let memory = Memory::new(&Sim::new(), &Machine::named("qs20").unwrap());
        let (near, far) = (memory.allocate(0, Bytes(1)), memory.allocate(1, Bytes(200)));
        assert_eq!((near.home(), far.home()), (0, 1));
        assert_eq!(memory.allocate(1, Bytes(1)).0 - far.0, 256);
        memory.write(far.offset(16), [Quadword::splat(3)]);
        assert_eq!(memory.read(far.offset(20)), Quadword::splat(3));
        assert!(memory.holds(far, Bytes(384)) && !memory.holds(far, Bytes(385)));
    }
}
