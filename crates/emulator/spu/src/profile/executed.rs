//! What kernels executed, as counts.

use super::super::instruction::{Class, Pipe};
use super::super::pipeline::{Stall, Stalls};
use std::ops::{Add, AddAssign, Mul};

/// What ran on an SPU, and where its cycles went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Executed {
    /// Cycles, the stalls among them.
    pub cycles: u64,
    /// Instructions that issued, by class, the compiler's padding among them.
    pub(super) issued: [u64; Class::ALL.len()],
    /// Cycles in which two instructions issued.
    pub dual_issues: u64,
    /// Cycles in which nothing issued, by cause.
    pub stalls: Stalls,
    /// Branches that depend on a register.
    pub conditional: BranchCounts,
    /// Branches that are always taken, and `bisled`.
    pub unconditional: BranchCounts,
}

/// Branches of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct BranchCounts {
    /// All that ran.
    pub executed: u64,
    /// Those that were taken.
    pub taken: u64,
    /// Those for which a hint was there.
    pub hinted: u64,
    /// Those that paid the penalty: taken without a hint, or hinted and not taken.
    pub wrong: u64,
}

impl Executed {
    /// Cycles in which a channel blocked the SPU between two blocks.
    pub(super) fn blocked(cycles: u64) -> Self {
        let mut stalls = Stalls::default();
        stalls.wait(0, cycles, Stall::Channel);
        Self { cycles, stalls, ..Self::default() }
    }

    /// Adds instructions of a class.
    pub(super) fn issue(&mut self, class: Class, count: u64) {
        self.issued[class as usize] += count;
    }

    /// Instructions of one class.
    pub const fn of(&self, class: Class) -> u64 {
        self.issued[class as usize]
    }

    /// Instructions of one pipe.
    pub fn of_pipe(&self, pipe: Pipe) -> u64 {
        Class::ALL.into_iter().filter(|class| class.pipe() == pipe).map(|it| self.of(it)).sum()
    }

    /// Branches that paid the penalty, of both kinds.
    pub const fn wrong_branches(&self) -> u64 {
        self.conditional.wrong + self.unconditional.wrong
    }
}

impl BranchCounts {
    /// One branch.
    pub(super) fn one(taken: bool, hinted: bool) -> Self {
        let [taken, hinted, wrong] = [taken, hinted, taken != hinted].map(u64::from);
        Self { executed: 1, taken, hinted, wrong }
    }
}

impl AddAssign for BranchCounts {
    fn add_assign(&mut self, other: Self) {
        self.executed += other.executed;
        self.taken += other.taken;
        self.hinted += other.hinted;
        self.wrong += other.wrong;
    }
}

impl Mul<u64> for BranchCounts {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self {
            executed: self.executed * times,
            taken: self.taken * times,
            hinted: self.hinted * times,
            wrong: self.wrong * times,
        }
    }
}

impl Add for Executed {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Executed {
    fn add_assign(&mut self, other: Self) {
        self.cycles += other.cycles;
        self.issued.iter_mut().zip(other.issued).for_each(|(sum, count)| *sum += count);
        self.dual_issues += other.dual_issues;
        self.stalls += other.stalls;
        self.conditional += other.conditional;
        self.unconditional += other.unconditional;
    }
}

impl Mul<u64> for Executed {
    type Output = Self;

    /// So many runs of the same.
    fn mul(self, times: u64) -> Self {
        Self {
            cycles: self.cycles * times,
            issued: self.issued.map(|count| count * times),
            dual_issues: self.dual_issues * times,
            stalls: self.stalls * times,
            conditional: self.conditional * times,
            unconditional: self.unconditional * times,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::pipeline::tests::profile;
    use super::super::super::{Compiler, Spu as _, TimedSpu};
    use super::*;

    /// A loop of so many turns: an addition in each pipe and a counter; hinted or not.
    fn turns(spu: &mut TimedSpu<'_>, turns: u32, hinted: bool) {
        let mut left = spu.ila(turns);
        loop {
            spu.label();
            if hinted {
                spu.hbrr();
            }
            let word = spu.ai(left, 5);
            spu.rotqbyi(word, 4);
            left = spu.ai(left, -1);
            if !spu.brnz(left) {
                break;
            }
        }
    }

    /// Pipes, conditional branches and penalties of a loop of ten turns.
    fn check(hinted: bool, expected: (u64, u64, BranchCounts, u64)) {
        let ran = profile(|spu| turns(spu, 10, hinted), Compiler::PROGRAM_ORDER).executed();
        let pipes = (ran.of_pipe(Pipe::Even), ran.of_pipe(Pipe::Odd));
        let lost = ran.stalls.of(Stall::BranchPenalty);
        assert_eq!((pipes.0, pipes.1, ran.conditional, lost), expected);
        assert_eq!(ran.unconditional, BranchCounts::default());
        let issuing = pipes.0 + pipes.1 - ran.dual_issues;
        assert_eq!(ran.cycles, issuing + ran.stalls.total());
    }

    #[test]
    fn a_loop_counts_its_instructions_and_branches_by_hand() {
        // Even: 1 before the loop and two additions a turn. Odd: a rotation and the branch, with a
        // hint one more. Nine of ten branches are taken: without a hint each of them is wrong, with
        // one the last.
        let unhinted = BranchCounts { executed: 10, taken: 9, hinted: 0, wrong: 9 };
        check(false, (21, 20, unhinted, 9 * 18));
        let hinted = BranchCounts { executed: 10, taken: 9, hinted: 10, wrong: 1 };
        check(true, (21, 30, hinted, 18));
    }

    #[test]
    fn a_jump_is_no_conditional_branch() {
        let program = |spu: &mut TimedSpu<'_>| {
            spu.br();
            spu.hbrr();
            spu.br();
            spu.nop();
        };
        let ran = profile(program, Compiler::PROGRAM_ORDER).executed();
        assert_eq!(ran.conditional, BranchCounts::default());
        let jumps = BranchCounts { executed: 2, taken: 2, hinted: 1, wrong: 1 };
        assert_eq!((ran.unconditional, ran.wrong_branches()), (jumps, 1));
        assert_eq!((ran.of(Class::BranchHint), ran.of(Class::EvenNop)), (1, 1));
    }
}
