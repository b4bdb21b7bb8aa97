//! A block through the pipeline, and from one block to the next as it was before: how a loop is timed at
//! the speed of a comparison.
//!
//! When a block has run in a known way after one that did, all that bears on its time is what its
//! instructions are, what they refer to within the block, and which of the values that the block
//! before left unfinished they read. A [`Step`] holds all of it, and nothing is taken on trust: if
//! kinds and references are the same, so is the time; if not, it is found out anew.

use crate::block::{Code, Kind, References, Shape, Tag};
use crate::instruction::{Class, Destination};
use crate::pipeline::{Pipeline, PortUse, Ready, Stall, Stalls, Timing};
use crate::profile::Live;
use crate::schedule::{Emitted, Slot};

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

/// Block that runs, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Which of the known blocks.
    pub(super) block: usize,
    /// Which of its outcomes.
    pub(super) outcome: usize,
}

/// A block that came after a certain run of another, which had left everything unfinished that was
/// not finished then.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) run: Run,
    ending: Ending,
    kinds: Vec<Kind>,
    /// References, those from before `floor` as one below it.
    references: Vec<References>,
    /// The distance of the earliest instruction whose result was not ready, or 0.
    floor: i32,
}

impl Step {
    pub(super) fn new(run: Run, code: Code<'_>, ending: Ending, floor: i32) -> Self {
        let raise = |references: &References| references.map(|distance| distance.max(floor - 1));
        let references = code.references.iter().map(raise).collect();
        Self { run, ending, kinds: code.kinds.to_vec(), references, floor }
    }

    /// Whether `code`, which ends so, runs as this step did. This is most of what timing a turn
    /// of a loop costs, so it is written without branches.
    pub(super) fn fits(&self, code: Code<'_>, ending: Ending) -> bool {
        if self.ending != ending || self.kinds.len() != code.len() {
            return false;
        }
        let mut kinds = 0;
        for (&expected, &ran) in self.kinds.iter().zip(code.kinds) {
            kinds |= expected.differs(ran);
        }
        let below = self.floor - 1;
        let mut references = 0;
        let (expected, ran) = (self.references.as_flattened(), code.references.as_flattened());
        for (&expected, &distance) in expected.iter().zip(ran) {
            references |= distance.max(below) ^ expected;
        }
        kinds == 0 && references == 0
    }
}

/// A block that has been met, and what is known of it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) shape: Shape,
    pub(super) emitted: Emitted,
    pub(super) outcomes: Vec<Outcome>,
    /// The blocks that have come after this one, the latest first.
    pub(super) followers: Vec<usize>,
    pub(super) last_start: Tag,
    /// What the instructions referred to the last time that the block came after one that it had
    /// not followed before, and the tag of the first then.
    pub(super) references: Vec<References>,
    pub(super) start: Tag,
    pub(super) live: Live,
    pub(super) max_live: usize,
}

impl Known {
    /// What the pipeline makes of the block in that way: known, or found out now.
    pub(super) fn outcome(&mut self, waits: &[Wait], ending: Ending, timing: &Timing) -> usize {
        let met = |outcome: &Outcome| outcome.ending == ending && outcome.waits == waits;
        self.outcomes.iter().position(met).unwrap_or_else(|| {
            self.outcomes.push(replay(self.code(), &self.emitted, waits, ending, timing));
            self.outcomes.len() - 1
        })
    }

    pub(super) fn code(&self) -> Code<'_> {
        Code { kinds: &self.shape.kinds, references: &self.references, start: self.start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{NOTHING, Tag};
    use crate::instruction::{Class, Destination};

    /// A block of one addition, met when the result of the instruction three before was not ready.
    fn check(operand: i32, expected: bool) {
        let kinds = [Kind::new(Class::SimpleFixed, Destination::New)];
        let code = |references| Code { kinds: &kinds, references, start: Tag(100) };
        let run = Run { block: 0, outcome: 0 };
        let known = Step::new(run, code(&[[-2, -9, NOTHING, NOTHING]]), Ending::Taken, -3);
        let ran = [[-2, operand, NOTHING, NOTHING]];
        assert_eq!(known.fits(code(&ran), Ending::Taken), expected, "{operand}");
        assert!(!known.fits(code(&ran), Ending::NotTaken));
    }

    #[test]
    fn values_from_before_the_unfinished_ones_are_all_alike_and_those_after_are_not() {
        check(-9, true);
        check(-4, true);
        check(i32::MIN, true);
        check(-3, false);
        check(-1, false);
        check(0, false);
        check(NOTHING, false);
    }
}
