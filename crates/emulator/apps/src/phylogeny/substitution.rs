//! Models of substitution: time-reversible rates between the four states, and how rates vary over
//! sites.

pub mod notation;

use std::ops::RangeInclusive;

use crate::run::require;
use mmgp_base::error::{Error, Result};
use nalgebra::{Matrix3, Matrix4, Vector4};

/// The order in which six numbers stand for the exchangeabilities: AC, AG, AT, CG, CT, GT.
pub(crate) type Exchangeabilities = [f64; 6];

/// A time-reversible model over the states A, C, G, T, scaled to one expected substitution per unit
/// of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Substitution {
    /// r_AC, r_AG, r_AT, r_CG, r_CT, r_GT.
    pub exchangeabilities: Exchangeabilities,
    /// Stationary frequencies of A, C, G, T; they add up to 1.
    pub frequencies: [f64; 4],
    /// What follows from them.
    pub eigen: EigenSystem,
}

impl Substitution {
    /// The general time-reversible model (Tavare 1986).
    ///
    /// Only the ratios of the exchangeabilities matter; frequencies are divided by their sum.
    ///
    /// # Errors
    /// `OutOfRange` for a number that is not finite and positive.
    pub(crate) fn gtr(exchangeabilities: Exchangeabilities, frequencies: [f64; 4]) -> Result<Self> {
        check_positive("exchangeability", &exchangeabilities)?;
        check_positive("frequency", &frequencies)?;
        let sum: f64 = frequencies.iter().sum();
        let frequencies = frequencies.map(|frequency| frequency / sum);
        let eigen = EigenSystem::of(&exchangeabilities, &frequencies);
        Ok(Self { exchangeabilities, frequencies, eigen })
    }

    /// The model of Hasegawa, Kishino and Yano (1985): transitions (A-G, C-T) `kappa` times as
    /// fast as transversions between states of the same frequency.
    ///
    /// # Errors
    /// The errors of [`Substitution::gtr`].
    pub(crate) fn hky(kappa: f64, frequencies: [f64; 4]) -> Result<Self> {
        check_positive("kappa", &[kappa])?;
        Self::gtr([1.0, kappa, 1.0, 1.0, kappa, 1.0], frequencies)
    }

    /// The model of Jukes and Cantor (1969): every state and every change equally likely.
    pub(crate) fn jc69() -> Self {
        Self::gtr([1.0; 6], [0.25; 4]).expect("invariant: ones and quarters are positive")
    }
}

fn check_positive(name: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
        None => Ok(()),
        Some(value) => {
            let (found, expected) = (value.to_string(), "a positive number");
            Err(Error::out_of_range(name, found, expected))
        }
    }
}

/// The eigendecomposition of the rate matrix: `P_jk(t) = sum_l EI_jl exp(-lambda_l t) V_kl`.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenSystem {
    /// lambda_l >= 0, the zero first.
    pub values: [f64; 4],
    /// `v[j][l]`: V_jl = sqrt(f_j) u_jl, whose first column is f_j.
    pub v: [[f64; 4]; 4],
    /// `ei[j][l]`: EI_jl = V_jl / V_j0.
    pub ei: [[f64; 4]; 4],
}

/// How the rate varies over sites.
#[derive(Debug, Clone, PartialEq)]
pub enum SiteRates {
    /// Every pattern is a mixture of four rates, equally likely: the mean-Gamma of Yang (1994).
    Gamma {
        /// Shape.
        alpha: f64,
        /// The four rates, ascending, of mean 1.
        rates: [f64; 4],
    },
    /// Every pattern has one of up to 25 rates (CAT); one rate of 1 is no variation at all.
    Categories {
        /// The rates.
        rates: Vec<f64>,
        /// The index of the rate of each pattern.
        of_pattern: Vec<u32>,
    },
}

