//! The issue of instructions in order, several a cycle, each when what it needs is there.
//!
//! ```text
//!   cycle    0        1        2   ...   10        11
//!   double   a*b+c    d*e+f              (a*b+c)*d
//!   load     a'       b'       c'
//!   integer                    address + 8
//! ```
//! An instruction issues in the cycle of the one before it, if there is room and its unit is free,
//! or later; never earlier. It does so when its operands are ready.

use crate::ppe::hierarchy::Access;

/// What executes instructions; there is one of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Integers and addresses.
    Integer,
    /// Loads and stores.
    Memory,
    /// Doubles.
    Float,
    /// Branches.
    Branch,
}

/// Their number.
pub(super) const UNITS: usize = 4;

/// The result of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(usize);

impl Name {
    /// What has always been there.
    pub const ALWAYS: Self = Self(0);

    /// The result of that instruction, the first being 1.
    pub(super) const fn of(index: usize) -> Self {
        Self(index)
    }

    pub(super) const fn index(self) -> usize {
        self.0
    }
}

/// An operand: what it is, and how many cycles after others it can be used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// Whose result it is.
    pub name: Name,
    /// Additional cycles on the way.
    pub way: u64,
}

impl From<Name> for Operand {
    fn from(name: Name) -> Self {
        Self { name, way: 0 }
    }
}

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// What executes it.
    pub unit: Unit,
    /// Cycles from its issue until its result is there.
    pub latency: u64,
    /// Cycles for which its unit takes no other.
    pub busy: u64,
    /// What it needs.
    pub operands: [Operand; 3],
    /// What it is called that comes out.
    pub result: Name,
}

/// Issues basic blocks of instructions.
#[derive(Debug, Clone)]
pub struct Scoreboard {
    width: u32,
    order: Order,
    /// The cycle in which the last instruction issued, and how many did.
    cycle: u64,
    issued: u32,
    /// Cycles from which on each unit takes an instruction.
    free: [u64; UNITS],
    /// Ready by name.
    ready: Vec<u64>,
    block: Vec<Instruction>,
    /// The name that the block's first result has.
    first: usize,
    /// Turns of a loop within the block.
    turns: u32,
    /// What it has issued, where that is kept.
    record: Option<Vec<Step>>,
}

/// Turns of a loop that are one block where they overlap. A software pipeline has no end of a block
/// between turns; here, what it takes to fill and to drain shows once in so many.
const OVERLAPPED: u32 = 8;

/// Order in which the instructions of a basic block stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// The order of a compiler that schedules nothing: what is stored or decided on is computed one
    /// after the other, each operand right before its first use. Sums that stand side by side in
    /// the program come one after the other, as where each is an expression of its own.
    Expressions,
    /// The order in which they are written.
    Written,
    /// The order of a compiler that schedules lists: always one whose operands are there, and of
    /// those the one on the longest way to the end of the block. It has as many registers as it
    /// likes.
    Scheduled,
    /// Scheduled likewise, and turns of a loop that come one after the other overlap: so many of
    /// them are one block.
    Pipelined,
}

impl Scoreboard {
    /// A core that issues at most `width` instructions a cycle.
    pub fn new(width: u32, order: Order) -> Self {
        Self {
            width: width.max(1),
            order,
            cycle: 0,
            issued: 0,
            free: [0; UNITS],
            ready: vec![0],
            block: Vec::new(),
            first: 1,
            turns: 0,
            record: None,
        }
    }

    /// The same, keeping what it issues.
    pub fn recording(self) -> Self {
        Self { record: Some(Vec::new()), ..self }
    }

    /// What it has issued since it began to keep it.
    pub(super) fn into_steps(self) -> Vec<Step> {
        self.record.unwrap_or_default()
    }

    /// Adds an instruction to the block; the name of its result.
    pub fn push(&mut self, unit: Unit, latency: u64, operands: [Operand; 3]) -> Name {
        self.push_busy(unit, (latency, 1), operands)
    }

    /// Adds one that keeps its unit busy for `busy` cycles.
    pub fn push_busy(
        &mut self,
        unit: Unit,
        (latency, busy): (u64, u64),
        operands: [Operand; 3],
    ) -> Name {
        let result = Name(self.first + self.block.len());
        self.block.push(Instruction { unit, latency, busy, operands, result });
        result
    }

