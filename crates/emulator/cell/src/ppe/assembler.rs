//! Instructions of loops that are written down one by one, as a compiler has emitted them.

use crate::ppe::Arithmetic;
use crate::ppe::hierarchy::{Access, AccessKind};
use crate::ppe::scoreboard::{Instruction, Name, Operand, Order, Step, Unit};
use mmgp_base::series;
use mmgp_base::series::{EXPONENTIAL, LN_2};
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

/// Cycles from the issue of instructions until their results may be used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Latencies {
    pub(super) integer: u64,
    pub(super) float: u64,
    pub(super) vector_float: u64,
    pub(super) divide: u64,
    pub(super) store: u64,
    pub(super) float_load: u64,
    pub(super) word_load: u64,
    pub(super) vector_load: u64,
    /// How much longer a result is on its way to a load's address than to integer arithmetic.
    pub(super) address: u64,
    /// Compare to branch.
    pub(super) branch: u64,
    pub(super) misprediction: u64,
    pub(super) forward: u64,
}

impl Latencies {
    /// Latencies of a machine.
    pub(super) fn of(machine: &Machine) -> Self {
        let (ppe, issue) = (&machine.ppe, &machine.ppe_issue);
        Self {
            integer: ppe.integer.0,
            float: ppe.float.0,
            vector_float: issue.vector_float.0,
            divide: ppe.divide.0,
            store: ppe.store.0,
            float_load: issue.float_load.0,
            word_load: issue.word_load.0,
            vector_load: issue.vector_load.0,
            address: issue.address.0.saturating_sub(ppe.integer.0),
            branch: ppe.branch.0,
            misprediction: issue.misprediction.0,
            forward: issue.forward.0,
        }
    }
}

/// Makes instructions with the latencies of a machine, on registers that are named by numbers, each
/// of which stands for one of any kind.
#[derive(Debug, Clone, Copy)]
pub struct Assembler(Latencies);

/// Register for results that nobody reads.
const NOWHERE: Place = Place(u8::MAX);

pub(super) const ALWAYS: Operand = Operand { name: Name::ALWAYS, way: 0 };

impl Assembler {
    /// Assembles with the latencies of a machine.
    pub fn new(machine: &Machine) -> Self {
        Self(Latencies::of(machine))
    }

    /// Loads a double from `address`, which is computed from `base`.
    pub fn load_double(&self, to: Place, base: Place, address: u64) -> Step {
        self.load(self.0.float_load, to, base, address)
    }

    /// Loads a word.
    pub fn load_word(&self, to: Place, base: Place, address: u64) -> Step {
        self.load(self.0.word_load, to, base, address)
    }

    /// Loads a vector of 16 bytes.
    pub fn load_vector(&self, to: Place, base: Place, address: u64) -> Step {
        self.load(self.0.vector_load, to, base, address)
    }

    /// Stores a double.
    pub fn store_double(&self, from: Place, base: Place, address: u64) -> Step {
        let operands = [from.name().into(), self.to_address(base), ALWAYS];
        let result = NOWHERE.name();
        let instruction =
            Instruction { unit: Unit::Memory, latency: self.0.store, busy: 1, operands, result };
        Step::Access(instruction, Access { address, kind: AccessKind::Store })
    }

    /// `to = a * b + to`, doubles; `None` for a sum that begins.
    pub fn multiply_add(&self, to: Place, a: Place, b: Place, sum: Option<Place>) -> Step {
        let sum = sum.map_or(ALWAYS, |sum| sum.name().into());
        issue(Unit::Float, self.0.float, to, [a.name().into(), b.name().into(), sum])
    }

    /// `to = a + b`, vectors of floats, in the unit of the doubles.
    pub fn add_vectors(&self, to: Place, a: Place, b: Place) -> Step {
        let operands = [a.name().into(), b.name().into(), ALWAYS];
        issue(Unit::Float, self.0.vector_float, to, operands)
    }

    /// An operation on integers, such as an addition or an extension to 64 bits.
    pub fn integer(&self, to: Place, from: Place) -> Step {
        issue(Unit::Integer, self.0.integer, to, [from.name().into(), ALWAYS, ALWAYS])
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
        Operand { name: base.name(), way: self.0.address }
    }
}

fn issue(unit: Unit, latency: u64, to: Place, operands: [Operand; 3]) -> Step {
    Step::Issue(Instruction { unit, latency, busy: 1, operands, result: to.name() })
}

/// Which compiler made the code that the host executes. Each is an [`Order`] of instructions; what
/// it selects and what it leaves out is the same for all.
///
/// Three double-precision codes on one PPE take 41, 36 and 27 s as gcc -O3 compiles them and 19, 18
/// and 13 s as xlc does (PlayStation 3, 2007): a turn of the third, the sum of 4 / (1 + x^2), takes
/// 172 and 83 cycles. Left out of all: that registers are 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum HostCompiler {
    /// GCC of 2006. Of a turn with a division of 74 cycles and a chain of multiply-adds of 10 it
    /// leaves 172, nearly their sum: each operation waits for the one before.
    #[default]
    Gcc,
    /// IBM's XL C. Within a turn of that loop, the product, the sum, the division and the last sum
    /// depend on each other, 10 + 10 + 74 + 10 = 104 cycles; 83 need turns that overlap. That it
    /// unrolls loops and pipelines their turns is documented (IBM, Blue Gene/L: Application
    /// Development, 5.8).
    Xlc,
    /// A compiler that schedules each turn of a loop by itself, and has as many registers as it
    /// likes.
    Ideal,
}

