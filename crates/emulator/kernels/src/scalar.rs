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

mod compare;
mod divide;
mod exponential;
mod logarithm;
mod vector;

pub use compare::{less, magnitude};
pub use divide::divide;
pub use exponential::exponential;
pub use logarithm::logarithm;
pub use vector::{
    all_below_threshold, entrywise_product, load_vector, matrix_times_vector, scale_up,
    store_vector,
};

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

/// Where the routines return to: somewhere behind the call.
const RETURN_ADDRESS: LocalAddress = LocalAddress(0x80);

#[cfg(test)]
mod tests;
