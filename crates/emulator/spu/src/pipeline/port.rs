//! The one port of the local store.
//!
//! A cycle of the port belongs to one access: a line of 128 bytes for DMA, 16 bytes for a load or a
//! store, a line of instructions for their fetch; in this order of priority. DMA takes at most one
//! cycle in eight, so a load or a store waits for a cycle at most. The fetch of instructions takes
//! what the others leave.

use mmgp_base::units::Cycles;
use std::num::NonZeroU64;
use std::ops::{AddAssign, Mul};

/// Who has the port when, as far as it bears on what issues next.
#[derive(Debug, Clone)]
pub(super) struct Port {
    /// DMA has the port in the cycles that this divides.
    pub(super) dma_period: Option<NonZeroU64>,
    /// The first cycle since the current line of instructions began that neither DMA nor a load or
    /// store has taken. The fetch of the next line takes it.
    fetch: u64,
}

impl Port {
    pub(super) const fn new() -> Self {
        Self { dma_period: None, fetch: 0 }
    }

    /// The first cycle from `cycle` on in which DMA leaves the port to others.
    pub(super) fn free_of_dma(&self, cycle: u64) -> u64 {
        let is_taken = self.dma_period.is_some_and(|period| cycle.is_multiple_of(period.get()));
        if is_taken { cycle + 1 } else { cycle }
    }

    /// The first instruction of a line issues: the next line may be fetched from now on.
    pub(super) fn begin_line(&mut self, cycle: u64) {
        self.fetch = self.free_of_dma(cycle);
    }

    /// A load or store takes the port, not before any that was told earlier.
    pub(super) fn access(&mut self, cycle: u64) {
        if self.fetch == cycle {
            self.fetch = self.free_of_dma(cycle + 1);
        }
    }

    /// An instruction has the next line fetched, and so issues in the place of a load.
    pub(super) fn prefetch(&mut self, cycle: u64) {
        self.fetch = self.fetch.min(cycle);
    }

    /// The cycle of the fetch, if nothing issues before the line is there.
    pub(super) const fn fetch(&self) -> u64 {
        self.fetch
    }
}

/// Cycles in which the SPU uses the port of its local store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortUse {
    /// For loads, stores and `hbrp`.
    pub accesses: u64,
    /// For lines of instructions, the first one included.
    pub fetches: u64,
}

impl PortUse {
    /// How many cycles it costs a program of so many cycles that DMA accesses the local store
    /// `lines` times while it runs, each time for a line of 128 bytes or less.
    ///
    /// An access delays the SPU by a cycle where a load or store wanted the same one, so it costs
    /// the share of the program's cycles that have one: `lines * accesses / cycles`, rounded up.
    /// That is the mean over all ways in which the two may meet, and too much where the program
    /// waits for something else a little later and so makes up for the delay. A fetch of
    /// instructions has 16 cycles or more to find another cycle, and is taken to cost nothing.
    pub fn conflicts(self, lines: u64, cycles: Cycles) -> Cycles {
        Cycles((lines * self.accesses).div_ceil(cycles.0.max(1)))
    }
}

impl AddAssign for PortUse {
    fn add_assign(&mut self, other: Self) {
        self.accesses += other.accesses;
        self.fetches += other.fetches;
    }
}

impl Mul<u64> for PortUse {
    type Output = Self;

    /// So many executions of the same.
    fn mul(self, executions: u64) -> Self {
        Self { accesses: executions * self.accesses, fetches: executions * self.fetches }
    }
}
