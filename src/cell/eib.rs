//! The way of the data: from one unit of a blade to another.
//!
//! The units of a Cell are connected by its element interconnect bus, and the Cells by a link. A
//! transfer holds what it passes at once and is done when its last byte has arrived.

use std::rc::Rc;

use super::memory::{EffectiveAddress, Memory};
use crate::machine::Machine;
use crate::sim::{ProcessorSharing, Sim};
use crate::units::{Bytes, BytesPerSecond, SimSpan};

/// A unit that can be the source or the destination of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The host core of a Cell with its caches.
    Ppe {
        /// Which Cell.
        cell: u32,
    },
    /// The local store, or the registers, of an SPE.
    Spe {
        /// Its number, counted through all Cells.
        spe: u32,
    },
    /// The memory of a Cell.
    Memory {
        /// Which Cell.
        cell: u32,
    },
    /// The link of a Cell to the outside.
    Io {
        /// Which Cell.
        cell: u32,
    },
}

/// What an MFC moves at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The SPE whose MFC asked for it; one of the two ends is its local store.
    pub spe: u32,
    /// Where the data are.
    pub from: EffectiveAddress,
    /// Where they go.
    pub to: EffectiveAddress,
    /// How much.
    pub bytes: Bytes,
}

/// The buses of all Cells, with what hangs on them and the link between them.
pub struct Eib {
    memory: Rc<Memory>,
    /// For each Cell, seconds of its controller's time.
    controllers: Vec<ProcessorSharing>,
    /// Seconds of the link's time, one for each direction: to the Cell with that number.
    links: Vec<ProcessorSharing>,
    read: BytesPerSecond,
    write: BytesPerSecond,
    link: BytesPerSecond,
    latency: SimSpan,
    link_latency: SimSpan,
}

impl Eib {
    /// The buses of a machine at rest.
    pub fn new(sim: &Sim, machine: &Machine, memory: &Rc<Memory>) -> Self {
        let cells = 0..machine.layout.cells;
        let own_share = machine.mfc.stream.0 / machine.memory.read.0;
        let link_share = machine.flexio.stream.0 / machine.flexio.rate.0;
        let shared = |name: &str, cell: u32, own_share: f64| {
            let name = format!("{name} of Cell {cell}");
            ProcessorSharing::new(sim, &name, move |streams| own_share.min(1.0 / streams as f64))
        };
        Self {
            memory: Rc::clone(memory),
            controllers: cells.clone().map(|cell| shared("memory", cell, own_share)).collect(),
            links: cells.map(|cell| shared("link", cell, link_share)).collect(),
            read: machine.memory.read,
            write: machine.memory.write,
            link: machine.flexio.rate,
            latency: SimSpan::from_seconds(machine.mfc.latency),
            link_latency: SimSpan::from_seconds(machine.flexio.latency),
        }
    }

    /// What the machine's memories hold.
    pub fn memory(&self) -> &Rc<Memory> {
        &self.memory
    }

    /// From the moment an MFC takes up a command to the arrival of its first byte, when nobody else
    /// is in the way.
    pub fn latency(&self, from: Unit, to: Unit) -> SimSpan {
        let crosses = self.memory.cell_of(from) != self.memory.cell_of(to);
        if crosses { self.latency + self.link_latency } else { self.latency }
    }

    /// Waits until the last byte of a transfer has arrived whose first byte arrives now. The
    /// contents are not moved: [`Memory::copy`] does that.
    pub async fn carry(&self, transfer: &Transfer) {
        let (from, to) = (self.memory.unit(transfer.from), self.memory.unit(transfer.to));
        let (source, destination) = (self.memory.cell_of(from), self.memory.cell_of(to));
        let bytes = transfer.bytes.0 as f64;
        if source != destination {
            self.links[destination as usize].serve(bytes / self.link.0).await;
        } else if let Unit::Memory { cell } = to {
            self.controllers[cell as usize].serve(bytes / self.write.0).await;
        } else {
            self.controllers[source as usize].serve(bytes / self.read.0).await;
        }
    }
}
