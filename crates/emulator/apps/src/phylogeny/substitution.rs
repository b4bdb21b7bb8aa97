//! Models of substitution: time-reversible rates between the four states, and how rates vary over
//! sites.

mod eigen;
mod gamma;
pub mod notation;

use mmgp_base::error::{Error, Result};

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
        if !gamma::ALPHA.contains(&alpha) {
            let (least, most) = (gamma::ALPHA.start(), gamma::ALPHA.end());
            let expected = format!("a number from {least} to {most}");
            return Err(Error::out_of_range("alpha", alpha.to_string(), expected));
        }
        Ok(Self::Gamma { alpha, rates: gamma::mean_rates(alpha) })
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
