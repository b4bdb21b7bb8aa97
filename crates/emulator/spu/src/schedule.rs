//! The code that the compiler emits for a basic block.
//!
//! What the compiler does with a kernel, as a model with named options.
//!
//! Kernels are written in an order that reads well. On an in-order machine without branch
//! prediction, order and hints decide how long they take, so that a naive port and a tuned one are
//! the same kernel under two [`Compiler`]s.
//!
//! What a compiler does beyond the limits of a basic block is the kernel's own business: it unrolls
//! its loops, keeps values in registers and in-lines its functions by being written that way.

use std::collections::BTreeMap;

use crate::block::{Code, Value};
use crate::instruction::{Class, Pipe};
use crate::pipeline::{Pipeline, Ready, Timing, Word};

/// What stands in one word of the code that the compiler emits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The instruction of the block at that position.
    Instruction(usize),
    /// An `lnop`.
    Padding,
}

/// The code of a block in the order in which it stands in local store.
#[derive(Debug, Clone)]
pub(super) struct Emitted {
    pub(super) slots: Vec<Slot>,
    /// Whether a hint for the branch at its end was emitted, in this block or an earlier one.
    pub(super) hinted: bool,
}

/// The code that `compiler` emits for a block.
pub(super) fn emit(code: Code<'_>, timing: &Timing, compiler: Compiler) -> Emitted {
    let slots = match compiler.order {
        Order::Program => in_program_order(code, timing, compiler),
        Order::List => ListScheduler::new(code, timing, compiler).run(),
    };
    Emitted { slots, hinted: code.is_hinted() && compiler.hints != Hints::Omitted }
}

fn is_hint(code: Code<'_>, position: usize) -> bool {
    code.kinds[position].class() == Class::BranchHint
}

fn in_program_order(code: Code<'_>, timing: &Timing, compiler: Compiler) -> Vec<Slot> {
    let mut order: Vec<usize> = (0..code.len()).collect();
    match compiler.hints {
        Hints::Omitted => order.retain(|&position| !is_hint(code, position)),
        Hints::AsWritten => {}
        Hints::Earliest => order.sort_by_key(|&position| !is_hint(code, position)),
    }
    let mut slots = Vec::with_capacity(order.len());
    let units: Vec<Unit> = order.iter().map(|&position| Unit::of(code, position, timing)).collect();
    let mut before = Unit::Odd;
    for (index, &position) in order.iter().enumerate() {
        let pair = (units[index], units.get(index + 1).copied());
        let in_odd_word = slots.len() % 2 == 1;
        // The padding joins the instruction before it and so costs nothing.
        if compiler.pairing == Pairing::Sought
            && in_odd_word
            && before == Unit::Even
            && pair == (Unit::Even, Some(Unit::Odd))
        {
            slots.push(Slot::Padding);
        }
        slots.push(Slot::Instruction(position));
        before = units[index];
    }
    slots
}

/// An instruction that must come later, and by how many cycles at least.
#[derive(Debug, Clone, Copy)]
struct Successor {
    position: usize,
    distance: u64,
}

/// Instructions that must come after each.
///
/// # Panics
/// Where the kernel reads a register after an instruction has overwritten it.
fn successors(code: Code<'_>, timing: &Timing) -> Vec<Vec<Successor>> {
    let class = |position: usize| code.kinds[position].class();
    let mut successors = vec![Vec::new(); code.len()];
    let mut readers: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
    let mut overwritten: BTreeMap<Value, usize> = BTreeMap::new();
    for position in 0..code.len() {
        for source in code.sources(position) {
            let distance = u64::from(timing.of(class(source)).latency);
            successors[source].push(Successor { position, distance });
        }
        if let Some(earlier) = code.follows(position) {
            let hint = class(earlier) == Class::BranchHint;
            let distance = if hint { u64::from(timing.hint_distance) } else { 1 };
            successors[earlier].push(Successor { position, distance });
            // Of the loads from a quadword that a store overwrites, only the last is recorded.
            if code.kinds[position].is_store() && code.kinds[earlier].is_load() {
                for load in (0..earlier).filter(|&load| code.kinds[load].is_load()) {
                    successors[load].push(Successor { position, distance });
                }
            }
        }
        for value in code.reads(position) {
            let gone = overwritten.get(&value);
            assert!(gone.is_none(), "{gone:?} overwrote {value:?}, which {position} reads");
            readers.entry(value).or_default().push(position);
        }
        if let Some(value) = code.overwrites(position) {
            for &reader in readers[&value].iter().filter(|&&reader| reader != position) {
                successors[reader].push(Successor { position, distance: 0 });
            }
            overwritten.insert(value, position);
        }
    }
    successors
}

