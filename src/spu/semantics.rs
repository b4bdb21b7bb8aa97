//! What each instruction computes, as a pure function of its operands.
//!
//! The functions of the table are generated under their mnemonics, so that everything that
//! executes an instruction executes this one definition.

pub(super) mod condition;
mod double;
mod estimate;
mod lanes;
mod shift;
mod single;

use super::instruction::for_each_instruction;
use super::local_store::LocalAddress;
use super::register::Quadword;
use lanes::{
    byte_mask, bytes, bytes2, doubles2, doubles3, doublewords, doublewords2, from_whole,
    halfword_mask, halfwords, halfwords2, mask, words, words2, words3,
};
use shift::{
    gather_bits, insertion, rotate_bytes, select_mask_bytes, select_mask_halfwords,
    select_mask_words, shift_left, shift_left_bytes, shift_left_halfword, shift_right,
    shift_right_algebraic, shift_right_algebraic_halfword, shift_right_bytes, shift_right_halfword,
    shuffle,
};

pub(super) use lanes::preferred_slot;

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

#[cfg(test)]
mod tests {
    use super::shift::shuffle_bytes;
    use super::*;

    fn check(got: Quadword, expected: [u32; 4]) {
        let hex = |words: [u32; 4]| words.map(|word| format!("{word:08X}"));
        assert_eq!(hex(got.words()), hex(expected));
    }

    const BYTES: Quadword =
        Quadword::from_words([0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F]);

    fn quad(words: [u32; 4]) -> Quadword {
        Quadword::from_words(words)
    }

    #[test]
    fn immediates_fill_every_word_as_the_assembler_says() {
        check(il(-2), [0xFFFF_FFFE; 4]);
        check(ila(0x3FFF0), [0x3FFF0; 4]);
        check(iohl(ilhu(0x1234), 0x5678), [0x1234_5678; 4]);
        check(fsmbi(0b1000_0000_0000_0011), [0xFF00_0000, 0, 0, 0xFFFF]);
        check(fsm(Quadword::splat(0b1010)), [u32::MAX, 0, u32::MAX, 0]);
    }

    #[test]
    fn word_arithmetic_wraps_and_subtracts_the_first_operand_from_the_second() {
        let x = quad([1, u32::MAX, 0x8000_0000, 7]);
        check(a(x, Quadword::splat(1)), [2, 0, 0x8000_0001, 8]);
        check(ai(x, -1), [0, 0xFFFF_FFFE, 0x7FFF_FFFF, 6]);
        check(sf(x, Quadword::splat(8)), [7, 9, 0x8000_0008, 1]);
        check(sfi(x, 0), [u32::MAX, 1, 0x8000_0000, u32::MAX - 6]);
    }

    #[test]
    fn logic_works_bit_by_bit() {
        let (x, y) = (Quadword::splat(0b1100), Quadword::splat(0b1010));
        check(and_(x, y), [0b1000; 4]);
        check(andc(x, y), [0b0100; 4]);
        check(or_(x, y), [0b1110; 4]);
        check(orc(x, y), [!0b0010; 4]);
        check(xor(x, y), [0b0110; 4]);
        check(nand(x, y), [!0b1000; 4]);
        check(nor(x, y), [!0b1110; 4]);
        check(andi(x, -8), [0b1000; 4]);
        check(ori(x, 1), [0b1101; 4]);
        check(selb(x, y, Quadword::splat(0b0110)), [0b1010; 4]);
    }

    #[test]
    fn compares_know_their_signs() {
        let x = quad([0, 5, u32::MAX, 0x8000_0000]);
        check(ceq(x, quad([0, 6, u32::MAX, 0])), [u32::MAX, 0, u32::MAX, 0]);
        check(ceqi(x, -1), [0, 0, u32::MAX, 0]);
        check(cgt(x, Quadword::ZERO), [0, u32::MAX, 0, 0]);
        check(cgti(x, -2), [u32::MAX, u32::MAX, u32::MAX, 0]);
        check(clgt(x, Quadword::ZERO), [0, u32::MAX, u32::MAX, u32::MAX]);
        check(clgti(x, 5), [0, 0, u32::MAX, u32::MAX]);
    }

