//! Figures of Linux on the PPE: what giving the processor away costs.

use super::super::{ClockPhases, micro};
use super::Program;
use crate::error::Result;
use crate::machine::Machine;
use crate::machine::figures::Quantity;
use crate::units::Seconds;

pub(super) const PROGRAMS: [Program; 1] = [Program { name: "sched-yield", measure: sched_yield }];

/// Time of a switch between so many processes on one hardware thread that do nothing but yield.
fn sched_yield(machine: &Machine, processes: u32) -> Result<Quantity> {
    let rows = micro::context_switch(machine, 1, &mut ClockPhases::new(0))?;
    let row = rows.iter().find(|row| row.processes == processes);
    let row = row.expect("invariant: the micro-benchmark runs two processes");
    Ok(Quantity::Time(Seconds(row.time_s / row.switches as f64)))
}
