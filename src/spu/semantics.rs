//! What each instruction computes, as a pure function of its operands.
//!
//! The functions of the table are generated under their mnemonics, so that everything that
//! executes an instruction executes this one definition. Doubles are the host's IEEE 754 doubles,
//! rounded to nearest even; the Cell BE takes denormal operands for zero, which is left out, so
//! the two agree where no operand is denormal.

use super::instruction::for_each_instruction;
use super::local_store::LocalAddress;
use super::register::Quadword;

macro_rules! as_functions {
    ($($(#[$doc:meta])+ $mnemonic:ident($($register:ident),* $(; $immediate:ident: $type:ty)?)
        $class:ident $destination:ident = $result:expr;)*) => {$(
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
fn words(ra: Quadword, f: impl Fn(u32) -> u32) -> Quadword {
    let a = ra.words();
    Quadword::from_words([f(a[0]), f(a[1]), f(a[2]), f(a[3])])
}

#[inline(always)]
fn words2(ra: Quadword, rb: Quadword, f: impl Fn(u32, u32) -> u32) -> Quadword {
    let (a, b) = (ra.words(), rb.words());
    Quadword::from_words([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
}

#[inline(always)]
fn doublewords2(ra: Quadword, rb: Quadword, f: impl Fn(u64, u64) -> u64) -> Quadword {
    Quadword([f(ra.0[0], rb.0[0]), f(ra.0[1], rb.0[1])])
}

#[inline(always)]
fn doubles2(ra: Quadword, rb: Quadword, f: impl Fn(f64, f64) -> f64) -> Quadword {
    let (a, b) = (ra.doubles(), rb.doubles());
    Quadword::from_doubles([f(a[0], b[0]), f(a[1], b[1])])
}

#[inline(always)]
fn doubles3(
    ra: Quadword,
    rb: Quadword,
    rc: Quadword,
    f: impl Fn(f64, f64, f64) -> f64,
) -> Quadword {
    let (a, b, c) = (ra.doubles(), rb.doubles(), rc.doubles());
    Quadword::from_doubles([f(a[0], b[0], c[0]), f(a[1], b[1], c[1])])
}

#[inline(always)]
fn select(ra: Quadword, rb: Quadword, rc: Quadword) -> Quadword {
    or_(andc(ra, rc), and_(rb, rc))
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

#[inline(always)]
const fn mask(condition: bool) -> u32 {
    (condition as u32).wrapping_neg()
}

/// Counts of shifts are taken modulo 64, and from 32 on nothing is left.
#[inline(always)]
fn shift_left(x: u32, count: u32) -> u32 {
    x.checked_shl(count & 63).unwrap_or(0)
}

#[inline(always)]
fn shift_right(x: u32, count: u32) -> u32 {
    x.checked_shr(count & 63).unwrap_or(0)
}

/// From 32 on only the sign is left, as with 31.
#[inline(always)]
fn shift_right_algebraic(x: u32, count: u32) -> u32 {
    ((x as i32) >> (count & 63).min(31)) as u32
}

#[inline(always)]
fn multiply_low(x: u32, y: u32) -> u32 {
    (i32::from(x as i16) * i32::from(y as i16)) as u32
}

/// The count of a rotation by bytes is taken modulo 16.
#[inline(always)]
fn rotate_bytes(ra: Quadword, count: u32) -> Quadword {
    from_whole(ra.whole().rotate_left(count % 16 * 8))
}

/// The count of a shift by bytes is taken modulo 32, and from 16 on nothing is left.
#[inline(always)]
fn shift_left_bytes(ra: Quadword, count: u32) -> Quadword {
    from_whole(ra.whole().checked_shl(count % 32 * 8).unwrap_or(0))
}

#[inline(always)]
fn shift_right_bytes(ra: Quadword, count: u32) -> Quadword {
    from_whole(ra.whole().checked_shr(count % 32 * 8).unwrap_or(0))
}

#[inline(always)]
const fn from_whole(whole: u128) -> Quadword {
    Quadword([(whole >> 64) as u64, whole as u64])
}

/// Controls that pick one whole doubleword.
const WHOLE_DOUBLEWORD: [u64; 4] =
    [0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F, 0x1011_1213_1415_1617, 0x1819_1A1B_1C1D_1E1F];

#[inline(always)]
fn shuffle(ra: Quadword, rb: Quadword, rc: Quadword) -> Quadword {
    Quadword([shuffle_half(ra, rb, rc.0[0]), shuffle_half(ra, rb, rc.0[1])])
}

#[inline(always)]
fn shuffle_half(ra: Quadword, rb: Quadword, control: u64) -> u64 {
    if control == WHOLE_DOUBLEWORD[0] {
        ra.0[0]
    } else if control == WHOLE_DOUBLEWORD[1] {
        ra.0[1]
    } else if control == WHOLE_DOUBLEWORD[2] {
        rb.0[0]
    } else if control == WHOLE_DOUBLEWORD[3] {
        rb.0[1]
    } else {
        // Controls of words are the commonest after those of doublewords, and with a control that
        // is known when the host compiles they come down to two shifts.
        match (picked_word(ra, rb, (control >> 32) as u32), picked_word(ra, rb, control as u32)) {
            (Some(high), Some(low)) => u64::from(high) << 32 | u64::from(low),
            _ => shuffle_bytes(ra, rb, control),
        }
    }
}

/// The word that four bytes of control pick, where they pick a whole word or zeros.
#[inline(always)]
fn picked_word(ra: Quadword, rb: Quadword, control: u32) -> Option<u32> {
    if control == 0x8080_8080 {
        return Some(0);
    }
    let first = control >> 24;
    let is_whole =
        first.is_multiple_of(4) && first < 32 && control == first * 0x0101_0101 + 0x0001_0203;
    let source = if first < 16 { ra } else { rb };
    if is_whole { Some(source.words()[first as usize % 16 / 4]) } else { None }
}

#[cold]
fn shuffle_bytes(ra: Quadword, rb: Quadword, control: u64) -> u64 {
    let (a, b) = (ra.bytes(), rb.bytes());
    u64::from_be_bytes(control.to_be_bytes().map(|pick| match pick {
        0x00..0x80 => {
            let index = usize::from(pick % 32);
            if index < 16 { a[index] } else { b[index - 16] }
        }
        0x80..0xC0 => 0x00,
        0xC0..0xE0 => 0xFF,
        0xE0.. => 0x80,
    }))
}

#[inline(always)]
fn select_mask_bytes(bits: u16) -> Quadword {
    let half =
        |bits: u8| (0..8).fold(0, |mask, i| mask | (u64::from(bits >> i & 1) * 0xFF) << (8 * i));
    Quadword([half((bits >> 8) as u8), half(bits as u8)])
}

#[inline(always)]
fn select_mask_words(bits: u32) -> Quadword {
    Quadword::from_words([8, 4, 2, 1].map(|bit| mask(bits & bit != 0)))
}

#[cfg(test)]
mod tests {
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
