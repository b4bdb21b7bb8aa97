//! The integer instructions against definitions written another way: element by element with wide
//! integers, division in place of shifts, and single bits in place of logic.

use super::*;
use crate::instruction::Immediate;
use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

const CASES: usize = 10_000;

/// A quadword of random bytes, of which a third are special.
fn operand(random: &mut Xoshiro256PlusPlus) -> Quadword {
    Quadword::from_bytes([0; 16].map(|_: u8| match random.random_range(0..12) {
        0 => 0,
        1 => 0xFF,
        2 => 0x80,
        3 => 0x7F,
        _ => random.random_range(0..=255) as u8,
    }))
}

/// An operand of which about half the words are those of `other`, so that elements meet their like.
fn similar(random: &mut Xoshiro256PlusPlus, other: Quadword) -> Quadword {
    let own = operand(random);
    selb(own, other, fsm(Quadword::splat(random.random())))
}

/// Elements of so many bits, the first leftmost.
fn elements(width: u32, quadword: Quadword) -> Vec<u64> {
    let digits = format!("{:0128b}", quadword.whole());
    let chunks = digits.as_bytes().chunks(width as usize);
    chunks.map(|bits| bits.iter().fold(0, |sum, bit| 2 * sum + u64::from(bit - b'0'))).collect()
}

fn quadword(width: u32, elements: impl Iterator<Item = u64>) -> Quadword {
    let place = |whole, element| (whole << (width - 1) << 1) + u128::from(element);
    from_whole(elements.fold(0, place))
}

fn signed(width: u32, element: u64) -> i64 {
    let element = element as i64;
    if element < 1 << (width - 1) { element } else { element - (1 << width) }
}

fn wrapped(width: u32, number: i64) -> u64 {
    number.rem_euclid(1 << width) as u64
}

fn all_ones(width: u32, condition: bool) -> u64 {
    if condition { (1 << width) - 1 } else { 0 }
}

fn check1(width: u32, got: fn(Quadword) -> Quadword, expected: fn(u64) -> u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for _ in 0..CASES {
        let a = operand(&mut random);
        let expected = quadword(width, elements(width, a).into_iter().map(expected));
        assert_eq!(got(a), expected, "{a:X?}");
    }
}

fn check2(width: u32, got: fn(Quadword, Quadword) -> Quadword, expected: fn(u64, u64) -> u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for _ in 0..CASES {
        let a = operand(&mut random);
        let b = similar(&mut random, a);
        let pairs = elements(width, a).into_iter().zip(elements(width, b));
        let expected = quadword(width, pairs.map(|(x, y)| expected(x, y)));
        assert_eq!(got(a, b), expected, "{a:X?} {b:X?}");
    }
}

fn check3(
    width: u32,
    got: fn(Quadword, Quadword, Quadword) -> Quadword,
    expected: fn(u64, u64, u64) -> u64,
) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    for _ in 0..CASES {
        let (a, c) = (operand(&mut random), operand(&mut random));
        let b = similar(&mut random, a);
        let triples = elements(width, a).into_iter().zip(elements(width, b));
        let triples = triples.zip(elements(width, c));
        let expected = quadword(width, triples.map(|((x, y), z)| expected(x, y, z)));
        assert_eq!(got(a, b, c), expected, "{a:X?} {b:X?} {c:X?}");
    }
}

fn check_immediate(
    width: u32,
    kind: Immediate,
    got: fn(Quadword, i32) -> Quadword,
    expected: fn(u64, i64) -> u64,
) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    for _ in 0..CASES {
        let (a, immediate) = (operand(&mut random), random.random_range(kind.range()));
        let elements = elements(width, a).into_iter();
        let expected = quadword(width, elements.map(|x| expected(x, i64::from(immediate))));
        assert_eq!(got(a, immediate), expected, "{a:X?} {immediate}");
    }
}

#[test]
fn sums_and_differences_wrap() {
    check2(16, ah, |x, y| (x + y) % 0x1_0000);
    check2(16, sfh, |x, y| wrapped(16, y as i64 - x as i64));
    check2(32, a, |x, y| (x + y) % 0x1_0000_0000);
    check2(32, sf, |x, y| wrapped(32, y as i64 - x as i64));
    let ten = Immediate::Signed10;
    check_immediate(16, ten, |q, i| ahi(q, i as i16), |x, i| wrapped(16, x as i64 + i));
    check_immediate(16, ten, |q, i| sfhi(q, i as i16), |x, i| wrapped(16, i - x as i64));
    check_immediate(32, ten, |q, i| ai(q, i as i16), |x, i| wrapped(32, x as i64 + i));
    check_immediate(32, ten, |q, i| sfi(q, i as i16), |x, i| wrapped(32, i - x as i64));
}