impl SiteRates {
    /// Four rates of the mean-Gamma with shape `alpha`.
    ///
    /// # Errors
    /// `OutOfRange` for an `alpha` outside 0.001..=10,000, where the rates are exact to at least
    /// ten digits.
    pub(crate) fn gamma(alpha: f64) -> Result<Self> {
        let (least, most) = (ALPHA.start(), ALPHA.end());
        let expected = format!("a number from {least} to {most}");
        require(ALPHA.contains(&alpha), "alpha", alpha, expected)?;
        Ok(Self::Gamma { alpha, rates: mean_rates(alpha) })
    }

    /// One category of rate 1 for all of `patterns` patterns: no variation over sites.
    pub(crate) fn single(patterns: usize) -> Self {
        Self::Categories { rates: vec![1.0], of_pattern: vec![0; patterns] }
    }
}

/// A model: substitution and rates over sites.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Between states.
    pub substitution: Substitution,
    /// Over sites.
    pub rates: SiteRates,
}

/// Below this, a component of a unit vector does not decide its sign.
const NEGLIGIBLE: f64 = 1e-6;

impl EigenSystem {
    /// The eigen system of the model with these exchangeabilities and frequencies, all positive, the
    /// frequencies of sum 1.
    ///
    /// The rates Q_jk = r_jk f_k are similar to the symmetric A_jk = r_jk sqrt(f_j f_k), whose null
    /// vector is known: sqrt(f_j). A reflection that turns it into the first axis leaves three rows
    /// and columns to diagonalise, so the zero and its vector are exact, and equal eigenvalues do
    /// no harm.
    fn of(exchangeabilities: &Exchangeabilities, frequencies: &[f64; 4]) -> Self {
        let root = Vector4::from(frequencies.map(f64::sqrt)).normalize();
        let a = symmetric_rates(exchangeabilities, &root);
        let normal = (root + Vector4::x()).normalize();
        let reflection = Matrix4::identity() - 2.0 * normal * normal.transpose();
        let reflected = reflection * a * reflection;
        let block: Matrix3<f64> = reflected.fixed_view::<3, 3>(1, 1).into_owned();
        // Whatever rounding left of asymmetry is shared by both halves.
        let decomposed = ((block + block.transpose()) / 2.0).symmetric_eigen();
        let mut pairs: Vec<(f64, Vector4<f64>)> = (0..3)
            .map(|index| {
                let x = decomposed.eigenvectors.column(index);
                let u = reflection * Vector4::new(0.0, x[0], x[1], x[2]);
                let decisive = u.iter().find(|component| component.abs() > NEGLIGIBLE);
                let sign = decisive.map_or(1.0, |component| component.signum());
                ((-decomposed.eigenvalues[index]).max(0.0), sign * u)
            })
            .collect();
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        // V_jl = sqrt(f_j) u_jl, EI_jl = V_jl / V_j0 = u_jl / sqrt(f_j)
        let mut system = Self { values: [0.0; 4], v: [[0.0; 4]; 4], ei: [[1.0; 4]; 4] };
        for j in 0..4 {
            system.v[j][0] = frequencies[j];
            for (l, (_, u)) in (1..).zip(&pairs) {
                system.v[j][l] = root[j] * u[j];
                system.ei[j][l] = u[j] / root[j];
            }
        }
        for (value, (lambda, _)) in system.values[1..].iter_mut().zip(&pairs) {
            *value = *lambda;
        }
        system
    }
}

/// A_jk = r_jk sqrt(f_j f_k), A_jj = -sum_k r_jk f_k, divided by the mean rate -sum_j f_j A_jj;
/// `root` holds sqrt(f_j).
fn symmetric_rates(exchangeabilities: &Exchangeabilities, root: &Vector4<f64>) -> Matrix4<f64> {
    // Only ratios matter; with a largest of 1 nothing overflows.
    let largest = exchangeabilities.iter().copied().fold(0.0, f64::max);
    let mut a = Matrix4::zeros();
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    for ((j, k), exchangeability) in pairs.into_iter().zip(exchangeabilities) {
        let r = exchangeability / largest;
        a[(j, k)] = r * root[j] * root[k];
        a[(k, j)] = a[(j, k)];
        a[(j, j)] -= r * root[k] * root[k];
        a[(k, k)] -= r * root[j] * root[j];
    }
    let mean: f64 = -(0..4).map(|j| root[j] * root[j] * a[(j, j)]).sum::<f64>();
    a / mean
}

