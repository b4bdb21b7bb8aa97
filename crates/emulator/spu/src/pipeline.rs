//! When an instruction issues.
//!
//! ```text
//!            doubleword of two instructions
//!                [ even word | odd word ]         the next doubleword is taken when both have issued
//!                      |          |
//!                      v          v               both in one cycle only as drawn: an even-pipe
//!                 even pipe   odd pipe            instruction in the even word and an odd-pipe
//!                      |          |               instruction in the odd word; else one by one
//!   SimpleFixed      2 |          | 4  Shuffle
//!   WordShift, Byte  4 |          | 6  LoadStore
//!   SinglePrecision  6 |          | 6  Channel
//!   IntegerMultiply  7 |          | 4  Branch       +18 where it is taken without a hint, or
//!   DoublePrecision 13 |          |                 hinted and not taken; not before the 16th
//!     blocks both      |          |                 cycle after its hint
//!     pipes 6 cycles   |          | 15 BranchHint
//!   EvenNop            |          |    OddNop
//! ```
//!
//! Everything issues in order. The numbers are latencies on the Cell BE: so many cycles after the
//! instruction its result can be read. They are drawn here to be seen; what counts is the
//! [`Timing`] that the caller took from the description of its machine.
//!
//! # Instruction fetch
//!
//! Instructions come from local store in lines, through the port that loads and stores use and
//! before which they go. While a line runs, the next one needs one cycle without a load or store.
//! Where there was none, that is once the instructions have run out, and what follows waits for
//! [`Timing::fetch`] cycles more. `hbrp` is an instruction that takes a cycle of the port for it.
//! (The buffers of the hardware reach further than the next line, which a fetch that comes late in
//! a line is taken to be hidden by.)
//!
//! The first instruction after a taken branch stands in an even word at the beginning of a line,
//! where compilers align the target of a branch, and its line is there: the branch penalty, or the
//! fetch of the hint, includes that.
//!
//! Left out: the scrubbing of the local store's error-correcting code, and where a program stands
//! in local store, so that a line is counted from the target of a branch.

mod stall;

use super::instruction::{Class, Pipe};
use stall::Port;
use std::num::NonZeroU64;

pub use stall::{PortUse, Single, Stall, Stalls};

/// How one class of instructions goes through its pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassTiming {
    /// Cycles from its issue until its result can be read.
    pub latency: u32,
    /// Cycles after its issue in which nothing at all issues. Where it is not 0, the class does
    /// not issue together with another instruction either.
    pub issue_block: u32,
}

/// The numbers of a pipeline; all of them belong to the machine, so none has a default \[cycles\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// [`Class::SimpleFixed`].
    pub simple_fixed: ClassTiming,
    /// [`Class::WordShift`].
    pub word_shift: ClassTiming,
    /// [`Class::Byte`].
    pub byte: ClassTiming,
    /// [`Class::SinglePrecision`].
    pub single_precision: ClassTiming,
    /// [`Class::IntegerMultiply`].
    pub integer_multiply: ClassTiming,
    /// [`Class::DoublePrecision`].
    pub double_precision: ClassTiming,
    /// [`Class::Shuffle`].
    pub shuffle: ClassTiming,
    /// [`Class::LoadStore`].
    pub load_store: ClassTiming,
    /// [`Class::BranchHint`].
    pub branch_hint: ClassTiming,
    /// [`Class::Branch`].
    pub branch: ClassTiming,
    /// [`Class::Channel`].
    pub channel: ClassTiming,
    /// Cycles lost after a branch that is taken without a hint, or hinted and not taken.
    pub branch_penalty: u32,
    /// Cycles from a hint to the earliest issue of its branch.
    pub hint_distance: u32,
    /// Instructions that one access to local store fetches: a line \[instructions\].
    pub fetch_line: u32,
    /// Cycles from that access until the first of them can issue.
    pub fetch: u32,
}

impl Timing {
    /// The timing of one class; nops have neither result nor block.
    pub const fn of(&self, class: Class) -> ClassTiming {
        match class {
            Class::SimpleFixed => self.simple_fixed,
            Class::WordShift => self.word_shift,
            Class::Byte => self.byte,
            Class::SinglePrecision => self.single_precision,
            Class::IntegerMultiply => self.integer_multiply,
            Class::DoublePrecision => self.double_precision,
            Class::EvenNop | Class::OddNop => ClassTiming { latency: 0, issue_block: 0 },
            Class::Shuffle => self.shuffle,
            Class::LoadStore => self.load_store,
            Class::BranchHint => self.branch_hint,
            Class::Branch => self.branch,
            Class::Channel => self.channel,
        }
    }
}