impl HostCompiler {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gcc, Self::Xlc, Self::Ideal];

    /// How it arranges instructions.
    pub const fn order(self) -> Order {
        match self {
            Self::Gcc => Order::Expressions,
            Self::Xlc => Order::Pipelined,
            Self::Ideal => Order::Scheduled,
        }
    }
}

/// Below this, e^x is 0.
const LOWEST: f64 = -708.0;

/// The series of the logarithm without its highest term: what is left out is 2/23 f^22 < 2e-18 of f.
const LOGARITHM: [f64; 10] =
    *series::LOGARITHM.last_chunk().expect("invariant: it has eleven terms");

/// e^x for x up to 709: x = n ln 2 + r, and e^x = 2^n times the series of e^r. Within 2 units in
/// the last place; below 2^-1021 it is 0.
#[inline(always)]
pub fn exponential<A: Arithmetic>(ppe: &mut A, x: A::Float) -> A::Float {
    let lowest = ppe.load(&LOWEST);
    if ppe.is_below(x, lowest) {
        return ppe.constant(0.0);
    }
    let per_ln_2 = ppe.load(&std::f64::consts::LOG2_E);
    let whole = ppe.load(&crate::ppe::arithmetic::WHOLE);
    let shifted = ppe.multiply_add(x, per_ln_2, whole);
    let n = ppe.subtract(shifted, whole);
    let power = ppe.power_of_two(shifted);
    let [high, low] = [ppe.load(&LN_2[0]), ppe.load(&LN_2[1])];
    let rest = ppe.subtract_product(x, n, high);
    let rest = ppe.subtract_product(rest, n, low);
    let series = polynomial(ppe, rest, &EXPONENTIAL);
    ppe.multiply(series, power)
}

/// ln x for positive, normal x: x = m 2^e with m in \[sqrt(1/2), sqrt(2)), and with s = (m - 1) /
/// (m + 1), ln m = 2 s + 2/3 s^3 + 2/5 s^5 + ... Within 2 units in the last place.
#[inline(always)]
pub fn logarithm<A: Arithmetic>(ppe: &mut A, x: A::Float) -> A::Float {
    let (mantissa, exponent) = ppe.split(x);
    let one = ppe.load(&1.0);
    let above = ppe.subtract(mantissa, one);
    let below = ppe.add(mantissa, one);
    let s = ppe.divide(above, below);
    let square = ppe.multiply(s, s);
    let series = polynomial(ppe, square, &LOGARITHM);
    let cube = ppe.multiply(s, square);
    let [high, low] = [ppe.load(&LN_2[0]), ppe.load(&LN_2[1])];
    let twice = ppe.add(s, s);
    let small = ppe.multiply(exponent, low);
    let small = ppe.multiply_add(cube, series, small);
    let sum = ppe.add(small, twice);
    ppe.multiply_add(exponent, high, sum)
}

/// A polynomial by Horner's rule, the coefficient of the highest power first.
#[inline(always)]
fn polynomial<A: Arithmetic, const TERMS: usize>(
    ppe: &mut A,
    x: A::Float,
    coefficients: &[f64; TERMS],
) -> A::Float {
    let mut sum = ppe.load(&coefficients[0]);
    for coefficient in &coefficients[1..] {
        let coefficient = ppe.load(coefficient);
        sum = ppe.multiply_add(sum, x, coefficient);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ppe::Plain;
    use approx::assert_relative_eq;

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        for step in -7079..=7090 {
            let x = f64::from(step) / 10.0 + 0.0123;
            let x = x.min(709.0);
            assert_relative_eq!(exponential(&mut Plain, x), x.exp(), max_relative = 5e-16);
        }
        assert_eq!(exponential(&mut Plain, 0.0), 1.0);
        assert_eq!(exponential(&mut Plain, -1e6), 0.0);
    }

    #[test]
    fn the_logarithm_is_that_of_the_standard_library() {
        for step in 0..20_000 {
            let x = 1e-300 * 1.07_f64.powi(step);
            if !x.is_finite() {
                break;
            }
            assert_relative_eq!(logarithm(&mut Plain, x), x.ln(), max_relative = 5e-16);
        }
        // Near 1 nothing cancels.
        for x in [1.0 - 1e-6, 1.0 - 1e-12, 1.0 + 1e-9, 0.9, 1.4, 1.42, 0.7, 0.71] {
            assert_relative_eq!(logarithm(&mut Plain, x), x.ln(), max_relative = 5e-16);
        }
        assert_eq!(logarithm(&mut Plain, 1.0), 0.0);
    }
}
