//! From a stream of instructions to cycles, one basic block at a time.
//!
//! A loop runs the same block again and again, so a block is scheduled once, and its time is
//! computed once for each way of entering and leaving it; after that, writing down what ran and
//! recognising it is all the work. Nothing is assumed: an instruction that differs in class,
//! operand or access to local store makes a different block, and a value that is ready later than
//! before makes a different entry.

use super::block::{Code, Kind, LONGEST_BLOCK, References, Shape, Tag, Value};
use super::instruction::{Class, Destination};
use super::pipeline::Timing;
use super::profile::{BlockProfile, Live, Profile, max_live};
use super::replay::{Ending, Outcome, Wait, replay};
use super::schedule::{Compiler, Slot, emit};
use crate::units::Cycles;
use std::collections::BTreeSet;

/// A value that is not ready yet when a block begins.
#[derive(Debug, Clone, Copy)]
struct Pending {
    tag: Tag,
    /// Cycles from the beginning of the block until it can be read.
    remaining: u64,
}

/// A block that has been met, and what is known of it.
#[derive(Debug)]
struct Known {
    shape: Shape,
    slots: Vec<Slot>,
    outcomes: Vec<Outcome>,
    /// The blocks that have come after this one, the latest first.
    followers: Vec<usize>,
    last_start: Tag,
    /// What the instructions referred to the last time that the block came after one that it had
    /// not followed before, and the tag of the first then.
    references: Vec<References>,
    start: Tag,
    live: Live,
    max_live: usize,
}

impl Known {
    fn code(&self) -> Code<'_> {
        Code { kinds: &self.shape.kinds, references: &self.references, start: self.start }
    }
}

/// What the timing remembers of the programs that it has seen.
#[derive(Debug)]
pub(super) struct Recorder {
    timing: Timing,
    compiler: Compiler,
    /// Tag of the first instruction of the current block.
    start: Tag,
    /// Instructions of the current block so far, and what they are.
    position: usize,
    kinds: [Kind; LONGEST_BLOCK],
    references: [References; LONGEST_BLOCK],
    hint: Tag,
    pending: Vec<Pending>,
    waits: Vec<Wait>,
    blocks: Vec<Known>,
    previous: Option<usize>,
    /// The blocks with which programs have begun, the latest first.
    beginnings: Vec<usize>,
    cycles: u64,
    /// The first tag of this program.
    program: Tag,
    /// Values of this program whose register was overwritten.
    overwritten: BTreeSet<Tag>,
    /// Whether this program had a block where it had not come before.
    learnt: bool,
}

/// Instructions that a program may run: tags are compared by their difference, in 31 bits.
const LONGEST_RUN: u32 = 1 << 30;

impl Recorder {
    pub(super) fn new(timing: Timing, compiler: Compiler) -> Self {
        Self {
            timing,
            compiler,
            start: Tag(1),
            position: 0,
            kinds: [Kind::new(Class::EvenNop, Destination::Nowhere); LONGEST_BLOCK],
            references: [[Tag::NONE; 4]; LONGEST_BLOCK],
            hint: Tag::NONE,
            pending: Vec::new(),
            waits: Vec::new(),
            blocks: Vec::new(),
            previous: None,
            beginnings: Vec::new(),
            cycles: 0,
            program: Tag(1),
            overwritten: BTreeSet::new(),
            learnt: false,
        }
    }

    /// The tag that the next instruction will have.
    #[inline(always)]
    pub(super) const fn next_tag(&self) -> Tag {
        Tag(self.start.0 + self.position as u32)
    }

    /// Records an instruction and returns its tag.
    #[inline(always)]
    pub(super) fn record(&mut self, kind: Kind, references: References) -> Tag {
        if self.position >= LONGEST_BLOCK {
            self.end_block(Ending::FallsThrough);
        }
        let position = self.position % LONGEST_BLOCK;
        self.kinds[position] = kind;
        self.references[position] = references;
        self.position = position + 1;
        Tag(self.start.0 + position as u32)
    }

