//! What a machine is made of, as data: SPEs, host cores, memory and what connects them.

use mmgp_base::units::{Bytes, BytesPerSecond, Cycles, Hertz, Seconds};
use serde::Deserialize;

/// Latencies by instruction class, stalls, and sizes of an SPU.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Spu {
    /// Simple fixed point, logic, compares.
    pub simple_fixed: Cycles,
    /// Word shifts and rotates.
    pub shift: Cycles,
    /// Byte operations.
    pub byte: Cycles,
    /// Single-precision arithmetic.
    pub single: Cycles,
    /// Integer multiplication, conversions.
    pub integer_multiply: Cycles,
    /// Double-precision arithmetic.
    pub double: Cycles,
    /// How long nothing issues after a double-precision instruction.
    pub double_block: Cycles,
    /// Shuffles and quadword shifts.
    pub shuffle: Cycles,
    /// Loads from local store.
    pub load: Cycles,
    /// Channel reads and writes.
    pub channel: Cycles,
    /// Resolution of a branch.
    pub branch: Cycles,
    /// Cost of a taken branch without a hint.
    pub taken_branch: Cycles,
    /// Distance from a hint to the earliest issue of the branch it is for.
    pub hint_distance: Cycles,
    /// Instructions that one access to local store fetches.
    pub fetch_line: u32,
    /// Time from the access to local store to the issue of the first instruction of its line.
    pub fetch: Cycles,
    /// Size of the local store.
    pub local_store: Bytes,
    /// Time from a flag's arrival in local store to the spinning program's noticing it.
    pub poll: Cycles,
}

/// The memory flow controller.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Mfc {
    /// Commands that the SPU's queue holds.
    pub queue: u32,
    /// What enqueueing a command costs the SPU.
    pub issue: Cycles,
    /// The largest transfer of one command.
    pub largest: Bytes,
    /// Time from a command's place in the queue to the first byte from or to memory; without what the
    /// program spends on issuing it and on seeing its end.
    pub latency: Seconds,
    /// Lines that it has asked for and not yet received, at most.
    pub outstanding: u32,
    /// Commands that the queue of the PPE holds.
    pub proxy_queue: u32,
    /// The most elements of a list.
    pub longest_list: u32,
    /// Fetching a list element from local store.
    pub list_fetch: Cycles,
    /// A lock-line command whose line the atomic unit has to itself.
    pub atomic: Cycles,
    /// Taking a lock line away from all other caches.
    pub claim: Cycles,
    /// Words that the inbound mailbox holds.
    pub inbound_mailbox: u32,
    /// Words that the outbound mailbox holds.
    pub outbound_mailbox: u32,
    /// Words that the outbound interrupt mailbox holds.
    pub interrupt_mailbox: u32,
}

/// The memory of one Cell.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Memory {
    /// Rate at which all readers together are served.
    pub read: BytesPerSecond,
    /// Rate at which all writers together are served.
    pub write: BytesPerSecond,
}

/// The link between two Cells.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Flexio {
    /// Rate of all transfers in one direction together.
    pub rate: BytesPerSecond,
    /// Rate of a single stream.
    pub stream: BytesPerSecond,
    /// What a transfer takes longer to its first byte.
    pub latency: Seconds,
}

/// The host core.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Ppe {
    /// Integer operation.
    pub integer: Cycles,
    /// Load to dependent use.
    pub load: Cycles,
    /// Store.
    pub store: Cycles,
    /// Floating-point operation.
    pub float: Cycles,
    /// Floating-point division.
    pub divide: Cycles,
    /// Compare and branch.
    pub branch: Cycles,
    /// How much slower each of two busy hardware threads is than one alone.
    pub smt_slowdown: f64,
    /// Cache line.
    pub line: Bytes,
    /// First-level data cache.
    pub l1_data: Bytes,
    /// First-level instruction cache.
    pub l1_instruction: Bytes,
    /// Store into a local store, with the sync that waits for it.
    pub mmio_store: Seconds,
    /// Load from a local store.
    pub mmio_load: Seconds,
    /// Acquiring, or releasing, a lock in memory that nobody holds.
    pub lock: Cycles,
    /// A barrier by itself.
    pub barrier: Cycles,
    /// How often the run-time system executes what is counted of its books, for each off-load.
    pub books: u64,
}