/// The shapes for which the rates are exact to ten digits: below, the lowest rates leave the range
/// of doubles; above, all rates are equal within 3 % and differences of
/// logarithms of the Gamma function lose digits.
const ALPHA: RangeInclusive<f64> = 0.001..=10_000.0;

/// The four mean rates, ascending and of mean 1, of the quarters of a Gamma distribution of shape
/// `alpha` and mean 1.
fn mean_rates(alpha: f64) -> [f64; 4] {
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
    use approx::assert_abs_diff_eq;

    use super::super::jukes_cantor;
    use super::super::tests::gtr;
    use super::*;

    const FREQUENCIES: [f64; 4] = [0.30, 0.22, 0.18, 0.30];

    /// `[j][k]`: the probability that state j is state k after a time `t` >= 0 [expected
    /// substitutions per site].
    fn transition_probabilities(model: &Substitution, t: f64) -> [[f64; 4]; 4] {
        let EigenSystem { values, v, ei } = &model.eigen;
        // P_jk(t) = sum_l EI_jl exp(-lambda_l t) V_kl
        let entry = |j: usize, k: usize| {
            (0..4).map(|l| ei[j][l] * (-values[l] * t).exp() * v[k][l]).sum::<f64>()
        };
        std::array::from_fn(|j| std::array::from_fn(|k| entry(j, k)))
    }

    #[test]
    fn jukes_and_cantor_have_their_closed_form() {
        for t in [0.0, 1e-6, 0.01, 0.3, 2.0, 30.0] {
            let expected = jukes_cantor::transition_matrix(t);
            let found = transition_probabilities(&Substitution::jc69(), t);
            for (j, row) in found.iter().enumerate() {
                for (k, &probability) in row.iter().enumerate() {
                    assert_abs_diff_eq!(probability, expected[4 * k + j], epsilon = 1e-15);
                }
            }
        }
    }

    #[test]
    fn hasegawa_kishino_and_yano_have_their_closed_form() {
        let (kappa, t) = (2.5, 0.37);
        let [a, c, g, t_frequency] = FREQUENCIES;
        let (purines, pyrimidines) = (a + g, c + t_frequency);
        // Felsenstein, Inferring Phylogenies, p. 203, with the rate scaled to mean 1
        let beta = 0.5 / (purines * pyrimidines + kappa * (a * g + c * t_frequency));
        let group = |state: usize| if state.is_multiple_of(2) { purines } else { pyrimidines };
        let model = Substitution::hky(kappa, FREQUENCIES).unwrap();
        let found = transition_probabilities(&model, t);
        for (j, row) in found.iter().enumerate() {
            for (k, &probability) in row.iter().enumerate() {
                let (f, within) = (FREQUENCIES[k], group(k));
                let slow = (-beta * t).exp();
                let fast = (-beta * t * (1.0 + within * (kappa - 1.0))).exp();
                let expected = match (j == k, j % 2 == k % 2) {
                    (true, _) => f + f * (1.0 / within - 1.0) * slow + (within - f) / within * fast,
                    (_, true) => f + f * (1.0 / within - 1.0) * slow - f / within * fast,
                    _ => f * (1.0 - slow),
                };
                assert_abs_diff_eq!(probability, expected, epsilon = 1e-15);
            }
        }
    }

    /// The general model at a short time is `I + Q t + Q^2 t^2 / 2 + ...`, Q by its definition.
    #[test]
    fn the_general_model_is_the_exponential_of_its_rate_matrix() {
        let model = gtr();
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let mut q = [[0.0; 4]; 4];
        for (&(j, k), r) in pairs.iter().zip(model.exchangeabilities) {
            (q[j][k], q[k][j]) = (r * FREQUENCIES[k], r * FREQUENCIES[j]);
        }
        for (j, row) in q.iter_mut().enumerate() {
            row[j] = -row.iter().sum::<f64>();
        }
        let mean: f64 = (0..4).map(|j| -FREQUENCIES[j] * q[j][j]).sum();
        for t in [1e-3, 0.1, 1.0] {
            let mut power = [[0.0; 4]; 4];
            (0..4).for_each(|j| power[j][j] = 1.0);
            let mut expected = power;
            for n in 1..60 {
                let previous = power;
                for j in 0..4 {
                    for k in 0..4 {
                        power[j][k] = (0..4).map(|i| previous[j][i] * q[i][k]).sum::<f64>() * t
                            / mean
                            / f64::from(n);
                        expected[j][k] += power[j][k];
                    }
                }
            }
            let found = transition_probabilities(&model, t);
            for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
                assert_abs_diff_eq!(found, expected, epsilon = 2e-15);
            }
        }
    }

    #[test]
    fn numbers_that_are_no_model_are_refused() {
        let check = |result: Result<Substitution>, message: &str| {
            assert_eq!(result.unwrap_err().to_string(), message);
        };
        let message = "exchangeability: found -1, expected a positive number";
        check(Substitution::gtr([1.0, 1.0, -1.0, 1.0, 1.0, 1.0], FREQUENCIES), message);
        let message = "frequency: found 0, expected a positive number";
        check(Substitution::gtr([1.0; 6], [0.5, 0.5, 0.0, 0.0]), message);
        let message = "kappa: found NaN, expected a positive number";
        check(Substitution::hky(f64::NAN, FREQUENCIES), message);
        let error = SiteRates::gamma(0.0).unwrap_err();
        assert_eq!(error.to_string(), "alpha: found 0, expected a number from 0.001 to 10000");
    }
}

