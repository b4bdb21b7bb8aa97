//! The model of Jukes and Cantor (1969).

#[cfg(test)]
mod reference;

#[cfg(test)]
pub(crate) use reference::{log_likelihood, pattern_log_likelihoods};

/// Transition probabilities along a branch of length `t` >= 0 [expected substitutions per site],
/// stored by columns: `P[4 * k + j]` is the probability that state j becomes k, in the order A, C,
/// G, T (Jukes and Cantor 1969).
pub fn transition_matrix(t: f64) -> [f64; 16] {
    // P_jk = 1/4 - 1/4 exp(-4t/3) for j != k, without the cancellation at small t
    let differ = -0.25 * (-4.0 * t / 3.0).exp_m1();
    // P_jj = 1/4 + 3/4 exp(-4t/3) = 1 - 3 P_jk
    let same = 1.0 - 3.0 * differ;
    let mut matrix = [differ; 16];
    for state in 0..4 {
        matrix[5 * state] = same;
    }
    matrix
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;

    #[test]
    fn a_transition_matrix_has_the_closed_form_and_its_columns_sum_to_one() {
        for t in [0.0, 2e-6, 0.1, 1.0, 50.0_f64] {
            let matrix = transition_matrix(t);
            let decay = (-4.0 * t / 3.0).exp();
            assert_relative_eq!(matrix[0], 0.25 + 0.75 * decay, max_relative = 1e-15);
            assert_relative_eq!(matrix[6], 0.25 - 0.25 * decay, epsilon = 1e-16);
            for column in matrix.chunks(4) {
                assert_relative_eq!(column.iter().sum::<f64>(), 1.0, max_relative = 1e-15);
            }
        }
    }
}