#[test]
fn carries_and_borrows_are_those_of_wide_sums() {
    check3(32, addx, |x, y, z| (x + y + z % 2) % 0x1_0000_0000);
    check2(32, cg, |x, y| (x + y) / 0x1_0000_0000);
    check3(32, cgx, |x, y, z| (x + y + z % 2) / 0x1_0000_0000);
    check3(32, sfx, |x, y, z| wrapped(32, y as i64 - x as i64 - (1 - z as i64 % 2)));
    check2(32, bg, |x, y| u64::from(y >= x));
    check3(32, bgx, |x, y, z| u64::from(if z % 2 == 1 { y >= x } else { y > x }));
}

#[test]
fn bytes_and_bits_are_counted_and_extended() {
    check1(32, clz, |x| (0..32).take_while(|i| x < 1 << (31 - i)).count() as u64);
    check1(8, cntb, |x| (0..8).map(|i| x / (1 << i) % 2).sum());
    check2(8, avgb, |x, y| ((x + y) as f64 / 2.0).round() as u64);
    check2(8, absdb, |x, y| x.max(y) - x.min(y));
    check2(32, sumb, |x, y| {
        let sum = |x: u64| x % 256 + x / 256 % 256 + x / 65536 % 256 + x / 0x100_0000;
        sum(y) * 65536 + sum(x)
    });
    check1(16, xsbh, |x| wrapped(16, signed(8, x % 256)));
    check1(32, xshw, |x| wrapped(32, signed(16, x % 0x1_0000)));
    check1(64, xswd, |x| {
        let low = x % 0x1_0000_0000;
        if low < 0x8000_0000 { low } else { low + 0xFFFF_FFFF_0000_0000 }
    });
}

#[test]
fn products_are_those_of_wide_integers() {
    fn low(x: u64) -> i64 {
        signed(16, x % 0x1_0000)
    }
    fn high(x: u64) -> i64 {
        signed(16, x / 0x1_0000)
    }
    check2(32, mpy, |x, y| wrapped(32, low(x) * low(y)));
    check2(32, mpyu, |x, y| (x % 0x1_0000) * (y % 0x1_0000));
    check3(32, mpya, |x, y, z| wrapped(32, low(x) * low(y) + z as i64));
    check2(32, mpyh, |x, y| wrapped(32, high(x) * (y as i64 % 0x1_0000) * 0x1_0000));
    check2(32, mpys, |x, y| wrapped(32, (low(x) * low(y)).div_euclid(0x1_0000)));
    check2(32, mpyhh, |x, y| wrapped(32, high(x) * high(y)));
    check3(32, mpyhha, |x, y, z| wrapped(32, high(x) * high(y) + z as i64));
    check2(32, mpyhhu, |x, y| (x / 0x1_0000) * (y / 0x1_0000));
    check3(32, mpyhhau, |x, y, z| ((x / 0x1_0000) * (y / 0x1_0000) + z) % 0x1_0000_0000);
    let ten = Immediate::Signed10;
    check_immediate(32, ten, |q, i| mpyi(q, i as i16), |x, i| wrapped(32, low(x) * i));
    check_immediate(32, ten, |q, i| mpyui(q, i as i16), |x, i| (x % 0x1_0000) * wrapped(16, i));
}

#[test]
fn logic_is_that_of_single_bits() {
    check2(1, and_, |x, y| x * y);
    check2(1, andc, |x, y| x * (1 - y));
    check2(1, or_, |x, y| x.max(y));
    check2(1, orc, |x, y| x.max(1 - y));
    check2(1, xor, |x, y| (x + y) % 2);
    check2(1, nand, |x, y| 1 - x * y);
    check2(1, nor, |x, y| (1 - x) * (1 - y));
    check2(1, eqv, |x, y| (x + y + 1) % 2);
    check3(1, selb, |x, y, z| if z == 1 { y } else { x });
}

