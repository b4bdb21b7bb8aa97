use super::*;
use mmgp_machine::Machine;
use mmgp_spu::{Compiler, Kernel, LocalStore, Shape, execute, time};
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Clone, Copy)]
enum Routine {
    Less,
    Divide,
    Exponential,
    Logarithm,
}

/// One call of a routine; the result is doubleword 0.
struct Call(Routine, f64, f64);

impl Kernel for Call {
    type Output = f64;
    fn shape(&self) -> Shape {
        Shape::new("call", self.0 as u32)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) -> f64 {
        // Beside the operand stands what is not its copy: nobody may read it.
        let x = spu.lqr(Quadword::from_doubles([self.1, f64::NAN]));
        let y = spu.lqr(Quadword::from_doubles([self.2, f64::NAN]));
        let result = match self.0 {
            Routine::Less => less(spu, x, y),
            Routine::Divide => divide(spu, x, y),
            Routine::Exponential => exponential(spu, x),
            Routine::Logarithm => logarithm(spu, x),
        };
        spu.value(result).doubles()[0]
    }
}

fn call(routine: Routine, x: f64, y: f64) -> f64 {
    execute(&Call(routine, x, y), &mut LocalStore::new())
}

fn is_less(x: f64, y: f64) -> bool {
    let word = call(Routine::Less, x, y).to_bits() >> 32;
    assert!(word == 0 || word == 0xFFFF_FFFF, "{x} {y}: {word:x}");
    word != 0
}

#[test]
fn doubles_compare_as_the_host_compares_them() {
    let one_more = f64::from_bits(1.0f64.to_bits() + 1);
    let word_more = f64::from_bits(1.0f64.to_bits() + (1 << 32));
    let mut values = vec![0.0, -0.0, 1.0, one_more, word_more, f64::MIN_POSITIVE, f64::MAX, 1e-300];
    values.extend([f64::INFINITY, f64::NAN, f64::from_bits(1), f64::from_bits(0x7FF0 << 48 | 1)]);
    let negative: Vec<f64> = values.iter().map(|x| -x).collect();
    values.extend(negative);
    for &x in &values {
        for &y in &values {
            assert_eq!(is_less(x, y), x < y, "{x:e} {y:e}");
        }
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    for _ in 0..10_000 {
        let [x, y] = [(); 2].map(|()| f64::from_bits(random.random()));
        assert_eq!(is_less(x, y), x < y, "{x:e} {y:e}");
    }
}

/// A normal double of any exponent in the range and either sign.
fn normal(random: &mut Xoshiro256PlusPlus, exponents: std::ops::Range<u64>) -> f64 {
    let bits = random.random::<u64>() & 0x800F_FFFF_FFFF_FFFF;
    f64::from_bits(bits | random.random_range(exponents) << 52)
}

#[test]
fn a_quotient_is_right_to_two_units_in_the_last_place() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut worst = 0;
    for _ in 0..100_000 {
        let x = normal(&mut random, 1..2047);
        let y = normal(&mut random, 1..2047);
        let (got, expected) = (call(Routine::Divide, x, y), x / y);
        if expected.abs() < f64::MIN_POSITIVE {
            assert!(got == 0.0 || got.abs() == f64::MIN_POSITIVE, "{x:e} / {y:e}: {got:e}");
            assert_eq!(got.is_sign_negative(), expected.is_sign_negative(), "{x:e} / {y:e}");
        } else {
            let off = got.to_bits().abs_diff(expected.to_bits());
            assert!(off <= 2, "{x:e} / {y:e} = {expected:e}, got {got:e}");
            worst = off.max(worst);
        }
    }
    assert!(worst <= 1, "the documentation may say {worst}");
}

#[test]
fn quotients_at_the_borders_are_what_the_documentation_says() {
    let check = |x: f64, y: f64, expected: f64| {
        assert_eq!(call(Routine::Divide, x, y).to_bits(), expected.to_bits(), "{x:e} / {y:e}");
    };
    check(0.0, 3.0, 0.0);
    check(-0.0, 3.0, -0.0);
    check(3.0, -0.0, f64::NEG_INFINITY);
    check(0.0, 0.0, f64::INFINITY);
    check(1.0, 1.0, 1.0);
    check(-6.0, 3.0, -2.0);
    check(1e300, 1e-300, f64::INFINITY);
    check(1e-300, -1e300, -0.0);
    check(f64::MAX, 1.0, f64::MAX);
    check(f64::MIN_POSITIVE, 1.0, f64::MIN_POSITIVE);
}