/// The caches of a PPE, which its hardware threads share, and its address translation.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Cache {
    /// Lines of the first-level data cache that compete for one place.
    pub l1_data_ways: u32,
    /// Lines of the first-level instruction cache that compete for one place.
    pub l1_instruction_ways: u32,
    /// Second-level cache, for code and data.
    pub l2: Bytes,
    /// Lines of the second-level cache that compete for one place.
    pub l2_ways: u32,
    /// Load to use where the second level has the line.
    pub l2_hit: Cycles,
    /// Load to use where no cache has the line.
    pub memory: Cycles,
    /// Loads that missed the first level and can be under way.
    pub misses: u32,
    /// Page of virtual memory.
    pub page: Bytes,
    /// Per page that is not in the first-level translation buffer (ERAT), such as after another address
    /// space was in use.
    pub translation: Cycles,
    /// Pages that the first-level translation buffer for data holds.
    pub erat: u32,
    /// Pages of it that compete for one place.
    pub erat_ways: u32,
    /// Pages that the translation lookaside buffer (TLB) behind it holds.
    pub tlb: u32,
    /// Pages of it that compete for one place.
    pub tlb_ways: u32,
}

/// How the host core issues instructions, beyond the latencies of [`Ppe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PpeIssue {
    /// Instructions that issue in a cycle at most, each to another unit.
    pub width: u32,
    /// Load of a double to its use in arithmetic.
    pub float_load: Cycles,
    /// Load of a word to its use in integer arithmetic.
    pub word_load: Cycles,
    /// Load of a vector to its use.
    pub vector_load: Cycles,
    /// Addition of vectors of floats to the use of the sum in another one.
    pub vector_float: Cycles,
    /// Integer operation to a load from the address that it computed.
    pub address: Cycles,
    /// Time from a branch that went the unexpected way to the instruction after it.
    pub misprediction: Cycles,
    /// A store to a load of the same bytes, as between the registers for doubles and for integers.
    pub forward: Cycles,
    /// How much slower two busy hardware threads are than one.
    pub threads: ThreadSharing,
}

/// Source of the slowdown of two busy hardware threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "u64")]
pub enum ThreadSharing {
    /// The machine file: [`Ppe::smt_slowdown`].
    Given,
    /// The issue of both threads' instructions.
    Issued,
}

impl From<u64> for ThreadSharing {
    /// Reads the choice of a machine file: 0, or 1.
    fn from(choice: u64) -> Self {
        if choice == 0 { Self::Given } else { Self::Issued }
    }
}

/// The element interconnect bus of a Cell, and how long its users wait for an answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    /// Time from an MFC's taking up a command to the first byte, between two local stores.
    pub local_store: Seconds,
    /// How long a line from or to memory keeps its place among an MFC's outstanding requests.
    pub memory_round_trip: Seconds,
}

/// A unit that is connected to the bus of a Cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
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

impl TryFrom<String> for Participant {
    type Error = &'static str;

    /// The unit of that name in a machine file, such as `mic` or `spe3`.
    fn try_from(name: String) -> Result<Self, Self::Error> {
        let spe = || name.strip_prefix("spe")?.parse().ok().map(Self::Spe);
        match name.as_str() {
            "ppe" => Ok(Self::Ppe),
            "mic" => Ok(Self::Memory),
            "bif" => Ok(Self::Link),
            "ioif1" => Ok(Self::Io),
            _ => spe().ok_or("no unit of the bus"),
        }
    }
}

/// The banks of the memory of a Cell, to which consecutive lines belong in turn.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Banks {
    /// How many.
    pub count: u32,
    /// How long the access to a line keeps its bank busy.
    pub cycle: Seconds,
}

/// How memory is placed on the Cells of a blade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