/// An available instruction and the cycle in which it would issue next.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    position: usize,
    cycle: u64,
    priority: u64,
    unit: Unit,
}

impl Candidate {
    /// Sooner, or of higher priority, or first in program order.
    fn goes_before(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.cycle, std::cmp::Reverse(it.priority), it.position);
        key(self) < key(other)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Even pipe, and an odd-pipe instruction can join it.
    Even,
    /// Even pipe, alone in its cycle.
    Alone,
    Odd,
}

impl Unit {
    fn of(code: Code<'_>, position: usize, timing: &Timing) -> Self {
        let class = code.kinds[position].class();
        match class.pipe() {
            Pipe::Odd => Self::Odd,
            Pipe::Even if timing.of(class).issue_block > 0 => Self::Alone,
            Pipe::Even => Self::Even,
        }
    }
}

struct ListScheduler<'b> {
    code: Code<'b>,
    compiler: Compiler,
    units: Vec<Unit>,
    successors: Vec<Vec<Successor>>,
    /// Longest chain of latencies from the issue of each instruction to the end of the block.
    priority: Vec<u64>,
    /// Predecessors of each instruction that are not emitted yet.
    waiting: Vec<usize>,
    ready: Vec<u64>,
    available: Vec<usize>,
    pipeline: Pipeline<'b>,
    emitted: Vec<Slot>,
}

impl<'b> ListScheduler<'b> {
    fn new(code: Code<'b>, timing: &'b Timing, compiler: Compiler) -> Self {
        let count = code.len();
        let omitted = |position| compiler.hints == Hints::Omitted && is_hint(code, position);
        let successors = successors(code, timing);
        let mut priority = vec![0; count];
        let mut waiting = vec![0; count];
        for position in (0..count).rev() {
            let class = code.kinds[position].class();
            priority[position] = successors[position]
                .iter()
                .map(|successor| successor.distance + priority[successor.position])
                .fold(u64::from(timing.of(class).latency), u64::max);
            if class == Class::BranchHint && compiler.hints == Hints::Earliest {
                priority[position] = u64::MAX;
            }
            for successor in &successors[position] {
                waiting[successor.position] += 1;
            }
        }
        // The branch ends the block, so it waits for everything.
        if code.kinds.last().is_some_and(|last| last.class() == Class::Branch) {
            waiting[count - 1] = usize::MAX;
        }
        let can_go = |&position: &usize| waiting[position] == 0 && !omitted(position);
        let available = (0..count).filter(can_go).collect();
        Self {
            code,
            compiler,
            units: (0..count).map(|position| Unit::of(code, position, timing)).collect(),
            successors,
            priority,
            waiting,
            ready: vec![0; count],
            available,
            pipeline: Pipeline::new(timing),
            emitted: Vec::with_capacity(count + count / 4),
        }
    }

    fn run(mut self) -> Vec<Slot> {
        while let Some(next) = self.choose() {
            self.issue(next);
        }
        if let Some(last) = self.code.len().checked_sub(1)
            && self.code.kinds[last].class() == Class::Branch
        {
            self.issue(last);
        }
        self.emitted
    }

