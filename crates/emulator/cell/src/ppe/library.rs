//! The exponential and the logarithm, as a library computes them on the host.

use super::Arithmetic;
use mmgp_base::series::{self, EXPONENTIAL, LN_2};

/// Below this, e^x is 0.
const LOWEST: f64 = -708.0;

/// The series of the logarithm without its highest term: what is left out is 2/23 f^22 < 2e-18 of f.
const LOGARITHM: [f64; 10] =
    *series::LOGARITHM.last_chunk().expect("invariant: it has eleven terms");

/// e^x for x up to 709: x = n ln 2 + r, and e^x = 2^n times the series of e^r. Within 2 units in
/// the last place; below 2^-1021 it is 0.
#[inline(always)]
pub fn exponential<A: Arithmetic>(ppe: &mut A, x: A::Float) -> A::Float {
    let lowest = ppe.load(&LOWEST);
    if ppe.is_below(x, lowest) {
        return ppe.constant(0.0);
    }
    let per_ln_2 = ppe.load(&std::f64::consts::LOG2_E);
    let whole = ppe.load(&super::arithmetic::WHOLE);
    let shifted = ppe.multiply_add(x, per_ln_2, whole);
    let n = ppe.subtract(shifted, whole);
    let power = ppe.power_of_two(shifted);
    let [high, low] = [ppe.load(&LN_2[0]), ppe.load(&LN_2[1])];
    let rest = ppe.subtract_product(x, n, high);
    let rest = ppe.subtract_product(rest, n, low);
    let series = polynomial(ppe, rest, &EXPONENTIAL);
    ppe.multiply(series, power)
}

/// ln x for positive, normal x: x = m 2^e with m in \[sqrt(1/2), sqrt(2)), and with s = (m - 1) /
/// (m + 1), ln m = 2 s + 2/3 s^3 + 2/5 s^5 + ... Within 2 units in the last place.
#[inline(always)]
pub fn logarithm<A: Arithmetic>(ppe: &mut A, x: A::Float) -> A::Float {
    let (mantissa, exponent) = ppe.split(x);
    let one = ppe.load(&1.0);
    let above = ppe.subtract(mantissa, one);
    let below = ppe.add(mantissa, one);
    let s = ppe.divide(above, below);
    let square = ppe.multiply(s, s);
    let series = polynomial(ppe, square, &LOGARITHM);
    let cube = ppe.multiply(s, square);
    let [high, low] = [ppe.load(&LN_2[0]), ppe.load(&LN_2[1])];
    let twice = ppe.add(s, s);
    let small = ppe.multiply(exponent, low);
    let small = ppe.multiply_add(cube, series, small);
    let sum = ppe.add(small, twice);
    ppe.multiply_add(exponent, high, sum)
}

/// A polynomial by Horner's rule, the coefficient of the highest power first.
#[inline(always)]
fn polynomial<A: Arithmetic, const TERMS: usize>(
    ppe: &mut A,
    x: A::Float,
    coefficients: &[f64; TERMS],
) -> A::Float {
    let mut sum = ppe.load(&coefficients[0]);
    for coefficient in &coefficients[1..] {
        let coefficient = ppe.load(coefficient);
        sum = ppe.multiply_add(sum, x, coefficient);
    }
    sum
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::super::Plain;
    use super::*;

    #[test]
    fn the_exponential_is_that_of_the_standard_library() {
        for step in -7079..=7090 {
            let x = f64::from(step) / 10.0 + 0.0123;
            let x = x.min(709.0);
            assert_relative_eq!(exponential(&mut Plain, x), x.exp(), max_relative = 5e-16);
        }
        assert_eq!(exponential(&mut Plain, 0.0), 1.0);
        assert_eq!(exponential(&mut Plain, -1e6), 0.0);
    }

    #[test]
    fn the_logarithm_is_that_of_the_standard_library() {
        for step in 0..20_000 {
            let x = 1e-300 * 1.07_f64.powi(step);
            if !x.is_finite() {
                break;
            }
            assert_relative_eq!(logarithm(&mut Plain, x), x.ln(), max_relative = 5e-16);
        }
        // Near 1 nothing cancels.
        for x in [1.0 - 1e-6, 1.0 - 1e-12, 1.0 + 1e-9, 0.9, 1.4, 1.42, 0.7, 0.71] {
            assert_relative_eq!(logarithm(&mut Plain, x), x.ln(), max_relative = 5e-16);
        }
        assert_eq!(logarithm(&mut Plain, 1.0), 0.0);
    }
}
