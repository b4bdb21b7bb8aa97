//! Functions of one element, applied to every element of a quadword.

use crate::register::Quadword;

/// The NaN that the SPU makes, whatever the operands.
pub(super) const DEFAULT_NAN: u64 = 0x7FF8_0000_0000_0000;

/// A result: the default NaN in place of the host's, whose sign and fraction differ by processor.
///
/// Whether either lane is a NaN is a single comparison of the two, and a branch that is not taken
/// costs less than choosing in each lane.
#[inline(always)]
fn canonical([x, y]: [f64; 2]) -> Quadword {
    if x.is_nan() || y.is_nan() {
        std::hint::cold_path();
        let default = f64::from_bits(DEFAULT_NAN);
        return Quadword::from_doubles([x, y].map(|it| if it.is_nan() { default } else { it }));
    }
    Quadword::from_doubles([x, y])
}

#[inline(always)]
pub(super) fn bytes(ra: Quadword, f: impl Fn(u8) -> u8) -> Quadword {
    Quadword::from_bytes(ra.bytes().map(f))
}

#[inline(always)]
pub(super) fn bytes2(ra: Quadword, rb: Quadword, f: impl Fn(u8, u8) -> u8) -> Quadword {
    let (a, b) = (ra.bytes(), rb.bytes());
    Quadword::from_bytes(std::array::from_fn(|i| f(a[i], b[i])))
}

#[inline(always)]
pub(super) fn halfwords(ra: Quadword, f: impl Fn(u16) -> u16) -> Quadword {
    Quadword::from_halfwords(ra.halfwords().map(f))
}

#[inline(always)]
pub(super) fn halfwords2(ra: Quadword, rb: Quadword, f: impl Fn(u16, u16) -> u16) -> Quadword {
    let (a, b) = (ra.halfwords(), rb.halfwords());
    Quadword::from_halfwords(std::array::from_fn(|i| f(a[i], b[i])))
}

#[inline(always)]
pub(super) fn words(ra: Quadword, f: impl Fn(u32) -> u32) -> Quadword {
    let a = ra.words();
    Quadword::from_words([f(a[0]), f(a[1]), f(a[2]), f(a[3])])
}

