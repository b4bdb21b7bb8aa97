//! The constants of a bound, measured on the machine by programs of their own.

use crate::complexity::Constants;
use crate::error::Result;
use crate::machine::Machine;
use crate::measure::memory;
use crate::units::Bytes;

/// Bytes of a line of memory.
pub const LINE: u64 = 128;

/// Those of a machine.
///
/// # Errors
/// What a measurement runs into.
pub fn of(machine: &Machine) -> Result<Constants> {
    Ok(Constants {
        clock: machine.clock,
        latency: memory::latency(machine, Bytes(LINE))?,
        memory: memory::rate(machine, machine.layout.spes_per_cell)?,
        accelerator: memory::rate(machine, 1)?,
        line: LINE as f64,
        penalty: machine.spu.taken_branch.0 as f64,
        double_block: machine.spu.double_block.0 as f64,
    })
}
