//! The mean-Gamma rates of Yang (1994, J. Mol. Evol. 39:306).

use std::ops::RangeInclusive;

/// The shapes for which the rates are exact to ten digits: below, the lowest rates leave the range
/// of doubles; above, all rates are equal within 3 % and differences of
/// logarithms of the Gamma function lose digits.
pub(super) const ALPHA: RangeInclusive<f64> = 0.001..=10_000.0;

/// The four mean rates, ascending and of mean 1, of the quarters of a Gamma distribution of shape
/// `alpha` and mean 1.
pub(super) fn mean_rates(alpha: f64) -> [f64; 4] {
    // With x_c the quantile c/4 of the Gamma distribution of shape alpha and scale 1, the share
    // of the mean that lies below is P(alpha + 1, x_c).
    let below = |quarters: u8| match quarters {
        0 => 0.0,
        4 => 1.0,
        _ => {
            let ln_x = ln_quantile(alpha, f64::from(quarters) / 4.0);
            ln_lower_gamma(alpha + 1.0, ln_x).exp()
        }
    };
    // r_c = 4 (P(alpha + 1, x_c+1) - P(alpha + 1, x_c))
    std::array::from_fn(|c| 4.0 * (below(c as u8 + 1) - below(c as u8)))
}

/// ln x where P(a, x) = p, for 0 < p < 1.
///
/// Quantiles of small shapes lie below the range of doubles, so all is in logarithms. As a function
/// of ln x, ln P is increasing and concave, and x^a / Gamma(a + 1) lies above P: Newton's method
/// from where that is p comes up to the solution from below, and never past it.
fn ln_quantile(a: f64, p: f64) -> f64 {
    let mut ln_x = (p.ln() + libm::lgamma(a + 1.0)) / a;
    loop {
        let ln_lower = ln_lower_gamma(a, ln_x);
        // d ln P / d ln x = x^a e^-x / (Gamma(a) P)
        let slope = (a * ln_x - ln_x.exp() - libm::lgamma(a) - ln_lower).exp();
        let step = (p.ln() - ln_lower) / slope;
        // Below the last bit of what a step can see, rounding moves it either way.
        if step <= ln_x.abs().max(1.0) * 4.0 * f64::EPSILON {
            return ln_x;
        }
        ln_x += step;
    }
}

/// ln P(a, x), the regularised lower incomplete Gamma function, by its series in positive terms:
/// `P(a, x) = x^a e^-x / Gamma(a + 1) * (1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...)`
/// (Abramowitz and Stegun 6.5.29).
fn ln_lower_gamma(a: f64, ln_x: f64) -> f64 {
    let x = ln_x.exp();
    let (mut sum, mut term, mut n) = (1.0, 1.0, 0.0);
    while term > sum * f64::EPSILON / 4.0 {
        n += 1.0;
        term *= x / (a + n);
        sum += term;
    }
    a * ln_x - x - libm::lgamma(a + 1.0) + sum.ln()
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;
    use crate::phylogeny::tests::shared_data;

    fn check(alpha: f64, expected: [f64; 4], tolerance: f64) {
        let rates = mean_rates(alpha);
        for (rate, expected) in rates.iter().zip(expected) {
            assert_relative_eq!(*rate, expected, max_relative = tolerance);
        }
        assert_relative_eq!(rates.iter().sum::<f64>(), 4.0, max_relative = 1e-15);
    }

    /// Values computed with 40 digits (mpmath's incomplete Gamma function, the quantile by Newton's
    /// method).
    #[test]
    fn rates_are_those_of_exact_arithmetic() {
        #[rustfmt::skip]
        let exact = [
            (0.001, [0.0, 1.0477934881674283e-301, 1.9392152143123357e-125, 4.0], 1e-10),
            (0.01, [3.487807918132432e-61, 8.842643601802683e-31, 5.392613392910186e-13, 3.999999999999461], 1e-13),
            (0.02, [4.4136090481546144e-31, 9.938564032314076e-16, 9.505564673287118e-7, 3.999999049443532], 1e-13),
            (0.05, [5.062535133253017e-13, 1.0616903503933291e-6, 0.005299323894251574, 3.9946996144148916], 1e-13),
            (0.1, [5.265192584410081e-7, 0.001078089296121784, 0.09375337615817389, 3.905168008026446], 1e-13),
            (0.3, [0.005295306405595605, 0.10449510858443907, 0.5958028376115883, 3.294406747398377], 1e-13),
            (0.5, [0.033387753383599526, 0.25191591759343807, 0.8202684819736494, 2.8944278470493128], 1e-13),
            (1.0, [0.1369537826446572, 0.4767518562354522, 1.0, 2.386294361119891], 1e-13),
            (7.5, [0.5813668486110772, 0.8466848969028654, 1.0777909284763183, 1.4941573260097392], 1e-13),
            (100.0, [0.8759057390068347, 0.964738920747251, 1.029549113846047, 1.1298062263998672], 1e-12),
            (1000.0, [0.9600949285752522, 0.989449429489586, 1.0099790418401728, 1.0404766000949888], 1e-11),
            (10_000.0, [0.9873176756594608, 0.9967248547584622, 1.0032179890648474, 1.0127394805172296], 1e-10),
        ];
        for (alpha, rates, tolerance) in exact {
            check(alpha, rates, tolerance);
        }
    }

    #[test]
    fn shape_one_is_the_exponential_distribution() {
        // The share of the mean below the quantile p is p + (1 - p) ln(1 - p).
        let below = |p: f64| p + (1.0 - p) * (1.0 - p).ln();
        let quarters = [0.0, below(0.25), below(0.5), below(0.75), 1.0];
        check(1.0, std::array::from_fn(|c| 4.0 * (quarters[c + 1] - quarters[c])), 1e-14);
    }

    #[test]
    fn rates_are_those_of_the_shared_table() {
        let Some(source) = shared_data("gamma4_mean_rates.csv") else { return };
        let mut rows = 0;
        for line in source.text.lines().skip(1) {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            check(cells[0], [cells[1], cells[2], cells[3], cells[4]], 1e-12);
            rows += 1;
        }
        assert_eq!(rows, 12);
    }
}
