//! Integer compares: all ones in each element for which the relation holds, zeros elsewhere.

macro_rules! compare {
    ($expand:ident) => {
        $expand! {
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
        }
    };
}
pub(crate) use compare;
compare!(as_values);