    /// Issues the block; nothing moves across its end.
    pub fn end_block(&mut self) {
        self.turns = 0;
        let block = std::mem::take(&mut self.block);
        self.ready.resize(self.first + block.len(), 0);
        match self.order {
            Order::Expressions => {
                for index in depth_first(&block, self.first) {
                    self.issue(&block[index]);
                }
            }
            Order::Written => block.iter().for_each(|instruction| self.issue(instruction)),
            Order::Scheduled | Order::Pipelined => {
                for index in schedule(&block, self.first, self.width) {
                    self.issue(&block[index]);
                }
            }
        }
        self.first += block.len();
    }

    /// Ends a turn of a loop, and the block with it unless turns overlap.
    pub fn end_turn(&mut self) {
        self.turns += 1;
        if self.order != Order::Pipelined || self.turns == OVERLAPPED {
            self.end_block();
        }
    }

    /// Issues nothing for `cycles` after the result `name` is ready.
    pub fn refill(&mut self, name: Name, cycles: u64) {
        self.record.iter_mut().for_each(|steps| steps.push(Step::Refill(name, cycles)));
        let next = self.ready[name.0] + cycles;
        if next > self.cycle {
            (self.cycle, self.issued) = (next, 0);
        }
    }

    /// The cycle after the last instruction that has issued.
    pub fn now(&self) -> u64 {
        self.cycle + u64::from(self.issued > 0)
    }

    fn issue(&mut self, instruction: &Instruction) {
        self.record.iter_mut().for_each(|steps| steps.push(Step::Issue(*instruction)));
        let unit = instruction.unit as usize;
        let operands = instruction.operands.iter();
        let needed = operands.map(|operand| self.ready[operand.name.0] + operand.way).max();
        let mut cycle = self.cycle.max(self.free[unit]).max(needed.unwrap_or(0));
        if cycle == self.cycle && self.issued == self.width {
            cycle += 1;
        }
        if cycle > self.cycle {
            (self.cycle, self.issued) = (cycle, 0);
        }
        self.issued += 1;
        self.free[unit] = cycle + instruction.busy;
        self.ready[instruction.result.0] = cycle + instruction.latency;
    }
}

/// The order of a block in which every instruction stands right before the first that needs it.
fn depth_first(block: &[Instruction], first: usize) -> Vec<usize> {
    let within = |operand: &Operand| operand.name.0.checked_sub(first);
    let mut is_needed = vec![false; block.len()];
    for source in block.iter().flat_map(|instruction| &instruction.operands).filter_map(within) {
        is_needed[source] = true;
    }
    let mut order = Vec::with_capacity(block.len());
    let mut is_placed = vec![false; block.len()];
    for root in (0..block.len()).filter(|&index| !is_needed[index]) {
        let mut open = vec![root];
        while let Some(&index) = open.last() {
            let mut sources = block[index].operands.iter().filter_map(within);
            match sources.find(|&source| !is_placed[source]) {
                Some(source) => open.push(source),
                None => {
                    open.pop();
                    if !std::mem::replace(&mut is_placed[index], true) {
                        order.push(index);
                    }
                }
            }
        }
    }
    order
}

/// The order of a block by list scheduling, for a core that issues `width` a cycle. The branch that
/// ends a block stays at its end.
fn schedule(block: &[Instruction], first: usize, width: u32) -> Vec<usize> {
    if let [before @ .., Instruction { unit: Unit::Branch, .. }] = block {
        let mut order = schedule(before, first, width);
        order.push(before.len());
        return order;
    }
    let within = |operand: &Operand| operand.name.0.checked_sub(first);
    // How long it takes from each instruction's issue to the end of the block.
    let mut to_end: Vec<u64> = block.iter().map(|instruction| instruction.latency).collect();
    for (index, instruction) in block.iter().enumerate().rev() {
        for operand in &instruction.operands {
            if let Some(source) = within(operand) {
                let way = block[source].latency + operand.way + to_end[index];
                to_end[source] = to_end[source].max(way);
            }
        }
    }
    let mut waiting: Vec<usize> = (0..block.len()).collect();
    waiting.sort_by_key(|&index| (std::cmp::Reverse(to_end[index]), index));
    let mut ready = vec![None; block.len()];
    let mut free = [0; UNITS];
    let mut order = Vec::with_capacity(block.len());
    let mut cycle = 0;
    while !waiting.is_empty() {
        let mut issued = 0;
        waiting.retain(|&index| {
            let instruction = &block[index];
            let unit = instruction.unit as usize;
            let can = issued < width
                && free[unit] <= cycle
                && instruction.operands.iter().all(|operand| match within(operand) {
                    None => true,
                    Some(source) => ready[source].is_some_and(|at: u64| at + operand.way <= cycle),
                });
            if can {
                issued += 1;
                free[unit] = cycle + instruction.busy;
                ready[index] = Some(cycle + instruction.latency);
                order.push(index);
            }
            !can
        });
        cycle += 1;
    }
    order
}

