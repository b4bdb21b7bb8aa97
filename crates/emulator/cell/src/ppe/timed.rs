//! Arithmetic that also goes through the scoreboard of the core.

use crate::ppe::assembler::{ALWAYS, Latencies};
use crate::ppe::hierarchy::{Access, AccessKind, Hierarchy, Level};
use crate::ppe::scoreboard::{Name, Operand, Order, Scoreboard, Step, Unit};
use crate::ppe::{Arithmetic, Plain};
use mmgp_base::units::Cycles;
use mmgp_machine::Machine;

/// A value in a register, and which instruction it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Register<T> {
    /// The value.
    pub value: T,
    name: Name,
}

/// Computes what [`Plain`] computes, and says how long the core takes for it with everything in the
/// first-level caches.
///
/// A branch ends a basic block, as does the end of a turn of a loop. A branch that is expected not
/// to be taken waits for its condition and refills the pipeline if it is taken; that back to the
/// head of a loop is predicted. Left out: the limit of 32 registers; that instructions leave the
/// fetch in pairs; and a load's waiting for an earlier store to the same place, but where a value
/// goes through memory to other registers.
#[derive(Debug, Clone)]
pub struct Timed {
    scoreboard: Scoreboard,
    latencies: Latencies,
    /// What the next loads take their addresses from.
    address: Operand,
}

impl Timed {
    /// An idle core of the machine, running code whose blocks are in that order.
    pub fn new(machine: &Machine, order: Order) -> Self {
        let scoreboard = Scoreboard::new(machine.ppe_issue.width, order);
        Self { scoreboard, latencies: Latencies::of(machine), address: ALWAYS }
    }

    /// The same, keeping what it executes for a [`Stream`](super::core::Stream).
    pub fn recording(machine: &Machine, order: Order) -> Self {
        let idle = Self::new(machine, order);
        Self { scoreboard: idle.scoreboard.recording(), ..idle }
    }

    /// What it has executed.
    pub(super) fn into_steps(mut self) -> Vec<Step> {
        self.scoreboard.end_block();
        self.scoreboard.into_steps()
    }

    /// Time from the first instruction to the last so far.
    pub fn cycles(&mut self) -> Cycles {
        self.scoreboard.end_block();
        Cycles(self.scoreboard.now())
    }

    fn float(&mut self, value: f64, operands: [Name; 3]) -> Register<f64> {
        let operands = operands.map(Operand::from);
        Register { value, name: self.scoreboard.push(Unit::Float, self.latencies.float, operands) }
    }

    fn integer(&mut self, operands: [Name; 2]) -> Name {
        let [a, b] = operands.map(Operand::from);
        self.scoreboard.push(Unit::Integer, self.latencies.integer, [a, b, ALWAYS])
    }

    fn memory(&mut self, latency: u64, operand: Operand) -> Name {
        self.scoreboard.push(Unit::Memory, latency, [operand, self.address, ALWAYS])
    }

    /// A value's way to other registers through memory.
    fn through_memory(&mut self, name: Name) -> Name {
        let stored = self.memory(self.latencies.forward, name.into());
        self.memory(0, stored.into())
    }
}

impl Arithmetic for Timed {
    type Float = Register<f64>;
    type Word = Register<i32>;

    fn constant(&mut self, value: f64) -> Register<f64> {
        Register { value, name: Name::ALWAYS }
    }

    fn load(&mut self, from: &f64) -> Register<f64> {
        let name = self.memory(self.latencies.float_load, ALWAYS);
        Register { value: *from, name }
    }

    fn store(&mut self, to: &mut f64, value: Register<f64>) {
        self.memory(self.latencies.store, value.name.into());
        *to = value.value;
    }

    fn add(&mut self, a: Register<f64>, b: Register<f64>) -> Register<f64> {
        self.float(Plain.add(a.value, b.value), [a.name, b.name, Name::ALWAYS])
    }

    fn subtract(&mut self, a: Register<f64>, b: Register<f64>) -> Register<f64> {
        self.float(Plain.subtract(a.value, b.value), [a.name, b.name, Name::ALWAYS])
    }

