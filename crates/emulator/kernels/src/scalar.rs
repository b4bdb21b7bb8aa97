//! Scalar double precision, as a compiler makes it of a program that knows nothing of the SPU.
//!
//! The SPU moves whole aligned quadwords and computes on both halves of a register. A scalar lives
//! in doubleword 0 (a word in the preferred slot), and what stands beside it is computed along and
//! means nothing. So a load is a quadword and a rotation that brings the scalar there, and a store
//! is a quadword loaded, the scalar shuffled into it, and the quadword stored. Where a program
//! reaches its data through pointers, the rotation takes its count from the address; a scalar in an
//! odd half costs an addition more, as the displacements of loads are multiples of 16.
//!
//! The Cell BE compares and divides no doubles: a compiler expands a [comparison](less) in-line and
//! calls library routines for [`divide`], [`exponential`] and [`logarithm`]. Calls and returns are
//! branches, which nobody hints. Left out: what a routine saves on the stack, because these call no
//! others and the registers suffice.

mod functions;
#[cfg(test)]
mod tests;

pub use functions::{divide, exponential, logarithm};

use mmgp_spu::{LocalAddress, Quadword, Spu};

/// Loads the double at `base + displacement`, a multiple of 8.
#[inline(always)]
pub fn load<S: Spu>(spu: &mut S, base: S::Register, displacement: i32) -> S::Register {
    let (address, aligned) = address(spu, base, displacement);
    let quadword = spu.lqd(aligned, address);
    spu.rotqby(quadword, address)
}

/// Loads the word at `base + displacement`, a multiple of 4.
#[inline(always)]
pub fn load_word<S: Spu>(spu: &mut S, base: S::Register, displacement: i32) -> S::Register {
    load(spu, base, displacement)
}

/// Loads the unsigned byte at `address` as a word: rotated to the low end of the preferred slot, and
/// what stands beside it cleared.
#[inline(always)]
pub fn load_byte<S: Spu>(spu: &mut S, address: S::Register) -> S::Register {
    let quadword = spu.lqd(0, address);
    // The low end is byte 3, so the rotation is by 3 less than the address, modulo 16.
    let count = spu.ai(address, 13);
    let byte = spu.rotqby(quadword, count);
    spu.andi(byte, 0xFF)
}

/// Stores a double at `base + displacement`, a multiple of 8.
#[inline(always)]
pub fn store<S: Spu>(spu: &mut S, value: S::Register, base: S::Register, displacement: i32) {
    let (address, aligned) = address(spu, base, displacement);
    let quadword = spu.lqd(aligned, address);
    let control = spu.cdd(address, 0);
    let quadword = spu.shufb(value, quadword, control);
    spu.stqd(quadword, aligned, address);
}

/// Stores a word at `base + displacement`, a multiple of 4.
#[inline(always)]
pub fn store_word<S: Spu>(spu: &mut S, value: S::Register, base: S::Register, displacement: i32) {
    let (address, aligned) = address(spu, base, displacement);
    let quadword = spu.lqd(aligned, address);
    let control = spu.cwd(address, 0);
    let quadword = spu.shufb(value, quadword, control);
    spu.stqd(quadword, aligned, address);
}

/// An address register and a displacement that a load can have.
#[inline(always)]
fn address<S: Spu>(spu: &mut S, base: S::Register, displacement: i32) -> (S::Register, i32) {
    let rest = displacement.rem_euclid(16);
    if rest == 0 {
        return (base, displacement);
    }
    (spu.ai(base, rest as i16), displacement - rest)
}

/// A double from the constants that the compiler put beside the code.
#[inline(always)]
pub fn constant<S: Spu>(spu: &mut S, value: f64) -> S::Register {
    spu.lqr(Quadword::from_doubles([value, value]))
}

/// Copies a register, for an instruction that overwrites it.
#[inline(always)]
pub fn copy<S: Spu>(spu: &mut S, register: S::Register) -> S::Register {
    spu.ori(register, 0)
}

/// The signed word in the preferred slot as a double: as the low word of 2^52 + 2^31 + word, less
/// 2^52 + 2^31.
#[inline(always)]
pub fn word_to_double<S: Spu>(spu: &mut S, word: S::Register) -> S::Register {
    let sign = spu.ilhu(0x8000);
    let word = spu.xor(word, sign);
    let offset = constant(spu, 4_503_601_774_854_144.0);
    let join = spu.lqr(Quadword([0x0001_0203_1011_1213; 2]));
    let sum = spu.shufb(offset, word, join);
    spu.dfs(sum, offset)
}

/// The address that the routines return to: somewhere behind the call.
const RETURN_ADDRESS: LocalAddress = LocalAddress(0x80);

/// All bits but the signs.
const MAGNITUDE: Quadword = Quadword([0x7FFF_FFFF_FFFF_FFFF; 2]);

/// Infinity: everything of a greater magnitude is not a number.
const INFINITY: Quadword = Quadword([0x7FF0_0000_0000_0000; 2]);

/// Word 0 in words 0 and 1.
const SPREAD_HIGH: Quadword = Quadword([0x0001_0203_0001_0203; 2]);

/// Word 1 in word 0, where what it says of a carry counts; ones in word 1, which has none coming.
const CARRY: Quadword = Quadword([0x0405_0607_C0C0_C0C0; 2]);

/// The magnitude of a double.
#[inline(always)]
pub fn magnitude<S: Spu>(spu: &mut S, x: S::Register) -> S::Register {
    let mask = spu.lqr(MAGNITUDE);
    spu.and_(x, mask)
}