    /// The instruction to emit next; none where only the branch is left.
    fn choose(&mut self) -> Option<usize> {
        let mut best = [None::<Candidate>; 3];
        for &position in &self.available {
            let candidate = self.candidate(position);
            let unit = &mut best[candidate.unit as usize];
            if unit.is_none_or(|best| candidate.goes_before(&best)) {
                *unit = Some(candidate);
            }
        }
        let first = best
            .into_iter()
            .flatten()
            .reduce(|one, other| if other.goes_before(&one) { other } else { one })?;
        if self.compiler.pairing == Pairing::Chance {
            return Some(first.position);
        }
        let at_once = |unit: Unit| best[unit as usize].filter(|best| best.cycle == first.cycle);
        let (even, odd) = (at_once(Unit::Even), at_once(Unit::Odd));
        let chosen = match (self.pipeline.word(), even, odd) {
            _ if first.unit == Unit::Alone => first,
            // A pair: the even-pipe instruction first, and the odd one will join it.
            (Word::Even, Some(even), Some(_)) => even,
            (Word::Odd, Some(even), Some(odd)) => {
                if self.pipeline.joinable().is_none() {
                    odd
                } else {
                    // The padding joins the instruction before it and so costs nothing.
                    self.pipeline.issue(Class::OddNop, Ready::default());
                    self.emitted.push(Slot::Padding);
                    even
                }
            }
            _ => first,
        };
        Some(chosen.position)
    }

    fn candidate(&self, position: usize) -> Candidate {
        let class = self.code.kinds[position].class();
        Candidate {
            position,
            cycle: self.pipeline.peek(class, Ready::operands(self.ready[position])),
            priority: self.priority[position],
            unit: self.units[position],
        }
    }

    fn issue(&mut self, position: usize) {
        let class = self.code.kinds[position].class();
        let cycle = self.pipeline.issue(class, Ready::operands(self.ready[position])).cycle;
        self.emitted.push(Slot::Instruction(position));
        self.available.retain(|&other| other != position);
        for successor in &self.successors[position] {
            let later = successor.position;
            self.ready[later] = self.ready[later].max(cycle + successor.distance);
            self.waiting[later] -= 1;
            if self.waiting[later] == 0 {
                self.available.push(later);
            }
        }
    }
}

/// The options of the compiler. Three sets of them have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Compiler {
    /// The order of the instructions in a basic block.
    pub order: Order,
    /// Whether pairs are sought that issue together.
    pub pairing: Pairing,
    /// Which branches are hinted, and how far ahead.
    pub hints: Hints,
}

/// The order of the instructions in a basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// The order in which the kernel writes them.
    Program,
    /// List scheduling: of the instructions that can issue next, the one with the longest chain
    /// of latencies behind it; the branch last.
    ///
    /// Kept are the dependences through registers, the order of two accesses to the same quadword
    /// of local store (a compiler must prove that others differ; here it knows), and the reads of
    /// a register before an instruction such as `dfma` overwrites it. The block is on its own:
    /// what comes before it is taken to be ready, and nothing moves across a branch.
    List,
}

/// Whether the compiler seeks pairs of instructions that issue in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pairing {
    /// Pairs are where they happen to be.
    Chance,
    /// An `lnop` fills an odd word where it costs nothing, so that an even-pipe instruction and
    /// the odd-pipe one behind it share a doubleword. With [`Order::List`], where both kinds can
    /// issue next, the even-pipe instruction goes first.
    Sought,
}

/// What becomes of the hints with which a kernel says that a branch will be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hints {
    /// They are left out: every branch that is taken costs the penalty.
    Omitted,
    /// Each stands where the kernel has it; with [`Order::List`] it is an instruction like others.
    AsWritten,
    /// Each is the first instruction of its block that can be, as far as possible from its branch.
    Earliest,
}

impl Compiler {
    /// An optimising compiler that knows the latencies of the SPU, but neither its pairs nor its
    /// hints: scheduled within basic blocks, branches unhinted.
    pub const NAIVE: Self =
        Self { order: Order::List, pairing: Pairing::Chance, hints: Hints::Omitted };

    /// What the kernel writes, as an assembler takes it.
    pub const PROGRAM_ORDER: Self =
        Self { order: Order::Program, pairing: Pairing::Chance, hints: Hints::AsWritten };

    /// An optimising compiler.
    pub const LIST_SCHEDULING: Self =
        Self { order: Order::List, pairing: Pairing::Sought, hints: Hints::Earliest };
}