    fn multiply(&mut self, a: Register<f64>, b: Register<f64>) -> Register<f64> {
        self.float(Plain.multiply(a.value, b.value), [a.name, b.name, Name::ALWAYS])
    }

    fn multiply_add(
        &mut self,
        a: Register<f64>,
        b: Register<f64>,
        c: Register<f64>,
    ) -> Register<f64> {
        let value = Plain.multiply_add(a.value, b.value, c.value);
        self.float(value, [a.name, b.name, c.name])
    }

    fn subtract_product(
        &mut self,
        c: Register<f64>,
        a: Register<f64>,
        b: Register<f64>,
    ) -> Register<f64> {
        let value = Plain.subtract_product(c.value, a.value, b.value);
        self.float(value, [a.name, b.name, c.name])
    }

    fn divide(&mut self, a: Register<f64>, b: Register<f64>) -> Register<f64> {
        let time = (self.latencies.divide, self.latencies.divide);
        let operands = [a.name.into(), b.name.into(), ALWAYS];
        let name = self.scoreboard.push_busy(Unit::Float, time, operands);
        Register { value: Plain.divide(a.value, b.value), name }
    }

    fn absolute(&mut self, a: Register<f64>) -> Register<f64> {
        self.float(Plain.absolute(a.value), [a.name, Name::ALWAYS, Name::ALWAYS])
    }

    fn power_of_two(&mut self, n: Register<f64>) -> Register<f64> {
        let bits = self.through_memory(n.name);
        let biased = self.integer([bits, Name::ALWAYS]);
        let shifted = self.integer([biased, Name::ALWAYS]);
        let name = self.through_memory(shifted);
        Register { value: Plain.power_of_two(n.value), name }
    }

    fn split(&mut self, a: Register<f64>) -> (Register<f64>, Register<f64>) {
        let (mantissa, exponent) = Plain.split(a.value);
        let bits = self.through_memory(a.name);
        let from_root = self.integer([bits, Name::ALWAYS]);
        let whole = self.integer([from_root, Name::ALWAYS]);
        let shifted = self.integer([whole, Name::ALWAYS]);
        let reduced = self.integer([bits, shifted]);
        let mantissa = Register { value: mantissa, name: self.through_memory(reduced) };
        let moved = self.through_memory(whole);
        (mantissa, self.float(exponent, [moved, Name::ALWAYS, Name::ALWAYS]))
    }

    fn is_below(&mut self, a: Register<f64>, b: Register<f64>) -> bool {
        let operands = [a.name.into(), b.name.into(), ALWAYS];
        let condition = self.scoreboard.push(Unit::Float, self.latencies.branch, operands);
        let operands = [condition.into(), ALWAYS, ALWAYS];
        let branch = self.scoreboard.push(Unit::Branch, 0, operands);
        self.scoreboard.end_block();
        let taken = Plain.is_below(a.value, b.value);
        if taken {
            self.scoreboard.refill(branch, self.latencies.misprediction);
        }
        taken
    }

    fn load_word(&mut self, from: &i32) -> Register<i32> {
        let name = self.memory(self.latencies.word_load, ALWAYS);
        Register { value: *from, name }
    }

    fn store_word(&mut self, to: &mut i32, value: Register<i32>) {
        self.memory(self.latencies.store, value.name.into());
        *to = value.value;
    }

    fn add_constant(&mut self, a: Register<i32>, constant: i32) -> Register<i32> {
        let name = self.integer([a.name, Name::ALWAYS]);
        Register { value: Plain.add_constant(a.value, constant), name }
    }

    fn add_words(&mut self, a: Register<i32>, b: Register<i32>) -> Register<i32> {
        let name = self.integer([a.name, b.name]);
        Register { value: Plain.add_words(a.value, b.value), name }
    }

    fn to_float(&mut self, word: Register<i32>) -> Register<f64> {
        let moved = self.through_memory(word.name);
        self.float(Plain.to_float(word.value), [moved, Name::ALWAYS, Name::ALWAYS])
    }

    fn load_index(&mut self, from: &u32) -> usize {
        let loaded = self.memory(self.latencies.word_load, ALWAYS);
        let shifted = self.integer([loaded, Name::ALWAYS]);
        let name = self.integer([shifted, Name::ALWAYS]);
        self.address = Operand { name, way: self.latencies.address };
        Plain.load_index(from)
    }