    /// Records a hint for the next branch, to an address in the register `target`.
    #[inline(always)]
    pub(super) fn hint(&mut self, target: Tag) {
        let kind = Kind::new(Class::BranchHint, Destination::Nowhere);
        self.hint = self.record(kind, [target, Tag::NONE, Tag::NONE, Tag::NONE]);
    }

    /// Records a branch, which ends the block, and returns the tag of its link.
    #[inline(always)]
    pub(super) fn branch(
        &mut self,
        destination: Destination,
        [first, second, third, _]: References,
        ending: Ending,
    ) -> Tag {
        let hint = std::mem::replace(&mut self.hint, Tag::NONE);
        let kind = Kind::new(Class::Branch, destination);
        let tag = self.record(kind, [first, second, third, hint]);
        self.end_block(ending);
        tag
    }

    /// Records an instruction across which the compiler moves nothing, and which issues so many
    /// cycles late because a channel blocks it.
    pub(super) fn barrier(&mut self, kind: Kind, references: References, wait: Cycles) -> Tag {
        if wait > Cycles(0) {
            if self.position > 0 {
                self.end_block(Ending::FallsThrough);
            }
            self.pass(wait.0);
        }
        let tag = self.record(kind, references);
        self.end_block(Ending::FallsThrough);
        tag
    }

    /// Lets so many cycles pass between two blocks.
    fn pass(&mut self, cycles: u64) {
        self.cycles += cycles;
        self.pending.retain_mut(|pending| {
            pending.remaining = pending.remaining.saturating_sub(cycles);
            pending.remaining > 0
        });
    }

