//! What works on the quadword as a whole: shuffles, masks, insertion controls, shifts, rotations.
//!
//! Counts and addresses stand in the preferred slot.

macro_rules! quadword {
    ($expand:ident) => {
        $expand! {
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
pub(crate) use quadword;
quadword!(as_values);