#[inline(always)]
pub(super) fn words2(ra: Quadword, rb: Quadword, f: impl Fn(u32, u32) -> u32) -> Quadword {
    let (a, b) = (ra.words(), rb.words());
    Quadword::from_words([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
}

#[inline(always)]
pub(super) fn words3(
    ra: Quadword,
    rb: Quadword,
    rc: Quadword,
    f: impl Fn(u32, u32, u32) -> u32,
) -> Quadword {
    let (a, b, c) = (ra.words(), rb.words(), rc.words());
    Quadword::from_words([
        f(a[0], b[0], c[0]),
        f(a[1], b[1], c[1]),
        f(a[2], b[2], c[2]),
        f(a[3], b[3], c[3]),
    ])
}

#[inline(always)]
pub(super) fn doublewords(ra: Quadword, f: impl Fn(u64) -> u64) -> Quadword {
    Quadword([f(ra.0[0]), f(ra.0[1])])
}

#[inline(always)]
pub(super) fn doublewords2(ra: Quadword, rb: Quadword, f: impl Fn(u64, u64) -> u64) -> Quadword {
    Quadword([f(ra.0[0], rb.0[0]), f(ra.0[1], rb.0[1])])
}

/// NaNs come out as the SPU's.
#[inline(always)]
pub(super) fn doubles2(ra: Quadword, rb: Quadword, f: impl Fn(f64, f64) -> f64) -> Quadword {
    let (a, b) = (ra.doubles(), rb.doubles());
    canonical([f(a[0], b[0]), f(a[1], b[1])])
}

/// NaNs come out as the SPU's.
#[inline(always)]
pub(super) fn doubles3(
    ra: Quadword,
    rb: Quadword,
    rc: Quadword,
    f: impl Fn(f64, f64, f64) -> f64,
) -> Quadword {
    let (a, b, c) = (ra.doubles(), rb.doubles(), rc.doubles());
    canonical([f(a[0], b[0], c[0]), f(a[1], b[1], c[1])])
}

/// A scalar: the word in the preferred slot, 0 in the others.
#[inline(always)]
pub(crate) const fn preferred_slot(word: u32) -> Quadword {
    Quadword([(word as u64) << 32, 0])
}

#[inline(always)]
pub(super) const fn from_whole(whole: u128) -> Quadword {
    Quadword([(whole >> 64) as u64, whole as u64])
}

#[inline(always)]
pub(super) const fn mask(condition: bool) -> u32 {
    (condition as u32).wrapping_neg()
}

#[inline(always)]
pub(super) const fn halfword_mask(condition: bool) -> u16 {
    (condition as u16).wrapping_neg()
}

#[inline(always)]
pub(super) const fn byte_mask(condition: bool) -> u8 {
    (condition as u8).wrapping_neg()
}

/// Counts of shifts are taken modulo 64, and from 32 on nothing is left.
#[inline(always)]
pub(super) fn shift_left(x: u32, count: u32) -> u32 {
    x.checked_shl(count & 63).unwrap_or(0)
}

#[inline(always)]
pub(super) fn shift_right(x: u32, count: u32) -> u32 {
    x.checked_shr(count & 63).unwrap_or(0)
}

/// Shifts right, algebraically: from 32 on only the sign is left, as with 31.
#[inline(always)]
pub(super) fn shift_right_algebraic(x: u32, count: u32) -> u32 {
    ((x as i32) >> (count & 63).min(31)) as u32
}

/// Counts of shifts of halfwords are taken modulo 32, and from 16 on nothing is left.
#[inline(always)]
pub(super) fn shift_left_halfword(x: u16, count: u16) -> u16 {
    (u32::from(x) << (count & 31)) as u16
}

#[inline(always)]
pub(super) fn shift_right_halfword(x: u16, count: u16) -> u16 {
    (u32::from(x) >> (count & 31)) as u16
}

#[inline(always)]
pub(super) fn shift_right_algebraic_halfword(x: u16, count: u16) -> u16 {
    (i32::from(x as i16) >> (count & 31)) as u16
}

/// The count of a rotation by bytes is taken modulo 16.
#[inline(always)]
pub(super) fn rotate_bytes(ra: Quadword, count: u32) -> Quadword {
    from_whole(ra.whole().rotate_left(count % 16 * 8))
}

/// The count of a shift by bytes is taken modulo 32, and from 16 on nothing is left.
#[inline(always)]
pub(super) fn shift_left_bytes(ra: Quadword, count: u32) -> Quadword {
    from_whole(ra.whole().checked_shl(count % 32 * 8).unwrap_or(0))
}

#[inline(always)]
pub(super) fn shift_right_bytes(ra: Quadword, count: u32) -> Quadword {
    from_whole(ra.whole().checked_shr(count % 32 * 8).unwrap_or(0))
}

/// Controls that pick one whole doubleword.
const WHOLE_DOUBLEWORD: [u64; 4] =
    [0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0E0F, 0x1011_1213_1415_1617, 0x1819_1A1B_1C1D_1E1F];

#[inline(always)]
pub(super) fn shuffle(ra: Quadword, rb: Quadword, rc: Quadword) -> Quadword {
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
pub(super) fn shuffle_bytes(ra: Quadword, rb: Quadword, control: u64) -> u64 {
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
pub(super) fn select_mask_bytes(bits: u16) -> Quadword {
    let half =
        |bits: u8| (0..8).fold(0, |mask, i| mask | (u64::from(bits >> i & 1) * 0xFF) << (8 * i));
    Quadword([half((bits >> 8) as u8), half(bits as u8)])
}

#[inline(always)]
pub(super) fn select_mask_words(bits: u32) -> Quadword {
    Quadword::from_words([8, 4, 2, 1].map(|bit| mask(bits & bit != 0)))
}

#[inline(always)]
pub(super) fn select_mask_halfwords(bits: u32) -> Quadword {
    Quadword::from_halfwords(std::array::from_fn(|i| mask(bits >> (7 - i) & 1 != 0) as u16))
}

/// The lowest bits of the elements of that width, the first element's leftmost.
#[inline(always)]
pub(super) fn gather_bits(ra: Quadword, width: u32) -> u32 {
    let whole = ra.whole();
    (0..128 / width)
        .fold(0, |bits, element| bits | ((whole >> (element * width)) as u32 & 1) << element)
}

/// The shuffle control that replaces the element of `BYTES` bytes at an address, which is aligned
/// to them, by the element in the preferred slot of the first operand: a byte and a halfword stand
/// at the end of the preferred word.
#[inline(always)]
pub(super) fn insertion<const BYTES: u32>(address: u32) -> Quadword {
    let place = (address & 15 & !(BYTES - 1)) as usize;
    let mut control: [u8; 16] = std::array::from_fn(|i| 0x10 + i as u8);
    let first = 4_u32.saturating_sub(BYTES);
    for i in 0..BYTES {
        control[place + i as usize] = (first + i) as u8;
    }
    Quadword::from_bytes(control)
}
