//! Integers, element by element (sums, logic, compares, shifts and products) and as whole quadwords.

macro_rules! integer {
    ($expand:ident) => {
        $expand! {
            // Immediate loads and integer sums.

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

            // Logic, bit by bit.

            /// And.
            and_(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x & y);
            /// And with complement: `ra & !rb`.
            andc(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x & !y);
            /// And byte immediate.
            andbi(ra; u8: u8) SimpleFixed New = bytes(ra, |x| x & u8);
            /// And halfword immediate.
            andhi(ra; i10: i16) SimpleFixed New = halfwords(ra, |x| x & signed10(i10) as u16);
            /// And word immediate.
            andi(ra; i10: i16) SimpleFixed New = words(ra, |x| x & signed10(i10));
            /// Or.
            or_(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x | y);
            /// Or with complement: `ra | !rb`.
            orc(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x | !y);
            /// Or byte immediate.
            orbi(ra; u8: u8) SimpleFixed New = bytes(ra, |x| x | u8);
            /// Or halfword immediate.
            orhi(ra; i10: i16) SimpleFixed New = halfwords(ra, |x| x | signed10(i10) as u16);
            /// Or word immediate; with 0 it copies a register (the assembler's `lr`).
            ori(ra; i10: i16) SimpleFixed New = words(ra, |x| x | signed10(i10));
            /// Or across: the four words or-ed together in the preferred slot, 0 in the others.
            orx(ra) Shuffle New = preferred_slot(ra.words().into_iter().fold(0, |x, y| x | y));
            /// Exclusive or.
            xor(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| x ^ y);
            /// Exclusive or byte immediate.
            xorbi(ra; u8: u8) SimpleFixed New = bytes(ra, |x| x ^ u8);
            /// Exclusive or halfword immediate.
            xorhi(ra; i10: i16) SimpleFixed New = halfwords(ra, |x| x ^ signed10(i10) as u16);
            /// Exclusive or word immediate.
            xori(ra; i10: i16) SimpleFixed New = words(ra, |x| x ^ signed10(i10));
            /// Nand.
            nand(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| !(x & y));
            /// Nor.
            nor(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| !(x | y));
            /// Equivalent: 1 where the bits are the same.
            eqv(ra, rb) SimpleFixed New = doublewords2(ra, rb, |x, y| !(x ^ y));
            /// Select bits: where a bit of `rc` is 0 that of `ra`, where it is 1 that of `rb`.
            selb(ra, rb, rc) SimpleFixed New = select(ra, rb, rc);

            // Integer compares: all ones in each element for which the relation holds, zeros elsewhere.

            /// Compare equal byte.
            ceqb(ra, rb) SimpleFixed New = bytes2(ra, rb, |x, y| byte_mask(x == y));
            /// Compare equal byte immediate.
            ceqbi(ra; u8: u8) SimpleFixed New = bytes(ra, |x| byte_mask(x == u8));
            /// Compare equal halfword.
            ceqh(ra, rb) SimpleFixed New = halfwords2(ra, rb, |x, y| halfword_mask(x == y));
            /// Compare equal halfword immediate.
            ceqhi(ra; i10: i16) SimpleFixed New =
                halfwords(ra, |x| halfword_mask(x == signed10(i10) as u16));
            /// Compare equal word: all ones where equal.
            ceq(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| mask(x == y));
            /// Compare equal word immediate.
            ceqi(ra; i10: i16) SimpleFixed New = words(ra, |x| mask(x == signed10(i10)));

            /// Compare greater than byte, signed: all ones where `ra > rb`.
            cgtb(ra, rb) SimpleFixed New =
                bytes2(ra, rb, |x, y| byte_mask(x as i8 > y as i8));
            /// Compare greater than byte immediate, signed.
            cgtbi(ra; u8: u8) SimpleFixed New = bytes(ra, |x| byte_mask(x as i8 > u8 as i8));
            /// Compare greater than halfword, signed.
            cgth(ra, rb) SimpleFixed New =
                halfwords2(ra, rb, |x, y| halfword_mask(x as i16 > y as i16));
            /// Compare greater than halfword immediate, signed.
            cgthi(ra; i10: i16) SimpleFixed New =
                halfwords(ra, |x| halfword_mask(x as i16 > signed10(i10) as i16));
            /// Compare greater than word, signed: all ones where `ra > rb`.
            cgt(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| mask(x as i32 > y as i32));
            /// Compare greater than word immediate, signed.
            cgti(ra; i10: i16) SimpleFixed New =
                words(ra, |x| mask(x as i32 > signed10(i10) as i32));

            /// Compare logical greater than byte, unsigned.
            clgtb(ra, rb) SimpleFixed New = bytes2(ra, rb, |x, y| byte_mask(x > y));
            /// Compare logical greater than byte immediate, unsigned.
            clgtbi(ra; u8: u8) SimpleFixed New = bytes(ra, |x| byte_mask(x > u8));
            /// Compare logical greater than halfword, unsigned.
            clgth(ra, rb) SimpleFixed New = halfwords2(ra, rb, |x, y| halfword_mask(x > y));
            /// Compare logical greater than halfword immediate: the immediate is sign-extended and
            /// then taken as unsigned.
            clgthi(ra; i10: i16) SimpleFixed New =
                halfwords(ra, |x| halfword_mask(x > signed10(i10) as u16));
            /// Compare logical greater than word, unsigned.
            clgt(ra, rb) SimpleFixed New = words2(ra, rb, |x, y| mask(x > y));
            /// Compare logical greater than word immediate: the immediate is sign-extended and then
            /// taken as unsigned.
            clgti(ra; i10: i16) SimpleFixed New = words(ra, |x| mask(x > signed10(i10)));

            // Shifts and rotations of halfwords and words.
            //
            // The SPU has no shift to the right: "rotate and mask" takes the negated count. Of a count in a
            // register only the low bits of each element count, of an immediate the seven that it has.

            /// Shift left halfword by the low five bits of each halfword of `rb`.
            shlh(ra, rb) WordShift New = halfwords2(ra, rb, shift_left_halfword);
            /// Shift left halfword immediate.
            shlhi(ra; i7: i16) WordShift New =
                halfwords(ra, |x| shift_left_halfword(x, i7 as u16));
            /// Shift left word by the low six bits of each word of `rb`.
            shl(ra, rb) WordShift New = words2(ra, rb, shift_left);
            /// Shift left word immediate.
            shli(ra; i7: i16) WordShift New = words(ra, |x| shift_left(x, i7 as u32));

            /// Rotate halfword, to the left by the low four bits of each halfword of `rb`.
            roth(ra, rb) WordShift New = halfwords2(ra, rb, |x, y| x.rotate_left(y as u32 % 16));
            /// Rotate halfword immediate, to the left.
            rothi(ra; i7: i16) WordShift New = halfwords(ra, |x| x.rotate_left(i7 as u32 % 16));
            /// Rotate word, to the left by the low five bits of each word of `rb`.
            rot(ra, rb) WordShift New = words2(ra, rb, |x, y| x.rotate_left(y % 32));
            /// Rotate word immediate, to the left.
            roti(ra; i7: i16) WordShift New = words(ra, |x| x.rotate_left(i7 as u32 % 32));

            /// Rotate and mask halfword: logical shift right by the negated count of each halfword.
            rothm(ra, rb) WordShift New =
                halfwords2(ra, rb, |x, y| shift_right_halfword(x, y.wrapping_neg()));
            /// Rotate and mask halfword immediate: logical shift right by `-i7`.
            rothmi(ra; i7: i16) WordShift New =
                halfwords(ra, |x| shift_right_halfword(x, -i7 as u16));
            /// Rotate and mask word: logical shift right by the negated count of each word.
            rotm(ra, rb) WordShift New =
                words2(ra, rb, |x, y| shift_right(x, y.wrapping_neg()));
            /// Rotate and mask word immediate: logical shift right by `-i7`.
            rotmi(ra; i7: i16) WordShift New = words(ra, |x| shift_right(x, -i7 as u32));

            /// Rotate and mask algebraic halfword: arithmetic shift right by the negated count of
            /// each halfword.
            rotmah(ra, rb) WordShift New =
                halfwords2(ra, rb, |x, y| shift_right_algebraic_halfword(x, y.wrapping_neg()));
            /// Rotate and mask algebraic halfword immediate: arithmetic shift right by `-i7`.
            rotmahi(ra; i7: i16) WordShift New =
                halfwords(ra, |x| shift_right_algebraic_halfword(x, -i7 as u16));
            /// Rotate and mask algebraic word: arithmetic shift right by the negated count of each
            /// word.
            rotma(ra, rb) WordShift New =
                words2(ra, rb, |x, y| shift_right_algebraic(x, y.wrapping_neg()));
            /// Rotate and mask algebraic word immediate: arithmetic shift right by `-i7`.
            rotmai(ra; i7: i16) WordShift New =
                words(ra, |x| shift_right_algebraic(x, -i7 as u32));

            // Integer products of 16 by 16 bits.

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

            // What works on the quadword as a whole: shuffles, masks, insertion controls, shifts, rotations.
            // Counts and addresses stand in the preferred slot.

            /// Shuffle bytes: each byte of `rc` picks one of the 32 bytes of `ra` and `rb`, or
            /// 0x00, 0xFF, 0x80 where it starts with the bits 10, 110, 111.
            shufb(ra, rb, rc) Shuffle New = shuffle(ra, rb, rc);

            /// Generate controls for byte insertion (d-form): the [`shufb`](Self::shufb) control
            /// that puts the preferred byte of `ra` in place of the byte of `rb` at an address.
            cbd(ra; d7: i16) Shuffle New = insertion::<1>(ra.preferred().wrapping_add(d7 as u32));
            /// Generate controls for byte insertion (x-form).
            cbx(ra, rb) Shuffle New =
                insertion::<1>(ra.preferred().wrapping_add(rb.preferred()));
            /// Generate controls for halfword insertion (d-form).
            chd(ra; d7: i16) Shuffle New = insertion::<2>(ra.preferred().wrapping_add(d7 as u32));
            /// Generate controls for halfword insertion (x-form).
            chx(ra, rb) Shuffle New =
                insertion::<2>(ra.preferred().wrapping_add(rb.preferred()));
            /// Generate controls for word insertion (d-form).
            cwd(ra; d7: i16) Shuffle New = insertion::<4>(ra.preferred().wrapping_add(d7 as u32));
            /// Generate controls for word insertion (x-form).
            cwx(ra, rb) Shuffle New =
                insertion::<4>(ra.preferred().wrapping_add(rb.preferred()));
            /// Generate controls for doubleword insertion (d-form).
            cdd(ra; d7: i16) Shuffle New = insertion::<8>(ra.preferred().wrapping_add(d7 as u32));
            /// Generate controls for doubleword insertion (x-form).
            cdx(ra, rb) Shuffle New =
                insertion::<8>(ra.preferred().wrapping_add(rb.preferred()));

            /// Form select mask bytes immediate: each bit of the immediate becomes a byte.
            fsmbi(; u16: u16) Shuffle New = select_mask_bytes(u16);
            /// Form select mask for bytes: each of the low 16 bits of the preferred slot becomes a
            /// byte.
            fsmb(ra) Shuffle New = select_mask_bytes(ra.preferred() as u16);
            /// Form select mask for halfwords: each of the low eight bits of the preferred slot
            /// becomes a halfword.
            fsmh(ra) Shuffle New = select_mask_halfwords(ra.preferred());
            /// Form select mask for words: each of the low four bits of the preferred slot
            /// becomes a word.
            fsm(ra) Shuffle New = select_mask_words(ra.preferred());
            /// Gather bits from bytes: the lowest bit of each byte, the first leftmost, in the low
            /// 16 bits of the preferred slot; the rest is 0.
            gbb(ra) Shuffle New = preferred_slot(gather_bits(ra, 8));
            /// Gather bits from halfwords: as [`gbb`](Self::gbb), eight bits.
            gbh(ra) Shuffle New = preferred_slot(gather_bits(ra, 16));
            /// Gather bits from words: as [`gbb`](Self::gbb), four bits.
            gb(ra) Shuffle New = preferred_slot(gather_bits(ra, 32));

            /// Shift left quadword by bits: the low three bits of the count, 0 to 7.
            shlqbi(ra, rb) Shuffle New = from_whole(ra.whole() << (rb.preferred() % 8));
            /// Shift left quadword by bits immediate.
            shlqbii(ra; i7: i16) Shuffle New = from_whole(ra.whole() << (i7 as u32 % 8));
            /// Shift left quadword by bytes, count in the preferred slot of `rb`.
            shlqby(ra, rb) Shuffle New = shift_left_bytes(ra, rb.preferred());
            /// Shift left quadword by bytes immediate.
            shlqbyi(ra; i7: i16) Shuffle New = shift_left_bytes(ra, i7 as u32);
            /// Shift left quadword by bytes from bit shift count: by an eighth of the count.
            shlqbybi(ra, rb) Shuffle New = shift_left_bytes(ra, rb.preferred() >> 3);

            /// Rotate quadword by bytes to the left, count in the preferred slot of `rb`.
            rotqby(ra, rb) Shuffle New = rotate_bytes(ra, rb.preferred());
            /// Rotate quadword by bytes immediate to the left.
            rotqbyi(ra; i7: i16) Shuffle New = rotate_bytes(ra, i7 as u32);
            /// Rotate quadword by bytes from bit shift count, to the left by an eighth of it.
            rotqbybi(ra, rb) Shuffle New = rotate_bytes(ra, rb.preferred() >> 3);
            /// Rotate quadword by bits to the left: the low three bits of the count, 0 to 7.
            rotqbi(ra, rb) Shuffle New = from_whole(ra.whole().rotate_left(rb.preferred() % 8));
            /// Rotate quadword by bits immediate to the left.
            rotqbii(ra; i7: i16) Shuffle New = from_whole(ra.whole().rotate_left(i7 as u32 % 8));

            /// Rotate and mask quadword by bytes: shift right by the negated count.
            rotqmby(ra, rb) Shuffle New = shift_right_bytes(ra, rb.preferred().wrapping_neg());
            /// Rotate and mask quadword by bytes immediate: shift right by `-i7` bytes.
            rotqmbyi(ra; i7: i16) Shuffle New = shift_right_bytes(ra, -i7 as u32);
            /// Rotate and mask quadword bytes from bit shift count: an eighth of the count, rounded
            /// down, negated, says by how many bytes to the right.
            rotqmbybi(ra, rb) Shuffle New =
                shift_right_bytes(ra, (rb.preferred() >> 3).wrapping_neg());
            /// Rotate and mask quadword by bits: shift right by the low three bits of the negated
            /// count.
            rotqmbi(ra, rb) Shuffle New =
                from_whole(ra.whole() >> (rb.preferred().wrapping_neg() % 8));
            /// Rotate and mask quadword by bits immediate: shift right by the low three bits of
            /// `-i7`.
            rotqmbii(ra; i7: i16) Shuffle New = from_whole(ra.whole() >> (-i7 as u32 % 8));
        }
    };
}
pub(crate) use integer;
integer!(as_values);
