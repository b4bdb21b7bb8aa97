//! From a stream of instructions to cycles, one basic block at a time.
//!
//! A loop runs the same block again and again, so a block is scheduled once, and its time is
//! computed once for each way of entering and leaving it; after that, writing down what ran and
//! recognising it is all the work. Nothing is assumed: an instruction that differs in class,
//! operand or access to local store makes a different block, and a value that is ready later than
//! before makes a different entry.

use super::block::{Code, Kind, LONGEST_BLOCK, NOTHING, OPERANDS, References, Tag, Value};
use super::instruction::{Class, Destination};
use super::pipeline::{Stall, Timing};
use super::profile::{BlockProfile, Live, Profile, max_live};
use super::replay::{Ending, Known, Run, Step, Wait};
use super::schedule::emit;
use crate::block::HintBuffer;
use crate::schedule::Compiler;

use mmgp_base::units::Cycles;
use std::collections::BTreeSet;

/// A value that is not ready yet when a block begins, or a hint whose branch cannot issue yet.
#[derive(Debug, Clone, Copy)]
struct Pending {
    tag: Tag,
    /// Cycles from the beginning of the block until it is.
    remaining: u64,
}

/// What the timing remembers of the programs that it has seen.
#[derive(Debug)]
pub(super) struct Recorder {
    timing: Timing,
    compiler: Compiler,
    /// Tag of the first instruction of the current block.
    start: Tag,
    /// Instructions of the current block so far.
    position: usize,
    kinds: [Kind; LONGEST_BLOCK],
    references: [References; LONGEST_BLOCK],
    pub(super) hints: HintBuffer,
    /// What the blocks before left unfinished, unless `entry` says it.
    pending: Vec<Pending>,
    waits: Vec<Wait>,
    blocks: Vec<Known>,
    steps: Vec<Step>,
    /// The run of the block before, if that alone left something unfinished; and its first tag.
    entry: Option<(Run, Tag)>,
    previous: Option<usize>,
    /// The blocks with which programs have begun, the latest first.
    beginnings: Vec<usize>,
    cycles: u64,
    channel_wait: Cycles,
    /// The first tag of this program.
    program: Tag,
    /// Values of this program whose register was overwritten.
    overwritten: BTreeSet<Tag>,
    /// Whether this program had a block where it had not come before.
    learnt: bool,
}

/// What a block that began at `start` left unfinished.
fn of_block(unfinished: &[(usize, u64)], start: Tag) -> impl Iterator<Item = Pending> {
    unfinished.iter().map(move |&(position, remaining)| Pending {
        tag: Tag(start.0 + position as u32),
        remaining,
    })
}

