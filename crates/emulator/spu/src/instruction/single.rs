//! Single precision, in the SPU's own format: see `semantics::single`.

macro_rules! single {
    ($expand:ident) => {
        $expand! {
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
        }
    };
}
pub(crate) use single;
single!(as_values);
