//! Shifts and rotations of halfwords and words.
//!
//! The SPU has no shift to the right: "rotate and mask" takes the negated count. Of a count in a
//! register only the low bits of each element count, of an immediate the seven that it has.

macro_rules! shift {
    ($expand:ident) => {
        $expand! {
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
        }
    };
}
pub(crate) use shift;
shift!(as_values);
