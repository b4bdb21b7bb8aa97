//! What a register of the SPU holds.

/// A 128-bit value: the content of a register or of 16 aligned bytes of local store.
///
/// Two doublewords, doubleword 0 first. The SPU is big-endian, so byte 0 is the most significant
/// byte of doubleword 0, and lane 0 of a pair of doubles is `f64::from_bits(self.0[0])`.
///
/// ```text
/// byte    0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
/// word    [    0    ][    1    ][    2    ][    3    ]
/// double  [         0          ][         1          ]
///          preferred slot of a word or an address
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quadword(pub [u64; 2]);

impl Quadword {
    /// All bits zero.
    pub const ZERO: Self = Self([0; 2]);

    /// Two doubles, lane 0 first.
    #[inline(always)]
    pub const fn from_doubles(lanes: [f64; 2]) -> Self {
        Self([lanes[0].to_bits(), lanes[1].to_bits()])
    }

    /// Both lanes as doubles.
    #[inline(always)]
    pub const fn doubles(self) -> [f64; 2] {
        [f64::from_bits(self.0[0]), f64::from_bits(self.0[1])]
    }

    /// Four words, word 0 first.
    #[inline(always)]
    pub const fn from_words(words: [u32; 4]) -> Self {
        Self([(words[0] as u64) << 32 | words[1] as u64, (words[2] as u64) << 32 | words[3] as u64])
    }

    /// The four words in architectural order.
    #[inline(always)]
    pub const fn words(self) -> [u32; 4] {
        [(self.0[0] >> 32) as u32, self.0[0] as u32, (self.0[1] >> 32) as u32, self.0[1] as u32]
    }

    /// Eight halfwords, halfword 0 first.
    #[inline(always)]
    pub const fn from_halfwords(h: [u16; 8]) -> Self {
        const fn pair(left: u16, right: u16) -> u32 {
            (left as u32) << 16 | right as u32
        }
        Self::from_words([pair(h[0], h[1]), pair(h[2], h[3]), pair(h[4], h[5]), pair(h[6], h[7])])
    }

    /// The eight halfwords in architectural order.
    #[inline(always)]
    pub const fn halfwords(self) -> [u16; 8] {
        let w = self.words();
        [
            (w[0] >> 16) as u16,
            w[0] as u16,
            (w[1] >> 16) as u16,
            w[1] as u16,
            (w[2] >> 16) as u16,
            w[2] as u16,
            (w[3] >> 16) as u16,
            w[3] as u16,
        ]
    }

    /// Sixteen bytes in architectural order.
    #[inline(always)]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        let whole = u128::from_be_bytes(bytes);
        Self([(whole >> 64) as u64, whole as u64])
    }

    /// The sixteen bytes in architectural order.
    #[inline(always)]
    pub const fn bytes(self) -> [u8; 16] {
        self.whole().to_be_bytes()
    }

    /// All 128 bits as one number.
    #[inline(always)]
    pub const fn whole(self) -> u128 {
        (self.0[0] as u128) << 64 | self.0[1] as u128
    }

    /// The preferred slot, word 0: where scalars, addresses and branch conditions stand.
    #[inline(always)]
    pub const fn preferred(self) -> u32 {
        (self.0[0] >> 32) as u32
    }

    /// The same word four times.
    #[inline(always)]
    pub const fn splat(word: u32) -> Self {
        Self::from_words([word; 4])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_significant_byte_comes_first_in_every_view() {
        let bytes = std::array::from_fn(|i| i as u8);
        let value = Quadword::from_bytes(bytes);
        assert_eq!(value.words(), [0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F]);
        assert_eq!(value.preferred(), 0x0001_0203);
        assert_eq!(value.bytes(), bytes);
        assert_eq!(Quadword::from_words(value.words()), value);
        assert_eq!(value.halfwords()[..3], [0x0001, 0x0203, 0x0405]);
        assert_eq!(Quadword::from_halfwords(value.halfwords()), value);
    }

    #[test]
    fn a_double_keeps_its_sign_and_exponent_in_the_even_word() {
        // -2.0 is 0xC000_0000_0000_0000, 1.0 is 0x3FF0_0000_0000_0000.
        let value = Quadword::from_doubles([-2.0, 1.0]);
        assert_eq!(value.words(), [0xC000_0000, 0, 0x3FF0_0000, 0]);
        assert_eq!(value.doubles(), [-2.0, 1.0]);
    }
}
