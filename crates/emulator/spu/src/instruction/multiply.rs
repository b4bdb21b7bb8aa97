//! Integer products of 16 by 16 bits.

macro_rules! multiply {
    ($expand:ident) => {
        $expand! {
            /// Multiply: the signed product of the lower halves of each word.
            mpy(ra, rb) IntegerMultiply New = words2(ra, rb, multiply_low);
            /// Multiply unsigned: the unsigned product of the lower halves of each word.
            mpyu(ra, rb) IntegerMultiply New =
                words2(ra, rb, |x, y| (x & 0xFFFF).wrapping_mul(y & 0xFFFF));
            /// Multiply immediate: the signed product of each lower half and the immediate.
            mpyi(ra; i10: i16) IntegerMultiply New =
                words(ra, |x| multiply_low(x, signed10(i10)));
            /// Multiply unsigned immediate: the unsigned product of each lower half and the
            /// immediate, which is sign-extended to 16 bits and then taken as unsigned.
            mpyui(ra; i10: i16) IntegerMultiply New =
                words(ra, |x| (x & 0xFFFF).wrapping_mul(signed10(i10) & 0xFFFF));
            /// Multiply and add: [`mpy`](Self::mpy) of `ra` and `rb` plus `rc`.
            mpya(ra, rb, rc) IntegerMultiply New =
                words3(ra, rb, rc, |x, y, z| multiply_low(x, y).wrapping_add(z));
            /// Multiply high: upper half of `ra` times lower half of `rb`, shifted left by 16.
            mpyh(ra, rb) IntegerMultiply New =
                words2(ra, rb, |x, y| (x >> 16).wrapping_mul(y & 0xFFFF) << 16);
            /// Multiply and shift right: [`mpy`](Self::mpy) shifted right by 16 with its sign.
            mpys(ra, rb) IntegerMultiply New =
                words2(ra, rb, |x, y| (multiply_low(x, y) as i32 >> 16) as u32);
            /// Multiply high high: the signed product of the upper halves of each word.
            mpyhh(ra, rb) IntegerMultiply New =
                words2(ra, rb, |x, y| multiply_low(x >> 16, y >> 16));
            /// Multiply high high and add: [`mpyhh`](Self::mpyhh) of `ra` and `rb` plus `rt`.
            mpyhha(ra, rb, rt) IntegerMultiply LastOperand =
                words3(ra, rb, rt, |x, y, z| multiply_low(x >> 16, y >> 16).wrapping_add(z));
            /// Multiply high high unsigned: the unsigned product of the upper halves.
            mpyhhu(ra, rb) IntegerMultiply New =
                words2(ra, rb, |x, y| (x >> 16).wrapping_mul(y >> 16));
            /// Multiply high high unsigned and add: [`mpyhhu`](Self::mpyhhu) plus `rt`.
            mpyhhau(ra, rb, rt) IntegerMultiply LastOperand =
                words3(ra, rb, rt, |x, y, z| (x >> 16).wrapping_mul(y >> 16).wrapping_add(z));
        }
    };
}
pub(crate) use multiply;
multiply!(as_values);
