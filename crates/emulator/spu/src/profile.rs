//! Where the cycles of a kernel went.

use std::collections::BTreeSet;
use std::ops::{Add, AddAssign, Mul};

use crate::block::{Code, Kind, Tag, Value};
use crate::instruction::{Class, Destination, Pipe};
use crate::pipeline::{PortUse, Stall, Stalls};
use crate::replay::{Ending, Outcome};
use crate::schedule::{Emitted, Slot};
use mmgp_base::units::Cycles;

/// The time of one run of a kernel on an SPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Time from the issue of the first instruction until one after the last could issue.
    pub cycles: Cycles,
    /// Cycles in which a channel blocked the SPU; they belong to no block.
    pub channel_wait: Cycles,
    /// The basic blocks, in the order in which they were first met.
    pub blocks: Vec<BlockProfile>,
}

/// What one basic block did, over all its executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockProfile {
    /// How often it ran.
    pub executions: u64,
    /// Cycles of all executions together.
    pub cycles: Cycles,
    /// Instructions of the kernel in one execution, without hints that the compiler omits.
    pub instructions: u64,
    /// Double-precision instructions among them.
    pub double_precision: u64,
    /// Nops that the compiler adds in one execution.
    pub padding: u64,
    /// Cycles, over all executions, in which two instructions issued.
    pub dual_issues: u64,
    /// Cycles, over all executions, in which nothing issued, by cause. With
    /// `executions * (instructions + padding) - dual_issues` they are the [`BlockProfile::cycles`].
    pub stalls: Stalls,
    /// Cycles, over all executions, in which the port of the local store was used.
    pub port_use: PortUse,
    /// What issued over all executions, and the branches at its end.
    pub executed: Executed,
    /// The most registers that hold a value still needed. A bound from above: a value from before
    /// the block that the block reads is counted until its end. The hardware has 128.
    pub max_live: usize,
}

impl Profile {
    /// Instructions of the kernel that ran, without the compiler's padding.
    pub fn instructions(&self) -> u64 {
        self.blocks.iter().map(|block| block.executions * block.instructions).sum()
    }

    /// Cycles in which nothing issued, by cause.
    pub fn stalls(&self) -> Stalls {
        self.blocks.iter().fold(Stalls::default(), |stalls, block| stalls + block.stalls)
    }

    /// Cycles in which the port of the local store was used.
    pub fn port_use(&self) -> PortUse {
        self.blocks.iter().fold(PortUse::default(), |mut port_use, block| {
            port_use += block.port_use;
            port_use
        })
    }

    /// How many cycles it costs that DMA accesses the local store `lines` times while the kernel
    /// runs; see [`PortUse::conflicts`].
    pub fn dma_conflicts(&self, lines: u64) -> Cycles {
        self.port_use().conflicts(lines, self.cycles)
    }

    /// Double-precision instructions that ran.
    pub fn double_precision(&self) -> u64 {
        self.blocks.iter().map(|block| block.executions * block.double_precision).sum()
    }

    /// What issued, and where the cycles went.
    pub fn executed(&self) -> Executed {
        let blocked = Executed::blocked(self.channel_wait.0);
        self.blocks.iter().fold(blocked, |sum, block| sum + block.executed)
    }

    /// The most registers alive at any place of the kernel; see [`BlockProfile::max_live`].
    pub fn max_live(&self) -> usize {
        self.blocks.iter().map(|block| block.max_live).max().unwrap_or(0)
    }
}

impl BlockProfile {
    /// Sums up `outcomes`; says nothing of registers.
    pub(super) fn new(code: Code<'_>, emitted: &Emitted, outcomes: &[Outcome]) -> Self {
        let slots = &emitted.slots;
        let total = |count: fn(&Outcome) -> u64| -> u64 {
            outcomes.iter().map(|outcome| outcome.executions * count(outcome)).sum()
        };
        let padding = slots.iter().filter(|&&slot| slot == Slot::Padding).count() as u64;
        let is_double = |kind: &&Kind| kind.class() == Class::DoublePrecision;
        Self {
            executions: outcomes.iter().map(|outcome| outcome.executions).sum(),
            cycles: Cycles(total(|outcome| outcome.cycles)),
            instructions: slots.len() as u64 - padding,
            double_precision: code.kinds.iter().filter(is_double).count() as u64,
            padding,
            dual_issues: total(|outcome| outcome.dual_issues),
            stalls: outcomes.iter().fold(Stalls::default(), |stalls, outcome| {
                stalls + outcome.stalls * outcome.executions
            }),
            port_use: outcomes.iter().fold(PortUse::default(), |mut port_use, outcome| {
                port_use += outcome.port_use * outcome.executions;
                port_use
            }),
            executed: executed(code, emitted, outcomes),
            max_live: 0,
        }
    }
}

