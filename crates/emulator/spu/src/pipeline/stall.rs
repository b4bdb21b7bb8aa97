//! Why an instruction issues later than it could have.
//!
//! The one port of the local store.
//!
//! A cycle of the port belongs to one access: a line of 128 bytes for DMA, 16 bytes for a load or a
//! store, a line of instructions for their fetch; in this order of priority. DMA takes at most one
//! cycle in eight, so a load or a store waits for a cycle at most. The fetch of instructions takes
//! what the others leave.

use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Mul, Sub};

use mmgp_base::units::Cycles;

/// What an instruction, at the head of the program, waits for while nothing issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stall {
    /// The double-precision instruction before it blocks both pipes.
    IssueBlock,
    /// The branch before it was taken without a hint, or hinted and not taken.
    BranchPenalty,
    /// The line of instructions, which loads and stores kept from being fetched.
    Fetch,
    /// A register that it reads.
    Operand,
    /// A branch: its hint came too late to issue at once.
    HintDistance,
    /// A channel whose count was 0.
    Channel,
    /// The port of the local store, which a DMA transfer held.
    LocalStorePort,
}

impl Stall {
    /// All causes, in the order of their discriminants. Where an instruction waits for several
    /// things, the cycles of a cause are those that it adds to the causes before it in this order.
    pub const ALL: [Self; 7] = [
        Self::IssueBlock,
        Self::BranchPenalty,
        Self::Fetch,
        Self::Operand,
        Self::HintDistance,
        Self::Channel,
        Self::LocalStorePort,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IssueBlock => "issue block",
            Self::BranchPenalty => "branch penalty",
            Self::Fetch => "instruction fetch",
            Self::Operand => "operand",
            Self::HintDistance => "hint distance",
            Self::Channel => "channel",
            Self::LocalStorePort => "local-store port",
        }
    }
}

/// Cycles in which nothing issued, by what was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Stalls([u64; Stall::ALL.len()]);

impl Stalls {
    /// Cycles lost to `cause`.
    pub const fn of(&self, cause: Stall) -> u64 {
        self.0[cause as usize]
    }

    /// Cycles lost to all causes together.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The cause that took the most cycles, the first of them in the order of [`Stall::ALL`];
    /// none where no cycle was lost.
    pub fn longest(&self) -> Option<Stall> {
        let most = self.0.iter().copied().max().filter(|&most| most > 0)?;
        Stall::ALL.into_iter().find(|&cause| self.of(cause) == most)
    }

    /// Adds the cycles from `from` to `until`, of which there may be none, and returns the later.
    pub(crate) fn wait(&mut self, from: u64, until: u64, cause: Stall) -> u64 {
        self.0[cause as usize] += until.saturating_sub(from);
        from.max(until)
    }
}

impl Add for Stalls {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Stalls {
    fn add_assign(&mut self, other: Self) {
        for (total, cycles) in self.0.iter_mut().zip(other.0) {
            *total += cycles;
        }
    }
}

impl Sub for Stalls {
    type Output = Self;

    /// What was added since an earlier count.
    fn sub(mut self, earlier: Self) -> Self {
        for (total, cycles) in self.0.iter_mut().zip(earlier.0) {
            *total -= cycles;
        }
        self
    }
}

impl Mul<u64> for Stalls {
    type Output = Self;

    /// Counts of so many executions of the same.
    fn mul(self, executions: u64) -> Self {
        Self(self.0.map(|cycles| executions * cycles))
    }
}

/// Why an instruction does not share its cycle with the one before it. Not a stall: the
/// instruction takes the next cycle, as it would on a machine with one pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single {
    /// First of its doubleword.
    EvenWord,
    /// The two of its doubleword are not an even-pipe and then an odd-pipe instruction.
    Pipes,
    /// One of the two is a double-precision instruction that blocks the issue.
    IssueBlock,
    /// What it needs was not there yet when the one before it issued.
    NotReady,
}

impl Single {
    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EvenWord => "even word",
            Self::Pipes => "pipes",
            Self::IssueBlock => "issue block",
            Self::NotReady => "not ready",
        }
    }
}

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
    /// Cycles for loads, stores and `hbrp`.
    pub accesses: u64,
    /// Cycles for lines of instructions, the first one included.
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

    /// Counts of so many executions of the same.
    fn mul(self, executions: u64) -> Self {
        Self { accesses: executions * self.accesses, fetches: executions * self.fetches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_stands_at_its_discriminant_and_has_a_name_of_its_own() {
        for (index, cause) in Stall::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
            let same = |other: &&Stall| other.name() == cause.name();
            assert_eq!(Stall::ALL.iter().filter(same).count(), 1, "{cause:?}");
        }
    }

    #[test]
    fn each_cause_gets_the_cycles_that_it_adds_to_those_before_it() {
        // From cycle 3: blocked until 5, the operand there since 4, the channel until 9.
        let mut stalls = Stalls::default();
        let cycle = stalls.wait(3, 5, Stall::IssueBlock);
        let cycle = stalls.wait(cycle, 4, Stall::Operand);
        assert_eq!(stalls.wait(cycle, 9, Stall::Channel), 9);
        let cycles = [Stall::IssueBlock, Stall::Operand, Stall::Channel].map(|it| stalls.of(it));
        assert_eq!((cycles, stalls.total()), ([2, 0, 4], 6));
        assert_eq!(stalls.longest(), Some(Stall::Channel));
        assert_eq!((stalls * 2 + stalls).of(Stall::Channel), 12);
        assert_eq!(Stalls::default().longest(), None);
    }
}