/// When and how an instruction issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// Cycle.
    pub cycle: u64,
    /// The cycle from which its result can be read.
    pub ready: u64,
    /// Whether it shares its cycle with the instruction before it.
    pub dual: bool,
    /// Why it does not; none where it does.
    pub single: Option<Single>,
    /// Cycles since the one after the instruction before it, in all of which nothing issued.
    pub stalls: Stalls,
}

/// The cycles at which all is there that an instruction needs; 0 for what it does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ready {
    /// The last register that it reads.
    pub operands: u64,
    /// Cycle from which on a hinted branch may issue: [`Timing::hint_distance`] cycles after its hint.
    pub hint: u64,
    /// Cycle from which on the count of its channel is not 0, for a channel instruction.
    pub channel: u64,
}

impl Ready {
    /// Needs registers alone, the last of them ready at that cycle.
    pub const fn operands(operands: u64) -> Self {
        Self { operands, hint: 0, channel: 0 }
    }

    fn all(self) -> u64 {
        self.operands.max(self.hint).max(self.channel)
    }
}

/// Which word of a doubleword of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// The first.
    Even,
    /// The second.
    Odd,
}

/// The state of the issue stage. Instructions are handed to it in the order of the program, with
/// the cycles at which what they need is ready.
#[derive(Debug, Clone)]
pub struct Pipeline<'t> {
    timing: &'t Timing,
    /// One after the cycle of the last instruction.
    next: u64,
    /// The earliest cycle in which the next instruction can issue alone, and why not before.
    earliest: u64,
    held: Stall,
    word: Word,
    /// The instruction in the even word that stands before the next one.
    first: Option<First>,
    /// Instructions of the current line that have issued.
    in_line: u32,
    port: Port,
    port_use: PortUse,
}

/// An instruction in an even word.
#[derive(Debug, Clone, Copy)]
struct First {
    cycle: u64,
    pipe: Pipe,
    blocks: u32,
}

impl<'t> Pipeline<'t> {
    /// A pipeline at cycle 0 and the even word of a doubleword.
    pub const fn new(timing: &'t Timing) -> Self {
        Self {
            timing,
            next: 0,
            earliest: 0,
            held: Stall::IssueBlock,
            word: Word::Even,
            first: None,
            in_line: 0,
            port: Port::new(),
            port_use: PortUse { accesses: 0, fetches: 0 },
        }
    }

    /// The same pipeline beside DMA that takes the port of the local store in every cycle that
    /// `period` divides. DMA at its full rate reads in one cycle of 16 and writes in another.
    #[must_use]
    pub const fn with_dma(mut self, period: NonZeroU64) -> Self {
        self.port.dma_period = Some(period);
        self
    }

    /// How the port has been used.
    pub const fn port_use(&self) -> PortUse {
        self.port_use
    }

    /// The word in which the next instruction stands.
    pub const fn word(&self) -> Word {
        self.word
    }

    /// The cycle of the instruction in the even word, where an odd-pipe one may join it.
    pub fn joinable(&self) -> Option<u64> {
        let first = self.first.filter(|first| first.pipe == Pipe::Even && first.blocks == 0);
        first.map(|first| first.cycle)
    }

    /// The first cycle that belongs to what follows.
    pub const fn earliest(&self) -> u64 {
        self.earliest
    }

    /// The cycles between the last instruction and [`Pipeline::earliest`], in which nothing issues.
    pub fn trailing_stalls(&self) -> Stalls {
        let mut stalls = Stalls::default();
        stalls.wait(self.next, self.earliest, self.held);
        stalls
    }

    /// The cycle in which an instruction of `class` would issue next.
    pub fn peek(&self, class: Class, ready: Ready) -> u64 {
        match self.single(class, ready) {
            None => self.next - 1,
            Some(_) => self.at_the_port(class, self.earliest.max(self.fetched()).max(ready.all())),
        }
    }

