//! The constants of a bound: of the machine's file, or measured on it by programs of their own.

use crate::complexity::Constants;
use crate::error::Result;
use crate::machine::Machine;
use crate::measure::memory;
use crate::units::{Bytes, BytesPerSecond};

/// Bytes of a line of memory.
pub const LINE: u64 = 128;

/// Those of a machine.
///
/// # Errors
/// What a measurement runs into.
pub fn of(machine: &Machine) -> Result<Constants> {
    // A mixture of reading and writing is no faster than the faster one.
    let memory = BytesPerSecond(machine.memory.read.0.max(machine.memory.write.0));
    Ok(Constants {
        clock: machine.clock,
        latency: memory::latency(machine, Bytes(LINE))?,
        memory,
        accelerator: memory::rate(machine, 1)?,
        line: LINE as f64,
        penalty: machine.spu.taken_branch.0 as f64,
        double_block: machine.spu.double_block.0 as f64,
    })
}