#[test]
fn logic_with_immediates_is_logic_with_their_elements() {
    let (ten, byte) = (Immediate::Signed10, Immediate::Byte);
    check_immediate(8, byte, |q, i| andbi(q, i as u8), |x, i| x & wrapped(8, i));
    check_immediate(8, byte, |q, i| orbi(q, i as u8), |x, i| x | wrapped(8, i));
    check_immediate(8, byte, |q, i| xorbi(q, i as u8), |x, i| x ^ wrapped(8, i));
    check_immediate(16, ten, |q, i| andhi(q, i as i16), |x, i| x & wrapped(16, i));
    check_immediate(16, ten, |q, i| orhi(q, i as i16), |x, i| x | wrapped(16, i));
    check_immediate(16, ten, |q, i| xorhi(q, i as i16), |x, i| x ^ wrapped(16, i));
    check_immediate(32, ten, |q, i| andi(q, i as i16), |x, i| x & wrapped(32, i));
    check_immediate(32, ten, |q, i| ori(q, i as i16), |x, i| x | wrapped(32, i));
    check_immediate(32, ten, |q, i| xori(q, i as i16), |x, i| x ^ wrapped(32, i));
}

#[test]
fn compares_of_elements_agree_with_those_of_wide_integers() {
    check2(8, ceqb, |x, y| all_ones(8, x == y));
    check2(16, ceqh, |x, y| all_ones(16, x == y));
    check2(32, ceq, |x, y| all_ones(32, x == y));
    check2(8, cgtb, |x, y| all_ones(8, signed(8, x) > signed(8, y)));
    check2(16, cgth, |x, y| all_ones(16, signed(16, x) > signed(16, y)));
    check2(32, cgt, |x, y| all_ones(32, signed(32, x) > signed(32, y)));
    check2(8, clgtb, |x, y| all_ones(8, x > y));
    check2(16, clgth, |x, y| all_ones(16, x > y));
    check2(32, clgt, |x, y| all_ones(32, x > y));
}

#[test]
fn compares_with_immediates_extend_their_signs() {
    let (ten, byte) = (Immediate::Signed10, Immediate::Byte);
    let check = check_immediate;
    check(8, byte, |q, i| ceqbi(q, i as u8), |x, i| all_ones(8, x == wrapped(8, i)));
    check(16, ten, |q, i| ceqhi(q, i as i16), |x, i| all_ones(16, signed(16, x) == i));
    check(32, ten, |q, i| ceqi(q, i as i16), |x, i| all_ones(32, signed(32, x) == i));
    check(
        8,
        byte,
        |q, i| cgtbi(q, i as u8),
        |x, i| all_ones(8, signed(8, x) > signed(8, wrapped(8, i))),
    );
    check(16, ten, |q, i| cgthi(q, i as i16), |x, i| all_ones(16, signed(16, x) > i));
    check(32, ten, |q, i| cgti(q, i as i16), |x, i| all_ones(32, signed(32, x) > i));
    check(8, byte, |q, i| clgtbi(q, i as u8), |x, i| all_ones(8, x > wrapped(8, i)));
    check(16, ten, |q, i| clgthi(q, i as i16), |x, i| all_ones(16, x > wrapped(16, i)));
    check(32, ten, |q, i| clgti(q, i as i16), |x, i| all_ones(32, x > wrapped(32, i)));
}

/// `x * 2^count`, what does not fit lost.
fn left(width: u32, x: u64, count: i64) -> u64 {
    let shifted = u128::from(x) << count;
    (shifted % (1 << width)) as u64
}

fn right(x: u64, count: i64) -> u64 {
    (u128::from(x) / (1 << count)) as u64
}

fn right_algebraic(width: u32, x: u64, count: i64) -> u64 {
    let shifted = i128::from(signed(width, x)).div_euclid(1 << count);
    wrapped(width, shifted as i64)
}

fn rotated(width: u32, x: u64, count: i64) -> u64 {
    let shifted = u128::from(x) << count;
    (shifted % (1 << width) + shifted / (1 << width)) as u64
}

#[test]
fn shifts_are_products_and_quotients() {
    check2(16, shlh, |x, y| left(16, x, y as i64 % 32));
    check2(32, shl, |x, y| left(32, x, y as i64 % 64));
    check2(16, roth, |x, y| rotated(16, x, y as i64 % 16));
    check2(32, rot, |x, y| rotated(32, x, y as i64 % 32));
    check2(16, rothm, |x, y| right(x, (-(y as i64)).rem_euclid(32)));
    check2(32, rotm, |x, y| right(x, (-(y as i64)).rem_euclid(64)));
    check2(16, rotmah, |x, y| right_algebraic(16, x, (-(y as i64)).rem_euclid(32)));
    check2(32, rotma, |x, y| right_algebraic(32, x, (-(y as i64)).rem_euclid(64)));
}