    #[test]
    fn shifts_lose_everything_from_32_on_and_count_modulo_64() {
        let x = Quadword::splat(0x8000_0001);
        check(shli(x, 4), [0x10; 4]);
        check(shl(x, quad([0, 1, 32, 64])), [0x8000_0001, 2, 0, 0x8000_0001]);
        check(roti(x, 1), [3; 4]);
        check(rotmi(x, -31), [1; 4]);
        check(rotmi(x, -32), [0; 4]);
        check(rotm(x, il(-4)), [0x0800_0000; 4]);
        check(rotmai(x, -4), [0xF800_0000; 4]);
        check(rotmai(x, -40), [u32::MAX; 4]);
    }

    #[test]
    fn a_32_bit_product_is_made_of_three_halves() {
        let (x, y) = (Quadword::splat(0x0001_FFFE), Quadword::splat(0x0003_0005));
        let product = a(a(mpyh(x, y), mpyh(y, x)), mpyu(x, y));
        check(product, [0x0001_FFFEu32.wrapping_mul(0x0003_0005); 4]);
        // As signed halves -2 times 5.
        check(mpy(x, y), [-10i32 as u32; 4]);
        check(mpya(x, y, Quadword::splat(11)), [1; 4]);
    }

    #[test]
    fn doubles_are_combined_lane_by_lane_with_the_signs_of_the_manual() {
        let x = Quadword::from_doubles([2.0, -3.0]);
        let y = Quadword::from_doubles([5.0, 7.0]);
        let z = Quadword::from_doubles([1.0, 100.0]);
        for (got, expected) in [
            (dfa(x, y), [7.0, 4.0]),
            (dfs(x, y), [-3.0, -10.0]),
            (dfm(x, y), [10.0, -21.0]),
            (dfma(x, y, z), [11.0, 79.0]),
            (dfms(x, y, z), [9.0, -121.0]),
            (dfnms(x, y, z), [-9.0, 121.0]),
            (dfnma(x, y, z), [-11.0, -79.0]),
        ] {
            assert_eq!(got.doubles(), expected);
        }
    }

    #[test]
    fn a_multiply_and_add_rounds_once() {
        // (1 + e)^2 - 1 - 2e = e^2, which two roundings would lose.
        let e = f64::EPSILON;
        let x = Quadword::from_doubles([1.0 + e; 2]);
        let got = dfms(x, x, Quadword::from_doubles([1.0 + 2.0 * e; 2]));
        assert_eq!(got.doubles(), [e * e; 2]);
    }

    #[test]
    fn quadwords_shift_and_rotate_by_bytes() {
        check(rotqbyi(BYTES, 4), [0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F, 0x0001_0203]);
        check(rotqby(BYTES, Quadword::splat(17)), rotqbyi(BYTES, 1).words());
        check(shlqbyi(BYTES, 12), [0x0C0D_0E0F, 0, 0, 0]);
        check(shlqby(BYTES, Quadword::splat(16)), [0; 4]);
        check(rotqmbyi(BYTES, -12), [0, 0, 0, 0x0001_0203]);
    }

    #[test]
    fn a_shuffle_picks_bytes_words_and_doublewords_alike() {
        let other = nor(BYTES, BYTES);
        let control = quad([0x1800_1F0F, 0x80C0_E07F, 0x1415_1617, 0x8080_8080]);
        check(shufb(BYTES, other, control), [0xF700_F00F, 0x00FF_80F0, 0xFBFA_F9F8, 0]);
        // Whole words and doublewords take a shorter way, which must not differ.
        for words in [[0x0405_0607, 0x1011_1213, 0x1819_1A1B, 0x1C1D_1E1F], BYTES.words()] {
            let slow = quad(words).0.map(|control| shuffle_bytes(BYTES, other, control));
            assert_eq!(shufb(BYTES, other, quad(words)), Quadword(slow));
        }
    }
}
