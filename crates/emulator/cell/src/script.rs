//! What a call on an SPE does that takes time, written down with the clock stopped.
//!
//! How long it takes depends on nothing else but the state of the machine: so calls of the same
//! scripts that meet the machine in the same state take the same time, to the tick.

mod writer;

use crate::mfc::{Command, Direction};
use crate::timing::KernelTime;
use mmgp_base::units::Cycles;
use mmgp_spu::local_store::LocalAddress;

pub use writer::{Messages, Writer};

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptOperation {
    /// Puts a transfer into the queue of the MFC.
    Enqueue(Command),
    /// Waits for a tag group.
    Wait(u8),
    /// Runs a kernel of that name.
    Compute(&'static str, KernelTime),
    /// Takes cycles of the SPU.
    Spend(Cycles),
    /// Spins until other SPEs have put so many messages there since the task began.
    Message { at: LocalAddress, count: u64 },
    /// A loop begins.
    LoopBegins,
    /// Ends a loop.
    LoopEnds,
}

/// The operations of a call, in their order.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(crate) operations: Vec<ScriptOperation>,
    fingerprint: Fingerprint,
}

impl Script {
    /// Two scripts of the same fingerprint take the same time if they meet the machine in the same
    /// state.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// DMA commands.
    pub fn commands(&self) -> u64 {
        let is_command =
            |operation: &&ScriptOperation| matches!(operation, ScriptOperation::Enqueue(_));
        self.operations.iter().filter(is_command).count() as u64
    }

    /// Adds an operation. `place` is what the time of a transfer depends on of its effective
    /// address.
    fn push(&mut self, operation: ScriptOperation, place: u64) {
        self.operations.push(operation);
        let words = match operation {
            ScriptOperation::Enqueue(command) => {
                let way = match command.direction {
                    Direction::Get => 0,
                    Direction::Put => 1,
                };
                let small = u64::from(command.tag) << 4 | way << 3 | command.order as u64;
                [1 << 32 | u64::from(command.local.0), place, command.bytes.0 << 16 | small]
            }
            ScriptOperation::Wait(tag) => [2, u64::from(tag), 0],
            ScriptOperation::Compute(_, KernelTime { cycles, port_use, .. }) => {
                [3 | port_use.fetches << 8, cycles.0, port_use.accesses]
            }
            ScriptOperation::Spend(cycles) => [4, cycles.0, 0],
            ScriptOperation::Message { at, count } => [5, u64::from(at.0), count],
            ScriptOperation::LoopBegins => [6, 0, 0],
            ScriptOperation::LoopEnds => [7, 0, 0],
        };
        words.into_iter().for_each(|word| self.fingerprint.add(word));
    }
}

/// 128 bits of hash: two different scripts of a run share a fingerprint with a probability of some
/// 2^-128 times the number of their pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Fingerprint(u64, u64);

impl Fingerprint {
    /// Fingerprint of both, in this order.
    pub fn then(mut self, other: Self) -> Self {
        self.add(other.0);
        self.add(other.1);
        self
    }

    /// Adds a word.
    pub fn add(&mut self, word: u64) {
        self.0 = mixed(self.0 ^ word, 0x9E37_79B9_7F4A_7C15);
        self.1 = mixed(self.1 ^ word.rotate_left(32), 0xD1B5_4A32_D192_ED03);
    }
}

/// The output function of SplitMix64, a bijection, with that increment.
const fn mixed(state: u64, increment: u64) -> u64 {
    let mut z = state.wrapping_add(increment);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