#[test]
fn shifts_by_immediates_count_the_same() {
    let (count, check) = (Immediate::Count, check_immediate);
    check(16, count, |q, i| shlhi(q, i as i16), |x, i| left(16, x, i.rem_euclid(32)));
    check(32, count, |q, i| shli(q, i as i16), |x, i| left(32, x, i.rem_euclid(64)));
    check(16, count, |q, i| rothi(q, i as i16), |x, i| rotated(16, x, i.rem_euclid(16)));
    check(32, count, |q, i| roti(q, i as i16), |x, i| rotated(32, x, i.rem_euclid(32)));
    check(16, count, |q, i| rothmi(q, i as i16), |x, i| right(x, (-i).rem_euclid(32)));
    check(32, count, |q, i| rotmi(q, i as i16), |x, i| right(x, (-i).rem_euclid(64)));
    check(
        16,
        count,
        |q, i| rotmahi(q, i as i16),
        |x, i| right_algebraic(16, x, (-i).rem_euclid(32)),
    );
    check(
        32,
        count,
        |q, i| rotmai(q, i as i16),
        |x, i| right_algebraic(32, x, (-i).rem_euclid(64)),
    );
}

/// The 128 bits, moved: bit `i` of the result is bit `from(i)` where there is one, else 0.
fn moved(quadword: Quadword, from: impl Fn(i64) -> i64) -> Quadword {
    let bits = elements(1, quadword);
    let bit = |i: i64| usize::try_from(from(i)).ok().and_then(|i| bits.get(i)).copied();
    self::quadword(1, (0..128).map(|i| bit(i).unwrap_or(0)))
}

fn check_moved(got: fn(Quadword, Quadword) -> Quadword, from: fn(i64, i64) -> i64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for _ in 0..CASES / 10 {
        let (a, b) = (operand(&mut random), operand(&mut random));
        let count = i64::from(b.preferred());
        assert_eq!(got(a, b), moved(a, |i| from(i, count)), "{a:X?} {count}");
    }
}

#[test]
fn quadwords_move_bit_by_bit() {
    check_moved(shlqbi, |i, count| i + count % 8);
    check_moved(shlqby, |i, count| i + count % 32 * 8);
    check_moved(shlqbybi, |i, count| i + count / 8 % 32 * 8);
    check_moved(rotqbi, |i, count| (i + count % 8) % 128);
    check_moved(rotqby, |i, count| (i + count % 16 * 8) % 128);
    check_moved(rotqbybi, |i, count| (i + count / 8 % 16 * 8) % 128);
    check_moved(rotqmbi, |i, count| i - (-count).rem_euclid(8));
    check_moved(rotqmby, |i, count| i - (-count).rem_euclid(32) * 8);
    check_moved(rotqmbybi, |i, count| i - (-(count / 8)).rem_euclid(32) * 8);
}

#[test]
fn quadwords_move_by_immediates_as_by_registers() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
    for count in Immediate::Count.range().map(|count| count as i16) {
        let (a, b) = (operand(&mut random), il(count));
        assert_eq!(shlqbii(a, count), shlqbi(a, b));
        assert_eq!(shlqbyi(a, count), shlqby(a, b));
        assert_eq!(rotqbii(a, count), rotqbi(a, b));
        assert_eq!(rotqbyi(a, count), rotqby(a, b));
        assert_eq!(rotqmbii(a, count), rotqmbi(a, b));
        assert_eq!(rotqmbyi(a, count), rotqmby(a, b));
    }
}

#[test]
fn a_shuffle_picks_each_byte_by_its_control() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for _ in 0..CASES {
        let [a, b, c] = [0; 3].map(|_: u32| operand(&mut random));
        let sources = [a.bytes(), b.bytes()].concat();
        let expected = c.bytes().map(|control| match format!("{control:08b}").as_str() {
            digits if digits.starts_with("10") => 0,
            digits if digits.starts_with("110") => 0xFF,
            digits if digits.starts_with("111") => 0x80,
            _ => sources[usize::from(control) % 32],
        });
        assert_eq!(shufb(a, b, c).bytes(), expected);
    }
}

#[test]
fn masks_and_gathered_bits_are_inverse() {
    for bits in 0..=u16::MAX {
        let word = preferred_slot(u32::from(bits));
        assert_eq!(fsmb(word), fsmbi(bits));
        assert_eq!(gbb(fsmbi(bits)), word);
        assert_eq!(gbh(fsmh(word)), preferred_slot(u32::from(bits % 256)));
        assert_eq!(gb(fsm(word)), preferred_slot(u32::from(bits % 16)));
    }
    check1(8, |x| fsmb(gbb(x)), |x| all_ones(8, x % 2 == 1));
    check1(16, |x| fsmh(gbh(x)), |x| all_ones(16, x % 2 == 1));
    check1(32, |x| fsm(gb(x)), |x| all_ones(32, x % 2 == 1));
}