/// The most steps that are kept from one run of a block.
const MOST_STEPS: usize = 8;

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
            references: [[NOTHING; 4]; LONGEST_BLOCK],
            hints: HintBuffer::default(),
            pending: Vec::new(),
            waits: Vec::new(),
            blocks: Vec::new(),
            steps: Vec::new(),
            entry: None,
            previous: None,
            beginnings: Vec::new(),
            cycles: 0,
            channel_wait: Cycles(0),
            program: Tag(1),
            overwritten: BTreeSet::new(),
            learnt: false,
        }
    }

    /// Makes room for another instruction, and returns the tag of the first of its block.
    #[inline(always)]
    pub(super) fn make_room(&mut self) -> Tag {
        if self.position >= LONGEST_BLOCK {
            self.cut_block();
        }
        self.start
    }

    /// Records the next instruction of the current block, for which there is room; its tag.
    #[inline(always)]
    pub(super) const fn note(&mut self, kind: Kind, references: References) -> Tag {
        let position = self.position % LONGEST_BLOCK;
        self.kinds[position] = kind;
        self.references[position] = references;
        self.position += 1;
        Tag(self.start.0.wrapping_add(position as u32))
    }

    fn current(&self) -> Code<'_> {
        Code {
            kinds: &self.kinds[..self.position],
            references: &self.references[..self.position],
            start: self.start,
        }
    }

    /// Begins another block, unless the current one is still empty.
    #[inline]
    pub(super) fn begin_block(&mut self) {
        if self.position > 0 {
            self.cut_block();
        }
    }

    /// Ends a block as [`Recorder::end_block`] does, where no branch ends it.
    fn cut_block(&mut self) {
        self.end_block(Ending::FallsThrough);
    }

    /// Ends the current block: adds its time and makes ready for the next.
    pub(super) fn end_block(&mut self, ending: Ending) {
        let run = match self.step(ending) {
            Some(run) => run,
            None => self.run_otherwise(ending),
        };
        let known = &mut self.blocks[run.block];
        known.last_start = self.start;
        let outcome = &mut known.outcomes[run.outcome];
        outcome.executions += 1;
        self.cycles += outcome.cycles;
        self.start = Tag(self.start.0 + self.position as u32);
        let room = self.start.0 <= 2 * LONGEST_RUN;
        assert!(room, "invariant: a kernel runs fewer than {LONGEST_RUN} instructions");
        self.position = 0;
        self.previous = Some(run.block);
    }

    /// The run of the current block, if it came in the same way after that of the block before.
    fn step(&mut self, ending: Ending) -> Option<Run> {
        let (before, _) = self.entry?;
        let steps = &self.blocks[before.block].outcomes[before.outcome].steps;
        for &step in steps {
            let step = &self.steps[step];
            if step.fits(self.current(), ending) {
                self.entry = Some((step.run, self.start));
                return Some(step.run);
            }
        }
        None
    }

    /// The run of the current block by its shape and by what it waits for, and what is unfinished
    /// after it.
    #[inline(never)]
    fn run_otherwise(&mut self, ending: Ending) -> Run {
        let before = self.entry.map(|(run, _)| run);
        self.write_pending();
        let block = self.recognise().unwrap_or_else(|| self.learn());
        self.find_waits(block);
        let outcome = self.blocks[block].outcome(&self.waits, ending, &self.timing);
        let floor = self.floor();
        self.pass(self.blocks[block].outcomes[outcome].cycles);
        let run = Run { block, outcome };
        if self.pending.is_empty() {
            self.entry = Some((run, self.start));
            if let Some(before) = before {
                self.note_step(before, Step::new(run, self.current(), ending, floor));
            }
        } else {
            let unfinished = &self.blocks[block].outcomes[outcome].pending;
            self.pending.extend(of_block(unfinished, self.start));
        }
        run
    }

    /// Notes that `step` came after that run; the oldest gives way where there are many.
    fn note_step(&mut self, before: Run, step: Step) {
        let steps = &mut self.blocks[before.block].outcomes[before.outcome].steps;
        if steps.len() < MOST_STEPS {
            steps.insert(0, self.steps.len());
            self.steps.push(step);
        } else {
            steps.rotate_right(1);
            self.steps[steps[0]] = step;
        }
    }

    /// Writes out what is unfinished, where only `entry` says it.
    fn write_pending(&mut self) {
        if let Some((run, start)) = self.entry.take() {
            let unfinished = &self.blocks[run.block].outcomes[run.outcome].pending;
            self.pending.extend(of_block(unfinished, start));
        }
    }

    /// The distance of the earliest instruction whose result is not ready; 0 where all are.
    fn floor(&self) -> i32 {
        self.pending.iter().map(|pending| pending.tag.after(self.start)).min().unwrap_or(0)
    }

    /// Lets so many cycles pass for what is unfinished.
    fn pass(&mut self, cycles: u64) {
        self.pending.retain_mut(|pending| {
            pending.remaining = pending.remaining.saturating_sub(cycles);
            pending.remaining > 0
        });
    }

    /// Lets a channel block the SPU for so many cycles between two blocks.
    pub(super) fn block(&mut self, wait: Cycles) {
        self.cycles += wait.0;
        self.channel_wait += wait;
        self.write_pending();
        self.pass(wait.0);
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

    /// Finds the operands and the hint of the current block that were not ready when it began.
    fn find_waits(&mut self, block: usize) {
        self.waits.clear();
        let recent = self.floor()..0;
        for &position in &self.blocks[block].shape.open {
            let position = usize::from(position);
            let is_branch = self.kinds[position].is_hinted();
            let needed = if is_branch { OPERANDS + 1 } else { OPERANDS };
            for (operand, distance) in self.references[position][..needed].iter().enumerate() {
                if !recent.contains(distance) {
                    continue;
                }
                let is_awaited = |it: &&Pending| it.tag.after(self.start) == *distance;
                let cause = if operand < OPERANDS { Stall::Operand } else { Stall::HintDistance };
                self.waits.extend(self.pending.iter().find(is_awaited).map(|pending| Wait {
                    position,
                    cause,
                    remaining: pending.remaining,
                }));
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
                emitted: emit(code, &self.timing, self.compiler),
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
        self.begin_block();
        let channel_wait = std::mem::take(&mut self.channel_wait);
        let mut profile = Profile { cycles: Cycles(self.cycles), channel_wait, blocks: Vec::new() };
        for known in &mut self.blocks {
            if known.last_start >= self.program {
                if self.learnt {
                    let live = max_live(known.code(), &known.emitted.slots, &known.live);
                    known.max_live = known.max_live.max(live);
                }
                let of = BlockProfile::new(known.code(), &known.emitted, &known.outcomes);
                profile.blocks.push(BlockProfile { max_live: known.max_live, ..of });
            }
            known.live = Live::default();
            known.outcomes.iter_mut().for_each(|outcome| outcome.executions = 0);
        }
        self.cycles = 0;
        self.entry = None;
        self.pending.clear();
        self.previous = None;
        self.hints = HintBuffer::default();
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

#[cfg(test)]
mod tests {
    use super::super::pipeline::tests::{CELL_BE, profile};
    use super::super::pipeline::{Pipeline, Ready};
    use super::super::{BranchName, LocalAddress, LocalStore, Quadword, Spu, Stopwatch, TimedSpu};
    use super::*;
    use crate::schedule::{Hints, Order, Pairing};
    use rand::RngExt as _;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn check(program: impl FnOnce(&mut TimedSpu<'_>), compiler: Compiler, cycles: u64) {
        assert_eq!(profile(program, compiler).cycles.0, cycles, "{compiler:?}");
    }

    const ONE: BranchName = BranchName(1);
    const OTHER: BranchName = BranchName(2);

    /// A hint, a block that ends with a branch that is not taken, a block of so many shuffles that
    /// ends with one that is.
    fn hint_across_a_branch(spu: &mut TimedSpu<'_>, name: Option<BranchName>, shuffles: usize) {
        match name {
            Some(name) => spu.hbrr_for(name),
            None => spu.hbrr(),
        }
        let one = spu.il(1);
        spu.brz(one);
        for _ in 0..shuffles {
            spu.fsmbi(0);
        }
        spu.name_branch(ONE);
        spu.br();
    }

    #[test]
    fn a_hint_waits_in_the_buffer_for_the_branch_that_it_names() {
        // hbrr 0, il 1, brz on it 3; two shuffles 4 and 5; the branch not before 0 + 16.
        let order = Compiler::PROGRAM_ORDER;
        check(|spu| hint_across_a_branch(spu, Some(ONE), 2), order, 17);
        // 20 shuffles from 4 to 23: the branch in 24.
        check(|spu| hint_across_a_branch(spu, Some(ONE), 20), order, 25);
        // Of another name: the branch in 6, and 18 more.
        check(|spu| hint_across_a_branch(spu, Some(OTHER), 2), order, 7 + 18);
        // For the next branch: that waits until 16 and is not taken, which costs 18; from 35 on two
        // shuffles, the branch in 37, and 18 more.
        check(|spu| hint_across_a_branch(spu, None, 2), order, 38 + 18);
    }

    #[test]
    fn the_one_hint_buffer_keeps_the_latest_hint() {
        let program = |names: [BranchName; 2]| {
            move |spu: &mut TimedSpu<'_>| {
                spu.hbrr_for(names[0]);
                spu.hbrr_for(names[1]);
                spu.name_branch(ONE);
                spu.br();
            }
        };
        // The hints 0 and 1; the branch 1 + 16; or in 2, unhinted.
        check(program([OTHER, ONE]), Compiler::PROGRAM_ORDER, 18);
        check(program([ONE, OTHER]), Compiler::PROGRAM_ORDER, 3 + 18);
    }

    #[test]
    fn each_option_of_the_compiler_does_what_it_says() {
        let hinted = |spu: &mut TimedSpu<'_>| {
            spu.il(1);
            spu.il(2);
            spu.il(3);
            spu.hbrr();
            spu.br();
        };
        // il 0, 1, 2, the hint beside the last, the branch 2 + 16.
        let as_written = Compiler::PROGRAM_ORDER;
        check(hinted, as_written, 19);
        // The hint 0, il 1, 2, 3.
        check(hinted, Compiler { hints: Hints::Earliest, ..as_written }, 17);
        // il 0, 1, 2, the branch beside the last, 18 for its being taken.
        check(hinted, Compiler::NAIVE, 3 + 18);
        assert_eq!(profile(hinted, Compiler::NAIVE).instructions(), 4);
        check(hinted, Compiler { hints: Hints::Omitted, ..Compiler::LIST_SCHEDULING }, 3 + 18);

        let pair = |spu: &mut TimedSpu<'_>| {
            spu.il(1);
            spu.il(2);
            spu.fsmbi(1);
        };
        // il 0 and 1, the shuffle 2 in an even word; with lnop beside the first, il 1 and shuffle 1.
        check(pair, as_written, 3);
        check(pair, Compiler { pairing: Pairing::Sought, ..as_written }, 2);
        // Two of each: the shuffles have the longer latency and go first, 0 and 1; il 2 and 3.
        let two_pairs = |spu: &mut TimedSpu<'_>| {
            pair(spu);
            spu.fsmbi(2);
        };
        let list = Compiler::LIST_SCHEDULING;
        assert_eq!(list.order, Order::List);
        check(two_pairs, Compiler { pairing: Pairing::Chance, ..list }, 4);
        check(two_pairs, list, 2);
    }

    #[test]
    fn a_block_that_reads_another_unfinished_value_than_last_time_is_timed_anew() {
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut store = LocalStore::new();
        // il 0 and beside it the load, there in 6; the branch 2, not taken. Of the next block the
        // addition in 3 or 6, a shuffle beside it and seven after it.
        for (reads_load, cycles) in [(false, 11), (false, 11), (true, 14), (false, 11), (true, 14)]
        {
            let mut spu = stopwatch.start(&mut store);
            let (one, load) = (spu.il(1), spu.lqa(LocalAddress(0)));
            spu.brz(one);
            let operand = if reads_load { load } else { one };
            spu.a(operand, one);
            for _ in 0..8 {
                spu.fsmbi(0);
            }
            assert_eq!(stopwatch.stop().cycles.0, cycles, "reads the load: {reads_load}");
        }
    }

    #[test]
    fn a_prefetch_spares_a_row_of_loads_the_wait_for_instructions() {
        let program = |prefetch: Option<u32>| {
            move |spu: &mut TimedSpu<'_>| {
                for position in 0..33 {
                    if prefetch == Some(position) {
                        spu.hbrp();
                    } else {
                        spu.lqa(LocalAddress(16 * position));
                    }
                }
            }
        };
        // Loads in 0 to 31, so that the second line is fetched in 32 and there in 44.
        check(program(None), Compiler::PROGRAM_ORDER, 45);
        check(program(Some(5)), Compiler::PROGRAM_ORDER, 33);
    }

    #[test]
    fn a_label_begins_a_block_and_takes_no_time() {
        let turns = |label: fn(&mut TimedSpu<'_>)| {
            let program = move |spu: &mut TimedSpu<'_>| {
                let mut count = spu.il(4);
                loop {
                    label(spu);
                    count = spu.ai(count, -1);
                    if !spu.brnz(count) {
                        break;
                    }
                }
            };
            let profile = profile(program, Compiler::PROGRAM_ORDER);
            let executions = profile.blocks.iter().map(|block| block.executions).collect();
            (profile.cycles.0, executions)
        };
        // il 0; ai 2, brnz 4, taken: 23, three times, the last turn 5 without the wait for il.
        assert_eq!(turns(|spu| spu.label()), (23 + 2 * 21 + 3, vec![1, 4]));
        assert_eq!(turns(|_| ()), (23 + 2 * 21 + 3, vec![1, 3]));
    }

    /// A register and the cycle in which it can be read, and the pipeline as it goes through the
    /// program instruction by instruction.
    struct Direct<'t> {
        pipeline: Pipeline<'t>,
        hint: Option<u64>,
    }

    impl Direct<'_> {
        fn issue(&mut self, class: Class, operands: u64) -> u64 {
            self.pipeline.issue(class, Ready::operands(operands)).ready
        }

        fn branch(&mut self, operands: u64, taken: bool) {
            let hint = self.hint.take();
            let ready = Ready { operands, hint: hint.unwrap_or(0), channel: 0 };
            self.pipeline.issue(Class::Branch, ready);
            if taken != hint.is_some() {
                self.pipeline.mispredict();
            }
            self.pipeline.align();
        }
    }

    #[test]
    fn what_is_recognised_takes_as_long_as_instruction_by_instruction() {
        let mut store = LocalStore::new();
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        // Each program three times: it is met, and recognised twice.
        for seed in (0..40).flat_map(|seed| [seed; 3]) {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut direct = Direct { pipeline: Pipeline::new(&CELL_BE), hint: None };
            let mut spu = stopwatch.start(&mut store);
            let zero = spu.lqr(Quadword::ZERO);
            let mut registers = [(zero, direct.issue(Class::LoadStore, 0)); 6];
            for _ in 0..300 {
                let [(x, x_ready), (y, y_ready)] =
                    [0; 2].map(|_| registers[random.random_range(0..6)]);
                let both = x_ready.max(y_ready);
                let new = match random.random_range(0..10) {
                    0 => Some((spu.ai(x, 1), direct.issue(Class::SimpleFixed, x_ready))),
                    1 => Some((spu.il(0), direct.issue(Class::SimpleFixed, 0))),
                    2 => Some((spu.a(x, y), direct.issue(Class::SimpleFixed, both))),
                    3 => Some((spu.shli(x, 1), direct.issue(Class::WordShift, x_ready))),
                    4 => Some((spu.rotqbyi(x, 3), direct.issue(Class::Shuffle, x_ready))),
                    5 => Some((spu.dfa(x, y), direct.issue(Class::DoublePrecision, both))),
                    6 => {
                        let load = spu.lqa(LocalAddress(64));
                        Some((load, direct.issue(Class::LoadStore, 0)))
                    }
                    7 => {
                        spu.stqa(x, LocalAddress(64));
                        direct.issue(Class::LoadStore, x_ready);
                        None
                    }
                    8 => {
                        spu.hbrr();
                        let issue = direct.pipeline.issue(Class::BranchHint, Ready::default());
                        direct.hint = Some(issue.cycle + u64::from(CELL_BE.hint_distance));
                        None
                    }
                    _ => {
                        let taken = spu.brz(x);
                        direct.branch(x_ready, taken);
                        None
                    }
                };
                if let Some(new) = new {
                    registers[random.random_range(0..6)] = new;
                }
            }
            assert_eq!(stopwatch.stop().cycles.0, direct.pipeline.earliest(), "seed {seed}");
            // The local store was changed by what ran before.
            store = LocalStore::new();
        }
    }
}
