//! Double precision: see `semantics::double`.

macro_rules! double {
    ($expand:ident) => {
        $expand! {
            /// Double add.
            dfa(ra, rb) DoublePrecision New = doubles2(ra, rb, |x, y| x + y);
            /// Double subtract: `ra - rb`.
            dfs(ra, rb) DoublePrecision New = doubles2(ra, rb, |x, y| x - y);
            /// Double multiply.
            dfm(ra, rb) DoublePrecision New = doubles2(ra, rb, |x, y| x * y);
            /// Double multiply and add, rounded once: `ra * rb + rt`.
            dfma(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| x.mul_add(y, z));
            /// Double multiply and subtract, rounded once: `ra * rb - rt`.
            dfms(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| x.mul_add(y, -z));
            /// Double negative multiply and subtract, rounded once: `rt - ra * rb`.
            dfnms(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| -x.mul_add(y, -z));
            /// Double negative multiply and add, rounded once: `-(ra * rb + rt)`.
            dfnma(ra, rb, rt) DoublePrecision LastOperand =
                doubles3(ra, rb, rt, |x, y, z| -x.mul_add(y, z));

            /// Floating extend single to double: the left single of each doubleword.
            fesd(ra) DoublePrecision New = doublewords(ra, double::extend);
            /// Floating round double to single: into the left half of each doubleword; the right
            /// is 0.
            frds(ra) DoublePrecision New = doublewords(ra, double::round);

            /// Double compare equal: all ones where equal.
            dfceq(ra, rb) SimpleFixed New [PowerXCell8i] =
                double::compare(ra, rb, |x, y| x == y);
            /// Double compare magnitude equal.
            dfcmeq(ra, rb) SimpleFixed New [PowerXCell8i] =
                double::compare(ra, rb, |x, y| x.abs() == y.abs());
            /// Double compare greater than: all ones where `ra > rb`.
            dfcgt(ra, rb) SimpleFixed New [PowerXCell8i] =
                double::compare(ra, rb, |x, y| x > y);
            /// Double compare magnitude greater than.
            dfcmgt(ra, rb) SimpleFixed New [PowerXCell8i] =
                double::compare(ra, rb, |x, y| x.abs() > y.abs());
            /// Double test special value: all ones where the double is of a kind that the immediate
            /// names: 1 negative and 2 positive denormal, 4 negative and 8 positive zero, 16
            /// negative and 32 positive infinity, 64 NaN.
            dftsv(ra; u7: u8) SimpleFixed New [PowerXCell8i] =
                doublewords(ra, |x| double::is_special(x, u7));
        }
    };
}
pub(crate) use double;
double!(as_values);
