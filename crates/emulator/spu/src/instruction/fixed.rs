//! Immediate loads and integer sums.

macro_rules! fixed {
    ($expand:ident) => {
        $expand! {
            /// Immediate load halfword: the immediate in every halfword.
            ilh(; u16: u16) SimpleFixed New = splat_halfword(u16);
            /// Immediate load halfword upper: the immediate in the upper half of every word.
            ilhu(; u16: u16) SimpleFixed New = Quadword::splat((u16 as u32) << 16);
            /// Immediate load word: the sign-extended immediate in every word.
            il(; i16: i16) SimpleFixed New = Quadword::splat(i16 as i32 as u32);
            /// Immediate load address: the 18-bit immediate in every word.
            ila(; u18: u32) SimpleFixed New = Quadword::splat(unsigned::<18>(u18));
            /// Immediate or halfword lower: the immediate or-ed into the lower halves.
            iohl(rt; u16: u16) SimpleFixed LastOperand = words(rt, |x| x | u16 as u32);

            /// Add halfword.
            ah(ra, rb) SimpleFixed New = halfwords2(ra, rb, u16::wrapping_add);
            /// Add halfword immediate.
            ahi(ra; i10: i16) SimpleFixed New =
                halfwords(ra, |x| x.wrapping_add(signed10(i10) as u16));
            /// Add word.
            a(ra, rb) SimpleFixed New = words2(ra, rb, u32::wrapping_add);
            /// Add word immediate.
            ai(ra; i10: i16) SimpleFixed New = words(ra, |x| x.wrapping_add(signed10(i10)));
            /// Subtract from halfword: `rb - ra`.
            sfh(ra, rb) SimpleFixed New = halfwords2(ra, rb, |x, y| y.wrapping_sub(x));
            /// Subtract from halfword immediate: `i10 - ra`.
            sfhi(ra; i10: i16) SimpleFixed New =
                halfwords(ra, |x| (signed10(i10) as u16).wrapping_sub(x));
            /// Subtract from word: `rb - ra`.
            sf(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| y.wrapping_sub(x));
            /// Subtract from word immediate: `i10 - ra`.
            sfi(ra; i10: i16) SimpleFixed New = words(ra, |x| signed10(i10).wrapping_sub(x));

            /// Add extended: `ra + rb` plus the lowest bit of `rt`, the carry from the right.
            addx(ra, rb, rt) SimpleFixed LastOperand =
                words3(ra, rb, rt, |x, y, carry| x.wrapping_add(y).wrapping_add(carry & 1));
            /// Carry generate: 1 where the unsigned sum `ra + rb` does not fit a word, else 0.
            cg(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| carry_of_sum(x, y, 0));
            /// Carry generate extended: the carry of [`addx`](Self::addx).
            cgx(ra, rb, rt) SimpleFixed LastOperand = words3(ra, rb, rt, carry_of_sum);
            /// Subtract from extended: `rb - ra`, less 1 where the lowest bit of `rt` is 0, which
            /// says that the word to the right borrows.
            sfx(ra, rb, rt) SimpleFixed LastOperand =
                words3(ra, rb, rt, |x, y, carry| y.wrapping_add(!x).wrapping_add(carry & 1));
            /// Borrow generate: 0 where the unsigned difference `rb - ra` borrows, else 1.
            bg(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| carry_of_sum(!x, y, 1));
            /// Borrow generate extended: 0 where [`sfx`](Self::sfx) borrows, else 1.
            bgx(ra, rb, rt) SimpleFixed LastOperand =
                words3(ra, rb, rt, |x, y, carry| carry_of_sum(!x, y, carry));

            /// Count leading zeros of each word; 32 for zero.
            clz(ra) SimpleFixed New = words(ra, u32::leading_zeros);
            /// Extend sign byte to halfword: from the lower byte of each halfword.
            xsbh(ra) SimpleFixed New = halfwords(ra, |x| x as i8 as u16);
            /// Extend sign halfword to word: from the lower half of each word.
            xshw(ra) SimpleFixed New = words(ra, |x| x as i16 as u32);
            /// Extend sign word to doubleword: from the lower half of each doubleword.
            xswd(ra) SimpleFixed New = doublewords(ra, |x| x as i32 as u64);

            /// Count ones in bytes: how many bits of each byte are 1.
            cntb(ra) Byte New = bytes(ra, |x| x.count_ones() as u8);
            /// Average bytes, unsigned, halves rounded up.
            avgb(ra, rb) Byte New = bytes2(ra, rb, |x, y| (x as u16 + y as u16).div_ceil(2) as u8);
            /// Absolute differences of bytes, unsigned.
            absdb(ra, rb) Byte New = bytes2(ra, rb, u8::abs_diff);
            /// Sum bytes into halfwords: of each word of `rb` the sum of its four bytes in the
            /// upper half, that of `ra` in the lower.
            sumb(ra, rb) Byte New = words2(ra, rb, |x, y| sum_of_bytes(y) << 16 | sum_of_bytes(x));
        }
    };
}
pub(crate) use fixed;
fixed!(as_values);
