//! From one block to the next, as it was before: how a loop is timed at the speed of a comparison.
//!
//! When a block has run in a known way after one that did, all that bears on its time is what its
//! instructions are, what they refer to within the block, and which of the values that the block
//! before left unfinished they read. A [`Step`] holds all of it, and nothing is taken on trust: if
//! kinds and references are the same, so is the time; if not, it is found out anew.

use crate::block::{Code, Kind, References, Shape, Tag};
use crate::pipeline::Timing;
use crate::profile::Live;
use crate::replay::{Ending, Outcome, Wait, replay};
use crate::schedule::Emitted;

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
    use super::super::block::{NOTHING, Tag};
    use super::super::instruction::{Class, Destination};
    use super::*;

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
