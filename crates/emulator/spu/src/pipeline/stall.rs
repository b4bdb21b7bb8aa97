//! Why an instruction issues later than it could have.

use std::ops::{Add, AddAssign, Mul, Sub};

/// What an instruction, at the head of the program, waits for while nothing issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Stall {
    /// The double-precision instruction before it blocks both pipes.
    IssueBlock,
    /// The branch before it was taken without a hint, or hinted and not taken.
    BranchPenalty,
    /// Its line of instructions, which loads and stores kept from being fetched.
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

    /// Its name in reports.
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

    /// So many executions of the same.
    fn mul(self, executions: u64) -> Self {
        Self(self.0.map(|cycles| executions * cycles))
    }
}

/// Why an instruction does not share its cycle with the one before it. Not a stall: the
/// instruction takes the next cycle, as it would on a machine with one pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single {
    /// It is the first of its doubleword.
    EvenWord,
    /// The two of its doubleword are not an even-pipe and then an odd-pipe instruction.
    Pipes,
    /// One of the two is a double-precision instruction that blocks the issue.
    IssueBlock,
    /// What it needs was not there yet when the one before it issued.
    NotReady,
}

impl Single {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EvenWord => "even word",
            Self::Pipes => "pipes",
            Self::IssueBlock => "issue block",
            Self::NotReady => "not ready",
        }
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
