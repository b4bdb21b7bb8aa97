//! Instructions of loops that are written down one by one, as a compiler has emitted them.

use super::core::Step;
use super::loads::{Access, AccessKind};
use super::scoreboard::{Instruction, Name, Operand, Unit};
use mmgp_machine::Machine;

/// A register by its number, below 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(pub u8);

impl Place {
    /// Names begin behind what has always been there.
    fn name(self) -> Name {
        Name::of(usize::from(self.0) + 1)
    }
}

/// Makes instructions with the latencies of a machine, on registers that are named by numbers, each
/// of which stands for one of any kind.
#[derive(Debug, Clone, Copy)]
pub struct Assembler {
    integer: u64,
    float: u64,
    store: u64,
    float_load: u64,
    word_load: u64,
    vector_load: u64,
    vector_float: u64,
    address: u64,
}

/// Where results go that nobody reads.
const NOWHERE: Place = Place(u8::MAX);

const ALWAYS: Operand = Operand { name: Name::ALWAYS, way: 0 };

impl Assembler {
    /// With the latencies of that machine.
    pub fn new(machine: &Machine) -> Self {
        let (ppe, issue) = (&machine.ppe, &machine.ppe_issue);
        Self {
            integer: ppe.integer.0,
            float: ppe.float.0,
            store: ppe.store.0,
            float_load: issue.float_load.0,
            word_load: issue.word_load.0,
            vector_load: issue.vector_load.0,
            vector_float: issue.vector_float.0,
            address: issue.address.0.saturating_sub(ppe.integer.0),
        }
    }

    /// Loads a double from `address`, which is computed from `base`.
    pub fn load_double(&self, to: Place, base: Place, address: u64) -> Step {
        self.load(self.float_load, to, base, address)
    }

    /// Loads a word.
    pub fn load_word(&self, to: Place, base: Place, address: u64) -> Step {
        self.load(self.word_load, to, base, address)
    }

    /// Loads a vector of 16 bytes.
    pub fn load_vector(&self, to: Place, base: Place, address: u64) -> Step {
        self.load(self.vector_load, to, base, address)
    }

    /// Stores a double.
    pub fn store_double(&self, from: Place, base: Place, address: u64) -> Step {
        let operands = [from.name().into(), self.to_address(base), ALWAYS];
        let result = NOWHERE.name();
        let instruction =
            Instruction { unit: Unit::Memory, latency: self.store, busy: 1, operands, result };
        Step::Access(instruction, Access { address, kind: AccessKind::Store })
    }

    /// `to = a * b + to`, doubles; `None` for a sum that begins.
    pub fn multiply_add(&self, to: Place, a: Place, b: Place, sum: Option<Place>) -> Step {
        let sum = sum.map_or(ALWAYS, |sum| sum.name().into());
        issue(Unit::Float, self.float, to, [a.name().into(), b.name().into(), sum])
    }

    /// `to = a + b`, vectors of floats, in the unit of the doubles.
    pub fn add_vectors(&self, to: Place, a: Place, b: Place) -> Step {
        let operands = [a.name().into(), b.name().into(), ALWAYS];
        issue(Unit::Float, self.vector_float, to, operands)
    }

    /// An operation on integers, such as an addition or an extension to 64 bits.
    pub fn integer(&self, to: Place, from: Place) -> Step {
        issue(Unit::Integer, self.integer, to, [from.name().into(), ALWAYS, ALWAYS])
    }

    /// The branch at the end of a turn, on the counter, which is predicted.
    pub fn branch(&self) -> Step {
        let (unit, operands, result) = (Unit::Branch, [ALWAYS; 3], NOWHERE.name());
        Step::Issue(Instruction { unit, latency: 0, busy: 1, operands, result })
    }

    fn load(&self, latency: u64, to: Place, base: Place, address: u64) -> Step {
        let (operands, result) = ([self.to_address(base), ALWAYS, ALWAYS], to.name());
        let instruction = Instruction { unit: Unit::Memory, latency, busy: 1, operands, result };
        Step::Access(instruction, Access { address, kind: AccessKind::Load })
    }

    fn to_address(self, base: Place) -> Operand {
        Operand { name: base.name(), way: self.address }
    }
}

fn issue(unit: Unit, latency: u64, to: Place, operands: [Operand; 3]) -> Step {
    Step::Issue(Instruction { unit, latency, busy: 1, operands, result: to.name() })
}