    /// The first cycle from `cycle` on in which the port is there for an instruction of `class`.
    fn at_the_port(&self, class: Class, cycle: u64) -> u64 {
        if class == Class::LoadStore { self.port.free_of_dma(cycle) } else { cycle }
    }

    /// When the line of the next instruction is there.
    fn fetched(&self) -> u64 {
        let begins_line = self.in_line == self.timing.fetch_line;
        let starved = begins_line && self.port.fetch() >= self.next;
        if starved { self.port.fetch() + u64::from(self.timing.fetch) } else { 0 }
    }

    /// Issues an instruction of `class`.
    pub fn issue(&mut self, class: Class, ready: Ready) -> Issue {
        let timing = self.timing.of(class);
        let single = self.single(class, ready);
        let mut stalls = Stalls::default();
        let cycle = match single {
            None => self.next - 1,
            Some(_) => {
                let cycle = stalls.wait(self.next, self.earliest, self.held);
                let cycle = stalls.wait(cycle, self.fetched(), Stall::Fetch);
                let cycle = stalls.wait(cycle, ready.operands, Stall::Operand);
                let cycle = stalls.wait(cycle, ready.hint, Stall::HintDistance);
                let cycle = stalls.wait(cycle, ready.channel, Stall::Channel);
                stalls.wait(cycle, self.at_the_port(class, cycle), Stall::LocalStorePort)
            }
        };
        self.use_port(class, cycle);
        self.next = cycle + 1;
        self.earliest = self.next + u64::from(timing.issue_block);
        self.held = Stall::IssueBlock;
        (self.word, self.first) = match self.word {
            Word::Even => {
                let first = First { cycle, pipe: class.pipe(), blocks: timing.issue_block };
                (Word::Odd, Some(first))
            }
            Word::Odd => (Word::Even, None),
        };
        let ready = cycle + u64::from(timing.latency);
        Issue { cycle, ready, dual: single.is_none(), single, stalls }
    }

    /// Issues an `hbrp`: it goes to the local store as a load does, and fetches the next line.
    pub fn prefetch(&mut self) -> Issue {
        let issue = self.issue(Class::LoadStore, Ready::default());
        self.port.prefetch(issue.cycle);
        issue
    }

    fn use_port(&mut self, class: Class, cycle: u64) {
        if self.in_line == self.timing.fetch_line {
            self.in_line = 0;
        }
        if self.in_line == 0 {
            self.port.begin_line(cycle);
            self.port_use.fetches += 1;
        }
        self.in_line += 1;
        if class == Class::LoadStore {
            self.port.access(cycle);
            self.port_use.accesses += 1;
        }
    }

    /// Why an instruction of `class` would not join the one before it.
    fn single(&self, class: Class, ready: Ready) -> Option<Single> {
        let Some(first) = self.first else { return Some(Single::EvenWord) };
        if (first.pipe, class.pipe()) != (Pipe::Even, Pipe::Odd) {
            Some(Single::Pipes)
        } else if first.blocks > 0 || self.timing.of(class).issue_block > 0 {
            Some(Single::IssueBlock)
        } else if ready.all() > first.cycle || self.at_the_port(class, first.cycle) > first.cycle {
            Some(Single::NotReady)
        } else {
            None
        }
    }

    /// Goes on at the target of a branch: in the even word of a doubleword, at the beginning of a
    /// line that is there.
    pub fn align(&mut self) {
        self.word = Word::Even;
        self.first = None;
        self.in_line = 0;
    }

    /// Charges a branch that went the other way than was hinted.
    pub fn mispredict(&mut self) {
        self.earliest += u64::from(self.timing.branch_penalty);
        self.held = Stall::BranchPenalty;
    }