fn check_relative(routine: Routine, x: f64, expected: f64) {
    let got = call(routine, x, 0.0);
    let tolerance = 1e-15 * expected.abs();
    assert!((got - expected).abs() <= tolerance, "{x:e}: expected {expected:e}, got {got:e}");
}

#[test]
fn the_exponential_is_right_to_1e_15() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for x in [0.0, -0.0, 1.0, -1.0, 1e-20, 0.34657359027997264, 707.99, -707.99] {
        check_relative(Routine::Exponential, x, x.exp());
    }
    for _ in 0..100_000 {
        let x = random.random_range(-708.0..708.0);
        check_relative(Routine::Exponential, x, x.exp());
        let x = random.random_range(-1.0..1.0);
        check_relative(Routine::Exponential, x, x.exp());
    }
    for x in [708.0, 1e4, 1e300, f64::INFINITY] {
        assert_eq!(call(Routine::Exponential, x, 0.0), f64::INFINITY);
        assert_eq!(call(Routine::Exponential, -x, 0.0).to_bits(), 0);
    }
}

#[test]
fn the_logarithm_is_right_to_1e_15() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    for x in [f64::MIN_POSITIVE, f64::MAX, 1.0, 2.0, 0.5, 1e-15, 1.0 - 1e-6] {
        check_relative(Routine::Logarithm, x, x.ln());
    }
    for power in 1..=52 {
        for x in [1.0 + 2.0f64.powi(-power), 1.0 - 2.0f64.powi(-power)] {
            check_relative(Routine::Logarithm, x, x.ln());
        }
    }
    for _ in 0..100_000 {
        let x = normal(&mut random, 1..2047).abs();
        check_relative(Routine::Logarithm, x, x.ln());
        let x = random.random_range(0.5..2.0);
        check_relative(Routine::Logarithm, x, x.ln());
    }
    for x in [0.0, -0.0, f64::from_bits(1)] {
        assert_eq!(call(Routine::Logarithm, x, 0.0), f64::NEG_INFINITY);
    }
    for x in [-1.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
        assert!(call(Routine::Logarithm, x, 0.0).is_nan(), "{x}");
    }
}

/// Copies the second of four doubles, and the third of four words, over the one after it.
struct Move;

impl Kernel for Move {
    type Output = ();
    fn shape(&self) -> Shape {
        Shape::new("move", 0)
    }
    #[inline(always)]
    fn run<S: Spu>(&self, spu: &mut S) {
        let base = spu.ila(0x108);
        let double = load(spu, base, -8);
        store(spu, double, base, 0);
        let word = load_word(spu, base, 16);
        store_word(spu, word, base, 20);
        let integer = spu.il(-7);
        let double = word_to_double(spu, integer);
        store(spu, double, base, 24);
    }
}

#[test]
fn scalars_go_from_and_to_any_place_in_a_quadword() {
    let mut store = LocalStore::new();
    store.store(LocalAddress(0x100), Quadword::from_doubles([1.5, 2.5]));
    store.store(LocalAddress(0x110), Quadword::from_words([1, 2, 3, 4]));
    store.store(LocalAddress(0x120), Quadword::from_doubles([8.0, 9.0]));
    execute(&Move, &mut store);
    assert_eq!(store.load(LocalAddress(0x100)).doubles(), [1.5, 1.5]);
    assert_eq!(store.load(LocalAddress(0x110)).words(), [1, 2, 3, 3]);
    assert_eq!(store.load(LocalAddress(0x120)).doubles(), [-7.0, 9.0]);
}

fn cycles(routine: Routine) -> u64 {
    let kernel = Call(routine, 0.3, 0.7);
    let timing = mmgp_cell::pipeline(&Machine::named("qs20").expect("it is built in"));
    time(&kernel, &mut LocalStore::new(), &timing, Compiler::NAIVE).1.cycles.0
}

#[test]
fn routines_take_at_least_their_chain_of_double_precision() {
    // The chain of a series is 13 cycles a step; a call and a return cost 18 cycles each.
    let [divide, exponential, logarithm] =
        [Routine::Divide, Routine::Exponential, Routine::Logarithm].map(cycles);
    println!(
        "divide {divide}, exponential {exponential}, logarithm {logarithm}, less {} cycles",
        cycles(Routine::Less)
    );
    assert!(divide > 7 * 13 + 36, "{divide}");
    assert!(exponential > 17 * 13 + 36, "{exponential}");
    assert!(logarithm > 21 * 13 + 36, "{logarithm}");
}
