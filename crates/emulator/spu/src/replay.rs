//! A block through the pipeline.

use super::block::{Code, Kind};
use super::instruction::{Class, Destination};
use super::pipeline::{Pipeline, PortUse, Ready, Stall, Stalls, Timing};
use super::schedule::{Emitted, Slot};

/// How a block ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// A branch that is taken.
    Taken,
    /// A branch that is not taken.
    NotTaken,
    /// No branch: the program ends, an instruction comes across which nothing is moved, or
    /// the block is as long as a block can be.
    FallsThrough,
}

/// An operand, or the hint of the branch, that is not ready when the block begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) position: usize,
    /// Which of the two: [`Stall::Operand`] or [`Stall::HintDistance`].
    pub(super) cause: Stall,
    /// Cycles from the beginning of the block until it is.
    pub(super) remaining: u64,
}

/// What the pipeline makes of a block that is entered and left in one way.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) waits: Vec<Wait>,
    pub(super) executions: u64,
    /// Cycles until the next block can issue.
    pub(super) cycles: u64,
    pub(super) dual_issues: u64,
    pub(super) stalls: Stalls,
    pub(super) port_use: PortUse,
    /// Positions whose results are not ready when the next block begins, and for how long; for a
    /// hint, until its branch can issue.
    pub(super) pending: Vec<(usize, u64)>,
    /// The steps that came next, the latest first.
    pub(super) steps: Vec<usize>,
}

/// Issues the code emitted for a block, from cycle 0 on.
pub(super) fn replay(
    code: Code<'_>,
    emitted: &Emitted,
    waits: &[Wait],
    ending: Ending,
    timing: &Timing,
) -> Outcome {
    let mut pipeline = Pipeline::new(timing);
    let mut needed = vec![Ready::default(); code.len()];
    for wait in waits {
        let needed = &mut needed[wait.position];
        let cycle =
            if wait.cause == Stall::HintDistance { &mut needed.hint } else { &mut needed.operands };
        *cycle = wait.remaining.max(*cycle);
    }
    let mut results_ready = vec![0; code.len()];
    let mut dual_issues = 0;
    let mut stalls = Stalls::default();
    for slot in &emitted.slots {
        let issue = match *slot {
            Slot::Padding => pipeline.issue(Class::OddNop, Ready::default()),
            Slot::Instruction(position) => {
                let class = code.kinds[position].class();
                let hint = code.follows(position).filter(|_| class == Class::Branch);
                let needed = needed[position];
                let operands = code
                    .sources(position)
                    .map(|source| results_ready[source])
                    .fold(needed.operands, u64::max);
                // A hint's result is taken to be ready when its branch may issue.
                let hint = hint.map_or(needed.hint, |hint| results_ready[hint]);
                let ready = Ready { operands, hint, channel: 0 };
                let issue = if code.kinds[position] == Kind::PREFETCH {
                    pipeline.prefetch()
                } else {
                    pipeline.issue(class, ready)
                };
                results_ready[position] = match class {
                    Class::BranchHint => issue.cycle + u64::from(timing.hint_distance),
                    _ => issue.ready,
                };
                issue
            }
        };
        dual_issues += u64::from(issue.dual);
        stalls += issue.stalls;
    }
    if matches!((ending, emitted.hinted), (Ending::Taken, false) | (Ending::NotTaken, true)) {
        pipeline.mispredict();
    }
    stalls += pipeline.trailing_stalls();
    let cycles = pipeline.earliest();
    let pending = results_ready
        .into_iter()
        .enumerate()
        .filter(|&(position, ready)| {
            let kind = code.kinds[position];
            let is_awaited =
                kind.destination() != Destination::Nowhere || kind.class() == Class::BranchHint;
            is_awaited && ready > cycles
        })
        .map(|(position, ready)| (position, ready - cycles));
    let pending = pending.collect();
    Outcome {
        ending,
        waits: waits.to_vec(),
        executions: 0,
        cycles,
        dual_issues,
        stalls,
        port_use: pipeline.port_use(),
        pending,
        steps: Vec::new(),
    }
}
