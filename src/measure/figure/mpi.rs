//! Figures of MPI among host processes.

use super::super::{ClockPhases, micro};
use super::Program;
use crate::error::Result;
use crate::machine::Machine;
use crate::machine::figures::Quantity;
use crate::units::Seconds;

pub(super) const PROGRAMS: [Program; 1] = [Program { name: "collective", measure: collective }];

/// Time of a collective among so many ranks.
fn collective(machine: &Machine, ranks: u32) -> Result<Quantity> {
    let rows = micro::collective(machine, 1, &mut ClockPhases::new(0))?;
    let row = rows.iter().find(|row| row.ranks == ranks);
    let row = row.expect("invariant: the micro-benchmark goes up to the machine's SPEs");
    Ok(Quantity::Time(Seconds(row.time_s / row.calls as f64)))
}
