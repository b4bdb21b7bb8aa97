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
