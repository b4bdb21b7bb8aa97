//! The host core: what its code costs, and the pipeline that its hardware threads share.
//!
//! Host code is not emulated instruction by instruction. A program counts what a burst of its code
//! does ([`Work`]), each operation costs its documented latency, and two busy hardware threads slow
//! each other down.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Mul};
use std::rc::Rc;

use super::trace::Track;
use crate::machine::{self, Machine};
use crate::sim::{Pool, ProcessorSharing, Sim};
use crate::units::{Cycles, Seconds};

/// Operations that a burst of host code executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Integer operations and address arithmetic.
    pub integers: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Floating-point operations except divisions; a fused multiply-add is one.
    pub floats: u64,
    /// Floating-point divisions.
    pub divides: u64,
    /// Conditional branches.
    pub branches: u64,
}

impl Work {
    /// The exponential or the logarithm of a double by the usual library: range reduction and a
    /// polynomial of degree 13 or so, evaluated in one chain.
    pub const TRANSCENDENTAL: Self =
        Self { integers: 8, loads: 16, stores: 1, floats: 20, divides: 0, branches: 4 };

    /// Cycles when nobody shares the core and each operation waits for the one before.
    fn cycles(&self, ppe: &machine::Ppe) -> Cycles {
        Cycles(
            self.integers * ppe.integer.0
                + self.loads * ppe.load.0
                + self.stores * ppe.store.0
                + self.floats * ppe.float.0
                + self.divides * ppe.divide.0
                + self.branches * ppe.branch.0,
        )
    }

    /// Cache lines that the burst touches at most: its data, each access 8 bytes further on, and
    /// its code, 4 bytes for each instruction; neither more than the first-level cache holds.
    fn lines(&self, ppe: &machine::Ppe) -> u64 {
        let accesses = self.loads + self.stores;
        let instructions = accesses + self.integers + self.floats + self.divides + self.branches;
        let data = (8 * accesses).min(ppe.l1_data.0).div_ceil(ppe.line.0);
        let code = (4 * instructions).min(ppe.l1_instruction.0).div_ceil(ppe.line.0);
        data + code
    }
}

impl Add for Work {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            integers: self.integers + other.integers,
            loads: self.loads + other.loads,
            stores: self.stores + other.stores,
            floats: self.floats + other.floats,
            divides: self.divides + other.divides,
            branches: self.branches + other.branches,
        }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<u64> for Work {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self {
            integers: self.integers * times,
            loads: self.loads * times,
            stores: self.stores * times,
            floats: self.floats * times,
            divides: self.divides * times,
            branches: self.branches * times,
        }
    }
}

/// The PPE of one Cell.
pub struct Ppe {
    /// Seconds of work of a thread alone on the core.
    pipeline: ProcessorSharing,
    threads: Vec<Rc<HardwareThread>>,
    description: machine::Ppe,
    clock: crate::units::Hertz,
}

/// One of the hardware threads of a PPE, held by one process at a time.
pub struct HardwareThread {
    /// Its place in a trace.
    pub(super) track: Track,
    /// Held by whoever runs.
    pub(super) pool: Pool,
    /// Who ran last: finds its state still in the caches.
    pub(super) last: Cell<Option<u32>>,
    /// Changes from one process to another.
    pub(super) switches: Cell<u64>,
}

impl Ppe {
    pub(super) fn new(sim: &Sim, machine: &Machine, cell: u32) -> Self {
        let slowdown = machine.ppe.smt_slowdown;
        let rate = move |threads: usize| if threads == 1 { 1.0 } else { 1.0 / slowdown };
        let thread = |number| {
            let name = format!("hardware thread {number} of the PPE of Cell {cell}");
            Rc::new(HardwareThread {
                track: Track::HardwareThread { cell, thread: number },
                pool: Pool::new(sim, &name, 1),
                last: Cell::new(None),
                switches: Cell::new(0),
            })
        };
        Self {
            pipeline: ProcessorSharing::new(sim, &format!("the PPE of Cell {cell}"), rate),
            threads: (0..machine.layout.threads_per_ppe).map(thread).collect(),
            description: machine.ppe,
            clock: machine.clock,
        }
    }

    /// The hardware thread for the `turn`-th process of this PPE.
    pub(super) fn thread(&self, turn: u32) -> &Rc<HardwareThread> {
        &self.threads[turn as usize % self.threads.len()]
    }

    /// Executes a burst on the shared pipeline.
    pub(super) async fn execute(&self, work: Work) {
        self.execute_for(Seconds(work.cycles(&self.description).0 as f64 / self.clock.0)).await;
    }

    /// Executes what takes so long when nobody shares the core.
    pub(super) async fn execute_for(&self, alone: Seconds) {
        self.pipeline.serve(alone.0).await;
    }

    /// What it costs to bring back the lines that a burst touches.
    pub(super) fn refill(&self, work: Work) -> Seconds {
        self.description.refill * work.lines(&self.description) as f64
    }

    pub(super) fn context_switches(&self) -> u64 {
        self.threads.iter().map(|thread| thread.switches.get()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_costs_the_latencies_of_what_it_counts() {
        let ppe = Machine::named("qs20").unwrap().ppe;
        let work = Work { integers: 1, loads: 2, stores: 3, floats: 4, divides: 5, branches: 6 };
        // 1*2 + 2*5 + 3*1 + 4*10 + 5*74 + 6*6
        assert_eq!(work.cycles(&ppe), Cycles(461));
        assert_eq!((work + work).cycles(&ppe), (work * 2).cycles(&ppe));
    }

    #[test]
    fn a_burst_touches_no_more_lines_than_the_caches_hold() {
        let ppe = Machine::named("qs20").unwrap().ppe;
        // 20 loads are 160 bytes of data, two lines; 20 instructions are 80 bytes of code, one.
        assert_eq!(Work { loads: 20, ..Work::default() }.lines(&ppe), 3);
        assert_eq!(Work { loads: 1 << 40, ..Work::default() }.lines(&ppe), 512);
    }
}
