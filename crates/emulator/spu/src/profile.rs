//! Where the cycles of a kernel went.

mod executed;

use super::block::{Code, Kind, Tag, Value};
use super::instruction::{Class, Destination};
use super::pipeline::{PortUse, Stalls};
use super::replay::{Ending, Outcome};
use super::schedule::{Emitted, Slot};
pub use executed::{BranchCounts, Executed};
use mmgp_base::units::Cycles;
use std::collections::BTreeSet;

/// The time of one run of a kernel on an SPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// From the issue of the first instruction until one after the last could issue.
    pub cycles: Cycles,
    /// Those of them in which a channel blocked the SPU; they belong to no block.
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
