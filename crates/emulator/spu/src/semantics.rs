//! What each instruction computes, as a pure function of its operands.
//!
//! The functions of the table are generated under their mnemonics, so that everything that
//! executes an instruction executes this one definition.

mod double;
mod estimate;
mod lanes;
mod single;

pub(super) use lanes::preferred_slot;

use crate::instruction::for_each_instruction;
use crate::local_store::LocalAddress;
use crate::register::Quadword;
use lanes::{
    byte_mask, bytes, bytes2, doubles2, doubles3, doublewords, doublewords2, from_whole,
    gather_bits, halfword_mask, halfwords, halfwords2, insertion, mask, rotate_bytes,
    select_mask_bytes, select_mask_halfwords, select_mask_words, shift_left, shift_left_bytes,
    shift_left_halfword, shift_right, shift_right_algebraic, shift_right_algebraic_halfword,
    shift_right_bytes, shift_right_halfword, shuffle, words, words2, words3,
};

macro_rules! as_functions {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident $([$processor:ident])? = $result:expr;)*) => {$(
        #[inline(always)]
        pub(super) fn $mnemonic($($register: Quadword,)* $($immediate: $type)?) -> Quadword {
            $result
        }
    )*};
}
for_each_instruction!(as_functions);

/// The address of a d-form access.
#[inline(always)]
pub(super) fn displaced(ra: Quadword, displacement: i32) -> LocalAddress {
    debug_assert!(displacement % 16 == 0 && (-8192..8192).contains(&displacement));
    LocalAddress(ra.preferred().wrapping_add_signed(displacement))
}

/// The address of an x-form access.
#[inline(always)]
pub(super) fn indexed(ra: Quadword, rb: Quadword) -> LocalAddress {
    LocalAddress(ra.preferred().wrapping_add(rb.preferred()))
}

#[inline(always)]
fn select(ra: Quadword, rb: Quadword, rc: Quadword) -> Quadword {
    or_(andc(ra, rc), and_(rb, rc))
}

#[inline(always)]
const fn splat_halfword(halfword: u16) -> Quadword {
    Quadword::splat((halfword as u32) << 16 | halfword as u32)
}

/// A 10-bit immediate, sign-extended to a word.
#[inline(always)]
fn signed10(immediate: i16) -> u32 {
    debug_assert!(
        (-512..512).contains(&immediate),
        "immediate {immediate} needs more than 10 bits"
    );
    immediate as i32 as u32
}

#[inline(always)]
fn unsigned<const BITS: u32>(immediate: u32) -> u32 {
    debug_assert!(immediate < 1 << BITS, "immediate {immediate} needs more than {BITS} bits");
    immediate
}

/// 1 where `x + y` plus the lowest bit of `carry` does not fit a word.
#[inline(always)]
fn carry_of_sum(x: u32, y: u32, carry: u32) -> u32 {
    ((u64::from(x) + u64::from(y) + u64::from(carry & 1)) >> 32) as u32
}

#[inline(always)]
fn sum_of_bytes(x: u32) -> u32 {
    x.to_be_bytes().into_iter().map(u32::from).sum()
}

#[inline(always)]
fn multiply_low(x: u32, y: u32) -> u32 {
    (i32::from(x as i16) * i32::from(y as i16)) as u32
}

// The conditions of branches, all by the preferred slot; a halfword is its lower half.

#[inline(always)]
pub(super) const fn brz(rt: Quadword) -> bool {
    rt.preferred() == 0
}

#[inline(always)]
pub(super) const fn brnz(rt: Quadword) -> bool {
    rt.preferred() != 0
}

#[inline(always)]
pub(super) const fn brhz(rt: Quadword) -> bool {
    rt.preferred() as u16 == 0
}

#[inline(always)]
pub(super) const fn brhnz(rt: Quadword) -> bool {
    rt.preferred() as u16 != 0
}

// The conditions of halts.

#[inline(always)]
pub(super) const fn heq(ra: Quadword, rb: Quadword) -> bool {
    ra.preferred() == rb.preferred()
}

#[inline(always)]
pub(super) fn heqi(ra: Quadword, i10: i16) -> bool {
    ra.preferred() == signed10(i10)
}

#[inline(always)]
pub(super) const fn hgt(ra: Quadword, rb: Quadword) -> bool {
    ra.preferred() as i32 > rb.preferred() as i32
}

#[inline(always)]
pub(super) fn hgti(ra: Quadword, i10: i16) -> bool {
    ra.preferred() as i32 > signed10(i10) as i32
}

#[inline(always)]
pub(super) const fn hlgt(ra: Quadword, rb: Quadword) -> bool {
    ra.preferred() > rb.preferred()
}

#[inline(always)]
pub(super) fn hlgti(ra: Quadword, i10: i16) -> bool {
    ra.preferred() > signed10(i10)
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
