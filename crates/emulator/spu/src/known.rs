//! A basic block that has been met.

use super::block::{Code, References, Shape, Tag};
use super::pipeline::Timing;
use super::profile::Live;
use super::replay::{Ending, Outcome, Wait, replay};
use super::schedule::Emitted;

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
