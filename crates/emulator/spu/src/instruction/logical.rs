//! Logic, bit by bit.

macro_rules! logical {
    ($expand:ident) => {
        $expand! {
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
        }
    };
}
pub(crate) use logical;
logical!(as_values);
