//! Floating point, single and double precision.

macro_rules! floating {
    ($expand:ident) => {
        $expand! {
            // Single precision, in the SPU's own format: see `semantics::single`.

            /// Floating add.
            fa(ra, rb) SinglePrecision New = words2(ra, rb, single::add);
            /// Floating subtract: `ra - rb`.
            fs(ra, rb) SinglePrecision New = words2(ra, rb, single::subtract);
            /// Floating multiply.
            fm(ra, rb) SinglePrecision New = words2(ra, rb, single::multiply);
            /// Floating multiply and add, truncated once: `ra * rb + rc`.
            fma(ra, rb, rc) SinglePrecision New = words3(ra, rb, rc, single::multiply_add);
            /// Floating multiply and subtract, truncated once: `ra * rb - rc`.
            fms(ra, rb, rc) SinglePrecision New =
                words3(ra, rb, rc, |x, y, z| single::multiply_add(x, y, single::negate(z)));
            /// Floating negative multiply and subtract, truncated once: `rc - ra * rb`.
            fnms(ra, rb, rc) SinglePrecision New =
                words3(ra, rb, rc, |x, y, z| single::multiply_add(single::negate(x), y, z));

            /// Floating reciprocal estimate: base and step, from which [`fi`](Self::fi) makes
            /// `1 / ra` to 12 bits.
            frest(ra) Shuffle New = words(ra, estimate::reciprocal);
            /// Floating reciprocal absolute square root estimate: base and step, from which
            /// [`fi`](Self::fi) makes `1 / sqrt(|ra|)` to 12 bits.
            frsqest(ra) Shuffle New = words(ra, estimate::reciprocal_square_root);
            /// Floating interpolate: base and step in `rb`, from [`frest`](Self::frest) or
            /// [`frsqest`](Self::frsqest) of the `ra` given here.
            fi(ra, rb) IntegerMultiply New = words2(ra, rb, estimate::interpolate);

            /// Convert signed integer to floating: each word times `2^-scale`, truncated.
            csflt(ra; scale: u8) IntegerMultiply New =
                words(ra, |x| single::from_scaled(f64::from(x as i32), scale));
            /// Convert floating to signed integer: each single times `2^scale`, truncated, the
            /// nearest representable where it does not fit.
            cflts(ra; scale: u8) IntegerMultiply New =
                words(ra, |x| single::to_scaled(x, scale) as i32 as u32);
            /// Convert unsigned integer to floating: each word times `2^-scale`, truncated.
            cuflt(ra; scale: u8) IntegerMultiply New =
                words(ra, |x| single::from_scaled(f64::from(x), scale));
            /// Convert floating to unsigned integer: as [`cflts`](Self::cflts); 0 for negatives.
            cfltu(ra; scale: u8) IntegerMultiply New =
                words(ra, |x| single::to_scaled(x, scale) as u32);

            /// Floating compare equal: all ones where equal.
            fceq(ra, rb) SimpleFixed New =
                words2(ra, rb, |x, y| mask(single::value(x) == single::value(y)));
            /// Floating compare magnitude equal.
            fcmeq(ra, rb) SimpleFixed New =
                words2(ra, rb, |x, y| mask(single::magnitude(x) == single::magnitude(y)));
            /// Floating compare greater than: all ones where `ra > rb`.
            fcgt(ra, rb) SimpleFixed New =
                words2(ra, rb, |x, y| mask(single::value(x) > single::value(y)));
            /// Floating compare magnitude greater than.
            fcmgt(ra, rb) SimpleFixed New =
                words2(ra, rb, |x, y| mask(single::magnitude(x) > single::magnitude(y)));

            // Double precision: see `semantics::double`.

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
pub(crate) use floating;
floating!(as_values);