    fn turn(&mut self, addresses: u32) {
        let mut name = Name::ALWAYS;
        for _ in 0..addresses {
            name = self.integer([Name::ALWAYS; 2]);
        }
        self.scoreboard.push(Unit::Branch, 0, [ALWAYS; 3]);
        self.scoreboard.end_turn();
        self.address = Operand { name, way: self.latencies.address };
    }
}

/// What becomes of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// Line is in the first-level cache.
    Hits,
    /// Misses, and so many cycles after it would have been there, its datum is there.
    Misses(u64),
    /// Would miss and finds the queue full; a place becomes free in that cycle.
    Waits(u64),
}

/// The caches of a core, and the queue of its loads that missed. Both threads share both.
///
/// A load goes on as soon as it is in the queue; who needs its datum waits. A load from a line that
/// is under way takes a place of its own, and its datum comes with that line.
///
/// Left out: that the caches hand over a line in pieces, and the bandwidth of the second level and
/// of memory: eight lines in 500 cycles are a quarter of what memory can do.
pub(super) struct Loads {
    caches: Hierarchy,
    places: usize,
    /// The lines that the queued loads wait for, and the cycle in which each is there.
    queue: Vec<(u64, u64)>,
}

impl Loads {
    /// Idle, with these caches.
    pub(super) fn new(machine: &Machine, caches: Hierarchy) -> Self {
        let places = (machine.cache.misses as usize).max(1);
        Self { caches, places, queue: Vec::with_capacity(places) }
    }

    /// Loads in cycle `now`.
    pub(super) fn load(&mut self, now: u64, address: u64) -> Load {
        self.queue.retain(|&(_, until)| until > now);
        let line = address / self.caches.line();
        let coming = self.queue.iter().find(|&&(queued, _)| queued == line).map(|entry| entry.1);
        let hits = coming.is_none() && self.caches.has(address);
        if !hits && self.queue.len() == self.places {
            let free = self.queue.iter().map(|&(_, until)| until).min();
            return Load::Waits(free.unwrap_or(now + 1));
        }
        let level = self.caches.load(address);
        let until = match (coming, level) {
            (Some(until), _) => until,
            (None, Level::First) => return Load::Hits,
            (None, level) => now + self.caches.stall(level).0,
        };
        self.queue.push((line, until));
        Load::Misses(until - now)
    }

    /// Accesses memory without anybody's waiting for it.
    pub(super) fn touch(&mut self, access: Access) {
        match access.kind {
            AccessKind::Load => {
                self.caches.load(access.address);
            }
            AccessKind::Store => self.caches.store(access.address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle() -> Loads {
        let machine = Machine::named("qs20").unwrap();
        assert_eq!(machine.cache.misses, 8);
        Loads::new(&machine, Hierarchy::new(&machine))
    }

    #[test]
    fn eight_loads_are_under_way_and_the_ninth_waits_for_the_first_one() {
        let mut loads = idle();
        for index in 0..8 {
            assert_eq!(loads.load(index, 128 * index), Load::Misses(495));
        }
        // The first line is there at 495, the second at 496.
        assert_eq!(loads.load(8, 1 << 20), Load::Waits(495));
        assert_eq!(loads.load(494, 1 << 20), Load::Waits(495));
        assert_eq!(loads.load(495, 1 << 20), Load::Misses(495));
        assert_eq!(loads.load(495, 1 << 21), Load::Waits(496));
        // What is there is loaded though the queue is full.
        assert_eq!(loads.load(495, 8), Load::Hits);
    }

    #[test]
    fn loads_from_a_line_that_comes_have_it_together_and_a_place_each() {
        let mut loads = idle();
        assert_eq!(loads.load(0, 0), Load::Misses(495));
        for index in 1..8 {
            assert_eq!(loads.load(index, 8 * index), Load::Misses(495 - index));
        }
        assert_eq!(loads.load(8, 64), Load::Waits(495));
        assert_eq!(loads.load(495, 64), Load::Hits);
    }
}