#[cfg(test)]
mod eigen_tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[allow(clippy::needless_range_loop)] // The indices are those of the formulas.
    fn check(exchangeabilities: Exchangeabilities, frequencies: [f64; 4]) -> EigenSystem {
        let model = Substitution::gtr(exchangeabilities, frequencies).unwrap();
        let EigenSystem { values, v, ei } = model.eigen;
        assert_eq!(values[0].to_bits(), 0.0_f64.to_bits(), "the zero comes first and is exact");
        assert!(values.is_sorted() && values[1] > 0.0, "{values:?}");
        let first = v.map(|row| row[0]);
        assert_eq!(first, model.frequencies, "the first column holds the frequencies");
        for j in 0..4 {
            for k in 0..4 {
                // sum_j EI_jk V_jl = delta_kl, and sum_l EI_jl V_kl = delta_jk
                let columns: f64 = (0..4).map(|i| ei[i][j] * v[i][k]).sum();
                let rows: f64 = (0..4).map(|l| ei[j][l] * v[k][l]).sum();
                let expected = f64::from(u8::from(j == k));
                assert_abs_diff_eq!(columns, expected, epsilon = 1e-12);
                assert_abs_diff_eq!(rows, expected, epsilon = 1e-12);
            }
        }
        EigenSystem { values, v, ei }
    }

    #[test]
    fn any_model_comes_apart_into_orthogonal_parts() {
        check([1.2, 3.5, 0.8, 0.9, 4.1, 1.0], [0.30, 0.22, 0.18, 0.30]);
        check([1.0, 2.5, 1.0, 1.0, 2.5, 1.0], [0.30, 0.22, 0.18, 0.30]);
        check([1e-4, 1e4, 1.0, 3.0, 1e-4, 50.0], [0.97, 0.01, 0.01, 0.01]);
        check([1e-300, 1e300, 1.0, 1.0, 1e300, 1.0], [0.25; 4]);
    }

    #[test]
    fn equal_rates_have_three_equal_eigenvalues() {
        let system = check([1.0; 6], [0.25; 4]);
        for value in &system.values[1..] {
            assert_abs_diff_eq!(*value, 4.0 / 3.0, epsilon = 1e-15);
        }
    }

    #[test]
    fn the_first_component_that_counts_is_positive() {
        for l in 1..4 {
            let system = check([1.2, 3.5, 0.8, 0.9, 4.1, 1.0], [0.30, 0.22, 0.18, 0.30]);
            assert!(system.v[0][l] > 0.0, "{system:?}");
        }
    }
}

#[cfg(test)]
mod gamma_tests {
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