/// What issued over all executions of a block.
fn executed(code: Code<'_>, emitted: &Emitted, outcomes: &[Outcome]) -> Executed {
    let mut once = Executed::default();
    for slot in &emitted.slots {
        let class = match *slot {
            Slot::Instruction(position) => code.kinds[position].class(),
            Slot::Padding => Class::OddNop,
        };
        once.issue(class, 1);
    }
    let is_conditional = code.kinds.last().is_some_and(|last| last.is_conditional());
    let mut sum = Executed::default();
    for outcome in outcomes {
        let mut of = Executed {
            cycles: outcome.cycles,
            dual_issues: outcome.dual_issues,
            stalls: outcome.stalls,
            ..once
        };
        let branch = match outcome.ending {
            Ending::FallsThrough => BranchCounts::default(),
            Ending::Taken => BranchCounts::one(true, emitted.hinted),
            Ending::NotTaken => BranchCounts::one(false, emitted.hinted),
        };
        *(if is_conditional { &mut of.conditional } else { &mut of.unconditional }) = branch;
        sum += of * outcome.executions;
    }
    sum
}

/// What later blocks of a program read.
#[derive(Debug, Clone, Default)]
pub(super) struct Live {
    /// Positions in the block whose results they read.
    out: BTreeSet<usize>,
    /// Values from before the block that they read.
    through: BTreeSet<Tag>,
}

impl Live {
    /// Notes that a value is read after a block of so many instructions that began at `start`.
    pub(super) fn note(&mut self, value: Tag, start: Tag, instructions: usize) {
        match value.0.checked_sub(start.0).map(|position| position as usize) {
            None => {
                self.through.insert(value);
            }
            Some(position) if position < instructions => {
                self.out.insert(position);
            }
            Some(_) => {}
        }
    }
}

/// The largest number of values that are alive at once, in the order of `slots`.
pub(super) fn max_live(code: Code<'_>, slots: &[Slot], after: &Live) -> usize {
    let order: Vec<usize> = slots
        .iter()
        .filter_map(|slot| match *slot {
            Slot::Instruction(position) => Some(position),
            Slot::Padding => None,
        })
        .collect();
    let mut throughout = after.through.clone();
    let mut last_read = vec![None; code.len()];
    for (time, &position) in order.iter().enumerate() {
        for value in code.reads(position) {
            match value {
                Value::Before(tag) => {
                    throughout.insert(tag);
                }
                Value::Within(source) => last_read[source] = Some(time),
            }
        }
    }
    let mut dying = vec![0; code.len()];
    for (position, time) in last_read.iter().enumerate() {
        if let (Some(time), false) = (*time, after.out.contains(&position)) {
            dying[time] += 1;
        }
    }
    let (mut live, mut most) = (throughout.len(), throughout.len());
    for (time, &position) in order.iter().enumerate() {
        // A register that is read for the last time can take the result.
        live -= dying[time];
        if code.kinds[position].destination() != Destination::Nowhere {
            live += 1;
            most = most.max(live);
            let is_dead = last_read[position].is_none() && !after.out.contains(&position);
            live -= usize::from(is_dead);
        }
    }
    most
}

/// What ran on an SPU, and where its cycles went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Executed {
    /// Cycles, the stalls among them.
    pub cycles: u64,
    /// Instructions that issued, by class, the compiler's padding among them.
    issued: [u64; Class::ALL.len()],
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
    /// Branches that were taken.
    pub taken: u64,
    /// Branches for which a hint was there.
    pub hinted: u64,
    /// Branches that paid the penalty: taken without a hint, or hinted and not taken.
    pub wrong: u64,
}

impl Executed {
    /// Cycles in which a channel blocked the SPU between two blocks.
    fn blocked(cycles: u64) -> Self {
        let mut stalls = Stalls::default();
        stalls.wait(0, cycles, Stall::Channel);
        Self { cycles, stalls, ..Self::default() }
    }

    /// Adds instructions of a class.
    fn issue(&mut self, class: Class, count: u64) {
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
    fn one(taken: bool, hinted: bool) -> Self {
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

    /// Counts of so many runs of the same.
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
    use super::*;
    use crate::pipeline::tests::profile;
    use crate::{Compiler, Spu as _, TimedSpu};

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
