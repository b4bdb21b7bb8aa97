//! The description of what the data pass on their way: bus, memory banks, pages.

use mmgp_base::units::{Bytes, BytesPerSecond, Hertz, Seconds};

/// The element interconnect bus of a Cell, and how long its users wait for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Eib {
    /// Who is connected, in the order of the rings.
    pub order: Vec<Participant>,
    /// Data rings, half of them each way round.
    pub rings: u32,
    /// What a ring carries from one unit to the next in a bus cycle.
    pub width: Bytes,
    /// Bus cycles from the start of a transfer on a ring to the next one on it, at least.
    pub start_interval: u32,
    /// Transfers that a ring carries at once, at most.
    pub transfers_per_ring: u32,
    /// Bus cycles by which a transfer keeps its way to itself for longer, for each place it passes.
    pub hop: u32,
    /// Whose data go before those of the others.
    pub priority: Vec<Participant>,
    /// Core cycles in a bus cycle.
    pub clock_ratio: u32,
    /// Bytes that one command is for; the command bus takes one in a bus cycle.
    pub command: Bytes,
    /// From an MFC's taking up a command to the first byte, between two local stores.
    pub local_store: Seconds,
    /// How long a line from or to memory keeps its place among an MFC's outstanding requests.
    pub memory_round_trip: Seconds,
}

/// A unit that is connected to the bus of a Cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Participant {
    /// The host core.
    Ppe,
    /// An SPE, counted within its Cell.
    Spe(u32),
    /// The memory interface controller.
    Memory,
    /// The interface to the other Cell.
    Link,
    /// The interface to other devices.
    Io,
}

/// The banks of the memory of a Cell, to which consecutive lines belong in turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Banks {
    /// How many.
    pub count: u32,
    /// How long the access to a line keeps its bank busy.
    pub cycle: Seconds,
}

/// How memory is placed on the Cells of a blade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numa {
    /// The unit of placement.
    pub page: Bytes,
}

impl Eib {
    /// What a unit can send, and receive, at a core clock of `clock`: the rate of one ring.
    pub fn port(&self, clock: Hertz) -> BytesPerSecond {
        BytesPerSecond(self.width.0 as f64 * clock.0 / f64::from(self.clock_ratio))
    }

    /// What the commands of all units are for, together.
    pub fn commands(&self, clock: Hertz) -> BytesPerSecond {
        BytesPerSecond(self.command.0 as f64 * clock.0 / f64::from(self.clock_ratio))
    }
}