/// What a thread does next.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Issues an instruction.
    Issue(Instruction),
    /// Issues an instruction that accesses memory.
    Access(Instruction, Access),
    /// Issues nothing for so many cycles after a result is ready.
    Refill(Name, u64),
}

impl Step {
    /// Access to memory, if it has one.
    pub fn access(&self) -> Option<Access> {
        match self {
            Self::Access(_, access) => Some(*access),
            Self::Issue(_) | Self::Refill(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [Operand; 3] = [Operand { name: Name::ALWAYS, way: 0 }; 3];

    fn needs(name: Name) -> [Operand; 3] {
        [name.into(), Name::ALWAYS.into(), Name::ALWAYS.into()]
    }

    /// Cycles that a block takes as expressions, as written, and scheduled.
    fn check(expected: [u64; 3], block: impl Fn(&mut Scoreboard)) {
        let found = [Order::Expressions, Order::Written, Order::Scheduled].map(|order| {
            let mut scoreboard = Scoreboard::new(2, order);
            block(&mut scoreboard);
            scoreboard.end_block();
            scoreboard.now()
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn two_instructions_issue_in_a_cycle_if_their_units_differ() {
        check([3, 3, 3], |board| {
            for _ in 0..3 {
                board.push(Unit::Float, 10, NONE);
                board.push(Unit::Memory, 1, NONE);
            }
        });
        // One unit: one a cycle. As written only the third double and the first load go together.
        check([5, 5, 3], |board| {
            for unit in [Unit::Float, Unit::Memory] {
                for _ in 0..3 {
                    board.push(unit, 10, NONE);
                }
            }
        });
    }

    #[test]
    fn who_needs_a_result_waits_for_it_and_holds_up_who_comes_after() {
        // 0, 10, 20; the load that is written last issues with the last one, or with the first.
        check([21, 21, 21], |board| {
            let a = board.push(Unit::Float, 10, NONE);
            let b = board.push(Unit::Float, 10, needs(a));
            board.push(Unit::Float, 10, needs(b));
            board.push(Unit::Memory, 1, NONE);
        });
        // Two chains of two one after the other: 0, 10, 11, 21; side by side: 0, 1, 10, 11.
        check([22, 22, 12], |board| {
            for _ in 0..2 {
                let a = board.push(Unit::Float, 10, NONE);
                board.push(Unit::Float, 10, needs(a));
            }
        });
        check([22, 12, 12], |board| {
            let first = [0, 1].map(|_| board.push(Unit::Float, 10, NONE));
            for name in first {
                board.push(Unit::Float, 10, needs(name));
            }
        });
    }

    #[test]
    fn turns_that_overlap_hide_each_others_chains() {
        let chain = |order| {
            let mut board = Scoreboard::new(2, order);
            for _ in 0..16 {
                let one = board.push(Unit::Float, 10, NONE);
                board.push(Unit::Float, 10, needs(one));
                board.push(Unit::Branch, 0, NONE);
                board.end_turn();
            }
            board.end_block();
            board.now()
        };
        // By itself, a turn issues at 0 and 10; eight together at 0 to 7 and at 10 to 17.
        assert_eq!(chain(Order::Scheduled), 16 * 11);
        assert_eq!(chain(Order::Pipelined), 2 * 18);
    }

    #[test]
    fn a_unit_that_is_kept_takes_no_other() {
        // A division at 0 and one at 74; an integer operation at 0 or 74.
        check([75, 75, 75], |board| {
            board.push_busy(Unit::Float, (74, 74), NONE);
            board.push_busy(Unit::Float, (74, 74), NONE);
            board.push(Unit::Integer, 2, NONE);
        });
    }

    #[test]
    fn the_way_to_an_operand_and_a_refill_delay_the_issue() {
        let mut board = Scoreboard::new(2, Order::Written);
        let a = board.push(Unit::Integer, 2, NONE);
        let operand = Operand { name: a, way: 3 };
        let b = board.push(Unit::Memory, 1, [operand, operand, operand]);
        board.end_block();
        assert_eq!(board.now(), 6);
        // b is there at 6; 23 cycles later the next instruction issues.
        board.refill(b, 23);
        board.push(Unit::Integer, 2, NONE);
        board.end_block();
        assert_eq!(board.now(), 30);
    }
}