    fn current(&self) -> Code<'_> {
        Code {
            kinds: &self.kinds[..self.position],
            references: &self.references[..self.position],
            start: self.start,
        }
    }

    /// Ends the current block: adds its time and makes ready for the next.
    #[inline(never)]
    fn end_block(&mut self, ending: Ending) {
        let block = self.recognise().unwrap_or_else(|| self.learn());
        self.find_waits();
        let known = &mut self.blocks[block];
        known.last_start = self.start;
        let met = |outcome: &Outcome| outcome.ending == ending && outcome.waits == self.waits;
        let index = known.outcomes.iter().position(met).unwrap_or_else(|| {
            let outcome = replay(known.code(), &known.slots, &self.waits, ending, &self.timing);
            known.outcomes.push(outcome);
            known.outcomes.len() - 1
        });
        let outcome = &mut known.outcomes[index];
        outcome.executions += 1;
        self.cycles += outcome.cycles;
        let start = self.start.0;
        self.pending.retain_mut(|pending| {
            pending.remaining = pending.remaining.saturating_sub(outcome.cycles);
            pending.remaining > 0
        });
        self.pending.extend(outcome.pending.iter().map(|&(position, remaining)| Pending {
            tag: Tag(start + position as u32),
            remaining,
        }));
        self.start = Tag(start + self.position as u32);
        let room = self.start.0 <= 2 * LONGEST_RUN;
        assert!(room, "invariant: a kernel runs fewer than {LONGEST_RUN} instructions");
        self.position = 0;
        self.previous = Some(block);
    }

    /// The blocks that have come where the current one is.
    fn expected(&mut self) -> &mut Vec<usize> {
        match self.previous {
            Some(previous) => &mut self.blocks[previous].followers,
            None => &mut self.beginnings,
        }
    }

    /// The current block, if it has come after the previous one before.
    fn recognise(&mut self) -> Option<usize> {
        let expected = match self.previous {
            Some(previous) => &self.blocks[previous].followers,
            None => &self.beginnings,
        };
        let fits = |&block: &usize| self.blocks[block].shape.fits(self.current());
        let index = expected.iter().position(fits)?;
        let expected = self.expected();
        expected[..=index].rotate_right(1);
        Some(expected[0])
    }

    /// Finds the operands of the current block that were not ready when it began.
    fn find_waits(&mut self) {
        self.waits.clear();
        let Some(floor) = self.pending.iter().map(|pending| pending.tag).min() else { return };
        let references = &self.references[..self.position];
        for (chunk_index, chunk) in references.chunks(8).enumerate() {
            // The sign says whether a tag lies from `floor` on and before the block: most do not,
            // and this finds it out for eight instructions at once.
            let recent = chunk.as_flattened().iter().fold(0, |recent, tag| {
                recent | (!tag.0.wrapping_sub(floor.0) & tag.0.wrapping_sub(self.start.0))
            });
            if (recent as i32) < 0 {
                let recent = floor..self.start;
                for (offset, [operands @ .., _]) in chunk.iter().enumerate() {
                    if !operands.iter().any(|operand| recent.contains(operand)) {
                        continue;
                    }
                    let waited_for = self.pending.iter().filter(|it| operands.contains(&it.tag));
                    self.waits.extend(waited_for.map(|pending| Wait {
                        position: 8 * chunk_index + offset,
                        remaining: pending.remaining,
                    }));
                }
            }
        }
    }

    /// The known block that the current one is, or a new one, from now on expected here.
    #[cold]
    fn learn(&mut self) -> usize {
        let found = self.blocks.iter().position(|known| known.shape.fits(self.current()));
        let block = found.unwrap_or_else(|| {
            let code = self.current();
            let known = Known {
                shape: code.shape(),
                slots: emit(code, &self.timing, self.compiler),
                outcomes: Vec::new(),
                followers: Vec::new(),
                last_start: self.start,
                references: Vec::new(),
                start: self.start,
                live: Live::default(),
                max_live: 0,
            };
            self.blocks.push(known);
            self.blocks.len() - 1
        });
        self.expected().insert(0, block);
        self.note_reads();
        let known = &mut self.blocks[block];
        known.references = self.references[..self.position].to_vec();
        known.start = self.start;
        block
    }

    /// Notes in which blocks the values that the current one reads were alive.
    ///
    /// # Panics
    /// Where the kernel reads a register after an instruction has overwritten it.
    fn note_reads(&mut self) {
        let code = Code {
            kinds: &self.kinds[..self.position],
            references: &self.references[..self.position],
            start: self.start,
        };
        let mut overwritten = Vec::new();
        self.learnt = true;
        for position in 0..code.len() {
            for value in code.reads(position) {
                let Value::Before(tag) = value else { continue };
                let gone = self.overwritten.contains(&tag);
                assert!(!gone, "instruction {position} reads a register that was overwritten");
                let earlier = self.program..self.start;
                for known in self.blocks.iter_mut().filter(|it| earlier.contains(&it.last_start)) {
                    known.live.note(tag, known.last_start, known.shape.kinds.len());
                }
            }
            overwritten.extend(code.overwrites(position).map(|value| match value {
                Value::Before(tag) => tag,
                Value::Within(position) => Tag(self.start.0 + position as u32),
            }));
        }
        self.overwritten.extend(overwritten);
    }

    /// The time of the program until now; the next instruction begins another program.
    pub(super) fn finish(&mut self) -> Profile {
        if self.position > 0 {
            self.end_block(Ending::FallsThrough);
        }
        let mut profile = Profile { cycles: Cycles(self.cycles), blocks: Vec::new() };
        for known in &mut self.blocks {
            if known.last_start >= self.program {
                if self.learnt {
                    let live = max_live(known.code(), &known.slots, &known.live);
                    known.max_live = known.max_live.max(live);
                }
                let of = BlockProfile::new(known.code(), &known.slots, &known.outcomes);
                profile.blocks.push(BlockProfile { max_live: known.max_live, ..of });
            }
            known.live = Live::default();
            known.outcomes.iter_mut().for_each(|outcome| outcome.executions = 0);
        }
        self.cycles = 0;
        self.pending.clear();
        self.previous = None;
        self.overwritten.clear();
        self.learnt = false;
        self.program = self.start;
        profile
    }

    /// Numbers the instructions from 1 again, where another program might run out of numbers.
    /// Returns whether it did: then tags from earlier programs mean nothing any more.
    pub(super) fn rewind(&mut self) -> bool {
        let needed = self.start.0 > LONGEST_RUN;
        if needed {
            self.start = Tag(1);
            self.program = self.start;
            self.blocks.iter_mut().for_each(|known| known.last_start = Tag::NONE);
        }
        needed
    }
}
