//! Examples by hand, from the definitions of the instructions.

use super::*;
use crate::semantics::lanes::shuffle_bytes;

fn check(got: Quadword, expected: [u32; 4]) {
    let hex = |words: [u32; 4]| words.map(|word| format!("{word:08X}"));
    assert_eq!(hex(got.words()), hex(expected));
}

const BYTES: Quadword = Quadword::from_words([0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F]);

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

#[test]
fn bytes_are_averaged_compared_and_summed() {
    let x = quad([0x00FF_0102, 0x7F80_FFFE, 0xFFFF_FFFF, 0]);
    let y = quad([0x0000_0205, 0x8000_FFFF, 0x0101_0101, 0x0000_0001]);
    // (0 + 0 + 1) / 2, (255 + 1) / 2, (1 + 2 + 1) / 2, (2 + 5 + 1) / 2 ...
    check(avgb(x, y), [0x0080_0204, 0x8040_FFFF, 0x8080_8080, 0x0000_0001]);
    check(absdb(x, y), [0x00FF_0103, 0x0180_0001, 0xFEFE_FEFE, 0x0000_0001]);
    // 0 + 255 + 1 + 2 = 258 = 0x102, of the second operand 7; 4 * 255 = 0x3FC.
    check(sumb(x, y), [0x0007_0102, 0x027E_02FC, 0x0004_03FC, 0x0001_0000]);
    check(cntb(x), [0x0008_0101, 0x0701_0807, 0x0808_0808, 0]);
    check(clz(x), [8, 1, 0, 32]);
}

#[test]
fn a_chain_of_carries_adds_and_subtracts_128_bits() {
    let operands = [
        (u128::MAX, 1),
        (5, 5),
        (0x0000_0001_FFFF_FFFF_FFFF_FFFF_FFFF_FFFF, 0x0000_0001_0000_0000_0000_0000_0000_0001),
        (0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210, 0xFFFF_FFFF_0000_0000_FFFF_FFFF_8000_0000),
    ];
    for (x, y) in operands {
        let (qx, qy) = (from_whole(x), from_whole(y));
        let mut carry = shlqbyi(cg(qx, qy), 4);
        for _ in 0..2 {
            carry = shlqbyi(cgx(qx, qy, carry), 4);
        }
        assert_eq!(addx(qx, qy, carry).whole(), x.wrapping_add(y));
        // Nothing borrows from the rightmost word, so a 1 comes in there.
        let from_right = |borrow| or_(shlqbyi(borrow, 4), quad([0, 0, 0, 1]));
        let mut borrow = from_right(bg(qx, qy));
        for _ in 0..2 {
            borrow = from_right(bgx(qx, qy, borrow));
        }
        assert_eq!(sfx(qx, qy, borrow).whole(), y.wrapping_sub(x));
    }
}

#[test]
fn bits_are_gathered_and_spread_from_left_to_right() {
    let x = Quadword::from_bytes([1, 0, 0, 1, 3, 2, 5, 4, 0, 0, 0, 0, 0, 0, 0, 255]);
    check(gbb(x), [0b1001_1010_0000_0001, 0, 0, 0]);
    check(gbh(x), [0b0100_0001, 0, 0, 0]);
    check(gb(x), [0b1001, 0, 0, 0]);
    check(fsm(quad([0b1001, 0, 0, 0])), [u32::MAX, 0, 0, u32::MAX]);
    check(fsmh(quad([0b1001_0001, 7, 7, 7])), [0xFFFF_0000, 0x0000_FFFF, 0, 0x0000_FFFF]);
    check(fsmb(quad([0x1_8001, 0, 0, 0])), [0xFF00_0000, 0, 0, 0x0000_00FF]);
    check(fsmbi(0xF0F0), [u32::MAX, 0, u32::MAX, 0]);
    check(orx(quad([1, 2, 4, 0x8000_0000])), [0x8000_0007, 0, 0, 0]);
}

#[test]
fn an_insertion_control_replaces_the_element_at_an_address() {
    let (new, old) = (Quadword::splat(0xAABB_CCDD), BYTES);
    let insert = |control| shufb(new, old, control);
    let base = quad([0x1_0003, 9, 9, 9]);
    check(insert(cbd(base, 0)), [0x0001_02DD, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F]);
    check(insert(chd(base, 4)), [0x0001_0203, 0x0405_CCDD, 0x0809_0A0B, 0x0C0D_0E0F]);
    check(insert(cwd(base, -4)), [0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0xAABB_CCDD]);
    let index = quad([7, 0, 0, 0]);
    check(insert(cdx(base, index)), [0x0001_0203, 0x0405_0607, 0xAABB_CCDD, 0xAABB_CCDD]);
    check(cdx(base, index), [0x1011_1213, 0x1415_1617, 0x0001_0203, 0x0405_0607]);
    assert_eq!(cbx(base, index), cbd(base, 7));
    assert_eq!(chx(base, index), chd(base, 7));
    assert_eq!(cwx(base, index), cwd(base, 7));
    assert_eq!(cdd(base, 7), cdx(base, index));
}

#[test]
fn a_bit_count_moves_a_quadword_by_bytes_and_then_by_bits() {
    let x = from_whole(0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210);
    for count in [0, 1, 7, 8, 29, 64, 127] {
        let left = il(count);
        let shifted = shlqbi(shlqbybi(x, left), left);
        assert_eq!(shifted.whole(), x.whole() << count);
        let rotated = rotqbi(rotqbybi(x, left), left);
        assert_eq!(rotated.whole(), x.whole().rotate_left(count as u32));
        // To the right by the negated count, of which the bytes are rounded down: 7 is added.
        let (bits, bytes) = (il(-count), il(7 - count));
        assert_eq!(rotqmbi(rotqmbybi(x, bytes), bits).whole(), x.whole() >> count);
    }
}