#[cfg(test)]
mod tests {
    use super::super::block::{FREE, Kind, NOTHING, References, Tag};
    use super::super::instruction::Destination;
    use super::super::pipeline::tests::{CELL_BE, profile};
    use super::super::{LocalAddress, Quadword, Spu, TimedSpu};
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Cycles in program order and with list scheduling.
    fn check(program: impl Fn(&mut TimedSpu<'_>), in_program_order: u64, scheduled: u64) {
        let cycles = |compiler| profile(&program, compiler).cycles.0;
        assert_eq!(cycles(Compiler::PROGRAM_ORDER), in_program_order, "in program order");
        assert_eq!(cycles(Compiler::LIST_SCHEDULING), scheduled, "with list scheduling");
    }

    #[test]
    fn loads_move_in_front_of_the_arithmetic_that_needs_others() {
        // In order: load 0; multiply 6, blocks to 12; load 13; multiply 19, blocks to 25.
        // Scheduled: loads 0 and 1; multiplies 6 and 13, blocks to 19.
        let program = |spu: &mut TimedSpu<'_>| {
            for address in [0, 16] {
                let x = spu.lqa(LocalAddress(address));
                spu.dfm(x, x);
            }
        };
        check(program, 26, 20);
    }

    #[test]
    fn an_even_and_an_odd_instruction_are_brought_together() {
        // In order the pairs are (even, even) and (odd, odd): 4 cycles. Scheduled 2.
        let program = |spu: &mut TimedSpu<'_>| {
            spu.il(1);
            spu.il(2);
            spu.fsmbi(1);
            spu.fsmbi(2);
        };
        check(program, 4, 2);
    }

    #[test]
    fn padding_lets_a_pair_start_in_an_even_word() {
        // il 0; its readers are ready at 2. In order: rotqbyi 2 in the odd word, ai 3, fsmbi 3.
        // Scheduled: il 0 with fsmbi 0; then ai 2 with rotqbyi 2, so no padding is needed;
        // without fsmbi the odd word is padded and the two still share cycle 2.
        let pair = |spu: &mut TimedSpu<'_>| {
            let x = spu.il(1);
            spu.rotqbyi(x, 4);
            spu.ai(x, 1);
        };
        check(pair, 4, 3);
        assert_eq!(profile(pair, Compiler::LIST_SCHEDULING).blocks[0].padding, 1);
        assert_eq!(profile(pair, Compiler::PROGRAM_ORDER).blocks[0].padding, 0);
        let filled = |spu: &mut TimedSpu<'_>| {
            pair(spu);
            spu.fsmbi(1);
        };
        check(filled, 4, 3);
        assert_eq!(profile(filled, Compiler::LIST_SCHEDULING).blocks[0].padding, 0);
    }

    #[test]
    fn a_load_stays_behind_a_store_to_the_same_quadword_alone() {
        // il 0, dfm 2 (blocks to 8, ready 15), store 15, then the load and dfm on it.
        // Same quadword: load 16, ready 22, dfm 22, blocks to 28.
        // Another: the load goes into cycle 0 beside il, ready 6; dfm 2; the second dfm 9, blocks
        // to 15; store 16 (one cycle after the block ends at 15, ready since 15).
        let program = |address| {
            move |spu: &mut TimedSpu<'_>| {
                let x = spu.il(0);
                let product = spu.dfm(x, x);
                spu.stqa(product, LocalAddress(0));
                let y = spu.lqa(LocalAddress(address));
                spu.dfm(y, y);
            }
        };
        check(program(8), 29, 29);
        check(program(16), 29, 17);
    }

    #[test]
    fn a_store_stays_behind_every_load_of_what_it_overwrites() {
        // Two loads 0 and 1 of one quadword, and a store that could issue in cycle 2 after il 0.
        // Were the store free to go, it would issue before the second load, whose address takes
        // until 4: il 0 (address), shli 2, ready 6; load 6, the store behind it 7.
        let program = |spu: &mut TimedSpu<'_>| {
            let value = spu.il(0);
            let base = spu.shli(value, 0);
            spu.lqd(32, base);
            spu.lqa(LocalAddress(32));
            spu.stqa(value, LocalAddress(32));
        };
        // In order: il 0, shli 2, load 6, load 7, store 8.
        check(program, 9, 8);
    }

    #[test]
    fn the_most_live_registers_are_counted_in_the_order_emitted() {
        let program = |spu: &mut TimedSpu<'_>| {
            for _ in 0..5 {
                let (x, y) = (spu.il(1), spu.il(2));
                let sum = spu.a(x, y);
                spu.stqa(sum, LocalAddress(0));
            }
        };
        // x and y; the sum takes the register of one of them.
        assert_eq!(profile(program, Compiler::PROGRAM_ORDER).max_live(), 2);
        // All ten loads of immediates can issue before the first sum is ready to be stored.
        assert!(profile(program, Compiler::LIST_SCHEDULING).max_live() > 2);
    }

    #[test]
    fn values_of_a_loop_live_from_one_iteration_to_the_next() {
        let program = |spu: &mut TimedSpu<'_>| {
            let step = spu.il(3);
            let (mut sum, mut count) = (spu.il(0), spu.il(4));
            loop {
                sum = spu.a(sum, step);
                count = spu.ai(count, -1);
                if !spu.brnz(count) {
                    break;
                }
            }
            spu.stqa(sum, LocalAddress(0));
        };
        let profile = profile(program, Compiler::PROGRAM_ORDER);
        let most: Vec<_> = profile.blocks.iter().map(|block| block.max_live).collect();
        // The first block holds the first iteration, where the new values of sum and count take
        // the registers of the old. In the loop the old ones are counted until its end.
        assert_eq!(most, [3, 5, 1]);
        assert_eq!(
            profile.blocks.iter().map(|block| block.executions).collect::<Vec<_>>(),
            [1, 3, 1]
        );
    }

    #[test]
    #[should_panic(expected = "overwrote")]
    fn reading_a_register_that_was_overwritten_is_a_bug_of_the_kernel() {
        profile(
            |spu| {
                let x = spu.lqr(Quadword::from_doubles([1.0; 2]));
                let sum = spu.il(0);
                spu.dfma(x, x, sum);
                spu.dfma(x, x, sum);
            },
            Compiler::LIST_SCHEDULING,
        );
    }

    /// `count` instructions of random kinds, which refer to earlier ones or to none.
    fn random_block(random: &mut Xoshiro256PlusPlus, count: u32) -> (Vec<Kind>, Vec<References>) {
        let kind = |random: &mut Xoshiro256PlusPlus| {
            Kind::new(Class::ALL[random.random_range(0..10)], Destination::New)
        };
        (0..count)
            .map(|position| {
                let follows = random.random_range(0..3 * position + 2);
                let follows = if follows > position { 0 } else { follows };
                let mut operand = || match random.random_range(0..=position) {
                    0 => NOTHING,
                    read => read as i32 - 1,
                };
                let operands = [operand(), operand(), operand()];
                let follows = if follows == 0 { FREE } else { follows as i32 - 1 };
                (kind(random), [operands[0], operands[1], operands[2], follows])
            })
            .unzip()
    }

    #[test]
    fn every_instruction_is_emitted_once_and_after_what_it_depends_on() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for count in 1..60 {
            let (kinds, references) = random_block(&mut random, count);
            let code = Code { kinds: &kinds, references: &references, start: Tag(1) };
            let mut place = vec![None; code.len()];
            for (index, slot) in
                emit(code, &CELL_BE, Compiler::LIST_SCHEDULING).slots.into_iter().enumerate()
            {
                if let Slot::Instruction(position) = slot {
                    assert_eq!(place[position].replace(index), None, "emitted twice");
                }
            }
            for (position, references) in references.iter().enumerate() {
                for &read in references.iter().filter(|&&read| ![NOTHING, FREE].contains(&read)) {
                    let earlier = place[read as usize].expect("emitted");
                    assert!(earlier < place[position].expect("emitted"), "{read} {position}");
                }
            }
        }
    }
}
