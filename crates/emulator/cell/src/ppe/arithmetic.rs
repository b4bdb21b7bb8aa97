//! What host code is written against, so that the same lines compute and are timed.
//!
//! What the host computes is one generic function over [`Arithmetic`]. With [`Plain`] it is ordinary
//! arithmetic on doubles, which the compiler vectorises; with [`Timed`](super::Timed) every
//! operation also goes through the scoreboard of the processor.

/// A processor with registers for doubles and words, and a memory of slices.
///
/// Operations are instructions of the processor or short sequences of them; the order of the calls
/// is the order of the instructions. Values that cannot live in its 32 floating-point registers
/// are to be loaded where they are used.
pub trait Arithmetic {
    /// A register with a double.
    type Float: Copy;
    /// A register with a word.
    type Word: Copy;

    /// A constant that is in a register already.
    fn constant(&mut self, value: f64) -> Self::Float;
    /// Loads a double.
    fn load(&mut self, from: &f64) -> Self::Float;
    /// Stores a double.
    fn store(&mut self, to: &mut f64, value: Self::Float);
    /// `a + b`.
    fn add(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a - b`.
    fn subtract(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a * b`.
    fn multiply(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a * b + c`; takes one instruction. The product is rounded, which the real one does not do:
    /// few hosts of an emulator have that instruction wherever the program is compiled.
    fn multiply_add(&mut self, a: Self::Float, b: Self::Float, c: Self::Float) -> Self::Float;
    /// `c - a * b`, likewise.
    fn subtract_product(&mut self, c: Self::Float, a: Self::Float, b: Self::Float) -> Self::Float;
    /// `a / b`.
    fn divide(&mut self, a: Self::Float, b: Self::Float) -> Self::Float;
    /// |a|.
    fn absolute(&mut self, a: Self::Float) -> Self::Float;
    /// 2^n, for a whole n in -1022..=1023 held as `WHOLE` + n. Goes through memory to the integer
    /// unit and back.
    fn power_of_two(&mut self, n: Self::Float) -> Self::Float;
    /// The mantissa in \[sqrt(1/2), sqrt(2)) and the exponent of a positive, normal double. Both go
    /// through memory.
    fn split(&mut self, a: Self::Float) -> (Self::Float, Self::Float);
    /// Whether `a < b`, and a branch on it, which is expected not to be taken.
    fn is_below(&mut self, a: Self::Float, b: Self::Float) -> bool;

    /// Loads a word.
    fn load_word(&mut self, from: &i32) -> Self::Word;
    /// Stores a word.
    fn store_word(&mut self, to: &mut i32, value: Self::Word);
    /// The sum of a word and a constant.
    fn add_constant(&mut self, a: Self::Word, constant: i32) -> Self::Word;
    /// The sum of two words.
    fn add_words(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The double of the same value.
    fn to_float(&mut self, word: Self::Word) -> Self::Float;

    /// Loads an index and makes an address of it, for which the loads that follow wait.
    fn load_index(&mut self, from: &u32) -> usize;
    /// The end of an iteration of a loop: `addresses` are incremented, and a branch goes back.
    fn turn(&mut self, addresses: u32);

    /// Loads four doubles, one after the other.
    #[inline(always)]
    fn load_four(&mut self, from: &[f64; 4]) -> [Self::Float; 4] {
        [self.load(&from[0]), self.load(&from[1]), self.load(&from[2]), self.load(&from[3])]
    }

    /// Stores four doubles.
    #[inline(always)]
    fn store_four(&mut self, to: &mut [f64; 4], values: [Self::Float; 4]) {
        for (to, value) in to.iter_mut().zip(values) {
            self.store(to, value);
        }
    }

    /// Products, each with its own factor.
    #[inline(always)]
    fn multiply_four(&mut self, a: [Self::Float; 4], b: [Self::Float; 4]) -> [Self::Float; 4] {
        [
            self.multiply(a[0], b[0]),
            self.multiply(a[1], b[1]),
            self.multiply(a[2], b[2]),
            self.multiply(a[3], b[3]),
        ]
    }

    /// `a * b + c`, each with its own.
    #[inline(always)]
    fn multiply_add_four(
        &mut self,
        a: [Self::Float; 4],
        b: [Self::Float; 4],
        c: [Self::Float; 4],
    ) -> [Self::Float; 4] {
        [
            self.multiply_add(a[0], b[0], c[0]),
            self.multiply_add(a[1], b[1], c[1]),
            self.multiply_add(a[2], b[2], c[2]),
            self.multiply_add(a[3], b[3], c[3]),
        ]
    }

    /// `(a0 + a1) + (a2 + a3)`.
    #[inline(always)]
    fn sum_of_four(&mut self, a: [Self::Float; 4]) -> Self::Float {
        let low = self.add(a[0], a[1]);
        let high = self.add(a[2], a[3]);
        self.add(low, high)
    }
}

/// 1.5 * 2^52: added to a double below 2^51 in magnitude, it leaves the nearest whole number in the
/// last bits.
pub const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Arithmetic on doubles that takes no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain;

/// Places of the fraction in a double.
const FRACTION: u32 = 52;
/// Exponent field of 1.
const BIAS: u64 = 1023;
/// sqrt(1/2), nearly: where the mantissas of [`Arithmetic::split`] begin.
const ROOT_OF_HALF: u64 = 0x3FE6_A09E_0000_0000;

/// Operations, each with what it computes.
macro_rules! operations {
    ($($name:ident($($operand:ident: $type:ty),*) $(-> $result:ty)? = $value:expr;)*) => {$(
        #[inline(always)]
        fn $name(&mut self, $($operand: $type),*) $(-> $result)? {
            $value
        }
    )*};
}

impl Arithmetic for Plain {
    type Float = f64;
    type Word = i32;

    operations! {
        constant(value: f64) -> f64 = value;
        load(from: &f64) -> f64 = *from;
        store(to: &mut f64, value: f64) = *to = value;
        add(a: f64, b: f64) -> f64 = a + b;
        subtract(a: f64, b: f64) -> f64 = a - b;
        multiply(a: f64, b: f64) -> f64 = a * b;
        multiply_add(a: f64, b: f64, c: f64) -> f64 = a * b + c;
        subtract_product(c: f64, a: f64, b: f64) -> f64 = c - a * b;
        divide(a: f64, b: f64) -> f64 = a / b;
        absolute(a: f64) -> f64 = a.abs();
        // Whatever stands above the exponent's eleven bits is shifted out.
        power_of_two(n: f64) -> f64 = f64::from_bits(n.to_bits().wrapping_add(BIAS) << FRACTION);
        is_below(a: f64, b: f64) -> bool = a < b;
        load_word(from: &i32) -> i32 = *from;
        store_word(to: &mut i32, value: i32) = *to = value;
        add_constant(a: i32, constant: i32) -> i32 = a + constant;
        add_words(a: i32, b: i32) -> i32 = a + b;
        to_float(word: i32) -> f64 = f64::from(word);
        load_index(from: &u32) -> usize = *from as usize;
        turn(_addresses: u32) = {};
    }

    #[inline(always)]
    fn split(&mut self, a: f64) -> (f64, f64) {
        let bits = a.to_bits();
        let from_root = bits.wrapping_sub(ROOT_OF_HALF);
        let exponent = (from_root as i64) >> FRACTION;
        (f64::from_bits(bits.wrapping_sub((exponent << FRACTION) as u64)), exponent as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_two_is_made_of_the_last_bits_and_a_double_falls_apart_into_two() {
        for n in [-1022, -256, -1, 0, 1, 52, 1023] {
            assert_eq!(Plain.power_of_two(WHOLE + f64::from(n)), 2.0_f64.powi(n), "{n}");
            let (mantissa, exponent) = Plain.split(1.25 * 2.0_f64.powi(n));
            assert_eq!((mantissa, exponent), (1.25, f64::from(n)), "{n}");
        }
        assert_eq!(Plain.split(1.5), (0.75, 1.0));
    }
}