/// All ones in the preferred slot where `x < y`, zeros elsewhere and where one is not a number.
#[inline(always)]
pub fn less<S: Spu>(spu: &mut S, x: S::Register, y: S::Register) -> S::Register {
    let (x, x_is_nan) = as_integer(spu, x);
    let (y, y_is_nan) = as_integer(spu, y);
    let high = spu.cgt(y, x);
    let equal = spu.ceq(y, x);
    let low = spu.clgt(y, x);
    let low = spu.shlqbyi(low, 4);
    let low = spu.and_(equal, low);
    let less = spu.or_(high, low);
    let less = spu.andc(less, x_is_nan);
    spu.andc(less, y_is_nan)
}

/// The double as a doubleword that is ordered as a signed integer, and in the preferred slot whether
/// it is not a number.
#[inline(always)]
fn as_integer<S: Spu>(spu: &mut S, x: S::Register) -> (S::Register, S::Register) {
    let magnitude = magnitude(spu, x);
    let infinity = spu.lqr(INFINITY);
    let above = spu.clgt(magnitude, infinity);
    let equal = spu.ceq(magnitude, infinity);
    let low = spu.shlqbyi(above, 4);
    let low = spu.and_(equal, low);
    let is_nan = spu.or_(above, low);

    // 0 - magnitude over both words.
    let zero = spu.il(0);
    let borrow = spu.bg(magnitude, zero);
    let carry = spu.lqr(CARRY);
    let borrow = spu.shufb(borrow, borrow, carry);
    let negative = spu.sfx(magnitude, zero, borrow);
    let sign = spu.rotmai(x, -31);
    let spread = spu.lqr(SPREAD_HIGH);
    let sign = spu.shufb(sign, sign, spread);
    (spu.selb(magnitude, negative, sign), is_nan)
}

/// 2^-256, below which likelihoods are scaled.
const THRESHOLD: f64 = f64::from_bits((1023 - 256) << 52);

/// 2^256, by which they are.
const FACTOR: f64 = f64::from_bits((1023 + 256) << 52);

/// Four doubles from `base` on.
#[inline(always)]
pub fn load_vector<S: Spu>(spu: &mut S, base: S::Register) -> [S::Register; 4] {
    [load(spu, base, 0), load(spu, base, 8), load(spu, base, 16), load(spu, base, 24)]
}

/// Stores four doubles from `base` on.
#[inline(always)]
pub fn store_vector<S: Spu>(spu: &mut S, vector: [S::Register; 4], base: S::Register) {
    store(spu, vector[0], base, 0);
    store(spu, vector[1], base, 8);
    store(spu, vector[2], base, 16);
    store(spu, vector[3], base, 24);
}

/// `sum over k of M_kj x_k` for j = 0..3 from a matrix of 16 doubles `[k][j]` at `matrix`, whose
/// entries are loaded as they are needed: ((M_0j x_0 + M_1j x_1) + M_2j x_2) + M_3j x_3, each +
/// rounded once with its product.
#[inline(always)]
pub fn matrix_times_vector<S: Spu>(
    spu: &mut S,
    matrix: S::Register,
    x: [S::Register; 4],
) -> [S::Register; 4] {
    [
        entry(spu, matrix, x, 0),
        entry(spu, matrix, x, 8),
        entry(spu, matrix, x, 16),
        entry(spu, matrix, x, 24),
    ]
}

#[inline(always)]
fn entry<S: Spu>(
    spu: &mut S,
    matrix: S::Register,
    x: [S::Register; 4],
    column: i32,
) -> S::Register {
    let m = load(spu, matrix, column);
    let sum = spu.dfm(m, x[0]);
    let m = load(spu, matrix, column + 32);
    let sum = spu.dfma(m, x[1], sum);
    let m = load(spu, matrix, column + 64);
    let sum = spu.dfma(m, x[2], sum);
    let m = load(spu, matrix, column + 96);
    spu.dfma(m, x[3], sum)
}

/// The products of two vectors, entry by entry.
#[inline(always)]
pub fn entrywise_product<S: Spu>(
    spu: &mut S,
    x: [S::Register; 4],
    y: [S::Register; 4],
) -> [S::Register; 4] {
    [spu.dfm(x[0], y[0]), spu.dfm(x[1], y[1]), spu.dfm(x[2], y[2]), spu.dfm(x[3], y[3])]
}

/// Whether all of `count` doubles from `vector` on are below 2^-256 in magnitude: a loop over them
/// that ends with the first that is not.
#[inline(always)]
pub fn all_below_threshold<S: Spu>(spu: &mut S, vector: S::Register, count: u32) -> bool {
    let mut left = spu.ila(count);
    let mut at = copy(spu, vector);
    loop {
        spu.label();
        let x = load(spu, at, 0);
        let x = magnitude(spu, x);
        let threshold = constant(spu, THRESHOLD);
        let below = less(spu, x, threshold);
        if spu.brz(below) {
            return false;
        }
        at = spu.ai(at, 8);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return true;
        }
    }
}

/// Multiplies `count` doubles from `vector` on by 2^256.
#[inline(always)]
pub fn scale_up<S: Spu>(spu: &mut S, vector: S::Register, count: u32) {
    let mut left = spu.ila(count);
    let mut at = copy(spu, vector);
    loop {
        spu.label();
        let x = load(spu, at, 0);
        let factor = constant(spu, FACTOR);
        let x = spu.dfm(x, factor);
        store(spu, x, at, 0);
        at = spu.ai(at, 8);
        left = spu.ai(left, -1);
        if !spu.brnz(left) {
            return;
        }
    }
}