    /// Aligns as [`Pipeline::align`] does, at a target that may stand in the odd word: then the even one before
    /// it is not taken.
    pub fn go_to(&mut self, word: Word) {
        self.align();
        self.word = word;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::{Compiler, LocalStore, Profile, Spu, Stopwatch, TimedSpu};
    use super::*;

    const fn class(latency: u32) -> ClassTiming {
        ClassTiming { latency, issue_block: 0 }
    }

    /// What becomes of a program on the Cell BE with code of `compiler`.
    pub(crate) fn profile(program: impl FnOnce(&mut TimedSpu<'_>), compiler: Compiler) -> Profile {
        let mut stopwatch = Stopwatch::new(CELL_BE, compiler);
        program(&mut stopwatch.start(&mut LocalStore::new()));
        stopwatch.stop()
    }

    /// The Cell BE: IBM SDK 3.0 Programming Tutorial, "Pipelines and dual-issue rules", table 1;
    /// branch penalty and hint distance from the loops of cellmark, measured on a PlayStation 3.
    pub(crate) const CELL_BE: Timing = Timing {
        simple_fixed: class(2),
        word_shift: class(4),
        byte: class(4),
        single_precision: class(6),
        integer_multiply: class(7),
        double_precision: ClassTiming { latency: 13, issue_block: 6 },
        shuffle: class(4),
        load_store: class(6),
        branch_hint: class(15),
        branch: class(4),
        channel: class(6),
        branch_penalty: 18,
        hint_distance: 16,
        fetch_line: 32,
        fetch: 12,
    };

    /// Issues the listing: each line a class and the lines whose results it reads.
    fn check(timing: &Timing, listing: &[(Class, &[usize])], expected: &[u64]) {
        let mut pipeline = Pipeline::new(timing);
        let mut issues: Vec<Issue> = Vec::new();
        for (class, sources) in listing {
            let ready = sources.iter().map(|&line| issues[line].ready).max().unwrap_or(0);
            issues.push(pipeline.issue(*class, Ready::operands(ready)));
        }
        let cycles: Vec<u64> = issues.iter().map(|issue| issue.cycle).collect();
        assert_eq!(cycles, expected);
    }

    const FIXED: Class = Class::SimpleFixed;
    const SHUFFLE: Class = Class::Shuffle;
    const LOAD: Class = Class::LoadStore;
    const DOUBLE: Class = Class::DoublePrecision;

    #[test]
    fn only_an_even_then_an_odd_instruction_of_one_doubleword_share_a_cycle() {
        check(&CELL_BE, &[(FIXED, &[]), (LOAD, &[]), (FIXED, &[]), (SHUFFLE, &[])], &[0, 0, 1, 1]);
        check(&CELL_BE, &[(LOAD, &[]), (FIXED, &[]), (LOAD, &[]), (FIXED, &[])], &[0, 1, 2, 3]);
        check(&CELL_BE, &[(FIXED, &[]), (FIXED, &[]), (LOAD, &[]), (LOAD, &[])], &[0, 1, 2, 3]);
    }

    #[test]
    fn an_instruction_waits_for_its_operands_and_holds_up_those_behind_it() {
        // A load can be read after 6 cycles, an addition after 2; the last line is independent
        // but stands behind.
        let listing: &[(Class, &[usize])] =
            &[(LOAD, &[]), (FIXED, &[0]), (FIXED, &[1]), (SHUFFLE, &[]), (FIXED, &[])];
        check(&CELL_BE, listing, &[0, 6, 8, 8, 9]);
        // The odd word is not ready with the even one: it issues alone, and the next pair after it.
        check(&CELL_BE, &[(FIXED, &[]), (SHUFFLE, &[0]), (FIXED, &[])], &[0, 2, 3]);
    }

    #[test]
    fn each_class_can_be_read_after_its_latency() {
        for (class, latency) in [
            (Class::SimpleFixed, 2),
            (Class::WordShift, 4),
            (Class::Byte, 4),
            (Class::SinglePrecision, 6),
            (Class::IntegerMultiply, 7),
            (Class::DoublePrecision, 13),
            (Class::Shuffle, 4),
            (Class::LoadStore, 6),
            (Class::Channel, 6),
        ] {
            check(&CELL_BE, &[(class, &[]), (class, &[0])], &[0, latency]);
        }
    }

    #[test]
    fn after_double_precision_nothing_issues_for_six_cycles() {
        check(
            &CELL_BE,
            &[(DOUBLE, &[]), (LOAD, &[]), (DOUBLE, &[]), (DOUBLE, &[])],
            &[0, 7, 8, 15],
        );
        // Two independent chains hide one another's latency of 13 in 2 x 7 cycles; one does not.
        check(
            &CELL_BE,
            &[(DOUBLE, &[]), (DOUBLE, &[]), (DOUBLE, &[0]), (DOUBLE, &[1])],
            &[0, 7, 14, 21],
        );
        check(&CELL_BE, &[(DOUBLE, &[]), (DOUBLE, &[0])], &[0, 13]);
    }

    #[test]
    fn where_double_precision_is_pipelined_it_shares_cycles_like_the_rest() {
        // PowerXCell 8i: latency 9, no block.
        let timing = Timing { double_precision: class(9), ..CELL_BE };
        let listing: &[(Class, &[usize])] =
            &[(DOUBLE, &[]), (LOAD, &[]), (DOUBLE, &[]), (DOUBLE, &[0])];
        check(&timing, listing, &[0, 0, 1, 9]);
    }

    /// A loop of `others` odd-pipe instructions, the count and the branch, run `times` times.
    fn cycles_of_loop(times: i16, others: usize, hinted: bool) -> u64 {
        let mut store = LocalStore::new();
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut spu = stopwatch.start(&mut store);
        let mut count = spu.il(times);
        // A branch that is not taken ends the prologue.
        spu.brz(count);
        loop {
            if hinted {
                spu.hbrr();
            } else {
                spu.fsmbi(0);
            }
            count = spu.ai(count, -1);
            for _ in 0..others {
                spu.fsmbi(0);
            }
            if !spu.brnz(count) {
                break;
            }
        }
        stopwatch.stop().cycles.0
    }

    #[test]
    fn a_loop_of_12_instructions_takes_30_cycles_unhinted_and_17_hinted() {
        // Measured by cellmark. One instruction a cycle: the branch issues in cycle 11, and 12 + 18
        // = 30. Hinted in cycle 0 it issues in cycle 16, and the next iteration in 17.
        assert_eq!(cycles_of_loop(9, 9, false) - cycles_of_loop(8, 9, false), 30);
        assert_eq!(cycles_of_loop(9, 9, true) - cycles_of_loop(8, 9, true), 17);
    }

    #[test]
    fn a_hint_far_enough_ahead_costs_nothing_and_a_wrong_one_the_penalty() {
        // 20 instructions, one a cycle, the branch in cycle 19, so that 16 cycles have passed.
        assert_eq!(cycles_of_loop(9, 17, true) - cycles_of_loop(8, 17, true), 20);
        // Prologue: il 0, brz on it 2; so 3 cycles. One iteration of 20, and the branch falls
        // through: with the hint that is wrong, without it is right.
        assert_eq!(cycles_of_loop(1, 17, true), 3 + 20 + 18);
        assert_eq!(cycles_of_loop(1, 17, false), 3 + 20);
    }

    #[test]
    fn a_result_that_is_not_ready_delays_its_reader_in_a_later_block() {
        let mut store = LocalStore::new();
        let mut stopwatch = Stopwatch::new(CELL_BE, Compiler::PROGRAM_ORDER);
        let mut spu = stopwatch.start(&mut store);
        // Load 0; the branch reads it in 6 and is not taken. Multiply 7, blocks to 13; the branch
        // issues in 14. The sum waits for the product until 7 + 13 = 20 and blocks to 26.
        let one = spu.lqr(crate::Quadword::from_doubles([1.0; 2]));
        spu.brz(one);
        let product = spu.dfm(one, one);
        spu.brz(one);
        spu.dfa(product, product);
        let profile = stopwatch.stop();
        assert_eq!(profile.cycles.0, 27);
        // The first branch waits for the load from 1 to 6, the second until the block of the
        // product ends at 14 (8 to 13); the sum from 15 to 20, and its own block is 21 to 26.
        let stalls =
            |cause| profile.blocks.iter().map(|it| it.stalls.of(cause)).collect::<Vec<_>>();
        assert_eq!(stalls(Stall::Operand), [5, 0, 5]);
        assert_eq!(stalls(Stall::IssueBlock), [0, 6, 6]);
        assert!(profile.blocks.iter().all(|it| it.cycles.0 == it.instructions + it.stalls.total()));
    }

    /// Issues the listing of classes and what they need, and compares the causes of the last one.
    fn check_causes(listing: &[(Class, Ready)], expected: &[(Stall, u64)], single: Option<Single>) {
        let mut pipeline = Pipeline::new(&CELL_BE);
        let issue = listing.iter().map(|&(class, ready)| pipeline.issue(class, ready)).last();
        let issue = issue.expect("the listing is not empty");
        let mut causes = Vec::new();
        for cause in Stall::ALL {
            causes.extend(Some((cause, issue.stalls.of(cause))).filter(|&(_, cycles)| cycles > 0));
        }
        assert_eq!((causes.as_slice(), issue.single), (expected, single));
        assert_eq!(issue.dual, single.is_none());
    }

    const NOW: Ready = Ready::operands(0);

    #[test]
    fn an_instruction_says_what_it_waited_for_and_how_long() {
        // In the odd word after cycle 0, on a register of cycle 6: nothing issues from 1 to 5.
        let late = Ready::operands(6);
        check_causes(&[(FIXED, NOW), (LOAD, late)], &[(Stall::Operand, 5)], Some(Single::NotReady));
        // Behind a double-precision instruction of cycle 0 nothing issues from 1 to 6.
        let blocked = [(DOUBLE, NOW), (LOAD, NOW)];
        check_causes(&blocked, &[(Stall::IssueBlock, 6)], Some(Single::IssueBlock));
        // Its own operand at 13 comes 6 cycles after the block.
        check_causes(
            &[(DOUBLE, NOW), (DOUBLE, Ready::operands(13))],
            &[(Stall::IssueBlock, 6), (Stall::Operand, 6)],
            Some(Single::Pipes),
        );
        // A hint in cycle 0, its branch from 16 on, the condition in 2: operand 1, hint 2 to 15.
        let branch = Ready { operands: 2, hint: 16, channel: 0 };
        check_causes(
            &[(Class::BranchHint, NOW), (Class::Branch, branch)],
            &[(Stall::Operand, 1), (Stall::HintDistance, 14)],
            Some(Single::Pipes),
        );
        // A channel that becomes ready in 9, read in the even word of the second doubleword.
        let channel = Ready { channel: 9, ..NOW };
        check_causes(
            &[(FIXED, NOW), (LOAD, NOW), (Class::Channel, channel)],
            &[(Stall::Channel, 8)],
            Some(Single::EvenWord),
        );
        check_causes(&[(FIXED, NOW), (LOAD, NOW)], &[], None);
    }

    #[test]
    fn what_follows_a_mispredicted_branch_waits_18_cycles() {
        let mut pipeline = Pipeline::new(&CELL_BE);
        pipeline.issue(Class::Branch, NOW);
        pipeline.mispredict();
        assert_eq!(pipeline.trailing_stalls().of(Stall::BranchPenalty), 18);
        pipeline.align();
        let target = pipeline.issue(FIXED, NOW);
        assert_eq!((target.cycle, target.stalls.of(Stall::BranchPenalty)), (19, 18));
        assert_eq!(target.single, Some(Single::EvenWord));
        assert!(pipeline.issue(LOAD, NOW).dual);
    }

    /// A machine with lines of 4 instructions that take 5 cycles to fetch. Issues odd-pipe
    /// instructions, one a cycle where nothing stalls, and says in which cycles.
    fn check_fetch(classes: &[Class], expected: &[u64], fetch_stall: u64) {
        let timing = Timing { fetch_line: 4, fetch: 5, ..CELL_BE };
        let mut pipeline = Pipeline::new(&timing);
        let mut stalls = Stalls::default();
        let mut cycles = Vec::new();
        for &class in classes {
            let issue = pipeline.issue(class, NOW);
            stalls += issue.stalls;
            cycles.push(issue.cycle);
        }
        assert_eq!(cycles, expected);
        assert_eq!(stalls.of(Stall::Fetch), fetch_stall);
        assert_eq!(stalls.total(), fetch_stall);
        let fetches = classes.len().div_ceil(4) as u64;
        let accesses = classes.iter().filter(|&&class| class == LOAD).count() as u64;
        assert_eq!(pipeline.port_use(), PortUse { accesses, fetches });
    }

    #[test]
    fn code_that_loads_in_every_cycle_starves_its_own_fetch() {
        // The fetch gets cycle 0, or where that has a load, the first without.
        check_fetch(&[SHUFFLE; 5], &[0, 1, 2, 3, 4], 0);
        check_fetch(&[LOAD, LOAD, LOAD, SHUFFLE, LOAD], &[0, 1, 2, 3, 4], 0);
        // Loads in all of 0 to 3: the fetch gets cycle 4, in which nothing can issue; 4 + 5. The
        // third line is fetched in cycle 10.
        check_fetch(
            &[LOAD, LOAD, LOAD, LOAD, LOAD, SHUFFLE, SHUFFLE, SHUFFLE, SHUFFLE],
            &[0, 1, 2, 3, 9, 10, 11, 12, 13],
            5,
        );
    }

    #[test]
    fn an_inline_prefetch_takes_the_cycle_of_a_load_for_the_fetch() {
        // Loads in 0, 2 and 3, the prefetch in 1: where four loads would have the fifth in 9.
        let timing = Timing { fetch_line: 4, fetch: 5, ..CELL_BE };
        let mut pipeline = Pipeline::new(&timing);
        pipeline.issue(LOAD, NOW);
        assert_eq!(pipeline.prefetch().cycle, 1);
        pipeline.issue(LOAD, NOW);
        pipeline.issue(LOAD, NOW);
        assert_eq!(pipeline.issue(LOAD, NOW).cycle, 4);
    }

    #[test]
    fn the_target_of_a_branch_begins_a_line() {
        let timing = Timing { fetch_line: 4, fetch: 50, ..CELL_BE };
        let mut pipeline = Pipeline::new(&timing);
        for _ in 0..3 {
            pipeline.issue(LOAD, NOW);
        }
        pipeline.align();
        assert_eq!([0; 4].map(|_| pipeline.issue(LOAD, NOW).cycle), [3, 4, 5, 6]);
        // Fetched in cycle 7.
        assert_eq!(pipeline.issue(LOAD, NOW).cycle, 57);
    }

    #[test]
    fn a_load_waits_for_the_cycle_after_one_of_dma() {
        // DMA has cycles 0, 4, 8. The first load waits for 1, the next go in 2 and 3, the fourth
        // waits for 5. The last would join the addition of cycle 8 and issues in 9.
        let mut pipeline = Pipeline::new(&CELL_BE).with_dma(NonZeroU64::new(4).unwrap());
        let issues = [0; 4].map(|_| pipeline.issue(LOAD, NOW));
        assert_eq!(issues.map(|issue| issue.cycle), [1, 2, 3, 5]);
        let waited = issues.map(|issue| issue.stalls.of(Stall::LocalStorePort));
        assert_eq!(waited, [1, 0, 0, 1]);
        assert_eq!(pipeline.issue(FIXED, Ready::operands(8)).cycle, 8);
        let last = pipeline.issue(LOAD, NOW);
        assert_eq!((last.cycle, last.single), (9, Some(Single::NotReady)));
    }

    #[test]
    fn dma_costs_a_cycle_wherever_a_load_wanted_it() {
        use rand::{RngExt as _, SeedableRng as _};
        // A pair a cycle, of which 3 in 10 have a load: as many of the accesses of DMA meet one,
        // each independently of the others, so n of them cost 0.3 n with a standard error of
        // sqrt(n 0.3 0.7).
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
        let loads: Vec<bool> = (0..20_000).map(|_| random.random_range(0..10) < 3).collect();
        let run = |pipeline: &mut Pipeline<'_>| {
            for &load in &loads {
                pipeline.issue(FIXED, NOW);
                pipeline.issue(if load { LOAD } else { SHUFFLE }, NOW);
            }
        };
        // Lines without end, for without that a few loads in a row starve the fetch.
        let timing = Timing { fetch_line: u32::MAX, ..CELL_BE };
        let mut alone = Pipeline::new(&timing);
        run(&mut alone);
        assert_eq!(alone.earliest(), 20_000);
        let mut beside = Pipeline::new(&timing).with_dma(NonZeroU64::new(7).unwrap());
        run(&mut beside);
        let lines = beside.earliest() / 7;
        let expected = alone.port_use().conflicts(lines, mmgp_base::units::Cycles(20_000)).0 as f64;
        let cost = (beside.earliest() - alone.earliest()) as f64;
        let standard_error = (lines as f64 * 0.3 * 0.7).sqrt();
        assert!((cost - expected).abs() < 3.0 * standard_error, "{cost} instead of {expected}");
    }
}
