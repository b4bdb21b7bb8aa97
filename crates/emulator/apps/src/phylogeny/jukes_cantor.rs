//! The model of Jukes and Cantor (1969).

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::{log_likelihood, pattern_log_likelihoods};

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
